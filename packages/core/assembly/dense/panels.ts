/**
 * The strongest filters of dense rows where bounds would not pay: a score for every filter, eight filters and four rows at a time, then
 * the responses of those that the scores leave in doubt. Scores are products of 16-bit vectors.
 *
 * **Whole numbers** (WHOLE_NARROW). The vectors are the row and the weights themselves, so that x·w is the score and a number that all
 * filters share. Of distinct products below 2^53 that differ by 3 or more the larger has the larger quotient by the common norm.
 *
 * **All others.** X is x·s rounded, V is (w - c)·t rounded, c any number, t the same for all filters. With e = x·s - X and
 * d = (w - c)·t - V, Cauchy and Schwarz bound what a score is off: |s·t·x·(w - c) - X·V| <= |e|·|(w - c)·t| + |X|·|d|. The first
 * and the last length of each side are measured, for the filters as the largest of all. c adds the same to all products of a row. A
 * response has fewer than n + 16 roundings, each of at most 2^-53 of |x||w|, and equal norms: a filter whose score lies further
 * below the k-th largest than twice what scores are off, and twice what products round, is weaker than k others. Rounding in
 * the scaled numbers themselves is below one unit of a score. |X| <= 65,100 and |V| <= 30,100 for up to 2^15 features, so that
 * no score exceeds 31 bits.
 */

import { ORDERED_F32, ORDERED_F64 } from "../../src/backends/wasm/dense/sizes";
import * as slot from "../../src/backends/wasm/dense/slots";
import { kthLargest, nextAtLeast } from "../shared/largest";
import { clearTop, offerNew, sortTop } from "../shared/top";
import { bytesOf, expand64 } from "./expand";
import { openRow, respond } from "./respond";

/** Rows that meet a part of the filters while it is in the cache, and bytes of that part. */
const TILE: u32 = 16;
const CACHED_BYTES: usize = 1 << 17;
/** Length of a row in units, and its largest number. */
const LONGEST_ROW: f64 = 65_000;
const LARGEST: f64 = 32_000;
/** Rows of a length outside these could round in ways that no allowance covers. */
const SHORT: f64 = 1e-140;
const LONG: f64 = 1e140;

/** Filters in panels: a multiple of 8. */
// @ts-ignore: decorator
@inline
function placesOf(context: usize): usize {
  return (<usize>load<u32>(context, slot.FILTERS) + 7) & ~7;
}

// Scratch: one row, a tile of rows in units, their scores, what each score may be off, the k largest.
// @ts-ignore: decorator
@inline
function scoresAt(context: usize): usize {
  const stride = <usize>load<u32>(context, slot.STRIDE);
  return (stride << 3) + stride * 2 * TILE;
}

// @ts-ignore: decorator
@inline
function marginsAt(context: usize): usize {
  return scoresAt(context) + placesOf(context) * 4 * TILE;
}

export function scratch_panels(context: usize): usize {
  return marginsAt(context) + TILE * 8 + (<usize>load<u32>(context, slot.K) << 2) + 64;
}

/** Packs the blocks [from, to) of eight filters. Returns the largest length of what was rounded away, in units. */
export function pack_panels(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const filters = load<u32>(context, slot.FILTERS);
  const stride = <usize>load<u32>(context, slot.STRIDE);
  const panels = load<usize>(context, slot.PANELS);
  let largest: f64 = 0;
  for (let b = from; b < to; b++) {
    const panel = panels + <usize>b * (stride << 4);
    memory.fill(panel, 0, stride << 4);
    for (let j: u32 = 0; j < 8 && b * 8 + j < filters; j++) {
      largest = max(largest, packFilter(context, b * 8 + j, panel + (<usize>j << 2)));
    }
  }
  return sqrt(largest);
}

// @ts-ignore: decorator
@inline
function weightAt(weights: usize, i: usize, mode: i32): f64 {
  if (mode == ORDERED_F64) return load<f64>(weights + (i << 3));
  return mode == ORDERED_F32 ? <f64>load<f32>(weights + (i << 2)) : <f64>load<i16>(weights + (i << 1));
}

/** Filter f to every eighth pair from `out` on. Returns the squared length of what was rounded away. */
function packFilter(context: usize, f: u32, out: usize): f64 {
  const mode = load<i32>(context, slot.MODE);
  const stride = <usize>load<u32>(context, slot.STRIDE);
  const features = <usize>load<u32>(context, slot.FEATURES);
  const weights = load<usize>(context, slot.WEIGHTS);
  const scale = load<f64>(context, slot.PANEL_SCALE_F64);
  const centre = load<f64>(context, slot.PANEL_CENTRE_F64);
  const first = <usize>f * stride;
  let lost: f64 = 0;
  for (let i: usize = 0; i < features; i++) {
    const at = out + ((i >> 1) << 5) + ((i & 1) << 1);
    if (scale == 0) {
      store<i16>(at, load<i16>(weights + ((first + i) << 1)));
      continue;
    }
    const units = (weightAt(weights, first + i, mode) - centre) * scale;
    const whole = nearest(units);
    lost += (units - whole) * (units - whole);
    store<i16>(at, <i16>whole);
  }
  return lost;
}

