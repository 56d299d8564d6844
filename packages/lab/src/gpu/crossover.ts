/**
 * From which size on a GPU pays: rows brought to a back end and their leaders found, on the GPU, on one thread and on all, beside what each back
 * end says that it would take. `auto` takes the one that says least; how much longer than the best that lasts is what its figures are worth.
 */

import { type Backend, type Matrix, openBackend } from "@ranksim/core";
import { asFloats, asWords, drawBytes, drawWords } from "./rows.ts";

/** Rows of each kind, as many as are measured at most. */
const KINDS = {
  bytes: (features: number) => drawBytes(MOST_ROWS, features, 1),
  u16: (features: number) => asWords(drawBytes(MOST_ROWS, features, 1)),
  f32: (features: number) => asFloats(drawBytes(MOST_ROWS, features, 1)),
  sparse: (features: number) => drawWords(MOST_ROWS, 32 * features, Math.min(features, 64), 1).x,
};
export type Kind = keyof typeof KINDS;

const MOST_ROWS = 32_768;
const ROWS = [64, 512, 4096, MOST_ROWS];
const FEATURES = [16, 128, 784];
const FILTERS = [16, 256, 4096];
const NAMES = ["gpu", "wasm", "threads"] as const;
/** Milliseconds on one thread beyond which a shape is left out. */
const MOST = 1000;
const TIMES = 5;

/** One size of work. */
export interface Crossing {
  readonly kind: Kind;
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
    for (const kind of Object.keys(KINDS) as Kind[]) {
      for (const wide of FEATURES) {
        const all = KINDS[kind](wide);
        for (const rows of ROWS) {
          const x = all.slice(0, rows);
          for (const filters of FILTERS) {
            const crossing = await cross(backends, kind, all, x, filters);
            if (!crossing) continue;
            found.push(crossing);
            const both = NAMES.map(
              (name) => `${crossing.measured[name].toFixed(2)} (${crossing.estimated[name].toFixed(2)})`,
            );
            tell(`${kind} ${rows} × ${x.features} × ${filters}: ${both.join(" ")} ms`);
          }
        }
      }
    }
    return found;
  } finally {
    for (const backend of backends) await backend.close();
  }
}

/** Measures one size; undefined where it would last too long. */
async function cross(
  backends: readonly Backend[],
  kind: Kind,
  all: Matrix,
  x: Matrix,
  filters: number,
): Promise<Crossing | undefined> {
  const { rows, features, entries: values, valueBytes } = x;
  const shape = { rows, features, values, bytes: values * valueBytes, filters, searches: 1 };
  const estimated = backends.map((backend) => estimateOf(backend, shape));
  if (estimated[1] > MOST) return undefined;
  const measured: number[] = [];
  for (const backend of backends) measured.push(await leadersOn(backend, all, x, filters));
  return { kind, rows, features, filters, measured: named(measured), estimated: named(estimated) };
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

/** Milliseconds to bring rows and find their leaders; the filters, each one of all rows, are there already. */
async function leadersOn(backend: Backend, all: Matrix, x: Matrix, filters: number): Promise<number> {
  const drawn = Uint32Array.from({ length: filters }, (_, f) => f);
  const groups = { offsets: Uint32Array.from({ length: filters + 1 }, (_, f) => f), rows: drawn };
  const made = await backend.hold(all.slice(0, filters));
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
