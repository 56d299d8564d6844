/**
 * What runs kernels: one memory and one or more threads on it. A kernel takes a range of items, scratch of its own and a
 * context, and returns a number; how a range is split never changes what is computed. It does not depend on the method.
 */

import { isDue, type Turn, UNINTERRUPTED } from "../../turn.ts";
import type { Kernel, Query } from "./kernels.generated.ts";
import { borrowed, type Lease, Memory, MOST_PAGES } from "./memory.ts";
import { compileKernels } from "./module.ts";
import { CONTEXT_BYTES } from "./slots.ts";

export type { Kernel, Query } from "./kernels.generated.ts";

/** What the calls of one run returned, joined. */
export interface Outcome {
  readonly sum: number;
  readonly largest: number;
}

/** One memory and the threads on it. */
export interface Engine {
  readonly memory: Memory;
  readonly threads: number;
  /** The turn in which its kernels run. */
  readonly turn: Turn;
  /** The same engine for work of another turn. */
  under(turn: Turn): Engine;
  /** Calls a small function on this thread. */
  ask(query: Query, ...values: number[]): number;
  /** Runs a kernel over the items 0 to `items` - 1, at most `piece` a call, each thread with `scratchBytes` to itself. */
  run(kernel: Kernel, items: number, piece: number, scratchBytes: number, context: Context): Promise<Outcome>;
  /** The same on one thread, range after range in ascending order: each call finds what those before it left. */
  inOrder(kernel: Kernel, items: number, piece: number, scratchBytes: number, context: Context): Promise<Outcome>;
  /** Runs a kernel in one call over [0, items): for those whose range must not be cut. */
  once(kernel: Kernel, items: number, scratchBytes: number, context: Context): Promise<Outcome>;
  close(): Promise<void>;
}

/** A context: slots (`slots.ts`) in memory of a lease. */
export class Context {
  readonly at: number;
  /** Items that a call of each kernel took when it last ran with this context: it goes on from there. */
  readonly pace = new Map<Kernel, number>();
  readonly #memory: Memory;

  constructor(memory: Memory, lease: Lease) {
    this.#memory = memory;
    this.at = lease.take(CONTEXT_BYTES);
    memory.u8(this.at, CONTEXT_BYTES).fill(0);
  }

  /** Sets slots that hold an unsigned number: pairs of slot and value. */
  set(...pairs: readonly (readonly [slot: number, value: number])[]): this {
    const slots = this.#memory.u32(this.at, CONTEXT_BYTES / 4);
    for (let j = 0; j < pairs.length; j++) slots[pairs[j][0] / 4] = pairs[j][1]; // no destructuring: it takes long to compile
    return this;
  }

  /** Sets slots that hold a float64. */
  setF64(...pairs: readonly (readonly [slot: number, value: number])[]): this {
    const slots = this.#memory.f64(this.at, CONTEXT_BYTES / 8);
    for (let j = 0; j < pairs.length; j++) slots[pairs[j][0] / 8] = pairs[j][1];
    return this;
  }
}

/** Bytes copied between two looks at the clock. */
export const COPY_BYTES = 2 ** 24;

/** A copy of many values in memory of the lease, with a look at the clock now and then. */
export async function copyIn(
  { memory, turn }: Engine,
  lease: Lease,
  values: ArrayBufferView & { readonly length: number },
): Promise<number> {
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  const at = lease.take(bytes.length);
  for (let from = 0; from < bytes.length; from += COPY_BYTES) {
    const part = bytes.subarray(from, from + COPY_BYTES);
    memory.u8(at + from, part.length).set(part);
    if (isDue()) await turn.pause();
  }
  return at;
}

type Exports = Record<string, (...values: number[]) => number>;

/** Milliseconds a call of a kernel should take at most, and those below which the next takes more items. */
const LONG = 10;
const SHORT = 4;
/** The very first call takes this fraction of a piece: how long an item takes is not known yet. */
const FIRST_SHARE = 32;

/** An engine of one thread, this one. `most` bytes of memory at most. */
export async function openEngine(most?: number): Promise<Engine> {
  const raw = new WebAssembly.Memory({ initial: 1, maximum: MOST_PAGES });
  const { exports } = await WebAssembly.instantiate(await compileKernels(false), { env: { memory: raw } });
  const call = exports as unknown as Exports;
  const memory = new Memory(raw, most);
  const run =
    (turn: Turn): Engine["run"] =>
    (kernel, items, piece, bytes, context) =>
      borrowed(memory, (lease) => runSlices(call, kernel, items, piece, lease.take(bytes), context, turn));
  const under = (turn: Turn): Engine => ({
    memory,
    threads: 1,
    turn,
    under,
    ask: (answer, ...values) => call[answer](...values) >>> 0,
    run: run(turn),
    inOrder: run(turn),
    once: (kernel, items, bytes, context) =>
      borrowed(memory, async (lease) => {
        await turn.pause();
        const result = call[kernel](0, items, lease.take(bytes), context.at);
        return { sum: result, largest: result };
      }),
    close: async () => {},
  });
  return under(UNINTERRUPTED);
}

/** Calls a kernel slice by slice, each short enough that other calls do not have to wait. */
async function runSlices(
  call: Exports,
  kernel: Kernel,
  items: number,
  piece: number,
  scratch: number,
  { at, pace }: Context,
  turn: Turn,
): Promise<Outcome> {
  const step = Math.min(piece, pace.get(kernel) ?? Math.max(1, Math.floor(piece / FIRST_SHARE)));
  const done: Slices = { from: 0, step, sum: 0, largest: 0 };
  while (done.from < items) {
    if (isDue() || turn.signal?.aborted) await turn.pause();
    runUntilDue(call[kernel], items, piece, scratch, at, turn, done);
  }
  pace.set(kernel, done.step);
  return done;
}

/** How far a kernel has come, and what it answered. */
interface Slices extends Outcome {
  from: number;
  /** Items of the next slice. */
  step: number;
  sum: number;
  largest: number;
}

/** Runs a slice, and more until others wait: apart from the waiting, which takes an engine longer to compile than all the rest. */
function runUntilDue(
  kernel: Exports[string],
  items: number,
  piece: number,
  scratch: number,
  at: number,
  turn: Turn,
  done: Slices,
): void {
  do {
    const to = Math.min(items, done.from + done.step);
    const began = performance.now();
    const result = kernel(done.from, to, scratch, at);
    const took = performance.now() - began;
    done.sum += result;
    if (result > done.largest) done.largest = result;
    done.from = to;
    if (took > LONG) done.step = Math.max(1, Math.floor((done.step * LONG) / took));
    else if (took < SHORT) done.step = Math.min(piece, done.step * 2);
  } while (done.from < items && !isDue() && !turn.signal?.aborted);
}
