/**
 * Measuring processes, one at a time, with a limit on their time. Node and Python take jobs alike: as JSON, the only argument,
 * with the path for the result.
 */

import { spawn } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import type { Measured } from "./results.ts";

/** One thread for every numeric library that python3 may use. */
export const ONE_THREAD = { OPENBLAS_NUM_THREADS: "1", OMP_NUM_THREADS: "1", MKL_NUM_THREADS: "1" };

/** Where and how processes run. */
export interface Workshop {
  readonly scratch: string;
  readonly python: string;
  readonly pythonEnv: { readonly [name: string]: string };
  readonly limitSeconds: number;
}

/** Calls `measure` of a module of this package in a process of its own; the module's path is below src, without its ending. */
export function measureApart(workshop: Workshop, module: string, job: object): Promise<Measured> {
  const child = fileURLToPath(new URL("./child.js", import.meta.url));
  return measure(workshop, execPath, [child], { ...job, module }, process.env);
}

/** Runs a script of python/ with a job. */
export function measureInPython(workshop: Workshop, script: string, job: object): Promise<Measured> {
  const env = { ...process.env, ...workshop.pythonEnv };
  return measure(workshop, workshop.python, [pythonScript(script)], job, env);
}

async function measure(workshop: Workshop, program: string, args: string[], job: object, env: NodeJS.ProcessEnv) {
  const out = join(workshop.scratch, "result.json");
  rmSync(out, { force: true });
  await run(program, [...args, JSON.stringify({ ...job, out })], env, workshop.limitSeconds);
  return JSON.parse(readFileSync(out, "utf8")) as Measured;
}

/** Runs a program to its end and gives its standard output; an error says why there is none. */
export function run(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  limitSeconds: number,
): Promise<string> {
  return new Promise((resolve, reject) => {
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
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      if (overran) reject(new Error(`not done within ${limitSeconds} s`));
      else if (code === 0) resolve(Buffer.concat(text).toString());
      else reject(new Error(lastWords(Buffer.concat(complaints).toString(), code)));
    });
  });
}

/** Path of a script of python/. */
export function pythonScript(name: string): string {
  return fileURLToPath(new URL(`../../python/${name}`, import.meta.url));
}

function lastWords(complaints: string, code: number | null): string {
  const lines = complaints.trim().split("\n");
  const message = lines.findLast((line) => /error|exception/i.test(line)) ?? lines.at(-1) ?? "";
  return `ended with code ${code}: ${message.trim().slice(0, 200)}`;
}
