/** Times calls inside the process that makes them: processor time of all threads, clock time, and peak memory so far. */

import { existsSync, readFileSync } from "node:fs";
import { cpuUsage, resourceUsage } from "node:process";
import type { Phase, PhaseName, RunResult } from "./results.ts";

/** What Linux tells a process about itself. */
const STATUS = "/proc/self/status";

/** Collects the phases of one run. Made when the data are loaded and before anything is timed. */
export class Stopwatch {
  readonly #phases: { [name in PhaseName]?: Phase } = {};
  readonly #peak: { [name in PhaseName | "start"]?: number } = { start: peakBytes() };

  /** Makes the call as the named phase. */
  async phase<T>(name: PhaseName, call: () => T | Promise<T>): Promise<T> {
    const [result, phase] = await timed(call);
    this.#phases[name] = phase;
    this.#peak[name] = peakBytes();
    return result;
  }

  /** What was measured, with what else is known of the run. */
  result(scores: RunResult["scores"], facts: RunResult["facts"]): RunResult {
    return { phases: this.#phases, peak: this.#peak, scores, facts, cpu: cpuSeconds(cpuUsage()) };
  }
}

/** Makes the call and says how long it took. */
export async function timed<T>(call: () => T | Promise<T>): Promise<[result: T, phase: Phase]> {
  const cpu = cpuUsage();
  const wall = performance.now();
  const result = await call();
  const phase = { cpu: cpuSeconds(cpuUsage(cpu)), wall: (performance.now() - wall) / 1000 };
  return [result, phase];
}

/**
 * Most resident memory of this process. On Linux `getrusage` also counts the parent's memory at the moment of the start, which the
 * kernel's own mark of this address space does not.
 */
function peakBytes(): number {
  const mark = existsSync(STATUS) ? /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(STATUS, "utf8")) : null;
  return (mark ? Number(mark[1]) : resourceUsage().maxRSS) * 1024;
}

function cpuSeconds({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1e6;
}
