/**
 * The update step on dense rows: the sum of each group's rows, ranked or added to an earlier sum. Sums of whole numbers run in 32 bits where they
 * fit, all others in float64 in the order the group lists its rows.
 */

import * as slot from "../../src/backends/wasm/dense/slots";
import { I16, U8, F32 } from "../../src/backends/wasm/engine/slots";
import { bytesOf, expand64 } from "./expand";
import { rankFloat, rankScratch, rankWhole } from "../shared/rank";

/** Rows of bytes whose sums fit 16 bits. */
const BYTE_ROWS: u32 = 257;
/** Rows of 16-bit values whose sums fit 32 bits. */
const WORD_ROWS: u32 = 32_768;
/** Rows of bytes whose sums fit 31 bits. */
const MOST_BYTE_ROWS: u32 = 8_000_000;
/** Whole numbers up to this stay exact when 32 bits are added. */
const MOST_WHOLE: f64 = 4_503_599_627_370_496;

/** Scratch of `rank_sums`: two float64 vectors and what ranking needs. */
export function scratch_sums(context: usize): usize {
  const stride = <usize>load<u32>(context, slot.STRIDE);
  return stride * 16 + rankScratch(stride);
}

/** One filter for each group in [from, to). */
export function rank_sums(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const type = load<i32>(context, slot.TYPE);
  const stride = load<i32>(context, slot.STRIDE);
  const features = load<u32>(context, slot.FEATURES);
  const offsets = load<usize>(context, slot.GROUP_OFFSETS);
  const distribution = load<usize>(context, slot.DISTRIBUTION);
  const bytes = load<i32>(context, slot.OUT_BYTES);
  const ranking = scratch + (<usize>stride << 4);
  for (let g = from; g < to; g++) {
    const first = load<u32>(offsets + (<usize>g << 2));
    const last = load<u32>(offsets + (<usize>g << 2), 4);
    const out = load<usize>(context, slot.OUT_WEIGHTS) + <usize>g * <usize>features * <usize>bytes;
    const fits = type == U8 ? last - first <= MOST_BYTE_ROWS : type < F32 && last - first <= WORD_ROWS;
    if (fits && !load<usize>(context, slot.GROUP_WEIGHT)) {
      if (type == U8) sumBytes(context, first, last, stride, scratch);
      else sumWords(context, first, last, stride, type == I16, scratch);
      rankWhole(scratch, features, 0, distribution, ranking, out, bytes);
    } else {
      memory.fill(scratch, 0, <usize>stride << 3);
      addRows(context, first, last, stride, scratch, scratch + (<usize>stride << 3));
      rankFloat(scratch, features, 0, distribution, ranking, out, bytes);
    }
  }
  return 0;
}

/** Adds the rows of each group in [from, to) to its float64 sums at OUT_VALUE, STRIDE of them a group. */
export function add_sums(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const type = load<i32>(context, slot.TYPE);
  const stride = load<i32>(context, slot.STRIDE);
  const offsets = load<usize>(context, slot.GROUP_OFFSETS);
  for (let g = from; g < to; g++) {
    const first = load<u32>(offsets + (<usize>g << 2));
    const last = load<u32>(offsets + (<usize>g << 2), 4);
    const sums = load<usize>(context, slot.OUT_VALUE) + <usize>g * (<usize>stride << 3);
    const isWhole = settle(sums, stride);
    const fits = type == U8 ? last - first <= MOST_BYTE_ROWS : type < F32 && last - first <= WORD_ROWS;
    if (isWhole && fits && !load<usize>(context, slot.GROUP_WEIGHT)) {
      if (type == U8) sumBytes(context, first, last, stride, scratch);
      else sumWords(context, first, last, stride, type == I16, scratch);
      addWhole(scratch, sums, stride);
    } else addRows(context, first, last, stride, sums, scratch);
  }
  return 0;
}

/**
 * Makes negative zeros positive, as a sum that begins with zero is. Returns whether rows of whole numbers can be added in any order: all
 * sums are whole and small.
 */
function settle(sums: usize, stride: i32): bool {
  let others = i64x2.splat(0);
  for (let i: usize = 0; i < <usize>stride << 3; i += 16) {
    const two = f64x2.add(v128.load(sums + i), f64x2.splat(0));
    v128.store(sums + i, two);
    others = v128.or(others, f64x2.ne(two, f64x2.floor(two)));
    others = v128.or(others, f64x2.gt(f64x2.abs(two), f64x2.splat(MOST_WHOLE)));
  }
  return !v128.any_true(others);
}

