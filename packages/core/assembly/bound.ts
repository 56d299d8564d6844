/**
 * Upper bounds of x·w from a few numbers per row and per filter.
 *
 * Let v = w·g - b (g brings every filter to one common norm, b is a middle filter, the same for all) and y = x - a (a is
 * a middle row). Then the response of x to w, times that norm, is y·v + a·v + x·b, and the last term is the same for all
 * filters of a row. Let Q have d columns and be a contraction, so that R = I - QQ' is positive semidefinite. By
 * Cauchy-Schwarz in the form R
 *
 *     y·v = (Q'y)·(Q'v) + y'Rv <= (Q'y)·(Q'v) + ρy·ρv,   ρy² = y'Ry = |y|² - |Q'y|².
 *
 * No orthogonality is needed; columns that are nearly orthonormal merely make ρ small. Some columns of a contraction are
 * a contraction, so taking more of them step by step gives a cascade of bounds. Each row and each filter gets one vector
 * of 16-bit numbers of which every level is a prefix and the product of two prefixes is the bound of that level:
 *
 *     level 1: |a| (row) or a·v/|a| (filter), coordinates, ρ1
 *     level 2: further coordinates, -ρ1 (row) or ρ1 (filter), ρ2      level 3: alike
 *
 * **Rounding.** A coordinate a becomes the whole number â with |â - a| <= 1/2, so the sum over coordinates is off by at
 * most E = ½Σ|â_row| + ½Σ|â_filter| + ¼d. ρ is rounded up, and the -ρ of the next level cancels exactly. Rows and filters
 * that 16 bits do not hold exactly (floats, large values) are first rounded to ŷ·s with |y - ŷ·s| = loss, which adds
 * loss_y·|v| + |y|·loss_v. A response computed in floating point differs from the true one by at most (n+16)·2^-53·|x||w|
 * and dividing by the norm rounds once more; both are added. A filter can be left out if its bound lies below what the
 * best exact response so far, lowered by all these allowances, would need: `needed`.
 *
 * Sums run modulo 2^32 and are right because the bound itself fits: with the scales below it stays under 2^31.
 */

import {
  CENTRE_F64,
  COMMON_NORM_F64,
  COORDINATES,
  DEPTH,
  DEPTH_1,
  DEPTH_2,
  DIRECTIONS,
  DIRECTION_COUNT,
  DIRECTION_SCALE_F64,
  FEATURES,
  FILTER_BOUNDS,
  FILTER_FACTS,
  FILTER_LONGEST_F64,
  FILTER_LOSS_F64,
  FILTER_SCALE_F64,
  FILTER_SPAN_F64,
  MIDDLE_16,
  MIDDLE_F64S,
  MIDDLE_FLUSH,
  MODE,
  NORM,
  ORDERED_F32,
  ORDERED_F64,
  ROUNDING_F64,
  ROWS,
  ROW_BOUNDS,
  ROW_MIDDLE_16,
  ROW_MIDDLE_F64S,
  ROW_MIDDLE_FLUSH,
  ROW_MIDDLE_LENGTH_F64,
  ROW_SCALES,
  STRIDE,
  TYPE,
  WEIGHTS,
  WHOLE_FILTERS,
  WHOLE_ROWS,
} from "../src/backends/wasm/context";
import { dotOrdered, dotWide } from "./dot";
import { bytesOf, expand16, expand64, sum16 } from "./expand";
import { panelBytes, tile } from "./tile";

/** Longest 16-bit vector that is projected; with directions of length 32,700 the products stay under 2^31. */
export const LONGEST: f64 = 65_500;
/** Largest quantised number of a row or filter. */
const LARGEST: f64 = 32_000;
/** Longest quantised row; times LARGEST, the longest quantised filter, it stays under 2^31 with room for rounding. */
const LONGEST_ROW: f64 = 65_000;
/** Values below this are not worth a scale of their own: they count as loss. */
const TINY: f64 = 1e-100;
/** Relative room for the rounding of float64 expressions of a few operations. */
const SLACK: f64 = 1e-12;

/** Bytes of the scales of a row. */
export const SCALES_BYTES: usize = 40;

