/**
 * Exact responses of the last candidates of a row, step by step (`bound.ts`): after each step the exact product so far plus
 * the level-3 bound of the parts to come must still reach what is needed, or the candidate is given up.
 */

import {
  COMMON_NORM_F64,
  COMPACT,
  FILTER_PARTS,
  MODE,
  NORM,
  ORDERED_F32,
  ORDERED_F64,
  PARTS_BYTES,
  ROW_PARTS,
  SHIFTED,
  STRIDE,
  WEIGHTS,
  WHOLE_NARROW,
} from "../src/backends/wasm/context";
import { BEFORE, need32, needed, STEPS, stepStart, unitsOf } from "./bound";
import { keepFour, moveFour } from "./compact";
import { dot4, joinLanes, two } from "./dot";
import { fillUp, filterAt } from "./prune";
import { respond } from "./respond";
import { insert } from "./top";

/** Candidates taken through all steps together; each such batch may raise what the next needs. */
const BATCH: i32 = 64;

/** Bytes of what is kept for the candidates of a batch: eight float64 lanes each, at most. */
// @ts-ignore: decorator
@inline
export function stateBytes(): usize {
  return (BATCH + 4) * 64;
}

/** Offers the candidates that can still be among the k strongest. Returns the exact products computed, in part for those given up. */
export function finishCandidates(
  context: usize,
  r: u32,
  scales: usize,
  xs: usize, // in: the row, expanded
  term: f64,
  candidates: usize, // in: u16 places
  count: i32,
  order: usize,
  state: usize, // scratch
  values: usize,
  ids: usize,
  k: i32,
): f64 {
  const mode = load<i32>(context, MODE);
  const vector = load<usize>(context, ROW_PARTS) + <usize>r * PARTS_BYTES;
  const bySteps = mode >= ORDERED_F32 || (mode == WHOLE_NARROW && load<usize>(context, SHIFTED) == 0);
  let exact: f64 = 0;
  for (let from = 0; from < count; from += BATCH) {
    const list = candidates + (<usize>from << 1);
    const size = keepByParts(context, scales, vector, list, min(BATCH, count - from), order, values, k);
    if (!bySteps) {
      for (let j = 0; j < size; j++) {
        const f = <u32>filterAt(order, list + (<usize>j << 1));
        insert(respond(context, xs, term, f), f, values, ids, k);
      }
      exact += size;
    } else if (mode == WHOLE_NARROW) {
      exact += finishWhole(context, scales, vector, xs, term, list, size, order, state, values, ids, k);
    } else exact += finishOrdered(context, scales, vector, xs, list, size, order, state, values, ids, k);
  }
  return exact;
}

/** Keeps the candidates whose level-3 bound reaches what is needed; returns how many. */
function keepByParts(
  context: usize,
  scales: usize,
  vector: usize,
  list: usize,
  count: i32,
  order: usize,
  values: usize,
  k: i32,
): i32 {
  const table = load<usize>(context, COMPACT);
  const filterParts = load<usize>(context, FILTER_PARTS);
  const need = i32x4.splat(need32(needed(context, scales, load<f64>(values + (<usize>(k - 1) << 3)), 3)));
  fillUp(list, count);
  let left = 0;
  for (let j = 0; j < count; j += 4) {
    const places = list + (<usize>j << 1);
    const f0 = filterAt(order, places);
    const f1 = filterAt(order, places + 2);
    const f2 = filterAt(order, places + 4);
    const f3 = filterAt(order, places + 6);
    const sums = boundFrom(0, vector, filterParts, f0, f1, f2, f3);
    left = keepFour(i32x4.bitmask(i32x4.ge_s(sums, need)), list, j, count, left, table);
  }
  return left;
}

