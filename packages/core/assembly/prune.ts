/**
 * The k strongest filters of dense rows by bounds: a coarse pass over all filters for four rows at a time, then for each
 * row a cascade over those that are left, then exact responses of the few that could still be among the k strongest. The
 * answer is that of the full loop (`full.ts`), whatever the bounds are worth.
 */

import {
  CHANGED,
  COMPACT,
  DEPTH,
  DEPTH_1,
  DEPTH_2,
  FILTER_BOUNDS,
  K,
  KNOWN,
  LIST,
  ORDER,
  OUT_ID,
  OUT_VALUE,
  PANEL,
  PLACES,
  ROW_BOUNDS,
  ROW_SCALES,
  STRIDE,
  VERDICT,
  WINNER,
  WINNER_VALUE,
} from "../src/backends/wasm/context";
import { needed, SCALES_BYTES } from "./bound";
import { dot4 } from "./dot";
import { openRow, respond, respond4 } from "./respond";
import { coarse, packPanel, panelBytes } from "./tile";
import { clearTop, insert } from "./top";

/** Places looked at in one go: their bounds stay in the second-level cache. */
const SEGMENT: i32 = 8192;

/** Exact products computed in this call. */
let exact: u32 = 0;

/** Packs places [from, to) of the panel. */
export function pack_filters(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const strideBytes = <usize>load<u32>(context, DEPTH) << 1;
  const vectors = load<usize>(context, FILTER_BOUNDS);
  packPanel(vectors, strideBytes, load<i32>(context, DEPTH_1), load<usize>(context, ORDER), from, to, load<usize>(context, PANEL));
  return 0;
}

/** First answers for rows [from, to) from the winners of an earlier bank, and which rows need a look at all filters. */
export function first_answers(from: u32, to: u32, scratch: usize, context: usize): f64 {
  exact = 0;
  for (let r = from; r < to; r++) {
    const winner = load<u32>(load<usize>(context, WINNER) + (<usize>r << 2));
    const before = load<f64>(load<usize>(context, WINNER_VALUE) + (<usize>r << 3));
    let now = before;
    let all: u8 = 0;
    if (load<u8>(load<usize>(context, CHANGED) + winner)) {
      now = respond(context, scratch, openRow(context, r, scratch), winner);
      exact++;
      // Filters that stayed the same lost to `before`. They lose again unless the winner has become weaker.
      all = now >= before ? 0 : 1;
    }
    store<u32>(load<usize>(context, OUT_ID) + (<usize>r << 2), winner);
    store<f64>(load<usize>(context, OUT_VALUE) + (<usize>r << 3), now);
    store<u8>(load<usize>(context, VERDICT) + r, all);
  }
  return <f64>exact;
}

/** Scratch of `top_filters_pruned`. */
export function scratch_pruned(context: usize): usize {
  const places = <usize>min(load<i32>(context, PLACES), SEGMENT);
  const wanted = <usize>seeds(load<i32>(context, K)) + 8;
  return (<usize>load<i32>(context, STRIDE) << 3) + 64 + places * 8 + (places + 16) * 6 + wanted * 8;
}

/** Candidates whose exact response is computed first when nothing is known of a row. */
// @ts-ignore: decorator
@inline
function seeds(k: i32): i32 {
  return k <= 4 ? 4 : k + (k >> 2) + 4;
}

/** The k strongest filters of the rows at [from, to) of LIST (or of the rows themselves). Returns the exact products computed. */
export function top_filters_pruned(from: u32, to: u32, scratch: usize, context: usize): f64 {
  exact = 0;
  const list = load<usize>(context, LIST);
  const rowBounds = load<usize>(context, ROW_BOUNDS);
  const depth = <usize>load<u32>(context, DEPTH) << 1;
  const length = load<i32>(context, DEPTH_1);
  const places = load<i32>(context, PLACES);
  const width = <usize>min(places, SEGMENT) << 1;
  const bounds = scratch + (<usize>load<i32>(context, STRIDE) << 3) + 64;
  for (let p = from; p < to; p += 4) {
    const last = to - 1;
    const r0 = pick(list, p);
    const r1 = pick(list, min(p + 1, last));
    const r2 = pick(list, min(p + 2, last));
    const r3 = pick(list, min(p + 3, last));
    for (let first = 0; first < places; first += SEGMENT) {
      const count = min(SEGMENT, places - first);
      coarse(
        rowBounds + <usize>r0 * depth,
        rowBounds + <usize>r1 * depth,
        rowBounds + <usize>r2 * depth,
        rowBounds + <usize>r3 * depth,
        load<usize>(context, PANEL) + <usize>(first >> 3) * panelBytes(8, length),
        <usize>length << 1,
        count >> 3,
        bounds,
        width,
      );
      const known = first > 0 || load<u32>(context, KNOWN) == 1;
      searchRow(context, r0, scratch, bounds, first, count, known);
      if (p + 1 < to) searchRow(context, r1, scratch, bounds + width, first, count, known);
      if (p + 2 < to) searchRow(context, r2, scratch, bounds + 2 * width, first, count, known);
      if (p + 3 < to) searchRow(context, r3, scratch, bounds + 3 * width, first, count, known);
    }
  }
  return <f64>exact;
}

