/**
 * The `threads` back end: the kernels of the `wasm` back end on several workers over one shared memory. Which worker
 * computes what is left to chance; every kernel writes each of its results to one place, so the answer is not.
 */

import { RanksimError } from "../../errors.ts";
import type { Backend } from "../backend.ts";
import { backendOn } from "../wasm/backend.ts";
import type { Context, Engine, Outcome } from "../wasm/engine.ts";
import { LIMITS } from "../wasm/held-dense.ts";
import { Memory, MOST_PAGES } from "../wasm/memory.ts";
import { compileKernels, hasSharedMemory, hasSimd } from "../wasm/module.ts";
import { availableThreads, type KernelWorker, startWorker } from "./worker.ts";

/** More workers than this only wait for one another's memory. */
const MOST_THREADS = 64;

/** Opens the back end on `threads` workers; without a number, as many as the machine runs at once. */
export async function openThreads(threads: number = Math.min(availableThreads(), MOST_THREADS)): Promise<Backend> {
  if (!Number.isSafeInteger(threads) || threads < 1 || threads > MOST_THREADS) {
    throw new RanksimError(
      "bad-params",
      `threads: expected a whole number from 1 to ${MOST_THREADS}, found ${threads}`,
    );
  }
  if (!hasSimd())
    throw new RanksimError("no-backend", "threads: expected WebAssembly with SIMD, found an engine without");
  if (!hasSharedMemory()) {
    throw new RanksimError("no-backend", "threads: expected shared memory (in browsers a cross-origin isolated page)");
  }
  return backendOn(await openPool(threads), "threads", LIMITS);
}

/** Whether "auto" can expect to gain from this back end. */
export function threadsPay(): boolean {
  return hasSimd() && hasSharedMemory() && availableThreads() > 1;
}

type Exports = Record<string, (...values: number[]) => number>;

async function openPool(threads: number): Promise<Engine> {
  const raw = sharedMemory();
  const module = await compileKernels(true);
  const { exports } = await WebAssembly.instantiate(module, { env: { memory: raw } });
  const call = exports as unknown as Exports;
  const workers = Array.from({ length: threads }, startWorker);
  try {
    await Promise.all(workers.map((worker) => worker.send({ module, memory: raw })));
  } catch (error) {
    await Promise.all(workers.map((worker) => worker.end()));
    throw error;
  }
  const pool = new Pool(new Memory(raw), workers);
  return {
    memory: pool.memory,
    threads,
    ask: (answer, ...values) => call[answer](...values) >>> 0,
    run: (...run) => pool.run(...run),
    close: () => pool.close(),
  };
}

/** A memory that may grow to 4 GiB, or to less where the engine does not promise as much. */
function sharedMemory(): WebAssembly.Memory {
  for (let maximum = MOST_PAGES; ; maximum = Math.floor(maximum / 2)) {
    try {
      return new WebAssembly.Memory({ initial: 1, maximum, shared: true });
    } catch (error) {
      if (maximum < 4096) {
        throw new RanksimError("no-backend", `threads: no shared memory: ${(error as Error).message}`, {
          cause: error,
        });
      }
    }
  }
}

/** The workers with their scratch. Runs take turns: one uses all workers. */
class Pool {
  readonly memory: Memory;
  readonly #workers: readonly KernelWorker[];
  readonly #scratch: number[];
  readonly #counter: number;
  #scratchBytes = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(memory: Memory, workers: readonly KernelWorker[]) {
    this.memory = memory;
    this.#workers = workers;
    this.#scratch = workers.map(() => 0);
    this.#counter = memory.take(4);
  }

  run(kernel: string, items: number, piece: number, scratchBytes: number, context: Context): Promise<Outcome> {
    const turn = this.#last.then(() => this.#spread(kernel, items, piece, scratchBytes, context));
    this.#last = turn.catch(() => {}); // a failed run is its caller's affair; the next one starts all the same
    return turn;
  }

  async #spread(kernel: string, items: number, piece: number, bytes: number, context: Context): Promise<Outcome> {
    this.#growScratch(bytes);
    Atomics.store(new Int32Array(this.memory.raw.buffer, this.#counter, 1), 0, 0);
    const busy = this.#workers.slice(0, Math.max(1, Math.ceil(items / piece)));
    const parts = await Promise.allSettled(
      busy.map((worker, j) =>
        worker.send({ kernel, items, piece, scratch: this.#scratch[j], context: context.at, counter: this.#counter }),
      ),
    );
    let sum = 0;
    let largest = 0;
    for (const part of parts) {
      if (part.status === "rejected") throw part.reason;
      sum += part.value.sum;
      if (part.value.largest > largest) largest = part.value.largest;
    }
    return { sum, largest };
  }

  #growScratch(bytes: number): void {
    if (bytes <= this.#scratchBytes) return;
    this.#scratchBytes = 0; // stays so if there is no room
    for (let j = 0; j < this.#scratch.length; j++) {
      this.memory.give(this.#scratch[j]);
      this.#scratch[j] = this.memory.take(bytes);
    }
    this.#scratchBytes = bytes;
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.end()));
  }
}