/** Squared length of a 16-bit vector, exact. */
export function square16(x: usize, stride: i32): f64 {
  let sum = i64x2.splat(0);
  for (let i: usize = 0; i < <usize>stride << 1; i += 16) {
    const v = v128.load(x + i);
    const pairs = i32x4.dot_i16x8_s(v, v);
    sum = i64x2.add(sum, i64x2.add(i64x2.extend_low_i32x4_u(pairs), i64x2.extend_high_i32x4_u(pairs)));
  }
  return <f64>(i64x2.extract_lane(sum, 0) + i64x2.extract_lane(sum, 1));
}

/**
 * Rounds a float64 vector to 16 bits at a scale that uses them. Writes to `facts` the value of one unit, the squared
 * length in units, and the loss in real units.
 */
function quantise(x64: usize, out: usize, stride: i32, facts: usize): void {
  const end = x64 + (<usize>stride << 3);
  let top = f64x2.splat(0);
  for (let at = x64; at < end; at += 16) top = f64x2.max(top, f64x2.abs(v128.load(at)));
  const largest = max(f64x2.extract_lane(top, 0), f64x2.extract_lane(top, 1));
  if (largest < TINY) {
    memory.fill(out, 0, <usize>stride << 1);
    store<f64>(facts, 1);
    store<f64>(facts, 0, 8);
    store<f64>(facts, largest * sqrt(<f64>stride) * (1 + SLACK), 16);
    return;
  }
  let scale = LARGEST / largest;
  let loss2 = round16(x64, out, end, scale);
  let length2 = square16(out, stride);
  if (length2 > LONGEST * LONGEST) {
    scale *= (LONGEST * 0.99) / sqrt(length2);
    loss2 = round16(x64, out, end, scale);
    length2 = square16(out, stride);
  }
  store<f64>(facts, 1 / scale);
  store<f64>(facts, length2, 8);
  store<f64>(facts, (sqrt(loss2) * (1 + SLACK) + SLACK) / scale, 16);
}

/** out = x·scale to the nearest whole number; returns the squared length of the difference. */
function round16(x64: usize, out: usize, end: usize, scale: f64): f64 {
  const factor = f64x2.splat(scale);
  let loss2 = f64x2.splat(0);
  for (; x64 < end; x64 += 16, out += 4) {
    const exact = f64x2.mul(v128.load(x64), factor);
    const whole = f64x2.nearest(exact);
    const lost = f64x2.sub(exact, whole);
    loss2 = f64x2.add(loss2, f64x2.mul(lost, lost));
    const words = i32x4.trunc_sat_f64x2_s_zero(whole);
    store<u32>(out, i32x4.extract_lane(i16x8.narrow_i32x4_s(words, words), 0));
  }
  return f64x2.extract_lane(loss2, 0) + f64x2.extract_lane(loss2, 1);
}

/** Filter f less the middle filter, brought to the common norm, as float64. */
export function openFilter64(context: usize, f: u32, out: usize): void {
  const stride = load<i32>(context, STRIDE);
  const mode = load<i32>(context, MODE);
  const middle = load<usize>(context, MIDDLE_F64S);
  const centre = load<f64>(context, CENTRE_F64);
  const factor = load<f64>(context, COMMON_NORM_F64) / load<f64>(load<usize>(context, NORM) + (<usize>f << 3));
  const first = <usize>f * <usize>stride;
  const weights = load<usize>(context, WEIGHTS);
  for (let i: usize = 0; i < <usize>stride; i++) {
    let w: f64 = 0;
    if (mode == ORDERED_F32) w = <f64>load<f32>(weights + ((first + i) << 2));
    else if (mode == ORDERED_F64) w = load<f64>(weights + ((first + i) << 3));
    else if (i < <usize>load<i32>(context, FEATURES)) w = <f64>load<i16>(weights + ((first + i) << 1)) + centre;
    store<f64>(out + (i << 3), w * factor - load<f64>(middle + (i << 3)));
  }
}

