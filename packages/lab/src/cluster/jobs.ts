/** The command as it is installed, started and watched: how long it takes and how much memory it ever had. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../../../cli/bin/ranksim.js", import.meta.url));

/** What a run of the command took. */
export interface Measured {
  /** Of the whole process. */
  readonly seconds: number;
  /** Of training alone, where the command said so. */
  readonly fitSeconds: number;
  readonly peakMegabytes: number;
}

/** A started command. */
export interface Job {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>;
}

/** Starts a line of the command, or of another program of Node, in a folder; `launch` goes before it. */
export function start(line: string, folder: string, launch: readonly string[] = [], program = BIN): Job {
  const [command, ...args] = [...launch, process.execPath, program, ...line.trim().split(/ +/)];
  const child = spawn(command, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  const [out, err]: [string[], string[]] = [[], []];
  child.stdout.on("data", (chunk) => out.push(String(chunk)));
  child.stderr.on("data", (chunk) => err.push(String(chunk)));
  const ended = once(child, "close").then(([code]) => ({
    code: code as number | null,
    stdout: out.join(""),
    stderr: err.join(""),
  }));
  return { child, ended };
}

/** Runs a line to its end, which has to be good. */
export async function measure(
  line: string,
  folder: string,
  launch: readonly string[] = [],
  program = BIN,
): Promise<Measured & { readonly stdout: string }> {
  const began = performance.now();
  const { child, ended } = start(line, folder, launch, program);
  let peak = 0;
  const timer = setInterval(() => {
    peak = Math.max(peak, peakOf(child.pid as number));
  }, 20);
  const { code, stdout, stderr } = await ended;
  clearInterval(timer);
  if (code !== 0) throw new Error(`${line}: exit code ${code}\n${stderr.slice(-2000)}`);
  const fit = /"seconds":\s*([\d.e+-]+)/.exec(stdout)?.[1];
  return {
    seconds: (performance.now() - began) / 1000,
    fitSeconds: Number(fit ?? Number.NaN),
    peakMegabytes: peak / 1000,
    stdout,
  };
}

/** Kilobytes that a process has had at most. */
function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0; // it has ended
  }
}

/** The processes of the command whose command line says this. */
export function processesOf(said: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      const [node, bin, ...rest] = commandOf(pid);
      return /\bnode$/.test(node) && bin === BIN && rest.includes(said);
    });
}

function commandOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
  } catch {
    return [""]; // it has ended
  }
}
