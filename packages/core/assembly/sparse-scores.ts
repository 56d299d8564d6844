/**
 * A batch of rows against all places of an index: x·w = base·Σx + Σ x·(w - base). With whole weights as 32-bit integers,
 * exact; otherwise in float32, approximate, of rows scaled by a power of two.
 *
 * What a row meets in the index is looked up first, so that the many waits for memory run side by side. Lists are added
 * row by row. Columns are added for all rows of the batch, a range of places at a time, so that the part of the columns in
 * use stays in the cache.
 */

import {
  COLUMNS,
  COLUMN_COUNT,
  LARGEST_32_F64,
  MOST_ENTRIES,
  PLACE_BASE_F64S,
  PLACE_BASE_32S,
  POSTINGS,
  ROOM,
  ROW_INDICES,
  ROW_TYPE,
  ROW_VALUES,
  TABLE,
  WHOLE,
} from "../src/backends/wasm/csr-context";
import { COLUMN } from "./sparse-index";
import { entryOf, valueAt } from "./sparse-rows";

/** Rows of a batch at most. */
const MOST_ROWS: u32 = 64;
/** Bytes of scores in a batch, but at least one row's. */
const SCORE_BYTES: u32 = 1 << 22;
/** Columns that the rows of a batch may meet together, but at least those of one row. */
const MET: usize = 1 << 14;
/** Bytes of columns in use at a time: they stay in the second-level cache. */
const CACHED_BYTES: u32 = 1 << 18;

/** What is known of a row: its number, where its columns end, its sum, the sum of absolute values, the scale. */
const RECORD_BYTES: usize = 32;
const MET_END: usize = 4;
const SUM: usize = 8;
const SIZE: usize = 16;
const SCALE: usize = 24;

/** Positions in the scratch: records, columns met, lists of one row, scores. */
const MET_AT: usize = <usize>MOST_ROWS * RECORD_BYTES;

// @ts-ignore: decorator
@inline
function listsAt(context: usize): usize {
  return MET_AT + ((MET + <usize>load<u32>(context, MOST_ENTRIES)) << 3);
}

// @ts-ignore: decorator
@inline
function scoresAt(context: usize): usize {
  return (listsAt(context) + <usize>load<u32>(context, MOST_ENTRIES) * 12 + 63) & ~63;
}

/** Rows that go in one batch. */
export function batchRows(context: usize): u32 {
  return max<u32>(1, min<u32>(MOST_ROWS, SCORE_BYTES / (load<u32>(context, ROOM) << 2)));
}

/** Bytes of scratch for a batch, a multiple of 64. */
export function scratchBatch(context: usize): usize {
  return (scoresAt(context) + <usize>batchRows(context) * (<usize>load<u32>(context, ROOM) << 2) + 63) & ~63;
}

/** Makes row r number j of the batch. */
// @ts-ignore: decorator
@inline
export function putRow(batch: usize, j: u32, r: u32): void {
  store<u32>(batch + <usize>j * RECORD_BYTES, r);
}

/** The number of row j of the batch. */
// @ts-ignore: decorator
@inline
export function rowAt(batch: usize, j: u32): u32 {
  return load<u32>(batch + <usize>j * RECORD_BYTES);
}

// @ts-ignore: decorator
@inline
export function sumOf(batch: usize, j: u32): f64 {
  return load<f64>(batch + <usize>j * RECORD_BYTES, SUM);
}

/** Sum of the absolute values of row j, scaled. */
// @ts-ignore: decorator
@inline
export function sizeOf(batch: usize, j: u32): f64 {
  return load<f64>(batch + <usize>j * RECORD_BYTES, SIZE);
}

// @ts-ignore: decorator
@inline
export function scaleOf(batch: usize, j: u32): f64 {
  return load<f64>(batch + <usize>j * RECORD_BYTES, SCALE);
}

/** Whether row j is small enough for 32-bit products. */
// @ts-ignore: decorator
@inline
export function isNarrow(context: usize, batch: usize, j: u32): bool {
  return sizeOf(batch, j) < load<f64>(context, LARGEST_32_F64);
}

/** The scores of row j. */
// @ts-ignore: decorator
@inline
export function scoresOf(context: usize, batch: usize, j: u32): usize {
  return batch + scoresAt(context) + <usize>j * (<usize>load<u32>(context, ROOM) << 2);
}

