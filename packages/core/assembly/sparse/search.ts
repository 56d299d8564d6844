/**
 * The strongest filters of sparse rows by an inverted index (`inverted-index.ts`).
 *
 * **Whole numbers.** base·Σx + Σx·(w - base) is x·w exactly, whatever the order, as long as Σ|x|·max|w| < 2^53, which the
 * caller has shown. Dividing by the norm then gives the bits of `src/kernels/top.ts`. The norm is the same for all filters
 * of a whole index and dividing keeps the order, so that the k largest products decide.
 *
 * **All others.** Scores from the index are approximations; whatever they leave in doubt is computed again in the defined
 * order. Filters are brought to one norm and rows and filters are scaled by powers of two, so that |w| <= 1 and the largest
 * |x| of the row is about 1. With S = Σ|x|, t entries in the row, D the largest |base| plus the largest |w - base|, and
 * u = 2^-24: a score in float32 carries the rounding of x or Σx, of the base or of w - base, of the product and of at most t
 * additions, so it is off by at most γ·S·D, γ = (t+4)u / (1 - (t+4)u). The float64 expressions on the way to the float32
 * numbers, the defined product (γ' = (t+8)·2^-53) and the quotient are of size at most 2S with fewer than t + 32 roundings
 * each: together they are off by less than (t+32)·2^-51·S. `allowanceOf` is the sum of both; underflow in float32 (at most
 * t·2^-148) is far below it. Rows for which the defined product could itself underflow or overflow (TINY_ROW, HUGE_ROW)
 * get an infinite allowance: nothing is left out. With the allowance a, a filter whose score lies more than 2a below the
 * k-th largest score is weaker than k others. The same holds for scores that lack the columns and bounds of them
 * (`select.ts`): leaving terms out adds no rounding.
 *
 * The k best are kept as `shared/top.ts` does: up to LIST_LIMIT as a list with the weakest last, beyond as a heap with it first.
 */

import * as slot from "../../src/backends/wasm/sparse/slots";
import { dotSparse } from "./dot";
import { clearDoubts, doubtAt, MOST_DOUBTS, noteDoubt, resolvedAt, resolveDoubts, scratchDoubts } from "./rescore";
import { entryOf } from "./rows";
import { addColumns, scaleOf, scoreRow, scoresOf, scoreWide, scratchScores, sizeOf, sumOf } from "./scores";
import { FEWEST_PLACES, fewLeft, LEFT_BYTES, lower, MOST_LEFT, MOST_SOUGHT } from "./select";
import { kthLargest, nextAtLeast } from "../shared/largest";
import { clearTop, LIST_LIMIT, offerNew, sortTop } from "../shared/top";

/** Share of a threshold that is let off so that rounding cannot make it too high. */
const SLACK: f64 = 1e-15;

/** Scratch of the searches by index: scores, places in doubt, places left, 8 bytes a place, k scores. */
export function scratch_index_csr(context: usize): usize {
  return productsAt(context) + (<usize>load<u32>(context, slot.ROOM) << 3) + (<usize>load<u32>(context, slot.K) << 2);
}

/** Where places in doubt are noted in the scratch. */
// @ts-ignore: decorator
@inline
export function doubtsAt(context: usize): usize {
  return scratchScores(context);
}

// @ts-ignore: decorator
@inline
function leftAt(context: usize): usize {
  return doubtsAt(context) + scratchDoubts(context);
}

/** Where 8 bytes for each place are in the scratch. */
// @ts-ignore: decorator
@inline
function productsAt(context: usize): usize {
  return leftAt(context) + LEFT_BYTES;
}

/** Where k scores are in the scratch. */
// @ts-ignore: decorator
@inline
function heapAt(context: usize): usize {
  return productsAt(context) + (<usize>load<u32>(context, slot.ROOM) << 3);
}

/** The k strongest filters of the rows at [from, to) of LIST. Returns the products computed in full. */
export function top_filters_csr(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const k = load<i32>(context, slot.K);
  const list = load<usize>(context, slot.LIST);
  const whole = load<u32>(context, slot.WHOLE);
  let exact: u64 = 0;
  if (!whole) clearDoubts(context, scratch + doubtsAt(context));
  for (let j = from; j < to; j++) {
    const r = list == 0 ? j : load<u32>(list + (<usize>j << 2));
    if (entryOf(context, r) == entryOf(context, r + 1) && answerEmpty(context, r, k)) continue;
    const values = load<usize>(context, slot.OUT_VALUE) + (<usize>r * <usize>k << 3);
    const ids = load<usize>(context, slot.OUT_ID) + (<usize>r * <usize>k << 2);
    if (!load<u32>(context, slot.KNOWN)) clearTop(values, ids, k);
    if (!scoreRow(context, r, scratch)) exact += searchWide(context, r, scratch, values, ids, k);
    else if (whole) exact += searchNarrow(context, scratch, values, ids, k);
    else exact += searchSingle(context, r, scratch, values, ids, k);
    sortTop(values, ids, k);
  }
  return <f64>exact;
}

