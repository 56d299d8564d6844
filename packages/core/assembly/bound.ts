/**
 * Upper bounds of responses from a few numbers per row and per filter.
 *
 * Let v = w·g - b (g brings every filter to one common norm, b is a middle filter, the same for all) and y = x - a (a is
 * a middle row). The response of x to w, times that norm, is y·v + a·v + x·b, and the last term is the same for all
 * filters of a row. Let the columns of Q be a contraction, so that R = I - QQ' is positive semidefinite. By Cauchy-Schwarz
 * in the form R
 *
 *     y·v = (Q'y)·(Q'v) + y'Rv <= (Q'y)·(Q'v) + ρy·ρv,   ρy² = y'Ry = |y|² - |Q'y|².
 *
 * No orthogonality is needed; columns that are nearly orthonormal merely make ρ small. Two such bounds are kept for each
 * row and filter, as vectors of 16-bit numbers whose product is the bound:
 *
 *     level 1:  |a| (row) or a·v/|a| (filter), coordinates in directions over all features, ρ
 *     level 2:  the same for each of PARTS parts of the features, with directions of its own
 *
 * Level 2 sums over the parts, and any part of it can be replaced by the exact product over the features of that part: a
 * response is computed part by part and given up as soon as the rest cannot help. Directions of a part touch its features
 * only, so level 2 has many directions for little work.
 *
 * **Rounding.** A coordinate c becomes the whole number ĉ with |ĉ - c| <= 1/2, so the sum over coordinates is off by at
 * most ½Σ|ĉ_row| + ½Σ|ĉ_filter| + ¼·(their number); ρ is rounded up. Rows and filters that 16 bits do not hold exactly
 * (floats, large values) are first rounded to ŷ·s with |y - ŷ·s| = loss, which adds loss_y·|v| + |y|·loss_v. A response
 * computed in floating point differs from the true one by at most (n+16)·2^-53·|x||w|, and dividing by the norm rounds
 * once more; both are added. A filter can be left out if its bound lies below what the best exact response so far, lowered
 * by all these allowances, would need: `needed`.
 *
 * Sums run modulo 2^32 and are right because the bound itself fits: with the scales chosen it stays under 2^31.
 */

import {
  COMMON_NORM_F64,
  FILTER_LONGEST_F64,
  FILTER_LOSS_F64,
  FILTER_SCALE_F64,
  FILTER_SPAN_1_F64,
  FILTER_SPAN_2_F64,
  LEVEL_2,
  PARTS,
  ROUNDING_F64,
} from "../src/backends/wasm/context";

/** Numbers of one part of level 2. */
export const PART_LENGTH: i32 = LEVEL_2 / PARTS;

/** Relative room for the rounding of float64 expressions of a few operations. */
export const SLACK: f64 = 1e-12;

// The scales of a row, float64 each.
export const SCALE: usize = 0; // quantised units per unit of the row
export const LENGTH: usize = 8; // no less than |x| and |y|; 0 if the row has nothing but zeros
export const LOSS: usize = 16;
export const SPAN_1: usize = 24; // Σ|ĉ| of level 1
export const SPAN_2: usize = 32; // and of level 2
export const WITH_MIDDLE: usize = 40; // x·b
export const BEFORE: usize = 48; // sums of x·b over the parts before part 1, 2, 3; b less n + 1 if the filters are
export const ROW_SUM: usize = 72; // Σx

/** First feature of part p (a multiple of 8); p = PARTS gives the stride. */
// @ts-ignore: decorator
@inline
export function partStart(stride: i32, p: i32): i32 {
  return (((stride >> 3) * p) / PARTS) << 3;
}

/** Quantised units per unit of a response. */
// @ts-ignore: decorator
@inline
export function unitsOf(context: usize, scales: usize): f64 {
  return load<f64>(scales, SCALE) * load<f64>(context, FILTER_SCALE_F64);
}

/** What the bound of a filter must reach, at either level, for its response to reach `value`. */
export function needed(context: usize, scales: usize, value: f64, level: i32): f64 {
  const response = value * load<f64>(context, COMMON_NORM_F64);
  const xb = load<f64>(scales, WITH_MIDDLE);
  const length = load<f64>(scales, LENGTH);
  const loss = load<f64>(scales, LOSS);
  const allowance =
    loss * load<f64>(context, FILTER_LONGEST_F64) +
    (length + loss) * load<f64>(context, FILTER_LOSS_F64) +
    length * load<f64>(context, ROUNDING_F64) +
    (abs(response) + abs(xb)) * 1e-14;
  const row = level == 1 ? load<f64>(scales, SPAN_1) : load<f64>(scales, SPAN_2);
  const filter = level == 1 ? load<f64>(context, FILTER_SPAN_1_F64) : load<f64>(context, FILTER_SPAN_2_F64);
  return (response - xb - allowance) * unitsOf(context, scales) - 0.5 * (row + filter) - (0.25 * LEVEL_2 + 2);
}

/** A need as a 32-bit number no larger than it; bounds are never as low as the lowest. */
// @ts-ignore: decorator
@inline
export function need32(need: f64): i32 {
  return <i32>max(-2147483648.0, min(2147483647.0, floor(need)));
}
