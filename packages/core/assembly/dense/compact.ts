/** Lists of the places that a test leaves, made without branches: a mask of the lanes that passed looks up how to move them. */

/** Where the tables for four lanes of 16 and of 32 bits begin, after that for eight. */
const FOUR: usize = 4096;
const FOUR_WIDE: usize = FOUR + 256;
/** Where eight times the number 8 is. */
const EIGHT: usize = FOUR_WIDE + 256;

/** Fills the tables: for each mask of 8 bits the positions of its ones; for each of 4 bits the bytes of the lanes. */
export function compact_table(table: usize): void {
  for (let mask: u32 = 0; mask < 256; mask++) {
    let at = table + (<usize>mask << 4);
    for (let bit: u32 = 0; bit < 8; bit++) {
      if (!((mask >> bit) & 1)) continue;
      store<u16>(at, <u16>bit);
      at += 2;
    }
  }
  for (let mask: u32 = 0; mask < 16; mask++) {
    let at = table + FOUR + (<usize>mask << 4);
    let wide = table + FOUR_WIDE + (<usize>mask << 4);
    for (let bit: u32 = 0; bit < 4; bit++) {
      if (!((mask >> bit) & 1)) continue;
      for (let byte: u32 = 0; byte < 2; byte++) store<u8>(at++, <u8>(bit * 2 + byte));
      for (let byte: u32 = 0; byte < 4; byte++) store<u8>(wide++, <u8>(bit * 4 + byte));
    }
  }
  v128.store(table + EIGHT, i16x8.splat(8));
}

/**
 * Lists the places whose level-1 bound may reach `need`; returns how many. Writes up to 8 numbers beyond the last.
 * The loops here and in `prune.ts` test at their end: only then does the engine move out of them what does not change.
 * It would build constants again wherever they are used, so they are loaded from memory.
 */
export function compact(bounds: usize, count: i32, need: f64, out: usize, table: usize): i32 {
  const upper = floor(need / 65536);
  if (upper > 32767) return 0;
  // No bound is near the lowest number, which marks places to leave out: one less than what is needed always fits.
  const below = i16x8.splat(<i16>(max(upper, -32767) - 1));
  const step = v128.load(table + EIGHT);
  let at = out;
  let base = i16x8.splat(0);
  if (count & 8) {
    const mask = i16x8.bitmask(i16x8.gt_s(v128.load(bounds), below));
    v128.store(at, v128.load(table + (<usize>mask << 4)));
    at += <usize>popcnt(mask) << 1;
    base = step;
    bounds += 16;
  }
  const end = bounds + (<usize>(count & ~8) << 1);
  while (bounds < end) {
    do {
      const pair = i8x16.narrow_i16x8_s(i16x8.gt_s(v128.load(bounds), below), i16x8.gt_s(v128.load(bounds, 16), below));
      const mask = i8x16.bitmask(pair);
      const low = mask & 255;
      const high = mask >>> 8;
      v128.store(at, i16x8.add(base, v128.load(table + (<usize>low << 4))));
      at += <usize>popcnt(low) << 1;
      base = i16x8.add(base, step);
      v128.store(at, i16x8.add(base, v128.load(table + (<usize>high << 4))));
      at += <usize>popcnt(high) << 1;
      base = i16x8.add(base, step);
      bounds += 32;
    } while (bounds < end);
  }
  return <i32>((at - out) >> 1);
}

/** Lists the place with the largest bound in each of 8 lanes in each of the sections, of which there are no more than blocks of 8. */
export function listLargest(bounds: usize, blocks: i32, sections: i32, out: usize, table: usize): void {
  const step = v128.load(table + EIGHT);
  let places = i16x8(0, 1, 2, 3, 4, 5, 6, 7);
  for (let section = 0; section < sections; section++) {
    const end = bounds + (<usize>(((section + 1) * blocks) / sections - (section * blocks) / sections) << 4);
    let best = v128.load(bounds);
    let where = places;
    do {
      const eight = v128.load(bounds);
      where = v128.bitselect(places, where, i16x8.gt_s(eight, best));
      best = i16x8.max_s(best, eight);
      places = i16x8.add(places, step);
      bounds += 16;
    } while (bounds < end);
    v128.store(out + (<usize>section << 4), where);
  }
}

/** Appends those of the candidates j to j + 3 (of `count`) that `mask` names to the `left` at `out`; returns how many there are then. */
// @ts-ignore: decorator
@inline
export function keepFour(mask: i32, candidates: usize, j: i32, count: i32, left: i32, out: usize, table: usize): i32 {
  const valid = count - j >= 4 ? mask : mask & ((1 << (count - j)) - 1);
  const lanes = v128.load64_zero(candidates + (<usize>j << 1));
  const moved = i8x16.swizzle(lanes, v128.load(table + FOUR + (<usize>valid << 4)));
  v128.store64_lane(out + (<usize>left << 1), moved, 0);
  return left + popcnt(valid);
}

/** Keeps, in order, the candidates whose level reaches `need` and whose estimate lies below `tried`; returns how many. */
export function keepOpen(
  candidates: usize, // u16
  levels: usize, // in: i32
  estimates: usize, // in: i32
  count: i32,
  need: i32,
  tried: i32,
  table: usize,
): i32 {
  const below = i32x4.splat(max(need, i32.MIN_VALUE + 1) - 1);
  const limit = i32x4.splat(tried);
  let left = 0;
  let j = 0;
  do {
    const reached = i32x4.gt_s(v128.load(levels + (<usize>j << 2)), below);
    const open = v128.and(reached, i32x4.gt_s(limit, v128.load(estimates + (<usize>j << 2))));
    left = keepFour(i32x4.bitmask(open), candidates, j, count, left, candidates, table);
    j += 4;
  } while (j < count);
  return left;
}

/** Copies, in order, the candidates whose level reaches `need`, with their levels; returns how many. A list may be copied onto itself. */
export function keepLevels(
  candidates: usize, // in: u16
  levels: usize, // in: i32
  count: i32,
  need: i32,
  out: usize, // out: u16
  outLevels: usize, // out: i32
  table: usize,
): i32 {
  const below = i32x4.splat(max(need, i32.MIN_VALUE + 1) - 1);
  let left = 0;
  let j = 0;
  do {
    const four = v128.load(levels + (<usize>j << 2));
    const mask = i32x4.bitmask(i32x4.gt_s(four, below));
    v128.store(outLevels + (<usize>left << 2), i8x16.swizzle(four, v128.load(table + FOUR_WIDE + (<usize>mask << 4))));
    left = keepFour(mask, candidates, j, count, left, out, table);
    j += 4;
  } while (j < count);
  return left;
}