/** The largest squared length of filters [from, to), less CENTRE. */
export function measure_panels(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const mode = load<i32>(context, slot.MODE);
  const stride = <usize>load<u32>(context, slot.STRIDE);
  const features = <usize>load<u32>(context, slot.FEATURES);
  const weights = load<usize>(context, slot.WEIGHTS);
  const centre = load<f64>(context, slot.PANEL_CENTRE_F64);
  let largest: f64 = 0;
  for (let f = from; f < to; f++) {
    const first = <usize>f * stride;
    let square: f64 = 0;
    for (let i: usize = 0; i < features; i++) {
      const w = weightAt(weights, first + i, mode) - centre;
      square += w * w;
    }
    largest = max(largest, square);
  }
  return largest;
}

/** The k strongest filters of rows [from, to). Returns the responses computed, all of them where scores are exact. */
export function top_filters_panels(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const stride = <usize>load<u32>(context, slot.STRIDE);
  const places = placesOf(context);
  const tile = scratch + (stride << 3);
  const scores = scratch + scoresAt(context);
  const margins = scratch + marginsAt(context);
  const panels = load<usize>(context, slot.PANELS);
  const panelBytes = stride << 4;
  const cached = max<usize>(8, (CACHED_BYTES / panelBytes) << 3);
  let exact: f64 = 0;
  for (let first = from; first < to; first += TILE) {
    const count = min(TILE, to - first);
    for (let r: u32 = 0; r < count; r++) {
      // Pairs of four rows lie together.
      const out = tile + <usize>(r >> 2) * (stride << 3) + (<usize>(r & 3) << 2);
      store<f64>(margins + (<usize>r << 3), placeRow(context, first + r, scratch, out));
    }
    for (let start: usize = 0; start < places; start += cached) {
      const end = min(start + cached, places);
      for (let r: u32 = 0; r < count; r += 4) {
        const four = tile + <usize>(r >> 2) * (stride << 3);
        const own = scores + <usize>r * (places << 2);
        const isOne = count - r == 1;
        for (let p = start; p < end; p += 8) {
          const panel = panels + (p >> 3) * panelBytes;
          if (isOne) scoreOne(four, panel, panelBytes, own + (p << 2));
          else scoreFour(four, panel, panelBytes, own + (p << 2), places << 2);
        }
      }
    }
    for (let r: u32 = 0; r < count; r++) {
      exact += answer(context, first + r, scores + <usize>r * (places << 2), load<f64>(margins + (<usize>r << 3)), scratch);
    }
  }
  return exact;
}

/** Row r in 16 bits to every fourth pair from `out` on. Returns what makes a difference of two scores sure, 2 where they are exact. */
function placeRow(context: usize, r: u32, scratch: usize, out: usize): f64 {
  const stride = <usize>load<u32>(context, slot.STRIDE);
  const scale = load<f64>(context, slot.PANEL_SCALE_F64);
  if (scale == 0) {
    openRow(context, r, scratch);
    for (let i: usize = 0; i < stride; i += 2) store<u32>(out + (i << 3), load<u32>(scratch + (i << 1)));
    return 2;
  }
  const type = load<i32>(context, slot.TYPE);
  expand64(type, load<usize>(context, slot.ROWS) + <usize>r * (stride * bytesOf(type)), scratch, <i32>stride);
  const end = scratch + (stride << 3);
  let top = f64x2.splat(0);
  let squares = f64x2.splat(0);
  for (let at = scratch; at < end; at += 16) {
    const two = v128.load(at);
    top = f64x2.pmax(top, f64x2.abs(two));
    squares = f64x2.add(squares, f64x2.mul(two, two));
  }
  const length = sqrt(f64x2.extract_lane(squares, 0) + f64x2.extract_lane(squares, 1));
  const largest = max(f64x2.extract_lane(top, 0), f64x2.extract_lane(top, 1));
  const units = length > SHORT && length < LONG ? min(LONGEST_ROW / length, LARGEST / largest) : 0;
  const factor = f64x2.splat(units);
  let lost = f64x2.splat(0);
  let kept = lost;
  for (let at = scratch; at < end; at += 16, out += 16) {
    const two = f64x2.mul(v128.load(at), factor);
    const whole = f64x2.nearest(two);
    const less = f64x2.sub(two, whole);
    lost = f64x2.add(lost, f64x2.mul(less, less));
    kept = f64x2.add(kept, f64x2.mul(whole, whole));
    const words = i32x4.trunc_sat_f64x2_s_zero(whole);
    store<u32>(out, (i32x4.extract_lane(words, 0) & 0xffff) | (i32x4.extract_lane(words, 1) << 16));
  }
  if (units == 0) return Infinity;
  const rowLoss = sqrt(f64x2.extract_lane(lost, 0) + f64x2.extract_lane(lost, 1));
  const rowLength = sqrt(f64x2.extract_lane(kept, 0) + f64x2.extract_lane(kept, 1));
  const off = rowLoss * load<f64>(context, slot.PANEL_LONGEST_F64) + rowLength * load<f64>(context, slot.PANEL_LOSS_F64);
  const rounding = (<f64>stride + 16) * 2.220446049250313e-16 * length * load<f64>(context, slot.LONGEST_F64) * units * scale;
  return 2 * (off * (1 + 1e-9) + rounding) + 4;
}

