/**
 * A dense matrix held by an engine. It stays in WebAssembly memory if it fits there; otherwise its rows pass through in
 * blocks on every call. Calls on one matrix do not overlap (the contract), calls on different matrices may.
 */

import { pickFilters } from "../../kernels/pick-filters.ts";
import { commonNorm, weightsFor } from "../../kernels/rank.ts";
import type { DenseRows, FilterBank, Groups, Leaders, Prototypes, TopFilters, TopRows } from "../../kernels/shapes.ts";
import { leadersOf, pickRows } from "../../kernels/top.ts";
import type { Held, Refining, Since, Work } from "../backend.ts";
import { RefiningInPlace } from "../refine-in-place.ts";
import type { BankCache, BankEntry } from "./bank-cache.ts";
import { basisCost, FEWEST_FEATURES, FEWEST_FILTERS, findBasis, release } from "./basis.ts";
import { boundRows, type RowBounds, releaseRowBounds, sliceRowBounds } from "./bounds.ts";
import { bytesOfRows, type DenseBlock, loadDense, sliceBlock } from "./dense-rows.ts";
import type { Engine } from "./engine.ts";
import { bytesOfFilters, loadBank, unloadBank } from "./loaded-bank.ts";
import { rankSumsDense } from "./rank-dense.ts";
import { refineDense } from "./refine-dense.ts";
import { type Answer, type Bounds, searchFull, searchPruned, searchRows, searchSince } from "./search-dense.ts";

/** How much memory is used before work goes in blocks. */
export interface Limits {
  /** Bytes of rows kept in memory, and of one block of those that are not. */
  readonly residentBytes: number;
  readonly blockBytes: number;
  /** Bytes of filters in memory at a time. */
  readonly bankBytes: number;
}

export const LIMITS: Limits = { residentBytes: 2 ** 31, blockBytes: 2 ** 28, bankBytes: 2 ** 30 };

/** Bytes of answers in memory at a time. */
const ANSWER_BYTES = 2 ** 25;
/** Largest k for which bounds are tried: beyond, too many filters stay. */
const MOST_PRUNED = 64;
/** Bounds are tried when the full search is this many times the work of making them. */
const WORTH = 2;
/** Rows that show whether bounds prune, and the share of exact products above which they do not pay. Measured. */
const PROBE_ROWS = 256;
const MOST_EXACT = 0.3;
/** Values and weights beyond this could overflow a product that bounds rely on. */
const HUGE = 1e100;

/** What is asked about the strongest filters. */
interface Wanted {
  readonly since?: Since | undefined;
  /** Only the strongest, and whether it is alone. */
  readonly leading?: boolean;
  /** Only these rows, ascending. */
  readonly rows?: Uint32Array;
}

export class HeldDense implements Held {
  readonly #engine: Engine;
  readonly #banks: BankCache;
  readonly #x: DenseRows;
  readonly #limits: Limits;
  #resident: DenseBlock | undefined;
  #bounds: RowBounds | undefined;
  #prunes = true;
  #pairs = 0;
  #exact = 0;

  private constructor(engine: Engine, banks: BankCache, x: DenseRows, limits: Limits) {
    this.#engine = engine;
    this.#banks = banks;
    this.#x = x;
    this.#limits = limits;
  }

  static async hold(engine: Engine, banks: BankCache, x: DenseRows, limits: Limits): Promise<HeldDense> {
    const held = new HeldDense(engine, banks, x, limits);
    if (bytesOfRows(x, x.rows) <= limits.residentBytes) held.#resident = await loadDense(engine, x, 0, x.rows);
    return held;
  }

  async topFilters(bank: FilterBank, k: number, since?: Since): Promise<TopFilters> {
    return this.#top(bank, k, { since });
  }

