/**
 * Where the rows of a source are while they are asked about. Where all of them fit in the memory of a back end they stay there, as one
 * block; else they pass through it block by block, in order. What meets too little memory is done again with less at a time.
 */

import { RanksimError } from "../../errors.ts";
import { pickFilters } from "../../kernels/pick-filters.ts";
import { bytesOf, inMemory, sourceOf } from "../../kernels/rows.ts";
import type { FilterBank, Prototypes, RowSource, Rows } from "../../kernels/shapes.ts";
import type { Refining } from "../contract.ts";
import type { CpuContext, HostBank } from "./bank.ts";
import type { Machine, RowBlock, Tally } from "./block.ts";
import { Shared } from "./counted.ts";
import { isWide, placeNarrow } from "./narrow.ts";
import { OutOfMemory } from "./out-of-memory.ts";
import { prefetch } from "./prefetch.ts";

/** What is in memory at a time, where that is not everything. */
export interface Cut {
  /** Bytes of a block of rows. */
  readonly blockBytes: number;
  /** Parts of a bank, each of which meets the rows by itself. */
  readonly parts: number;
}

/** Bytes that rows may take where a source does not say. */
const ROOM = 2 ** 29;
/** Parts of it: rows that are read whole at most; a block, of which the next is read while one is worked on; sums. */
const WHOLE = 1 / 4;
const BLOCK = 1 / 16;
const SUMS = 1 / 8;

/** Where memory is short, rows go in blocks of so many bytes at first, then with each try in a quarter, and banks in four times the parts. */
const FIRST_BLOCK = 2 ** 28;
const LEAST_BLOCK = 2 ** 12;
const MOST_PARTS = 2 ** 16;

export class RowStore {
  readonly #source: RowSource;
  readonly #machine: Machine;
  readonly #context: CpuContext;
  readonly #tally: Tally;
  readonly #room: number;
  /** All rows, if they are in memory. */
  #whole: Shared<RowBlock> | undefined;
  #cut: Cut;

  constructor(source: RowSource, machine: Machine, context: CpuContext, tally: Tally) {
    this.#source = source;
    this.#machine = machine;
    this.#context = context;
    this.#tally = tally;
    this.#room = source.room ?? ROOM;
    this.#cut = { blockBytes: inMemory(source) ? FIRST_BLOCK : this.#room * BLOCK, parts: 1 };
  }

