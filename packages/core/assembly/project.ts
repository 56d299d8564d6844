/** Rows and filters on the directions: the vectors of `bound.ts`. */

import {
  BOUND_BYTES,
  COORDINATES,
  DIRECTIONS,
  DIRECTION_SCALE_F64,
  FACTS_BYTES,
  FILTER_BOUNDS,
  FILTER_FACTS,
  FILTER_MIDDLE_16,
  FEATURES,
  FILTER_SCALE_F64,
  LEVEL_1,
  LEVEL_2,
  PARTS,
  ROW_BOUNDS,
  ROW_MIDDLE_LENGTH_F64,
  ROW_SCALES,
  SCALES_BYTES,
  STRIDE,
} from "../src/backends/wasm/context";
import {
  BEFORE,
  LENGTH,
  LOSS,
  PART_LENGTH,
  partStart,
  ROW_SUM,
  SCALE,
  SLACK,
  SPAN_1,
  SPAN_2,
  WITH_MIDDLE,
} from "./bound";
import { ANY, LOST, PRODUCTS, quantiseFilter, quantiseRow, SQUARES, SUM, UNIT } from "./quantise";
import { panelBytes, tile } from "./tile";

/** Coordinates of one vector: those of level 1, then those of each part of level 2. */
const COORDINATE_COUNT: i32 = LEVEL_1 + LEVEL_2;
/** Directions among them: each list leaves room for the middle and for ρ. */
const USED_1: i32 = LEVEL_1 - 2;
const USED_2: i32 = PART_LENGTH - 2;
/** Largest quantised number of a row, and the longest quantised row: times LONGEST_FILTER it stays under 2^31. */
const LARGEST: f64 = 32_000;
const LONGEST_ROW: f64 = 65_000;

/** Scratch of `bound_rows` and `project_filters`: four 16-bit vectors, one float64 vector, four of coordinates, facts. */
export function scratch_bounds(context: usize): usize {
  return <usize>load<i32>(context, STRIDE) * 16 + COORDINATE_COUNT * 16 + FACTS_BYTES * 4;
}

/** The vectors and scales of rows [from, to). */
export function bound_rows(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const stride = load<i32>(context, STRIDE);
  const bytes = <usize>stride << 1;
  const x64 = scratch + 4 * bytes;
  const coordinates = x64 + (<usize>stride << 3);
  const facts = coordinates + (COORDINATE_COUNT << 4);
  for (let r = from; r < to; r += 4) {
    const rows = min<u32>(4, to - r);
    for (let j: u32 = 0; j < rows; j++) {
      quantiseRow(context, r + j, scratch + <usize>j * bytes, x64, facts + <usize>j * FACTS_BYTES);
    }
    project(context, scratch, rows, coordinates);
    for (let j: u32 = 0; j < rows; j++) {
      finishRow(
        context,
        coordinates + <usize>j * (COORDINATE_COUNT << 2),
        facts + <usize>j * FACTS_BYTES,
        load<usize>(context, ROW_BOUNDS) + <usize>(r + j) * BOUND_BYTES,
        load<usize>(context, ROW_SCALES) + <usize>(r + j) * SCALES_BYTES,
      );
    }
  }
  return 0;
}

/** Coordinates and facts of filters [from, to), before a common scale is known. */
export function project_filters(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const bytes = <usize>load<i32>(context, STRIDE) << 1;
  const x64 = scratch + 4 * bytes;
  for (let f = from; f < to; f += 4) {
    const filters = min<u32>(4, to - f);
    for (let j: u32 = 0; j < filters; j++) {
      const facts = load<usize>(context, FILTER_FACTS) + <usize>(f + j) * FACTS_BYTES;
      quantiseFilter(context, f + j, scratch + <usize>j * bytes, x64, facts);
    }
    const coordinates = x64 + (bytes << 2);
    project(context, scratch, filters, coordinates);
    const out = load<usize>(context, COORDINATES) + <usize>f * (COORDINATE_COUNT << 2);
    memory.copy(out, coordinates, <usize>filters * (COORDINATE_COUNT << 2));
  }
  return 0;
}

/** Coordinates of up to four 16-bit vectors; missing ones repeat the first. */
function project(context: usize, vectors: usize, present: u32, coordinates: usize): void {
  const stride = load<i32>(context, STRIDE);
  const bytes = <usize>stride << 1;
  const x1 = vectors + (present > 1 ? bytes : 0);
  const x2 = vectors + (present > 2 ? 2 * bytes : 0);
  const x3 = vectors + (present > 3 ? 3 * bytes : 0);
  let panel = load<usize>(context, DIRECTIONS);
  let out = coordinates;
  for (let b = 0; b < LEVEL_1; b += 8, panel += panelBytes(8, stride), out += 32) {
    tile(vectors, x1, x2, x3, panel, bytes, out, COORDINATE_COUNT << 2);
  }
  for (let p = 0; p < PARTS; p++) {
    const from = partStart(stride, p);
    const length = partStart(stride, p + 1) - from;
    const at = <usize>from << 1;
    for (let b = 0; b < PART_LENGTH; b += 8, panel += panelBytes(8, length), out += 32) {
      tile(vectors + at, x1 + at, x2 + at, x3 + at, panel, <usize>length << 1, out, COORDINATE_COUNT << 2);
    }
  }
}