// @ts-ignore: decorator
@inline
function pick(list: usize, p: u32): u32 {
  return list == 0 ? p : load<u32>(list + (<usize>p << 2));
}

function searchRow(context: usize, r: u32, scratch: usize, bounds: usize, first: i32, count: i32, known: bool): void {
  const k = load<i32>(context, K);
  const ids = load<usize>(context, OUT_ID) + (<usize>r * <usize>k << 2);
  const values = load<usize>(context, OUT_VALUE) + (<usize>r * <usize>k << 3);
  const scales = load<usize>(context, ROW_SCALES) + <usize>r * SCALES_BYTES;
  if (load<f64>(scales, 8) == 0) {
    // A row of zeros responds 0 to every filter.
    for (let j: usize = 0; j < <usize>k; j++) {
      store<u32>(ids + (j << 2), <u32>j);
      store<f64>(values + (j << 3), 0);
    }
    return;
  }
  const term = openRow(context, r, scratch);
  const vector = load<usize>(context, ROW_BOUNDS) + <usize>r * (<usize>load<u32>(context, DEPTH) << 1);
  const filterBounds = load<usize>(context, FILTER_BOUNDS);
  const depth = <usize>load<u32>(context, DEPTH) << 1;
  const depth2 = <usize>load<u32>(context, DEPTH_2) << 1;
  const order = load<usize>(context, ORDER) + (<usize>first << 2);
  const worst = values + (<usize>(k - 1) << 3);

  if (!known) {
    clearTop(values, ids, k);
    tryStrongest(context, scratch, term, bounds, order, count, values, ids, k);
  }

  // Level 1: places whose coarse bound does not rule them out.
  const places = min(load<i32>(context, PLACES), SEGMENT);
  const candidates = load<usize>(context, STRIDE) * 8 + scratch + 64 + <usize>places * 8; // u16
  const levels = candidates + (<usize>places + 16) * 2; // i32
  let need = needed(context, scales, load<f64>(worst));
  const found = compact(bounds, count, need, candidates, load<usize>(context, COMPACT));
  if (found == 0) return;

  // Level 2: four at a time; the list is filled up with its last place.
  const lastPlace = load<u16>(candidates + (<usize>(found - 1) << 1));
  for (let j = found; j < ((found + 3) & ~3); j++) store<u16>(candidates + (<usize>j << 1), lastPlace);
  for (let j: usize = 0; j < <usize>found; j += 4) {
    const at = candidates + (j << 1);
    const sums = dot4(
      vector,
      filterBounds + filterAt(order, at) * depth,
      filterBounds + filterAt(order, at + 2) * depth,
      filterBounds + filterAt(order, at + 4) * depth,
      filterBounds + filterAt(order, at + 6) * depth,
      depth2,
    );
    v128.store(levels + (j << 2), sums);
  }
  if (!known) {
    const strongest = levels + (<usize>places + 16) * 4;
    tryClosest(context, scratch, term, vector, candidates, levels, order, found, strongest, values, ids, k);
    need = needed(context, scales, load<f64>(worst));
  }
  let left = keep(candidates, levels, found, need);

  // Level 3.
  if (depth > depth2 && left > 0) {
    const lastLeft = load<u16>(candidates + (<usize>(left - 1) << 1));
    for (let j = left; j < ((left + 3) & ~3); j++) store<u16>(candidates + (<usize>j << 1), lastLeft);
    for (let j: usize = 0; j < <usize>left; j += 4) {
      const at = candidates + (j << 1);
      const sums = dot4(
        vector + depth2,
        filterBounds + filterAt(order, at) * depth + depth2,
        filterBounds + filterAt(order, at + 2) * depth + depth2,
        filterBounds + filterAt(order, at + 4) * depth + depth2,
        filterBounds + filterAt(order, at + 6) * depth + depth2,
        depth - depth2,
      );
      v128.store(levels + (j << 2), i32x4.add(v128.load(levels + (j << 2)), sums));
    }
    left = keep(candidates, levels, left, need);
  }

  // Exact responses, four at a time; each batch may raise what the others need.
  const batch = scratch + (<usize>load<i32>(context, STRIDE) << 3);
  let f0: u32 = 0;
  let f1: u32 = 0;
  let f2: u32 = 0;
  let waiting = 0;
  for (let j: usize = 0; j < <usize>left; j++) {
    if (<f64>load<i32>(levels + (j << 2)) < need) continue;
    const f = <u32>filterAt(order, candidates + (j << 1));
    if (waiting < 3) {
      if (waiting == 0) f0 = f;
      else if (waiting == 1) f1 = f;
      else f2 = f;
      waiting++;
      continue;
    }
    waiting = 0;
    const before = load<f64>(worst);
    offer4(context, scratch, term, f0, f1, f2, f, batch, values, ids, k);
    if (load<f64>(worst) > before) need = needed(context, scales, load<f64>(worst));
  }
  if (waiting > 0) offer(context, scratch, term, f0, values, ids, k);
  if (waiting > 1) offer(context, scratch, term, f1, values, ids, k);
  if (waiting > 2) offer(context, scratch, term, f2, values, ids, k);
}

