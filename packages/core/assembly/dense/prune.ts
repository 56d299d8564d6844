/**
 * The k strongest filters of dense rows by bounds: a coarse pass over all filters for four rows at a time, then for each
 * row the second bound of those that are left, then the third, then exact responses of the few that could still be among
 * the k strongest. The answer is that of the full loop (`full.ts`), whatever the bounds are worth.
 */

import { BOUND_BYTES, FIRST_BYTES, LEVEL_1, ORDERED_F32, PARTS_BYTES, SCALES_BYTES, SECOND_BYTES } from "../../src/backends/wasm/dense/sizes";
import * as slot from "../../src/backends/wasm/dense/slots";
import { LENGTH, need32, needed, ROW_SUM } from "./bound";
import { listClosest, listedFrom } from "./closest";
import { compact, keepOpen, listLargest } from "./compact";
import { bytesOf, touch } from "./expand";
import { finishCandidates } from "./finish";
import { expandRow, respond, respond4 } from "./respond";
import { DROPPED, filterAt, listSecond } from "./second";
import { coarse, packPanel, panelBytes } from "./tile";
import { clearTop, insert } from "../shared/top";

/** Places looked at in one go: their bounds stay in the second-level cache. */
const SEGMENT: i32 = 8192;

/** Exact products computed in this call; those given up half-way count in part. */
let exact: f64 = 0;

/** Packs places [from, to) of the panel, and their second level where there is room for it. */
export function pack_filters(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const order = load<usize>(context, slot.ORDER);
  packPanel(load<usize>(context, slot.FILTER_FIRST), FIRST_BYTES, LEVEL_1, order, from, to, load<usize>(context, slot.PANEL));
  const seconds = load<usize>(context, slot.PANEL_SECOND);
  for (let p = from; seconds > 0 && p < to; p++) {
    const record = load<usize>(context, slot.FILTER_SECOND) + <usize>load<u32>(order + (<usize>p << 2)) * SECOND_BYTES;
    memory.copy(seconds + <usize>p * SECOND_BYTES, record, SECOND_BYTES);
  }
  return 0;
}

/** The place of the panel whose level-1 bound is largest, for each of the rows [from, to), to OUT_ID. */
export function nearest_places(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const rows = load<usize>(context, slot.ROW_BOUNDS);
  const blocks = load<i32>(context, slot.PLACES) >> 3;
  const width = <usize>blocks << 4;
  for (let r = from; r < to; r += 4) {
    const x = rows + <usize>r * BOUND_BYTES;
    const last = rows + <usize>(to - 1) * BOUND_BYTES;
    const x1 = min(x + BOUND_BYTES, last);
    const x2 = min(x + 2 * BOUND_BYTES, last);
    const x3 = min(x + 3 * BOUND_BYTES, last);
    coarse(x, x1, x2, x3, load<usize>(context, slot.PANEL), LEVEL_1 << 1, blocks, scratch, width);
    for (let j: u32 = 0; j < min<u32>(4, to - r); j++) {
      const bounds = scratch + <usize>j * width;
      let best = load<i16>(bounds);
      let where: u32 = 0;
      for (let p: u32 = 1; p < <u32>blocks << 3; p++) {
        const bound = load<i16>(bounds + (<usize>p << 1));
        if (bound <= best) continue;
        best = bound;
        where = p;
      }
      store<u32>(load<usize>(context, slot.OUT_ID) + (<usize>(r + j) << 2), where);
    }
  }
  return 0;
}

/** First answers for rows [from, to) from the winners of an earlier bank, and which rows need a look at all filters. */
export function first_answers(from: u32, to: u32, scratch: usize, context: usize): f64 {
  exact = 0;
  for (let r = from; r < to; r++) {
    const winner = load<u32>(load<usize>(context, slot.WINNER) + (<usize>r << 2));
    const before = load<f64>(load<usize>(context, slot.WINNER_VALUE) + (<usize>r << 3));
    let now = before;
    let all: u8 = 0;
    if (load<u8>(load<usize>(context, slot.CHANGED) + winner)) {
      expandRow(context, r, scratch);
      now = respond(context, scratch, termOf(context, r), winner);
      exact++;
      // Filters that stayed the same lost to `before`. They lose again unless the winner has become weaker.
      all = now >= before ? 0 : 1;
    }
    store<u32>(load<usize>(context, slot.OUT_ID) + (<usize>r << 2), winner);
    store<f64>(load<usize>(context, slot.OUT_VALUE) + (<usize>r << 3), now);
    store<u8>(load<usize>(context, slot.VERDICT) + r, all);
  }
  return exact;
}

/** What `openRow` returns, with the row's sum from its scales. */
function termOf(context: usize, r: u32): f64 {
  if (load<i32>(context, slot.MODE) >= ORDERED_F32) return 0;
  return load<f64>(context, slot.CENTRE_F64) * load<f64>(load<usize>(context, slot.ROW_SCALES) + <usize>r * SCALES_BYTES + ROW_SUM);
}

