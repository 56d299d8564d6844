/** One signal ends any phase, with the exit code of its kind and nothing half-written; a disk that is full is noticed. */

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));

describe.skipIf(!existsSync(BIN))("the built command (npm run build)", () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "ranksim-interrupted-"));
    const line = Array.from({ length: 200 }, (_, i) => (i * 37) % 256).join(",");
    writeFileSync(join(folder, "large.csv"), `${line}\n`.repeat(100_000));
    const trained = start(["train", "--estimator", "classifier", "digits", "-m", "digits.ranksim", "--filters", "20"]);
    expect((await end(trained)).code).toBe(0);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const start = (args: readonly string[], stdout: "pipe" | "ignore" = "ignore") =>
    spawn(process.execPath, [BIN, ...args], { cwd: folder, stdio: ["pipe", stdout, "pipe"] });

  /** Runs a line of the shell, in which $R is the command. */
  const shell = (line: string) =>
    spawn("sh", ["-c", line], { cwd: folder, stdio: ["ignore", "pipe", "pipe"], env: { ...process.env, R: BIN } });

  async function end(child: ChildProcess): Promise<{ code: number | null; stderr: string }> {
    let stderr = "";
    child.stderr?.on("data", (chunk) => {
      stderr += chunk;
    });
    const [code] = (await once(child, "close")) as [number | null];
    return { code, stderr };
  }

  const pause = (milliseconds: number) => new Promise((resume) => setTimeout(resume, milliseconds));

  const PHASES: readonly (readonly [phase: string, line: string])[] = [
    ["waiting for standard input", "train --estimator classifier - --label -1 -m never.model"],
    ["waiting for the model", "predict - digits"],
    ["reading a file", "train --estimator classifier large.csv --label -1 -m never.model"],
    [
      "training",
      "train --estimator classifier digits -m never.model --set spreading=weighted-average --set iterations=1000000",
    ],
    ["cross-validating", "cross-validate digits --set spreading=weighted-average --set iterations=1000000"],
    ["refining", "train digits -m never.model --filters 400 --set refine=true --set refineEpochs=100000"],
    [
      "tuning",
      "tune digits -m never.model --try filters=100,200,300,400,500 --set refine=true --set refineEpochs=1000",
    ],
  ];

  test("an error ends the command although its input goes on", async () => {
    const child = start(["train", "-", "--label", "b", "-m", "never.model"]);
    const ended = end(child);
    // As `tail -f` would: the pipe stays open.
    child.stdin?.write(`a,b\n1,2,3\n${"4,5\n".repeat(20_000)}`);
    const { code, stderr } = await ended;
    child.stdin?.destroy();
    expect([code, stderr]).toEqual([1, expect.stringContaining("expected 2 fields")]);
  });

  test.skipIf(process.platform === "win32")("a named pipe that nobody writes to ends with the signal", async () => {
    execFileSync("mkfifo", [join(folder, "pipe")]);
    const child = start(["train", "pipe", "--label", "b", "-m", "never.model"]);
    const ended = end(child);
    await pause(600);
    child.kill("SIGTERM");
    expect((await ended).code).toBe(143);
    const table = "a,b,kind\n1,2,x\n2,1,y\n";
    const line = `{ sleep 0.1; printf '${table}'; } > pipe & node $R train pipe --label kind -m piped.model`;
    expect((await end(shell(line))).code).toBe(0);
    for (const name of ["pipe", "piped.model"]) rmSync(join(folder, name));
  });

  test.each(PHASES)("%s", async (_, line) => {
    const before = readdirSync(folder);
    for (const [signal, code] of [
      ["SIGINT", 130],
      ["SIGTERM", 143],
    ] as const) {
      const child = start(line.split(" "));
      const ended = end(child);
      await pause(700);
      child.kill(signal);
      const outcome = await ended;
      expect(outcome).toMatchObject({ code, stderr: expect.stringContaining("interrupted") });
    }
    expect(readdirSync(folder)).toEqual(before);
  });

  test.runIf(existsSync("/dev/full"))("standard output on a full device", async () => {
    for (const line of [
      "predict digits.ranksim digits",
      "train --estimator classifier digits -m - --filters 20",
      "--help",
      "data list",
    ]) {
      const { code, stderr } = await end(shell(`node $R ${line} > /dev/full`));
      expect({ line, code }).toEqual({ line, code: 1 });
      expect(stderr).toContain("standard output: no space left");
      expect(stderr).not.toMatch(/^ {4}at /m);
    }
    const named = await end(shell("node $R predict digits.ranksim digits --out /dev/full"));
    expect(named).toMatchObject({ code: 1, stderr: expect.stringContaining("/dev/full: no space left") });
  });

  test.runIf(process.platform === "linux")("a file that takes only a part of what is written", async () => {
    const before = readdirSync(folder);
    const out = await end(shell("ulimit -f 1; node $R predict digits.ranksim digits --probabilities > answers.csv"));
    expect(out).toMatchObject({ code: 1, stderr: expect.stringContaining("standard output: ") });
    rmSync(join(folder, "answers.csv"));
    for (const line of [
      "train --estimator classifier digits --filters 50 -m x.model",
      "predict digits.ranksim digits --probabilities -o x.csv",
      "report digits.ranksim digits -o x.html",
      "update digits.ranksim digits -o x.model",
    ]) {
      const { code, stderr } = await end(shell(`ulimit -f 1; node $R ${line}`));
      expect({ line, code }).toEqual({ line, code: 1 });
      if (!line.startsWith("update")) expect(stderr).toMatch(/x\.(model|csv|html): the file would be larger/);
    }
    expect(readdirSync(folder)).toEqual(before);
  });

  test.runIf(process.platform === "linux")("a folder that does not take cache files or checkpoints", async () => {
    const rows = Array.from({ length: 900 }, (_, r) => `${r % 7},${r % 31},${r / 8},${"xyz"[r % 3]}`);
    writeFileSync(join(folder, "few.csv"), `${rows.join("\n")}\n`);
    const train = "$R train few.csv --label 3 --estimator classifier --set table=false --memory 60KB -m x.model";
    for (const [line, message] of [
      [`RANKSIM_SCRATCH=/none node ${train}`, "/none: expected a folder for cache files, found nothing"],
      [
        `ulimit -f 1; RANKSIM_SCRATCH=. node ${train}`,
        ".: expected a folder with room for a cache file of 10800 bytes, found one where files may not be that large",
      ],
    ]) {
      const { code, stderr } = await end(shell(line));
      const cure = "; set RANKSIM_SCRATCH to a folder with more room";
      expect({ code, stderr }).toEqual({ code: 1, stderr: `error: ${message}${cure}\n` });
    }
    const kept = await end(
      shell("ulimit -f 1; node $R train digits --estimator classifier --checkpoint kept -m x.model"),
    );
    expect(kept.stderr).toMatch(/kept: expected a folder with room for a state of training of \d+ bytes.*same command/);
  });
});
