/**
 * Publishes what was built: `node scripts/publish.mjs v1.2.3`. The tag has to be the version of the workspace, and the changelog has to
 * have a section of it. `--dry-run` does all but the upload; `--notes` prints that section, for the page of the release.
 */

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { argv, exit, stdout } from "node:process";
import { fileURLToPath } from "node:url";
import { PUBLISHED } from "./manifests.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const { version, repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const flags = argv.slice(2).filter((argument) => argument.startsWith("--"));
const [tag] = argv.slice(2).filter((argument) => !argument.startsWith("--"));
const isRehearsal = flags.includes("--dry-run");

function refuse(problem) {
  console.error(`error: ${problem}`);
  exit(1);
}

if (tag !== `v${version}`) refuse(`expected the tag v${version}, as package.json has it, found ${tag}`);

const changes = readFileSync(join(root, "CHANGELOG.md"), "utf8");
const section = changes
  .split(/^## /m)
  .find((part) => part.startsWith(`${version}\n`) || part.startsWith(`${version} `));
if (section === undefined) refuse(`CHANGELOG.md has no section ${version}`);
if (!isRehearsal && /unreleased/i.test(section.split("\n")[0]))
  refuse(`CHANGELOG.md says that ${version} is unreleased`);

if (flags.includes("--notes")) {
  stdout.write(section.slice(section.indexOf("\n")).trimStart());
} else {
  if (!isRehearsal && repository.url.includes("/OWNER/"))
    refuse(
      "repository, homepage and bugs in package.json have no owner yet; name it there and run node scripts/manifests.mjs",
    );
  // Packages come after those that they depend on.
  for (const name of PUBLISHED) {
    const rehearsal = isRehearsal ? ["--dry-run"] : [];
    execFileSync("npm", ["publish", ...rehearsal], { cwd: join(root, "packages", name), stdio: "inherit" });
  }
}