/** Scores of four rows and eight filters. */
function scoreFour(rows: usize, panel: usize, bytes: usize, out: usize, apart: usize): void {
  let a0 = i32x4.splat(0);
  let a1 = a0;
  let a2 = a0;
  let a3 = a0;
  let b0 = a0;
  let b1 = a0;
  let b2 = a0;
  let b3 = a0;
  const end = panel + bytes;
  do {
    const w = v128.load(panel);
    const u = v128.load(panel, 16);
    let x = v128.load32_splat(rows);
    a0 = i32x4.add(a0, i32x4.dot_i16x8_s(x, w));
    b0 = i32x4.add(b0, i32x4.dot_i16x8_s(x, u));
    x = v128.load32_splat(rows, 4);
    a1 = i32x4.add(a1, i32x4.dot_i16x8_s(x, w));
    b1 = i32x4.add(b1, i32x4.dot_i16x8_s(x, u));
    x = v128.load32_splat(rows, 8);
    a2 = i32x4.add(a2, i32x4.dot_i16x8_s(x, w));
    b2 = i32x4.add(b2, i32x4.dot_i16x8_s(x, u));
    x = v128.load32_splat(rows, 12);
    a3 = i32x4.add(a3, i32x4.dot_i16x8_s(x, w));
    b3 = i32x4.add(b3, i32x4.dot_i16x8_s(x, u));
    panel += 32;
    rows += 16;
  } while (panel < end);
  v128.store(out, a0);
  v128.store(out, b0, 16);
  v128.store(out + apart, a1);
  v128.store(out + apart, b1, 16);
  v128.store(out + 2 * apart, a2);
  v128.store(out + 2 * apart, b2, 16);
  v128.store(out + 3 * apart, a3);
  v128.store(out + 3 * apart, b3, 16);
}

/** The same for the first row alone. */
function scoreOne(rows: usize, panel: usize, bytes: usize, out: usize): void {
  let a = i32x4.splat(0);
  let b = a;
  let c = a;
  let d = a;
  const end = panel + bytes;
  do {
    // Strides are multiples of eight: pairs come in fours.
    let x = v128.load32_splat(rows);
    a = i32x4.add(a, i32x4.dot_i16x8_s(x, v128.load(panel)));
    b = i32x4.add(b, i32x4.dot_i16x8_s(x, v128.load(panel, 16)));
    x = v128.load32_splat(rows, 16);
    c = i32x4.add(c, i32x4.dot_i16x8_s(x, v128.load(panel, 32)));
    d = i32x4.add(d, i32x4.dot_i16x8_s(x, v128.load(panel, 48)));
    panel += 64;
    rows += 32;
  } while (panel < end);
  v128.store(out, i32x4.add(a, c));
  v128.store(out, i32x4.add(b, d), 16);
}

/** The answer for row r from its scores. Returns the responses computed. */
function answer(context: usize, r: u32, scores: usize, margin: f64, scratch: usize): f64 {
  const k = load<i32>(context, slot.K);
  const filters = <usize>load<u32>(context, slot.FILTERS);
  const values = load<usize>(context, slot.OUT_VALUE) + (<usize>r * <usize>k << 3);
  const ids = load<usize>(context, slot.OUT_ID) + (<usize>r * <usize>k << 2);
  const heap = scratch + marginsAt(context) + TILE * 8;
  const isExact = load<f64>(context, slot.PANEL_SCALE_F64) == 0;
  const least = <i32>max<f64>(-2147483648, floor(<f64>kthLargest<i32>(scores, filters, <usize>k, heap) - margin));
  const term = openRow(context, r, scratch);
  const norms = load<usize>(context, slot.NORM);
  let exact: f64 = 0;
  clearTop(values, ids, k);
  for (let p = nextAtLeast<i32>(scores, 0, filters, least); p < filters; p = nextAtLeast<i32>(scores, p + 1, filters, least)) {
    const f = <u32>p;
    const response = isExact
      ? (<f64>load<i32>(scores + (p << 2)) + term) / load<f64>(norms + (p << 3))
      : respond(context, scratch, term, f);
    offerNew(response, f, values, ids, k);
    exact++;
  }
  sortTop(values, ids, k);
  return isExact ? <f64>filters : exact;
}