/** Scratch of `top_filters_pruned`; the order is that of `searchRow`. */
export function scratch_pruned(context: usize): usize {
  const places = <usize>min(load<i32>(context, slot.PLACES), SEGMENT);
  const room = (<usize>load<i32>(context, slot.STRIDE) << 3) + 64 + places * 8;
  return room + (places + 16) * 16;
}

/** Candidates whose exact response is computed first, twice, when nothing is known of a row. */
// @ts-ignore: decorator
@inline
function seeds(k: i32): i32 {
  return k <= 4 ? 4 : k + (k >> 2) + 4;
}

/** The k strongest filters of the rows at [from, to) of LIST (or of the rows themselves). Returns the exact products computed. */
export function top_filters_pruned(from: u32, to: u32, scratch: usize, context: usize): f64 {
  exact = 0;
  const list = load<usize>(context, slot.LIST);
  const rowBounds = load<usize>(context, slot.ROW_BOUNDS);
  const places = load<i32>(context, slot.PLACES);
  const width = <usize>min(places, SEGMENT) << 1;
  const bounds = scratch + (<usize>load<i32>(context, slot.STRIDE) << 3) + 64;
  for (let p = from; p < to; p += 4) {
    const last = to - 1;
    const r0 = pick(list, p);
    const r1 = pick(list, min(p + 1, last));
    const r2 = pick(list, min(p + 2, last));
    const r3 = pick(list, min(p + 3, last));
    store<u32>(scratch, touchRow(context, r0) + touchRow(context, r1) + touchRow(context, r2) + touchRow(context, r3));
    for (let first = 0; first < places; first += SEGMENT) {
      const count = min(SEGMENT, places - first);
      coarse(
        rowBounds + <usize>r0 * BOUND_BYTES,
        rowBounds + <usize>r1 * BOUND_BYTES,
        rowBounds + <usize>r2 * BOUND_BYTES,
        rowBounds + <usize>r3 * BOUND_BYTES,
        load<usize>(context, slot.PANEL) + <usize>(first >> 3) * panelBytes(8, LEVEL_1),
        LEVEL_1 << 1,
        count >> 3,
        bounds,
        width,
      );
      const known = first > 0 || load<u32>(context, slot.KNOWN) == 1;
      searchRow(context, r0, scratch, bounds, first, count, known);
      if (p + 1 < to) searchRow(context, r1, scratch, bounds + width, first, count, known);
      if (p + 2 < to) searchRow(context, r2, scratch, bounds + 2 * width, first, count, known);
      if (p + 3 < to) searchRow(context, r3, scratch, bounds + 3 * width, first, count, known);
    }
  }
  return exact;
}

/** Reads something of each cache line of a row and its bounds, so that all are on their way at once. */
function touchRow(context: usize, r: u32): u32 {
  const bytes = <usize>load<i32>(context, slot.STRIDE) * bytesOf(load<i32>(context, slot.TYPE));
  let seen: u32 = touch(load<usize>(context, slot.ROWS) + <usize>r * bytes, bytes);
  seen += touch(load<usize>(context, slot.ROW_PARTS) + <usize>r * PARTS_BYTES, PARTS_BYTES);
  return seen + load<u8>(load<usize>(context, slot.ROW_SCALES) + <usize>r * SCALES_BYTES);
}

// @ts-ignore: decorator
@inline
function pick(list: usize, p: u32): u32 {
  return list == 0 ? p : load<u32>(list + (<usize>p << 2));
}

