/**
 * Starts measuring processes, one at a time, with a limit on their time. A process that fails or overruns gives a sentence
 * in place of a result; the session goes on.
 */

import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import type { NodeJob, PythonJob } from "./job.ts";

/** Where a job runs: Node, or a python3 with the environment it is fastest in. */
export interface Launcher {
  readonly scratch: string;
  readonly python: string;
  readonly pythonEnv: { readonly [name: string]: string };
}

/** A result, or why there is none. */
export type Outcome<T> =
  | { readonly ok: true; readonly value: T; readonly others: number }
  | { readonly ok: false; readonly why: string };

/** One thread for every numeric library that python3 may use. */
export const ONE_THREAD = { OPENBLAS_NUM_THREADS: "1", OMP_NUM_THREADS: "1", MKL_NUM_THREADS: "1" };

/** Runs a job in a process of its own and reads what it measured. */
export async function launch<T extends { readonly cpu?: unknown }>(
  launcher: Launcher,
  job: NodeJob | PythonJob,
  limitSeconds: number,
): Promise<Outcome<T>> {
  const out = join(launcher.scratch, "result.json");
  rmSync(out, { force: true });
  const isPython = job.task === "python";
  const script = isPython ? pythonScript("measure.py") : fileURLToPath(new URL("./child.js", import.meta.url));
  const before = machineBusySeconds();
  const began = performance.now();
  const ended = await run(
    isPython ? launcher.python : execPath,
    [script, JSON.stringify({ ...job, out })],
    isPython ? { ...process.env, ...launcher.pythonEnv } : process.env,
    limitSeconds,
  );
  if (!ended.ok) return ended;
  const wall = (performance.now() - began) / 1000;
  const value = JSON.parse(readFileSync(out, "utf8")) as T;
  const own = typeof value.cpu === "number" ? value.cpu : 0;
  return { ok: true, value, others: Math.max(0, (machineBusySeconds() - before - own) / wall) };
}

/** Runs a program to its end; its standard output, or why there is none. */
export function run(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  limitSeconds: number,
): Promise<{ readonly ok: true; readonly text: string } | { readonly ok: false; readonly why: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    const text: Buffer[] = [];
    const complaints: Buffer[] = [];
    let overran = false;
    const timer = setTimeout(() => {
      overran = true;
      child.kill("SIGKILL");
    }, limitSeconds * 1000);
    child.stdout.on("data", (chunk) => text.push(chunk));
    child.stderr.on("data", (chunk) => complaints.push(chunk));
    child.on("error", (error) => {
      clearTimeout(timer);
      resolve({ ok: false, why: error.message });
    });
    child.on("close", (code) => {
      clearTimeout(timer);
      if (overran) resolve({ ok: false, why: `not done within ${limitSeconds} s` });
      else if (code === 0) resolve({ ok: true, text: Buffer.concat(text).toString() });
      else resolve({ ok: false, why: lastWords(Buffer.concat(complaints).toString(), code) });
    });
  });
}

/** Path of a script of python/. */
export function pythonScript(name: string): string {
  return fileURLToPath(new URL(`../../python/${name}`, import.meta.url));
}

/** Processor seconds that all processes have used since the machine started. */
export function machineBusySeconds(): number {
  return cpus().reduce((sum, { times }) => sum + (times.user + times.nice + times.sys + times.irq) / 1000, 0);
}

function lastWords(complaints: string, code: number | null): string {
  const lines = complaints.trim().split("\n");
  const message = lines.findLast((line) => /error|exception/i.test(line)) ?? lines.at(-1) ?? "";
  return `ended with code ${code}: ${message.trim().slice(0, 200)}`;
}
