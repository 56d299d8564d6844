/**
 * An update of refinement on dense rows, as `src/kernels/refine.ts` defines it: rows against the filters listed for them,
 * then prototypes moved by the rows that had something to learn, and ranked again. Whole rows are summed up before a
 * step is taken: where nothing is rounded, the order of sums does not matter.
 */

import { ORDERED_F32, ORDERED_F64 } from "../../src/backends/wasm/dense/sizes";
import * as slot from "../../src/backends/wasm/dense/slots";
import { I16, U8 } from "../../src/backends/wasm/engine/slots";
import * as refineSlot from "../../src/backends/wasm/shared/refine-slots";
import { bytesOf, expand64, touch } from "./expand";
import { HIGHEST, judge, LOWEST, placeOf, responsesBytes } from "../shared/compare";
import { rankTied } from "../shared/rank";
import { rankPrototype } from "../shared/rank-whole";
import { openRow, respond4 } from "./respond";

/** Rows that are fetched together: they lie far apart, and one wait is shorter than several. */
const ROWS_AHEAD: u32 = 8;

/** Scratch of `compare_listed`: one row and its responses. */
export function scratch_compare(context: usize): usize {
  return (<usize>load<i32>(context, slot.STRIDE) << 3) + responsesBytes(context);
}

/** Compares the rows at [from, to) of BATCH_ROWS with the filters listed for them. */
export function compare_listed(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const k = load<u32>(context, refineSlot.LISTED);
  const responses = scratch + (<usize>load<i32>(context, slot.STRIDE) << 3);
  const rows = load<usize>(context, slot.ROWS);
  const bytes = <usize>load<i32>(context, slot.STRIDE) * bytesOf(load<i32>(context, slot.TYPE));
  for (let j = from; j < to; j++) {
    let at = load<usize>(context, refineSlot.BATCH_ROWS) + (<usize>j << 2);
    const r = load<u32>(at);
    if ((j - from) % ROWS_AHEAD == 0) {
      let seen: u32 = 0;
      for (let next = j; next < min(j + ROWS_AHEAD, to); next++, at += 4) seen += touch(rows + <usize>load<u32>(at) * bytes, bytes);
      store<u32>(responses, seen);
    }
    const term = openRow(context, r, scratch);
    const list = load<usize>(context, refineSlot.LISTS) + (placeOf(context, j) * <usize>k << 2);
    const last = k - 1;
    for (let q: u32 = 0; q < k; q += 4) {
      const f0 = load<u32>(list + (<usize>q << 2));
      const f1 = load<u32>(list + (<usize>min(q + 1, last) << 2));
      const f2 = load<u32>(list + (<usize>min(q + 2, last) << 2));
      const f3 = load<u32>(list + (<usize>min(q + 3, last) << 2));
      respond4(context, scratch, term, f0, f1, f2, f3, responses + (<usize>q << 3));
    }
    judge(context, j, responses);
  }
  return 0;
}

/** Moves the prototypes [from, to) of TOUCHED by their rows and ranks those that are to be ranked. Scratch as for `rank_sums`. */
export function move_prototypes(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const type = load<i32>(context, slot.TYPE);
  const stride = load<i32>(context, slot.STRIDE);
  const features = load<u32>(context, slot.FEATURES);
  const offsets = load<usize>(context, refineSlot.MOVE_OFFSETS);
  const bytes = load<i32>(context, refineSlot.RANK_BYTES);
  const rows = load<usize>(context, slot.ROWS);
  const ranking = scratch + (<usize>stride << 4);
  const wholeStep = <f64>load<u32>(context, refineSlot.STEP);
  const byFactors = load<u32>(context, refineSlot.BY_FACTORS);
  for (let t = from; t < to; t++) {
    const touched = load<u32>(load<usize>(context, refineSlot.TOUCHED) + (<usize>t << 2));
    const f = <usize>(touched >> 1);
    const prototype = load<usize>(context, refineSlot.PROTOTYPES) + f * (<usize>stride << 3);
    const last = load<u32>(offsets + (<usize>t << 2), 4);
    let e = load<u32>(offsets + (<usize>t << 2));
    if (wholeStep != 0 && e < last) {
      memory.fill(scratch, 0, <usize>stride << 2);
      for (; e < last; e++) {
        const r = load<u32>(load<usize>(context, refineSlot.MOVE_ROWS) + (<usize>e << 2));
        const away = load<f64>(load<usize>(context, refineSlot.MOVE_STEPS) + (<usize>e << 3)) < 0;
        addWhole(type, rows + <usize>r * (<usize>stride * bytesOf(type)), scratch, stride, away ? -1 : 1);
      }
      takeStep(prototype, scratch, stride, wholeStep);
    }
    for (; e < last; e++) {
      const r = load<u32>(load<usize>(context, refineSlot.MOVE_ROWS) + (<usize>e << 2));
      expand64(type, rows + <usize>r * (<usize>stride * bytesOf(type)), scratch, stride);
      const step = load<f64>(load<usize>(context, refineSlot.MOVE_STEPS) + (<usize>e << 3));
      if (byFactors) scaleRow(prototype, scratch, stride, step);
      else addRow(prototype, scratch, stride, step);
    }
    if (!(touched & 1)) continue;
    const out = load<usize>(context, refineSlot.RANKS) + f * <usize>features * <usize>bytes;
    const distribution = load<usize>(context, refineSlot.DRAWN_FROM);
    if (distribution == 0 && bytes == 2 && !byFactors) rankPrototype(prototype, features, ranking, out);
    else rankTied(prototype, features, distribution, ranking, out, bytes);
    layOut(context, f, out, features, stride, bytes);
  }
  return 0;
}

