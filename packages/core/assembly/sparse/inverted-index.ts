/**
 * The inverted index of a sparse bank: for each feature the filters that except it, with the difference of the exception
 * from the filter's base. A row's scores are then base·Σx plus what the postings of its features add.
 *
 * A feature that many filters except becomes a column, one number for each place, which vector instructions add; the
 * others become lists of (place, difference). In a whole index differences are 32-bit integers, exact. In any other they
 * are brought to one norm, scaled by a power of two and rounded to float32, for approximate scores; where that is not exact
 * the index also has the exception itself.
 */

import * as slot from "../../src/backends/wasm/sparse/slots";
import { weightAt } from "./dot";

/** A feature is a column if at least one filter in this many excepts it. Measured. */
const FILTERS_PER_POSTING: u32 = 8;

/** Marks a column in the count of TABLE. */
export const COLUMN: u32 = 0x8000_0000;

/**
 * Lays out the index, place after place in ascending order: counts exceptions in TABLE, and after the last place makes
 * starts of them (a list's start is its end so far) and says how much room columns and lists need.
 */
export function plan_index_csr(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const table = load<usize>(context, slot.TABLE);
  if (from == 0) memory.fill(table, 0, <usize>load<u32>(context, slot.FEATURES) << 3);
  for (let p = from; p < to; p++) {
    const f = load<u32>(load<usize>(context, slot.PLACE_FILTER) + (<usize>p << 2));
    const base = baseOf(context, f);
    const end = exceptionOf(context, f + 1);
    for (let e = exceptionOf(context, f); e < end; e++) {
      if (weightOf(context, e) == base) continue;
      const count = table + (<usize>featureOf(context, e) << 3);
      store<u32>(count, load<u32>(count, 4) + 1, 4);
    }
  }
  if (to == load<u32>(context, slot.PLACES)) layOut(context, table, to);
  return 0;
}

function layOut(context: usize, table: usize, places: u32): void {
  let columns: u32 = 0;
  let postings: u32 = 0;
  const end = table + (<usize>load<u32>(context, slot.FEATURES) << 3);
  for (let at = table; at < end; at += 8) {
    // Most features are excepted by no filter.
    while (at + 32 <= end && !v128.any_true(v128.or(v128.load(at), v128.load(at, 16)))) at += 32;
    if (at >= end) break;
    const count = load<u32>(at, 4);
    if (count == 0) continue;
    if (count * FILTERS_PER_POSTING >= places) {
      store<u32>(at, columns++);
      store<u32>(at, COLUMN, 4);
    } else {
      postings += count;
      store<u32>(at, postings);
    }
  }
  store<u32>(context, columns, slot.COLUMN_COUNT);
  store<u32>(context, postings, slot.POSTING_COUNT);
}

/** Empties the columns [from, to). */
export function clear_index_csr(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const column = <usize>load<u32>(context, slot.ROOM) << 2;
  const columnExceptions = load<usize>(context, slot.COLUMN_EXCEPTIONS);
  const bytes = <usize>(to - from) * column;
  memory.fill(load<usize>(context, slot.COLUMNS) + <usize>from * column, 0, bytes);
  memory.fill(load<usize>(context, slot.COLUMN_BOUNDS) + (<usize>from << 3), 0, <usize>(to - from) << 3);
  if (columnExceptions) memory.fill(columnExceptions + <usize>from * column, 0, bytes);
  return 0;
}

/** Fills columns and lists with the exceptions of the places [from, to), counted from the last, in ascending order of that. */
export function fill_index_csr(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const table = load<usize>(context, slot.TABLE);
  const columns = load<usize>(context, slot.COLUMNS);
  const postings = load<usize>(context, slot.POSTINGS);
  const column = <usize>load<u32>(context, slot.ROOM) << 2;
  const columnExceptions = load<usize>(context, slot.COLUMN_EXCEPTIONS);
  const postingExceptions = load<usize>(context, slot.POSTING_EXCEPTIONS);
  const whole = load<u32>(context, slot.WHOLE);
  const scale = load<f64>(context, slot.SCALE_F64);
  const bounds = load<usize>(context, slot.COLUMN_BOUNDS);
  // Backwards, so that each list fills from its end to its start and ends up in ascending order of place.
  const places = load<u32>(context, slot.PLACES);
  for (let p = places - from; p-- > places - to; ) {
    const f = load<u32>(load<usize>(context, slot.PLACE_FILTER) + (<usize>p << 2));
    const base = baseOf(context, f);
    const factor = scale * load<f64>(load<usize>(context, slot.PLACE_FACTOR_F64S) + (<usize>p << 3));
    const end = exceptionOf(context, f + 1);
    for (let e = exceptionOf(context, f); e < end; e++) {
      const weight = weightOf(context, e);
      if (weight == base) continue;
      const bits = whole ? <u32>(<i32>(weight - base)) : reinterpret<u32>(<f32>(weight * factor - base * factor));
      const entry = table + (<usize>featureOf(context, e) << 3);
      if (load<u32>(entry, 4) == COLUMN) {
        const at = <usize>load<u32>(entry) * column + (<usize>p << 2);
        store<u32>(columns + at, bits);
        if (whole) widen<i32>(bounds + (<usize>load<u32>(entry) << 3), <i32>bits);
        else widen<f32>(bounds + (<usize>load<u32>(entry) << 3), reinterpret<f32>(bits));
        if (columnExceptions) store<u32>(columnExceptions + at, <u32>e + 1);
      } else {
        const at = load<u32>(entry) - 1;
        store<u32>(entry, at);
        const posting = postings + (<usize>at << 3);
        store<u32>(posting, p << 2);
        store<u32>(posting, bits, 4);
        if (postingExceptions) store<u32>(postingExceptions + (<usize>at << 2), <u32>e);
      }
    }
  }
  return 0;
}

/** Makes a number lie within the bounds of its column. */
// @ts-ignore: decorator
@inline
function widen<T extends number>(bounds: usize, value: T): void {
  store<T>(bounds, max<T>(load<T>(bounds), value));
  store<T>(bounds, min<T>(load<T>(bounds, 4), value), 4);
}

// @ts-ignore: decorator
@inline
function baseOf(context: usize, f: u32): f64 {
  return load<f64>(load<usize>(context, slot.FILTER_BASE) + (<usize>f << 3));
}

// @ts-ignore: decorator
@inline
function exceptionOf(context: usize, f: u32): usize {
  return <usize>load<u32>(load<usize>(context, slot.FILTER_OFFSETS) + (<usize>f << 2));
}

// @ts-ignore: decorator
@inline
function featureOf(context: usize, e: usize): u32 {
  return load<u32>(load<usize>(context, slot.FILTER_INDICES) + (e << 2));
}

// @ts-ignore: decorator
@inline
function weightOf(context: usize, e: usize): f64 {
  return weightAt(load<usize>(context, slot.FILTER_WEIGHTS), e, load<i32>(context, slot.WEIGHT_BYTES));
}
