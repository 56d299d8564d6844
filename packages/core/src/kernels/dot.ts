/**
 * The inner product, defined once for every back end.
 *
 * **Order of summation.** Feature i is added to lane i mod 8, in ascending i, each product rounded to float64 and then
 * added (no fused multiply-add). The lanes are joined as ((l0+l4)+(l2+l6)) + ((l1+l5)+(l3+l7)). Eight lanes are four
 * float64x2 registers, so SIMD follows this order at full speed; a feature that is zero adds nothing to its lane, so a
 * sparse row gives the same bits as the same row stored densely. For integers below 2^53 the order does not matter.
 */

import type { Rows, Values } from "./shapes.ts";

/** x·w for the dense row that starts at `at`. */
function dotDense(
  values: Values, // in: the matrix
  at: number, // in: position of the row's first value
  n: number,
  w: Float64Array, // in: n weights
): number {
  let l0 = 0;
  let l1 = 0;
  let l2 = 0;
  let l3 = 0;
  let l4 = 0;
  let l5 = 0;
  let l6 = 0;
  let l7 = 0;
  const whole = n - (n % 8);
  let i = 0;
  for (; i < whole; i += 8) {
    l0 += values[at + i] * w[i];
    l1 += values[at + i + 1] * w[i + 1];
    l2 += values[at + i + 2] * w[i + 2];
    l3 += values[at + i + 3] * w[i + 3];
    l4 += values[at + i + 4] * w[i + 4];
    l5 += values[at + i + 5] * w[i + 5];
    l6 += values[at + i + 6] * w[i + 6];
    l7 += values[at + i + 7] * w[i + 7];
  }
  if (i < n) l0 += values[at + i] * w[i];
  if (i + 1 < n) l1 += values[at + i + 1] * w[i + 1];
  if (i + 2 < n) l2 += values[at + i + 2] * w[i + 2];
  if (i + 3 < n) l3 += values[at + i + 3] * w[i + 3];
  if (i + 4 < n) l4 += values[at + i + 4] * w[i + 4];
  if (i + 5 < n) l5 += values[at + i + 5] * w[i + 5];
  if (i + 6 < n) l6 += values[at + i + 6] * w[i + 6];
  return l0 + l4 + (l2 + l6) + (l1 + l5 + (l3 + l7));
}

const lanes = new Float64Array(8);

/** x·w for the sparse entries `from` (included) to `to` (not included). */
export function dotCsr(
  indices: Uint32Array, // in: feature of each entry
  values: Values, // in: value of each entry
  from: number,
  to: number,
  w: Float64Array, // in: n weights
): number {
  lanes.fill(0);
  for (let e = from; e < to; e++) lanes[indices[e] & 7] += values[e] * w[indices[e]];
  const [l0, l1, l2, l3, l4, l5, l6, l7] = lanes;
  return l0 + l4 + (l2 + l6) + (l1 + l5 + (l3 + l7));
}

/** x·w of row r. */
export function dotRow(x: Rows, r: number, w: Float64Array): number {
  return x.form === "dense"
    ? dotDense(x.values, r * x.features, x.features, w)
    : dotCsr(x.indices, x.values, x.offsets[r], x.offsets[r + 1], w);
}
