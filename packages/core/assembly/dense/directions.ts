/**
 * Directions that hold most of what rows and filters vary in: subspace iteration on a sample of both over each part of the
 * features, then on the coordinates of the sample, for the rotation (`bound.ts`). The directions decide only how much the bounds prune, never an answer, so
 * 16-bit products are good enough; whatever comes out is scaled to a contraction by a bound that holds for certain.
 */

import { LEVEL_2, LEVEL_3, PARTS } from "../../src/backends/wasm/dense/sizes";
import * as slot from "../../src/backends/wasm/dense/slots";
import { PART_LENGTH, partStart } from "./bound";
import { joinSums } from "./dot";
import { bytesOf, expand64 } from "./expand";
import { openFilter64, round16, WHOLE } from "./quantise";
import { packPanel, panelBytes, tile } from "./tile";
import { transpose, transpose8 } from "./transpose";

/** Root mean square length of a sampled vector: all of them together stay under 2^16 for up to 1,024 vectors. */
const SAMPLE_LENGTH: f64 = 2_040;
/** Length of a sampled filter relative to a row. Measured: filters vary in fewer directions, which rows know as well. */
const FILTER_SHARE: f64 = 0.7;
/** Longest single sampled vector. */
const SAMPLE_LONGEST: f64 = 30_000;
/** Length of a direction in 16 bits. */
const DIRECTION_LENGTH: f32 = 32_700;
/** Length of a column of products, less than 2^31 over the length of all samples together. */
const COLUMN_LENGTH: f64 = 32_000;
/** A vector this much shorter than before its neighbours were taken out has nothing of its own. */
const SPENT: f32 = 1e-5;

// Where things lie in the work area.
let samples: usize = 0; // 16-bit, one vector per sample
let turned: usize = 0; // 16-bit, one vector per feature
let inner: usize = 0; // the coordinates of the samples, laid out as level 3
let innerTurned: usize = 0; // 16-bit, one vector per coordinate
let columns: usize = 0; // 16-bit, one vector of products per direction
let products: usize = 0; // i32
let vectors: usize = 0; // f32, one vector per direction
let whole: usize = 0; // 16-bit, one vector per direction
let panel: usize = 0;
let wide: usize = 0; // one float64 vector

/** Bytes of the work area. */
export function scratch_directions(context: usize): usize {
  return layOut(context, 0);
}

function layOut(context: usize, area: usize): usize {
  const stride = <usize>load<u32>(context, slot.STRIDE);
  const count = <usize>max<i32>(LEVEL_2, PART_LENGTH);
  const sampled = sampleCount(context);
  samples = area;
  turned = samples + sampled * stride * 2;
  inner = turned + sampled * stride * 2;
  innerTurned = inner + sampled * LEVEL_3 * 2;
  columns = innerTurned + sampled * LEVEL_3 * 2;
  products = columns + sampled * count * 2;
  vectors = products + max(sampled, stride) * count * 4;
  whole = vectors + stride * count * 4;
  panel = whole + stride * count * 2;
  wide = panel + max(sampled, stride) * count * 2;
  return wide + stride * 8;
}

/** Samples, rounded up to a multiple of 8; the rest are zero. */
function sampleCount(context: usize): usize {
  return (<usize>load<u32>(context, slot.SAMPLE_ROW_COUNT) + <usize>load<u32>(context, slot.SAMPLE_FILTER_COUNT) + 7) & ~7;
}

