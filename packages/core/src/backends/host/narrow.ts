/**
 * Very wide sparse matrices, held as narrow ones. A row of a few dozen entries may belong to millions of features; back ends
 * have tables with a place for each feature, so features that no row has are left out before a matrix is held, and memory depends on
 * what is stored. Nothing else changes: feature i keeps its lane (i mod 8) and its order within the lane, so products have the same
 * bits (`kernels/dot.ts`), and ranks among fewer features say what the ranks among all of them are.
 */

import { commonNorm, tieWeight, weightsFor } from "../../kernels/rank.ts";
import { inMemory, sourceOf } from "../../kernels/rows.ts";
import type {
  CsrRows,
  FilterBank,
  Groups,
  Prototypes,
  RowSource,
  SparseBank,
  TopFilters,
  TopRows,
  Weights,
} from "../../kernels/shapes.ts";
import type { HeldBank, HeldRows, Refining, Work } from "../contract.ts";
import type { Home, HostBank } from "./bank.ts";
import { HostRows } from "./rows.ts";
import { holdStreamed } from "./streamed.ts";

/** Up to this many features tables are small: 8 MiB for each number that a feature needs. */
const NARROW = 2 ** 20;
/** Lanes of the inner product. */
const LANES = 8;

/**
 * Holds rows by `hold`, without the features that none of them has where there are very many. Rows that have to be read pass through
 * as they are if they do not fit in memory.
 */
export async function holdNarrow(
  source: RowSource,
  home: Home,
  hold: (source: RowSource) => Promise<HeldRows>,
): Promise<HeldRows> {
  const x = inMemory(source);
  if (!x) return holdStreamed(source, hold, (rows) => holdNarrow(rows, home, hold));
  if (x.form !== "csr" || x.features <= NARROW) return hold(source);
  const columns = Columns.of(x);
  if (columns.count >= x.features) return hold(source);
  return new NarrowRows(source, await hold(sourceOf(columns.rows(x))), columns, home, () => hold(source));
}

/** Which features a narrow matrix has, and where. */
class Columns {
  /** Features of the wide matrix. */
  readonly features: number;
  /** Columns of the narrow one. At least one is no feature's, so that there are always zeros to compare ranks with. */
  readonly count: number;
  /** Ascending: the features in use, and the column of each. */
  readonly #used: Uint32Array;
  readonly #columns: Uint32Array;
  /** The feature of each column; a column without one has `features`. */
  readonly #featureOf: Uint32Array;

  private constructor(features: number, used: Uint32Array) {
    this.features = features;
    this.#used = used;
    const taken = new Uint32Array(LANES);
    this.#columns = used.map((i) => taken[i % LANES]++ * LANES + (i % LANES));
    this.count = (Math.max(...taken) + 1) * LANES;
    this.#featureOf = new Uint32Array(this.count).fill(features);
    used.forEach((i, j) => {
      this.#featureOf[this.#columns[j]] = i;
    });
  }

  static of(x: CsrRows): Columns {
    const sorted = x.indices.slice(x.offsets[0], x.offsets[x.rows]).sort();
    return new Columns(
      x.features,
      sorted.filter((i, j) => j === 0 || i !== sorted[j - 1]),
    );
  }

  /** The column of a feature, or -1 if no row has it. */
  columnOf(feature: number): number {
    let [low, high] = [0, this.#used.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#used[middle] < feature) low = middle + 1;
      else high = middle;
    }
    return this.#used[low] === feature ? this.#columns[low] : -1;
  }

  rows(x: CsrRows): CsrRows {
    const offsets = x.offsets.map((offset) => offset - x.offsets[0]);
    const entries = sorted(
      offsets,
      (e) => this.columnOf(x.indices[x.offsets[0] + e]),
      (e) => x.values[x.offsets[0] + e],
    );
    const values = new (x.values.constructor as new (length: number) => typeof x.values)(entries.numbers.length);
    values.set(entries.numbers);
    return { form: "csr", rows: x.rows, features: this.count, offsets, indices: entries.ids, values };
  }

