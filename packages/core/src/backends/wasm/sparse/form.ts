/**
 * Sparse rows in WebAssembly memory: which search answers a question. Sparse banks are searched through an inverted index, all
 * others with filters written out.
 */

import type { Pooled } from "../../../kernels/patches.ts";
import { denseSource, entriesOf, inMemory, numbersBelow } from "../../../kernels/rows.ts";
import type {
  CsrRows,
  FilterBank,
  Groups,
  PatchLayer,
  RowSource,
  Rows,
  Sum,
  TopFilters,
} from "../../../kernels/shapes.ts";
import type { HostBank } from "../../host/bank.ts";
import { PlainBlock, type RowBlock, type Wanted } from "../../host/block.ts";
import { Lock } from "../../host/counted.ts";
import { borrowed, type Lease, leased } from "../engine/memory.ts";
import { type Answer, type Place, WasmRows } from "../shared/rows.ts";
import { useCsrBank } from "./bank.ts";
import { type CsrIndex, isExact, isIndexable, isOfOneNorm, makeIndex, useIndex } from "./inverted-index.ts";
import { rankSumsCsr } from "./rank-sums.ts";
import { type CsrBlock, placeCsr, sliceCsr } from "./rows.ts";
import { searchCsrRows, searchDirect, searchIndex, searchIndexSince, useWrittenOut } from "./search.ts";

/** Up to this many filters are written out: less work than an index. */
const FEW_FILTERS = 2;
/** Rows of so large a share of values that are not zero meet filters that are written out, this many or more, as dense rows. */
const FULL = 0.15;
const MANY_WRITTEN = 16;
/** Looking only at changed filters pays while they are at most this share of many. Measured. */
const MOST_CHANGED = 0.25;
const MANY_FILTERS = 256;

export class SparseWasmRows extends WasmRows<CsrBlock> {
  readonly #x: CsrRows;
  /** The same rows for what has no kernel. */
  readonly #plain: PlainBlock;
  /** The same as dense rows, once that was less work. */
  #dense: RowBlock | undefined;
  readonly #asDense: () => Promise<RowBlock>;
  readonly #lock = new Lock();

  private constructor(place: Place, lease: Lease, block: CsrBlock, x: CsrRows, asDense: () => Promise<RowBlock>) {
    super(place, lease, block);
    this.#asDense = asDense;
    this.#x = x;
    this.#plain = new PlainBlock(x, place.tally);
  }

  /** Copies the rows of a source into memory. `placeDense` does so with dense rows. */
  static async place(
    source: RowSource,
    place: Place,
    placeDense: (rows: RowSource) => Promise<RowBlock>,
  ): Promise<SparseWasmRows> {
    const x = (inMemory(source) ?? (await source.gather(numbersBelow(source.rows)))) as CsrRows;
    const { engine } = place;
    const asDense = (): Promise<RowBlock> => placeDense(denseSource(x));
    return leased(engine.memory, async (lease) => {
      const block = await placeCsr(engine, lease, x);
      return new SparseWasmRows(place, lease, block, x, asDense);
    });
  }

  /** A product with a filter that is written out takes as long for each value as a dozen of a dense row. */
  override async search(bank: HostBank, k: number, wanted: Wanted): Promise<TopFilters> {
    const isFull = entriesOf(this.#x) >= FULL * this.rows * this.block.features;
    if (!isFull || bank.host.form === "sparse" || bank.filters < MANY_WRITTEN) return super.search(bank, k, wanted);
    const dense = await this.#lock.run(async () => {
      this.#dense ??= await this.#asDense();
      return this.#dense;
    });
    return dense.search(bank, k, wanted);
  }

  override release(): void {
    this.#dense?.release();
    super.release();
  }

  protected slice(from: number, to: number): CsrBlock {
    return sliceCsr(this.block, from, to);
  }

  protected async searching(
    bank: HostBank,
    k: number,
    { since }: Wanted,
    use: (search: (part: CsrBlock, answer: Answer) => Promise<number>) => Promise<void>,
  ): Promise<void> {
    const { engine } = this;
    const loaded = await useCsrBank(engine, bank);
    try {
      if (!isIndexable(loaded.value) || bank.filters <= FEW_FILTERS) {
        const written = await useWrittenOut(engine, bank, loaded.value);
        const search = (part: CsrBlock, answer: Answer): Promise<number> =>
          searchDirect(engine, part, loaded.value, written.value, answer);
        return await use(search).finally(() => written.release());
      }
      const whole = isExact(loaded.value, this.block) && isOfOneNorm(loaded.value);
      if (since && k === 1 && fewChanged(since.changed)) {
        const index = () => useIndex(engine, bank, loaded.value, whole);
        return await use((part, answer) => searchIndexSince(engine, part, loaded.value, index, whole, answer, since));
      }
      const index = await useIndex(engine, bank, loaded.value, whole);
      const search = (part: CsrBlock, answer: Answer): Promise<number> =>
        searchIndex(engine, part, loaded.value, index.value, answer);
      await use(search).finally(() => index.release());
    } finally {
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
    const loaded = await useCsrBank(engine, bank);
    const { value } = loaded;
    const find = borrowed(engine.memory, async (lease) => {
      let index: CsrIndex | undefined;
      if (isIndexable(value) && filters.length > FEW_FILTERS) {
        index = await makeIndex(engine, lease, value, filters, { whole: isExact(value, block), byNorm: false });
      }
      return searchCsrRows(engine, block, value, index, filters, divisor, answer);
    });
    return find.finally(() => loaded.release());
  }

  addSums(groups: Groups, onto: readonly Sum[] | undefined): Promise<Sum[]> {
    return this.#plain.addSums(groups, onto);
  }

  rankSums(groups: Groups, distribution: Float64Array | undefined): Promise<FilterBank> {
    return rankSumsCsr(this.engine, this.#x, this.block, groups, distribution, this.#plain);
  }

  pool(layers: readonly PatchLayer[], features: number, out: Pooled): Promise<void> {
    return this.#plain.pool(layers, features, out);
  }

  gather(rows: Uint32Array): Rows {
    return this.#plain.gather(rows);
  }
}

/** Whether looking at the changed filters alone pays. */
function fewChanged(changed: Uint8Array): boolean {
  let count = 0;
  for (const mark of changed) count += mark;
  return changed.length >= MANY_FILTERS && count <= MOST_CHANGED * changed.length;
}
