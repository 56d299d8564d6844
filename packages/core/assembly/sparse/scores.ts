/**
 * One row against all places of an index: x·w = base·Σx + Σ x·(w - base). With whole weights as 32-bit integers, exact;
 * otherwise in float32, approximate, of the row scaled by a power of two. What the row meets in the index is looked up
 * first, so that the many waits for memory run side by side. Columns are added after everything else: to all scores, or
 * to those of a few places, after a look at how much they can matter.
 */

import * as slot from "../../src/backends/wasm/sparse/slots";
import { COLUMN } from "./inverted-index";
import { entryOf, valueAt } from "./rows";

/** Positions in the scratch: the row's sum, the sum of its absolute values, its scale, where its columns end, and the scores. */
const SIZE: usize = 8;
const SCALE: usize = 16;
const MET_END: usize = 24;
const SCORES: usize = 64;

/** Bytes of scratch, a multiple of 64: scores, and the columns and lists the row meets. */
export function scratchScores(context: usize): usize {
  return (metAt(context) + <usize>load<u32>(context, slot.MOST_ENTRIES) * 20 + 63) & ~63;
}

/** Where columns are noted; lists follow. */
// @ts-ignore: decorator
@inline
function metAt(context: usize): usize {
  return SCORES + (<usize>load<u32>(context, slot.ROOM) << 2);
}

/** Sum of the row. */
// @ts-ignore: decorator
@inline
export function sumOf(scratch: usize): f64 {
  return load<f64>(scratch);
}

/** Sum of the row's absolute values, scaled. */
// @ts-ignore: decorator
@inline
export function sizeOf(scratch: usize): f64 {
  return load<f64>(scratch, SIZE);
}

/** The power of two by which the row is scaled. */
// @ts-ignore: decorator
@inline
export function scaleOf(scratch: usize): f64 {
  return load<f64>(scratch, SCALE);
}

/** The scores: 4 bytes a place. */
// @ts-ignore: decorator
@inline
export function scoresOf(scratch: usize): usize {
  return scratch + SCORES;
}

/**
 * Scores row r, columns left out. Returns whether it could: with whole weights, whether the row is small enough for 32-bit
 * products.
 */
export function scoreRow(context: usize, r: u32, scratch: usize): bool {
  if (!load<u32>(context, slot.WHOLE)) {
    measureRow(context, r, scratch, scaleFor(largestOf(context, r)));
    score<f32>(context, r, scratch);
    return true;
  }
  measureRow(context, r, scratch, 1);
  if (!(sizeOf(scratch) < load<f64>(context, slot.LARGEST_32_F64))) return false;
  score<i32>(context, r, scratch);
  return true;
}

function largestOf(context: usize, r: u32): f64 {
  const values = load<usize>(context, slot.ROW_VALUES);
  const type = load<i32>(context, slot.ROW_TYPE);
  const last = entryOf(context, r + 1);
  let largest: f64 = 0;
  for (let e = entryOf(context, r); e < last; e++) largest = max(largest, abs(valueAt(values, e, type)));
  return largest;
}

/** A power of two that brings `largest` near 1; bounded, so that it and its inverse are normal numbers. */
// @ts-ignore: decorator
@inline
function scaleFor(largest: f64): f64 {
  const exponent = <i64>((reinterpret<u64>(largest) >> 52) & 0x7ff) - 1023;
  const bounded = min<i64>(1000, max<i64>(-1000, exponent));
  return reinterpret<f64>(<u64>(1023 - bounded) << 52);
}

function measureRow(context: usize, r: u32, scratch: usize, scale: f64): void {
  const values = load<usize>(context, slot.ROW_VALUES);
  const type = load<i32>(context, slot.ROW_TYPE);
  const last = entryOf(context, r + 1);
  let sum: f64 = 0;
  let size: f64 = 0;
  for (let e = entryOf(context, r); e < last; e++) {
    const x = valueAt(values, e, type) * scale;
    sum += x;
    size += abs(x);
  }
  store<f64>(scratch, sum);
  store<f64>(scratch, size, SIZE);
  store<f64>(scratch, scale, SCALE);
}

function score<T extends number>(context: usize, r: u32, scratch: usize): void {
  const indices = load<usize>(context, slot.ROW_INDICES);
  const values = load<usize>(context, slot.ROW_VALUES);
  const type = load<i32>(context, slot.ROW_TYPE);
  const table = load<usize>(context, slot.TABLE);
  const postings = load<usize>(context, slot.POSTINGS);
  const columns = load<usize>(context, slot.COLUMNS);
  const bytes = <usize>load<u32>(context, slot.ROOM) << 2;
  const scale = scaleOf(scratch);
  const scores = scratch + SCORES;
  const first = entryOf(context, r);
  const last = entryOf(context, r + 1);
  const met = scratch + metAt(context);
  const lists = met + ((last - first) << 3);
  let column = met;
  let list = lists;
  for (let e = first; e < last; e++) {
    const entry = table + (<usize>load<u32>(indices + (e << 2)) << 3);
    const count = load<u32>(entry, 4);
    if (count == 0) continue;
    const x = <T>(valueAt(values, e, type) * scale);
    if (count == COLUMN) {
      store<u32>(column, <u32>(columns + <usize>load<u32>(entry) * bytes));
      store<T>(column, x, 4);
      column += 8;
    } else {
      const at = postings + (<usize>load<u32>(entry) << 3);
      store<u32>(list, <u32>at);
      store<u32>(list, <u32>at + (count << 3), 4);
      store<T>(list, x, 8);
      list += 12;
    }
  }
  startScores<T>(scores, load<usize>(context, slot.PLACE_BASE_32S), <T>sumOf(scratch), bytes);
  for (let next = lists; next < list; next += 12) {
    let at = load<usize>(next);
    const end = load<usize>(next, 4);
    const x = load<T>(next, 8);
    for (; at < end; at += 8) {
      const place = scores + <usize>load<u32>(at);
      store<T>(place, load<T>(place) + x * load<T>(at, 4));
    }
  }
  store<u32>(scratch, <u32>column, MET_END);
}