/** Fills DIRECTIONS from the samples in `rounds` rounds and returns the scale that makes them a contraction. */
export function find_directions(from: u32, rounds: u32, area: usize, context: usize): f64 {
  layOut(context, area);
  const stride = load<i32>(context, slot.STRIDE);
  const sampled = <i32>sampleCount(context);
  memory.fill(samples, 0, <usize>sampled * (<usize>stride << 1));
  const rows = load<u32>(context, slot.SAMPLE_ROW_COUNT);
  const filters = load<u32>(context, slot.SAMPLE_FILTER_COUNT);
  gather(context, true, load<usize>(context, slot.SAMPLE_ROWS), rows, SAMPLE_LENGTH, samples);
  const after = samples + <usize>rows * (<usize>stride << 1);
  gather(context, false, load<usize>(context, slot.SAMPLE_FILTERS), filters, SAMPLE_LENGTH * FILTER_SHARE, after);
  transpose(samples, sampled, stride, turned);
  memory.fill(inner, 0, <usize>sampled * (LEVEL_3 << 1));
  let out = load<usize>(context, slot.DIRECTIONS);
  let scale: f64 = 1;
  for (let p = 0; p < PARTS; p++) {
    const first = partStart(stride, p);
    const length = partStart(stride, p + 1) - first;
    const part = samples + (<usize>first << 1);
    const partTurned = turned + <usize>first * (<usize>sampled << 1);
    scale = max(scale, findFor(part, <usize>stride << 1, partTurned, length, PART_LENGTH, sampled, rounds, out));
    multiply(part, <usize>stride << 1, sampled, length, whole, PART_LENGTH);
    takeCoordinates(sampled, p);
    out += panelBytes(PART_LENGTH, length);
  }
  transpose(inner, sampled, LEVEL_3, innerTurned);
  const rotation = findFor(inner, LEVEL_3 << 1, innerTurned, LEVEL_3, LEVEL_2, sampled, rounds, out);
  store<f64>(out + panelBytes(LEVEL_2, LEVEL_3), rotation);
  return scale;
}

/** The products of the samples with the directions of part p as coordinates. */
function takeCoordinates(sampled: i32, p: i32): void {
  for (let s = 0; s < sampled; s++) {
    const out = inner + (<usize>(s * LEVEL_3 + p * PART_LENGTH) << 1);
    const from = products + (<usize>(s * PART_LENGTH) << 2);
    for (let c: usize = 0; c < <usize>PART_LENGTH; c += 4) {
      const four = f32x4.mul(f32x4.convert_i32x4_s(v128.load(from + (c << 2))), f32x4.splat(1 / DIRECTION_LENGTH));
      const whole = i32x4.trunc_sat_f32x4_s(f32x4.nearest(four));
      v128.store64_lane(out + (c << 1), i16x8.narrow_i32x4_s(whole, whole), 0);
    }
  }
}

/** `count` directions of `length` numbers for the vectors `from`, packed to `out`; returns their scale. */
function findFor(
  from: usize, // in: one vector per sample, `step` bytes apart
  step: usize,
  fromTurned: usize, // in: one vector of all samples per number
  length: i32,
  count: i32,
  sampled: i32,
  rounds: u32,
  out: usize,
): f64 {
  const bytes = <usize>length << 1;
  // The first directions are samples, spread evenly over rows and filters.
  for (let c = 0; c < count; c++) {
    memory.copy(whole + <usize>c * bytes, from + <usize>((c * sampled) / count) * step, bytes);
  }
  for (let round: u32 = 0; round < rounds; round++) {
    multiply(from, step, sampled, length, whole, count);
    for (let c: usize = 0; c < <usize>count; c += 8) {
      takeColumns(products + (c << 2), <usize>count << 2, sampled, columns + c * (<usize>sampled << 1));
    }
    multiply(fromTurned, <usize>sampled << 1, length, sampled, columns, count);
    for (let c = 0; c < count; c++) {
      for (let i = 0; i < length; i++) {
        const value = load<i32>(products + (<usize>(i * count + c) << 2));
        store<f32>(vectors + (<usize>(c * length + i) << 2), <f32>value);
      }
    }
    separate(count, length);
    for (let i: usize = 0; i < <usize>(count * length); i++) {
      store<i16>(whole + (i << 1), <i16>nearest(load<f32>(vectors + (i << 2)) * DIRECTION_LENGTH));
    }
  }
  // The last one makes room for ρ.
  memory.fill(whole + <usize>(count - 1) * bytes, 0, bytes);
  packPanel(whole, bytes, length, 0, 0, count, out);
  return contractionScale(count, length);
}

