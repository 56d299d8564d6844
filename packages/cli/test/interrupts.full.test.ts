/** One Ctrl-C or SIGTERM in every phase: the command ends soon, by the code of the signal, and leaves no file. */

import { createWriteStream, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { csvRows, isBuiltOnLinux, start, succeed } from "./built-command.ts";

/** Processor seconds that a command may still use. The clock of a busy machine says little. */
const SOON = 0.5;

/** Commands that would run for long, one for each phase in which a person may interrupt them. */
const PHASES: readonly (readonly [phase: string, line: string])[] = [
  ["reading a file", "train large.csv --label -1 --model never.ranksim"],
  [
    "training",
    "train digits --estimator classifier --set spreading=weighted-average --set iterations=1000000 --model never.ranksim",
  ],
  [
    "refining",
    "train digits --estimator classifier --filters 400 --set refine=true --set refineEpochs=100000 --model never.ranksim",
  ],
  ["training patches", "train digits --preset best --set refineEpochs=100000 --model never.ranksim"],
  ["cross-validating", "cross-validate digits --estimator classifier --folds 1000"],
  [
    "tuning",
    "tune digits --try filters=100,200,300,400,500 --set refine=true --set refineEpochs=1000 --model never.ranksim",
  ],
  ["simple methods", "tune large.csv --label -1 --baselines --model never.ranksim"],
  ["predicting and writing", "predict digits.ranksim large.csv --label -1 --out never.csv"],
];

describe.skipIf(!isBuiltOnLinux)("the built command (needs npm run build, Linux)", () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "ranksim-interrupts-"));
    await succeed("train digits --estimator classifier --filters 200 --model digits.ranksim", folder);
    await pipeline(Readable.from(csvRows(60e6)), createWriteStream(join(folder, "large.csv")));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  describe.each([
    ["SIGINT", 130, 0.5],
    ["SIGTERM", 143, 0.9],
  ] as const)("%s", (signal, expected, moment) => {
    test.each(PHASES)("while %s", { timeout: 120_000 }, async (_phase, line) => {
      const before = readdirSync(folder);
      const { child, ended } = start(line, folder);
      // By its own work, not by the clock: a busy machine starts it late.
      while ((cpuSeconds(child.pid) ?? moment) < moment) await pause(20);
      const spent = cpuSeconds(child.pid) ?? Number.NaN;
      child.kill(signal);
      let last = spent;
      const watching = setInterval(() => {
        last = cpuSeconds(child.pid) ?? last;
      }, 5);
      const { code, said } = await ended;
      clearInterval(watching);
      expect({ code, said }).toEqual({ code: expected, said: expect.stringContaining("interrupted") });
      expect(last - spent).toBeLessThanOrEqual(SOON);
      expect(readdirSync(folder)).toEqual(before);
    });
  });
});

const pause = (milliseconds: number) => new Promise((resume) => setTimeout(resume, milliseconds));

/** Seconds of the processor that a process has had, as Linux counts them (a hundred a second); undefined where it is gone. */
function cpuSeconds(id: number | undefined): number | undefined {
  try {
    const fields = readFileSync(`/proc/${id}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return undefined;
  }
}
