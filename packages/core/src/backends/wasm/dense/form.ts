/** Dense rows in WebAssembly memory: which search answers a question, and when bounds pay. */

import type { Pooled } from "../../../kernels/patches.ts";
import { commonNorm, weightsFor } from "../../../kernels/rank.ts";
import type { FilterBank, Groups, PatchLayer, RowSource, Rows, Sum } from "../../../kernels/shapes.ts";
import type { HostBank } from "../../host/bank.ts";
import type { Wanted } from "../../host/block.ts";
import { Lock, type Shared } from "../../host/counted.ts";
import { OutOfMemory } from "../../host/out-of-memory.ts";
import { borrowed, leased } from "../engine/memory.ts";
import { type Answer, type Place, WasmRows } from "../shared/rows.ts";
import { addSumsDense } from "./add-sums.ts";
import { findLandmarks } from "./alike.ts";
import { type LoadedBank, useBank } from "./bank.ts";
import { type Basis, basisCost, FEWEST_FEATURES, FEWEST_FILTERS, findBasis } from "./basis.ts";
import { boundFilters, boundRows, bytesOfBounds, type FilterBounds, type RowBounds, sliceRowBounds } from "./bounds.ts";
import { type Panels, searchPanels, usePanels } from "./panels.ts";
import { poolImages } from "./pool.ts";
import { rankSumsDense } from "./rank-sums.ts";
import { copyRows, type DenseBlock, placeDense, sliceBlock } from "./rows.ts";
import { type Bounds, searchDenseRows, searchFull, searchPruned, searchSince } from "./search.ts";

/** Largest k for which bounds are tried: beyond, too many filters stay. */
const MOST_PRUNED = 64;
/** Bounds are tried when the full search is this many times the work of making them. */
const WORTH = 2;
/** Where there are more rows than so many, the first show whether bounds prune. */
const MANY_ROWS = 1024;
/** How many of them, and the share of exact products above which bounds do not pay: of whole numbers, and of others, whose exact products are slow. Measured. */
const TRIALS = { whole: { rows: 256, most: 0.3 }, ordered: { rows: 64, most: 0.05 } } as const;
/** Values and weights beyond this could overflow a product that bounds rely on. */
const HUGE = 1e100;
/** Share of the memory that is left which bounds may take. */
const BOUNDS_SHARE = 0.5;

/** Bounds of both sides, in use. */
interface BoundsInUse extends Bounds {
  release(): void;
}

export class DenseWasmRows extends WasmRows<DenseBlock> {
  /** Bounds of all rows, once some search was worth making them. */
  #bounds: Shared<RowBounds> | undefined;
  #prunes = true;
  readonly #lock = new Lock();

  /** Copies the rows of a source into memory as they come. */
  static place(source: RowSource, place: Place): Promise<DenseWasmRows> {
    const { engine } = place;
    return leased(
      engine.memory,
      async (lease) => new DenseWasmRows(place, lease, await placeDense(engine, lease, source)),
    );
  }

  protected slice(from: number, to: number): DenseBlock {
    return sliceBlock(this.block, from, to);
  }

  protected async searching(
    bank: HostBank,
    k: number,
    { since, rows, leading = false }: Wanted,
    use: (search: (part: DenseBlock, answer: Answer) => Promise<number>) => Promise<void>,
  ): Promise<void> {
    const { engine } = this;
    const loaded = await useBank(engine, bank, this.block);
    let panels: Promise<Shared<Panels> | undefined> | undefined;
    const full = async (part: DenseBlock, answer: Answer): Promise<number> => {
      panels ??= usePanels(engine, bank, loaded.value, this.block, k);
      const packed = (await panels)?.value;
      return packed ? searchPanels(engine, part, packed, answer) : searchFull(engine, part, loaded.value, answer);
    };
    try {
      bank.pairs += this.rows * bank.filters;
      const bounds = await this.#boundsFor(bank, loaded.value, k);
      try {
        await use((part, where) => {
          const answer = { ...where, leading };
          if (!bounds) return full(part, answer);
          const own = { ...bounds, rows: sliceRowBounds(bounds.rows, part.first) };
          if (since && k === 1) return searchSince(engine, part, loaded.value, own, answer, since);
          return searchPruned(engine, part, loaded.value, own, answer, rows && within(rows, part));
        });
      } finally {
        bounds?.release();
      }
    } finally {
      const packed = await panels?.catch(() => undefined); // the search already failed with that
      packed?.release();
      loaded.release();
    }
  }

