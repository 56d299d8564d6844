/**
 * Whether updates of refinement would pay on a GPU: an update by a batch of 1,000 rows on the processor, beside what the GPU takes for the
 * responses alone that such an update begins with. Moving prototypes and ranking them would come on top of those.
 */

import { type Backend, openBackend } from "@ranksim/core";
import type { Images } from "./rows.ts";

const FILTERS = [300, 3000];
const BATCH = 1000;
/** Filters that each row is compared with. */
const NEAREST = 6;
/** Times that all batches are gone through; the last one counts. */
const TIMES = 3;
/** As refinement begins. */
const UNIT = 1024;
const STEP = { step: 51, window: 0.01, patience: 8 };

/** One line for each number of filters. */
export async function measureUpdates({ x, y }: Images): Promise<string[]> {
  const host = await openBackend("threads");
  const gpu = await openBackend("gpu");
  const lines: string[] = [];
  try {
    for (const filters of FILTERS) {
      const rows = Uint32Array.from({ length: filters }, (_, f) => f * Math.floor(x.rows / filters));
      const count = Math.floor(x.rows / BATCH);
      const batches = Array.from({ length: count }, (_, b) =>
        Uint32Array.from({ length: BATCH }, (_, j) => j * count + b),
      );
      const update = await updatesOn(host, { x, y }, rows, batches);
      const responses = await responsesOn(gpu, { x, y }, rows, batches);
      lines.push(
        `${filters} filters: an update by ${BATCH} rows takes ${update.toFixed(2)} ms on ${host.threads} threads, its responses alone ${responses.toFixed(2)} ms on the GPU`,
      );
    }
    return lines;
  } finally {
    await host.close();
    await gpu.close();
  }
}

type Labelled = Pick<Images, "x" | "y">;

/** Rows held, and filters that are the ranks of some. */
async function hold(backend: Backend, { x }: Labelled, rows: Uint32Array) {
  const held = await backend.hold(x);
  const offsets = Uint32Array.from({ length: rows.length + 1 }, (_, f) => f);
  return { held, bank: await held.sum({ offsets, rows }).rank() };
}

async function updatesOn(
  backend: Backend,
  data: Labelled,
  rows: Uint32Array,
  batches: readonly Uint32Array[],
): Promise<number> {
  const { held, bank } = await hold(backend, data, rows);
  const { x, y } = data;
  const top = await held.topFilters(bank, NEAREST);
  const values = new Float64Array(rows.length * x.features);
  rows.forEach((r, f) => {
    for (let i = 0; i < x.features; i++) values[f * x.features + i] = UNIT * x.values[r * x.features + i];
  });
  const refining = await held.refine({
    ...{ filters: rows.length, features: x.features, values, rule: "add", distribution: undefined },
    filterClass: Uint32Array.from(rows, (r) => y[r]),
  });
  refining.list({ codes: Uint32Array.from(y), filters: top.filter, k: NEAREST });
  const taken = await lastOf(batches, (batch) => refining.update({ rows: batch, ...STEP }));
  refining.release();
  bank.release();
  held.release();
  return taken;
}

async function responsesOn(
  backend: Backend,
  data: Labelled,
  rows: Uint32Array,
  batches: readonly Uint32Array[],
): Promise<number> {
  const { held, bank } = await hold(backend, data, rows);
  const taken = await lastOf(batches, (batch) => held.topFilters(bank, NEAREST, batch));
  bank.release();
  held.release();
  return taken;
}

/** Milliseconds a batch, the last time that all of them are gone through. */
async function lastOf(
  batches: readonly Uint32Array[],
  work: (batch: Uint32Array) => Promise<unknown>,
): Promise<number> {
  let taken = 0;
  for (let time = 0; time < TIMES; time++) {
    const began = performance.now();
    for (const batch of batches) await work(batch);
    taken = (performance.now() - began) / batches.length;
  }
  return taken;
}
