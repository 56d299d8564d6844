/**
 * What the manifests of the published packages share has one place, the manifest of the workspace: version, addresses, author, engines,
 * keywords. `node scripts/manifests.mjs` writes it into each of them, into the links of their READMEs, into CITATION.cff and into the
 * manifest of the Python package. With `--check` it changes nothing, and ends with 1 where a file differs.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";

/** Folders of the packages that are published, each after those it depends on. */
export const PUBLISHED = ["core", "gpu", "data", "vq", "learn", "export", "mpi", "cli"];

const root = fileURLToPath(new URL("..", import.meta.url));
const { version, author, license, homepage, bugs, repository, engines, keywords, publishConfig } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
);
const address = repository.url.replace(/^git\+/, "").replace(/\.git$/, "");

/** What a manifest has to be, given what it is. */
function manifest(text, directory) {
  const own = JSON.parse(text);
  const shared = { version, author, license, homepage, bugs, repository: { ...repository, directory }, engines };
  const withVersion = ([name, range]) => [name, /^(ranksim$|@ranksim\/)/.test(name) ? version : range];
  const ranges = ["dependencies", "peerDependencies"].filter((kind) => own[kind]);
  const ours = ranges.map((kind) => [kind, Object.fromEntries(Object.entries(own[kind]).map(withVersion))]);
  const whole = { ...own, ...shared, keywords, publishConfig, ...Object.fromEntries(ours) };
  return `${JSON.stringify(whole, null, 2)}\n`;
}

/** READMEs are read beside their package too, so links into the repository are whole addresses. */
const readme = (text) => text.replaceAll(/\]\(https:\/\/[^)]+?\/(blob|raw)\/main\//g, `](${address}/$1/main/`);

const citation = (text) =>
  text
    .replace(/^version: .*$/m, `version: ${version}`)
    .replace(/^repository-code: .*$/m, `repository-code: ${address}`);

const python = (text) => text.replace(/^version = .*$/m, `version = "${version}"`);

if (argv[1] === fileURLToPath(import.meta.url)) {
  const files = PUBLISHED.map((name) => `packages/${name}`).flatMap((directory) => [
    [`${directory}/package.json`, (text) => manifest(text, directory)],
    [`${directory}/README.md`, readme],
  ]);
  for (const [path, change] of [...files, ["CITATION.cff", citation], ["python/pyproject.toml", python]]) {
    const text = readFileSync(join(root, path), "utf8");
    const wanted = change(text);
    if (text === wanted) continue;
    if (argv.includes("--check")) {
      console.log(`${path} is not what package.json of the workspace says; run node scripts/manifests.mjs`);
      process.exitCode = 1;
    } else {
      writeFileSync(join(root, path), wanted);
      console.log(`${path}: written`);
    }
  }
}