/** Filter f less the middle filter in 16 bits, with its facts and as the fourth a·v; `x64` is scratch. */
function openFilter(context: usize, f: u32, out: usize, x64: usize, facts: usize): void {
  const stride = load<i32>(context, STRIDE);
  if (load<u32>(context, WHOLE_FILTERS)) {
    const filter = load<usize>(context, WEIGHTS) + <usize>f * (<usize>stride << 1);
    const middle = load<usize>(context, MIDDLE_16);
    for (let i: usize = 0; i < <usize>stride << 1; i += 16) {
      v128.store(out + i, i16x8.sub(v128.load(filter + i), v128.load(middle + i)));
    }
    const length2 = square16(out, stride);
    if (length2 <= LONGEST * LONGEST) {
      store<f64>(facts, 1);
      store<f64>(facts, length2, 8);
      store<f64>(facts, 0, 16);
      const a16 = load<usize>(context, ROW_MIDDLE_16);
      if (a16) {
        store<f64>(facts, <f64>dotWide(out, a16, <usize>stride << 1, load<usize>(context, ROW_MIDDLE_FLUSH)), 24);
        return;
      }
      openFilter64(context, f, x64);
      store<f64>(facts, dotOrdered<f64>(x64, load<usize>(context, ROW_MIDDLE_F64S), stride), 24);
      return;
    }
  }
  openFilter64(context, f, x64);
  quantise(x64, out, stride, facts);
  store<f64>(facts, dotOrdered<f64>(x64, load<usize>(context, ROW_MIDDLE_F64S), stride), 24);
}

/**
 * Row r less the middle row in 16 bits, with its facts and as the fourth x·b; `x64` is scratch. Returns whether the row has
 * anything but zeros.
 */
function openRow16(context: usize, r: u32, out: usize, x64: usize, facts: usize): bool {
  const type = load<i32>(context, TYPE);
  const stride = load<i32>(context, STRIDE);
  const row = load<usize>(context, ROWS) + <usize>r * (<usize>stride * bytesOf(type));
  const b16 = load<usize>(context, MIDDLE_16);
  const a16 = load<usize>(context, ROW_MIDDLE_16);
  if (load<u32>(context, WHOLE_ROWS) && b16) {
    const features = load<i32>(context, FEATURES);
    expand16(type, row, out, features, stride);
    const xb = <f64>dotWide(out, b16, <usize>stride << 1, load<usize>(context, MIDDLE_FLUSH));
    store<f64>(facts, xb + <f64>(features + 1) * <f64>sum16(out, stride), 24);
    let any = i16x8.splat(0);
    for (let i: usize = 0; i < <usize>stride << 1; i += 16) {
      const x = v128.load(out + i);
      any = v128.or(any, x);
      v128.store(out + i, i16x8.sub(x, v128.load(a16 + i)));
    }
    const length2 = square16(out, stride);
    if (length2 <= LONGEST * LONGEST) {
      store<f64>(facts, 1);
      store<f64>(facts, length2, 8);
      store<f64>(facts, 0, 16);
      return v128.any_true(any);
    }
  }
  expand64(type, row, x64, stride);
  store<f64>(facts, dotOrdered<f64>(x64, load<usize>(context, MIDDLE_F64S), stride), 24);
  let any = f64x2.splat(0);
  const a64 = load<usize>(context, ROW_MIDDLE_F64S);
  for (let i: usize = 0; i < <usize>stride << 3; i += 16) {
    const x = v128.load(x64 + i);
    any = v128.or(any, f64x2.ne(x, f64x2.splat(0)));
    v128.store(x64 + i, f64x2.sub(x, v128.load(a64 + i)));
  }
  quantise(x64, out, stride, facts);
  return v128.any_true(any);
}

/** Scratch of `bound_rows` and `project_filters`: four 16-bit vectors, one float64 vector, four vectors of coordinates, facts. */
export function scratch_bounds(context: usize): usize {
  return <usize>load<i32>(context, STRIDE) * 16 + <usize>load<i32>(context, DIRECTION_COUNT) * 16 + 128;
}

