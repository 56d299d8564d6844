/** Every command that writes a file, in a folder of its own with what it reads; and how commands are started and ended. */

import { type ChildProcess, spawn } from "node:child_process";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";

/** The built command. */
export const BIN = fileURLToPath(new URL("bin.js", import.meta.resolve("ranksim")));

/** What has to be there before. */
export const PREPARING: readonly string[] = [
  "train digits:test --estimator classifier --filters 20 --keep-sums --model digits.ranksim",
  "train digits:test --estimator transform --filters 20 --model features.ranksim",
];

/** A command that writes, and the file that it writes to. */
export interface Job {
  readonly line: string;
  readonly target: string;
}

/** All that write, in every format. */
export const JOBS: readonly Job[] = [
  { line: "train digits:test --estimator classifier --filters 40 --seed 2 --model out.ranksim", target: "out.ranksim" },
  { line: "train digits:test --estimator classifier --filters 20 --model x.ranksim --card out.md", target: "out.md" },
  { line: "update digits.ranksim digits:test --out out.ranksim", target: "out.ranksim" },
  { line: "tune digits:test --try filters=10,20 --folds 2 --model out.ranksim", target: "out.ranksim" },
  { line: "tune digits:test --try filters=10,20 --folds 2 --out out.html", target: "out.html" },
  { line: "tune digits:test --try filters=10,20 --folds 2 --plot out.svg", target: "out.svg" },
  ...["csv", "jsonl", "npy", "npz", "parquet"].map((ending) => ({
    line: `predict digits.ranksim digits --probabilities --out out.${ending}`,
    target: `out.${ending}`,
  })),
  { line: "transform features.ranksim digits:test --out out.npz", target: "out.npz" },
  { line: "report digits.ranksim digits:test --out out.html", target: "out.html" },
  { line: "export digits.ranksim --to onnx --out out.onnx", target: "out.onnx" },
  { line: "export digits.ranksim --to c --out out.h", target: "out.h" },
  { line: "spikes digits.ranksim digits:test --rows 50 --out out.html", target: "out.html" },
  { line: "demo --folder demo", target: "demo/report.html" },
];

/** How a run ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly said: string;
  readonly milliseconds: number;
}

/** Starts the command; `limit` is the largest file it may write, in blocks of 512 bytes. */
export function start(line: string, cwd: string, limit?: number): { child: ChildProcess; ended: Promise<Ended> } {
  const args = line.split(" ");
  const began = performance.now();
  const stdio = ["ignore", "ignore", "pipe"] as const;
  const child =
    limit === undefined
      ? spawn(execPath, [BIN, ...args], { cwd, stdio: [...stdio] })
      : spawn("sh", ["-c", `ulimit -f ${limit}; exec "$0" "$@"`, execPath, BIN, ...args], { cwd, stdio: [...stdio] });
  let said = "";
  child.stderr?.on("data", (chunk) => {
    said += chunk;
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (code, signal) => resolve({ code, signal, said, milliseconds: performance.now() - began }));
  });
  return { child, ended };
}