  /** Takes the rows in as a whole if they fit, and if they are in the memory of the host or few. With a `cut`, for tests, nothing stays. */
  async settle(cut: Cut | undefined): Promise<void> {
    if (cut) this.#cut = cut;
    if (cut || !this.#staysWhole()) return;
    try {
      const block = await this.#place(this.#source);
      this.#whole = new Shared(block, () => block.release());
    } catch (error) {
      if (!(error instanceof OutOfMemory)) throw error;
      this.#tally.notes.add("rows did not fit in memory and were searched in blocks");
    }
  }

  /** Whether all rows are in memory. */
  get isWhole(): boolean {
    return this.#whole !== undefined;
  }

  /** Rows of a block, and sums of rows, that are in memory at a time. */
  get rowsAtATime(): number {
    return Math.max(1, Math.floor((this.#cut.blockBytes * this.#source.rows) / Math.max(1, bytesOf(this.#source))));
  }

  get sumsAtATime(): number {
    return Math.max(1, Math.floor((this.#room * SUMS) / (8 * this.#source.features * this.#cut.parts)));
  }

  /** Does work; again with less in memory at a time as often as there is too little. */
  async retry<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      const cut = this.#cut;
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof OutOfMemory)) throw error;
        // Another call on these rows may have made the cuts smaller while this one was at work.
        if (this.#cut !== cut) continue;
        const smaller = smallerThan(cut, bytesOf(this.#source));
        if (!smaller) throw error;
        this.#cut = smaller;
        this.release();
        this.#tally.notes.add("too little memory: rows were searched in blocks, and filters in parts");
      }
    }
  }

  /** Calls `visit` on all rows, where they are in memory, or on one block after the other; on those before `end`. */
  async each(visit: (block: RowBlock, first: number) => Promise<void>, end = this.#source.rows): Promise<void> {
    if (end === 0) return;
    if (this.#whole) return this.withWhole((whole) => visit(whole, 0));
    const source = end === this.#source.rows ? this.#source : this.#source.slice(0, end);
    let first = 0;
    for await (const block of prefetch(source.blocks(this.#cut.blockBytes))) {
      await this.with(block, (placed) => visit(placed, first));
      first += block.rows;
      this.#tally.turn.signal?.throwIfAborted();
    }
    if (first !== end) throw new RanksimError("bad-file", `expected ${end} rows from their source, found ${first}`);
  }

  /** Calls `work` with all rows, which stay in memory until it is done. */
  async withWhole<T>(work: (whole: RowBlock) => Promise<T>): Promise<T> {
    const whole = (this.#whole as Shared<RowBlock>).keep();
    try {
      return await work(whole.value);
    } finally {
      whole.release();
    }
  }

  /** Calls `work` with other rows, which are in memory for as long. */
  async with<T>(rows: Rows, work: (block: RowBlock) => Promise<T>): Promise<T> {
    const block = await this.#place(sourceOf(rows));
    return work(block).finally(() => block.release());
  }

  /** The listed rows, copied from where they are in memory. */
  async gather(rows: Uint32Array): Promise<Rows> {
    const copy = inMemory(this.#source) ? undefined : this.#whole?.value.gather?.(rows);
    return copy ?? this.#source.gather(rows);
  }

  /** Whether filters meet the rows of a block as they are, all at once. */
  isUncut(block: RowBlock): boolean {
    return this.#cut.parts === 1 && !block.seen;
  }

  /** Calls `work` with one part of the listed filters after the other, as the rows of the block see them. */
  async eachPart(
    block: RowBlock,
    bank: FilterBank,
    filters: Uint32Array,
    work: (part: HostBank, first: number) => Promise<void>,
  ): Promise<void> {
    const most = Math.max(1, Math.ceil(filters.length / this.#cut.parts));
    for (let from = 0; from < filters.length; from += most) {
      const picked = pickFilters(bank, filters.subarray(from, from + most));
      const part = this.#context.load(block.seen?.(picked) ?? picked);
      await part.use(() => work(part, from)).finally(() => part.release());
    }
  }

  /** Prototypes have all features, so the rows that move them have to as well. */
  refine(start: Prototypes): Promise<Refining> {
    const whole = this.#whole?.value.seen ? undefined : this.#whole;
    return this.#machine.refine(this.#source, whole, start, this.rowsAtATime, this.#tally);
  }

  /** Lets go of the rows: they pass through memory in blocks from now on. Calls that use them where they are go on to their end. */
  release(): void {
    this.#whole?.release();
    this.#whole = undefined;
  }

  /** Rows that are worked out go to the memory of the machine as they come, if it has one: no copy of all of them is made on the way. */
  #staysWhole(): boolean {
    const source = this.#source;
    if (inMemory(source) || bytesOf(source) <= this.#room * WHOLE) return true;
    return this.#machine.takesComputed && source.made === true && source.form === "dense";
  }

  #place(source: RowSource): Promise<RowBlock> {
    const place = isWide(source) ? placeNarrow(source, this.#machine, this.#tally) : undefined;
    return place ?? this.#machine.place(source, this.#tally);
  }
}

/** Less in memory at a time, for rows of so many bytes; undefined if that would not help. */
function smallerThan({ blockBytes, parts }: Cut, bytes: number): Cut | undefined {
  const block = Math.min(blockBytes, bytes);
  if (block <= LEAST_BLOCK && parts >= MOST_PARTS) return undefined;
  return { blockBytes: Math.max(LEAST_BLOCK, Math.floor(block / 4)), parts: parts * 4 };
}
