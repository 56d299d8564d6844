/**
 * Rows, and filters minus the middle one, as 16-bit vectors: exactly where they are whole numbers that fit, otherwise
 * rounded at a scale that uses the bits, with what was lost on record.
 */

import { ORDERED_F32, ORDERED_F64, PARTS } from "../../src/backends/wasm/dense/sizes";
import * as slot from "../../src/backends/wasm/dense/slots";
import { partStart, SLACK } from "./bound";
import { dotOrdered, dotWide } from "./dot";
import { bytesOf, expand16, expand64, sum16 } from "./expand";

/** Longest 16-bit vector that is projected; with directions of length 32,700 the products stay under 2^31. */
const LONGEST: f64 = 65_500;
/** Largest number in a rounded vector. */
const LARGEST: f64 = 32_000;
/** Values below this are not worth a scale of their own: they count as loss. */
const TINY: f64 = 1e-100;

/** Added to a number below 2^31, leaves it rounded to the nearest whole one in the lower half of the sum's bits. */
export const WHOLE: f64 = 6755399441055744; // 1.5 · 2^52

// Facts of a vector, float64 each.
export const UNIT: usize = 0; // real value of one unit
export const LOST: usize = 8; // Euclidean norm of what was rounded away, in real units
export const ANY: usize = 16; // 1 if the row has anything but zeros
export const SQUARES: usize = 24; // squared length of each part, in units
export const PRODUCT: usize = 88; // x·b (b minus (n + 1) if the filters are stored so), in real units
export const SUM: usize = 96; // Σx

/** Squared length of a 16-bit vector of `count` numbers, exact. */
export function square16(x: usize, count: i32): f64 {
  let sum = i64x2.splat(0);
  for (let i: usize = 0; i < <usize>count << 1; i += 16) {
    const v = v128.load(x + i);
    const pairs = i32x4.dot_i16x8_s(v, v);
    sum = i64x2.add(sum, i64x2.add(i64x2.extend_low_i32x4_u(pairs), i64x2.extend_high_i32x4_u(pairs)));
  }
  return <f64>(i64x2.extract_lane(sum, 0) + i64x2.extract_lane(sum, 1));
}

/** Writes the squares of the parts; returns whether the whole is short enough. */
function measureParts(x: usize, stride: i32, facts: usize): bool {
  let sum: f64 = 0;
  for (let p = 0; p < PARTS; p++) {
    const from = partStart(stride, p);
    const square = square16(x + (<usize>from << 1), partStart(stride, p + 1) - from);
    store<f64>(facts + SQUARES + (<usize>p << 3), square);
    sum += square;
  }
  return sum <= LONGEST * LONGEST;
}

/** Rounds a float64 vector to 16 bits; writes its unit, loss and squares. */
function quantise(x64: usize, out: usize, stride: i32, facts: usize): void {
  const end = x64 + (<usize>stride << 3);
  let top = f64x2.splat(0);
  for (let at = x64; at < end; at += 16) top = f64x2.max(top, f64x2.abs(v128.load(at)));
  const largest = max(f64x2.extract_lane(top, 0), f64x2.extract_lane(top, 1));
  if (largest < TINY) {
    memory.fill(out, 0, <usize>stride << 1);
    memory.fill(facts + SQUARES, 0, PARTS << 3);
    store<f64>(facts + UNIT, 1);
    store<f64>(facts + LOST, largest * sqrt(<f64>stride) * (1 + SLACK));
    return;
  }
  let scale = LARGEST / largest;
  let loss2 = round16(x64, out, end, scale);
  if (!measureParts(out, stride, facts)) {
    scale *= (LONGEST * 0.99) / sqrt(square16(out, stride));
    loss2 = round16(x64, out, end, scale);
    measureParts(out, stride, facts);
  }
  store<f64>(facts + UNIT, 1 / scale);
  store<f64>(facts + LOST, (sqrt(loss2) * (1 + SLACK) + SLACK) / scale);
}

