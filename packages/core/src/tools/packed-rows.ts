/**
 * Rows packed for many passes of coordinate descent: values that are 0 left out, so that dense and sparse matrices of the
 * same numbers become the same rows and give the same bits. Rows without any 0 need no indices and take the faster loops.
 *
 * **Order of summation.** Entry j of a row (counted without zeros) is added to lane j mod 4 in float64, entries after the
 * last whole four to lane 0; the lanes are joined as (l0+l1)+(l2+l3). Four lanes hide the latency of additions.
 */

import { RanksimError } from "../errors.ts";
import type { Rows, Values } from "../kernels/shapes.ts";

/** Row r has the entries `offsets[r]` (included) to `offsets[r + 1]` (not included). Full rows may have no indices. */
export interface PackedRows {
  readonly rows: number;
  readonly features: number;
  readonly offsets: Uint32Array;
  readonly indices: Uint32Array;
  readonly values: Values;
}

/** What 32-bit offsets can count. */
const MOST_ENTRIES = 0xffff_ffff;

/** Packs a matrix; shares its arrays where they have no zeros to leave out. */
export function packRows(x: Rows): PackedRows {
  const { rows, features } = x;
  const start = (r: number): number => (x.form === "dense" ? r * features : x.offsets[r]);
  if (start(rows) > MOST_ENTRIES) {
    throw new RanksimError("bad-matrix", `expected at most ${MOST_ENTRIES} values, found ${start(rows)}`);
  }
  const values = commonType(x.values);
  const offsets = new Uint32Array(rows + 1);
  for (let r = 0; r < rows; r++) {
    let filled = 0;
    for (let e = start(r); e < start(r + 1); e++) if (values[e] !== 0) filled++;
    offsets[r + 1] = offsets[r] + filled;
  }
  const entries = offsets[rows];
  if (entries === start(rows) - start(0)) {
    const indices = x.form === "dense" ? new Uint32Array(0) : x.indices;
    return { rows, features, offsets: offsets.map((offset) => offset + start(0)), indices, values };
  }
  const indices = new Uint32Array(entries);
  const kept = new (values.constructor as new (length: number) => Values)(entries);
  let at = 0;
  for (let r = 0; r < rows; r++) {
    const from = start(r);
    for (let e = from; e < start(r + 1); e++) {
      if (values[e] === 0) continue;
      indices[at] = x.form === "dense" ? e - from : x.indices[e];
      kept[at++] = values[e];
    }
  }
  return { rows, features, offsets, indices, values: kept };
}

/** x·w of row r. */
export function product({ features, offsets, indices, values }: PackedRows, r: number, w: Float64Array): number {
  const from = offsets[r];
  const to = offsets[r + 1];
  let e = from;
  let l0 = 0;
  let l1 = 0;
  let l2 = 0;
  let l3 = 0;
  if (to - from === features) {
    for (; e + 3 < to; e += 4) {
      const i = e - from;
      l0 += values[e] * w[i];
      l1 += values[e + 1] * w[i + 1];
      l2 += values[e + 2] * w[i + 2];
      l3 += values[e + 3] * w[i + 3];
    }
    for (; e < to; e++) l0 += values[e] * w[e - from];
  } else {
    for (; e + 3 < to; e += 4) {
      l0 += values[e] * w[indices[e]];
      l1 += values[e + 1] * w[indices[e + 1]];
      l2 += values[e + 2] * w[indices[e + 2]];
      l3 += values[e + 3] * w[indices[e + 3]];
    }
    for (; e < to; e++) l0 += values[e] * w[indices[e]];
  }
  return l0 + l1 + (l2 + l3);
}

/** w += step · row r. */
export function addRow(
  { features, offsets, indices, values }: PackedRows,
  r: number,
  step: number,
  w: Float64Array, // in and out
): void {
  const from = offsets[r];
  const to = offsets[r + 1];
  let e = from;
  if (to - from === features) {
    for (; e + 3 < to; e += 4) {
      const i = e - from;
      w[i] += step * values[e];
      w[i + 1] += step * values[e + 1];
      w[i + 2] += step * values[e + 2];
      w[i + 3] += step * values[e + 3];
    }
    for (; e < to; e++) w[e - from] += step * values[e];
  } else {
    for (; e + 3 < to; e += 4) {
      w[indices[e]] += step * values[e];
      w[indices[e + 1]] += step * values[e + 1];
      w[indices[e + 2]] += step * values[e + 2];
      w[indices[e + 3]] += step * values[e + 3];
    }
    for (; e < to; e++) w[indices[e]] += step * values[e];
  }
}

/** x·x of row r. */
export function square({ offsets, values }: PackedRows, r: number): number {
  let sum = 0;
  for (let e = offsets[r]; e < offsets[r + 1]; e++) sum += values[e] * values[e];
  return sum;
}

/** 16-bit numbers as float32, which is exact: fewer element types keep the loops fast in engines that specialise them. */
function commonType(values: Values): Values {
  return values instanceof Uint16Array || values instanceof Int16Array ? Float32Array.from(values) : values;
}