/** The vector of a row at the scale that suits it, and its scales. */
function finishRow(context: usize, coordinates: usize, facts: usize, out: usize, scales: usize): void {
  const unit = load<f64>(facts + UNIT);
  const middle = load<f64>(context, ROW_MIDDLE_LENGTH_F64);
  const direction = 1 / load<f64>(context, DIRECTION_SCALE_F64);
  let square: f64 = 0;
  for (let p = 0; p < PARTS; p++) square += load<f64>(facts + SQUARES + (<usize>p << 3));
  const length = unit * sqrt(square);
  let largest = i32x4.splat(0);
  for (let i = 0; i < COORDINATE_COUNT << 2; i += 16) {
    largest = i32x4.max_s(largest, i32x4.abs(v128.load(coordinates + <usize>i)));
  }
  const most = max(
    max(i32x4.extract_lane(largest, 0), i32x4.extract_lane(largest, 1)),
    max(i32x4.extract_lane(largest, 2), i32x4.extract_lane(largest, 3)),
  );
  // ρ is at most the length, which may be more than the largest coordinate.
  const number = max(<f64>most * direction * unit, max(length, middle));
  const scale = min(LARGEST / number, LONGEST_ROW / (length + middle));

  store<f64>(scales + SCALE, scale);
  store<f64>(scales + LENGTH, load<f64>(facts + ANY) * (length * (1 + SLACK) + load<f64>(facts + LOST) + middle));
  store<f64>(scales + LOSS, load<f64>(facts + LOST));
  store<f64>(scales + ROW_SUM, load<f64>(facts + SUM));
  let before: f64 = 0;
  for (let p = 0; p < PARTS; p++) {
    before += load<f64>(facts + PRODUCTS + (<usize>p << 3));
    if (p < PARTS - 1) store<f64>(scales + BEFORE + (<usize>p << 3), before);
  }
  const centre: f64 = load<usize>(context, FILTER_MIDDLE_16) ? <f64>(load<i32>(context, FEATURES) + 1) : 0;
  store<f64>(scales + WITH_MIDDLE, before + centre * load<f64>(facts + SUM));

  const along = middle * scale;
  store<f64>(scales + SPAN_1, finish(context, coordinates, USED_1, along, square, unit * scale, out));
  let span: f64 = 0;
  for (let p = 0; p < PARTS; p++) {
    const part = <usize>(LEVEL_1 + p * PART_LENGTH);
    const own = load<f64>(facts + SQUARES + (<usize>p << 3));
    span += finish(context, coordinates + (part << 2), USED_2, along, own, unit * scale, out + (part << 1));
  }
  store<f64>(scales + SPAN_2, span);
}

/** The vectors of filters [from, to) at the common scale; the spans of the two levels replace the first two facts. */
export function finish_filters(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const scale = load<f64>(context, FILTER_SCALE_F64);
  const middle = load<f64>(context, ROW_MIDDLE_LENGTH_F64);
  for (let f = from; f < to; f++) {
    const facts = load<usize>(context, FILTER_FACTS) + <usize>f * FACTS_BYTES;
    const coordinates = load<usize>(context, COORDINATES) + <usize>f * (COORDINATE_COUNT << 2);
    const out = load<usize>(context, FILTER_BOUNDS) + <usize>f * BOUND_BYTES;
    const units = load<f64>(facts + UNIT) * scale;
    let square: f64 = 0;
    let product: f64 = 0;
    let span: f64 = 0;
    for (let p = 0; p < PARTS; p++) {
      const part = <usize>(LEVEL_1 + p * PART_LENGTH);
      const own = load<f64>(facts + SQUARES + (<usize>p << 3));
      const along = load<f64>(facts + PRODUCTS + (<usize>p << 3)) / middle;
      square += own;
      product += along;
      span += finish(context, coordinates + (part << 2), USED_2, along * scale, own, units, out + (part << 1));
    }
    store<f64>(facts, finish(context, coordinates, USED_1, product * scale, square, units, out));
    store<f64>(facts, span, 8);
  }
  return 0;
}

/** One list of numbers: the share of the middle, `used` coordinates, ρ. Returns the sum of absolute numbers before ρ. */
function finish(
  context: usize,
  coordinates: usize,
  used: i32,
  along: f64, // in: quantised
  square: f64, // in: squared length, in units
  scale: f64, // in: quantised units per unit
  out: usize,
): f64 {
  const inverse = 1 / load<f64>(context, DIRECTION_SCALE_F64);
  const factor = f64x2.splat(inverse);
  const times = f64x2.splat(scale);
  const first = nearest(along);
  store<i16>(out, <i16>first);
  out += 2;
  let span = f64x2.splat(0);
  let energy = span;
  for (let i: usize = 0; i < <usize>used << 2; i += 8, out += 4) {
    const c = f64x2.mul(f64x2.convert_low_i32x4_s(v128.load64_zero(coordinates + i)), factor);
    energy = f64x2.add(energy, f64x2.mul(c, c));
    const value = f64x2.nearest(f64x2.mul(c, times));
    span = f64x2.add(span, f64x2.abs(value));
    const words = i32x4.trunc_sat_f64x2_s_zero(value);
    store<u32>(out, i32x4.extract_lane(i16x8.narrow_i32x4_s(words, words), 0));
  }
  const left = square - f64x2.extract_lane(energy, 0) - f64x2.extract_lane(energy, 1);
  const rho = sqrt(max(0, left) + square * SLACK) * scale * (1 + SLACK);
  store<i16>(out, <i16>ceil(rho));
  return abs(first) + f64x2.extract_lane(span, 0) + f64x2.extract_lane(span, 1);
}