/** One row against the places [first, first + count), whose level-1 bounds are at `bounds`. */
function searchRow(context: usize, r: u32, scratch: usize, bounds: usize, first: i32, count: i32, known: bool): void {
  const k = load<i32>(context, slot.K);
  const ids = load<usize>(context, slot.OUT_ID) + (<usize>r * <usize>k << 2);
  const values = load<usize>(context, slot.OUT_VALUE) + (<usize>r * <usize>k << 3);
  const scales = load<usize>(context, slot.ROW_SCALES) + <usize>r * SCALES_BYTES;
  if (load<f64>(scales + LENGTH) == 0) {
    // A row of zeros responds 0 to every filter.
    for (let j: usize = 0; j < <usize>k; j++) {
      store<u32>(ids + (j << 2), <u32>j);
      store<f64>(values + (j << 3), 0);
    }
    return;
  }
  const stride = <usize>load<i32>(context, slot.STRIDE);
  const places = <usize>min(load<i32>(context, slot.PLACES), SEGMENT);
  const candidates = scratch + (stride << 3) + 64 + places * 8; // u16
  const levels = candidates + (places + 16) * 2; // i32
  const estimates = levels + (places + 16) * 4; // i32
  const shortlist = estimates + (places + 16) * 4; // u16
  const shortEstimates = shortlist + (places + 16) * 2; // i32
  const table = load<usize>(context, slot.COMPACT);
  const order = load<usize>(context, slot.ORDER) + (<usize>first << 2);
  const worst = worstOf(context, values, k);
  const term = termOf(context, r);
  const vector = load<usize>(context, slot.ROW_BOUNDS) + <usize>r * BOUND_BYTES + FIRST_BYTES;
  const seconds = load<usize>(context, slot.PANEL_SECOND) + <usize>first * SECOND_BYTES;

  if (!known) {
    expandRow(context, r, scratch);
    clearTop(values, ids, k);
    const sections = min(k <= 4 ? 4 : k + 7, count >> 3);
    const some = sections << 3;
    listLargest(bounds, count >> 3, sections, candidates, table);
    listSecond(vector, seconds, bounds, candidates, some, levels, estimates);
    const tried = tryClosest(context, scratch, term, candidates, estimates, order, some, shortlist, shortEstimates, values, ids, k);
    // With the lowest bound they are not listed again.
    for (let j = 0; j < tried; j++) {
      store<i16>(bounds + (<usize>load<u16>(shortlist + (<usize>j << 1)) << 1), i16.MIN_VALUE);
    }
  }
  if (known) leaveOut(load<u32>(ids), bounds, order, first, count);
  const found = compact(bounds, count, needed(context, scales, load<f64>(worst), 1), candidates, table);
  if (found == 0) return;

  fillUp(candidates, found);
  listSecond(vector, seconds, bounds, candidates, found, levels, estimates);
  if (!known) tryClosest(context, scratch, term, candidates, estimates, order, found, shortlist, shortEstimates, values, ids, k);
  const need = need32(needed(context, scales, load<f64>(worst), 2) - DROPPED);
  const tried = known ? i32.MAX_VALUE : listedFrom;
  const left = keepOpen(candidates, levels, estimates, found, need, tried, table);
  exact += finishCandidates(context, r, scales, scratch, !known, term, candidates, left, order, values, ids, k);
}

/** Gives a filter whose response is known the lowest bound, where places are in the order of filters: it is not listed then. */
function leaveOut(f: u32, bounds: usize, order: usize, first: i32, count: i32): void {
  const place = f - <u32>first;
  if (place >= <u32>count || load<u32>(order + (<usize>place << 2)) != f) return;
  store<i16>(bounds + (<usize>place << 1), i16.MIN_VALUE);
}

/** Where the response lies that others must reach to matter. */
export function worstOf(context: usize, values: usize, k: i32): usize {
  return load<u32>(context, slot.LEADING) ? values : values + (<usize>(k - 1) << 3);
}

/** Fills a list of places up with its last one, so that it can be taken four at a time. */
export function fillUp(candidates: usize, count: i32): void {
  const last = load<u16>(candidates + (<usize>(count - 1) << 1));
  for (let j = count; j < ((count + 3) & ~3); j++) store<u16>(candidates + (<usize>j << 1), last);
}

/** Offers the exact responses of four filters. */
function offer4(
  context: usize,
  xs: usize,
  term: f64,
  f0: u32,
  f1: u32,
  f2: u32,
  f3: u32,
  values: usize,
  ids: usize,
  k: i32,
): void {
  const batch = xs + (<usize>load<i32>(context, slot.STRIDE) << 3);
  respond4(context, xs, term, f0, f1, f2, f3, batch);
  const least = f64x2.splat(load<f64>(values + (<usize>(k - 1) << 3)));
  const reached = v128.or(f64x2.ge(v128.load(batch), least), f64x2.ge(v128.load(batch, 16), least));
  if (!v128.any_true(reached)) return;
  insert(load<f64>(batch), f0, values, ids, k);
  insert(load<f64>(batch, 8), f1, values, ids, k);
  insert(load<f64>(batch, 16), f2, values, ids, k);
  insert(load<f64>(batch, 24), f3, values, ids, k);
}

/** Exact responses of the candidates with the largest estimates; returns how many, which `shortlist` has then. */
function tryClosest(
  context: usize,
  xs: usize,
  term: f64,
  candidates: usize,
  estimates: usize,
  order: usize,
  found: i32,
  shortlist: usize, // scratch: u16
  shortEstimates: usize, // scratch: i32
  values: usize,
  ids: usize,
  k: i32,
): i32 {
  const wanted = min(seeds(k), found);
  const table = load<usize>(context, slot.COMPACT);
  const have = listClosest(candidates, estimates, found, wanted, shortlist, shortEstimates, table);
  offerListed(context, xs, term, shortlist, have, order, values, ids, k);
  exact += have;
  return have;
}

/** Offers the exact responses of the filters at the listed places. */
export function offerListed(
  context: usize,
  xs: usize,
  term: f64,
  list: usize,
  count: i32,
  order: usize,
  values: usize,
  ids: usize,
  k: i32,
): void {
  fillUp(list, count);
  for (let j = 0; j < count; j += 4) {
    const places = list + (<usize>j << 1);
    const f0 = <u32>filterAt(order, places);
    const f1 = <u32>filterAt(order, places + 2);
    const f2 = <u32>filterAt(order, places + 4);
    offer4(context, xs, term, f0, f1, f2, <u32>filterAt(order, places + 6), values, ids, k);
  }
}
