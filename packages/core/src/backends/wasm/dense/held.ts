/** Dense rows held by an engine: which search answers a question, and when bounds pay. */

import type { Pooled } from "../../../kernels/patches.ts";
import { pickFilters } from "../../../kernels/pick-filters.ts";
import { commonNorm, weightsFor } from "../../../kernels/rank.ts";
import { inMemory } from "../../../kernels/rows.ts";
import type {
  DenseRows,
  FilterBank,
  Groups,
  PatchLayer,
  Prototypes,
  Rows,
  Sum,
  TopFilters,
  TopRows,
} from "../../../kernels/shapes.ts";
import { Lock } from "../../host/counted.ts";
import type { Wanted } from "../../host/rows.ts";
import { borrowed, type Lease, Shared } from "../engine/memory.ts";
import type { WasmBank } from "../shared/bank.ts";
import { WasmRows } from "../shared/held.ts";
import type { RefineForm } from "../shared/refine.ts";
import type { Answer } from "../shared/search.ts";
import { addSumsDense } from "./add-sums.ts";
import { findLandmarks } from "./alike.ts";
import { bytesOfFilters, type LoadedBank, loadBank, useBank } from "./bank.ts";
import { basisCost, FEWEST_FEATURES, FEWEST_FILTERS, findBasis } from "./basis.ts";
import { boundFilters, boundRows, bytesOfBounds, type FilterBounds, type RowBounds, sliceRowBounds } from "./bounds.ts";
import { poolImages } from "./pool.ts";
import { rankSumsDense } from "./rank-sums.ts";
import { denseForm } from "./refine.ts";
import { blockLike, bytesOfRow, copyRows, type DenseBlock, placeDense, placeRead, sliceBlock } from "./rows.ts";
import { type Bounds, searchDenseRows, searchFull, searchPruned, searchSince } from "./search.ts";

/** Largest k for which bounds are tried: beyond, too many filters stay. */
const MOST_PRUNED = 64;
/** Bounds are tried when the full search is this many times the work of making them. */
const WORTH = 2;
/** Rows that show whether bounds prune, and the share of exact products above which they do not pay. Measured. */
const PROBE_ROWS = 256;
const MOST_EXACT = 0.3;
/** Values and weights beyond this could overflow a product that bounds rely on. */
const HUGE = 1e100;
/** Share of the memory that is left which bounds may take. */
const BOUNDS_SHARE = 0.5;

/** Bounds of both sides, in use. */
interface BoundsInUse extends Bounds {
  release(): void;
}

export class HeldDense extends WasmRows<DenseBlock> {
  /** Bounds of all rows, once some search was worth making them. */
  #bounds: Shared<RowBounds> | undefined;
  #prunes = true;
  readonly #lock = new Lock();

  part(from: number, to: number): HeldDense | undefined {
    const whole = this.resident;
    if (!whole) return undefined;
    const part = new HeldDense(this.source.slice(from, to), this.backend, this.engine, this.shelf, this.limits);
    const block = { ...sliceBlock(whole.value, from, to), first: 0 };
    whole.keep();
    part.resident = new Shared(block, this.engine.memory.lease(), () => whole.release());
    return part;
  }

  protected bytes(): number {
    return this.rows * bytesOfRow(this.source);
  }

  protected place(lease: Lease, rows: Rows, first: number): Promise<DenseBlock> {
    return placeDense(this.engine, lease, rows as DenseRows, first);
  }

  protected placeRead(lease: Lease): Promise<DenseBlock> {
    return placeRead(this.engine, lease, this.source);
  }

  /** Rows that were read are copied from where they are, not read again. */
  protected override async gather(rows: Uint32Array): Promise<Rows> {
    if (inMemory(this.source)) return super.gather(rows);
    return this.withResident(async (block) => (block ? copyRows(this.engine, block, rows) : super.gather(rows)));
  }

