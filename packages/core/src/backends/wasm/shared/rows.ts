/**
 * Rows in WebAssembly memory, and the questions about them: what dense and sparse ones have in common. The two forms say how rows
 * and filters lie in memory and which search is the fastest; answers leave memory in parts, here.
 */

import type { Pooled } from "../../../kernels/patches.ts";
import type {
  FilterBank,
  Groups,
  PatchLayer,
  Rows,
  Sum,
  TopFilters,
  TopRows,
  Values,
} from "../../../kernels/shapes.ts";
import type { CpuContext, HostBank } from "../../host/bank.ts";
import type { RowBlock, Tally, Wanted } from "../../host/block.ts";
import type { Engine } from "../engine/engine.ts";
import { borrowed, type Lease } from "../engine/memory.ts";
import { F32, F64, I16, U8, U16 } from "../engine/slots.ts";

/** Bytes of answers in memory at a time. */
export const ANSWER_BYTES = 2 ** 25;

/** Consecutive rows in memory. */
export interface Block {
  /** Number of the first row among all that were placed together. */
  readonly first: number;
  readonly rows: number;
}

/** Where a search writes its answer: k places per item. */
export interface Answer {
  readonly k: number;
  readonly ids: number;
  readonly values: number;
  /** Whether only the strongest matters, and what equals it: other places are unspecified. */
  readonly leading?: boolean;
}

/** What rows are placed with. */
export interface Place {
  readonly engine: Engine;
  readonly context: CpuContext;
  readonly tally: Tally;
  readonly answerBytes: number;
}

export abstract class WasmRows<B extends Block> implements RowBlock {
  readonly rows: number;
  readonly block: B;
  protected readonly engine: Engine;
  protected readonly context: CpuContext;
  protected readonly tally: Tally;
  readonly #lease: Lease;
  readonly #answerBytes: number;

  /** `block` is in memory of the lease, which becomes theirs. */
  constructor({ engine, context, tally, answerBytes }: Place, lease: Lease, block: B) {
    this.rows = block.rows;
    this.block = block;
    this.engine = engine;
    this.context = context;
    this.tally = tally;
    this.#lease = lease;
    this.#answerBytes = answerBytes;
  }

  /** Rows [from, to), as a block. */
  protected abstract slice(from: number, to: number): B;
  /** Calls `use` with the search that answers a question; it returns the exact products computed. */
  protected abstract searching(
    bank: HostBank,
    k: number,
    wanted: Wanted,
    use: (search: (part: B, answer: Answer) => Promise<number>) => Promise<void>,
  ): Promise<void>;
  /** Finds the strongest rows of the listed filters. Returns the exact products computed. */
  protected abstract findRows(
    bank: HostBank,
    filters: Uint32Array,
    divisor: Float64Array,
    answer: Answer,
  ): Promise<number>;
  abstract addSums(groups: Groups, onto: readonly Sum[] | undefined): Promise<Sum[]>;
  abstract rankSums(groups: Groups, distribution: Float64Array | undefined): Promise<FilterBank>;
  abstract pool(layers: readonly PatchLayer[], features: number, out: Pooled): Promise<void>;
  abstract gather(rows: Uint32Array): Rows;

  async search(bank: HostBank, k: number, wanted: Wanted): Promise<TopFilters> {
    const { rows } = this;
    const top = { rows, k, filter: new Uint32Array(rows * k), response: new Float64Array(rows * k) };
    const most = this.#answersAtATime(k);
    await this.searching(bank, k, wanted, async (search) => {
      for (let from = 0; from < rows; from += most) {
        const part = this.slice(from, Math.min(rows, from + most));
        await this.#answer(part.rows, k, top.filter, top.response, from, (answer) => search(part, answer));
      }
    });
    return top;
  }

  async searchRows(bank: HostBank, filters: Uint32Array, k: number, divisor: Float64Array): Promise<TopRows> {
    const count = filters.length;
    const top = { filters: count, k, row: new Uint32Array(count * k), value: new Float64Array(count * k) };
    const most = this.#answersAtATime(k);
    for (let from = 0; from < count; from += most) {
      const part = filters.subarray(from, from + most);
      await this.#answer(part.length, k, top.row, top.value, from, (answer) =>
        this.findRows(bank, part, divisor, answer),
      );
    }
    return top;
  }

  release(): void {
    this.#lease.release();
  }

  /** Items whose answers are in memory at a time. */
  #answersAtATime(k: number): number {
    return Math.max(1, Math.floor(this.#answerBytes / (12 * k)));
  }

  /** Calls `find` with room for k answers to each item, and copies them to the places of the items from `first` on. */
  #answer(
    items: number,
    k: number,
    id: Uint32Array, // out
    value: Float64Array, // out
    first: number,
    find: (answer: Answer) => Promise<number>,
  ): Promise<void> {
    const { memory } = this.engine;
    return borrowed(memory, async (lease) => {
      const answer = { k, ids: lease.take(items * k * 4), values: lease.take(items * k * 8) };
      this.tally.exact += await find(answer);
      id.set(memory.u32(answer.ids, items * k), first * k);
      value.set(memory.f64(answer.values, items * k), first * k);
    });
  }
}

/** Whether the values are whole numbers by type. */
export function isWholeType(type: number): boolean {
  return type === U8 || type === U16 || type === I16;
}

/** The kernels' code of an element type. */
export function typeOf(values: Values): number {
  if (values instanceof Uint8Array) return U8;
  if (values instanceof Uint16Array) return U16;
  if (values instanceof Int16Array) return I16;
  return values instanceof Float32Array ? F32 : F64;
}
