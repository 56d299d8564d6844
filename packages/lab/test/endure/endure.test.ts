/** Kills, full disks, interrupts and long files, a few of each: the programs run as built, and many more by hand. */

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { execPath, platform } from "node:process";
import { describe, expect, it } from "vitest";

const program = (name: string) => resolve(import.meta.dirname, `../../dist/endure/${name}.js`);
const isReady = existsSync(program("writes")) && platform === "linux";

/** What a program found; its exit code is 0, or this throws. */
const run = (name: string, ...args: string[]) =>
  JSON.parse(execFileSync(execPath, [program(name), ...args], { encoding: "utf8", stdio: "pipe" }));

describe.skipIf(!isReady)("the built command (needs npm run build, Linux)", () => {
  it("leaves the old file or the new one, killed or out of disk, whatever it writes", { timeout: 600_000 }, () => {
    const { commands } = run("writes", "--times", "2");
    expect(commands).toHaveLength(17);
    for (const { kills, fullDisks, wrong } of commands)
      expect({ kills, fullDisks, wrong }).toEqual({ kills: 2, fullDisks: 2, wrong: [] });
    // Half of the kills wait for the writing to begin; a busy machine may miss some of them.
    const whileWriting = commands.reduce((sum: number, one: { whileWriting: number }) => sum + one.whileWriting, 0);
    expect(whileWriting).toBeGreaterThan(0);
  });

  it("ends soon after one signal, in every phase", { timeout: 300_000 }, () => {
    const { phases } = run("interrupts", "--times", "2", "--megabytes", "60");
    expect(phases).toHaveLength(8);
    // The clock of a busy machine says little: what counts is the work that was still done. Half a second is the promise.
    for (const { phase, most } of phases)
      expect({ phase, isSoon: most.processor <= 0.5 }).toEqual({ phase, isSoon: true });
  });

  it("answers a file that is larger than its memory, row by row", { timeout: 300_000 }, () => {
    const { rows, answers, peakMegabytes } = run("stream", "--gigabytes", "0.1");
    expect(answers).toBe(rows);
    expect(rows).toBeGreaterThan(600_000);
    expect(peakMegabytes).toBeLessThan(300);
  });
});
