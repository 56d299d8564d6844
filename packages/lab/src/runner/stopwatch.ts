/** Times calls inside the process that makes them: processor time of all threads, clock time, and peak memory so far. */

import { existsSync, readFileSync } from "node:fs";
import { cpuUsage, resourceUsage } from "node:process";

/** What Linux tells a process about itself. */
const STATUS = "/proc/self/status";

/** Makes the call and says how many seconds it took: of the processor, all threads together, and by the clock. */
export async function timed<T>(call: () => T | Promise<T>): Promise<{ value: T; cpu: number; wall: number }> {
  const used = cpuUsage();
  const began = performance.now();
  const value = await call();
  return { value, cpu: seconds(cpuUsage(used)), wall: (performance.now() - began) / 1000 };
}

/** Processor seconds of this process so far. */
export function cpuSoFar(): number {
  return seconds(cpuUsage());
}

/**
 * Most resident memory of this process. On Linux `getrusage` also counts the parent's memory at the moment of the start, which the
 * kernel's own mark of this address space does not.
 */
export function peakBytes(): number {
  const mark = existsSync(STATUS) ? /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(STATUS, "utf8")) : null;
  return (mark ? Number(mark[1]) : resourceUsage().maxRSS) * 1024;
}

function seconds({ user, system }: NodeJS.CpuUsage): number {
  return (user + system) / 1e6;
}