/** Adds the columns the row meets to all scores. */
export function addColumns<T extends number>(context: usize, scratch: usize): void {
  const scores = scratch + SCORES;
  const bytes = <usize>load<u32>(context, slot.ROOM) << 2;
  const end = load<usize>(scratch, MET_END);
  let next = scratch + metAt(context);
  for (; next + 32 <= end; next += 32) addFour<T>(scores, next, bytes);
  for (; next < end; next += 8) addOne<T>(scores, next, bytes);
}

/** The most that the columns the row meets can add to a score. */
export function mostOfColumns<T extends number>(context: usize, scratch: usize): f64 {
  const columns = load<usize>(context, slot.COLUMNS);
  const bounds = load<usize>(context, slot.COLUMN_BOUNDS);
  const bytes = <usize>load<u32>(context, slot.ROOM) << 2;
  const end = load<usize>(scratch, MET_END);
  let most: f64 = 0;
  for (let next = scratch + metAt(context); next < end; next += 8) {
    const bound = bounds + (((load<usize>(next) - columns) / bytes) << 3);
    const x = <f64>load<T>(next, 4);
    most += x * <f64>(x > 0 ? load<T>(bound) : load<T>(bound, 4));
  }
  return most;
}

/** The score of place p with the columns the row meets. */
export function scoreAt<T extends number>(context: usize, scratch: usize, p: usize): T {
  const end = load<usize>(scratch, MET_END);
  let score = load<T>(scratch + SCORES + (p << 2));
  for (let next = scratch + metAt(context); next < end; next += 8) {
    score += load<T>(next, 4) * load<T>(load<usize>(next) + (p << 2));
  }
  return score;
}

function startScores<T extends number>(scores: usize, bases: usize, sum: T, bytes: usize): void {
  const sums = v128.splat<T>(sum);
  for (let p: usize = 0; p < bytes; p += 16) v128.store(scores + p, v128.mul<T>(v128.load(bases + p), sums));
}

function addFour<T extends number>(scores: usize, four: usize, bytes: usize): void {
  const a = load<usize>(four);
  const b = load<usize>(four, 8);
  const c = load<usize>(four, 16);
  const d = load<usize>(four, 24);
  const xa = v128.load32_splat(four, 4);
  const xb = v128.load32_splat(four, 12);
  const xc = v128.load32_splat(four, 20);
  const xd = v128.load32_splat(four, 28);
  for (let p: usize = 0; p < bytes; p += 16) {
    const ab = v128.add<T>(v128.mul<T>(v128.load(a + p), xa), v128.mul<T>(v128.load(b + p), xb));
    const cd = v128.add<T>(v128.mul<T>(v128.load(c + p), xc), v128.mul<T>(v128.load(d + p), xd));
    v128.store(scores + p, v128.add<T>(v128.load(scores + p), v128.add<T>(ab, cd)));
  }
}

function addOne<T extends number>(scores: usize, one: usize, bytes: usize): void {
  const a = load<usize>(one);
  const x = v128.load32_splat(one, 4);
  for (let p: usize = 0; p < bytes; p += 16) {
    v128.store(scores + p, v128.add<T>(v128.load(scores + p), v128.mul<T>(v128.load(a + p), x)));
  }
}

/** x·w of row r as float64, for rows too large for 32 bits; exact below 2^53. */
export function scoreWide(context: usize, r: u32, sum: f64, scores: usize): void {
  const indices = load<usize>(context, slot.ROW_INDICES);
  const values = load<usize>(context, slot.ROW_VALUES);
  const type = load<i32>(context, slot.ROW_TYPE);
  const table = load<usize>(context, slot.TABLE);
  const bases = load<usize>(context, slot.PLACE_BASE_F64S);
  const room = <usize>load<u32>(context, slot.ROOM);
  const sums = f64x2.splat(sum);
  for (let p: usize = 0; p < room << 3; p += 16) v128.store(scores + p, f64x2.mul(v128.load(bases + p), sums));
  const last = entryOf(context, r + 1);
  for (let e = entryOf(context, r); e < last; e++) {
    const entry = table + (<usize>load<u32>(indices + (e << 2)) << 3);
    const count = load<u32>(entry, 4);
    if (count == 0) continue;
    const x = valueAt(values, e, type);
    if (count == COLUMN) {
      const at = load<usize>(context, slot.COLUMNS) + <usize>load<u32>(entry) * (room << 2);
      const xs = f64x2.splat(x);
      for (let p: usize = 0; p < room << 2; p += 8) {
        const two = f64x2.convert_low_i32x4_s(v128.load64_zero(at + p));
        const score = scores + (p << 1);
        v128.store(score, f64x2.add(v128.load(score), f64x2.mul(two, xs)));
      }
      continue;
    }
    let at = load<usize>(context, slot.POSTINGS) + (<usize>load<u32>(entry) << 3);
    const end = at + (<usize>count << 3);
    for (; at < end; at += 8) {
      const score = scores + (<usize>load<u32>(at) << 1);
      store<f64>(score, load<f64>(score) + x * <f64>load<i32>(at, 4));
    }
  }
}
