/**
 * Ranks of a vector in linear time, as `src/kernels/rank.ts` defines them: whole numbers of a small range are counted,
 * everything else is sorted by radix. Some features may be known to be zero without being listed (sparse rows): they tie
 * with the listed zeros, and the weight of that tie is returned.
 */

/** Largest range of whole numbers that is counted. */
const COUNTED: i64 = 1 << 14;
/** Bits of a radix digit; six digits cover 64 bits. */
const DIGIT: u64 = 11;
const DIGITS: i32 = 6;
const BUCKETS: usize = 1 << 11;
/** Values that are looked at to find one that most of them are. */
const SAMPLE: usize = 64;

/** Scratch for ranking up to `count` values. */
export function rankScratch(count: usize): usize {
  return <usize>COUNTED * 16 + 64 + BUCKETS * 4 * DIGITS + count * 28;
}

/** Weight of the tie that spans the ranks first + 1 to last. */
function tieWeight(first: u32, last: u32, distribution: usize): f64 {
  if (distribution == 0) return <f64>first + 1 + <f64>last;
  let sum: f64 = 0;
  for (let r = first; r < last; r++) sum += load<f64>(distribution + (<usize>r << 3));
  return sum / <f64>(last - first);
}

/** Writes one weight of 2, 4 or 8 bytes. */
// @ts-ignore: decorator
@inline
function put(out: usize, j: usize, bytes: i32, weight: f64): void {
  if (bytes == 2) store<u16>(out + (j << 1), <u16>weight);
  else if (bytes == 4) store<u32>(out + (j << 2), <u32>weight);
  else store<f64>(out + (j << 3), weight);
}

/** Ranks `count` 32-bit integers; `zeros` further values are 0. Returns the weight of 0 (0 if there is none). */
export function rankWhole(
  values: usize, // in: i32
  count: u32,
  zeros: u32,
  distribution: usize, // in: f64, or 0
  scratch: usize,
  out: usize, // out: `count` weights
  bytes: i32, // in: bytes of a weight
): f64 {
  let lowest = zeros > 0 ? 0 : i32.MAX_VALUE;
  let highest = zeros > 0 ? 0 : i32.MIN_VALUE;
  for (let j: usize = 0; j < <usize>count; j++) {
    const v = load<i32>(values + (j << 2));
    lowest = min(lowest, v);
    highest = max(highest, v);
  }
  const range = <i64>highest - <i64>lowest + 1;
  if (count == 0) return tieWeight(0, zeros, distribution);
  if (range <= COUNTED) return rankCounted(values, count, zeros, lowest, <i32>range, distribution, scratch, out, bytes);
  const keys = scratch + BUCKETS * 4 * DIGITS;
  const order = orderOf(keys, count);
  for (let j: usize = 0; j < <usize>count; j++) {
    store<u64>(keys + (j << 3), <u64>(<i64>load<i32>(values + (j << 2)) - <i64>lowest));
    store<u32>(order + (j << 2), <u32>j);
  }
  const zero: u64 = lowest <= 0 && highest >= 0 ? <u64>(-(<i64>lowest)) : u64.MAX_VALUE;
  return rankKeys(keys, count, zeros, zero, distribution, scratch, out, bytes);
}

/** Ranks `count` float64 values, no NaN; otherwise as `rankWhole`. */
export function rankFloat(values: usize, count: u32, zeros: u32, distribution: usize, scratch: usize, out: usize, bytes: i32): f64 {
  let whole = true;
  for (let j: usize = 0; j < <usize>count && whole; j++) {
    const v = load<f64>(values + (j << 3));
    whole = abs(v) < 1e9 && nearest(v) == v;
  }
  const keys = scratch + BUCKETS * 4 * DIGITS;
  if (whole) {
    // The integers go where `rankWhole` does not write before it has read them.
    const words = scratch + rankScratch(<usize>count) - (<usize>count << 2);
    for (let j: usize = 0; j < <usize>count; j++) store<i32>(words + (j << 2), <i32>load<f64>(values + (j << 3)));
    return rankWhole(words, count, zeros, distribution, scratch, out, bytes);
  }
  const order = orderOf(keys, count);
  for (let j: usize = 0; j < <usize>count; j++) {
    store<u64>(keys + (j << 3), keyOf(load<f64>(values + (j << 3))));
    store<u32>(order + (j << 2), <u32>j);
  }
  return rankKeys(keys, count, zeros, keyOf(0), distribution, scratch, out, bytes);
}

