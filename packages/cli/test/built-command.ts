/** The built command in a process of its own: how it is started, and how it ended. */

import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { execPath, platform } from "node:process";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url));

/** Whether it is there, on a system that tells a process's memory and processor time under /proc. */
export const isBuiltOnLinux = existsSync(BIN) && platform === "linux";

/** How a run ended. */
export interface Ended {
  readonly code: number | null;
  readonly said: string;
  readonly milliseconds: number;
}

/** Starts the command; `limit` is the largest file it may write, in blocks of 512 bytes. */
export function start(line: string, cwd: string, limit?: number): { child: ChildProcess; ended: Promise<Ended> } {
  const args = [BIN, ...line.split(" ")];
  const began = performance.now();
  const stdio: ["ignore", "ignore", "pipe"] = ["ignore", "ignore", "pipe"];
  const child =
    limit === undefined
      ? spawn(execPath, args, { cwd, stdio })
      : spawn("sh", ["-c", `ulimit -f ${limit}; exec "$0" "$@"`, execPath, ...args], { cwd, stdio });
  let said = "";
  child.stderr.on("data", (chunk) => {
    said += chunk;
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (code) => resolve({ code, said, milliseconds: performance.now() - began }));
  });
  return { child, ended };
}

/** Runs the command to its end; what it said is the error where it fails. */
export async function succeed(line: string, cwd: string): Promise<Ended> {
  const end = await start(line, cwd).ended;
  if (end.code !== 0) throw new Error(`${line}: ${end.said}`);
  return end;
}

/** Runs the command to its end; `peak` is the most bytes of memory that it had. */
export async function watched(line: string, cwd: string): Promise<Ended & { readonly peak: number }> {
  const { child, ended } = start(line, cwd);
  let peak = 0;
  const watching = setInterval(() => {
    peak = Math.max(peak, peakBytes(child.pid));
  }, 20);
  const end = await ended;
  clearInterval(watching);
  return { ...end, peak };
}

/** Runs the command to its end; the most bytes of memory that it had, where it did not fail. */
export async function peakOf(line: string, cwd: string): Promise<number> {
  const { code, said, peak } = await watched(line, cwd);
  if (code !== 0) throw new Error(`${line}: ${said}`);
  return peak;
}

/** The largest resident memory so far, as Linux counts it; 0 where the process is gone. */
function peakBytes(id: number | undefined): number {
  try {
    return 1024 * Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${id}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
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
