/**
 * Rows as whole numbers of 16 bits, which back ends compare many times as fast as others, and what their rounding can hide. A sketch
 * decides which rows are looked at, never what is answered.
 *
 * A row is a vector v, a query a vector u, and u·v puts rows in the order of their similarity. For cosine and Spearman v has length 1. For
 * Euclid v is the row and, some features more, |row|² over twice their number times g, where u has -g; all v are then divided by the longest.
 * Stored is w = S·v + zero, rounded, and of queries q = c·u, rounded, so that (w·q - zero·Σq) / (c·S) is u·v but for what rounding adds: at
 * most |u|·E/S + |q - c·u|·(S + E)/(c·S), where E is the longest w - S·v - zero.
 */

import { Csr, Dense, type FilterBank, type Matrix } from "@ranksim/core";
import type { Vectors } from "./similarity.ts";

/** Largest value of a query. Beyond, products of many features would not fit 32 bits. */
const MOST_ASKED = 2047;
/** Most of 16 bits less the middle rank, which back ends take off. */
const MOST_STORED = 32_700;
/** Products and sums of back ends stay below. */
const MOST_PRODUCT = 2 ** 31 * 0.99;
/** What sums of float64 may be off by, of the largest similarity. */
const SLACK = 1e-9;

/** Rows of an index. */
export interface Sketch {
  readonly bank: FilterBank;
  readonly zero: number;
  /** S, E, and what v was multiplied by. */
  readonly scale: number;
  readonly error: number;
  readonly factor: number;
  readonly added: Added;
}

/** Features that Euclid adds: how many, and g, at most eight times the largest value. */
export interface Added {
  readonly count: number;
  readonly value: number;
}

/** Queries. */
export interface SketchedQueries {
  readonly rows: Matrix;
  /** The similarity that no row with the response `response` to query r exceeds. */
  limit(r: number, response: number, to: Sketch): number;
}

/** The numbers of one row after the other: of its entries and of the features added; all others are `others`. */
class Row {
  readonly values: Float64Array;
  count = 0;
  others = 0;
  readonly #x: Vectors;
  readonly #added: Added;

  constructor(x: Vectors, added: Added) {
    this.#x = x;
    this.#added = added;
    this.values = new Float64Array(x.rows.features + added.count);
  }

