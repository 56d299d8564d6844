/**
 * x·w of one row and a few filters of an index in the defined order (`src/kernels/dot.ts`), for those that approximate
 * scores leave in doubt. The row's features are looked up in the index once for all of them, so the work does not grow
 * with the size of the filters. Whole weights are their base and the difference, both exact; of all others the index knows
 * the exception.
 */

import * as slot from "../../src/backends/wasm/sparse/slots";
import { weightAt } from "./dot";
import { COLUMN } from "./inverted-index";
import { entryOf, valueAt } from "./rows";

/** Up to this many places each is looked for in a list, beyond the list is gone through. Measured. */
const FEW_DOUBTS: u32 = 4;
/** Places that are worked at a time. */
export const MOST_DOUBTS: u32 = 32;

/** Positions in the scratch: places in doubt, products, weights, bases, eight lanes, and a mark for each place of the index. */
const PRODUCTS: usize = 128;
const WEIGHTS: usize = PRODUCTS + 256;
const BASES: usize = WEIGHTS + 256;
const LANES: usize = BASES + 256;
const MARKS: usize = LANES + 2048;

/** Bytes of scratch. */
export function scratchDoubts(context: usize): usize {
  return MARKS + (((<usize>load<u32>(context, slot.ROOM) + 63) >> 6) << 6);
}

/** Makes the scratch fit for use. */
export function clearDoubts(context: usize, scratch: usize): void {
  memory.fill(scratch + MARKS, 0, <usize>load<u32>(context, slot.ROOM));
}

/** Notes place p as number j of those in doubt. */
// @ts-ignore: decorator
@inline
export function noteDoubt(scratch: usize, j: u32, p: u32): void {
  store<u32>(scratch + (<usize>j << 2), p);
}

/** Place number j of those in doubt. */
// @ts-ignore: decorator
@inline
export function doubtAt(scratch: usize, j: u32): u32 {
  return load<u32>(scratch + (<usize>j << 2));
}

/** The product of number j, after `resolveDoubts`. */
// @ts-ignore: decorator
@inline
export function resolvedAt(scratch: usize, j: u32): f64 {
  return load<f64>(scratch + PRODUCTS + (<usize>j << 3));
}

/** x·w of row r and the filters at the first `count` places noted. */
export function resolveDoubts(context: usize, r: u32, count: u32, scratch: usize): void {
  const indices = load<usize>(context, slot.ROW_INDICES);
  const values = load<usize>(context, slot.ROW_VALUES);
  const type = load<i32>(context, slot.ROW_TYPE);
  const table = load<usize>(context, slot.TABLE);
  const weights = scratch + WEIGHTS;
  const bases = scratch + BASES;
  const bytes = <usize>((count + 1) & ~1) << 3;
  begin(context, count, scratch);
  const last = entryOf(context, r + 1);
  for (let e = entryOf(context, r); e < last; e++) {
    const i = <usize>load<u32>(indices + (e << 2));
    const entry = table + (i << 3);
    let from = bases;
    if (load<u32>(entry, 4) != 0) {
      for (let j: usize = 0; j < bytes; j += 16) v128.store(weights + j, v128.load(bases + j));
      findWeights(context, entry, count, scratch);
      from = weights;
    }
    const x = f64x2.splat(valueAt(values, e, type));
    const lane = scratch + LANES + ((i & 7) << 8);
    for (let j: usize = 0; j < bytes; j += 16) {
      v128.store(lane + j, f64x2.add(v128.load(lane + j), f64x2.mul(x, v128.load(from + j))));
    }
  }
  finish(count, scratch);
}

/** Marks the places, notes their bases, empties the lanes. */
function begin(context: usize, count: u32, scratch: usize): void {
  for (let at = scratch + LANES; at < scratch + MARKS; at += 16) v128.store(at, i64x2.splat(0));
  if (count & 1) store<f64>(scratch + BASES + (<usize>count << 3), 0);
  for (let j: u32 = 0; j < count; j++) {
    const p = <usize>doubtAt(scratch, j);
    const f = load<u32>(load<usize>(context, slot.PLACE_FILTER) + (p << 2));
    store<u8>(scratch + MARKS + p, <u8>(j + 1));
    store<f64>(scratch + BASES + (<usize>j << 3), load<f64>(load<usize>(context, slot.FILTER_BASE) + (<usize>f << 3)));
  }
}

