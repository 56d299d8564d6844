/**
 * The `threads` back end: the kernels of the `wasm` back end on several workers over one shared memory. Which worker
 * computes what is left to chance; every kernel writes each of its results to one place, so the answer is not.
 */

import { RanksimError } from "../../errors.ts";
import type { Backend } from "../contract.ts";
import { type Turn, UNINTERRUPTED } from "../turn.ts";
import { backendOn, refuse, type WasmOptions } from "../wasm/backend.ts";
import type { Context, Engine, Outcome } from "../wasm/engine/engine.ts";
import { borrowed, Memory, MOST_PAGES } from "../wasm/engine/memory.ts";
import { compileKernels, hasSharedMemory, hasSimd } from "../wasm/engine/module.ts";
import { availableThreads, type KernelWorker, startWorker, WorkerDied } from "./worker.ts";

/** More workers than this only wait for one another's memory. */
const MOST_THREADS = 64;

/** Bytes of a WebAssembly page. */
const PAGE = 65_536;

/** How the back end is opened by tests: with less memory, and workers that can be made to fail. */
interface ThreadsOptions extends WasmOptions {
  readonly start?: () => KernelWorker;
}

/** Opens the back end on `threads` workers; without a number, as many as the machine runs at once. */
export async function openThreads(
  threads: number = Math.min(availableThreads(), MOST_THREADS),
  options: ThreadsOptions = {},
): Promise<Backend> {
  if (!Number.isSafeInteger(threads) || threads < 1 || threads > MOST_THREADS) {
    throw new RanksimError(
      "bad-params",
      `threads: expected a whole number from 1 to ${MOST_THREADS}, found ${threads}`,
    );
  }
  const wanting = threadsRefusal();
  if (wanting) throw new RanksimError("no-backend", `threads: ${wanting}`);
  return backendOn(await openPool(threads, options), "threads", options);
}

/** Why this back end cannot run here; undefined where it can. */
export function threadsRefusal(): string | undefined {
  if (!hasSimd()) return "expected WebAssembly with SIMD, found an engine without";
  return hasSharedMemory() ? undefined : "expected shared memory (in browsers a cross-origin isolated page)";
}

type Exports = Record<string, (...values: number[]) => number>;

async function openPool(threads: number, { start = startWorker, memoryBytes }: ThreadsOptions): Promise<Engine> {
  const { raw, most } = sharedMemory();
  const module = await compileKernels(true).catch(refuse);
  const { exports } = await WebAssembly.instantiate(module, { env: { memory: raw } });
  const call = exports as unknown as Exports;
  const open = async (): Promise<KernelWorker> => {
    const worker = start();
    try {
      await worker.send({ module, memory: raw });
      return worker;
    } catch (error) {
      await worker.end();
      throw error;
    }
  };
  const opened = await Promise.allSettled(Array.from({ length: threads }, open));
  const workers = opened.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  const failed = opened.find((one) => one.status === "rejected");
  if (failed) {
    await Promise.all(workers.map((worker) => worker.end()));
    throw failed.reason;
  }
  const pool = new Pool(new Memory(raw, Math.min(most, memoryBytes ?? most)), workers, open);
  const under = (turn: Turn): Engine => ({
    memory: pool.memory,
    threads,
    turn,
    under,
    ask: (answer, ...values) => call[answer](...values) >>> 0,
    run: (kernel, items, piece, bytes, context) => pool.run(kernel, items, piece, bytes, context, turn),
    inOrder: (kernel, items, piece, bytes, context) => pool.run(kernel, items, piece, bytes, context, turn, 1),
    once: (kernel, items, bytes, context) => pool.run(kernel, items, items, bytes, context, turn),
    close: () => pool.close(),
  });
  return under(UNINTERRUPTED);
}

/** A memory that may grow to 4 GiB, or to less where the engine does not promise as much. */
function sharedMemory(): { raw: WebAssembly.Memory; most: number } {
  for (let maximum = MOST_PAGES; ; maximum = Math.floor(maximum / 2)) {
    try {
      return { raw: new WebAssembly.Memory({ initial: 1, maximum, shared: true }), most: maximum * PAGE };
    } catch (error) {
      if (maximum < 4096) {
        throw new RanksimError("no-backend", `threads: no shared memory: ${(error as Error).message}`, {
          cause: error,
        });
      }
    }
  }
}

/** The workers. Runs take turns: one uses all workers. */
class Pool {
  readonly memory: Memory;
  readonly #workers: KernelWorker[];
  readonly #open: () => Promise<KernelWorker>;
  readonly #counter: number;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(memory: Memory, workers: KernelWorker[], open: () => Promise<KernelWorker>) {
    this.memory = memory;
    this.#workers = workers;
    this.#open = open;
    this.#counter = memory.lease().take(4); // for as long as there is a memory
  }

  run(
    kernel: string,
    items: number,
    piece: number,
    scratchBytes: number,
    context: Context,
    turn: Turn,
    most = this.#workers.length, // workers
  ): Promise<Outcome> {
    const run = this.#last.then(() => this.#spread(kernel, items, piece, scratchBytes, context, turn, most));
    this.#last = run.catch(() => {}); // its caller handles a failed run; the next one starts all the same
    return run;
  }

  async #spread(
    kernel: string,
    items: number,
    piece: number,
    bytes: number,
    context: Context,
    turn: Turn,
    most: number,
  ): Promise<Outcome> {
    await turn.pause();
    await this.#replaceDead();
    if (items === 0) return { sum: 0, largest: 0 };
    return borrowed(this.memory, async (lease) => {
      const busy = this.#workers.slice(0, Math.min(most, Math.max(1, Math.ceil(items / piece))));
      const messages = busy.map(() => ({
        kernel,
        items,
        piece,
        scratch: lease.take(bytes),
        context: context.at,
        counter: this.#counter,
      }));
      this.#setCounter(0);
      // No piece is begun after an abort. Memory is given back when the last worker has stopped, not before.
      const stop = (): void => this.#setCounter(items);
      turn.signal?.addEventListener("abort", stop);
      const parts = await Promise.allSettled(busy.map((worker, j) => worker.send(messages[j])));
      turn.signal?.removeEventListener("abort", stop);
      turn.signal?.throwIfAborted();
      let sum = 0;
      let largest = 0;
      for (const part of parts) {
        if (part.status === "rejected") throw part.reason;
        sum += part.value.sum;
        if (part.value.largest > largest) largest = part.value.largest;
      }
      return { sum, largest };
    });
  }

  #setCounter(value: number): void {
    Atomics.store(new Int32Array(this.memory.raw.buffer, this.#counter, 1), 0, value);
  }

  /** A worker that died is replaced before the next run; the run in which it died has failed. */
  async #replaceDead(): Promise<void> {
    if (this.#closed) throw new WorkerDied("the back end was closed");
    for (const [j, worker] of this.#workers.entries()) if (worker.isDead) this.#workers[j] = await this.#open();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#workers.map((worker) => worker.end()));
  }
}