// @ts-ignore: decorator
@inline
function filterAt(order: usize, candidate: usize): usize {
  return <usize>load<u32>(order + (<usize>load<u16>(candidate) << 2));
}

function offer4(
  context: usize,
  xs: usize,
  term: f64,
  f0: u32,
  f1: u32,
  f2: u32,
  f3: u32,
  batch: usize,
  values: usize,
  ids: usize,
  k: i32,
): void {
  respond4(context, xs, term, f0, f1, f2, f3, batch);
  insert(load<f64>(batch), f0, values, ids, k);
  insert(load<f64>(batch, 8), f1, values, ids, k);
  insert(load<f64>(batch, 16), f2, values, ids, k);
  insert(load<f64>(batch, 24), f3, values, ids, k);
  exact += 4;
}

function offer(context: usize, xs: usize, term: f64, f: u32, values: usize, ids: usize, k: i32): void {
  insert(respond(context, xs, term, f), f, values, ids, k);
  exact++;
}

/** Exact responses of the places with the largest coarse bound in each of 8 lanes, in as many parts as k asks for. */
function tryStrongest(
  context: usize,
  scratch: usize,
  term: f64,
  bounds: usize,
  order: usize,
  count: i32,
  values: usize,
  ids: usize,
  k: i32,
): void {
  const batch = scratch + (<usize>load<i32>(context, STRIDE) << 3);
  const blocks = count >> 3;
  const parts = min(k <= 4 ? 1 : (k + 7) / 8 + 1, blocks);
  for (let part = 0; part < parts; part++) {
    const from = (part * blocks) / parts;
    const to = ((part + 1) * blocks) / parts;
    let best = v128.load(bounds + (<usize>from << 4));
    let where = i16x8.splat(<i16>from);
    for (let b = from + 1; b < to; b++) {
      const v = v128.load(bounds + (<usize>b << 4));
      where = v128.bitselect(i16x8.splat(<i16>b), where, i16x8.gt_s(v, best));
      best = i16x8.max_s(best, v);
    }
    const f0 = load<u32>(order + (<usize>(<u32>i16x8.extract_lane_u(where, 0) << 3) << 2));
    const f1 = load<u32>(order + (<usize>((<u32>i16x8.extract_lane_u(where, 1) << 3) + 1) << 2));
    const f2 = load<u32>(order + (<usize>((<u32>i16x8.extract_lane_u(where, 2) << 3) + 2) << 2));
    const f3 = load<u32>(order + (<usize>((<u32>i16x8.extract_lane_u(where, 3) << 3) + 3) << 2));
    offer4(context, scratch, term, f0, f1, f2, f3, batch, values, ids, k);
    const f4 = load<u32>(order + (<usize>((<u32>i16x8.extract_lane_u(where, 4) << 3) + 4) << 2));
    const f5 = load<u32>(order + (<usize>((<u32>i16x8.extract_lane_u(where, 5) << 3) + 5) << 2));
    const f6 = load<u32>(order + (<usize>((<u32>i16x8.extract_lane_u(where, 6) << 3) + 6) << 2));
    const f7 = load<u32>(order + (<usize>((<u32>i16x8.extract_lane_u(where, 7) << 3) + 7) << 2));
    offer4(context, scratch, term, f4, f5, f6, f7, batch, values, ids, k);
  }
}

