/**
 * A sparse matrix held by an engine. It stays in WebAssembly memory if it fits there; otherwise its rows pass through in
 * blocks on every call. Sparse banks are searched through an inverted index, all others with filters written out.
 */

import { pickFilters } from "../../kernels/pick-filters.ts";
import type { CsrRows, FilterBank, Groups, Leaders, Prototypes, TopFilters, TopRows } from "../../kernels/shapes.ts";
import { leadersOf, pickRows } from "../../kernels/top.ts";
import type { Held, Refining, Since, Work } from "../backend.ts";
import { RefiningInPlace } from "../refine-in-place.ts";
import { bytesOfBank, type CsrBank, loadCsrBank, unloadCsrBank } from "./csr-bank.ts";
import {
  allFilters,
  bytesOfIndex,
  type CsrBankCache,
  type CsrEntry,
  isExact,
  isIndexable,
  isOfOneNorm,
  makeIndex,
  releaseIndex,
} from "./csr-index.ts";
import { rankSumsCsr } from "./csr-rank.ts";
import { bytesOfCsr, type CsrBlock, loadCsr, sliceCsr, unloadCsr } from "./csr-rows.ts";
import { type More, searchCsrRows, searchDirect, searchIndex, searchIndexSince } from "./csr-search.ts";
import type { Engine } from "./engine.ts";
import type { Limits } from "./held-dense.ts";
import type { Answer } from "./search-dense.ts";

/** Bytes of answers in memory at a time. */
const ANSWER_BYTES = 2 ** 25;
/** Up to this many filters are written out: less work than an index. */
const FEW_FILTERS = 2;
/** Looking at changed filters alone pays while they are at most this share of many. Measured. */
const MOST_CHANGED = 0.25;
const MANY_FILTERS = 256;

export class HeldCsr implements Held {
  readonly #engine: Engine;
  readonly #banks: CsrBankCache;
  readonly #x: CsrRows;
  readonly #limits: Limits;
  #resident: CsrBlock | undefined;
  #pairs = 0;
  #exact = 0;

  private constructor(engine: Engine, banks: CsrBankCache, x: CsrRows, limits: Limits) {
    this.#engine = engine;
    this.#banks = banks;
    this.#x = x;
    this.#limits = limits;
  }

  static async hold(engine: Engine, banks: CsrBankCache, x: CsrRows, limits: Limits): Promise<HeldCsr> {
    const held = new HeldCsr(engine, banks, x, limits);
    if (bytesOfCsr(x, 0, x.rows) <= limits.residentBytes) held.#resident = await loadCsr(engine, x, 0, x.rows);
    return held;
  }

