/** The memory of `ranksim predict` on a CSV that is larger than it, which it answers block by block. */

import { createWriteStream, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { expect, test } from "vitest";
import { csvRows, isBuiltOnLinux, peakOf, succeed } from "./built-command.ts";

const BYTES = 400e6;
const MOST_BYTES = 300e6;

test.skipIf(!isBuiltOnLinux)("answers a file that is larger than its memory", { timeout: 300_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "ranksim-long-"));
  try {
    const write = (name: string, bytes: number) =>
      pipeline(Readable.from(csvRows(bytes)), createWriteStream(join(folder, name)));
    await write("small.csv", 3e6);
    await write("large.csv", BYTES);
    await succeed("train small.csv --label -1 --estimator classifier --filters 50 -m m.ranksim", folder);
    const peak = await peakOf("predict m.ranksim large.csv --out answers.txt", folder);
    expect(lines(join(folder, "answers.txt"))).toBe(lines(join(folder, "large.csv")));
    expect(peak).toBeGreaterThan(0);
    expect(peak).toBeLessThan(MOST_BYTES);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

function lines(path: string): number {
  const bytes = readFileSync(path);
  let count = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count++;
  return count;
}