/** The vectors and scales of rows [from, to). */
export function bound_rows(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const stride = load<i32>(context, STRIDE);
  const count = load<i32>(context, DIRECTION_COUNT);
  const bytes = <usize>stride << 1;
  const x64 = scratch + 4 * bytes;
  const coordinates = x64 + (<usize>stride << 3);
  const facts = coordinates + (<usize>count << 4);
  const depth = <usize>load<u32>(context, DEPTH) << 1;
  for (let r = from; r < to; r += 4) {
    const rows = min<u32>(4, to - r);
    for (let j: u32 = 0; j < rows; j++) {
      const some = openRow16(context, r + j, scratch + <usize>j * bytes, x64, facts + <usize>j * 32);
      store<f64>(load<usize>(context, ROW_SCALES) + <usize>(r + j) * SCALES_BYTES, some ? 1 : 0);
    }
    project(context, scratch, rows, coordinates);
    for (let j: u32 = 0; j < rows; j++) {
      finishRow(
        context,
        coordinates + <usize>j * (<usize>count << 2),
        facts + <usize>j * 32,
        load<usize>(context, ROW_BOUNDS) + <usize>(r + j) * depth,
        load<usize>(context, ROW_SCALES) + <usize>(r + j) * SCALES_BYTES,
      );
    }
  }
  return 0;
}

/** Coordinates and facts of filters [from, to), before a common scale is known. */
export function project_filters(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const stride = load<i32>(context, STRIDE);
  const count = load<i32>(context, DIRECTION_COUNT);
  const bytes = <usize>stride << 1;
  const x64 = scratch + 4 * bytes;
  const coordinates = x64 + (<usize>stride << 3);
  for (let f = from; f < to; f += 4) {
    const filters = min<u32>(4, to - f);
    for (let j: u32 = 0; j < filters; j++) {
      const facts = load<usize>(context, FILTER_FACTS) + (<usize>(f + j) << 5);
      openFilter(context, f + j, scratch + <usize>j * bytes, x64, facts);
    }
    project(context, scratch, filters, coordinates);
    const out = load<usize>(context, COORDINATES) + <usize>f * (<usize>count << 2);
    memory.copy(out, coordinates, <usize>filters * (<usize>count << 2));
  }
  return 0;
}

/** Coordinates of up to four 16-bit vectors; missing ones repeat the first. */
function project(context: usize, vectors: usize, present: u32, coordinates: usize): void {
  const bytes = <usize>load<i32>(context, STRIDE) << 1;
  const count = load<i32>(context, DIRECTION_COUNT);
  const panel = load<usize>(context, DIRECTIONS);
  const x1 = vectors + (present > 1 ? bytes : 0);
  const x2 = vectors + (present > 2 ? 2 * bytes : 0);
  const x3 = vectors + (present > 3 ? 3 * bytes : 0);
  const blockBytes = panelBytes(8, load<i32>(context, STRIDE));
  for (let b = 0; b < count >> 3; b++) {
    const block = panel + <usize>b * blockBytes;
    tile(vectors, x1, x2, x3, block, bytes, coordinates + (<usize>b << 5), <usize>count << 2);
  }
}

/** The vector of a row at the scale that suits it; writes to `scales` that scale, the row's length, loss, span and x·b. */
function finishRow(context: usize, coordinates: usize, facts: usize, out: usize, scales: usize): void {
  const unit = load<f64>(facts);
  const length = sqrt(load<f64>(facts, 8));
  const middle = load<f64>(context, ROW_MIDDLE_LENGTH_F64);
  const direction = 1 / load<f64>(context, DIRECTION_SCALE_F64);
  const count = directions(context);
  let largest: f64 = 0;
  for (let i = 0; i < count; i++) largest = max(largest, abs(<f64>load<i32>(coordinates + (<usize>i << 2))));
  const first = load<i32>(context, DEPTH_1) - 2;
  largest = max(largest * direction, residual(context, coordinates, facts, 0, first, 0));
  const scale = min(LARGEST / max(unit * largest, middle), LONGEST_ROW / (unit * length + middle));
  const some = load<f64>(scales) != 0;
  const span = finish(context, coordinates, facts, unit * scale, middle * scale, out, -1);
  store<f64>(scales, scale);
  store<f64>(scales, some ? unit * length * (1 + SLACK) + load<f64>(facts, 16) + middle : 0, 8);
  store<f64>(scales, load<f64>(facts, 16), 16);
  store<f64>(scales, span, 24);
  store<f64>(scales, load<f64>(facts, 24), 32);
}