  protected async findRows(
    bank: HostBank,
    filters: Uint32Array,
    divisor: Float64Array,
    answer: Answer,
  ): Promise<number> {
    const { engine, block } = this;
    const loaded = await useBank(engine, bank, block);
    const [rows, filterBounds] = [this.#bounds?.keep(), bank.known<FilterBounds>("bounds")];
    try {
      const ready =
        rows && filterBounds?.value.basis === rows.value.basis && filterBounds.value.loaded === loaded.value;
      const bounds = ready ? { rows: rows.value, filters: filterBounds.value } : undefined;
      return await searchDenseRows(engine, block, loaded.value, bounds, filters, divisor, answer);
    } finally {
      rows?.release();
      filterBounds?.release();
      loaded.release();
    }
  }

  addSums(groups: Groups, onto: readonly Sum[] | undefined): Promise<Sum[]> {
    return addSumsDense(this.engine, this.block, groups, onto);
  }

  async rankSums(groups: Groups, distribution: Float64Array | undefined): Promise<FilterBank> {
    const { features } = this.block;
    const filters = groups.offsets.length - 1;
    const weights = this.context.spares.take(weightsFor(0, features, distribution), filters * features);
    await rankSumsDense(this.engine, this.block, groups, distribution, weights);
    const norm = new Float64Array(filters).fill(commonNorm(features, distribution));
    return { form: "dense", filters, features, weights, norm };
  }

  pool(layers: readonly PatchLayer[], features: number, out: Pooled): Promise<void> {
    return poolImages(this.engine, this.block, layers, features, out);
  }

  gather(rows: Uint32Array): Rows {
    return copyRows(this.engine, this.block, rows);
  }

  override release(): void {
    this.#bounds?.release();
    super.release();
  }

  /** Whether bounds prune among the first rows: for many of them that is found out before all have bounds. */
  async #prunesFirst(loaded: LoadedBank, filters: FilterBounds, basis: Shared<Basis>, k: number): Promise<boolean> {
    const { engine } = this;
    const trial = TRIALS[loaded.layout === "whole" ? "whole" : "ordered"];
    const first = this.slice(0, trial.rows);
    const rows = await boundRows(engine, first, basis);
    const found = borrowed(engine.memory, (lease) => {
      const answer = { k, ids: lease.take(first.rows * k * 4), values: lease.take(first.rows * k * 8) };
      return searchPruned(engine, first, loaded, { rows: rows.value, filters }, answer);
    });
    const exact = await found.finally(() => rows.release());
    this.tally.exact += exact;
    return exact <= trial.most * first.rows * loaded.filters;
  }

  /** Bounds of both sides where they promise to pay. */
  async #boundsFor(bank: HostBank, loaded: LoadedBank, k: number): Promise<BoundsInUse | undefined> {
    const { filters, features, layout } = loaded;
    if (!this.#prunes || k > MOST_PRUNED || k * 8 > filters) return undefined;
    if (filters < FEWEST_FILTERS || features < FEWEST_FEATURES) return undefined;
    if (!loaded.positive || (layout === "whole" && !loaded.equal)) return undefined;
    if (!(this.block.largest < HUGE && loaded.longest < HUGE)) return undefined;
    // One call makes bounds for these rows, the others wait and use them.
    return this.#lock.run(async () => {
      try {
        return await this.#makeBounds(bank, loaded, k);
      } catch (error) {
        if (error instanceof OutOfMemory) return this.#withoutBounds();
        throw error;
      }
    });
  }

  /** Bounds only save work. */
  #withoutBounds(): undefined {
    this.tally.notes.add("bounds did not fit in memory: searches went without");
  }

  async #makeBounds(bank: HostBank, loaded: LoadedBank, k: number): Promise<BoundsInUse | undefined> {
    const { block } = this;
    const { memory } = this.engine;
    const { filters, features } = loaded;
    const known = this.#bounds;
    if (!known && bank.pairs * features < WORTH * basisCost(block.rows, filters, features)) return undefined;
    const left = (memory.most - memory.used) * BOUNDS_SHARE;
    if (!known && bytesOfBounds(block.rows, filters) > left) return this.#withoutBounds();
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
      if (!known && block.rows > MANY_ROWS && !(await this.#prunesFirst(loaded, filterBounds.value, basis, k))) {
        this.#prunes = false;
        filterBounds.release();
        return undefined;
      }
      const rows = known?.value.basis === basis ? known.keep() : await boundRows(this.engine, block, basis);
      if (rows !== known) {
        known?.release();
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

/** Those of the ascending rows that lie in a part, counted from there. */
function within(rows: Uint32Array, { first, rows: count }: DenseBlock): Uint32Array {
  return rows.filter((r) => r >= first && r < first + count).map((r) => r - first);
}
