/** `npm run bench`: measures, judges, and writes results, tables and plots. The only part that prints. */

import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { argv, stderr, stdout } from "node:process";
import { fileURLToPath } from "node:url";
import { HELP, type Options, readOptions } from "./options.ts";
import { growthPlots } from "./plots.ts";
import { withTables } from "./readme.ts";
import type { BenchResults } from "./results.ts";
import { measureAll } from "./session.ts";
import { allTables, frontPage } from "./tables.ts";

const LAB = fileURLToPath(new URL("../../", import.meta.url));
const RESULTS = join(LAB, "results");

const options = readOptions(argv.slice(2));
if (options.help) stdout.write(HELP);
else if (options.tables) writeTables(readResults());
else await measure(options);

async function measure(options: Options): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), "ranksim-bench-"));
  try {
    const measured = await measureAll(options, scratch, (message) => stderr.write(`${message}\n`));
    const results = JSON.parse(JSON.stringify(measured, roundFigure)) as BenchResults;
    const keep = !options.quick && options.only.length === 0;
    const folder = options.results ?? (keep ? RESULTS : undefined);
    if (folder !== undefined) writeResults(folder, results);
    if (folder === RESULTS) writeTables(results);
    stdout.write(`${allTables(results)}\n`);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function readResults(): BenchResults {
  return JSON.parse(readFileSync(join(RESULTS, "bench.json"), "utf8")) as BenchResults;
}

function writeResults(folder: string, results: BenchResults): void {
  mkdirSync(folder, { recursive: true });
  writeWhole(join(folder, "bench.json"), `${JSON.stringify(results, undefined, 1)}\n`);
  for (const { name, svg } of growthPlots(results)) writeWhole(join(folder, name), svg);
}

/** Puts the tables where the README files have marks for them. */
function writeTables(results: BenchResults): void {
  for (const [path, tables] of [
    [join(LAB, "../../README.md"), frontPage(results)],
    [join(LAB, "README.md"), allTables(results)],
  ]) {
    const text = withTables(readFileSync(path, "utf8"), tables);
    if (text === undefined) stderr.write(`no marks for tables in ${path}\n`);
    else writeWhole(path, text);
  }
}

/** Six digits are more than any clock here can tell. */
function roundFigure(_key: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value;
}

function writeWhole(path: string, text: string): void {
  writeFileSync(`${path}.tmp`, text);
  renameSync(`${path}.tmp`, path);
}
