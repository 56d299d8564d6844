/**
 * Judges the packages as a user would get them: each is packed into a tarball, and publint, Are The Types Wrong and a look
 * at its files judge that tarball. Prints one line a package; a package that has not been built is named and passed over.
 */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { publint } from "publint";
import { formatMessage } from "publint/utils";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
const packages = ["core", "data", "export", "mpi", "cli"];
const attw = join(root, "node_modules/.bin/attw");

/** What may be in a tarball: the build and the papers that go with it. */
const shipped = /^(bin\/ranksim\.js|dist\/.*|package\.json|output\.schema\.json|README\.md|LICENSE|NOTICE)$/;

async function check(name, folder) {
  const directory = join(root, "packages", name);
  const manifest = JSON.parse(await readFile(join(directory, "package.json"), "utf8"));
  if (!existsSync(join(directory, "dist"))) return { line: `${manifest.name}: not built`, problems: [] };

  const packed = await run("npm", ["pack", "--json", "--pack-destination", folder], { cwd: directory });
  const [{ filename, size, files }] = JSON.parse(packed.stdout);
  const tarball = join(folder, filename);
  const problems = files
    .map(({ path }) => path)
    .filter((path) => !shipped.test(path))
    .map((path) => `ships ${path}`);

  const license = await readFile(join(directory, "LICENSE"), "utf8").catch(() => "");
  if (license !== (await readFile(join(root, "LICENSE"), "utf8")))
    problems.push("LICENSE differs from the one in the root");

  const { messages } = await publint({ pack: { tarball: Uint8Array.from(await readFile(tarball)).buffer } });
  for (const message of messages)
    problems.push(`publint, ${message.type}: ${formatMessage(message, manifest, { color: false })}`);

  const options = "--profile esm-only --no-definitely-typed --format ascii --no-color --no-emoji".split(" ");
  await run(attw, [...options, tarball]).catch((error) => problems.push(`attw: ${error.stdout || error.message}`));
  return { line: `${manifest.name}: ${files.length} files, ${Math.round(size / 1000)} kB packed`, problems };
}

const folder = await mkdtemp(join(tmpdir(), "ranksim-packages-"));
try {
  for (const { line, problems } of await Promise.all(packages.map((name) => check(name, folder)))) {
    console.log(problems.length === 0 ? line : [line, ...problems].join("\n  "));
    if (problems.length > 0) process.exitCode = 1;
  }
} finally {
  await rm(folder, { recursive: true });
}
