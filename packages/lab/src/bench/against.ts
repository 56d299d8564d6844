/** Another commit, built in a working tree of its own, beside this one: the ratio of each pair of runs, in turns on one core. */

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { execPath, stderr } from "node:process";
import { pathToFileURL } from "node:url";
import { LAB } from "../runner/machine.ts";
import { type Measured, median, summarize } from "../runner/results.ts";
import { number, spread, table } from "../runner/show.ts";

const ROOT = join(LAB, "../..");

/** Addresses of the built packages of a commit. */
export interface Build {
  readonly core: string;
  readonly data: string;
  readonly learn: string;
}

/** A row that can be measured with another build. */
export interface Comparable {
  readonly name: string;
  readonly runs: number;
  measure(build?: Build): Promise<Measured>;
}

/** Builds the commit under `scratch`, works with it, and takes the working tree away. */
export async function withCommit<T>(commit: string, scratch: string, work: (build: Build) => Promise<T>): Promise<T> {
  const tree = join(scratch, "against");
  const git = (...args: string[]) => execFileSync("git", ["-C", ROOT, ...args], { encoding: "utf8" }).trim();
  git("worktree", "add", "--detach", "--quiet", tree, git("rev-parse", `${commit}^{commit}`));
  try {
    linkPackages(tree);
    const has = (name: string) => existsSync(join(tree, "packages", name));
    const projects = ["core", "data", "learn"].filter(has).map((name) => `packages/${name}`);
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    for (const args of [["scripts/build-kernels.mjs"], [tsc, "-b", ...projects], ["scripts/bundle.mjs"]]) {
      execFileSync(execPath, args, { cwd: tree, stdio: ["ignore", "ignore", "inherit"] });
    }
    // What a user would import: bundled as here.
    const address = (name: string, entry: string) => {
      const folder = join(tree, "packages", name);
      const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      return pathToFileURL(join(folder, exports[entry].default)).href;
    };
    const data = address("data", "./node");
    // Before there was a package for it, training was part of data.
    return await work({ core: address("core", "."), data, learn: has("learn") ? address("learn", ".") : data });
  } finally {
    git("worktree", "remove", "--force", tree);
  }
}

/** What is installed here, but the packages of the workspace, which the tree has itself. */
function linkPackages(tree: string): void {
  const modules = join(tree, "node_modules");
  mkdirSync(join(modules, "@ranksim"), { recursive: true });
  for (const entry of readdirSync(join(ROOT, "node_modules"))) {
    if (entry.startsWith(".") || entry === "@ranksim" || entry === "ranksim") continue;
    symlinkSync(join(ROOT, "node_modules", entry), join(modules, entry));
  }
  for (const folder of readdirSync(join(tree, "packages"))) {
    const { name } = JSON.parse(readFileSync(join(tree, "packages", folder, "package.json"), "utf8"));
    symlinkSync(join(tree, "packages", folder), join(modules, name));
  }
}

/** Measures each row with both builds in turns, each first in every other turn; a row that fails is told and left out. */
export async function comparePairs(rows: readonly Comparable[], other: Build, commit: string): Promise<string> {
  const pairs = rows.map((): { theirs: Measured; ours: Measured }[] => []);
  const failed = new Set<Comparable>();
  for (let turn = 0; turn < Math.max(...rows.map(({ runs }) => runs)); turn++) {
    for (const [at, row] of rows.entries()) {
      if (turn >= row.runs || failed.has(row)) continue;
      try {
        const first = await row.measure(turn % 2 === 0 ? other : undefined);
        const second = await row.measure(turn % 2 === 0 ? undefined : other);
        pairs[at].push(turn % 2 === 0 ? { theirs: first, ours: second } : { theirs: second, ours: first });
        stderr.write(`${row.name}, pair ${turn + 1} of ${row.runs}\n`);
      } catch (error) {
        failed.add(row);
        stderr.write(`${row.name}: ${error instanceof Error ? error.message : error}\n`);
      }
    }
  }
  return pairTable(
    rows.flatMap((row, at) => (failed.has(row) ? [] : { name: row.name, pairs: pairs[at] })),
    commit,
  );
}

/**
 * Ratios of pairs: what counts is how the two sides of a pair compare, because a machine is not equally fast at all times.
 */
export function pairTable(
  rows: readonly {
    readonly name: string;
    readonly pairs: readonly { readonly theirs: Measured; readonly ours: Measured }[];
  }[],
  commit: string,
): string {
  const lines = rows.flatMap(({ name, pairs }) =>
    Object.keys(pairs[0]?.ours.figures ?? {})
      .filter((figure) => figure !== "macroF1")
      .map((figure) => {
        const side = (pick: "theirs" | "ours") => pairs.map((pair) => pair[pick].figures[figure]);
        const ratios = side("theirs").map((value, j) => ({ figures: { ratio: value / side("ours")[j] } }));
        const models = pairs.map(({ theirs, ours }) => [theirs.facts?.model, ours.facts?.model]);
        const isSame = models.every(([one, other]) => one === other);
        return [
          `${name}, ${figure}`,
          spread(summarize({ name }, "", ratios).figures.ratio, (value) => value.toFixed(3)),
          number(median(side("theirs"))),
          number(median(side("ours"))),
          models[0][0] === undefined ? "–" : isSame ? "same" : "**another**",
        ];
      }),
  );
  return table(["", `${commit} / here`, commit, "here", "model"], lines);
}
