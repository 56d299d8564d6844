/** Commands that would run for long, one for each phase in which a person may interrupt them. */

import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { start } from "./jobs.ts";

export const PHASES: readonly { readonly phase: string; readonly line: string }[] = [
  { phase: "reading a file", line: "train large.csv --label-column -1 --model never.ranksim" },
  {
    phase: "training",
    line: "train digits --estimator classifier --spreading weighted-average --iterations 1000000 --model never.ranksim",
  },
  {
    phase: "refining",
    line: "train digits --estimator classifier --filters 400 --refine --refine-epochs 100000 --model never.ranksim",
  },
  { phase: "training patches", line: "train digits --preset best --refine-epochs 100000 --model never.ranksim" },
  { phase: "cross-validating", line: "cross-validate digits --estimator classifier --folds 1000" },
  {
    phase: "tuning",
    line: "tune digits --try filters=100,200,300,400,500 --refine --refine-epochs 1000 --model never.ranksim",
  },
  { phase: "simple methods", line: "tune large.csv --label-column -1 --baselines --model never.ranksim" },
  { phase: "predicting and writing", line: "predict digits.ranksim large.csv --label-column -1 --out never.csv" },
];

/** Rows of digits, over and over, as a file of some megabytes, and a model. */
export async function prepare(folder: string, megabytes: number): Promise<void> {
  const { code, said } = await start("train digits --estimator classifier --filters 200 --model digits.ranksim", folder)
    .ended;
  if (code !== 0) throw new Error(said);
  await pipeline(Readable.from(csvRows(megabytes * 1e6)), createWriteStream(join(folder, "large.csv")));
}

/** Lines of 64 numbers from 0 to 16 and a class, in blocks, up to the given number of bytes. */
export function* csvRows(bytes: number): Generator<Buffer> {
  const lines: string[] = [];
  for (let r = 0; r < 4096; r++) {
    const cells = Array.from({ length: 64 }, (_, i) => (r * 31 + i * (7 + (r % 10))) % 17);
    lines.push(`${cells.join(",")},${r % 10}\n`);
  }
  const block = Buffer.from(lines.join(""));
  for (let at = 0; at < bytes; at += block.length) yield block;
}
