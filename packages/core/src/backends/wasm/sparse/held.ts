/**
 * Sparse rows held by an engine: which search answers a question. Sparse banks are searched through an inverted index, all
 * others with filters written out.
 */

import { pickFilters } from "../../../kernels/pick-filters.ts";
import { inMemory } from "../../../kernels/rows.ts";
import type { CsrRows, FilterBank, Groups, Prototypes, Rows, TopFilters, TopRows } from "../../../kernels/shapes.ts";
import type { Since, Wanted } from "../../host/rows.ts";
import { borrowed, type Lease } from "../engine/memory.ts";
import type { WasmBank } from "../shared/bank.ts";
import { WasmRows } from "../shared/held.ts";
import type { RefineForm } from "../shared/refine.ts";
import type { Answer, More } from "../shared/search.ts";
import { bytesOfBank, type CsrBank, loadCsrBank } from "./bank.ts";
import {
  allFilters,
  bytesOfIndex,
  type CsrIndex,
  isExact,
  isIndexable,
  isOfOneNorm,
  makeIndex,
  useCsrBank,
  useIndex,
} from "./inverted-index.ts";
import { rankSumsCsr } from "./rank-sums.ts";
import { csrForm } from "./refine.ts";
import { bytesOfCsr, type CsrBlock, placeCsr, sliceCsr } from "./rows.ts";
import { searchCsrRows, searchDirect, searchIndex, searchIndexSince } from "./search.ts";

/** Up to this many filters are written out: less work than an index. */
const FEW_FILTERS = 2;
/** Looking only at changed filters pays while they are at most this share of many. Measured. */
const MOST_CHANGED = 0.25;
const MANY_FILTERS = 256;

export class HeldCsr extends WasmRows<CsrBlock> {
  protected bytes(): number {
    return bytesOfCsr(this.source);
  }

  protected async placeRead(lease: Lease): Promise<CsrBlock> {
    return this.place(lease, await this.all(), 0);
  }

  protected place(lease: Lease, rows: Rows, first: number): Promise<CsrBlock> {
    return placeCsr(this.engine, lease, rows as CsrRows, first);
  }

  protected async search(bank: WasmBank, k: number, { since }: Wanted): Promise<TopFilters> {
    const { rows } = this;
    const filter = new Uint32Array(rows * k);
    const response = new Float64Array(rows * k);
    const most = this.answersAtATime(k);
    await this.eachBlock(async (block) => {
      for (let from = 0; from < block.rows; from += most) {
        const part = sliceCsr(block, from, Math.min(block.rows, from + most));
        await this.answer(part.rows, k, async (answer) => {
          this.exact += await this.#searchPart(part, bank, answer, since);
          this.copyAnswer(answer, part.rows, filter, response, part.first);
        });
      }
    });
    return { rows, k, filter, response };
  }

