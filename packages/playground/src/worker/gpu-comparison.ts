/** The same question to the GPU and to one thread of WebAssembly: how a visitor's GPU compares on the current data. */

import { type Backend, type FilterBank, type Matrix, openBackend, RanksimError } from "@ranksim/core";
import type { GpuComparison } from "../protocol.ts";

/** Each is asked at least twice, and again for as long as that takes fewer milliseconds. */
const MILLISECONDS = 500;
const MOST_TIMES = 20;

interface Timed {
  /** The fastest of the answers, in seconds. */
  readonly seconds: number;
  readonly filter: Uint32Array;
  readonly response: Float64Array;
}

/** Brings rows to each back end and finds the strongest filter of each row there, from start to answer. */
export async function compareGpu(bank: FilterBank, x: Matrix): Promise<GpuComparison> {
  let gpu: Backend;
  try {
    gpu = await openBackend("gpu");
  } catch (error) {
    if (error instanceof RanksimError && error.code === "no-backend") return { is: "refused", why: error.message };
    throw error;
  }
  const wasm = await openBackend("wasm");
  try {
    const described = await gpu.describe?.();
    const { found: fast, notes } = await timed(gpu, bank, x);
    const { found: plain } = await timed(wasm, bank, x);
    return {
      is: "measured",
      adapter: described?.adapter ?? "",
      isSoftware: described?.isSoftware ?? false,
      rows: x.rows,
      filters: bank.filters,
      gpuSeconds: fast.seconds,
      wasmSeconds: plain.seconds,
      isSame:
        fast.filter.every((filter, r) => filter === plain.filter[r]) &&
        fast.response.every((response, r) => response === plain.response[r]),
      notes,
    };
  } finally {
    await gpu.close();
    await wasm.close();
  }
}

async function timed(
  backend: Backend,
  bank: FilterBank,
  x: Matrix,
): Promise<{ found: Timed; notes: readonly string[] }> {
  const anchor = await backend.hold(x);
  const loaded = anchor.load(bank);
  try {
    let seconds = Number.POSITIVE_INFINITY;
    const began = performance.now();
    for (let times = 0; ; times++) {
      const start = performance.now();
      const held = await backend.hold(x, { filters: bank.filters });
      const { filter, response } = await held.leaders(loaded);
      const { notes } = held.work();
      held.release();
      // The first answer is for programs to be compiled and memory to be found.
      if (times > 0) seconds = Math.min(seconds, (performance.now() - start) / 1000);
      const isEnough = performance.now() - began > MILLISECONDS || times === MOST_TIMES;
      if (times > 0 && isEnough) return { found: { seconds, filter, response }, notes };
    }
  } finally {
    loaded.release();
    anchor.release();
  }
}