/** Sampled vectors as 16-bit numbers, scaled to the root mean square length `typical`. */
function gather(context: usize, isRow: bool, list: usize, count: u32, typical: f64, out: usize): void {
  const stride = load<i32>(context, slot.STRIDE);
  let total: f64 = 0;
  for (let s: u32 = 0; s < count; s++) total += open(context, isRow, load<u32>(list + (<usize>s << 2)));
  if (total == 0) return;
  const scale = typical / sqrt(total / <f64>count);
  for (let s: u32 = 0; s < count; s++) {
    const length = sqrt(open(context, isRow, load<u32>(list + (<usize>s << 2))));
    const factor = length * scale > SAMPLE_LONGEST ? SAMPLE_LONGEST / length : scale;
    const vector = out + <usize>s * (<usize>stride << 1);
    round16(wide, vector, wide + (<usize>stride << 3), factor);
  }
}

/** Puts a row, or a filter minus the middle one, into `wide`; returns its squared length. */
function open(context: usize, isRow: bool, which: u32): f64 {
  const stride = load<i32>(context, slot.STRIDE);
  if (isRow) {
    const type = load<i32>(context, slot.TYPE);
    expand64(type, load<usize>(context, slot.ROWS) + <usize>which * (<usize>stride * bytesOf(type)), wide, stride);
  } else openFilter64(context, which, wide);
  let sum = f64x2.splat(0);
  for (let i: usize = 0; i < <usize>stride << 3; i += 16) {
    const v = v128.load(wide + i);
    sum = f64x2.add(sum, f64x2.mul(v, v));
  }
  return f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1);
}

/** products[r][c] = left_r · right_c; rows (`step` bytes apart) and length are multiples of 8. */
function multiply(left: usize, step: usize, rows: i32, length: i32, right: usize, count: i32): void {
  const bytes = <usize>length << 1;
  packPanel(right, bytes, length, 0, 0, count, panel);
  for (let r = 0; r < rows; r += 4) {
    const x = left + <usize>r * step;
    const out = products + <usize>r * (<usize>count << 2);
    for (let b = 0; b < count >> 3; b++) {
      const block = panel + <usize>b * panelBytes(8, length);
      tile(x, x + step, x + 2 * step, x + 3 * step, block, bytes, out + (<usize>b << 5), <usize>count << 2);
    }
  }
}

/** Eight columns of the products, `step` bytes from row to row, as 16-bit vectors of length COLUMN_LENGTH. */
function takeColumns(from: usize, step: usize, sampled: i32, out: usize): void {
  const end = from + <usize>sampled * step;
  let s01 = f64x2.splat(0);
  let s23 = s01;
  let s45 = s01;
  let s67 = s01;
  let at = from;
  do {
    const low = v128.load(at);
    const high = v128.load(at, 16);
    s01 = f64x2.add(s01, squares(low));
    s23 = f64x2.add(s23, squares(upper(low)));
    s45 = f64x2.add(s45, squares(high));
    s67 = f64x2.add(s67, squares(upper(high)));
    at += step;
  } while (at < end);
  s01 = columnScale(s01);
  s23 = columnScale(s23);
  s45 = columnScale(s45);
  s67 = columnScale(s67);
  // Eight rows at a time, by way of `wide`.
  let row = wide;
  do {
    const low = v128.load(from);
    const high = v128.load(from, 16);
    const first = words(raise(low, s01), raise(upper(low), s23));
    v128.store(row, i16x8.narrow_i32x4_s(first, words(raise(high, s45), raise(upper(high), s67))));
    from += step;
    row += 16;
    if (row == wide + 128) {
      transpose8(wide, 16, out, <usize>sampled << 1);
      row = wide;
      out += 16;
    }
  } while (from < end);
}

