/**
 * Every command that writes, in every format, is killed and runs out of disk: the file is the old one or the new one each time,
 * and what a killed run left is gone after the next.
 */

import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isBuiltOnLinux, start, succeed } from "./built-command.ts";

/** What is in the place of the file before. */
const OLD = Buffer.from("old\n".repeat(64));
/** Blocks of 512 bytes, as a shell counts. */
const BLOCK = 512;
/** When a run is killed, as a share of its length. */
const MOMENTS = [0.55, 0.85];
/** How much of the file a full disk takes, as a share of its length. */
const ROOM = [0, 0.6];

const JOBS: readonly (readonly [line: string, target: string])[] = [
  ["train digits:test --estimator classifier --filters 40 --seed 2 --model out.ranksim", "out.ranksim"],
  ["train digits:test --estimator classifier --filters 20 --model x.ranksim --card out.md", "out.md"],
  ["update digits.ranksim digits:test --out out.ranksim", "out.ranksim"],
  ["tune digits:test --try filters=10,20 --folds 2 --model out.ranksim", "out.ranksim"],
  ["tune digits:test --try filters=10,20 --folds 2 --out out.html", "out.html"],
  ["tune digits:test --try filters=10,20 --folds 2 --plot out.svg", "out.svg"],
  ...["csv", "jsonl", "npy", "npz", "parquet"].map(
    (ending) => [`predict digits.ranksim digits --probabilities --out out.${ending}`, `out.${ending}`] as const,
  ),
  ["transform features.ranksim digits:test --out out.npz", "out.npz"],
  ["report digits.ranksim digits:test --out out.html", "out.html"],
  ["export digits.ranksim --to onnx --out out.onnx", "out.onnx"],
  ["export digits.ranksim --to c --out out.h", "out.h"],
  ["spikes digits.ranksim digits:test --rows 50 --out out.html", "out.html"],
  ["demo --folder demo", "demo/report.html"],
];

describe.skipIf(!isBuiltOnLinux)("the built command (needs npm run build, Linux)", () => {
  let folder: string;
  let killedWhileWriting = 0;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "ranksim-writes-"));
    await succeed("train digits:test --estimator classifier --filters 20 --keep-sums --model digits.ranksim", folder);
    await succeed("train digits:test --estimator transform --filters 20 --model features.ranksim", folder);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  test.each(JOBS)("leaves the old file or the new one: %s", { timeout: 300_000 }, async (line, target) => {
    const path = join(folder, target);
    mkdirSync(dirname(path), { recursive: true });
    const { milliseconds } = await succeed(line, folder);
    const after = readFileSync(path);
    for (const moment of ["while writing" as const, ...MOMENTS]) {
      writeFileSync(path, OLD);
      if (await isKilledWhileWriting(line, folder, dirname(path), moment, milliseconds)) killedWhileWriting++;
      const now = readFileSync(path);
      expect({ moment, isWhole: now.equals(OLD) || isLike(now, after) }).toEqual({ moment, isWhole: true });
    }
    await succeed(line, folder);
    expect(temporaryFiles(dirname(path))).toEqual([]);
    for (const room of ROOM) {
      writeFileSync(path, OLD);
      const { code, said } = await start(line, folder, Math.floor((room * (after.length - 1)) / BLOCK)).ended;
      expect({ room, code }).toEqual({ room, code: 1 });
      expect(said).toMatch(/would be larger|no space left/);
      // A command of several files may fail at another one; the old file stays in any case.
      expect(readFileSync(path).equals(OLD)).toBe(true);
      expect(temporaryFiles(dirname(path))).toEqual([]);
    }
    rmSync(path);
  });

  test("some of the kills came in the middle of writing", () => {
    // A busy machine may miss some of them.
    expect(killedWhileWriting).toBeGreaterThan(0);
  });
});

/** Kills a run at a moment; whether that was as soon as it began to write. */
async function isKilledWhileWriting(
  line: string,
  cwd: string,
  folder: string,
  moment: number | "while writing",
  milliseconds: number,
): Promise<boolean> {
  let isKilled = false;
  const { child, ended } = start(line, cwd);
  if (moment !== "while writing") {
    const timer = setTimeout(() => child.kill("SIGKILL"), moment * milliseconds);
    await ended;
    clearTimeout(timer);
    return false;
  }
  const watcher = watch(folder);
  watcher.on("change", (_, name) => {
    if (!String(name).startsWith(".ranksim-")) return;
    isKilled = true;
    child.kill("SIGKILL");
  });
  await ended;
  watcher.close();
  return isKilled;
}

/** Pages say when they were made, so that two of them differ in a few letters; one that was cut short lacks its end. */
function isLike(found: Buffer, after: Buffer): boolean {
  if (found.equals(after)) return true;
  const end = 16;
  const isNear = Math.abs(found.length - after.length) < 200;
  return isNear && found.length > OLD.length + 200 && found.subarray(-end).equals(after.subarray(-end));
}

function temporaryFiles(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith(".ranksim-") && existsSync(join(folder, name)));
}