/**
 * Ranks `count` float64 values, no NaN, of which most may be one number: only the others are sorted. So are prototypes of
 * sparse data, where the features of no row stay tied. Scratch as for `rankFloat`, which does what has no such number.
 */
export function rankTied(values: usize, count: u32, distribution: usize, scratch: usize, out: usize, bytes: i32): void {
  const n = <usize>count;
  const common = commonOf(values, n);
  let others: u32 = 0;
  for (let j: usize = 0; j < n; j++) others += <u32>(load<f64>(values + (j << 3)) != common);
  if (others > count >> 1) {
    rankFloat(values, count, 0, distribution, scratch, out, bytes);
    return;
  }
  const keys = scratch + BUCKETS * 4 * DIGITS;
  const order = orderOf(keys, others);
  let next: usize = 0;
  for (let j: usize = 0; j < n; j++) {
    const v = load<f64>(values + (j << 3));
    if (v == common) continue;
    store<u64>(keys + (next << 3), keyOf(v));
    store<u32>(order + (next << 2), <u32>j);
    next++;
  }
  const weight = rankKeys(keys, others, count - others, keyOf(common), distribution, scratch, out, bytes);
  for (let j: usize = 0; j < n; j++) if (load<f64>(values + (j << 3)) == common) put(out, j, bytes, weight);
}

/** The number that more than half of some evenly spaced values are, if there is one; otherwise any. */
function commonOf(values: usize, n: usize): f64 {
  const step = max<usize>(1, n / SAMPLE) << 3;
  const end = values + (n << 3);
  let common: f64 = 0;
  let votes = 0;
  for (let at = values; at < end; at += step) {
    const v = load<f64>(at);
    if (votes == 0) common = v;
    votes += v == common ? 1 : -1;
  }
  return common;
}

/** Where the positions of `count` keys are to be written before `rankKeys`. */
// @ts-ignore: decorator
@inline
function orderOf(keys: usize, count: u32): usize {
  return keys + (<usize>count << 4);
}

/** A number that orders as the float64 does; -0 counts as 0. */
// @ts-ignore: decorator
@inline
function keyOf(v: f64): u64 {
  const bits = reinterpret<u64>(v + 0.0);
  return bits >> 63 ? ~bits : bits | 0x8000_0000_0000_0000;
}

function rankCounted(
  values: usize,
  count: u32,
  zeros: u32,
  lowest: i32,
  range: i32,
  distribution: usize,
  scratch: usize,
  out: usize,
  bytes: i32,
): f64 {
  // Two sets of counters: equal neighbours then do not wait for each other's increment.
  const even = scratch;
  const odd = scratch + (<usize>range << 2);
  memory.fill(even, 0, <usize>range << 3);
  const pairs = <usize>count & ~1;
  const start = <usize>lowest << 2;
  for (let j: usize = 0; j < pairs; j += 2) {
    const a = even + (<usize>load<i32>(values + (j << 2)) << 2) - start;
    const b = odd + (<usize>load<i32>(values + (j << 2), 4) << 2) - start;
    store<u32>(a, load<u32>(a) + 1);
    store<u32>(b, load<u32>(b) + 1);
  }
  if (pairs < <usize>count) {
    const a = even + (<usize>load<i32>(values + (pairs << 2)) << 2) - start;
    store<u32>(a, load<u32>(a) + 1);
  }
  if (zeros > 0) store<u32>(even - start, load<u32>(even - start) + zeros);

  if (distribution == 0 && bytes == 2) {
    // Doubled ranks replace the counters in place.
    let below: u32 = 0;
    for (let v: usize = 0; v < <usize>range << 2; v += 4) {
      const here = load<u32>(even + v) + load<u32>(odd + v);
      store<u32>(even + v, 2 * below + here + 1);
      below += here;
    }
    for (let j: usize = 0; j < <usize>count; j++) {
      const v = <usize>load<i32>(values + (j << 2)) << 2;
      store<u16>(out + (j << 1), load<u16>(even + v - start));
    }
    return zeros > 0 ? <f64>load<u32>(even - start) : 0;
  }
  const table = scratch + ((<usize>range * 8 + 15) & ~15);
  let below: u32 = 0;
  for (let v: usize = 0; v < <usize>range; v++) {
    const here = load<u32>(even + (v << 2)) + load<u32>(odd + (v << 2));
    if (here > 0) store<f64>(table + (v << 3), tieWeight(below, below + here, distribution));
    below += here;
  }
  for (let j: usize = 0; j < <usize>count; j++) {
    put(out, j, bytes, load<f64>(table + (<usize>(load<i32>(values + (j << 2)) - lowest) << 3)));
  }
  return zeros > 0 ? load<f64>(table + (<usize>-lowest << 3)) : 0;
}