/** Exact responses of the candidates that look strongest at level 2 when ρ is left out of the bound. */
function tryClosest(
  context: usize,
  scratch: usize,
  term: f64,
  vector: usize,
  candidates: usize,
  levels: usize,
  order: usize,
  found: i32,
  strongest: usize, // scratch: i32 score and u32 filter of the best so far, best first
  values: usize,
  ids: usize,
  k: i32,
): void {
  const depth = <usize>load<u32>(context, DEPTH) << 1;
  const lastOf2 = (<usize>load<u32>(context, DEPTH_2) << 1) - 2;
  const rho = <i32>load<i16>(vector + lastOf2);
  const filterBounds = load<usize>(context, FILTER_BOUNDS) + lastOf2;
  const wanted = min(seeds(k), found);
  const filters = strongest + (<usize>wanted << 2);
  let have = 0;
  let weakest = i32.MIN_VALUE;
  for (let j = 0; j < found; j++) {
    const f = filterAt(order, candidates + (<usize>j << 1));
    const score = load<i32>(levels + (<usize>j << 2)) - rho * <i32>load<i16>(filterBounds + f * depth);
    if (have == wanted && score <= weakest) continue;
    let at = have < wanted ? have++ : wanted - 1;
    while (at > 0 && load<i32>(strongest + (<usize>(at - 1) << 2)) < score) {
      store<i32>(strongest + (<usize>at << 2), load<i32>(strongest + (<usize>(at - 1) << 2)));
      store<u32>(filters + (<usize>at << 2), load<u32>(filters + (<usize>(at - 1) << 2)));
      at--;
    }
    store<i32>(strongest + (<usize>at << 2), score);
    store<u32>(filters + (<usize>at << 2), <u32>f);
    weakest = load<i32>(strongest + (<usize>(have - 1) << 2));
  }
  const batch = scratch + (<usize>load<i32>(context, STRIDE) << 3);
  let j = 0;
  for (; j + 4 <= have; j += 4) {
    const at = filters + (<usize>j << 2);
    offer4(context, scratch, term, load<u32>(at), load<u32>(at, 4), load<u32>(at, 8), load<u32>(at, 12), batch, values, ids, k);
  }
  for (; j < have; j++) offer(context, scratch, term, load<u32>(filters + (<usize>j << 2)), values, ids, k);
}

/** Fills the table of `compact`: for each mask of 8 bits the positions of its ones, as eight 16-bit numbers. */
export function compact_table(from: u32, to: u32, scratch: usize, table: usize): f64 {
  for (let mask: u32 = 0; mask < 256; mask++) {
    let at = table + (<usize>mask << 4);
    for (let bit: u32 = 0; bit < 8; bit++) {
      if (!((mask >> bit) & 1)) continue;
      store<u16>(at, <u16>bit);
      at += 2;
    }
  }
  return 0;
}

/** Lists the places whose coarse bound may reach `need`; returns how many. Writes up to 8 numbers beyond the last. */
function compact(bounds: usize, count: i32, need: f64, out: usize, table: usize): i32 {
  const upper = floor(need / 65536);
  if (upper > 32767) return 0;
  const least = i16x8.splat(<i16>max(upper, -32768));
  let at = out;
  let base = i16x8.splat(0);
  const step = i16x8.splat(8);
  const end = bounds + (<usize>count << 1);
  for (; bounds < end; bounds += 16) {
    const mask = i16x8.bitmask(i16x8.ge_s(v128.load(bounds), least));
    v128.store(at, i16x8.add(base, v128.load(table + (<usize>mask << 4))));
    at += <usize>popcnt(mask) << 1;
    base = i16x8.add(base, step);
  }
  return <i32>((at - out) >> 1);
}

/** Keeps, in order, the candidates whose level reaches `need`; returns how many. */
function keep(candidates: usize, levels: usize, count: i32, need: f64): i32 {
  let left: usize = 0;
  for (let j: usize = 0; j < <usize>count; j++) {
    const level = load<i32>(levels + (j << 2));
    store<u16>(candidates + (left << 1), load<u16>(candidates + (j << 1)));
    store<i32>(levels + (left << 2), level);
    left += <usize>(<f64>level >= need);
  }
  return <i32>left;
}
