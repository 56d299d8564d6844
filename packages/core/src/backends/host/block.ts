/**
 * Rows in the memory of a back end, all of a source or some that follow each other, and what a back end answers about them.
 * `PlainBlock` answers by the kernels as they are written: it is the reference back end, and what others do where they have no kernel.
 */

import { type Pooled, poolLayers } from "../../kernels/patches.ts";
import { rankerFor } from "../../kernels/rank-sums.ts";
import { blocksOf, entriesOf, gatherRows } from "../../kernels/rows.ts";
import type {
  DenseRows,
  FilterBank,
  Groups,
  PatchLayer,
  Prototypes,
  RowSource,
  Rows,
  Sum,
  TopFilters,
  TopRows,
} from "../../kernels/shapes.ts";
import { Adder } from "../../kernels/sums.ts";
import { noRows, noTop, offerFilters, offerRows } from "../../kernels/top.ts";
import type { Refining } from "../contract.ts";
import { isDue, type Turn } from "../turn.ts";
import type { HostBank } from "./bank.ts";
import type { Shared } from "./counted.ts";

/** Multiply-adds between two looks at the clock. */
const SLICE = 2 ** 22;
/** Bytes of rows that are worked on at a time. */
const BLOCK_BYTES = 2 ** 18;

/** What is already known when a bank is a changed copy of an earlier one. It may save work and never alters an answer. */
export interface Since {
  /** The strongest filter of each row (k = 1) in the earlier bank. */
  readonly winners: TopFilters;
  /** 1 for each filter whose weights may differ from the earlier bank's, 0 for those that are the same. */
  readonly changed: Uint8Array;
}

/** What is asked about the strongest filters; other entries of an answer are unspecified. */
export interface Wanted {
  readonly since?: Since | undefined;
  /** Only the strongest, and whether it is alone. */
  readonly leading?: boolean;
  /** Only these rows, ascending. */
  readonly rows?: Uint32Array | undefined;
}

/** What the work on some rows comes to (`Work` of the contract), and in which turn it is done. */
export class Tally {
  readonly turn: Turn;
  pairs = 0;
  exact = 0;
  readonly notes = new Set<string>();

  constructor(turn: Turn) {
    this.turn = turn;
  }
}

/** Rows in memory. Rows are numbered from the first of the block. */
export interface RowBlock {
  readonly rows: number;
  /** The k strongest filters of all rows. */
  search(bank: HostBank, k: number, wanted: Wanted): Promise<TopFilters>;
  /** The k strongest rows of the listed filters, by response over the row's divisor. */
  searchRows(bank: HostBank, filters: Uint32Array, k: number, divisor: Float64Array): Promise<TopRows>;
  /** The sum of each group's rows, in the order listed, each on top of what `onto` has for it. */
  addSums(groups: Groups, onto: readonly Sum[] | undefined): Promise<Sum[]>;
  /** One filter for each group: the rank, or the draw from the distribution, of the sum of its rows. */
  rankSums(groups: Groups, distribution: Float64Array | undefined): Promise<FilterBank>;
  /** Writes the pooled values of all rows, `features` of them a row. */
  pool(layers: readonly PatchLayer[], features: number, out: Pooled): Promise<void>;
  /** The filters as these rows see them, where they are in memory without some of the features: what searches are asked about. */
  seen?(bank: FilterBank): FilterBank;
  /** The listed rows in that order, where they need not be asked for at their source. */
  gather?(rows: Uint32Array): Rows;
  release(): void;
}

/** What is different in each back end whose filters stay on the host. */
export interface Machine {
  /** Whether dense rows that are worked out can go to memory of its own as they come. */
  readonly takesComputed: boolean;
  /** Takes rows in, or refuses by `OutOfMemory`. What it finds out goes to the tally. */
  place(rows: RowSource, tally: Tally): Promise<RowBlock>;
  /** Prototypes to be refined by rows of a source: `whole` are all of them, if they are in memory; else so many of them are at a time. */
  refine(
    source: RowSource,
    whole: Shared<RowBlock> | undefined,
    start: Prototypes,
    rowsAtATime: number,
    tally: Tally,
  ): Promise<Refining>;
}