/** A row without entries: all responses are 0, the first k filters answer. Returns whether it could be answered so. */
function answerEmpty(context: usize, r: u32, k: i32): bool {
  if (load<u32>(context, slot.KNOWN)) return false;
  const values = load<usize>(context, slot.OUT_VALUE) + (<usize>r * <usize>k << 3);
  const ids = load<usize>(context, slot.OUT_ID) + (<usize>r * <usize>k << 2);
  const filters = load<usize>(context, slot.PLACE_FILTER);
  memory.fill(values, 0, <usize>k << 3);
  for (let j: usize = 0; j < <usize>k << 2; j += 4) store<u32>(ids + j, load<u32>(filters + j));
  return true;
}

/** The number of the filter at place p. */
// @ts-ignore: decorator
@inline
function filterOf(context: usize, p: usize): u32 {
  return load<u32>(load<usize>(context, slot.PLACE_FILTER) + (p << 2));
}

/** The weakest answer so far, a little lowered, as a product with a filter of the common norm. */
// @ts-ignore: decorator
@inline
function weakestProduct(context: usize, values: usize, k: i32): f64 {
  const product = load<f64>(k <= LIST_LIMIT ? values + (<usize>(k - 1) << 3) : values) * load<f64>(context, slot.COMMON_NORM_F64);
  return product - abs(product) * SLACK;
}

/** Whether to look for the few places that may be strongest before columns are added. */
// @ts-ignore: decorator
@inline
function isWorthPruning(context: usize, k: i32): bool {
  const places = load<u32>(context, slot.PLACES);
  return <u32>k <= MOST_SOUGHT && places >= FEWEST_PLACES && <u32>k <= places;
}

/** Exact 32-bit products. */
function searchNarrow(context: usize, scratch: usize, values: usize, ids: usize, k: i32): u64 {
  const scores = scoresOf(scratch);
  const places = <usize>load<u32>(context, slot.PLACES);
  const norm = load<f64>(context, slot.COMMON_NORM_F64);
  const heap = scratch + heapAt(context);
  const known = load<u32>(context, slot.KNOWN) ? weakestProduct(context, values, k) : -Infinity;
  if (known > <f64>i32.MAX_VALUE) return 0;
  if (isWorthPruning(context, k)) {
    const left = scratch + leftAt(context);
    const count = fewLeft<i32>(context, scratch, k, 0, known, heap, left);
    for (let j = 0; j < count; j++) {
      const p = <usize>load<u32>(left + (<usize>j << 2));
      const product = <f64>load<i32>(left + (<usize>MOST_LEFT << 2) + (<usize>j << 2));
      offerNew(product / norm, filterOf(context, p), values, ids, k);
    }
    if (count >= 0) return <u64>count;
  }
  addColumns<i32>(context, scratch);
  let least = places >= <usize>k ? kthLargest<i32>(scores, places, <usize>k, heap) : i32.MIN_VALUE;
  if (known > <f64>least) least = <i32>floor(known);
  for (let p = nextAtLeast<i32>(scores, 0, places, least); p < places; p = nextAtLeast<i32>(scores, p + 1, places, least)) {
    offerNew(<f64>load<i32>(scores + (p << 2)) / norm, filterOf(context, p), values, ids, k);
  }
  return <u64>places;
}

/** Exact products of row r, too large for 32 bits, as float64. */
export function productsWide(context: usize, r: u32, scratch: usize): usize {
  const products = scratch + productsAt(context);
  scoreWide(context, r, sumOf(scratch), products);
  return products;
}

function searchWide(context: usize, r: u32, scratch: usize, values: usize, ids: usize, k: i32): u64 {
  const products = productsWide(context, r, scratch);
  const places = <usize>load<u32>(context, slot.PLACES);
  const norm = load<f64>(context, slot.COMMON_NORM_F64);
  for (let p: usize = 0; p < places; p++) {
    const product = load<f64>(products + (p << 3));
    if (product >= weakestProduct(context, values, k)) offerNew(product / norm, filterOf(context, p), values, ids, k);
  }
  return <u64>places;
}