/** out = x·scale to the nearest whole number; returns the squared length of the difference. */
export function round16(x64: usize, out: usize, end: usize, scale: f64): f64 {
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

/** Filter f minus the middle filter, scaled to the common norm, as float64. */
export function openFilter64(context: usize, f: u32, out: usize): void {
  const stride = load<i32>(context, slot.STRIDE);
  const mode = load<i32>(context, slot.MODE);
  const middle = load<usize>(context, slot.FILTER_MIDDLE);
  const centre = load<f64>(context, slot.CENTRE_F64);
  const factor = load<f64>(context, slot.COMMON_NORM_F64) / load<f64>(load<usize>(context, slot.NORM) + (<usize>f << 3));
  const first = <usize>f * <usize>stride;
  const weights = load<usize>(context, slot.WEIGHTS);
  for (let i: usize = 0; i < <usize>stride; i++) {
    let w: f64 = 0;
    if (mode == ORDERED_F32) w = <f64>load<f32>(weights + ((first + i) << 2));
    else if (mode == ORDERED_F64) w = load<f64>(weights + ((first + i) << 3));
    else if (i < <usize>load<i32>(context, slot.FEATURES)) w = <f64>load<i16>(weights + ((first + i) << 1)) + centre;
    store<f64>(out + (i << 3), w * factor - load<f64>(middle + (i << 3)));
  }
}

/** Filter f minus the middle filter in 16 bits, with its facts; `x64` is scratch. */
export function quantiseFilter(context: usize, f: u32, out: usize, x64: usize, facts: usize): void {
  const stride = load<i32>(context, slot.STRIDE);
  if (load<u32>(context, slot.WHOLE_FILTERS)) {
    const filter = load<usize>(context, slot.WEIGHTS) + <usize>f * (<usize>stride << 1);
    const middle = load<usize>(context, slot.FILTER_MIDDLE_16);
    for (let i: usize = 0; i < <usize>stride << 1; i += 16) {
      v128.store(out + i, i16x8.sub(v128.load(filter + i), v128.load(middle + i)));
    }
    if (measureParts(out, stride, facts)) {
      store<f64>(facts + UNIT, 1);
      store<f64>(facts + LOST, 0);
      return;
    }
  }
  openFilter64(context, f, x64);
  quantise(x64, out, stride, facts);
}

/** Row r in 16 bits, with its facts; `x64` is scratch. */
export function quantiseRow(context: usize, r: u32, out: usize, x64: usize, facts: usize): void {
  const type = load<i32>(context, slot.TYPE);
  const stride = load<i32>(context, slot.STRIDE);
  const features = load<i32>(context, slot.FEATURES);
  const row = load<usize>(context, slot.ROWS) + <usize>r * (<usize>stride * bytesOf(type));
  const b16 = load<usize>(context, slot.FILTER_MIDDLE_16);
  if (load<u32>(context, slot.WHOLE_ROWS) && b16) {
    expand16(type, row, out, features, stride);
    store<f64>(facts + SUM, <f64>sum16(out, stride));
    const flush = load<usize>(context, slot.FILTER_MIDDLE_FLUSH);
    store<f64>(facts + PRODUCT, <f64>dotWide(out, b16, <usize>stride << 1, flush));
    let any = i16x8.splat(0);
    for (let i: usize = 0; i < <usize>stride << 1; i += 16) any = v128.or(any, v128.load(out + i));
    store<f64>(facts + ANY, v128.any_true(any) ? 1 : 0);
    if (measureParts(out, stride, facts)) {
      store<f64>(facts + UNIT, 1);
      store<f64>(facts + LOST, 0);
      return;
    }
  }
  expand64(type, row, x64, stride);
  let any = false;
  let sum: f64 = 0;
  for (let i: usize = 0; i < <usize>stride; i++) {
    const x = load<f64>(x64 + (i << 3));
    sum += x;
    any = any || x != 0;
  }
  const product = dotOrdered<f64>(x64, load<usize>(context, slot.FILTER_MIDDLE), stride);
  const centre: f64 = b16 ? <f64>(features + 1) : 0;
  store<f64>(facts + PRODUCT, product - centre * sum);
  store<f64>(facts + SUM, sum);
  store<f64>(facts + ANY, any ? 1 : 0);
  quantise(x64, out, stride, facts);
}
