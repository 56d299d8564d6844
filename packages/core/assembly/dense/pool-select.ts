/**
 * The strongest filters of one window, without branches that depend on its values: they would be guessed wrong at
 * nearly every window. Eight or more strided groups of responses each have a largest one; the least of these is no larger than the
 * k-th of all, so only responses that reach it need be put in order.
 */

/** Bytes of the table of `fillMoves`. */
const MOVES: usize = 256;

/** Entries of the ordered list: a multiple of 4, at least 8. */
// @ts-ignore: decorator
@inline
function listVectors(best: i32): i32 {
  return max(2, (best + 3) >> 2);
}

/** Bytes that the selection needs: the table, the list, and candidates with room for a vector beyond the last. */
export function selectBytes(responseBytes: usize, best: i32): usize {
  return MOVES + (<usize>listVectors(best) << 5) + responseBytes + 32;
}

/** For each mask of four lanes: the bytes that move the lanes it names to the front. */
export function fillMoves(table: usize): void {
  for (let mask: u32 = 0; mask < 16; mask++) {
    let at = table + (<usize>mask << 4);
    v128.store(at, i8x16.splat(0));
    for (let lane: u32 = 0; lane < 4; lane++) {
      if (!((mask >> lane) & 1)) continue;
      for (let byte: u32 = 0; byte < 4; byte++) store<u8>(at++, <u8>(lane * 4 + byte));
    }
  }
}

/** Puts the `best` largest of the numbers, all different but for the lowest one, in order; returns where they are. */
export function strongestPacked(numbers: usize, bytes: usize, best: i32, room: usize): usize {
  const list = room + MOVES;
  const vectors = listVectors(best);
  const candidates = list + (<usize>vectors << 5);
  const end = numbers + bytes;
  if (vectors == 2) {
    let m0 = v128.load(numbers);
    let m1 = v128.load(numbers, 16);
    for (let i = numbers + 32; i < end; i += 32) {
      m0 = i32x4.max_s(m0, v128.load(i));
      m1 = i32x4.max_s(m1, v128.load(i, 16));
    }
    const last = gather(numbers, end, leastLane(i32x4.min_s(m0, m1)), candidates, room);
    orderEight(candidates, last, list);
  } else {
    const last = gather(numbers, end, leastOfGroups(numbers, end, vectors, list), candidates, room);
    orderMany(candidates, last, list, vectors);
  }
  return list;
}

// @ts-ignore: decorator
@inline
function leastLane(v: v128): i32 {
  v = i32x4.min_s(v, v128.shuffle<i32>(v, v, 2, 3, 0, 1));
  v = i32x4.min_s(v, v128.shuffle<i32>(v, v, 1, 0, 3, 2));
  return i32x4.extract_lane(v, 0);
}

/** The least of the largest numbers of `vectors` x 4 strided groups, which `largest` has room for. */
function leastOfGroups(numbers: usize, end: usize, vectors: i32, largest: usize): i32 {
  const bytes = <usize>vectors << 4;
  for (let j: usize = 0; j < bytes; j += 16) v128.store(largest + j, i32x4.splat(i32.MIN_VALUE));
  let j: usize = 0;
  for (let i = numbers; i < end; i += 16) {
    v128.store(largest + j, i32x4.max_s(v128.load(largest + j), v128.load(i)));
    j += 16;
    if (j == bytes) j = 0;
  }
  let least = v128.load(largest);
  for (let q: usize = 16; q < bytes; q += 16) least = i32x4.min_s(least, v128.load(largest + q));
  return leastLane(least);
}

/** Copies the numbers that reach `need` to `out`, in order; returns where they end. */
function gather(numbers: usize, end: usize, need: i32, out: usize, table: usize): usize {
  const below = i32x4.splat(max(need, i32.MIN_VALUE + 1) - 1);
  let at = out;
  for (let i = numbers; i < end; i += 32) {
    const low = v128.load(i);
    const high = v128.load(i, 16);
    const lowMask = i32x4.bitmask(i32x4.gt_s(low, below));
    const highMask = i32x4.bitmask(i32x4.gt_s(high, below));
    v128.store(at, i8x16.swizzle(low, v128.load(table + (<usize>lowMask << 4))));
    at += <usize>popcnt(lowMask) << 2;
    v128.store(at, i8x16.swizzle(high, v128.load(table + (<usize>highMask << 4))));
    at += <usize>popcnt(highMask) << 2;
  }
  return at;
}