/** Adds a row, times the step, to a prototype. */
function addRow(prototype: usize, row: usize, stride: i32, step: f64): void {
  const steps = f64x2.splat(step);
  for (let i: usize = 0; i < <usize>stride << 3; i += 16) {
    v128.store(prototype + i, f64x2.add(v128.load(prototype + i), f64x2.mul(steps, v128.load(row + i))));
  }
}

/** Multiplies a prototype by factors that grow with the row, or divides it by them; where the row is 0 it stays as it is. */
function scaleRow(prototype: usize, row: usize, stride: i32, step: f64): void {
  const size = f64x2.splat(abs(step));
  const one = f64x2.splat(1);
  const lowest = f64x2.splat(LOWEST);
  const highest = f64x2.splat(HIGHEST);
  for (let i: usize = 0; i < <usize>stride << 3; i += 16) {
    const x = v128.load(row + i);
    const before = v128.load(prototype + i);
    const factor = f64x2.add(one, f64x2.mul(size, x));
    const moved = step > 0 ? f64x2.mul(before, factor) : f64x2.div(before, factor);
    const within = f64x2.min(highest, f64x2.max(lowest, moved));
    v128.store(prototype + i, v128.bitselect(before, within, f64x2.eq(x, f64x2.splat(0))));
  }
}

/** Adds a row of whole numbers, times 1 or -1, to 32-bit sums. */
function addWhole(type: i32, row: usize, sums: usize, stride: i32, sign: i16): void {
  const signs = i16x8.splat(sign);
  const end = sums + (<usize>stride << 2);
  if (type == U8) {
    do {
      const eight = i16x8.mul(v128.load8x8_u(row), signs);
      v128.store(sums, i32x4.add(v128.load(sums), i32x4.extend_low_i16x8_s(eight)));
      v128.store(sums, i32x4.add(v128.load(sums, 16), i32x4.extend_high_i16x8_s(eight)), 16);
      row += 8;
      sums += 32;
    } while (sums < end);
    return;
  }
  const wide = i32x4.splat(<i32>sign);
  do {
    const eight = v128.load(row);
    const low = type == I16 ? i32x4.extend_low_i16x8_s(eight) : i32x4.extend_low_i16x8_u(eight);
    const high = type == I16 ? i32x4.extend_high_i16x8_s(eight) : i32x4.extend_high_i16x8_u(eight);
    v128.store(sums, i32x4.add(v128.load(sums), i32x4.mul(low, wide)));
    v128.store(sums, i32x4.add(v128.load(sums, 16), i32x4.mul(high, wide)), 16);
    row += 16;
    sums += 32;
  } while (sums < end);
}

/** Adds 32-bit sums, times the step, to a prototype. */
function takeStep(prototype: usize, sums: usize, stride: i32, step: f64): void {
  const steps = f64x2.splat(step);
  const end = sums + (<usize>stride << 2);
  do {
    const four = v128.load(sums);
    const low = f64x2.mul(steps, f64x2.convert_low_i32x4_s(four));
    const high = f64x2.mul(steps, f64x2.convert_low_i32x4_s(v128.shuffle<i32>(four, four, 2, 3, 0, 1)));
    v128.store(prototype, f64x2.add(v128.load(prototype), low));
    v128.store(prototype, f64x2.add(v128.load(prototype, 16), high), 16);
    prototype += 32;
    sums += 16;
  } while (sums < end);
}

/** Copies the n weights of filter f to where products read them, in the layout of MODE. */
function layOut(context: usize, f: usize, out: usize, features: usize, stride: i32, bytes: i32): void {
  const mode = load<i32>(context, slot.MODE);
  const first = f * <usize>stride;
  const weights = load<usize>(context, slot.WEIGHTS);
  if (mode < ORDERED_F32) {
    const centre = i16x8.splat(<i16>load<f64>(context, slot.CENTRE_F64));
    const to = weights + (first << 1);
    let i: usize = 0;
    for (; i + 8 <= features; i += 8) v128.store(to + (i << 1), i16x8.sub(v128.load(out + (i << 1)), centre));
    for (; i < features; i++) store<i16>(to + (i << 1), <i16>(<i32>load<u16>(out + (i << 1)) - <i32>i16x8.extract_lane_s(centre, 0)));
    return;
  }
  for (let i: usize = 0; i < features; i++) {
    const w: f64 =
      bytes == 2 ? <f64>load<u16>(out + (i << 1)) : bytes == 4 ? <f64>load<u32>(out + (i << 2)) : load<f64>(out + (i << 3));
    if (mode == ORDERED_F64) store<f64>(weights + ((first + i) << 3), w);
    else store<f32>(weights + ((first + i) << 2), <f32>w);
  }
}
