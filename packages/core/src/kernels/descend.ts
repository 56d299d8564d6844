/**
 * Dual coordinate descent for one plane between two kinds of rows (Hsieh, Chang, Lin, Keerthi and Sundararajan 2008, algorithms 1 and 3,
 * squared hinge loss): one row's multiplier at a time, and rows set aside ("shrinking") while their multiplier is stuck at 0.
 *
 * **Order of summation.** Entry j of a row, counted without zeros, is added to lane j mod 8 in float64; the lanes are joined as in
 * `dot.ts`. So dense and sparse rows of the same numbers give the same bits, and rows without zeros the bits of `dot.ts`.
 */

/** Rows without their zeros: row r has the entries `offsets[r]` (included) to `offsets[r + 1]` (not included). */
export interface PackedRows {
  readonly rows: number;
  readonly features: number;
  readonly offsets: Uint32Array;
  /** Ascending within a row; empty where no row has a zero. */
  readonly indices: Uint32Array;
  readonly values: Float32Array | Float64Array;
}

/** x·w of row r. */
export function product({ features, offsets, indices, values }: PackedRows, r: number, w: Float64Array): number {
  const from = offsets[r];
  const to = offsets[r + 1];
  const last = to - 7;
  let e = from;
  let l0 = 0;
  let l1 = 0;
  let l2 = 0;
  let l3 = 0;
  let l4 = 0;
  let l5 = 0;
  let l6 = 0;
  let l7 = 0;
  if (to - from === features) {
    for (let i = 0; e < last; e += 8, i += 8) {
      l0 += values[e] * w[i];
      l1 += values[e + 1] * w[i + 1];
      l2 += values[e + 2] * w[i + 2];
      l3 += values[e + 3] * w[i + 3];
      l4 += values[e + 4] * w[i + 4];
      l5 += values[e + 5] * w[i + 5];
      l6 += values[e + 6] * w[i + 6];
      l7 += values[e + 7] * w[i + 7];
    }
    const i = e - from;
    if (e < to) l0 += values[e] * w[i];
    if (e + 1 < to) l1 += values[e + 1] * w[i + 1];
    if (e + 2 < to) l2 += values[e + 2] * w[i + 2];
    if (e + 3 < to) l3 += values[e + 3] * w[i + 3];
    if (e + 4 < to) l4 += values[e + 4] * w[i + 4];
    if (e + 5 < to) l5 += values[e + 5] * w[i + 5];
    if (e + 6 < to) l6 += values[e + 6] * w[i + 6];
  } else {
    for (; e < last; e += 8) {
      l0 += values[e] * w[indices[e]];
      l1 += values[e + 1] * w[indices[e + 1]];
      l2 += values[e + 2] * w[indices[e + 2]];
      l3 += values[e + 3] * w[indices[e + 3]];
      l4 += values[e + 4] * w[indices[e + 4]];
      l5 += values[e + 5] * w[indices[e + 5]];
      l6 += values[e + 6] * w[indices[e + 6]];
      l7 += values[e + 7] * w[indices[e + 7]];
    }
    if (e < to) l0 += values[e] * w[indices[e]];
    if (e + 1 < to) l1 += values[e + 1] * w[indices[e + 1]];
    if (e + 2 < to) l2 += values[e + 2] * w[indices[e + 2]];
    if (e + 3 < to) l3 += values[e + 3] * w[indices[e + 3]];
    if (e + 4 < to) l4 += values[e + 4] * w[indices[e + 4]];
    if (e + 5 < to) l5 += values[e + 5] * w[indices[e + 5]];
    if (e + 6 < to) l6 += values[e + 6] * w[indices[e + 6]];
  }
  return l0 + l4 + (l2 + l6) + (l1 + l5 + (l3 + l7));
}

/** w += step · row r. */
function addRow(
  { features, offsets, indices, values }: PackedRows,
  r: number,
  step: number,
  w: Float64Array, // in and out
): void {
  const from = offsets[r];
  const to = offsets[r + 1];
  if (to - from === features) for (let e = from; e < to; e++) w[e - from] += step * values[e];
  else for (let e = from; e < to; e++) w[indices[e]] += step * values[e];
}

/** x·x of row r. */
export function square({ offsets, values }: PackedRows, r: number): number {
  let sum = 0;
  for (let e = offsets[r]; e < offsets[r + 1]; e++) sum += values[e] * values[e];
  return sum;
}

/** What a plane is fitted to: rows, which side of it they belong to, and what they cost. */
export interface Sides {
  readonly x: PackedRows;
  /** x·x of all features as they are scaled, and 1 for the intercept. */
  readonly squares: Float64Array;
  /** 1 / (2c), c being what an error on the row costs. */
  readonly ridges: Float64Array;
  /** 1 or -1. */
  readonly sign: Int8Array;
}

/** Where a plane stands. */
export interface Plane {
  /** In and out: n weights. */
  readonly weights: Float64Array;
  /** What all features are scaled by, squared. */
  readonly scale: number;
  intercept: number;
  /** The range of projected gradients in this iteration, and that of the last one, above which rows are set aside. */
  highest: number;
  lowest: number;
  stuckAbove: number;
}

/** Gradients below this move a multiplier by rounding alone. Source: LIBLINEAR. */
const SMALLEST_GRADIENT = 1e-12;

/** Visits at most `count` rows in the given order, of which the first `active` are not set aside. */
export function descend(
  { x, squares, ridges, sign }: Sides,
  multipliers: Float64Array, // in and out: one for each row
  order: Uint32Array, // in and out: rows that are set aside move behind the others
  at: number, // position to begin with
  active: number,
  count: number,
  plane: Plane, // in and out
): { readonly at: number; readonly active: number } {
  // Fields are kept in variables through the loop: with rows of few entries their access would be half the work.
  const { weights, scale, stuckAbove } = plane;
  let { intercept, highest, lowest } = plane;
  let position = at;
  let left = active;
  for (let visit = 0; visit < count && position < left; visit++) {
    const r = order[position];
    const y = sign[r];
    const before = multipliers[r];
    const gradient = y * (product(x, r, weights) + intercept) - 1 + ridges[r] * before;
    if (before === 0 && gradient > stuckAbove) {
      left--;
      order[position] = order[left];
      order[left] = r;
      continue;
    }
    position++;
    const projected = before === 0 && gradient > 0 ? 0 : gradient;
    if (projected > highest) highest = projected;
    if (projected < lowest) lowest = projected;
    if (Math.abs(projected) <= SMALLEST_GRADIENT) continue;
    const after = Math.max(before - gradient / (squares[r] + ridges[r]), 0);
    multipliers[r] = after;
    const step = (after - before) * y;
    addRow(x, r, step * scale, weights);
    intercept += step;
  }
  plane.intercept = intercept;
  plane.highest = highest;
  plane.lowest = lowest;
  return { at: position, active: left };
}
