/**
 * Ranks of whole numbers held as float64, for prototypes: keys carry their positions, so that one array is sorted by
 * radix, in as few passes as the range of the numbers allows. As `rank.ts`, in half the time.
 */

import { rankFloat } from "./rank";

/** Bits of a position, and of a digit at most. */
const PLACE: u32 = 10;
const DIGIT: u32 = 8;
const BUCKETS: usize = 1 << 8;
/** Numbers of a wider range have no room beside their positions. */
const WIDEST: f64 = 4_194_304;

/** Doubled ranks of `count` values to `out`, 16 bits each; scratch as for `rankFloat`, which does what does not fit here. */
export function rankPrototype(values: usize, count: u32, scratch: usize, out: usize): void {
  const n = <usize>count;
  const even = n & ~1;
  let lowest = f64x2.splat(load<f64>(values));
  let highest = lowest;
  let whole = i64x2.splat(-1);
  for (let j: usize = 0; j < even; j += 2) {
    const two = v128.load(values + (j << 3));
    lowest = f64x2.pmin(lowest, two);
    highest = f64x2.pmax(highest, two);
    whole = v128.and(whole, f64x2.eq(f64x2.nearest(two), two));
  }
  let low = min(f64x2.extract_lane(lowest, 0), f64x2.extract_lane(lowest, 1));
  let high = max(f64x2.extract_lane(highest, 0), f64x2.extract_lane(highest, 1));
  let fits = i64x2.all_true(whole) && n <= 1024;
  if (even < n) {
    const last = load<f64>(values + (even << 3));
    low = min(low, last);
    high = max(high, last);
    fits = fits && nearest(last) == last;
  }
  if (!fits || !(high - low < WIDEST)) {
    rankFloat(values, count, 0, 0, scratch, out, 2);
    return;
  }
  const bits: u32 = 32 - <u32>clz(<u32>(high - low));
  const passes: u32 = (bits + DIGIT - 1) / DIGIT;
  let keys = scratch + BUCKETS * 12;
  let other = keys + (n << 2);
  for (let j: usize = 0; j < n; j++) {
    store<u32>(keys + (j << 2), (<u32>(load<f64>(values + (j << 3)) - low) << PLACE) | <u32>j);
  }
  memory.fill(scratch, 0, BUCKETS * 12);
  for (let j: usize = 0; j < n; j++) {
    const key = load<u32>(keys + (j << 2)) >> PLACE;
    const first = scratch + (<usize>(key & 255) << 2);
    const second = scratch + (<usize>((key >> 8) & 255) << 2);
    const third = scratch + (<usize>(key >> 16) << 2);
    store<u32>(first, load<u32>(first) + 1);
    store<u32>(second, load<u32>(second, BUCKETS * 4) + 1, BUCKETS * 4);
    store<u32>(third, load<u32>(third, BUCKETS * 8) + 1, BUCKETS * 8);
  }
  for (let pass: u32 = 0; pass < passes; pass++) {
    const bucket = scratch + <usize>pass * BUCKETS * 4;
    const shift = PLACE + pass * DIGIT;
    let sum: u32 = 0;
    for (let b: usize = 0; b < BUCKETS << 2; b += 4) {
      const here = load<u32>(bucket + b);
      store<u32>(bucket + b, sum);
      sum += here;
    }
    for (let j: usize = 0; j < n; j++) {
      const key = load<u32>(keys + (j << 2));
      const at = bucket + (<usize>((key >> shift) & 255) << 2);
      const place = load<u32>(at);
      store<u32>(at, place + 1);
      store<u32>(other + (<usize>place << 2), key);
    }
    const swapped = keys;
    keys = other;
    other = swapped;
  }
  for (let first: u32 = 0; first < count; ) {
    const key = load<u32>(keys + (<usize>first << 2)) >> PLACE;
    let last = first + 1;
    while (last < count && load<u32>(keys + (<usize>last << 2)) >> PLACE == key) last++;
    const weight = <u16>(first + 1 + last);
    for (let j = first; j < last; j++) {
      store<u16>(out + (<usize>(load<u32>(keys + (<usize>j << 2)) & ((1 << PLACE) - 1)) << 1), weight);
    }
    first = last;
  }
}
