/**
 * The two searches, as full loops: the strongest filters of each row, the strongest rows of some filters. These loops
 * are the definition; every faster search must give exactly the same answer.
 */

import { dotRow } from "./dot.ts";
import { lowerBound } from "./rows.ts";
import type { FilterBank, Leaders, Rows, TopFilters, TopRows } from "./shapes.ts";

/** Writes the n weights of filter f into `out`. */
export function expandFilter(bank: FilterBank, f: number, out: Float64Array): void {
  const n = bank.features;
  if (bank.form === "dense") {
    for (let i = 0; i < n; i++) out[i] = bank.weights[f * n + i];
    return;
  }
  out.fill(bank.base[f]);
  for (let e = bank.offsets[f]; e < bank.offsets[f + 1]; e++) out[bank.indices[e]] = bank.weights[e];
}

/** The weight of one feature in filter f. */
export function weightOf(bank: FilterBank, f: number, feature: number): number {
  if (bank.form === "dense") return bank.weights[f * bank.features + feature];
  const end = bank.offsets[f + 1];
  const e = lowerBound(bank.indices, feature, bank.offsets[f], end);
  return e < end && bank.indices[e] === feature ? bank.weights[e] : bank.base[f];
}

/** The k (<= m) strongest filters of each row. */
export function topFilters(x: Rows, bank: FilterBank, k: number): TopFilters {
  const top = noTop(x.rows, k);
  offerFilters(x, bank, 0, bank.filters, top);
  return top;
}

/** Room for the k strongest filters of `rows` rows, before any filter has responded. */
export function noTop(rows: number, k: number): TopFilters {
  const response = new Float64Array(rows * k).fill(Number.NEGATIVE_INFINITY);
  return { rows, k, filter: new Uint32Array(rows * k), response };
}

/** Room for the k strongest rows of `filters` filters. */
export function noRows(filters: number, k: number): TopRows {
  const value = new Float64Array(filters * k).fill(Number.NEGATIVE_INFINITY);
  return { filters, k, row: new Uint32Array(filters * k), value };
}

/** Lets filters [from, to) take their places among the strongest so far; places without one have the response -Infinity. */
export function offerFilters(
  x: Rows,
  bank: FilterBank,
  from: number,
  to: number,
  { k, filter, response }: TopFilters,
): void {
  const w = new Float64Array(bank.features);
  for (let f = from; f < to; f++) {
    expandFilter(bank, f, w);
    for (let r = 0; r < x.rows; r++) insert(dotRow(x, r, w) / bank.norm[f], f, response, filter, r * k, k);
  }
}

/** The listed rows of an answer, in that order. */
export function pickAnswers({ k, filter, response }: TopFilters, rows: Uint32Array): TopFilters {
  const picked = {
    rows: rows.length,
    k,
    filter: new Uint32Array(rows.length * k),
    response: new Float64Array(rows.length * k),
  };
  for (let j = 0; j < rows.length; j++) {
    for (let q = 0; q < k; q++) {
      picked.filter[j * k + q] = filter[rows[j] * k + q];
      picked.response[j * k + q] = response[rows[j] * k + q];
    }
  }
  return picked;
}

/** The strongest filter of each row, and whether it is alone, from the two strongest (or the only one). */
export function leadersOf({ rows, k, filter, response }: TopFilters): Leaders {
  const tied = new Uint8Array(rows);
  if (k > 1) for (let r = 0; r < rows; r++) tied[r] = response[r * k] === response[r * k + 1] ? 1 : 0;
  const first = (_: number, j: number): boolean => j % k === 0;
  return { rows, filter: filter.filter(first), response: response.filter(first), tied };
}

/** The k (<= N) strongest rows of each filter in `filters`, where a row's value is x·w / divisor[row]. */
export function topRows(
  x: Rows,
  bank: FilterBank,
  filters: Uint32Array, // in: the filters asked for
  k: number,
  divisor: Float64Array, // in: N; 0 makes the row's value 0
): TopRows {
  const top = noRows(filters.length, k);
  offerRows(x, 0, bank, filters, 0, filters.length, divisor, top);
  return top;
}

/** Lets rows take their places among the strongest of the filters `filters[from .. to)` so far. */
export function offerRows(
  x: Rows,
  first: number, // in: number of row 0 of x
  bank: FilterBank,
  filters: Uint32Array,
  from: number,
  to: number,
  divisor: Float64Array, // in: one for each row of x
  { k, row, value }: TopRows, // in and out
): void {
  const w = new Float64Array(bank.features);
  for (let j = from; j < to; j++) {
    expandFilter(bank, filters[j], w);
    for (let r = 0; r < x.rows; r++) {
      insert(divisor[r] === 0 ? 0 : dotRow(x, r, w) / divisor[r], first + r, value, row, j * k, k);
    }
  }
}

/** Lets the strongest rows of a later part, whose row 0 is row `first`, take their places among the strongest so far. */
export function mergeTopRows({ filters, k, row, value }: TopRows, part: TopRows, first: number): void {
  for (let f = 0; f < filters; f++) {
    for (let e = f * part.k; e < (f + 1) * part.k; e++)
      insert(part.value[e], first + part.row[e], value, row, f * k, k);
  }
}

/** Lets the strongest of later filters, the first of which has the number `first`, take their places among the strongest so far. */
export function mergeTopFilters({ rows, k, filter, response }: TopFilters, part: TopFilters, first: number): void {
  const found = { filters: rows, k: part.k, row: part.filter, value: part.response };
  mergeTopRows({ filters: rows, k, row: filter, value: response }, found, first);
}

/** Keeps `values[at .. at + k)` descending. Candidates come in ascending id, so an equal value goes behind. */
export function insert(v: number, id: number, values: Float64Array, ids: Uint32Array, at: number, k: number): void {
  let j = at + k - 1;
  if (!(v > values[j])) return;
  for (; j > at && v > values[j - 1]; j--) {
    values[j] = values[j - 1];
    ids[j] = ids[j - 1];
  }
  values[j] = v;
  ids[j] = id;
}
