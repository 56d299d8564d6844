/**
 * From which size on a GPU pays: rows brought to a back end and their leaders found, on the GPU, on one thread and on all, beside what each back
 * end says that it would take. `auto` takes the one that says least; how much longer than the best that lasts is what its figures are worth.
 */

import { type Backend, type Dense, openBackend } from "@ranksim/core";
import { drawBytes } from "./rows.ts";

const ROWS = [64, 512, 4096, 32_768];
const FEATURES = [16, 128, 784];
const FILTERS = [16, 256, 4096];
const NAMES = ["gpu", "wasm", "threads"] as const;
/** Milliseconds on one thread beyond which a shape is left out. */
const MOST = 1000;
const TIMES = 5;

/** One size of work. */
export interface Crossing {
  readonly rows: number;
  readonly features: number;
  readonly filters: number;
  /** Milliseconds by back end: the least of a few, and what it had said. */
  readonly measured: { readonly [name in (typeof NAMES)[number]]: number };
  readonly estimated: { readonly [name in (typeof NAMES)[number]]: number };
}

/** Measures all sizes. */
export async function measureCrossover(tell: (line: string) => void): Promise<Crossing[]> {
  const found: Crossing[] = [];
  const backends = await Promise.all(NAMES.map((name) => openBackend(name)));
  await backends[0].describe?.(); // times its programs
  try {
    for (const features of FEATURES) {
      const all = drawBytes(ROWS[ROWS.length - 1], features, 1);
      for (const rows of ROWS) {
        for (const filters of FILTERS) {
          const x = all.slice(0, rows) as Dense;
          const shape = { rows, features, values: rows * features, bytes: rows * features, filters, searches: 1 };
          const estimated = backends.map((backend) => estimateOf(backend, shape));
          if (estimated[1] > MOST) continue;
          const measured: number[] = [];
          for (const backend of backends) measured.push(await leadersOn(backend, x, filters));
          found.push({ rows, features, filters, measured: named(measured), estimated: named(estimated) });
          const both = measured.map((each, j) => `${each.toFixed(2)} (${estimated[j].toFixed(2)})`);
          tell(`${rows} × ${features} × ${filters}: ${both.join(" ")} ms`);
        }
      }
    }
    return found;
  } finally {
    for (const backend of backends) await backend.close();
  }
}

/** How much longer the back end that says least takes than the fastest: the mean ratio, and the largest. */
export function regret(crossings: readonly Crossing[]): { readonly mean: number; readonly worst: number } {
  const ratios = crossings.map(({ measured, estimated }) => {
    const chosen = NAMES.reduce((best, name) => (estimated[name] < estimated[best] ? name : best));
    return measured[chosen] / Math.min(...NAMES.map((name) => measured[name]));
  });
  const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length);
  return { mean, worst: Math.max(...ratios) };
}

function named(values: readonly number[]): Crossing["measured"] {
  return Object.fromEntries(NAMES.map((name, j) => [name, values[j]])) as Crossing["measured"];
}

function estimateOf(backend: Backend, shape: Parameters<Backend["estimate"]>[0]): number {
  const estimate = backend.estimate(shape);
  return "seconds" in estimate ? estimate.seconds * 1000 : Number.POSITIVE_INFINITY;
}

/** Milliseconds to bring rows and find their leaders; the filters are there already. */
async function leadersOn(backend: Backend, x: Dense, filters: number): Promise<number> {
  const drawn = Uint32Array.from({ length: filters }, (_, f) => f % x.rows);
  const groups = { offsets: Uint32Array.from({ length: filters + 1 }, (_, f) => f), rows: drawn };
  const made = await backend.hold(x);
  const bank = await made.sum(groups).rank();
  const runs: number[] = [];
  for (let j = 0; j <= TIMES; j++) {
    const began = performance.now();
    const held = await backend.hold(x, { filters });
    await held.leaders(bank);
    held.release();
    runs.push(performance.now() - began);
  }
  bank.release();
  made.release();
  return Math.min(...runs.slice(1));
}
