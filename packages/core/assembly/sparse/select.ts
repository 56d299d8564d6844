/**
 * Finding large scores among many, four at a time; and finding the few places of an index that can be among the strongest
 * before the columns are added: with P a score so far, U the most the columns can add and T the k-th largest of some full
 * scores, a place with P + U < T is weaker than k others.
 */

import { PLACES } from "../../src/backends/wasm/sparse/context";
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
  const places = <usize>load<u32>(context, PLACES);
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

/** The first place in [p, places) whose score is at least `least`, or `places`. */
export function nextAtLeast<T extends number>(scores: usize, p: usize, places: usize, least: T): usize {
  for (; p & 3; p++) if (p >= places || load<T>(scores + (p << 2)) >= least) return min(p, places);
  const four = v128.splat<T>(least);
  for (; p < places; p += 4) {
    const found = i32x4.bitmask(v128.ge<T>(v128.load(scores + (p << 2)), four));
    if (found) return min(p + <usize>ctz(found), places);
  }
  return places;
}

/** The first place in [p, places) whose score is above `limit`, or `places`. */
function nextAbove<T extends number>(scores: usize, p: usize, places: usize, limit: T): usize {
  for (; p & 3; p++) if (p >= places || load<T>(scores + (p << 2)) > limit) return min(p, places);
  const four = v128.splat<T>(limit);
  for (; p < places; p += 4) {
    const found = i32x4.bitmask(v128.gt<T>(v128.load(scores + (p << 2)), four));
    if (found) return min(p + <usize>ctz(found), places);
  }
  return places;
}

/** The k-th largest score; 1 <= k <= places. */
export function kthLargest<T extends number>(
  scores: usize,
  places: usize,
  k: usize,
  heap: usize, // k scores of scratch
): T {
  if (k == 1) return largest<T>(scores, places);
  // A heap of the k largest so far, the smallest of them first.
  memory.copy(heap, scores, k << 2);
  for (let j = k >> 1; j-- > 0; ) sink<T>(heap, j, k, load<T>(heap + (j << 2)));
  for (let p = nextAbove<T>(scores, k, places, load<T>(heap)); p < places; ) {
    sink<T>(heap, 0, k, load<T>(scores + (p << 2)));
    p = nextAbove<T>(scores, p + 1, places, load<T>(heap));
  }
  return load<T>(heap);
}

function largest<T extends number>(scores: usize, places: usize): T {
  let best = load<T>(scores);
  const whole = places & ~3;
  if (whole > 0) {
    let four = v128.load(scores);
    for (let p: usize = 4; p < whole; p += 4) four = v128.max<T>(four, v128.load(scores + (p << 2)));
    best = max<T>(
      max<T>(v128.extract_lane<T>(four, 0), v128.extract_lane<T>(four, 1)),
      max<T>(v128.extract_lane<T>(four, 2), v128.extract_lane<T>(four, 3)),
    );
  }
  for (let p = whole; p < places; p++) best = max<T>(best, load<T>(scores + (p << 2)));
  return best;
}

/** Puts a score into the heap at j or below. */
function sink<T extends number>(heap: usize, j: usize, size: usize, score: T): void {
  for (;;) {
    let child = (j << 1) + 1;
    if (child >= size) break;
    if (child + 1 < size && load<T>(heap + (child << 2), 4) < load<T>(heap + (child << 2))) child++;
    if (!(load<T>(heap + (child << 2)) < score)) break;
    store<T>(heap + (j << 2), load<T>(heap + (child << 2)));
    j = child;
  }
  store<T>(heap + (j << 2), score);
}
