/**
 * What runs kernels: one memory and one or more threads on it. A kernel takes a range of items, scratch of its own and a
 * context, and returns a number; how a range is cut never changes what is computed.
 */

import { CONTEXT_BYTES } from "./context.ts";
import { Memory, MOST_PAGES } from "./memory.ts";
import { compileKernels } from "./module.ts";

/** Kernels that work on ranges. */
export type Kernel =
  | "bound_rows"
  | "centre_weights"
  | "compare_listed"
  | "fill_index_csr"
  | "find_directions"
  | "finish_filters"
  | "first_answers"
  | "first_answers_csr"
  | "join_pieces_csr"
  | "largest_fact"
  | "measure_csr"
  | "measure_filters"
  | "measure_rows"
  | "move_prototypes"
  | "nearest_places"
  | "pack_filters"
  | "plan_index_csr"
  | "pool_patches"
  | "project_filters"
  | "rank_sums"
  | "rank_sums_blocks"
  | "rank_sums_csr"
  | "top_filters_csr"
  | "top_filters_direct_csr"
  | "top_filters_full"
  | "top_filters_pruned"
  | "top_rows_csr"
  | "top_rows_direct_csr"
  | "top_rows_full"
  | "top_rows_pruned"
  | "write_out_csr";

/** Small functions that answer at once. */
export type Answer =
  | "compact_table"
  | "largest_weight_csr"
  | "scratch_bounds"
  | "scratch_compare"
  | "scratch_direct_csr"
  | "scratch_directions"
  | "scratch_full"
  | "scratch_index_csr"
  | "scratch_measure"
  | "scratch_patches"
  | "scratch_pruned"
  | "scratch_sums"
  | "scratch_sums_csr"
  | "spread_rows";

/** What the calls of one run returned, joined. */
export interface Outcome {
  readonly sum: number;
  readonly largest: number;
}

/** One memory and the threads on it. */
export interface Engine {
  readonly memory: Memory;
  readonly threads: number;
  /** Calls a small function on this thread. */
  ask(answer: Answer, ...values: number[]): number;
  /** Runs a kernel over the items 0 to `items` - 1, at most `piece` a call, each thread with `scratchBytes` to itself. */
  run(kernel: Kernel, items: number, piece: number, scratchBytes: number, context: Context): Promise<Outcome>;
  close(): Promise<void>;
}

/** The slots of `context.ts` (or of `csr-context.ts`, which has a size of its own) in memory. */
export class Context {
  readonly at: number;
  readonly #memory: Memory;
  readonly #bytes: number;

  constructor(memory: Memory, bytes: number = CONTEXT_BYTES) {
    this.#memory = memory;
    this.#bytes = bytes;
    this.at = memory.take(bytes);
    memory.u8(this.at, bytes).fill(0);
  }

  /** Sets slots that hold an unsigned number: pairs of slot and value. */
  set(...pairs: readonly (readonly [slot: number, value: number])[]): this {
    const slots = this.#memory.u32(this.at, this.#bytes / 4);
    for (const [slot, value] of pairs) slots[slot / 4] = value;
    return this;
  }

  /** Sets slots that hold a float64. */
  setF64(...pairs: readonly (readonly [slot: number, value: number])[]): this {
    const slots = this.#memory.f64(this.at, this.#bytes / 8);
    for (const [slot, value] of pairs) slots[slot / 8] = value;
    return this;
  }

  release(): void {
    this.#memory.give(this.at);
  }
}

type Exports = Record<string, (...values: number[]) => number>;

/** An engine of one thread, this one. */
export async function openEngine(): Promise<Engine> {
  const raw = new WebAssembly.Memory({ initial: 1, maximum: MOST_PAGES });
  const { exports } = await WebAssembly.instantiate(await compileKernels(false), { env: { memory: raw } });
  const call = exports as unknown as Exports;
  const memory = new Memory(raw);
  let scratch = 0;
  let scratchBytes = 0;
  return {
    memory,
    threads: 1,
    ask: (answer, ...values) => call[answer](...values) >>> 0,
    async run(kernel, items, piece, bytes, context) {
      if (bytes > scratchBytes) {
        memory.give(scratch);
        scratchBytes = 0; // stays so if there is no room
        scratch = memory.take(bytes);
        scratchBytes = bytes;
      }
      let sum = 0;
      let largest = 0;
      for (let from = 0; from < items; from += piece) {
        const result = call[kernel](from, Math.min(items, from + piece), scratch, context.at);
        sum += result;
        if (result > largest) largest = result;
      }
      return { sum, largest };
    },
    close: async () => {},
  };
}
