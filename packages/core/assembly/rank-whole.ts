/**
 * Ranks of whole numbers held as float64, for prototypes: keys carry their positions, so that one array is sorted by
 * radix, in as many passes as the range of the numbers needs. As `rank.ts`, in a third of the time.
 */

import { rankFloat } from "./rank";

/** Bits of a digit at most, and of a position. */
const DIGIT: u64 = 8;
const BUCKETS: usize = 1 << 8;
const PLACE: u64 = 20;
/** Range of numbers that leaves room for positions in 64 bits and is exact in float64. */
const WIDEST: f64 = 8_796_093_022_208;

/** Doubled ranks of `count` values to `out`, 16 bits each; scratch as for `rankFloat`, which does what is not whole. */
export function rankPrototype(values: usize, count: u32, scratch: usize, out: usize): void {
  let low = load<f64>(values);
  let high = low;
  let whole = count < 1 << 20;
  for (let j: usize = 0; j < <usize>count && whole; j++) {
    const v = load<f64>(values + (j << 3));
    low = min(low, v);
    high = max(high, v);
    whole = nearest(v) == v;
  }
  if (!whole || !(high - low < WIDEST)) {
    rankFloat(values, count, 0, 0, scratch, out, 2);
    return;
  }
  const range = <u64>(high - low);
  let keys = scratch + BUCKETS * 4;
  let other = keys + (<usize>count << 3);
  for (let j: usize = 0; j < <usize>count; j++) {
    store<u64>(keys + (j << 3), (<u64>(load<f64>(values + (j << 3)) - low) << PLACE) | <u64>j);
  }
  const bits = 64 - clz(range);
  for (let shift: u64 = 0; shift < bits; shift += DIGIT) {
    memory.fill(scratch, 0, BUCKETS * 4);
    for (let j: usize = 0; j < <usize>count; j++) {
      const at = scratch + (<usize>((load<u64>(keys + (j << 3)) >> (PLACE + shift)) & (BUCKETS - 1)) << 2);
      store<u32>(at, load<u32>(at) + 1);
    }
    let sum: u32 = 0;
    for (let b: usize = 0; b < BUCKETS << 2; b += 4) {
      const here = load<u32>(scratch + b);
      store<u32>(scratch + b, sum);
      sum += here;
    }
    for (let j: usize = 0; j < <usize>count; j++) {
      const key = load<u64>(keys + (j << 3));
      const at = scratch + (<usize>((key >> (PLACE + shift)) & (BUCKETS - 1)) << 2);
      const place = <usize>load<u32>(at);
      store<u32>(at, <u32>place + 1);
      store<u64>(other + (place << 3), key);
    }
    const swapped = keys;
    keys = other;
    other = swapped;
  }
  for (let first: u32 = 0; first < count; ) {
    const key = load<u64>(keys + (<usize>first << 3)) >> PLACE;
    let last = first + 1;
    while (last < count && load<u64>(keys + (<usize>last << 3)) >> PLACE == key) last++;
    const weight = <u16>(first + 1 + last);
    for (let j = first; j < last; j++) {
      store<u16>(out + ((<usize>load<u64>(keys + (<usize>j << 3)) & ((1 << 20) - 1)) << 1), weight);
    }
    first = last;
  }
}