/** How far the scores of row r may be off, in scaled units. */
export function allowanceOf(context: usize, r: u32, scratch: usize): f64 {
  const entries = <f64>(entryOf(context, r + 1) - entryOf(context, r));
  if (entries == 0) return 0;
  // The row's largest value, to a factor of 2.
  const largest = 1 / scaleOf(scratch);
  if (largest < load<f64>(context, slot.TINY_ROW_F64) || largest > load<f64>(context, slot.HUGE_ROW_F64)) return Infinity;
  const gamma = (entries + 4) * 5.960464477539063e-8;
  if (gamma > 0.5) return Infinity;
  const single = (gamma / (1 - gamma)) * load<f64>(context, slot.SPREAD_F64);
  return sizeOf(scratch) * (single + (entries + 32) * 4.440892098500626e-16) * (1 + 1e-12);
}

/** Approximate products, the defined ones where they leave doubt. */
function searchSingle(context: usize, r: u32, scratch: usize, values: usize, ids: usize, k: i32): u64 {
  const scores = scoresOf(scratch);
  const places = <usize>load<u32>(context, slot.PLACES);
  const heap = scratch + heapAt(context);
  const allowance = allowanceOf(context, r, scratch);
  let known: f64 = -Infinity;
  if (load<u32>(context, slot.KNOWN)) {
    known = weakestProduct(context, values, k) * scaleOf(scratch) * load<f64>(context, slot.SCALE_F64) - allowance;
  }
  if (isWorthPruning(context, k) && allowance != Infinity) {
    const left = scratch + leftAt(context);
    const count = fewLeft<f32>(context, scratch, k, 2 * allowance, known, heap, left);
    if (count >= 0) {
      const full = left + (<usize>MOST_LEFT << 2);
      const least = leastOf(full, <usize>count, k, heap, allowance, known);
      return resolve(context, r, scratch, full, left, <usize>count, least, values, ids, k);
    }
  }
  addColumns<f32>(context, scratch);
  const least = leastOf(scores, places, k, heap, allowance, known);
  return resolve(context, r, scratch, scores, 0, places, least, values, ids, k);
}

/** What a score must reach for its filter to be looked at. */
function leastOf(scores: usize, count: usize, k: i32, heap: usize, allowance: f64, known: f64): f32 {
  let least = known;
  if (count >= <usize>k) least = max(least, <f64>kthLargest<f32>(scores, count, <usize>k, heap) - 2 * allowance);
  return <f32>lower<f32>(least);
}

/** Offers the filters whose score is at least `least`; score j is that of place `list[j]`, or j without a list. */
function resolve(
  context: usize,
  r: u32,
  scratch: usize,
  scores: usize,
  list: usize,
  count: usize,
  least: f32,
  values: usize,
  ids: usize,
  k: i32,
): u64 {
  const doubts = scratch + doubtsAt(context);
  let exact: u64 = 0;
  let noted: u32 = 0;
  for (let j: usize = 0; j < count; j++) {
    j = nextAtLeast<f32>(scores, j, count, least);
    if (j < count) noteDoubt(doubts, noted++, list == 0 ? <u32>j : load<u32>(list + (j << 2)));
    if (noted == 0 || (noted < MOST_DOUBTS && j + 1 < count)) continue;
    resolveDoubts(context, r, noted, doubts);
    for (let d: u32 = 0; d < noted; d++) {
      const f = load<u32>(load<usize>(context, slot.PLACE_FILTER) + (<usize>doubtAt(doubts, d) << 2));
      const norm = load<f64>(load<usize>(context, slot.FILTER_NORM) + (<usize>f << 3));
      offerNew(resolvedAt(doubts, d) / norm, f, values, ids, k);
    }
    exact += <u64>noted;
    noted = 0;
  }
  return exact;
}

/**
 * First answers for rows [from, to) from the winners of an earlier bank: the old winner with its response to the bank as
 * it is now. VERDICT is 0 where no filter that stayed the same can be stronger, so that the changed ones decide. The
 * winner's response did not fall: all that stayed the same were weaker, or equal and of a higher number, and still are.
 */
export function first_answers_csr(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const changed = load<usize>(context, slot.CHANGED);
  let exact: f64 = 0;
  for (let r = from; r < to; r++) {
    const f = load<u32>(load<usize>(context, slot.WINNER) + (<usize>r << 2));
    const before = load<f64>(load<usize>(context, slot.WINNER_VALUE) + (<usize>r << 3));
    let now = before;
    if (load<u8>(changed + <usize>f)) {
      now = dotSparse(context, r, f, scratch) / load<f64>(load<usize>(context, slot.FILTER_NORM) + (<usize>f << 3));
      exact++;
    }
    store<u32>(load<usize>(context, slot.OUT_ID) + (<usize>r << 2), f);
    store<f64>(load<usize>(context, slot.OUT_VALUE) + (<usize>r << 3), now);
    store<u8>(load<usize>(context, slot.VERDICT) + <usize>r, now >= before ? 0 : 1);
  }
  return exact;
}
