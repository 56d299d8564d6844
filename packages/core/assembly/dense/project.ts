/** Rows and filters on the directions: the vectors of `bound.ts`. */

import { BOUND_BYTES, FACTS_BYTES, FIRST_BYTES, LEVEL_1, LEVEL_2, LEVEL_3, PARTS, PARTS_BYTES, SCALES_BYTES, SECOND_BYTES } from "../../src/backends/wasm/dense/sizes";
import * as slot from "../../src/backends/wasm/dense/slots";
import {
  ERROR_1,
  ERROR_2,
  ERROR_3,
  LENGTH,
  LONGEST_ROW,
  LOSS,
  PART_LENGTH,
  partStart,
  ROW_SUM,
  SCALE,
  SLACK,
  WITH_MIDDLE,
} from "./bound";
import { ANY, LOST, PRODUCT, quantiseFilter, quantiseRow, SQUARES, SUM, UNIT, WHOLE } from "./quantise";
import { panelBytes, tile } from "./tile";

// What `finishPart` adds up over the parts of one vector, in quantised units.
let rest: f64 = 0; // squares of ρ
let kept: f64 = 0; // squares of the rounded coordinates
let lost: f64 = 0; // squares of what rounding took
// The rounding of the two rotated levels, from `finishLevels`.
let error1: f64 = 0;
let error2: f64 = 0;

/** The last coordinates of levels 1 and 2: one place of the first holds a ρ, two of the second. */
const LAST_1: i32 = LEVEL_1 - 2;
const LAST_2: i32 = LEVEL_2 - 4;

/** Scratch of the kernels here: four 16-bit vectors, one float64 vector, four lists of coordinates, facts. */
export function scratch_bounds(context: usize): usize {
  return <usize>load<i32>(context, slot.STRIDE) * 16 + (LEVEL_3 + LEVEL_2) * 16 + FACTS_BYTES * 4;
}

/** The vectors and scales of rows [from, to). */
export function bound_rows(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const stride = load<i32>(context, slot.STRIDE);
  const bytes = <usize>stride << 1;
  const x64 = scratch + 4 * bytes;
  const coordinates = x64 + (<usize>stride << 3);
  const rotated = coordinates + (LEVEL_3 << 4);
  const facts = rotated + (LEVEL_2 << 4);
  for (let r = from; r < to; r += 4) {
    const rows = min<u32>(4, to - r);
    for (let j: u32 = 0; j < rows; j++) {
      quantiseRow(context, r + j, scratch + <usize>j * bytes, x64, facts + <usize>j * FACTS_BYTES);
    }
    project(context, scratch, rows, coordinates);
    const parts = load<usize>(context, slot.ROW_PARTS) + <usize>r * PARTS_BYTES;
    for (let j: u32 = 0; j < rows; j++) {
      const scales = load<usize>(context, slot.ROW_SCALES) + <usize>(r + j) * SCALES_BYTES;
      const own = coordinates + <usize>j * (LEVEL_3 << 2);
      finishRow(context, own, facts + <usize>j * FACTS_BYTES, parts + <usize>j * PARTS_BYTES, scales);
    }
    rotate(context, parts, rows, rotated);
    for (let j: u32 = 0; j < rows; j++) {
      const scales = load<usize>(context, slot.ROW_SCALES) + <usize>(r + j) * SCALES_BYTES;
      const out = load<usize>(context, slot.ROW_BOUNDS) + <usize>(r + j) * BOUND_BYTES;
      rest = load<f64>(scales + ERROR_1);
      kept = load<f64>(scales + ERROR_2);
      finishLevels(context, rotated + <usize>j * (LEVEL_2 << 2), -1, out, out + FIRST_BYTES);
      store<f64>(scales + ERROR_1, load<f64>(scales + ERROR_3) + error1);
      store<f64>(scales + ERROR_2, load<f64>(scales + ERROR_3) + error2);
    }
  }
  return 0;
}

