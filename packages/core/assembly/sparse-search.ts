/**
 * The strongest filters of sparse rows by an inverted index (`sparse-index.ts`).
 *
 * **Whole numbers.** base·Σx + Σx·(w - base) is x·w exactly, whatever the order, as long as Σ|x|·max|w| < 2^53, which the
 * caller has shown. Dividing by the norm then gives the bits of `src/kernels/top.ts`.
 *
 * **All others.** Scores from the index are approximations; whatever they leave in doubt is computed again in the defined
 * order. Rows and weights are scaled by powers of two, so that |w| <= 1 and the largest |x| of the row is about 1. With
 * S = Σ|x|, t entries in the row, D the largest |w - base| and u = 2^-24: a score in float32 carries the rounding of x, of
 * w - base (twice), of the product and of at most t additions, so it is off by at most γ·S·D, γ = (t+4)u / (1 - (t+4)u).
 * The base's share, the defined product itself (γ' = (t+8)·2^-53), the quotient and the bounds below are float64
 * expressions of size at most 2S with fewer than t + 32 roundings each: together they are off by less than
 * (t+32)·2^-51·S. `allowance` is the sum of both; underflow in float32 (at most t·2^-148) is far below it. Rows for which
 * the defined product could itself underflow or overflow (TINY_ROW, HUGE_ROW) get an infinite allowance: nothing is
 * left out. Let T be the k-th largest lower bound. A filter whose upper bound lies below T is weaker than k others.
 *
 * The k best are kept as `top.ts` does: up to LIST_LIMIT as a list with the weakest last, beyond as a heap with it first.
 */

import {
  CHANGED,
  COMMON_NORM_F64,
  FILTER_NORM,
  FIRST_FILTER,
  HUGE_ROW_F64,
  K,
  KNOWN,
  LARGEST_32_F64,
  LAST,
  LIST,
  OUT_ID,
  OUT_VALUE,
  PLACES,
  PLACE_BASE_F64S,
  PLACE_FILTER,
  PLACE_NORM_F64S,
  ROOM,
  ROW_TYPE,
  ROW_VALUES,
  SCALE_F64,
  SPREAD_F64,
  TINY_ROW_F64,
  VERDICT,
  WHOLE,
  WINNER,
  WINNER_VALUE,
} from "../src/backends/wasm/csr-context";
import { dotSparse } from "./sparse-dot";
import { entryOf, valueAt } from "./sparse-rows";
import { scoreSingle, scoreWhole, scoreWide, scratchColumns } from "./sparse-scores";
import { clearTop, LIST_LIMIT, offerNew, sortTop } from "./top";

/** Share of a threshold that is let off so that rounding cannot make it too high. */
const SLACK: f64 = 1e-15;

/** Scratch of the searches by index: scores, upper bounds, columns, a list of k bounds, lanes. */
export function scratch_index_csr(context: usize): usize {
  return scratchOfRow(context) + (<usize>load<u32>(context, K) * 12 + 64);
}

/** Scratch up to the lanes: scores and upper bounds (8 bytes each), columns. */
// @ts-ignore: decorator
@inline
export function scratchOfRow(context: usize): usize {
  return (<usize>load<u32>(context, ROOM) << 4) + ((scratchColumns(context) + 63) & ~63);
}

/** The k strongest filters of the rows at [from, to) of LIST. Returns the products computed in full. */
export function top_filters_csr(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const k = load<i32>(context, K);
  const list = load<usize>(context, LIST);
  const whole = load<u32>(context, WHOLE);
  let exact: u64 = 0;
  for (let j = from; j < to; j++) {
    const r = list == 0 ? j : load<u32>(list + (<usize>j << 2));
    const ids = load<usize>(context, OUT_ID) + (<usize>r * <usize>k << 2);
    const values = load<usize>(context, OUT_VALUE) + (<usize>r * <usize>k << 3);
    if (!load<u32>(context, KNOWN)) {
      if (entryOf(context, r) == entryOf(context, r + 1) && answerEmpty(context, values, ids, k)) continue;
      clearTop(values, ids, k);
    }
    exact += whole ? searchWhole(context, r, scratch, values, ids, k) : searchSingle(context, r, scratch, values, ids, k);
    if (load<u32>(context, LAST)) sortTop(values, ids, k);
  }
  return <f64>exact;
}

