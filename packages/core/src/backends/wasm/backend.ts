/** The `wasm` back end: SIMD kernels in WebAssembly on this thread. */

import { RanksimError } from "../../errors.ts";
import type { Backend, WorkShape } from "../contract.ts";
import { holdNarrow } from "../host/narrow.ts";
import { HeldDense } from "./dense/held.ts";
import { type Engine, openEngine } from "./engine/engine.ts";
import { LIMITS, type Limits } from "./engine/limits.ts";
import { hasSimd } from "./engine/module.ts";
import { Shelf } from "./shared/bank.ts";
import { HeldCsr } from "./sparse/held.ts";

export type { Limits } from "./engine/limits.ts";

/** Multiply-adds of a second on one core, roughly, and how many times as fast a search is where bounds can prune it. Measured. */
const RATE = 2e10;
const PRUNED = 5;
const PRUNED_FEATURES = 192;
const PRUNED_FILTERS = 64;
/** Seconds of a pair of row and filter, and of a row, however few features they have: measured by `npm run gpu -- --crossover`. */
const PAIR = 7e-9;
const ROW = 3e-7;
/** Share of another core's work that is a gain, and what it costs to wake the workers, in seconds. Measured. */
const THREAD_GAIN = 0.85;
const WAKE = 4e-4;

/** Opens the back end. `limits` is for tests: small ones make everything go in blocks. */
export async function openWasm(limits: Limits = LIMITS): Promise<Backend> {
  if (!hasSimd()) throw new RanksimError("no-backend", "wasm: expected WebAssembly with SIMD, found an engine without");
  return backendOn(await openEngine(limits.memoryBytes), "wasm", limits);
}

/** A back end on an engine, whatever its threads. */
export function backendOn(engine: Engine, name: string, limits: Limits = LIMITS): Backend {
  const shelf = new Shelf();
  engine.memory.onShort = () => shelf.clear();
  const backend: Backend = {
    name,
    threads: engine.threads,
    estimate: (work) => ({ seconds: secondsOf(work, engine.threads), bytes: work.bytes }),
    async hold(source, { turn } = {}) {
      const own = turn ? engine.under(turn) : engine;
      // Dense rows that are worked out go straight into memory if they fit: no copy of all of them is made on the way.
      if (source.form === "dense" && source.made) {
        const held = await new HeldDense(source, backend, own, shelf, limits).settle();
        if (held.isResident) return held;
        held.release();
      }
      return holdNarrow(source, shelf, (rows) => {
        const Held = rows.form === "dense" ? HeldDense : HeldCsr;
        return new Held(rows, backend, own, shelf, limits).settle();
      });
    },
    async close() {
      shelf.clear();
      await engine.close();
    },
  };
  return backend;
}

/** Seconds of some work on the given number of threads. */
export function secondsOf({ rows, values, features, filters, searches }: WorkShape, threads: number): number {
  const gain = features >= PRUNED_FEATURES && filters >= PRUNED_FILTERS ? PRUNED : 1;
  const pairs = (filters * searches * (values / RATE + rows * PAIR)) / gain;
  const alone = rows * searches * ROW + pairs;
  return threads === 1 ? alone : WAKE * searches + alone - pairs + pairs / (1 + (threads - 1) * THREAD_GAIN);
}