/** Coordinates and facts of filters [from, to), before a common scale is known; returns the largest length of their 16-bit form. */
export function project_filters(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const bytes = <usize>load<i32>(context, slot.STRIDE) << 1;
  const x64 = scratch + 4 * bytes;
  let longest: f64 = 0;
  for (let f = from; f < to; f += 4) {
    const filters = min<u32>(4, to - f);
    for (let j: u32 = 0; j < filters; j++) {
      const facts = load<usize>(context, slot.FILTER_FACTS) + <usize>(f + j) * FACTS_BYTES;
      quantiseFilter(context, f + j, scratch + <usize>j * bytes, x64, facts);
      longest = max(longest, lengthOf(facts));
    }
    const coordinates = x64 + (bytes << 2);
    project(context, scratch, filters, coordinates);
    const out = load<usize>(context, slot.COORDINATES) + <usize>f * (LEVEL_3 << 2);
    memory.copy(out, coordinates, <usize>filters * (LEVEL_3 << 2));
  }
  return longest;
}

/** The length of a vector's 16-bit form, in real units. */
function lengthOf(facts: usize): f64 {
  let square: f64 = 0;
  for (let p = 0; p < PARTS; p++) square += load<f64>(facts + SQUARES + (<usize>p << 3));
  return load<f64>(facts + UNIT) * sqrt(square);
}

/** The largest of the fact FACT of filters [from, to). */
export function largest_fact(from: u32, to: u32, scratch: usize, context: usize): f64 {
  let largest: f64 = 0;
  for (let f = from; f < to; f++) {
    const facts = load<usize>(context, slot.FILTER_FACTS) + <usize>f * FACTS_BYTES;
    largest = max(largest, load<f64>(facts + load<usize>(context, slot.FACT)));
  }
  return largest;
}

/** Coordinates of up to four 16-bit vectors, part by part; missing ones repeat the first. */
function project(context: usize, vectors: usize, present: u32, coordinates: usize): void {
  const stride = load<i32>(context, slot.STRIDE);
  const bytes = <usize>stride << 1;
  const x1 = vectors + (present > 1 ? bytes : 0);
  const x2 = vectors + (present > 2 ? 2 * bytes : 0);
  const x3 = vectors + (present > 3 ? 3 * bytes : 0);
  let panel = load<usize>(context, slot.DIRECTIONS);
  let out = coordinates;
  for (let p = 0; p < PARTS; p++) {
    const from = partStart(stride, p);
    const length = partStart(stride, p + 1) - from;
    const at = <usize>from << 1;
    for (let b = 0; b < PART_LENGTH; b += 8, panel += panelBytes(8, length), out += 32) {
      tile(vectors + at, x1 + at, x2 + at, x3 + at, panel, <usize>length << 1, out, LEVEL_3 << 2);
    }
  }
}

/** Rotated coordinates of up to four vectors of level 3; missing ones repeat the first. */
function rotate(context: usize, parts: usize, present: u32, rotated: usize): void {
  const x1 = parts + (present > 1 ? <usize>PARTS_BYTES : 0);
  const x2 = parts + (present > 2 ? <usize>(2 * PARTS_BYTES) : 0);
  const x3 = parts + (present > 3 ? <usize>(3 * PARTS_BYTES) : 0);
  let panel = rotationOf(context);
  for (let b = 0; b < LEVEL_2; b += 8, panel += panelBytes(8, LEVEL_3)) {
    tile(parts, x1, x2, x3, panel, <usize>PARTS_BYTES, rotated + (<usize>b << 2), LEVEL_2 << 2);
  }
}

/** Where the rotation begins among the directions; its scale follows it. */
function rotationOf(context: usize): usize {
  return load<usize>(context, slot.DIRECTIONS) + panelBytes(PART_LENGTH, load<i32>(context, slot.STRIDE));
}

