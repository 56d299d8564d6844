/** Training on gigabytes that are read in blocks: how much memory it may take decides nothing but the memory. */

import { createWriteStream, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { expect, test } from "vitest";
import { csvRows, isBuiltOnLinux, peakOf } from "./built-command.ts";

const BYTES = Number(process.env.RANKSIM_LARGE_BYTES ?? 2e9);
const HOURS = 3_600_000;
/** The program itself, and its back end. */
const MOST_BESIDES = 300e6;

test.skipIf(!isBuiltOnLinux)("the same model file however little memory there is", { timeout: 3 * HOURS }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "ranksim-large-"));
  try {
    await pipeline(Readable.from(csvRows(BYTES)), createWriteStream(join(folder, "large.csv")));
    const trained = async (share: number) => {
      const memory = Math.round(BYTES * share);
      const flags = `--label -1 --estimator classifier --filters 50 --set iterations=2 --memory ${memory}B`;
      const peak = await peakOf(`train large.csv ${flags} -m model.ranksim`, folder);
      expect(peak).toBeGreaterThan(0);
      expect(peak).toBeLessThan(memory + MOST_BESIDES);
      return readFileSync(join(folder, "model.ranksim"));
    };
    // In both the rows do not fit, and are read in blocks of different sizes. A third would be too little for the labels.
    const [more, less] = [await trained(0.6), await trained(0.4)];
    expect(less.equals(more)).toBe(true);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
