/**
 * How alike two rows are, and the rows most alike, as plain loops. They are the definition: every search gives exactly these rows and
 * these numbers, whatever it leaves out on its way.
 */

import { RanksimError, type Rows } from "@ranksim/core";
import { dotRow, insert } from "@ranksim/core/internal";

/** Spearman's rank correlation; the cosine of the angle between rows; or the distance of Euclid, with a minus sign. */
export type Similarity = "spearman" | "cosine" | "euclidean";

export const SIMILARITIES: readonly Similarity[] = ["spearman", "cosine", "euclidean"];

/**
 * Rows as they are compared: for Spearman their doubled ranks less the mean rank, else themselves. A sparse row of ranks has its
 * base, what its zeros rank, added to every feature; its entries are what they rank beyond that.
 */
export interface Vectors {
  readonly similarity: Similarity;
  readonly rows: Rows;
  readonly base: Float64Array;
  /** The sum of squares of each row. */
  readonly squares: Float64Array;
}

/** The rows most like each of some, most alike first, equal ones by row number: entry `r * k + j`. */
export interface Neighbours {
  readonly k: number;
  readonly rows: Uint32Array;
  readonly similarities: Float64Array;
}

/** Rows as vectors, with their squares. Refuses values whose squares no number holds. */
export function vectorsOf(
  similarity: Similarity,
  rows: Rows,
  base: Float64Array = new Float64Array(rows.rows),
): Vectors {
  const squares = new Float64Array(rows.rows);
  const vectors = { similarity, rows, base, squares };
  const query = new Query(vectors);
  for (let r = 0; r < rows.rows; r++) {
    query.open(r);
    squares[r] = query.product(vectors, r);
    if (squares[r] < MOST_SQUARES && (squares[r] > 1 / MOST_SQUARES || query.isZero())) continue;
    throw new RanksimError(
      "bad-matrix",
      `row ${r}: expected 0 or a sum of squares from 1e-150 to 1e150, found ${squares[r]}: multiply all rows by a number`,
    );
  }
  return vectors;
}

/** Beyond, products of sums of squares, and what is counted on the way, would not be numbers. */
const MOST_SQUARES = 1e150;

/** One row at a time, compared with rows of others. */
export class Query {
  readonly #x: Vectors;
  /** The row, written out. */
  readonly #values: Float64Array;
  #row = 0;

  constructor(x: Vectors) {
    this.#x = x;
    this.#values = new Float64Array(x.rows.features);
  }

  /** Takes row r as the query. */
  open(r: number): void {
    const { rows } = this.#x;
    if (rows.form === "csr") {
      for (let e = rows.offsets[this.#row]; e < rows.offsets[this.#row + 1]; e++) this.#values[rows.indices[e]] = 0;
      for (let e = rows.offsets[r]; e < rows.offsets[r + 1]; e++) this.#values[rows.indices[e]] = rows.values[e];
    } else {
      const n = rows.features;
      for (let i = 0; i < n; i++) this.#values[i] = rows.values[r * n + i];
    }
    this.#row = r;
  }

  isZero(): boolean {
    return this.#values.every((value) => value === 0);
  }

  /** How alike the query and row s of `y` are. */
  similarity(y: Vectors, s: number): number {
    if (y.similarity === "euclidean") return 0 - Math.sqrt(this.#distance(y.rows, s));
    const squares = this.#x.squares[this.#row] * y.squares[s];
    if (squares === 0) return 0;
    // The root of a square is exact: rows are entirely like themselves.
    return Math.max(-1, Math.min(1, this.product(y, s) / Math.sqrt(squares)));
  }

  /** Bases add n times their product, and as centred ranks add up to 0, take it away twice where they meet entries. */
  product(y: Vectors, s: number): number {
    const bases = y.rows.features * this.#x.base[this.#row] * y.base[s];
    return dotRow(y.rows, s, this.#values) - bases;
  }

  /** The sum of squared differences, in the lanes of the inner product: equal differences of sparse and dense rows give equal bits. */
  #distance(y: Rows, s: number): number {
    const lanes = new Float64Array(8);
    const add = (i: number, difference: number) => {
      lanes[i & 7] += difference * difference;
    };
    const x = this.#values;
    if (y.form === "dense") {
      for (let i = 0, at = s * y.features; i < x.length; i++) add(i, x[i] - y.values[at + i]);
    } else {
      const own = this.#x.rows as typeof y;
      const [lastOwn, last] = [own.offsets[this.#row + 1], y.offsets[s + 1]];
      let [a, b] = [own.offsets[this.#row], y.offsets[s]];
      while (a < lastOwn || b < last) {
        const i = Math.min(a < lastOwn ? own.indices[a] : x.length, b < last ? y.indices[b] : x.length);
        const other = b < last && y.indices[b] === i ? y.values[b++] : 0;
        if (a < lastOwn && own.indices[a] === i) a++;
        add(i, x[i] - other);
      }
    }
    const [l0, l1, l2, l3, l4, l5, l6, l7] = lanes;
    return l0 + l4 + (l2 + l6) + (l1 + l5 + (l3 + l7));
  }
}

/** The k of the listed rows (ascending; all where there is no list) most like the open query, to entry `at` of the answer. */
export function nearestByLoop(
  query: Query,
  y: Vectors,
  listed: Uint32Array | undefined,
  to: Neighbours,
  at: number,
): void {
  const { k, rows, similarities } = to;
  similarities.fill(Number.NEGATIVE_INFINITY, at, at + k);
  const count = listed?.length ?? y.rows.rows;
  for (let j = 0; j < count; j++) {
    const s = listed ? listed[j] : j;
    insert(query.similarity(y, s), s, similarities, rows, at, k);
  }
}