/** Level-3 bounds of the parts from a step on, for four candidates. */
// @ts-ignore: decorator
@inline
function boundFrom(step: i32, vector: usize, filterParts: usize, f0: usize, f1: usize, f2: usize, f3: usize): v128 {
  const at = <usize>step * (PARTS_BYTES / STEPS);
  return dot4(
    vector + at,
    filterParts + f0 * PARTS_BYTES + at,
    filterParts + f1 * PARTS_BYTES + at,
    filterParts + f2 * PARTS_BYTES + at,
    filterParts + f3 * PARTS_BYTES + at,
    <usize>PARTS_BYTES - at,
  );
}

function finishWhole(
  context: usize,
  scales: usize,
  vector: usize,
  xs: usize,
  term: f64,
  list: usize,
  count: i32,
  order: usize,
  state: usize, // i32 per candidate: the product so far
  values: usize,
  ids: usize,
  k: i32,
): f64 {
  const stride = load<i32>(context, STRIDE);
  const bytes = <usize>stride << 1;
  const weights = load<usize>(context, WEIGHTS);
  const filterParts = load<usize>(context, FILTER_PARTS);
  const table = load<usize>(context, COMPACT);
  const units = unitsOf(context, scales);
  const base = needed(context, scales, load<f64>(values + (<usize>(k - 1) << 3)), 3);
  let exact: f64 = 0;
  for (let step = 0; step < STEPS && count > 0; step++) {
    exact += <f64>count * (1.0 / STEPS);
    fillUp(list, count);
    const isLast = step == STEPS - 1;
    const at = <usize>stepStart(stride, step) << 1;
    const length = (<usize>stepStart(stride, step + 1) << 1) - at;
    const need = f64x2.splat(isLast ? 0 : base + units * load<f64>(scales + BEFORE + (<usize>step << 3)));
    let left = 0;
    for (let j = 0; j < count; j += 4) {
      const places = list + (<usize>j << 1);
      const f0 = filterAt(order, places);
      const f1 = filterAt(order, places + 2);
      const f2 = filterAt(order, places + 4);
      const f3 = filterAt(order, places + 6);
      const from = weights + at;
      let sums = dot4(xs + at, from + f0 * bytes, from + f1 * bytes, from + f2 * bytes, from + f3 * bytes, length);
      if (step > 0) sums = i32x4.add(sums, v128.load(state + (<usize>j << 2)));
      if (isLast) {
        offerSums(context, sums, term, <u32>f0, <u32>f1, <u32>f2, <u32>f3, count - j, values, ids, k);
        continue;
      }
      const rest = boundFrom(step + 1, vector, filterParts, f0, f1, f2, f3);
      const low = f64x2.add(f64x2.mul(f64x2.convert_low_i32x4_s(sums), f64x2.splat(units)), f64x2.convert_low_i32x4_s(rest));
      const sumsHigh = v128.shuffle<i32>(sums, sums, 2, 3, 0, 1);
      const restHigh = v128.shuffle<i32>(rest, rest, 2, 3, 0, 1);
      const high = f64x2.add(
        f64x2.mul(f64x2.convert_low_i32x4_s(sumsHigh), f64x2.splat(units)),
        f64x2.convert_low_i32x4_s(restHigh),
      );
      const mask = i64x2.bitmask(f64x2.ge(low, need)) | (i64x2.bitmask(f64x2.ge(high, need)) << 2);
      moveFour(mask, sums, state, j, count, left, table);
      left = keepFour(mask, list, j, count, left, table);
    }
    count = left;
  }
  return exact;
}

/** Offers up to four products. */
function offerSums(
  context: usize,
  sums: v128,
  term: f64,
  f0: u32,
  f1: u32,
  f2: u32,
  f3: u32,
  present: i32,
  values: usize,
  ids: usize,
  k: i32,
): void {
  const norm = load<usize>(context, NORM);
  insert((<f64>i32x4.extract_lane(sums, 0) + term) / load<f64>(norm + (<usize>f0 << 3)), f0, values, ids, k);
  if (present > 1) insert((<f64>i32x4.extract_lane(sums, 1) + term) / load<f64>(norm + (<usize>f1 << 3)), f1, values, ids, k);
  if (present > 2) insert((<f64>i32x4.extract_lane(sums, 2) + term) / load<f64>(norm + (<usize>f2 << 3)), f2, values, ids, k);
  if (present > 3) insert((<f64>i32x4.extract_lane(sums, 3) + term) / load<f64>(norm + (<usize>f3 << 3)), f3, values, ids, k);
}