/** Level 3 of a row at the scale that suits it, and its scales. */
function finishRow(context: usize, coordinates: usize, facts: usize, out: usize, scales: usize): void {
  const unit = load<f64>(facts + UNIT);
  const length = lengthOf(facts);
  const scale = length == 0 ? 1 : LONGEST_ROW / length;

  store<f64>(scales + SCALE, scale);
  store<f64>(scales + LENGTH, load<f64>(facts + ANY) * (length * (1 + SLACK) + load<f64>(facts + LOST)));
  store<f64>(scales + LOSS, load<f64>(facts + LOST));
  store<f64>(scales + ROW_SUM, load<f64>(facts + SUM));
  const centre: f64 = load<usize>(context, slot.FILTER_MIDDLE_16) ? <f64>(load<i32>(context, slot.FEATURES) + 1) : 0;
  store<f64>(scales + WITH_MIDDLE, load<f64>(facts + PRODUCT) + centre * load<f64>(facts + SUM));

  startParts();
  for (let p = 0; p < PARTS; p++) {
    const part = <usize>(p * PART_LENGTH);
    const own = load<f64>(facts + SQUARES + (<usize>p << 3));
    finishPart(context, coordinates + (part << 2), own, unit * scale, out + (part << 1));
  }
  // Kept here until the rotated levels of the four rows are made.
  store<f64>(scales + ERROR_1, rest);
  store<f64>(scales + ERROR_2, kept);
  store<f64>(scales + ERROR_3, sqrt(lost) * (1 + SLACK));
}

/** The vectors of filters [from, to) at the common scale; the rounding of the three levels replaces the first three facts. */
export function finish_filters(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const scale = load<f64>(context, slot.FILTER_SCALE_F64);
  for (let f = from; f < to; f += 4) {
    const filters = min<u32>(4, to - f);
    const parts = load<usize>(context, slot.FILTER_PARTS) + <usize>f * PARTS_BYTES;
    const first = load<usize>(context, slot.FILTER_FACTS) + <usize>f * FACTS_BYTES;
    for (let j: u32 = 0; j < filters; j++) {
      const facts = first + <usize>j * FACTS_BYTES;
      const coordinates = load<usize>(context, slot.COORDINATES) + <usize>(f + j) * (LEVEL_3 << 2);
      const out = parts + <usize>j * PARTS_BYTES;
      const units = load<f64>(facts + UNIT) * scale;
      startParts();
      for (let p = 0; p < PARTS; p++) {
        const part = <usize>(p * PART_LENGTH);
        const own = load<f64>(facts + SQUARES + (<usize>p << 3));
        finishPart(context, coordinates + (part << 2), own, units, out + (part << 1));
      }
      store<f64>(facts + SQUARES, rest);
      store<f64>(facts + SQUARES, kept, 8);
      store<f64>(facts, sqrt(lost) * (1 + SLACK), 16);
    }
    rotate(context, parts, filters, scratch);
    for (let j: u32 = 0; j < filters; j++) {
      const facts = first + <usize>j * FACTS_BYTES;
      const out = load<usize>(context, slot.FILTER_FIRST) + <usize>(f + j) * FIRST_BYTES;
      const more = load<usize>(context, slot.FILTER_SECOND) + <usize>(f + j) * SECOND_BYTES;
      rest = load<f64>(facts + SQUARES);
      kept = load<f64>(facts + SQUARES, 8);
      finishLevels(context, scratch + <usize>j * (LEVEL_2 << 2), 1, out, more);
      store<f64>(facts, load<f64>(facts, 16) + error1);
      store<f64>(facts, load<f64>(facts, 16) + error2, 8);
    }
  }
  return 0;
}

function startParts(): void {
  rest = 0;
  kept = 0;
  lost = 0;
}