/** sums += 32-bit sums. */
function addWhole(whole: usize, sums: usize, stride: i32): void {
  for (let i: usize = 0; i < <usize>stride; i += 4) {
    const four = v128.load(whole + (i << 2));
    const at = sums + (i << 3);
    v128.store(at, f64x2.add(v128.load(at), f64x2.convert_low_i32x4_s(four)));
    const high = f64x2.convert_low_i32x4_s(v128.shuffle<i32>(four, four, 2, 3, 0, 1));
    v128.store(at, f64x2.add(v128.load(at, 16), high), 16);
  }
}

/** sum += weight · row, for entries [first, last) of GROUP_ROWS. */
function addRows(context: usize, first: u32, last: u32, stride: i32, sum: usize, wide: usize): void {
  const type = load<i32>(context, slot.TYPE);
  const weight = load<usize>(context, slot.GROUP_WEIGHT);
  for (let e = first; e < last; e++) {
    expand64(type, rowAt(context, e, stride, type), wide, stride);
    const factor = f64x2.splat(weight ? load<f64>(weight + (<usize>e << 3)) : 1);
    for (let i: usize = 0; i < <usize>stride << 3; i += 16) {
      v128.store(sum + i, f64x2.add(v128.load(sum + i), f64x2.mul(factor, v128.load(wide + i))));
    }
  }
}

// @ts-ignore: decorator
@inline
function rowAt(context: usize, e: u32, stride: i32, type: i32): usize {
  const r = load<u32>(load<usize>(context, slot.GROUP_ROWS) + (<usize>e << 2));
  return load<usize>(context, slot.ROWS) + <usize>r * (<usize>stride * bytesOf(type));
}

/** 32-bit sums of rows of bytes. */
function sumBytes(context: usize, first: u32, last: u32, stride: i32, sum: usize): void {
  const rows = load<usize>(context, slot.ROWS);
  const list = load<usize>(context, slot.GROUP_ROWS);
  for (let start = first; start < last || start == first; start += BYTE_ROWS) {
    const end = min(start + BYTE_ROWS, last);
    for (let i: usize = 0; i < <usize>stride; i += 32) {
      const full = i + 32 <= <usize>stride;
      let a = i16x8.splat(0);
      let b = a;
      let c = a;
      let d = a;
      for (let e = start; e < end; e++) {
        const at = rows + <usize>load<u32>(list + (<usize>e << 2)) * <usize>stride + i;
        a = i16x8.add(a, v128.load8x8_u(at));
        if (!full) continue;
        b = i16x8.add(b, v128.load8x8_u(at, 8));
        c = i16x8.add(c, v128.load8x8_u(at, 16));
        d = i16x8.add(d, v128.load8x8_u(at, 24));
      }
      const out = sum + (i << 2);
      flush(a, out, start > first);
      if (full) {
        flush(b, out + 32, start > first);
        flush(c, out + 64, start > first);
        flush(d, out + 96, start > first);
      } else i -= 24;
    }
  }
}

/** Eight 16-bit sums to 32 bits, added to what is there or replacing it. */
// @ts-ignore: decorator
@inline
function flush(eight: v128, out: usize, add: bool): void {
  let low = i32x4.extend_low_i16x8_u(eight);
  let high = i32x4.extend_high_i16x8_u(eight);
  if (add) {
    low = i32x4.add(low, v128.load(out));
    high = i32x4.add(high, v128.load(out, 16));
  }
  v128.store(out, low);
  v128.store(out, high, 16);
}

/** 32-bit sums of rows of 16-bit values. */
function sumWords(context: usize, first: u32, last: u32, stride: i32, signed: bool, sum: usize): void {
  const rows = load<usize>(context, slot.ROWS);
  const list = load<usize>(context, slot.GROUP_ROWS);
  for (let i: usize = 0; i < <usize>stride << 1; i += 16) {
    let low = i32x4.splat(0);
    let high = low;
    for (let e = first; e < last; e++) {
      const eight = v128.load(rows + <usize>load<u32>(list + (<usize>e << 2)) * (<usize>stride << 1) + i);
      low = i32x4.add(low, signed ? i32x4.extend_low_i16x8_s(eight) : i32x4.extend_low_i16x8_u(eight));
      high = i32x4.add(high, signed ? i32x4.extend_high_i16x8_s(eight) : i32x4.extend_high_i16x8_u(eight));
    }
    v128.store(sum + (i << 1), low);
    v128.store(sum + (i << 1), high, 16);
  }
}