/** Scores the first `count` rows put into the batch; with whole weights those that are narrow. */
export function scoreBatch(context: usize, batch: usize, count: u32): void {
  if (load<u32>(context, WHOLE)) scoreAll<i32>(context, batch, count);
  else scoreAll<f32>(context, batch, count);
}

function scoreAll<T extends number>(context: usize, batch: usize, count: u32): void {
  const room = <usize>load<u32>(context, ROOM) << 2;
  let met = batch + MET_AT;
  let first: u32 = 0;
  for (let j: u32 = 0; j < count; j++) {
    measureRow<T>(context, batch, j);
    if (!isInteger<T>() || isNarrow(context, batch, j)) {
      const scores = scoresOf(context, batch, j);
      startScores<T>(context, batch, j, scores, room);
      met = addLists<T>(context, batch, j, scores, room, met);
    }
    store<u32>(batch + <usize>j * RECORD_BYTES, <u32>met, MET_END);
    if (met - (batch + MET_AT) >= MET << 3 || j + 1 == count) {
      addColumns<T>(context, batch, first, j + 1, room);
      met = batch + MET_AT;
      first = j + 1;
    }
  }
}

/** Notes the sum, size and scale of row j. */
function measureRow<T extends number>(context: usize, batch: usize, j: u32): void {
  const values = load<usize>(context, ROW_VALUES);
  const type = load<i32>(context, ROW_TYPE);
  const record = batch + <usize>j * RECORD_BYTES;
  const first = entryOf(context, rowAt(batch, j));
  const last = entryOf(context, rowAt(batch, j) + 1);
  let scale: f64 = 1;
  if (!isInteger<T>()) {
    let largest: f64 = 0;
    for (let e = first; e < last; e++) largest = max(largest, abs(valueAt(values, e, type)));
    scale = scaleFor(largest);
  }
  let sum: f64 = 0;
  let size: f64 = 0;
  for (let e = first; e < last; e++) {
    const x = valueAt(values, e, type) * scale;
    sum += x;
    size += abs(x);
  }
  store<f64>(record, sum, SUM);
  store<f64>(record, size, SIZE);
  store<f64>(record, scale, SCALE);
}

/** A power of two that brings `largest` near 1; bounded, so that it and its inverse are normal numbers. */
// @ts-ignore: decorator
@inline
function scaleFor(largest: f64): f64 {
  const exponent = <i64>((reinterpret<u64>(largest) >> 52) & 0x7ff) - 1023;
  const bounded = min<i64>(1000, max<i64>(-1000, exponent));
  return reinterpret<f64>(<u64>(1023 - bounded) << 52);
}

function startScores<T extends number>(context: usize, batch: usize, j: u32, scores: usize, bytes: usize): void {
  const bases = load<usize>(context, PLACE_BASE_32S);
  const sums = v128.splat<T>(<T>sumOf(batch, j));
  for (let p: usize = 0; p < bytes; p += 16) v128.store(scores + p, v128.mul<T>(v128.load(bases + p), sums));
}

/** Adds the lists that row j meets and notes its columns from `met` on; returns where they end. */
function addLists<T extends number>(context: usize, batch: usize, j: u32, scores: usize, bytes: usize, met: usize): usize {
  const indices = load<usize>(context, ROW_INDICES);
  const values = load<usize>(context, ROW_VALUES);
  const type = load<i32>(context, ROW_TYPE);
  const table = load<usize>(context, TABLE);
  const postings = load<usize>(context, POSTINGS);
  const columns = load<usize>(context, COLUMNS);
  const scale = scaleOf(batch, j);
  const last = entryOf(context, rowAt(batch, j) + 1);
  const lists = batch + listsAt(context);
  let list = lists;
  for (let e = entryOf(context, rowAt(batch, j)); e < last; e++) {
    const entry = table + (<usize>load<u32>(indices + (e << 2)) << 3);
    const count = load<u32>(entry, 4);
    if (count == 0) continue;
    const x = <T>(isInteger<T>() ? valueAt(values, e, type) : valueAt(values, e, type) * scale);
    if (count == COLUMN) {
      store<u32>(met, <u32>(columns + <usize>load<u32>(entry) * bytes));
      store<T>(met, x, 4);
      met += 8;
    } else {
      const at = postings + (<usize>load<u32>(entry) << 3);
      store<u32>(list, <u32>at);
      store<u32>(list, <u32>at + (count << 3), 4);
      store<T>(list, x, 8);
      list += 12;
    }
  }
  for (let next = lists; next < list; next += 12) {
    let at = load<usize>(next);
    const end = load<usize>(next, 4);
    const x = load<T>(next, 8);
    for (; at < end; at += 8) {
      const score = scores + <usize>load<u32>(at);
      store<T>(score, load<T>(score) + x * load<T>(at, 4));
    }
  }
  return met;
}

