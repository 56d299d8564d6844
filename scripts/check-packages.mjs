/**
 * Judges the packages as a user would get them: each is packed into a tarball, and publint, Are The Types Wrong and a look
 * at its files judge that tarball. Prints one line a package; a package that has not been built is named and passed over. At last
 * what `npm install ranksim` brings is counted: with all that it depends on it stays small. Manifests have to have what the workspace says.
 */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { PUBLISHED } from "./manifests.mjs";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
const attw = join(root, "node_modules/.bin/attw");

/** Bytes of files that `npm install ranksim` may bring. */
const MOST_INSTALLED = 6_300_000;

/** What may be in a tarball: the build and the papers that go with it. */
const shipped = /^(bin\/ranksim\.js|dist\/.*|package\.json|output\.schema\.json|README\.md|LICENSE|NOTICE)$/;

async function check(name, folder) {
  const directory = join(root, "packages", name);
  const manifest = JSON.parse(await readFile(join(directory, "package.json"), "utf8"));
  if (!existsSync(join(directory, "dist"))) return { line: `${manifest.name}: not built`, problems: [], installed: {} };

  const packed = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: directory });
  const [{ filename, size, unpackedSize, files }] = JSON.parse(packed.stdout);
  const tarball = join(folder, filename);
  const problems = files
    .map(({ path }) => path)
    .filter((path) => !shipped.test(path))
    .map((path) => `ships ${path}`);

  const readme = await readFile(join(directory, "README.md"), "utf8");
  for (const [, target] of readme.matchAll(/\]\((?!#|https:)([^)\s]+)\)/g))
    problems.push(`README.md links to ${target}, which is not in the package`);

  const license = await readFile(join(directory, "LICENSE"), "utf8").catch(() => "");
  if (license !== (await readFile(join(root, "LICENSE"), "utf8")))
    problems.push("LICENSE differs from the one in the root");

  const { messages } = await publint({ pack: { tarball: Uint8Array.from(await readFile(tarball)).buffer } });
  for (const message of messages)
    problems.push(`publint, ${message.type}: ${formatMessage(message, manifest, { color: false })}`);

  const options = "--profile esm-only --no-definitely-typed --format ascii --no-color --no-emoji".split(" ");
  await run(attw, [...options, tarball]).catch((error) => problems.push(`attw: ${error.stdout || error.message}`));
  const line = `${manifest.name}: ${files.length} files, ${Math.round(size / 1000)} kB packed`;
  return { line, problems, installed: { [manifest.name]: unpackedSize } };
}

/** Adds what a package in a folder depends on to `sizes`: bytes by folder, or by name where they are known from a tarball. */
async function addDependencies(folder, sizes) {
  const { dependencies = {} } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  for (const name of Object.keys(dependencies)) {
    const places = createRequire(join(folder, "package.json")).resolve.paths(name);
    const found = places.map((place) => join(place, name)).find(existsSync);
    if (sizes[found] !== undefined) continue;
    sizes[found] = sizes[name] === undefined ? await bytesOf(found) : 0;
    await addDependencies(found, sizes);
  }
}

/** Bytes of the files of a package, without those of packages inside it. */
async function bytesOf(folder) {
  const inside = `${join(folder, "node_modules")}${sep}`;
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const sizes = paths.filter((path) => !path.startsWith(inside)).map(async (path) => (await stat(path)).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

await run(process.execPath, [join(root, "scripts/manifests.mjs"), "--check"]).catch(({ stdout, message }) => {
  console.log(stdout || message);
  process.exitCode = 1;
});
const folder = await mkdtemp(join(tmpdir(), "ranksim-packages-"));
try {
  const checked = await Promise.all(PUBLISHED.map((name) => check(name, folder)));
  for (const { line, problems } of checked) {
    console.log(problems.length === 0 ? line : [line, ...problems].join("\n  "));
    if (problems.length > 0) process.exitCode = 1;
  }
  const { "@ranksim/mpi": _, ...sizes } = Object.assign({}, ...checked.map(({ installed }) => installed));
  await addDependencies(join(root, "packages/cli"), sizes);
  const installed = Object.values(sizes).reduce((sum, size) => sum + size, 0);
  console.log(`npm install ranksim: ${(installed / 1e6).toFixed(2)} MB`);
  if (installed > MOST_INSTALLED) {
    const largest = Object.entries(sizes).sort(([, a], [, b]) => b - a);
    const listed = largest.slice(0, 5).map(([name, size]) => `${name.split(sep).slice(-2).join("/")} ${size}`);
    console.log(`  expected at most ${MOST_INSTALLED} bytes, found ${installed}: ${listed.join(", ")}`);
    process.exitCode = 1;
  }
} finally {
  await rm(folder, { recursive: true });
}