  protected async searchRows(bank: WasmBank, filters: Uint32Array, k: number, divisor: Float64Array): Promise<TopRows> {
    const row = new Uint32Array(filters.length * k);
    const value = new Float64Array(filters.length * k);
    for (let from = 0; from < filters.length; ) {
      const to = this.#lastThatFits(bank.host, filters, from, k);
      const part = filters.subarray(from, to);
      await this.answer(part.length, k, async (answer) => {
        await this.#withFilters(bank, part, async (loaded, listed) => {
          await this.eachBlock(async (block, known, last) => {
            this.exact += await this.#searchRowsOf(block, loaded, listed, divisor, answer, { known, last });
          });
        });
        this.copyAnswer(answer, part.length, row, value, from);
      });
      from = to;
    }
    return { filters: filters.length, k, row, value };
  }

  protected rankSums(groups: Groups, distribution: Float64Array | undefined): Promise<FilterBank> {
    const plainly = (some: Groups): Promise<FilterBank> => this.rankPlainly(some, distribution);
    const x = inMemory(this.source) as CsrRows | undefined;
    if (!x) return plainly(groups);
    return this.withResident((resident) =>
      rankSumsCsr(this.engine, x, resident, groups, distribution, this.limits.blockBytes, plainly),
    );
  }

  protected async refineForm(_lease: Lease, start: Prototypes): Promise<RefineForm<CsrBlock>> {
    return csrForm(start);
  }

  /** Where a part of the listed filters ends that begins at `from`: only what is asked for is brought in, as much as there is room for. */
  #lastThatFits(bank: FilterBank, filters: Uint32Array, from: number, k: number): number {
    const to = Math.min(filters.length, from + this.answersAtATime(k));
    if (this.#fits(bank, 0, bank.filters)) return to;
    let bytes = bytesOfIndex(bank, filters[from], filters[from] + 1);
    for (let next = from + 1; next < to; next++) {
      bytes += bytesOfIndex(bank, filters[next], filters[next] + 1);
      if (bytes > this.limits.bankBytes) return next;
    }
    return to;
  }

  #searchRowsOf(
    block: CsrBlock,
    loaded: CsrBank,
    filters: Uint32Array,
    divisor: Float64Array,
    answer: Answer,
    more: More,
  ): Promise<number> {
    const { engine, limits } = this;
    return borrowed(engine.memory, async (lease) => {
      let index: CsrIndex | undefined;
      if (isIndexable(loaded) && filters.length > FEW_FILTERS) {
        index = await makeIndex(engine, lease, loaded, filters, { whole: isExact(loaded, block), byNorm: false });
      }
      return searchCsrRows(engine, block, loaded, index, filters, divisor, answer, more, limits);
    });
  }

  async #searchPart(block: CsrBlock, bank: WasmBank, answer: Answer, since: Since | undefined): Promise<number> {
    const { engine } = this;
    if (!this.#fits(bank.host, 0, bank.filters)) return this.#searchRanges(block, bank.host, answer);
    const loaded = await useCsrBank(engine, bank);
    try {
      const all = { known: false, last: true };
      if (!isIndexable(loaded.value) || bank.filters <= FEW_FILTERS) {
        return await searchDirect(engine, block, loaded.value, answer, all, this.limits.bankBytes);
      }
      const whole = isExact(loaded.value, block) && isOfOneNorm(loaded.value);
      const index = () => useIndex(engine, bank, loaded.value, whole);
      if (since && answer.k === 1 && fewChanged(since.changed)) {
        return await searchIndexSince(engine, block, loaded.value, index, whole, answer, since);
      }
      const used = await index();
      try {
        return await searchIndex(engine, block, loaded.value, used.value, answer, all);
      } finally {
        used.release();
      }
    } finally {
      loaded.release();
    }
  }

  /** A bank too large for memory: filters go in ranges, the answer is carried along. */
  async #searchRanges(block: CsrBlock, bank: FilterBank, answer: Answer): Promise<number> {
    let exact = 0;
    for (let first = 0; first < bank.filters; ) {
      let last = first + 1;
      while (last < bank.filters && this.#fits(bank, first, last + 1)) last++;
      const more = { known: first > 0, last: last === bank.filters };
      await borrowed(this.engine.memory, async (lease) => {
        const loaded = await loadCsrBank(this.engine, lease, bank, first, last);
        exact += await this.#searchRange(lease, block, loaded, answer, more);
      });
      first = last;
    }
    return exact;
  }

  async #searchRange(lease: Lease, block: CsrBlock, bank: CsrBank, answer: Answer, more: More): Promise<number> {
    const { engine } = this;
    if (!isIndexable(bank)) return searchDirect(engine, block, bank, answer, more, this.limits.bankBytes);
    const kind = { whole: isExact(bank, block) && isOfOneNorm(bank), byNorm: true };
    const index = await makeIndex(engine, lease, bank, allFilters(bank), kind);
    return searchIndex(engine, block, bank, index, answer, more);
  }

  /** Calls `use` with a bank in memory that has the listed filters, and their numbers in it. */
  async #withFilters(
    bank: WasmBank,
    filters: Uint32Array,
    use: (bank: CsrBank, filters: Uint32Array) => Promise<void>,
  ): Promise<void> {
    const { engine } = this;
    if (!this.#fits(bank.host, 0, bank.filters)) {
      const picked = pickFilters(bank.host, filters);
      return borrowed(engine.memory, async (lease) => {
        const loaded = await loadCsrBank(engine, lease, picked, 0, picked.filters);
        return use(loaded, allFilters(loaded));
      });
    }
    const loaded = await useCsrBank(engine, bank);
    try {
      await use(loaded.value, filters);
    } finally {
      loaded.release();
    }
  }

  #fits(bank: FilterBank, first: number, last: number): boolean {
    const bytes = bank.form === "dense" ? bytesOfBank(bank, first, last) : bytesOfIndex(bank, first, last);
    return bytes <= this.limits.bankBytes;
  }
}

/** Whether looking at the changed filters alone pays. */
function fewChanged(changed: Uint8Array): boolean {
  let count = 0;
  for (const mark of changed) count += mark;
  return changed.length >= MANY_FILTERS && count <= MOST_CHANGED * changed.length;
}
