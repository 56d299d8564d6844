/** The core of two commits, each built in a working tree of its own that is taken away afterwards. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));

/** A commit with its core, ready to be imported. */
export interface Build {
  readonly commit: string;
  /** Address of the built core. */
  readonly core: string;
  /** Takes the working tree away. */
  readonly remove: () => void;
}

/** Checks the commit out under `scratch` and builds its core with the dependencies that are installed here. */
export function buildCommit(commit: string, scratch: string, name: string): Build {
  const tree = join(scratch, name);
  const git = (...args: string[]) => execFileSync("git", ["-C", ROOT, ...args], { encoding: "utf8" }).trim();
  const hash = git("rev-parse", "--short", `${commit}^{commit}`);
  git("worktree", "add", "--detach", "--quiet", tree, hash);
  const remove = () => {
    git("worktree", "remove", "--force", tree);
  };
  try {
    linkDependencies(tree);
    for (const args of [
      ["scripts/build-kernels.mjs"],
      [join(ROOT, "node_modules/typescript/bin/tsc"), "-b", "packages/core"],
    ]) {
      execFileSync(execPath, args, { cwd: tree, stdio: ["ignore", "ignore", "inherit"] });
    }
  } catch (error) {
    remove();
    throw error;
  }
  return { commit: hash, core: pathToFileURL(join(tree, "packages/core/dist/index.js")).href, remove };
}

/** Everything that is installed here but the packages of the workspace, which the tree has itself. */
function linkDependencies(tree: string): void {
  const own = new Set(["@ranksim", "ranksim", ".package-lock.json"]);
  mkdirSync(join(tree, "node_modules"));
  for (const entry of readdirSync(join(ROOT, "node_modules"))) {
    if (!own.has(entry)) symlinkSync(join(ROOT, "node_modules", entry), join(tree, "node_modules", entry));
  }
  if (!existsSync(join(tree, "node_modules/typescript"))) throw new Error("expected dependencies: npm ci");
}