/** The eight largest candidates, largest first: each takes its place by what it and its left neighbour in the list are. */
function orderEight(candidates: usize, last: usize, list: usize): void {
  const most = i32x4.splat(i32.MAX_VALUE);
  let l0 = i32x4.splat(i32.MIN_VALUE);
  let l1 = l0;
  for (let i = candidates; i < last; i += 4) {
    const v = v128.load32_splat(i);
    l1 = i32x4.max_s(l1, i32x4.min_s(v128.shuffle<i32>(l0, l1, 3, 4, 5, 6), v));
    l0 = i32x4.max_s(l0, i32x4.min_s(v128.shuffle<i32>(most, l0, 3, 4, 5, 6), v));
  }
  v128.store(list, l0);
  v128.store(list, l1, 16);
}

/** The same for a list of any length, kept in memory. */
function orderMany(candidates: usize, last: usize, list: usize, vectors: i32): void {
  const bytes = <usize>vectors << 4;
  for (let j: usize = 0; j < bytes; j += 16) v128.store(list + j, i32x4.splat(i32.MIN_VALUE));
  const most = i32x4.splat(i32.MAX_VALUE);
  for (let i = candidates; i < last; i += 4) {
    const v = v128.load32_splat(i);
    let left = most;
    for (let j: usize = 0; j < bytes; j += 16) {
      const own = v128.load(list + j);
      v128.store(list + j, i32x4.max_s(own, i32x4.min_s(v128.shuffle<i32>(left, own, 3, 4, 5, 6), v)));
      left = own;
    }
  }
}

/** Adds the similarities of an ordered list of packed responses to the sums of a cell. */
export function addSimilarities(list: usize, best: i32, bits: i32, cell: usize): void {
  const mask = (1 << bits) - 1;
  const kth = load<i32>(list + (<usize>(best - 1) << 2)) >> bits;
  const distance = (load<i32>(list) >> bits) - kth;
  if (distance == 0) return;
  const half = <f64>(distance >> 1);
  const whole = <f64>distance;
  for (let j = 0; j < best - 1; j++) {
    const packed = load<i32>(list + (<usize>j << 2));
    const d = (packed >> bits) - kth;
    const at = cell + (<usize>(mask - (packed & mask)) << 2);
    store<u32>(at, load<u32>(at) + similarity(d, half, whole));
  }
}

/** ⌊(255·d + half) / whole⌋: exact, because all numbers are below 2^53 and a quotient that is not whole is far from one. */
// @ts-ignore: decorator
@inline
function similarity(d: i32, half: f64, whole: f64): u32 {
  return <u32>((255.0 * <f64>d + half) / whole);
}

/** Responses too large to be packed: the k-th is found by insertion, then every response above it is added. */
export function strongestWide(responses: usize, filters: i32, best: i32, room: usize, cell: usize): void {
  const list = room + MOVES;
  for (let j = 0; j < best; j++) store<i32>(list + (<usize>j << 2), i32.MIN_VALUE);
  for (let f = 0; f < filters; f++) {
    const v = load<i32>(responses + (<usize>f << 2));
    let j = best - 1;
    if (v <= load<i32>(list + (<usize>j << 2))) continue;
    for (; j > 0 && v > load<i32>(list + (<usize>(j - 1) << 2)); j--) {
      store<i32>(list + (<usize>j << 2), load<i32>(list + (<usize>(j - 1) << 2)));
    }
    store<i32>(list + (<usize>j << 2), v);
  }
  const kth = load<i32>(list + (<usize>(best - 1) << 2));
  // Two responses may lie further apart than 31 bits hold.
  const whole = <f64>load<i32>(list) - <f64>kth;
  if (whole == 0) return;
  const half = Math.floor(whole / 2);
  for (let f = 0; f < filters; f++) {
    const v = load<i32>(responses + (<usize>f << 2));
    if (v <= kth) continue;
    const at = cell + (<usize>f << 2);
    store<u32>(at, load<u32>(at) + <u32>((255.0 * (<f64>v - <f64>kth) + half) / whole));
  }
}
