/** Runs that are killed or interrupted: the model file is the old one or the new one, and an interrupt leaves nothing else. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadDigits } from "@ranksim/data";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const dist = (name: string) => fileURLToPath(new URL(`../dist/${name}`, import.meta.url));
const BIN = dist("bin.js");

/** Fixed, so that a failure can be repeated: parts of the run's length. */
const MOMENTS = [0.05, 0.2, 0.35, 0.45, 0.55, 0.62, 0.68, 0.74, 0.8, 0.85, 0.88, 0.91, 0.94, 0.97, 1, 1.03];

describe.skipIf(!existsSync(BIN))("the built command (npm run build)", () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "ranksim-killed-"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const start = (...args: string[]) => spawn(process.execPath, [BIN, ...args], { cwd: folder, stdio: "pipe" });
  const ended = async (child: ChildProcess) =>
    (await once(child, "close")) as [code: number | null, signal: string | null];

  test("killed at any moment leaves the old model or the new one", async () => {
    const model = join(folder, "m.model");
    const train = (seed: string, path: string) =>
      start("train", "--estimator", "classifier", "digits", "-m", path, "--seed", seed);
    const content: Buffer[] = [];
    let length = 0;
    for (const seed of ["1", "2"]) {
      const began = performance.now();
      expect(await ended(train(seed, model))).toEqual([0, null]);
      length = performance.now() - began;
      content.push(readFileSync(model));
    }
    const [before, after] = content;
    expect(before.equals(after)).toBe(false);
    for (const moment of MOMENTS) {
      writeFileSync(model, before);
      const child = train("2", model);
      const end = ended(child);
      await new Promise((resume) => setTimeout(resume, moment * length));
      child.kill("SIGKILL");
      await end;
      const found = readFileSync(model);
      expect(found.equals(before) || found.equals(after)).toBe(true);
    }
  });

  test("killed in the middle of writing leaves the old file", async () => {
    const target = join(folder, "half.model");
    writeFileSync(target, "old");
    const script = `
      import { processIo } from ${JSON.stringify(dist("io.js"))};
      import { writeTo } from ${JSON.stringify(dist("files/output.js"))};
      async function* slow() {
        yield Buffer.from("new, first half");
        process.stdout.write("written");
        await new Promise(() => setInterval(() => {}, 1000));
      }
      await writeTo(${JSON.stringify(target)}, slow(), processIo(new AbortController().signal));`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "pipe" });
    const end = ended(child);
    await once(child.stdout!, "data");
    child.kill("SIGKILL");
    await end;
    expect(readFileSync(target, "utf8")).toBe("old");
  });

  test("interrupted during training ends with 130, says so, and leaves no file", async () => {
    const { x, y } = await loadDigits();
    const csv = y.map((label, r) => `${Array.from(x.row(r)).join(",")},${label}`).join("\n");
    const files = readdirSync(folder);
    const args = [
      "train",
      "--estimator",
      "classifier",
      "-",
      "--label",
      "-1",
      "-m",
      "never.model",
      "--spreading",
      "weightedAverage",
    ];
    const child = start(...args, "--iterations", "1000000");
    const end = ended(child);
    let said = "";
    child.stderr!.on("data", (chunk) => {
      said += chunk;
    });
    // More than a pipe holds: once it is gone, the command is reading, and soon after at work.
    child.stdin!.end(csv);
    await once(child.stdin!, "finish");
    await new Promise((resume) => setTimeout(resume, 1500));
    child.kill("SIGINT");
    expect(await end).toEqual([130, null]);
    expect(said).toContain("interrupted");
    expect(readdirSync(folder)).toEqual(files);
  });

  test("a reader that leaves early is no error", async () => {
    expect(
      await ended(start("train", "--estimator", "classifier", "digits", "-m", "d.model", "--filters", "20")),
    ).toEqual([0, null]);
    const child = start("predict", "d.model", "digits", "--probabilities");
    child.stdout!.destroy();
    let said = "";
    child.stderr!.on("data", (chunk) => {
      said += chunk;
    });
    expect(await ended(child)).toEqual([0, null]);
    expect(said).not.toContain("rror");
  });
});