/** A row without entries: all responses are 0, the first k filters answer. Returns whether this index has them all. */
function answerEmpty(context: usize, values: usize, ids: usize, k: i32): bool {
  if (!load<u32>(context, LAST) || load<i32>(context, PLACES) < k) return false;
  const filters = load<usize>(context, PLACE_FILTER);
  memory.fill(values, 0, <usize>k << 3);
  for (let j: usize = 0; j < <usize>k << 2; j += 4) store<u32>(ids + j, load<u32>(filters + j) + load<u32>(context, FIRST_FILTER));
  return true;
}

/**
 * Exact x·w of row r for all places. Returns whether they are 32-bit integers (of rows small enough for that) rather than
 * float64.
 */
export function productsWhole(context: usize, r: u32, scratch: usize): bool {
  const values = load<usize>(context, ROW_VALUES);
  const type = load<i32>(context, ROW_TYPE);
  const last = entryOf(context, r + 1);
  let sum: f64 = 0;
  let size: f64 = 0;
  for (let e = entryOf(context, r); e < last; e++) {
    const x = valueAt(values, e, type);
    sum += x;
    size += abs(x);
  }
  if (size < load<f64>(context, LARGEST_32_F64)) {
    scoreWhole(context, r, <i32>sum, scratch, scratch + (<usize>load<u32>(context, ROOM) << 4));
    return true;
  }
  scoreWide(context, r, sum, scratch);
  return false;
}

/** Product p of `productsWhole`. */
// @ts-ignore: decorator
@inline
export function productAt(products: usize, p: usize, narrow: bool): f64 {
  return narrow ? <f64>load<i32>(products + (p << 2)) : load<f64>(products + (p << 3));
}

function searchWhole(context: usize, r: u32, scratch: usize, values: usize, ids: usize, k: i32): u64 {
  const narrow = productsWhole(context, r, scratch);
  const places = <usize>load<u32>(context, PLACES);
  const norms = load<usize>(context, PLACE_NORM_F64S);
  const filters = load<usize>(context, PLACE_FILTER);
  const first = load<u32>(context, FIRST_FILTER);
  const common = load<f64>(context, COMMON_NORM_F64);
  const weakest = k <= LIST_LIMIT ? values + (<usize>(k - 1) << 3) : values;
  for (let p: usize = 0; p < places; p++) {
    if (narrow && common != 0) {
      p = nextAbove(scratch, p, places, ceil(lowered(load<f64>(weakest)) * common));
      if (p >= places) break;
    }
    const product = productAt(scratch, p, narrow);
    const norm = load<f64>(norms + (p << 3));
    // Against the threshold times the norm: a division only for those that may enter.
    if (product < norm * lowered(load<f64>(weakest))) continue;
    offerNew(product / norm, first + load<u32>(filters + (p << 2)), values, ids, k);
  }
  return <u64>places;
}

/** The first place from p on whose 32-bit product is not below `least`; past the end there may be places that are none. */
function nextAbove(products: usize, p: usize, places: usize, least: f64): usize {
  if (least > <f64>i32.MAX_VALUE) return places;
  const needed = least < <f64>i32.MIN_VALUE ? i32.MIN_VALUE : <i32>least;
  while (p & 3) {
    if (p >= places || load<i32>(products + (p << 2)) >= needed) return p;
    p++;
  }
  const four = i32x4.splat(needed);
  for (; p < places; p += 4) {
    const found = i32x4.bitmask(i32x4.ge_s(v128.load(products + (p << 2)), four));
    if (found) return p + <usize>ctz(found);
  }
  return places;
}

// @ts-ignore: decorator
@inline
function lowered(value: f64): f64 {
  return value - abs(value) * SLACK;
}

/**
 * Approximate x·w of row r for all places, scaled, as float64 from `scratch`. Returns the allowance and stores the row's
 * scale at `scaleAt`.
 */
export function productsSingle(context: usize, r: u32, scratch: usize, scaleAt: usize): f64 {
  const values = load<usize>(context, ROW_VALUES);
  const type = load<i32>(context, ROW_TYPE);
  const room = <usize>load<u32>(context, ROOM);
  const first = entryOf(context, r);
  const last = entryOf(context, r + 1);
  let largest: f64 = 0;
  for (let e = first; e < last; e++) largest = max(largest, abs(valueAt(values, e, type)));
  const scale = scaleFor(largest);
  let sum: f64 = 0;
  let size: f64 = 0;
  for (let e = first; e < last; e++) {
    const x = valueAt(values, e, type) * scale;
    sum += x;
    size += abs(x);
  }
  const scores = scratch + (room << 3);
  scoreSingle(context, r, scale, scores, scratch + (room << 4));
  const bases = load<usize>(context, PLACE_BASE_F64S);
  const sums = f64x2.splat(sum);
  for (let p: usize = 0; p < room << 3; p += 16) {
    const score = f64x2.promote_low_f32x4(v128.load64_zero(scores + (p >> 1)));
    v128.store(scratch + p, f64x2.add(f64x2.mul(v128.load(bases + p), sums), score));
  }
  store<f64>(scaleAt, scale);
  if (last == first) return 0;
  if (largest < load<f64>(context, TINY_ROW_F64) || largest > load<f64>(context, HUGE_ROW_F64)) return Infinity;
  const entries = <f64>(last - first);
  const gamma = (entries + 4) * 5.960464477539063e-8;
  if (gamma > 0.5) return Infinity;
  const single = (gamma / (1 - gamma)) * load<f64>(context, SPREAD_F64);
  return size * (single + (entries + 32) * 4.440892098500626e-16) * (1 + 1e-12);
}