  async topFiltersOf(rows: Uint32Array, bank: FilterBank, k: number): Promise<TopFilters> {
    return pickRows(await this.#top(bank, k, { rows }), rows);
  }

  async leaders(bank: FilterBank): Promise<Leaders> {
    return leadersOf(await this.#top(bank, Math.min(2, bank.filters), { leading: true }));
  }

  async topRows(bank: FilterBank, filters: Uint32Array, k: number, divisor: Float64Array): Promise<TopRows> {
    this.#pairs += this.#x.rows * filters.length;
    const row = new Uint32Array(filters.length * k);
    const value = new Float64Array(filters.length * k);
    // Filters go in parts small enough for memory; each part meets all rows.
    const most = Math.min(
      Math.max(1, Math.floor(this.#limits.bankBytes / bytesOfFilters(bank, 1))),
      Math.max(1, Math.floor(ANSWER_BYTES / (12 * k))),
    );
    const whole = bytesOfFilters(bank, bank.filters) <= this.#limits.bankBytes;
    for (let from = 0; from < filters.length; from += most) {
      const part = filters.subarray(from, Math.min(filters.length, from + most));
      await this.#answer(part.length, k, async (answer) => {
        await this.#eachBlock(async (block, known, last) => {
          const more = { known, last };
          if (whole) {
            const entry = await this.#banks.borrow(bank, block);
            const ready = this.#resident && this.#bounds && entry.bounds?.basis === this.#bounds.basis;
            const bounds = ready
              ? { rows: this.#bounds as RowBounds, filters: entry.bounds as Bounds["filters"] }
              : undefined;
            try {
              this.#exact += await searchRows(this.#engine, block, entry.loaded, bounds, part, divisor, answer, more);
            } finally {
              this.#banks.giveBack(entry);
            }
          } else {
            const picked = pickFilters(bank, part);
            const loaded = await loadBank(this.#engine, picked, 0, picked.filters, block);
            const places = Uint32Array.from(part.keys());
            try {
              this.#exact += await searchRows(this.#engine, block, loaded, undefined, places, divisor, answer, more);
            } finally {
              unloadBank(this.#engine.memory, loaded);
            }
          }
        });
        this.#copyAnswer(answer, part.length, row, value, from);
      });
    }
    return { filters: filters.length, k, row, value };
  }

  async rankSums(groups: Groups, distribution?: Float64Array): Promise<FilterBank> {
    const n = this.#x.features;
    const filters = groups.offsets.length - 1;
    const weights = weightsFor(filters * n, n, distribution);
    await rankSumsDense(this.#engine, this.#x, this.#resident, groups, distribution, weights, this.#limits.blockBytes);
    const norm = new Float64Array(filters).fill(commonNorm(n, distribution));
    return { form: "dense", filters, features: n, weights, norm };
  }

  async refining(start: Prototypes): Promise<Refining> {
    // Rows that pass through in blocks, and the rule for sparse data, have no kernel of their own.
    if (!this.#resident || start.rule !== "add") return new RefiningInPlace(this.#x, start);
    return refineDense(this.#engine, this.#resident, start);
  }

  work(): Work {
    return { pairs: this.#pairs, exact: this.#exact };
  }

  release(): void {
    const { memory } = this.#engine;
    if (this.#bounds) releaseRowBounds(memory, this.#bounds);
    if (this.#resident) memory.give(this.#resident.at);
    this.#bounds = undefined;
    this.#resident = undefined;
  }

  /** The k strongest filters of all rows; what is not `wanted` need not be right. */
  async #top(bank: FilterBank, k: number, wanted: Wanted): Promise<TopFilters> {
    const { rows } = this.#x;
    const { since, leading = false } = wanted;
    this.#pairs += (wanted.rows?.length ?? rows) * bank.filters;
    const filter = new Uint32Array(rows * k);
    const response = new Float64Array(rows * k);
    await this.#eachBlock(async (block) => {
      const fits = bytesOfFilters(bank, bank.filters) <= this.#limits.bankBytes;
      const entry = fits ? await this.#banks.borrow(bank, block) : undefined;
      try {
        if (entry) entry.pairs += block.rows * bank.filters;
        const bounds = entry && (await this.#boundsFor(block, entry, k));
        try {
          const most = Math.max(PROBE_ROWS, Math.floor(ANSWER_BYTES / (12 * k)));
          for (let from = 0; from < block.rows; ) {
            const probing = bounds !== undefined && from === 0 && !since && !wanted.rows;
            const to = Math.min(block.rows, from + (probing ? PROBE_ROWS : most));
            const part = sliceBlock(block, from, to);
            const partBounds = this.#prunes && bounds && { ...bounds, rows: sliceRowBounds(bounds.rows, from) };
            await this.#answer(part.rows, k, async (answer) => {
              const exact = await this.#search(
                part,
                bank,
                entry,
                partBounds || undefined,
                { ...answer, leading },
                since,
                wanted.rows && within(wanted.rows, part.first, part.first + part.rows),
              );
              if (probing) this.#prunes = exact <= MOST_EXACT * part.rows * bank.filters;
              this.#copyAnswer(answer, part.rows, filter, response, part.first);
            });
            from = to;
          }
        } finally {
          if (bounds && bounds.rows !== this.#bounds) releaseRowBounds(this.#engine.memory, bounds.rows);
        }
      } finally {
        if (entry) this.#banks.giveBack(entry);
      }
    });
    return { rows, k, filter, response };
  }

  /** Calls `visit` on the matrix, or on one block of it after the other. */
  async #eachBlock(visit: (block: DenseBlock, known: boolean, last: boolean) => Promise<void>): Promise<void> {
    if (this.#resident) return visit(this.#resident, false, true);
    const rows = Math.max(1, Math.floor(this.#limits.blockBytes / bytesOfRows(this.#x, 1)));
    for (let first = 0; first < this.#x.rows; first += rows) {
      const last = Math.min(this.#x.rows, first + rows);
      const block = await loadDense(this.#engine, this.#x, first, last);
      try {
        await visit(block, first > 0, last === this.#x.rows);
      } finally {
        this.#engine.memory.give(block.at);
      }
    }
  }

  async #search(
    block: DenseBlock,
    bank: FilterBank,
    entry: BankEntry | undefined,
    bounds: Bounds | undefined,
    answer: Answer,
    since: Since | undefined,
    rows: Uint32Array | undefined,
  ): Promise<number> {
    let exact = 0;
    if (!entry) {
      const most = Math.max(1, Math.floor(this.#limits.bankBytes / bytesOfFilters(bank, 1)));
      for (let first = 0; first < bank.filters; first += most) {
        const last = Math.min(bank.filters, first + most);
        const loaded = await loadBank(this.#engine, bank, first, last, block);
        try {
          const more = { known: first > 0, last: last === bank.filters };
          exact += await searchFull(this.#engine, block, loaded, answer, more);
        } finally {
          unloadBank(this.#engine.memory, loaded);
        }
      }
    } else if (!bounds) {
      exact = await searchFull(this.#engine, block, entry.loaded, answer, { known: false, last: true });
    } else if (since && answer.k === 1 && since.winners.k === 1) {
      exact = await searchSince(this.#engine, block, entry, bounds, answer, since);
    } else exact = await searchPruned(this.#engine, block, entry, bounds, answer, rows);
    this.#exact += exact;
    return exact;
  }

  /** Bounds of both sides where they promise to pay. */
  async #boundsFor(block: DenseBlock, entry: BankEntry, k: number): Promise<Bounds | undefined> {
    const { loaded } = entry;
    const { filters, features, layout } = loaded;
    if (!this.#prunes || k > MOST_PRUNED || k * 8 > filters) return undefined;
    if (filters < FEWEST_FILTERS || features < FEWEST_FEATURES) return undefined;
    if (!loaded.positive || (layout === "whole" && !loaded.equal)) return undefined;
    if (!(block.largest < HUGE && loaded.longest < HUGE)) return undefined;
    const known = this.#resident ? this.#bounds : undefined;
    if (!known && entry.pairs * features < WORTH * basisCost(block.rows, filters, features)) return undefined;

    const { memory } = this.#engine;
    // Whichever side is larger keeps its projections.
    const mine = known && (!entry.bounds || block.rows > filters) ? known.basis : undefined;
    const basis = mine ?? entry.bounds?.basis ?? (await findBasis(this.#engine, block, loaded));
    const fresh = basis.users === 1 && basis !== known?.basis && basis !== entry.bounds?.basis;
    try {
      const filterBounds = await this.#banks.bound(entry, block, basis);
      let rowBounds = known;
      if (rowBounds?.basis !== basis) {
        rowBounds = await boundRows(this.#engine, block, basis);
        if (this.#resident) {
          if (this.#bounds) releaseRowBounds(memory, this.#bounds);
          this.#bounds = rowBounds;
        }
      }
      return { rows: rowBounds, filters: filterBounds };
    } finally {
      if (fresh) release(memory, basis);
    }
  }

  /** Room for k answers to each item, given back afterwards. */
  async #answer(items: number, k: number, use: (answer: Answer) => Promise<void>): Promise<void> {
    const { memory } = this.#engine;
    const ids = memory.take(items * k * 4);
    let values = 0;
    try {
      values = memory.take(items * k * 8);
      await use({ k, ids, values });
    } finally {
      memory.give(ids);
      memory.give(values);
    }
  }

  #copyAnswer({ k, ids, values }: Answer, items: number, id: Uint32Array, value: Float64Array, first: number): void {
    const { memory } = this.#engine;
    id.set(memory.u32(ids, items * k), first * k);
    value.set(memory.f64(values, items * k), first * k);
  }
}

/** Those of the ascending rows that lie in [from, to), counted from there. */
function within(rows: Uint32Array, from: number, to: number): Uint32Array {
  return rows.filter((r) => r >= from && r < to).map((r) => r - from);
}
