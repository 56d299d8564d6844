/** The reference back end: the kernels as they are written. For small data, and as the definition that the others are tested against. */

import type { FilterBank, Groups, Prototypes, Rows, TopFilters, TopRows } from "../kernels/shapes.ts";
import { offerFilters, offerRows } from "../kernels/top.ts";
import type { Backend, Refining } from "./contract.ts";
import { type Home, HostBank } from "./host/bank.ts";
import { holdNarrow } from "./host/narrow.ts";
import { RefiningInPlace } from "./host/refine.ts";
import { HostRows } from "./host/rows.ts";
import { Owners, Spares } from "./host/spares.ts";
import { isDue, UNINTERRUPTED } from "./turn.ts";

/** Multiply-adds of a second, roughly. */
const RATE = 1e9;
/** Multiply-adds between two looks at the clock. */
const SLICE = 2 ** 22;
/** Bytes of rows that are worked on at a time. */
const BLOCK_BYTES = 2 ** 18;

/** Opens the back end of plain loops. */
export function openReference(): Backend {
  const home: Home = { spares: new Spares() };
  const backend: Backend = {
    name: "reference",
    threads: 1,
    estimate: ({ values, filters, searches, bytes }) => ({ seconds: (values * filters * searches) / RATE, bytes }),
    hold: (source, { turn = UNINTERRUPTED } = {}) =>
      holdNarrow(source, home, async (rows) => new PlainRows(rows, backend, turn, home)),
    close: async () => {},
  };
  return backend;
}

class PlainRows extends HostRows<HostBank> {
  protected async search({ host }: HostBank, k: number): Promise<TopFilters> {
    this.exact += this.rows * host.filters;
    const filter = new Uint32Array(this.rows * k);
    const response = new Float64Array(this.rows * k).fill(Number.NEGATIVE_INFINITY);
    await this.#eachSlice(host.filters, (part, first, from, to) => {
      const end = (first + part.rows) * k;
      const own = { filter: filter.subarray(first * k, end), response: response.subarray(first * k, end) };
      offerFilters(part, host, from, to, { rows: part.rows, k, ...own });
    });
    return { rows: this.rows, k, filter, response };
  }

  protected async searchRows(
    { host }: HostBank,
    filters: Uint32Array,
    k: number,
    divisor: Float64Array,
  ): Promise<TopRows> {
    this.exact += this.rows * filters.length;
    const row = new Uint32Array(filters.length * k);
    const value = new Float64Array(filters.length * k).fill(Number.NEGATIVE_INFINITY);
    const top = { filters: filters.length, k, row, value };
    await this.#eachSlice(filters.length, (part, first, from, to) => {
      offerRows(part, first, host, filters, from, to, divisor.subarray(first, first + part.rows), top);
    });
    return top;
  }

  protected rankSums(groups: Groups, distribution: Float64Array | undefined): Promise<FilterBank> {
    return this.rankPlainly(groups, distribution);
  }

  protected bankOf(bank: FilterBank, isShared: boolean): HostBank {
    return new HostBank(bank, this.home, new Owners(isShared));
  }

  protected async refineRows(start: Prototypes): Promise<Refining> {
    return new RefiningInPlace(await this.all(), start, this.turn, (bank) => this.bankOf(bank, false));
  }

  protected free(): void {}

  /** Calls `work` on a block of rows after the other, and for each on ranges of `count` filters, short enough for other calls to run in between. */
  async #eachSlice(count: number, work: (part: Rows, first: number, from: number, to: number) => void): Promise<void> {
    let first = 0;
    for await (const part of this.source.blocks(BLOCK_BYTES)) {
      const values = Math.max(1, (this.source.entries / this.rows) * part.rows);
      const most = Math.max(1, Math.floor(SLICE / values));
      for (let from = 0; from < count; from += most) {
        work(part, first, from, Math.min(count, from + most));
        if (isDue()) await this.turn.pause();
      }
      first += part.rows;
    }
  }
}