/** The weights of one feature where they differ from the base. */
function findWeights(context: usize, entry: usize, count: u32, scratch: usize): void {
  const start = <usize>load<u32>(entry);
  const postings = load<u32>(entry, 4);
  if (postings == COLUMN) {
    const column = start * <usize>load<u32>(context, slot.ROOM);
    for (let j: u32 = 0; j < count; j++) takeColumn(context, column + <usize>doubtAt(scratch, j), j, scratch);
    return;
  }
  const list = load<usize>(context, slot.POSTINGS);
  if (count <= FEW_DOUBTS) {
    for (let j: u32 = 0; j < count; j++) {
      const place = doubtAt(scratch, j) << 2;
      let at = start;
      for (let left = <usize>postings; left > 1; ) {
        const half = left >> 1;
        at = load<u32>(list + ((at + half) << 3)) <= place ? at + half : at;
        left -= half;
      }
      if (load<u32>(list + (at << 3)) == place) takePosting(context, at, j, scratch);
    }
    return;
  }
  for (let at = start; at < start + <usize>postings; at++) {
    const mark = load<u8>(scratch + MARKS + <usize>(load<u32>(list + (at << 3)) >> 2));
    if (mark != 0) takePosting(context, at, <u32>mark - 1, scratch);
  }
}

/** The weight of number j from number `at` of the columns. */
// @ts-ignore: decorator
@inline
function takeColumn(context: usize, at: usize, j: u32, scratch: usize): void {
  if (load<u32>(context, slot.EXACT_DIFFERENCES)) {
    addDifference(context, load<f32>(load<usize>(context, slot.COLUMNS) + (at << 2)), j, scratch);
    return;
  }
  const exception = load<u32>(load<usize>(context, slot.COLUMN_EXCEPTIONS) + (at << 2));
  if (exception) takeException(context, <usize>exception - 1, j, scratch);
}

/** The weight of number j from posting `at`. */
// @ts-ignore: decorator
@inline
function takePosting(context: usize, at: usize, j: u32, scratch: usize): void {
  if (load<u32>(context, slot.EXACT_DIFFERENCES)) {
    addDifference(context, load<f32>(load<usize>(context, slot.POSTINGS) + (at << 3), 4), j, scratch);
    return;
  }
  takeException(context, <usize>load<u32>(load<usize>(context, slot.POSTING_EXCEPTIONS) + (at << 2)), j, scratch);
}

// @ts-ignore: decorator
@inline
function addDifference(context: usize, difference: f32, j: u32, scratch: usize): void {
  const weight = scratch + WEIGHTS + (<usize>j << 3);
  store<f64>(weight, load<f64>(weight) + <f64>difference / load<f64>(context, slot.SCALE_F64));
}

// @ts-ignore: decorator
@inline
function takeException(context: usize, e: usize, j: u32, scratch: usize): void {
  const weight = weightAt(load<usize>(context, slot.FILTER_WEIGHTS), e, load<i32>(context, slot.WEIGHT_BYTES));
  store<f64>(scratch + WEIGHTS + (<usize>j << 3), weight);
}

/** Joins the lanes and takes the marks away. */
function finish(count: u32, scratch: usize): void {
  for (let j: u32 = 0; j < count; j++) {
    const lane = scratch + LANES + (<usize>j << 3);
    const l04 = load<f64>(lane) + load<f64>(lane, 1024);
    const l26 = load<f64>(lane, 512) + load<f64>(lane, 1536);
    const l15 = load<f64>(lane, 256) + load<f64>(lane, 1280);
    const l37 = load<f64>(lane, 768) + load<f64>(lane, 1792);
    store<f64>(scratch + PRODUCTS + (<usize>j << 3), l04 + l26 + (l15 + l37));
    store<u8>(scratch + MARKS + <usize>doubtAt(scratch, j), 0);
  }
}