/** The vectors of filters [from, to) at the common scale; their spans replace a·v. */
export function finish_filters(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const count = <usize>load<i32>(context, DIRECTION_COUNT) << 2;
  const depth = <usize>load<u32>(context, DEPTH) << 1;
  const scale = load<f64>(context, FILTER_SCALE_F64);
  for (let f = from; f < to; f++) {
    const facts = load<usize>(context, FILTER_FACTS) + (<usize>f << 5);
    const coordinates = load<usize>(context, COORDINATES) + <usize>f * count;
    const out = load<usize>(context, FILTER_BOUNDS) + <usize>f * depth;
    const along = (load<f64>(facts, 24) / load<f64>(context, ROW_MIDDLE_LENGTH_F64)) * scale;
    store<f64>(facts, finish(context, coordinates, facts, load<f64>(facts) * scale, along, out, 1), 24);
  }
  return 0;
}

/** Directions in use: what the levels have room for. */
// @ts-ignore: decorator
@inline
function directions(context: usize): i32 {
  const depth = load<i32>(context, DEPTH);
  return depth - (depth > load<i32>(context, DEPTH_2) ? 6 : 4);
}

/** ρ in units after the coordinates [from, to), given the energy of those before; rounded up a little. */
function residual(context: usize, coordinates: usize, facts: usize, from: i32, to: i32, before: f64): f64 {
  const length2 = load<f64>(facts, 8);
  return sqrt(max(0, length2 - energy(context, coordinates, from, to) - before) + length2 * SLACK);
}

/** Squared length of the coordinates [from, to). */
function energy(context: usize, coordinates: usize, from: i32, to: i32): f64 {
  const direction = load<f64>(context, DIRECTION_SCALE_F64);
  let sum: f64 = 0;
  for (let i = from; i < to; i++) {
    const c = <f64>load<i32>(coordinates + (<usize>i << 2));
    sum += c * c;
  }
  return sum / (direction * direction);
}

/** Writes the levels of one vector; `sign` is that of the ρ that cancels. Returns the sum of absolute coordinates. */
function finish(context: usize, coordinates: usize, facts: usize, scale: f64, along: f64, out: usize, sign: i32): f64 {
  const depth = load<i32>(context, DEPTH);
  const direction = scale / load<f64>(context, DIRECTION_SCALE_F64);
  store<i16>(out, <i16>nearest(along));
  let span = abs(nearest(along));
  let next = 0; // coordinate
  let place = 1; // in the vector
  let before: f64 = 0;
  let rho = 0;
  for (let level = 1; level <= 3; level++) {
    const end = level == 1 ? load<i32>(context, DEPTH_1) : level == 2 ? load<i32>(context, DEPTH_2) : depth;
    if (place == end) break;
    const to = next + end - place - (level == 1 ? 1 : 2);
    const first = next;
    for (; next < to; next++, place++) {
      const value = nearest(<f64>load<i32>(coordinates + (<usize>next << 2)) * direction);
      span += abs(value);
      store<i16>(out + (<usize>place << 1), <i16>value);
    }
    if (level > 1) store<i16>(out + (<usize>(place++) << 1), <i16>(sign * rho));
    const left = residual(context, coordinates, facts, first, next, before);
    before += energy(context, coordinates, first, next);
    rho = <i32>ceil(left * scale * (1 + SLACK));
    store<i16>(out + (<usize>(place++) << 1), <i16>rho);
  }
  return span;
}

/** What the bound of a filter must reach for its response to reach `value`; see the head of this file. */
export function needed(context: usize, scales: usize, value: f64): f64 {
  const xb = load<f64>(scales, 32);
  const response = value * load<f64>(context, COMMON_NORM_F64);
  const length = load<f64>(scales, 8);
  const loss = load<f64>(scales, 16);
  const allowance =
    loss * load<f64>(context, FILTER_LONGEST_F64) +
    (length + loss) * load<f64>(context, FILTER_LOSS_F64) +
    length * load<f64>(context, ROUNDING_F64) +
    (abs(response) + abs(xb)) * 1e-14;
  const rounding =
    0.5 * (load<f64>(scales, 24) + load<f64>(context, FILTER_SPAN_F64)) + 0.25 * <f64>load<i32>(context, DEPTH) + 2;
  return (response - xb - allowance) * load<f64>(scales) * load<f64>(context, FILTER_SCALE_F64) - rounding;
}