/** Rows in the memory of the host, and the kernels as they are written. */
export class PlainBlock implements RowBlock {
  readonly rows: number;
  readonly #x: Rows;
  readonly #tally: Tally;

  constructor(x: Rows, tally: Tally) {
    this.rows = x.rows;
    this.#x = x;
    this.#tally = tally;
  }

  async search({ host }: HostBank, k: number): Promise<TopFilters> {
    this.#tally.exact += this.rows * host.filters;
    const top = noTop(this.rows, k);
    await this.#eachSlice(host.filters, (part, first, from, to) => {
      const [begin, end] = [first * k, (first + part.rows) * k];
      const own = { filter: top.filter.subarray(begin, end), response: top.response.subarray(begin, end) };
      offerFilters(part, host, from, to, { rows: part.rows, k, ...own });
    });
    return top;
  }

  async searchRows({ host }: HostBank, filters: Uint32Array, k: number, divisor: Float64Array): Promise<TopRows> {
    this.#tally.exact += this.rows * filters.length;
    const top = noRows(filters.length, k);
    await this.#eachSlice(filters.length, (part, first, from, to) => {
      offerRows(part, first, host, filters, from, to, divisor.subarray(first, first + part.rows), top);
    });
    return top;
  }

  async addSums(groups: Groups, onto: readonly Sum[] | undefined): Promise<Sum[]> {
    const sums: Sum[] = [];
    await this.#addUp(groups, onto, (sum) => sums.push(sum));
    return sums;
  }

  async rankSums(groups: Groups, distribution: Float64Array | undefined): Promise<FilterBank> {
    const ranker = rankerFor(this.#x.form, groups.offsets.length - 1, this.#x.features, distribution);
    await this.#addUp(groups, undefined, (sum) => ranker.add(sum));
    return ranker.bank();
  }

  async pool(layers: readonly PatchLayer[], features: number, out: Pooled): Promise<void> {
    let at = 0;
    for (const image of blocksOf(this.#x, 1)) {
      out.set(poolLayers(image as DenseRows, layers), at);
      at += features;
      if (isDue()) await this.#tally.turn.pause();
    }
  }

  gather(rows: Uint32Array): Rows {
    return gatherRows(this.#x, rows);
  }

  release(): void {}

  /** Gives the sum of one group after the other to `take`, with looks at the clock in between. */
  async #addUp(
    { offsets, rows, weight }: Groups,
    onto: readonly Sum[] | undefined,
    take: (sum: Sum) => void,
  ): Promise<void> {
    const most = Math.max(1, Math.floor((SLICE * this.rows) / Math.max(1, entriesOf(this.#x))));
    const adder = new Adder(this.#x.features);
    for (let g = 0; g + 1 < offsets.length; g++) {
      if (onto) adder.addSum(onto[g]);
      const end = offsets[g + 1];
      for (let first = offsets[g]; first < end; first += most) {
        const last = Math.min(end, first + most);
        adder.addRows(this.#x, rows.subarray(first, last), weight?.subarray(first, last));
        if (isDue()) await this.#tally.turn.pause();
      }
      take(adder.take());
      if (isDue()) await this.#tally.turn.pause();
    }
  }

  /** Calls `work` on a part of the rows after the other, and for each on ranges of `count` filters, short enough for other calls to run in between. */
  async #eachSlice(count: number, work: (part: Rows, first: number, from: number, to: number) => void): Promise<void> {
    let first = 0;
    for (const part of blocksOf(this.#x, BLOCK_BYTES)) {
      const most = Math.max(1, Math.floor(SLICE / Math.max(1, entriesOf(part))));
      for (let from = 0; from < count; from += most) {
        work(part, first, from, Math.min(count, from + most));
        if (isDue()) await this.#tally.turn.pause();
      }
      first += part.rows;
    }
  }
}