  /** The filters as the rows see them. */
  bank(bank: FilterBank): FilterBank {
    const { filters, norm } = bank;
    const room = bank.weights.constructor as new (length: number) => Weights;
    if (bank.form === "dense") {
      const weights = new room(filters * this.count);
      for (let f = 0; f < filters; f++) {
        this.#featureOf.forEach((i, c) => {
          if (i < this.features) weights[f * this.count + c] = bank.weights[f * this.features + i];
        });
      }
      return { form: "dense", filters, features: this.count, weights, norm };
    }
    const columns: number[] = [];
    const weights: number[] = [];
    const offsets = new Uint32Array(filters + 1);
    for (let f = 0; f < filters; f++) {
      for (let e = bank.offsets[f]; e < bank.offsets[f + 1]; e++) {
        const column = this.columnOf(bank.indices[e]);
        if (column < 0) continue;
        columns.push(column);
        weights.push(bank.weights[e]);
      }
      offsets[f + 1] = columns.length;
    }
    const exceptions = sorted(
      offsets,
      (e) => columns[e],
      (e) => weights[e],
    );
    const kept = new room(columns.length);
    kept.set(exceptions.numbers);
    return { ...bank, features: this.count, offsets, indices: exceptions.ids, weights: kept };
  }

  /** Filters ranked among the columns, ranked among all features. */
  widen(bank: SparseBank, distribution: Float64Array | undefined): SparseBank {
    const { filters, offsets } = bank;
    const base = new Float64Array(filters);
    const ranks = new Float64Array(bank.weights.length);
    for (let f = 0; f < filters; f++) {
      const [from, to] = [offsets[f], offsets[f + 1]];
      base[f] = this.#widenFilter(
        bank.weights.subarray(from, to),
        bank.base[f],
        distribution,
        ranks.subarray(from, to),
      );
    }
    const exceptions = sorted(
      offsets,
      (e) => this.#featureOf[bank.indices[e]],
      (e) => ranks[e],
    );
    const weights = weightsFor(ranks.length, this.features, distribution);
    weights.set(exceptions.numbers);
    const norm = new Float64Array(filters).fill(commonNorm(this.features, distribution));
    return { form: "sparse", filters, features: this.features, base, offsets, indices: exceptions.ids, weights, norm };
  }

  /** Ties span the same features below 0, as many more at 0 as were left out, and the same above, higher by the number left out. */
  #widenFilter(
    narrow: Weights,
    base: number,
    distribution: Float64Array | undefined,
    out: Float64Array, // out: the weight of each exception
  ): number {
    const left = this.features - this.count;
    const ties = new Map<number, number>();
    for (const weight of narrow) ties.set(weight, (ties.get(weight) ?? 0) + 1);
    ties.set(base, (ties.get(base) ?? 0) + this.count - narrow.length);
    const wide = new Map<number, number>();
    for (const [weight, size] of ties) {
      // A tie of `size` after `first` others has the doubled rank 2 * first + size + 1.
      const first = (weight - size - 1) / 2 + (weight > base ? left : 0);
      wide.set(weight, tieWeight(first, first + size + (weight === base ? left : 0), distribution));
    }
    narrow.forEach((weight, e) => {
      out[e] = wide.get(weight) as number;
    });
    return wide.get(base) as number;
  }
}

/** The entries between each two offsets, sorted by id. */
function sorted(
  offsets: Uint32Array,
  idOf: (e: number) => number,
  numberOf: (e: number) => number,
): { ids: Uint32Array; numbers: Float64Array } {
  const entries = offsets[offsets.length - 1];
  const ids = new Uint32Array(entries);
  const numbers = new Float64Array(entries);
  for (let r = 0; r + 1 < offsets.length; r++) {
    const [from, to] = [offsets[r], offsets[r + 1]];
    const list = Array.from({ length: to - from }, (_, j) => ({ id: idOf(from + j), number: numberOf(from + j) }));
    list.sort((a, b) => a.id - b.id);
    list.forEach(({ id, number }, j) => {
      ids[from + j] = id;
      numbers[from + j] = number;
    });
  }
  return { ids, numbers };
}

/** Rows of many features, held without those that none of them has. */
class NarrowRows extends HostRows<HostBank> {
  readonly #held: HeldRows;
  readonly #columns: Columns;
  readonly #holdWide: () => Promise<HeldRows>;

  /** `held` has the rows with the columns alone. */
  constructor(source: RowSource, held: HeldRows, columns: Columns, home: Home, holdWide: () => Promise<HeldRows>) {
    super(source, held.backend, held.turn, home);
    this.#held = held;
    this.#columns = columns;
    this.#holdWide = holdWide;
  }

  override topRows(bank: HeldBank, filters: Uint32Array, k: number): Promise<TopRows> {
    return this.#withNarrow(this.checked(bank), (narrow) => this.#held.topRows(narrow, filters, k));
  }

  override work(): Work {
    const work = this.#held.work();
    return { ...work, notes: [...new Set([...work.notes, ...this.notes])] };
  }

  protected search(bank: HostBank, k: number): Promise<TopFilters> {
    return this.#withNarrow(bank, (narrow) => this.#held.topFilters(narrow, k));
  }

  protected searchRows(): Promise<TopRows> {
    throw new Error("the strongest rows are found among the columns");
  }

  protected async rankSums(groups: Groups, distribution: Float64Array | undefined): Promise<FilterBank> {
    const ranked = await this.#held.sum(groups).rank();
    try {
      return this.#columns.widen((await ranked.read()) as SparseBank, distribution);
    } finally {
      ranked.release();
    }
  }

  /** All rows of the back end may meet it. */
  protected bankOf(bank: FilterBank): HostBank {
    return this.#held.load(bank) as HostBank;
  }

  /** Prototypes have all features, so the rows that move them have to as well. */
  protected async refineRows(start: Prototypes): Promise<Refining> {
    const wide = await this.#holdWide();
    try {
      const refining = await wide.refine(start); // keeps the rows it needs
      for (const note of wide.work().notes) this.notes.add(note);
      return refining;
    } finally {
      wide.release();
    }
  }

  protected free(): void {
    this.#held.release();
  }

  async #withNarrow<T>(wide: HostBank, ask: (narrow: HeldBank) => Promise<T>): Promise<T> {
    return wide.use(async () => {
      const narrow = this.#held.load(this.#columns.bank(wide.host));
      return ask(narrow).finally(() => narrow.release());
    });
  }
}
