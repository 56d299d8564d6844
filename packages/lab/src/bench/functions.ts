/**
 * How much of the code a prediction runs: functions and own files of `ranksim predict model rows.csv` on a committed model and
 * table, by V8's coverage of the built command with its packages unbundled.
 */

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { LAB } from "../runner/machine.ts";

interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
    }[];
  }[];
}

/** Where the built command is. */
export const BIN = fileURLToPath(new URL("bin.js", import.meta.resolve("ranksim")));
/** Resolves what is bundled to the modules it was made of. */
const UNBUNDLED = `export async function resolve(name, context, next) {
  const found = await next(name, context);
  return { ...found, url: found.url.replace("/dist/bundle/", "/dist/") };
}`;
const REGISTER = `import { register } from "node:module"; register(${JSON.stringify(dataUrl(UNBUNDLED))});`;

/** Runs the command and counts functions that were called, and files that have one of them. */
export function countFunctions(scratch: string): { readonly functions: number; readonly files: number } {
  const folder = join(LAB, "functions");
  const line = ["--import", dataUrl(REGISTER), BIN, "predict", join(folder, "model.ranksim"), join(folder, "rows.csv")];
  const coverage = join(scratch, "coverage");
  execFileSync(execPath, line, { env: { ...process.env, NODE_V8_COVERAGE: coverage }, stdio: "ignore" });
  const own = readdirSync(coverage)
    .flatMap((name) => (JSON.parse(readFileSync(join(coverage, name), "utf8")) as Coverage).result)
    .filter(({ url }) => /\/packages\/[\w-]+\/dist\//.test(url));
  // The first function of a module is the module itself.
  const run = own.flatMap(({ url, functions }) =>
    functions
      .slice(1)
      .filter(({ ranges }) => ranges[0].count > 0)
      .map(({ ranges }) => ({ url, place: `${url} ${ranges[0].startOffset}` })),
  );
  return { functions: new Set(run.map(({ place }) => place)).size, files: new Set(run.map(({ url }) => url)).size };
}

function dataUrl(script: string): string {
  return `data:text/javascript,${encodeURIComponent(script)}`;
}