/** Ranks by sorted keys. `zeros` further values have the key `zero`; their weight is returned. */
function rankKeys(
  keys: usize, // in: u64, and where `orderOf` says their positions in `out`; they and what follows them are used up
  count: u32,
  zeros: u32,
  zero: u64,
  distribution: usize,
  scratch: usize,
  out: usize,
  bytes: i32,
): f64 {
  const n = <usize>count;
  const otherKeys = keys + (n << 3);
  const order = orderOf(keys, count);
  const otherOrder = order + (n << 2);
  const inFirst = sortKeys(keys, otherKeys, order, otherOrder, count, scratch);
  const sorted = inFirst ? keys : otherKeys;
  const index = inFirst ? order : otherOrder;

  let base: f64 = 0;
  let passed = zeros == 0; // whether the unlisted zeros are among those before `first`
  let shift: u32 = 0;
  for (let first: u32 = 0; first < count; ) {
    const key = load<u64>(sorted + (<usize>first << 3));
    if (!passed && key > zero) {
      base = tieWeight(first, first + zeros, distribution);
      shift = zeros;
      passed = true;
    }
    let last = first + 1;
    while (last < count && load<u64>(sorted + (<usize>last << 3)) == key) last++;
    const own = !passed && key == zero ? zeros : 0;
    const weight = tieWeight(first + shift, last + shift + own, distribution);
    if (own > 0) {
      base = weight;
      shift = zeros;
      passed = true;
    }
    for (let j = first; j < last; j++) put(out, <usize>load<u32>(index + (<usize>j << 2)), bytes, weight);
    first = last;
  }
  if (!passed) base = tieWeight(count, count + zeros, distribution);
  return base;
}

/** Sorts keys with their positions by radix; returns whether the result is in the first of each pair of arrays. */
function sortKeys(keys: usize, otherKeys: usize, order: usize, otherOrder: usize, count: u32, counters: usize): bool {
  const n = <usize>count;
  memory.fill(counters, 0, BUCKETS * 4 * DIGITS);
  for (let j: usize = 0; j < n; j++) {
    let key = load<u64>(keys + (j << 3));
    for (let d = 0; d < DIGITS; d++, key >>= DIGIT) {
      const at = counters + <usize>d * BUCKETS * 4 + (<usize>(key & (BUCKETS - 1)) << 2);
      store<u32>(at, load<u32>(at) + 1);
    }
  }
  let inFirst = true;
  for (let d = 0; d < DIGITS; d++) {
    const bucket = counters + <usize>d * BUCKETS * 4;
    const shift = <u64>d * DIGIT;
    const from = inFirst ? keys : otherKeys;
    const fromOrder = inFirst ? order : otherOrder;
    const common = bucket + (<usize>((load<u64>(from) >> shift) & (BUCKETS - 1)) << 2);
    if (load<u32>(common) == count) continue; // all keys agree in this digit
    const to = inFirst ? otherKeys : keys;
    const toOrder = inFirst ? otherOrder : order;
    let sum: u32 = 0;
    for (let b: usize = 0; b < BUCKETS << 2; b += 4) {
      const here = load<u32>(bucket + b);
      store<u32>(bucket + b, sum);
      sum += here;
    }
    for (let j: usize = 0; j < n; j++) {
      const key = load<u64>(from + (j << 3));
      const at = bucket + (<usize>((key >> shift) & (BUCKETS - 1)) << 2);
      const place = <usize>load<u32>(at);
      store<u32>(at, <u32>place + 1);
      store<u64>(to + (place << 3), key);
      store<u32>(toOrder + (place << 2), load<u32>(fromOrder + (j << 2)));
    }
    inFirst = !inFirst;
  }
  return inFirst;
}
