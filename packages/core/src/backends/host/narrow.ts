/**
 * Very wide sparse rows, in memory as narrow ones. A row of a few dozen entries may belong to millions of features; back ends
 * have tables with a place for each feature, so features that no row has are left out before rows are placed, and memory depends on
 * what is stored. Nothing else changes: features keep their order and feature i its lane (i mod 8), so products have the same
 * bits (`kernels/dot.ts`), and sums are ranked among all features.
 */

import { rankerFor } from "../../kernels/rank-sums.ts";
import { distinct, inMemory, lowerBound, numbersBelow, sourceOf } from "../../kernels/rows.ts";
import type { CsrRows, FilterBank, RowSource, Values, Weights } from "../../kernels/shapes.ts";
import { isDue } from "../turn.ts";
import { type Machine, PlainBlock, type RowBlock, type Tally } from "./block.ts";

/** Up to this many features tables are small: 8 MiB for each number that a feature needs. */
const NARROW = 2 ** 20;

/** Which features a narrow matrix has, and where. */
class Columns {
  /** Columns of the narrow matrix, with those that are no feature's. */
  readonly #count: number;
  /** Ascending: the features in use, and the column of each. */
  readonly #features: Uint32Array;
  readonly #columns: Uint32Array;

  constructor(x: CsrRows) {
    this.#features = distinct(x.indices.subarray(x.offsets[0], x.offsets[x.rows]));
    let next = 0;
    this.#columns = this.#features.map((i) => {
      const column = next + ((i - next) & 7); // the next one in the lane of the feature
      next = column + 1;
      return column;
    });
    this.#count = Math.max(1, next);
  }

  /** The feature of a column that has one. */
  featureOf(column: number): number {
    return this.#features[lowerBound(this.#columns, column)];
  }

  rows({ rows, offsets, indices, values }: CsrRows): CsrRows {
    const [from, to] = [offsets[0], offsets[rows]];
    return {
      form: "csr",
      rows,
      features: this.#count,
      offsets: offsets.map((offset) => offset - from),
      indices: indices.slice(from, to).map((i) => this.#columnOf(i)),
      values: values.subarray(from, to) as Values,
    };
  }

  /** The filters as the rows see them. */
  bank(bank: FilterBank): FilterBank {
    const features = this.#count;
    if (bank.form === "dense") {
      const weights = new (bank.weights.constructor as new (length: number) => Weights)(bank.filters * features);
      for (let f = 0; f < bank.filters; f++) {
        this.#features.forEach((i, j) => {
          weights[f * features + this.#columns[j]] = bank.weights[f * bank.features + i];
        });
      }
      return { ...bank, features, weights };
    }
    const columns = Int32Array.from(bank.indices, (i) => this.#columnOf(i));
    const offsets = new Uint32Array(bank.filters + 1);
    for (let f = 0; f < bank.filters; f++) {
      const own = columns.subarray(bank.offsets[f], bank.offsets[f + 1]);
      offsets[f + 1] = own.reduce((count, column) => (column < 0 ? count : count + 1), offsets[f]);
    }
    const indices = Uint32Array.from(columns.filter((column) => column >= 0));
    const weights = bank.weights.filter((_: number, e: number) => columns[e] >= 0) as Weights;
    return { ...bank, features, offsets, indices, weights };
  }

  /** The column of a feature, or -1 if no row has it. */
  #columnOf(feature: number): number {
    const at = lowerBound(this.#features, feature);
    return this.#features[at] === feature ? this.#columns[at] : -1;
  }
}

/** Whether rows have so many features that those without a value are left out. */
export function isWide({ form, features }: RowSource): boolean {
  return form === "csr" && features > NARROW;
}

/** Takes in wide rows without the features that none of them has. */
export async function placeNarrow(source: RowSource, machine: Machine, tally: Tally): Promise<RowBlock> {
  const x = (inMemory(source) ?? (await source.gather(numbersBelow(source.rows)))) as CsrRows;
  const columns = new Columns(x);
  const block = await machine.place(sourceOf(columns.rows(x)), tally);
  const plain = new PlainBlock(x, tally);
  return {
    rows: x.rows,
    seen: (bank) => columns.bank(bank),
    search: (bank, k) => block.search(bank, k, {}),
    searchRows: (bank, filters, k, divisor) => block.searchRows(bank, filters, k, divisor),
    addSums: (groups, onto) => plain.addSums(groups, onto),
    rankSums: async (groups, distribution) => {
      const ranker = rankerFor("csr", groups.offsets.length - 1, x.features, distribution);
      for (const { indices, values } of await block.addSums(groups, undefined)) {
        ranker.add({ indices: (indices as Uint32Array).map((column) => columns.featureOf(column)), values });
        if (isDue()) await tally.turn.pause();
      }
      return ranker.bank();
    },
    pool: () => Promise.reject(new Error("images are dense")),
    release: () => block.release(),
  };
}