  async topFilters(bank: FilterBank, k: number, since?: Since): Promise<TopFilters> {
    const { rows } = this.#x;
    this.#pairs += rows * bank.filters;
    const filter = new Uint32Array(rows * k);
    const response = new Float64Array(rows * k);
    const most = Math.max(1, Math.floor(ANSWER_BYTES / (12 * k)));
    await this.#eachBlock(async (block) => {
      for (let from = 0; from < block.rows; from += most) {
        const part = sliceCsr(block, from, Math.min(block.rows, from + most));
        await this.#answer(part.rows, k, async (answer) => {
          this.#exact += await this.#search(part, bank, answer, since);
          this.#copyAnswer(answer, part.rows, filter, response, part.first);
        });
      }
    });
    return { rows, k, filter, response };
  }

  async topFiltersOf(rows: Uint32Array, bank: FilterBank, k: number): Promise<TopFilters> {
    return pickRows(await this.topFilters(bank, k), rows);
  }

  async leaders(bank: FilterBank): Promise<Leaders> {
    return leadersOf(await this.topFilters(bank, Math.min(2, bank.filters)));
  }

  async topRows(bank: FilterBank, filters: Uint32Array, k: number, divisor: Float64Array): Promise<TopRows> {
    this.#pairs += this.#x.rows * filters.length;
    const row = new Uint32Array(filters.length * k);
    const value = new Float64Array(filters.length * k);
    const most = Math.max(1, Math.floor(ANSWER_BYTES / (12 * k)));
    for (let from = 0; from < filters.length; ) {
      let to = Math.min(filters.length, from + most);
      if (!this.#fits(bank, 0, bank.filters)) {
        // Only what is asked for is brought in, as much as there is room for.
        let bytes = bytesOfIndex(bank, filters[from], filters[from] + 1);
        let next = from + 1;
        for (; next < to; next++) {
          bytes += bytesOfIndex(bank, filters[next], filters[next] + 1);
          if (bytes > this.#limits.bankBytes) break;
        }
        to = next;
      }
      const part = filters.subarray(from, to);
      await this.#answer(part.length, k, async (answer) => {
        await this.#withFilters(bank, part, async (loaded, listed) => {
          await this.#eachBlock(async (block, known, last) => {
            const more = { known, last };
            const kind = { whole: isExact(loaded, block), byNorm: false };
            const indexed = isIndexable(loaded) && listed.length > FEW_FILTERS;
            const index = indexed ? await makeIndex(this.#engine, loaded, listed, kind) : undefined;
            try {
              this.#exact += await searchCsrRows(
                this.#engine,
                block,
                loaded,
                index,
                listed,
                divisor,
                answer,
                more,
                ANSWER_BYTES,
              );
            } finally {
              if (index) releaseIndex(this.#engine.memory, index);
            }
          });
        });
        this.#copyAnswer(answer, part.length, row, value, from);
      });
      from = to;
    }
    return { filters: filters.length, k, row, value };
  }

  async rankSums(groups: Groups, distribution?: Float64Array): Promise<FilterBank> {
    return rankSumsCsr(this.#engine, this.#x, this.#resident, groups, distribution, this.#limits.blockBytes);
  }

  async refining(start: Prototypes): Promise<Refining> {
    return new RefiningInPlace(this.#x, start);
  }

  work(): Work {
    return { pairs: this.#pairs, exact: this.#exact };
  }

  release(): void {
    if (this.#resident) unloadCsr(this.#engine.memory, this.#resident);
    this.#resident = undefined;
  }

  /** Calls `visit` on the matrix, or on one block of it after the other. */
  async #eachBlock(visit: (block: CsrBlock, known: boolean, last: boolean) => Promise<void>): Promise<void> {
    const { rows } = this.#x;
    if (this.#resident) return rows > 0 ? visit(this.#resident, false, true) : undefined;
    for (let first = 0; first < rows; ) {
      let last = first + 1;
      while (last < rows && bytesOfCsr(this.#x, first, last + 1) <= this.#limits.blockBytes) last++;
      const block = await loadCsr(this.#engine, this.#x, first, last);
      try {
        await visit(block, first > 0, last === rows);
      } finally {
        unloadCsr(this.#engine.memory, block);
      }
      first = last;
    }
  }

  async #search(block: CsrBlock, bank: FilterBank, answer: Answer, since: Since | undefined): Promise<number> {
    if (!this.#fits(bank, 0, bank.filters)) return this.#searchRanges(block, bank, answer);
    const entry = this.#banks.borrow(bank);
    try {
      if (!isIndexable(entry.bank) || bank.filters <= FEW_FILTERS) {
        return await searchDirect(this.#engine, block, entry.bank, answer, { known: false, last: true });
      }
      return await this.#searchEntry(block, entry, answer, since);
    } finally {
      this.#banks.giveBack(entry);
    }
  }

  async #searchEntry(block: CsrBlock, entry: CsrEntry, answer: Answer, since: Since | undefined): Promise<number> {
    const { bank } = entry;
    const whole = isExact(bank, block) && isOfOneNorm(bank);
    const index = () => this.#banks.index(entry, whole);
    if (since && answer.k === 1 && since.winners.k === 1 && bank.filters >= MANY_FILTERS) {
      let changed = 0;
      for (const mark of since.changed) changed += mark;
      if (changed <= MOST_CHANGED * bank.filters) {
        return searchIndexSince(this.#engine, block, bank, index, whole, answer, since);
      }
    }
    return searchIndex(this.#engine, block, bank, await index(), answer, { known: false, last: true });
  }

  /** A bank too large for memory: filters go in ranges, the answer is carried along. */
  async #searchRanges(block: CsrBlock, bank: FilterBank, answer: Answer): Promise<number> {
    let exact = 0;
    for (let first = 0; first < bank.filters; ) {
      let last = first + 1;
      while (last < bank.filters && this.#fits(bank, first, last + 1)) last++;
      const loaded = loadCsrBank(this.#engine, bank, first, last);
      try {
        exact += await this.#searchRange(block, loaded, answer, { known: first > 0, last: last === bank.filters });
      } finally {
        unloadCsrBank(this.#engine.memory, loaded);
      }
      first = last;
    }
    return exact;
  }

  async #searchRange(block: CsrBlock, bank: CsrBank, answer: Answer, more: More): Promise<number> {
    if (!isIndexable(bank)) return searchDirect(this.#engine, block, bank, answer, more);
    const kind = { whole: isExact(bank, block) && isOfOneNorm(bank), byNorm: true };
    const index = await makeIndex(this.#engine, bank, allFilters(bank), kind);
    try {
      return await searchIndex(this.#engine, block, bank, index, answer, more);
    } finally {
      releaseIndex(this.#engine.memory, index);
    }
  }

  /** Calls `use` with a bank in memory that has the listed filters, and their numbers in it. */
  async #withFilters(
    bank: FilterBank,
    filters: Uint32Array,
    use: (bank: CsrBank, filters: Uint32Array) => Promise<void>,
  ): Promise<void> {
    if (this.#fits(bank, 0, bank.filters)) {
      const entry = this.#banks.borrow(bank);
      try {
        return await use(entry.bank, filters);
      } finally {
        this.#banks.giveBack(entry);
      }
    }
    const picked = pickFilters(bank, filters);
    const loaded = loadCsrBank(this.#engine, picked, 0, picked.filters);
    try {
      await use(loaded, allFilters(loaded));
    } finally {
      unloadCsrBank(this.#engine.memory, loaded);
    }
  }

  #fits(bank: FilterBank, first: number, last: number): boolean {
    const bytes = bank.form === "dense" ? bytesOfBank(bank, first, last) : bytesOfIndex(bank, first, last);
    return bytes <= this.#limits.bankBytes;
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