function finishOrdered(
  context: usize,
  scales: usize,
  vector: usize,
  xs: usize,
  list: usize,
  count: i32,
  order: usize,
  state: usize, // eight float64 lanes per candidate
  values: usize,
  ids: usize,
  k: i32,
): f64 {
  const stride = load<i32>(context, STRIDE);
  const isF64 = load<i32>(context, MODE) == ORDERED_F64;
  const weightBytes: usize = isF64 ? 8 : 4;
  const weights = load<usize>(context, WEIGHTS);
  const norm = load<usize>(context, NORM);
  const filterParts = load<usize>(context, FILTER_PARTS);
  const units = unitsOf(context, scales) * load<f64>(context, COMMON_NORM_F64);
  const base = needed(context, scales, load<f64>(values + (<usize>(k - 1) << 3)), 3);
  memory.fill(state, 0, <usize>count << 6);
  let exact: f64 = 0;
  for (let step = 0; step < STEPS && count > 0; step++) {
    exact += <f64>count * (1.0 / STEPS);
    const isLast = step == STEPS - 1;
    const from = stepStart(stride, step);
    const length = stepStart(stride, step + 1) - from;
    const need = isLast ? 0 : base + unitsOf(context, scales) * load<f64>(scales + BEFORE + (<usize>step << 3));
    let left = 0;
    for (let j = 0; j < count; j++) {
      const f = filterAt(order, list + (<usize>j << 1));
      const lanes = state + (<usize>j << 6);
      const w = weights + (f * <usize>stride + <usize>from) * weightBytes;
      const x = xs + (<usize>from << 3);
      const sum = isF64 ? extend<f64>(x, w, length, lanes) : extend<f32>(x, w, length, lanes);
      const divisor = load<f64>(norm + (f << 3));
      if (isLast) {
        insert(sum / divisor, <u32>f, values, ids, k);
        continue;
      }
      const rest = i32x4.extract_lane(boundFrom(step + 1, vector, filterParts, f, f, f, f), 0);
      if (!((sum / divisor) * units + <f64>rest >= need)) continue;
      if (left < j) {
        store<u16>(list + (<usize>left << 1), load<u16>(list + (<usize>j << 1)));
        memory.copy(state + (<usize>left << 6), lanes, 64);
      }
      left++;
    }
    count = left;
  }
  return exact;
}

/** Continues the eight lanes of an ordered product over `length` features and returns their sum so far. */
function extend<T>(x: usize, w: usize, length: i32, lanes: usize): f64 {
  let l01 = v128.load(lanes);
  let l23 = v128.load(lanes, 16);
  let l45 = v128.load(lanes, 32);
  let l67 = v128.load(lanes, 48);
  const end = x + (<usize>length << 3);
  for (; x < end; x += 64, w += 8 * sizeof<T>()) {
    l01 = f64x2.add(l01, f64x2.mul(v128.load(x), two<T>(w)));
    l23 = f64x2.add(l23, f64x2.mul(v128.load(x, 16), two<T>(w + 2 * sizeof<T>())));
    l45 = f64x2.add(l45, f64x2.mul(v128.load(x, 32), two<T>(w + 4 * sizeof<T>())));
    l67 = f64x2.add(l67, f64x2.mul(v128.load(x, 48), two<T>(w + 6 * sizeof<T>())));
  }
  v128.store(lanes, l01);
  v128.store(lanes, l23, 16);
  v128.store(lanes, l45, 32);
  v128.store(lanes, l67, 48);
  return joinLanes(l01, l23, l45, l67);
}