// @ts-ignore: decorator
@inline
function upper(four: v128): v128 {
  return v128.shuffle<i32>(four, four, 2, 3, 0, 1);
}

// @ts-ignore: decorator
@inline
function squares(four: v128): v128 {
  const two = f64x2.convert_low_i32x4_s(four);
  return f64x2.mul(two, two);
}

/** What brings columns with these squared lengths to COLUMN_LENGTH; 0 for empty ones. */
// @ts-ignore: decorator
@inline
function columnScale(squared: v128): v128 {
  const scale = f64x2.div(f64x2.splat(COLUMN_LENGTH), f64x2.sqrt(squared));
  return v128.and(scale, f64x2.gt(squared, f64x2.splat(0)));
}

/** The first two numbers times a scale, rounded into the lower half of their bits. */
// @ts-ignore: decorator
@inline
function raise(four: v128, scale: v128): v128 {
  return f64x2.add(f64x2.mul(f64x2.convert_low_i32x4_s(four), scale), f64x2.splat(WHOLE));
}

// @ts-ignore: decorator
@inline
function words(a: v128, b: v128): v128 {
  return v128.shuffle<i32>(a, b, 0, 2, 4, 6);
}

/** Makes the vectors orthonormal, in order (Gram-Schmidt, modified); those with nothing of their own become zero. */
function separate(count: i32, length: i32): void {
  const bytes = <usize>length << 2;
  for (let c = 0; c < count; c++) {
    const v = vectors + <usize>c * bytes;
    const first = sqrt(dotFloat(v, v, bytes));
    for (let j = 0; j < c; j++) {
      const u = vectors + <usize>j * bytes;
      subtract(v, u, dotFloat(v, u, bytes), bytes);
    }
    const left = sqrt(dotFloat(v, v, bytes));
    const factor: f32 = left > first * SPENT ? 1 / left : 0;
    for (let i: usize = 0; i < bytes; i += 16) {
      v128.store(v + i, f32x4.mul(v128.load(v + i), f32x4.splat(factor)));
    }
  }
}

function dotFloat(x: usize, y: usize, bytes: usize): f32 {
  let a = f32x4.splat(0);
  let b = a;
  for (let i: usize = 0; i < bytes; i += 32) {
    a = f32x4.add(a, f32x4.mul(v128.load(x + i), v128.load(y + i)));
    b = f32x4.add(b, f32x4.mul(v128.load(x + i, 16), v128.load(y + i, 16)));
  }
  a = f32x4.add(a, b);
  return f32x4.extract_lane(a, 0) + f32x4.extract_lane(a, 1) + (f32x4.extract_lane(a, 2) + f32x4.extract_lane(a, 3));
}

function subtract(x: usize, y: usize, factor: f32, bytes: usize): void {
  const times = f32x4.splat(factor);
  for (let i: usize = 0; i < bytes; i += 16) {
    v128.store(x + i, f32x4.sub(v128.load(x + i), f32x4.mul(v128.load(y + i), times)));
  }
}

/** A number no smaller than the largest stretch of the 16-bit directions: the root of Gershgorin's bound on their Gram matrix. */
function contractionScale(count: i32, length: i32): f64 {
  const bytes = <usize>length << 1;
  let most: i64 = 1;
  for (let c = 0; c < count; c++) {
    let sum: i64 = 0;
    for (let j = 0; j < count; j++) {
      let part = i32x4.splat(0);
      for (let i: usize = 0; i < bytes; i += 16) {
        part = i32x4.add(
          part,
          i32x4.dot_i16x8_s(v128.load(whole + <usize>c * bytes + i), v128.load(whole + <usize>j * bytes + i)),
        );
      }
      sum += abs(<i64>i32x4.extract_lane(joinSums(part, part, part, part), 0));
    }
    most = max(most, sum);
  }
  return sqrt(<f64>most) * (1 + 1e-12);
}
