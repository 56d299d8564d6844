/**
 * Finding the few places of an index that can be among the strongest before the columns are added: with P a score so far, U the most the columns can add and T the k-th largest of some full
 * scores, a place with P + U < T is weaker than k others.
 */

import * as slot from "../../src/backends/wasm/sparse/slots";
import { kthLargest, nextAtLeast } from "../shared/largest";
import { mostOfColumns, scoreAt, scoresOf } from "./scores";

/** Places that may stay; with more of them adding the columns to all scores is less work. */
export const MOST_LEFT: u32 = 64;
/** Largest k for which it is tried, and fewest places. Measured. */
export const MOST_SOUGHT: u32 = 8;
export const FEWEST_PLACES: u32 = 256;

/** Bytes that `fewLeft` fills: places, then their full scores. */
export const LEFT_BYTES: usize = <usize>MOST_LEFT * 8;

/**
 * The places that may be among the k strongest, with their full scores, to `left`. Returns how many, or -1 if they are too
 * many.
 */
export function fewLeft<T extends number>(
  context: usize,
  scratch: usize, // in: a row scored without columns
  k: u32,
  margin: f64, // how much two scores may be off, together
  known: f64, // full scores below this do not matter
  heap: usize, // k scores of scratch
  left: usize, // out
): i32 {
  const scores = scoresOf(scratch);
  const places = <usize>load<u32>(context, slot.PLACES);
  const full = left + (<usize>MOST_LEFT << 2);
  const high = kthLargest<T>(scores, places, k, heap);
  let least: f64 = Infinity;
  let count: u32 = 0;
  for (let p = nextAtLeast<T>(scores, 0, places, high); count < k; p = nextAtLeast<T>(scores, p + 1, places, high)) {
    least = min(least, <f64>scoreAt<T>(context, scratch, p));
    count++;
  }
  least = lower<T>(max(least - margin, known) - mostOfColumns<T>(context, scratch));
  const needed = least < <f64>lowest<T>() ? lowest<T>() : <T>least;
  count = 0;
  for (let p = nextAtLeast<T>(scores, 0, places, needed); p < places; p = nextAtLeast<T>(scores, p + 1, places, needed)) {
    if (count == MOST_LEFT) return -1;
    store<u32>(left + (<usize>count << 2), <u32>p);
    store<T>(full + (<usize>count << 2), scoreAt<T>(context, scratch, p));
    count++;
  }
  return <i32>count;
}

/** A threshold as a T that is not higher. */
// @ts-ignore: decorator
@inline
export function lower<T extends number>(threshold: f64): f64 {
  return isInteger<T>() ? floor(threshold) : threshold - abs(threshold) * 2e-7 - 1e-37;
}

// @ts-ignore: decorator
@inline
function lowest<T extends number>(): T {
  return isInteger<T>() ? <T>i32.MIN_VALUE : <T>(-Infinity);
}