  /** The k strongest filters of all rows; entries that are not `wanted` are unspecified. */
  protected async search(bank: WasmBank, k: number, wanted: Wanted): Promise<TopFilters> {
    const { rows } = this;
    const filter = new Uint32Array(rows * k);
    const response = new Float64Array(rows * k);
    const most = Math.max(PROBE_ROWS, this.answersAtATime(k));
    await this.eachBlock(async (block) => {
      await this.#withBank(bank, block, k, async (loaded, bounds) => {
        for (let from = 0; from < block.rows; ) {
          const probing = bounds !== undefined && from === 0 && !wanted.since && !wanted.rows;
          const to = Math.min(block.rows, from + (probing ? PROBE_ROWS : most));
          const part = sliceBlock(block, from, to);
          const partBounds =
            this.#prunes && bounds ? { ...bounds, rows: sliceRowBounds(bounds.rows, from) } : undefined;
          await this.answer(part.rows, k, async (answer) => {
            const exact = await this.#searchPart(part, bank, loaded, partBounds, answer, wanted);
            this.exact += exact;
            if (probing) this.#prunes = exact <= MOST_EXACT * part.rows * bank.filters;
            this.copyAnswer(answer, part.rows, filter, response, part.first);
          });
          from = to;
        }
      });
    });
    return { rows, k, filter, response };
  }

  protected async searchRows(bank: WasmBank, filters: Uint32Array, k: number, divisor: Float64Array): Promise<TopRows> {
    const row = new Uint32Array(filters.length * k);
    const value = new Float64Array(filters.length * k);
    // Filters go in parts small enough for memory; each part meets all rows.
    const most = Math.min(this.#filtersAtATime(bank.host), this.answersAtATime(k));
    for (let from = 0; from < filters.length; from += most) {
      const part = filters.subarray(from, Math.min(filters.length, from + most));
      await this.answer(part.length, k, async (answer) => {
        await this.eachBlock(async (block, known, last) => {
          this.exact += await this.#searchRowsOf(block, bank, part, divisor, answer, { known, last });
        });
        this.copyAnswer(answer, part.length, row, value, from);
      });
    }
    return { filters: filters.length, k, row, value };
  }

  protected async rankSums(groups: Groups, distribution: Float64Array | undefined): Promise<FilterBank> {
    const n = this.features;
    const filters = groups.offsets.length - 1;
    const weights = this.home.spares.take(weightsFor(0, n, distribution), filters * n);
    await this.withResident((resident) =>
      rankSumsDense(this.engine, this.source, resident, groups, distribution, weights, this.limits),
    );
    const norm = new Float64Array(filters).fill(commonNorm(n, distribution));
    return { form: "dense", filters, features: n, weights, norm };
  }

  protected override addSums(groups: Groups, onto: readonly Sum[] | undefined): Promise<Sum[]> {
    const plainly = (): Promise<Sum[]> => super.addSums(groups, onto);
    return this.withResident((resident) => (resident ? addSumsDense(this.engine, resident, groups, onto) : plainly()));
  }

  protected override poolRows(layers: readonly PatchLayer[], features: number, out: Pooled): Promise<void> {
    return this.attempt(() => this.eachBlock((block) => poolImages(this.engine, block, layers, features, out)));
  }

  protected async refineForm(
    lease: Lease,
    start: Prototypes,
    resident: DenseBlock | undefined,
  ): Promise<RefineForm<DenseBlock>> {
    const block = resident ?? blockLike((await this.source.gather(Uint32Array.of(0))) as DenseRows);
    return denseForm(this.engine, lease, start, block);
  }

  protected override dropResident(): void {
    super.dropResident();
    this.#bounds?.release();
    this.#bounds = undefined;
  }

  #filtersAtATime(bank: FilterBank): number {
    return Math.max(1, Math.floor(this.limits.bankBytes / bytesOfFilters(bank, 1)));
  }

  /** Calls `work` with the filters loaded for the block, and bounds where they promise to pay; with neither if the bank does not fit. */
  async #withBank(
    bank: WasmBank,
    block: DenseBlock,
    k: number,
    work: (loaded: LoadedBank | undefined, bounds: Bounds | undefined) => Promise<void>,
  ): Promise<void> {
    if (bytesOfFilters(bank.host, bank.filters) > this.limits.bankBytes) return work(undefined, undefined);
    const loaded = await useBank(this.engine, bank, block);
    try {
      bank.pairs += block.rows * bank.filters;
      const bounds = await this.#boundsFor(block, bank, loaded.value, k);
      try {
        await work(loaded.value, bounds);
      } finally {
        bounds?.release();
      }
    } finally {
      loaded.release();
    }
  }

  async #searchPart(
    block: DenseBlock,
    bank: WasmBank,
    loaded: LoadedBank | undefined,
    bounds: Bounds | undefined,
    where: Answer,
    { since, rows, leading = false }: Wanted,
  ): Promise<number> {
    const answer = { ...where, leading };
    if (!loaded) return this.#searchRanges(block, bank.host, answer);
    if (!bounds) return searchFull(this.engine, block, loaded, answer, { known: false, last: true });
    if (since && answer.k === 1) return searchSince(this.engine, block, loaded, bounds, answer, since);
    const listed = rows && within(rows, block.first, block.first + block.rows);
    return searchPruned(this.engine, block, loaded, bounds, answer, listed);
  }

  /** A bank too large for memory: filters go in ranges, the answer is carried along. */
  async #searchRanges(block: DenseBlock, bank: FilterBank, answer: Answer): Promise<number> {
    let exact = 0;
    const most = this.#filtersAtATime(bank);
    for (let first = 0; first < bank.filters; first += most) {
      const last = Math.min(bank.filters, first + most);
      await borrowed(this.engine.memory, async (lease) => {
        const loaded = await loadBank(this.engine, lease, bank, first, last, block);
        const more = { known: first > 0, last: last === bank.filters };
        exact += await searchFull(this.engine, block, loaded, answer, more);
      });
    }
    return exact;
  }

  async #searchRowsOf(
    block: DenseBlock,
    bank: WasmBank,
    filters: Uint32Array,
    divisor: Float64Array,
    answer: Answer,
    more: { readonly known: boolean; readonly last: boolean },
  ): Promise<number> {
    const { engine } = this;
    if (bytesOfFilters(bank.host, bank.filters) > this.limits.bankBytes) {
      const picked = pickFilters(bank.host, filters);
      return borrowed(engine.memory, async (lease) => {
        const loaded = await loadBank(engine, lease, picked, 0, picked.filters, block);
        const places = Uint32Array.from(filters.keys());
        return searchDenseRows(engine, block, loaded, undefined, places, divisor, answer, more);
      });
    }
    const loaded = await useBank(engine, bank, block);
    const [rows, filterBounds] = [this.#bounds?.keep(), bank.known<FilterBounds>("bounds")];
    try {
      const ready =
        rows && filterBounds?.value.basis === rows.value.basis && filterBounds.value.loaded === loaded.value;
      const bounds = ready ? { rows: rows.value, filters: filterBounds.value } : undefined;
      return await searchDenseRows(engine, block, loaded.value, bounds, filters, divisor, answer, more);
    } finally {
      rows?.release();
      filterBounds?.release();
      loaded.release();
    }
  }

  /** Bounds of both sides where they promise to pay. */
  async #boundsFor(block: DenseBlock, bank: WasmBank, loaded: LoadedBank, k: number): Promise<BoundsInUse | undefined> {
    const { filters, features, layout } = loaded;
    if (!this.limits.bounds || !this.#prunes || k > MOST_PRUNED || k * 8 > filters) return undefined;
    if (filters < FEWEST_FILTERS || features < FEWEST_FEATURES) return undefined;
    if (!loaded.positive || (layout === "whole" && !loaded.equal)) return undefined;
    if (!(block.largest < HUGE && loaded.longest < HUGE)) return undefined;
    // One call makes bounds for these rows, the others wait and use them.
    return this.#lock.run(() => this.#makeBounds(block, bank, loaded));
  }

  async #makeBounds(block: DenseBlock, bank: WasmBank, loaded: LoadedBank): Promise<BoundsInUse | undefined> {
    const { memory } = this.engine;
    const { filters, features } = loaded;
    const known = this.resident?.value === block ? this.#bounds : undefined;
    if (!known && bank.pairs * features < WORTH * basisCost(block.rows, filters, features)) return undefined;
    const left = (memory.most - memory.used) * BOUNDS_SHARE;
    if (!known && bytesOfBounds(block.rows, filters) > left) {
      this.notes.add("bounds did not fit in memory: searches went without");
      return undefined;
    }
    // Whichever side is larger keeps its projections.
    const filterBounds = await bank.part<FilterBounds>(
      "bounds",
      (bounds) => bounds.loaded === loaded && (!known || bounds.basis === known.value.basis || filters >= block.rows),
      async () => {
        const basis = known?.value.basis.keep() ?? (await findBasis(this.engine, block, loaded));
        try {
          return await boundFilters(this.engine, loaded, block, basis);
        } finally {
          basis.release();
        }
      },
    );
    try {
      const { basis } = filterBounds.value;
      const rows = known?.value.basis === basis ? known.keep() : await boundRows(this.engine, block, basis);
      if (this.resident?.value === block && rows !== known) {
        this.#bounds?.release();
        this.#bounds = rows.keep();
      }
      await findLandmarks(this.engine, block, rows.value, filterBounds.value).catch((error: unknown) => {
        rows.release();
        throw error;
      });
      const release = (): void => {
        rows.release();
        filterBounds.release();
      };
      return { rows: rows.value, filters: filterBounds.value, release };
    } catch (error) {
      filterBounds.release();
      throw error;
    }
  }
}

/** Those of the ascending rows that lie in [from, to), counted from there. */
function within(rows: Uint32Array, from: number, to: number): Uint32Array {
  return rows.filter((r) => r >= from && r < to).map((r) => r - from);
}
