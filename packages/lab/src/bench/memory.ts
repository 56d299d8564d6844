/**
 * The bound on memory, stated as a formula and held against every dense training that was measured on one thread. Data and
 * filters are what grows; no term has rows × filters.
 */

import { type BenchResults, figures, median, type RunResult } from "./results.ts";

/** Bytes of a process that has only started: the engine and this library. */
const RUNTIME = 72e6;
/** Bytes that the garbage collector lets lie, and buffers of fixed size. */
const SLACK = 48e6;
/** Bytes per row beside its values: its projections for the bounds, winner, response and label. */
const PER_ROW = 600;
/** Bytes per weight: the filters as they are, as they were, and as WebAssembly holds them. */
const PER_WEIGHT = 16;

/** The formula as the tables show it. */
export const FORMULA = `${RUNTIME / 1e6} MB + 2·N·n·b + ${PER_ROW}·N + ${PER_WEIGHT}·m·n + ${SLACK / 1e6} MB (b: bytes per value)`;

/** Most bytes that a process may hold which trains m filters on N rows of n values, the caller's own rows included. */
export function memoryBound(rows: number, features: number, filters: number, bytesPerValue: number): number {
  return RUNTIME + 2 * rows * features * bytesPerValue + PER_ROW * rows + PER_WEIGHT * filters * features + SLACK;
}

/** One training held against the formula. */
interface MemoryCheck {
  readonly name: string;
  readonly rows: number;
  readonly features: number;
  readonly filters: number;
  /** Median peak of the whole process: fit and everything after. */
  readonly measured: number;
  readonly bound: number;
}

const DENSE_WORKS = ["classifier", "probabilistic", "transform"];

/** Every dense training of bytes on one thread. */
export function checkMemory(results: BenchResults): readonly MemoryCheck[] {
  const works = results.measurements
    .filter(({ work, system }) => system === "ranksim" && DENSE_WORKS.includes(work))
    .map(({ work, runs }) => checkOf(work, runs));
  const growth = results.growth.map(({ axis, runs }) => checkOf(`growth in ${axis}`, runs));
  return [...works, ...growth].filter((check) => check !== undefined);
}

function checkOf(name: string, runs: readonly RunResult[]): MemoryCheck | undefined {
  const measured = median(figures(runs, ({ peak }) => Math.max(...Object.values(peak))));
  const { rows, features, filters } = runs[0]?.facts ?? {};
  if (measured === undefined) return undefined;
  if (typeof rows !== "number" || typeof features !== "number" || typeof filters !== "number") return undefined;
  return { name, rows, features, filters, measured, bound: memoryBound(rows, features, filters, 1) };
}
