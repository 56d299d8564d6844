/** The `wasm` back end: SIMD kernels in WebAssembly on this thread. */

import { RanksimError } from "../../errors.ts";
import { bytesOf, inMemory, numbersBelow } from "../../kernels/rows.ts";
import type { FilterBank, RowSource } from "../../kernels/shapes.ts";
import type { Backend, WorkShape } from "../contract.ts";
import { CpuContext, type HostBank } from "../host/bank.ts";
import type { Machine, RowBlock } from "../host/block.ts";
import type { Shared } from "../host/counted.ts";
import { OutOfMemory } from "../host/out-of-memory.ts";
import { RefiningInPlace } from "../host/refine.ts";
import { HostRows } from "../host/rows.ts";
import type { Cut } from "../host/store.ts";
import { UNINTERRUPTED } from "../turn.ts";
import { DenseWasmRows } from "./dense/form.ts";
import { refineDense } from "./dense/refine.ts";
import { type Engine, openEngine } from "./engine/engine.ts";
import { hasSimd } from "./engine/module.ts";
import { ANSWER_BYTES } from "./shared/rows.ts";
import { SparseWasmRows } from "./sparse/form.ts";
import { refineCsr } from "./sparse/refine.ts";

/** Share of the memory that is left which rows may take: the rest is for filters, bounds and answers. */
const ROWS_SHARE = 0.625;
/** Multiply-adds of a second on one core, roughly, and how many times as fast a search is where bounds can prune it. Measured. */
const RATE = 2e10;
const PRUNED = 5;
const PRUNED_FEATURES = 192;
const PRUNED_FILTERS = 64;
/** Seconds of a pair of row and filter, and of a row, however few features they have: measured. */
const PAIR = 7e-9;
const ROW = 3e-7;
/** Share of another core's work that is a gain, and what it costs to wake the workers, in seconds. Measured. */
const THREAD_GAIN = 0.85;
const WAKE = 4e-4;

/** Less memory than there is, and rows that pass through it in blocks from the start: for tests. */
export interface WasmOptions {
  /** Bytes of memory that may be taken in all. */
  readonly memoryBytes?: number;
  readonly answerBytes?: number;
  readonly cut?: Cut;
}

/** Opens the back end. */
export async function openWasm(options: WasmOptions = {}): Promise<Backend> {
  if (!hasSimd()) throw new RanksimError("no-backend", "wasm: expected WebAssembly with SIMD, found an engine without");
  return backendOn(await openEngine(options.memoryBytes).catch(refuse), "wasm", options);
}

/** Says what helps where kernels may not be compiled, as under a page's Content-Security-Policy. */
export function refuse(cause: unknown): never {
  if (!(cause instanceof WebAssembly.CompileError)) throw cause;
  const cure = `a page allows it by 'wasm-unsafe-eval' in script-src, and the back end "reference" does without`;
  throw new RanksimError(
    "no-backend",
    `wasm: expected to be allowed to compile WebAssembly, found: ${cause.message}; ${cure}`,
    { cause },
  );
}

/** A back end on an engine, whatever its threads. */
export function backendOn(engine: Engine, name: string, options: WasmOptions = {}): Backend {
  const context = new CpuContext();
  const { answerBytes = ANSWER_BYTES, cut } = options;
  engine.memory.onShort = () => context.banks.clear();
  const backend: Backend = {
    name,
    threads: engine.threads,
    estimate: (work) => ({ seconds: secondsOf(work, engine.threads), bytes: work.bytes }),
    hold: (source, { turn = UNINTERRUPTED } = {}) =>
      HostRows.hold(source, machineOn(engine.under(turn), context, answerBytes), backend, turn, context, cut),
    async close() {
      context.banks.clear();
      await engine.close();
    },
  };
  return backend;
}

function machineOn(engine: Engine, context: CpuContext, answerBytes: number): Machine {
  const { memory } = engine;
  return {
    takesComputed: true,
    async place(source, tally) {
      const bytes = bytesOf(source);
      if (bytes > (memory.most - memory.used) * ROWS_SHARE) throw new OutOfMemory(bytes, memory.used, memory.most);
      const place = { engine, context, tally, answerBytes };
      const dense = (rows: RowSource): Promise<RowBlock> => DenseWasmRows.place(rows, place);
      return source.form === "dense" ? dense(source) : SparseWasmRows.place(source, place, dense);
    },
    async refine(source, whole, start, most, tally) {
      const own = (bank: FilterBank): HostBank => context.own(bank);
      try {
        if (source.form === "dense") {
          const given = { source, whole: whole as Shared<DenseWasmRows> | undefined, most };
          return await refineDense(engine, given, start, own);
        }
        const given = { source, whole: whole as Shared<SparseWasmRows> | undefined, most };
        return await refineCsr(engine, given, start, own);
      } catch (error) {
        if (!(error instanceof OutOfMemory)) throw error;
        tally.notes.add("prototypes did not fit in memory and were refined by plain loops");
        const x = inMemory(source) ?? (await source.gather(numbersBelow(source.rows)));
        return new RefiningInPlace(x, start, tally.turn, own);
      }
    },
  };
}

/** Seconds of some work on the given number of threads. */
export function secondsOf({ rows, values, features, filters, searches }: WorkShape, threads: number): number {
  const gain = features >= PRUNED_FEATURES && filters >= PRUNED_FILTERS ? PRUNED : 1;
  const pairs = (filters * searches * (values / RATE + rows * PAIR)) / gain;
  const alone = rows * searches * ROW + pairs;
  return threads === 1 ? alone : WAKE * searches + alone - pairs + pairs / (1 + (threads - 1) * THREAD_GAIN);
}