/** One part of level 3: the coordinates, then ρ in the place of the last, which is zero. */
function finishPart(
  context: usize,
  coordinates: usize,
  square: f64, // in: squared length, in units
  scale: f64, // in: quantised units per unit
  out: usize,
): void {
  const factor = f64x2.splat(1 / load<f64>(context, slot.DIRECTION_SCALE_F64));
  const times = f64x2.splat(scale);
  const whole = f64x2.splat(WHOLE);
  let energy = f64x2.splat(0);
  let squares = energy;
  let differences = energy;
  const end = coordinates + (PART_LENGTH << 2);
  do {
    const four = v128.load(coordinates);
    const c0 = f64x2.mul(f64x2.convert_low_i32x4_s(four), factor);
    const c1 = f64x2.mul(f64x2.convert_low_i32x4_s(v128.shuffle<i32>(four, four, 2, 3, 0, 1)), factor);
    energy = f64x2.add(energy, f64x2.add(f64x2.mul(c0, c0), f64x2.mul(c1, c1)));
    const exact0 = f64x2.mul(c0, times);
    const exact1 = f64x2.mul(c1, times);
    const raised0 = f64x2.add(exact0, whole);
    const raised1 = f64x2.add(exact1, whole);
    const value0 = f64x2.sub(raised0, whole);
    const value1 = f64x2.sub(raised1, whole);
    squares = f64x2.add(squares, f64x2.add(f64x2.mul(value0, value0), f64x2.mul(value1, value1)));
    const lost0 = f64x2.sub(exact0, value0);
    const lost1 = f64x2.sub(exact1, value1);
    differences = f64x2.add(differences, f64x2.add(f64x2.mul(lost0, lost0), f64x2.mul(lost1, lost1)));
    const words = v128.shuffle<i32>(raised0, raised1, 0, 2, 4, 6);
    v128.store64_lane(out, i16x8.narrow_i32x4_s(words, words), 0);
    coordinates += 16;
    out += 8;
  } while (coordinates < end);
  const left = max(0, square - both(energy)) + square * SLACK;
  const rho = sqrt(left) * scale * (1 + SLACK);
  store<i16>(out - 2, <i16>ceil(rho));
  rest += rho * rho;
  kept += both(squares);
  lost += both(differences);
}

/** Levels 1 and 2 from the rotated coordinates, with `rest` and `kept` of the vector; leaves their rounding. */
function finishLevels(
  context: usize,
  rotated: usize,
  sign: i32, // in: of the first ρ in the second level: -1 for rows, so that there the product takes it off
  first: usize, // out
  second: usize, // out
): void {
  const scale = load<f64>(rotationOf(context) + panelBytes(LEVEL_2, LEVEL_3));
  const factor = f64x2.splat(1 / scale);
  let energy = f64x2.splat(0);
  let differences = energy;
  let rho1 = 0;
  for (let i = 0; ; i += 2) {
    const exact = f64x2.mul(f64x2.convert_low_i32x4_s(v128.load64_zero(rotated + (<usize>i << 2))), factor);
    const value = f64x2.nearest(exact);
    const difference = f64x2.sub(exact, value);
    const words = i32x4.trunc_sat_f64x2_s_zero(value);
    const pair = i32x4.extract_lane(i16x8.narrow_i32x4_s(words, words), 0);
    store<u32>(i < LEVEL_1 ? first + (<usize>i << 1) : second + (<usize>(i - LEVEL_1 + 1) << 1), pair);
    if (i == LAST_1 || i == LAST_2) {
      // Only the first of this pair belongs to the level.
      const own = f64x2.extract_lane(exact, 0);
      const last = f64x2.extract_lane(difference, 0);
      const rho = <i32>ceil(rhoOf(both(energy) + own * own));
      const error = sqrt(both(differences) + last * last) * (1 + SLACK);
      if (i == LAST_2) {
        store<i16>(second, <i16>(sign * rho1), SECOND_BYTES - 4);
        store<i16>(second, <i16>rho, SECOND_BYTES - 2);
        error2 = error;
        return;
      }
      store<i16>(first, <i16>rho, FIRST_BYTES - 2);
      store<i16>(second, <i16>(pair >> 16));
      error1 = error;
      rho1 = rho;
    }
    energy = f64x2.add(energy, f64x2.mul(exact, exact));
    differences = f64x2.add(differences, f64x2.mul(difference, difference));
  }
}

/** What the rotated coordinates with this energy leave, together with what the parts left. */
function rhoOf(energy: f64): f64 {
  return sqrt(max(0, kept - energy) + kept * SLACK + rest) * (1 + SLACK);
}

// @ts-ignore: decorator
@inline
function both(pair: v128): f64 {
  return f64x2.extract_lane(pair, 0) + f64x2.extract_lane(pair, 1);
}