  /** Row r times `by`; `base`: whether it has its base, `each`: what each added feature is. */
  take(r: number, by: number, base: boolean, each: number): void {
    const { rows } = this.#x;
    const n = rows.features;
    const from = rows.form === "dense" ? r * n : rows.offsets[r];
    const count = rows.form === "dense" ? n : rows.offsets[r + 1] - from;
    const more = base ? this.#x.base[r] : 0;
    for (let e = 0; e < count; e++) this.values[e] = (rows.values[from + e] + more) * by;
    this.values.fill(each * by, count, count + this.#added.count);
    this.count = count + this.#added.count;
    this.others = more * by;
  }

  /** The features of sparse row r, the added ones after all others. */
  features(r: number, out: Uint32Array, at: number): void {
    const { rows } = this.#x;
    if (rows.form === "dense") return;
    const [from, to] = [rows.offsets[r], rows.offsets[r + 1]];
    out.set(rows.indices.subarray(from, to), at);
    for (let e = 0; e < this.#added.count; e++) out[at + to - from + e] = rows.features + e;
  }
}

/** What Euclid adds to such rows: as many features as keep g small. */
export function addedFor({ similarity, squares, rows }: Vectors): Added {
  if (similarity !== "euclidean") return { count: 0, value: 0 };
  const largest = Math.max(largestOf(rows.values), 1e-150);
  const longest = largestOf(squares);
  const count = Math.max(1, Math.ceil(longest / (16 * largest * largest)));
  const value = Math.max(longest / (2 * count * largest), largest);
  return { count, value: Number.isInteger(largest) ? Math.ceil(value) : value };
}

/** The rows in the given order. */
export function sketchRows(x: Vectors, order: Uint32Array, added: Added): Sketch {
  const isEuclid = x.similarity === "euclidean";
  const features = x.rows.features + added.count;
  const each = (of: number) => (isEuclid ? of / (2 * added.count * added.value) : 0);
  const longest = largestOf(x.squares.map((of) => of + added.count * square(each(of))));
  const factor = longest === 0 ? 1 : 1 / Math.sqrt(longest);
  const row = new Row(x, added);
  const take = (r: number) => {
    const own = x.squares[r];
    row.take(r, isEuclid ? factor : own === 0 ? 0 : 1 / Math.sqrt(own), true, each(own));
  };
  let [least, most] = [0, 0];
  for (const r of order) {
    take(r);
    const [low, high] = rangeOf(row);
    least = Math.min(least, low);
    most = Math.max(most, high);
  }
  const { scale, zero } = scaleFor(features, least, most);
  const { form } = x.rows;
  const offsets = new Uint32Array(order.length + 1);
  for (let j = 0; j < order.length; j++) {
    const own = x.rows.form === "csr" ? x.rows.offsets[order[j] + 1] - x.rows.offsets[order[j]] : x.rows.features;
    offsets[j + 1] = offsets[j] + own + added.count;
  }
  const weights = new Uint16Array(offsets[order.length]);
  const indices = new Uint32Array(form === "csr" ? weights.length : 0);
  const base = new Float64Array(order.length);
  let error = 0;
  for (let j = 0; j < order.length; j++) {
    take(order[j]);
    base[j] = Math.round(row.others * scale) + zero;
    const others = (features - row.count) * square(base[j] - zero - row.others * scale);
    error = Math.max(error, Math.sqrt(others + store(row, scale, zero, weights, offsets[j])));
    row.features(order[j], indices, offsets[j]);
  }
  const facts = { filters: order.length, features, weights, norm: new Float64Array(order.length).fill(1) };
  const bank: FilterBank = form === "dense" ? { form, ...facts } : { form: "sparse", base, offsets, indices, ...facts };
  return { bank, zero, scale, error, factor, added };
}

/** Queries, or the rows that lists are learned from. */
export function sketchQueries(x: Vectors, added: Added): SketchedQueries {
  const isEuclid = x.similarity === "euclidean";
  const { form, rows, features, values: given } = x.rows;
  const [by, sum, lost, length] = [0, 1, 2, 3].map(() => new Float64Array(rows));
  const own = form === "dense" ? rows * features : x.rows.offsets[rows] - x.rows.offsets[0];
  // Bytes are whole and small as they are.
  const isKept = form === "dense" && !isEuclid && given instanceof Uint8Array;
  const values = isKept ? given : new Int16Array(own + rows * added.count);
  const indices = new Uint32Array(form === "csr" ? values.length : 0);
  const offsets = new Uint32Array(rows + 1);
  const row = new Row(x, added);
  for (let r = 0; r < rows; r++) {
    // As v adds up to 0 where there are bases, u·v is without that of u what it is with it.
    row.take(r, 1, false, -added.value);
    offsets[r + 1] = offsets[r] + row.count;
    by[r] = scaleOf(row);
    for (let e = 0; e < row.count; e++) {
      const v = row.values[e];
      const q = Math.round(v * by[r]);
      if (!isKept) values[offsets[r] + e] = q;
      sum[r] += q;
      lost[r] += square(q - v * by[r]);
      length[r] += v * v;
    }
    row.features(r, indices, offsets[r]);
  }
  const limit = (r: number, response: number, { zero, scale, error, factor }: Sketch): number => {
    const own = x.squares[r];
    const product =
      (response - zero * sum[r]) / (by[r] * scale) +
      (Math.sqrt(length[r]) * error) / scale +
      (Math.sqrt(lost[r]) * (scale + error)) / (by[r] * scale);
    if (!isEuclid) return own === 0 ? Number.POSITIVE_INFINITY : product / Math.sqrt(own) + SLACK;
    return 0 - Math.sqrt(Math.max(0, own - (2 * product) / factor - SLACK * (own + square(1 / factor))));
  };
  const width = features + added.count;
  return { rows: form === "dense" ? Dense.of(values, rows, width) : Csr.of(offsets, indices, values, width), limit };
}

/** Stores w; the sum of the squares of what rounding takes. */
function store({ count, values }: Row, scale: number, zero: number, out: Uint16Array, at: number): number {
  let squares = 0;
  for (let e = 0; e < count; e++) {
    const v = values[e] * scale;
    const w = Math.round(v);
    out[at + e] = w + zero;
    squares += square(w - v);
  }
  return squares;
}

function rangeOf({ count, values, others }: Row): [number, number] {
  let [least, most] = [others, others];
  for (let e = 0; e < count; e++) {
    if (values[e] < least) least = values[e];
    else if (values[e] > most) most = values[e];
  }
  return [least, most];
}

/** c: 1 where the values are whole and small, else what makes the largest as large as it may be. */
function scaleOf({ count, values }: Row): number {
  let [largest, isWhole] = [0, true];
  for (let e = 0; e < count; e++) {
    largest = Math.max(largest, Math.abs(values[e]));
    isWhole &&= Number.isInteger(values[e]);
  }
  return (isWhole && largest <= MOST_ASKED) || largest === 0 ? 1 : MOST_ASKED / largest;
}

/** The largest S for which stored numbers fit 16 bits and products 32 (no smaller than a thirtieth of what fits 16), and where 0 is stored. */
function scaleFor(n: number, least: number, most: number): { readonly scale: number; readonly zero: number } {
  const fits = MOST_STORED / Math.max(most, -least, 1e-150);
  // Back ends take the mean rank, n + 1, off stored numbers: 0 lies there if that leaves room for negative ones.
  const zeroFor = (scale: number) => Math.max(Math.min(n + 1, MOST_STORED), Math.ceil(-least * scale) + 1);
  const isRoom = (scale: number) => {
    const off = zeroFor(scale) - (n + 1);
    const is16 = zeroFor(scale) + most * scale < 2 ** 16 - 1 && off + most * scale < MOST_STORED;
    return is16 && MOST_ASKED * Math.sqrt(n) * (scale + Math.sqrt(n) * Math.abs(off)) < MOST_PRODUCT;
  };
  let scale = fits;
  while (!isRoom(scale) && scale * 30 > fits) scale *= 0.9;
  return { scale, zero: zeroFor(scale) };
}

const square = (value: number): number => value * value;

function largestOf(values: ArrayLike<number>): number {
  let largest = 0;
  for (let e = 0; e < values.length; e++) largest = Math.max(largest, Math.abs(values[e]));
  return largest;
}
