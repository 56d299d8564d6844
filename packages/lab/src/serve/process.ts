/** Servers as processes of their own: started, measured, ended. */

import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";

/** A server in a process of its own. */
export interface Started {
  readonly port: number;
  /** Milliseconds from the start of the process to the line with its port. */
  readonly readyMs: number;
  /** Resident memory in bytes. */
  memory(): number;
  /** Processor seconds so far. */
  cpu(): number;
  signal(name: NodeJS.Signals): void;
  /** The exit code, once it ended. */
  readonly ended: Promise<number | null>;
}

/** Servers that run; a measurement that fails leaves none behind. */
const running = new Set<ChildProcess>();

/** Ends all servers that still run. */
export function endAll(): void {
  for (const child of running) child.kill("SIGKILL");
}

/** Starts a server and waits for `port` to find one in what it prints. */
export function start(
  program: string,
  args: readonly string[],
  port: (printed: string) => number | undefined,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Started> {
  const began = performance.now();
  const child: ChildProcess = spawn(program, args, { stdio: ["ignore", "pipe", "inherit"], env });
  running.add(child);
  const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
  void ended.then(() => running.delete(child));
  return new Promise((resolve, reject) => {
    let printed = "";
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`${program} ended with ${code} before it served`)));
    child.stdout?.on("data", (chunk) => {
      printed += chunk;
      const found = port(printed);
      if (found === undefined) return;
      resolve({
        port: found,
        readyMs: performance.now() - began,
        memory: () => residentBytes(child.pid as number),
        cpu: () => processorSeconds(child.pid as number),
        signal: (name) => void child.kill(name),
        ended,
      });
    });
  });
}

/** Starts `ranksim serve`. */
export function startRanksim(bin: string, models: readonly string[], ...flags: string[]): Promise<Started> {
  return start(process.execPath, [bin, "serve", ...models, "--port", "0", "--json", "-q", ...flags], (printed) => {
    const found = /"address": "http:\/\/127\.0\.0\.1:(\d+)"/.exec(printed);
    return found ? Number(found[1]) : undefined;
  });
}

/** Starts a server that prints nothing but its port. */
export function startPlain(program: string, args: readonly string[], env?: NodeJS.ProcessEnv): Promise<Started> {
  return start(program, args, (printed) => (printed.includes("\n") ? Number(printed.split("\n")[0]) : undefined), env);
}

/** Time in user and system mode, all threads; the kernel counts in hundredths of a second. */
function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function residentBytes(pid: number): number {
  const found = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return found ? 1024 * Number(found[1]) : Number.NaN;
}
