/**
 * Upper bounds of responses from a few numbers per row and per filter.
 *
 * Let v = w·g - b (g brings every filter to one common norm, b is a middle filter, the same for all). The response of x to
 * w, times that norm, is x·v + x·b, and the last term is the same for all filters of a row. Let the columns of Q be a
 * contraction, so that R = I - QQ' is positive semidefinite. By Cauchy-Schwarz in the form R
 *
 *     x·v = (Q'x)·(Q'v) + x'Rv <= (Q'x)·(Q'v) + ρx·ρv,   ρx² = x'Rx = |x|² - |Q'x|².
 *
 * No orthogonality is needed; columns that are nearly orthonormal merely make ρ small. Directions of a part of the features
 * touch that part only, so many of them cost little; a rotation of all their coordinates (a second, small contraction)
 * brings what varies most to the front. Three such bounds are kept for each row and filter, as vectors of 16-bit numbers
 * whose product is the bound; the second is what it adds to the first, and takes the first ρ off (it is negative in a row):
 *
 *     level 1:  the first 15 rotated coordinates, ρ
 *     level 2:  the next 30 rotated coordinates, the ρ of level 1, ρ
 *     level 3:  for each of PARTS parts of the features: 23 coordinates, ρ of the part
 *
 * **Rounding.** Let c be the coordinates of a row in quantised units, ĉ what 16 bits keep of them and e = |ĉ - c|, which is
 * measured. Then c·c' <= ĉ·ĉ' + e·|ĉ'| + |c|·e'. The rotation is applied to ĉ; its result is rounded once more, so at levels 1
 * and 2 e is the sum of both. ρ is rounded up. Rows and filters that 16 bits do not hold exactly (floats, large values) are
 * first rounded to x̂·s with |x - x̂·s| = loss, which adds loss_x·|v| + |x|·loss_v. A response computed in floating point differs from the true one by at most (n+16)·2^-53·|x||w|,
 * and dividing by the norm rounds once more; both are added. A filter can be left out if its bound lies below what the best
 * exact response so far, lowered by all these allowances, would need: `needed`.
 *
 * Sums run modulo 2^32 and are right because the bound itself fits: with the scales chosen it stays under 2^31.
 */

import { LEVEL_3, PARTS } from "../../src/backends/wasm/dense/sizes";
import * as slot from "../../src/backends/wasm/dense/slots";

/** Numbers of one part of level 3. */
export const PART_LENGTH: i32 = LEVEL_3 / PARTS;

/** Length of a quantised row: times LONGEST_FILTER it stays under 2^31. */
export const LONGEST_ROW: f64 = 32_000;

/** Relative room for the rounding of float64 expressions of a few operations. */
export const SLACK: f64 = 1e-12;

// The scales of a row, float64 each.
export const SCALE: usize = 0; // quantised units per unit of the row
export const LENGTH: usize = 8; // no less than |x|; 0 if the row has nothing but zeros
export const LOSS: usize = 16;
export const ERROR_1: usize = 24; // e of level 1; those of levels 2 and 3 follow
export const ERROR_2: usize = 32;
export const ERROR_3: usize = 40;
export const WITH_MIDDLE: usize = 48; // x·b
export const ROW_SUM: usize = 56; // Σx

/** First feature of part p (a multiple of 8); p = PARTS gives the stride. */
// @ts-ignore: decorator
@inline
export function partStart(stride: i32, p: i32): i32 {
  return (((stride >> 3) * p) / PARTS) << 3;
}

/** Quantised units per unit of a response. */
// @ts-ignore: decorator
@inline
function unitsOf(context: usize, scales: usize): f64 {
  return load<f64>(scales, SCALE) * load<f64>(context, slot.FILTER_SCALE_F64);
}

/** What the bound of a filter must reach, at level 1, 2 or 3, for its response to reach `value`. */
export function needed(context: usize, scales: usize, value: f64, level: i32): f64 {
  const response = value * load<f64>(context, slot.COMMON_NORM_F64);
  const xb = load<f64>(scales, WITH_MIDDLE);
  const length = load<f64>(scales, LENGTH);
  const loss = load<f64>(scales, LOSS);
  const allowance =
    loss * load<f64>(context, slot.FILTER_LONGEST_F64) +
    (length + loss) * load<f64>(context, slot.FILTER_LOSS_F64) +
    length * load<f64>(context, slot.ROUNDING_F64) +
    (abs(response) + abs(xb)) * 1e-14;
  const reach = load<f64>(context, slot.FILTER_LONGEST_F64) * load<f64>(context, slot.FILTER_SCALE_F64);
  const at = <usize>(level - 1) << 3;
  const row = load<f64>(scales + ERROR_1 + at);
  const filter = load<f64>(context + slot.FILTER_ERROR_1_F64 + at);
  const rounding = row * (reach + 2 * filter) + LONGEST_ROW * filter;
  return (response - xb - allowance) * unitsOf(context, scales) - rounding * (1 + SLACK) - 2;
}

/** A need as a 32-bit number no larger than it; bounds are never as low as the lowest. */
// @ts-ignore: decorator
@inline
export function need32(need: f64): i32 {
  return <i32>max(-2147483648.0, min(2147483647.0, floor(need)));
}