/** Adds the columns met by rows [from, to), a range of places at a time. */
function addColumns<T extends number>(context: usize, batch: usize, from: u32, to: u32, bytes: usize): void {
  const columns = load<u32>(context, COLUMN_COUNT);
  if (columns == 0) return;
  const range = max<usize>(256, <usize>(CACHED_BYTES / columns) & ~63);
  for (let start: usize = 0; start < bytes; start += range) {
    const end = min(start + range, bytes);
    let next = batch + MET_AT;
    for (let j = from; j < to; j++) {
      const scores = scoresOf(context, batch, j);
      const last = load<usize>(batch + <usize>j * RECORD_BYTES, MET_END);
      for (; next + 32 <= last; next += 32) addFour<T>(scores, next, start, end);
      for (; next < last; next += 8) addOne<T>(scores, next, start, end);
    }
  }
}

function addFour<T extends number>(scores: usize, four: usize, start: usize, end: usize): void {
  const a = load<usize>(four);
  const b = load<usize>(four, 8);
  const c = load<usize>(four, 16);
  const d = load<usize>(four, 24);
  const xa = v128.load32_splat(four, 4);
  const xb = v128.load32_splat(four, 12);
  const xc = v128.load32_splat(four, 20);
  const xd = v128.load32_splat(four, 28);
  for (let p = start; p < end; p += 16) {
    const ab = v128.add<T>(v128.mul<T>(v128.load(a + p), xa), v128.mul<T>(v128.load(b + p), xb));
    const cd = v128.add<T>(v128.mul<T>(v128.load(c + p), xc), v128.mul<T>(v128.load(d + p), xd));
    v128.store(scores + p, v128.add<T>(v128.load(scores + p), v128.add<T>(ab, cd)));
  }
}

function addOne<T extends number>(scores: usize, one: usize, start: usize, end: usize): void {
  const a = load<usize>(one);
  const x = v128.load32_splat(one, 4);
  for (let p = start; p < end; p += 16) {
    v128.store(scores + p, v128.add<T>(v128.load(scores + p), v128.mul<T>(v128.load(a + p), x)));
  }
}

/** x·w of row r as float64, for rows too large for 32 bits; exact below 2^53. */
export function scoreWide(context: usize, r: u32, sum: f64, scores: usize): void {
  const indices = load<usize>(context, ROW_INDICES);
  const values = load<usize>(context, ROW_VALUES);
  const type = load<i32>(context, ROW_TYPE);
  const table = load<usize>(context, TABLE);
  const bases = load<usize>(context, PLACE_BASE_F64S);
  const room = <usize>load<u32>(context, ROOM);
  const sums = f64x2.splat(sum);
  for (let p: usize = 0; p < room << 3; p += 16) v128.store(scores + p, f64x2.mul(v128.load(bases + p), sums));
  const last = entryOf(context, r + 1);
  for (let e = entryOf(context, r); e < last; e++) {
    const entry = table + (<usize>load<u32>(indices + (e << 2)) << 3);
    const count = load<u32>(entry, 4);
    if (count == 0) continue;
    const x = valueAt(values, e, type);
    if (count == COLUMN) {
      const at = load<usize>(context, COLUMNS) + <usize>load<u32>(entry) * (room << 2);
      const xs = f64x2.splat(x);
      for (let p: usize = 0; p < room << 2; p += 8) {
        const two = f64x2.convert_low_i32x4_s(v128.load64_zero(at + p));
        const score = scores + (p << 1);
        v128.store(score, f64x2.add(v128.load(score), f64x2.mul(two, xs)));
      }
      continue;
    }
    let at = load<usize>(context, POSTINGS) + (<usize>load<u32>(entry) << 3);
    const end = at + (<usize>count << 3);
    for (; at < end; at += 8) {
      const score = scores + (<usize>load<u32>(at) << 1);
      store<f64>(score, load<f64>(score) + x * <f64>load<i32>(at, 4));
    }
  }
}