/** A power of two that brings `largest` near 1; bounded, so that it and its inverse are normal numbers. */
// @ts-ignore: decorator
@inline
function scaleFor(largest: f64): f64 {
  const exponent = <i64>((reinterpret<u64>(largest) >> 52) & 0x7ff) - 1023;
  const bounded = min<i64>(1000, max<i64>(-1000, exponent));
  return reinterpret<f64>(<u64>(1023 - bounded) << 52);
}

function searchSingle(context: usize, r: u32, scratch: usize, values: usize, ids: usize, k: i32): u64 {
  const room = <usize>load<u32>(context, ROOM);
  const places = load<u32>(context, PLACES);
  const lanes = scratch + scratchOfRow(context);
  const lower = lanes + 64;
  const lowerIds = lower + (<usize>k << 3);
  const upper = scratch + (room << 3);
  const factors = load<usize>(context, PLACE_NORM_F64S);
  const allowance = productsSingle(context, r, scratch, lanes);
  const scale = load<f64>(lanes) * load<f64>(context, SCALE_F64);

  clearTop(lower, lowerIds, k);
  const weakest = k <= LIST_LIMIT ? lower + (<usize>(k - 1) << 3) : lower;
  for (let p: usize = 0; p < <usize>places; p++) {
    const product = load<f64>(scratch + (p << 3));
    const factor = load<f64>(factors + (p << 3));
    const bound = (product - allowance) * factor;
    store<f64>(upper + (p << 3), (product + allowance) * factor);
    if (bound > load<f64>(weakest)) offerNew(bound, <u32>p, lower, lowerIds, k);
  }
  const filters = load<usize>(context, PLACE_FILTER);
  const norms = load<usize>(context, FILTER_NORM);
  const first = load<u32>(context, FIRST_FILTER);
  let needed = load<f64>(weakest);
  if (load<u32>(context, KNOWN)) {
    // The weakest answer so far, as a scaled product with a filter of the first place's norm.
    const answer = load<f64>(k <= LIST_LIMIT ? values + (<usize>(k - 1) << 3) : values);
    needed = max(needed, lowered(answer * load<f64>(norms + (<usize>load<u32>(filters) << 3)) * scale));
  }
  let exact: u64 = 0;
  for (let p: usize = 0; p < <usize>places; p++) {
    if (!(load<f64>(upper + (p << 3)) >= needed)) continue;
    const f = load<u32>(filters + (p << 2));
    const value = dotSparse(context, r, f, lanes) / load<f64>(norms + (<usize>f << 3));
    exact++;
    offerNew(value, first + f, values, ids, k);
  }
  return exact;
}

/**
 * First answers for rows [from, to) from the winners of an earlier bank: the old winner with its response to the bank as
 * it is now. VERDICT is 0 where no filter that stayed the same can be stronger, so that the changed ones decide. The
 * winner's response did not fall: all that stayed the same were weaker, or equal and of a higher number, and still are.
 */
export function first_answers_csr(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const changed = load<usize>(context, CHANGED);
  let exact: f64 = 0;
  for (let r = from; r < to; r++) {
    const f = load<u32>(load<usize>(context, WINNER) + (<usize>r << 2));
    const before = load<f64>(load<usize>(context, WINNER_VALUE) + (<usize>r << 3));
    let now = before;
    if (load<u8>(changed + <usize>f)) {
      now = dotSparse(context, r, f, scratch) / load<f64>(load<usize>(context, FILTER_NORM) + (<usize>f << 3));
      exact++;
    }
    store<u32>(load<usize>(context, OUT_ID) + (<usize>r << 2), f);
    store<f64>(load<usize>(context, OUT_VALUE) + (<usize>r << 3), now);
    store<u8>(load<usize>(context, VERDICT) + <usize>r, now >= before ? 0 : 1);
  }
  return exact;
}
