/** The last candidates of a row: the third bound (`bound.ts`), then the exact responses of those it leaves. */

import { PARTS_BYTES } from "../../src/backends/wasm/dense/sizes";
import * as slot from "../../src/backends/wasm/dense/slots";
import { need32, needed } from "./bound";
import { keepFour } from "./compact";
import { dot4 } from "./dot";
import { fillUp, offerListed, worstOf } from "./prune";
import { expandRow } from "./respond";
import { filterAt } from "./second";

/** Candidates taken together; each such batch may raise what the next needs. */
const BATCH: i32 = 512;

/** Offers the candidates that can still be among the k strongest. Returns the exact products computed. */
export function finishCandidates(
  context: usize,
  r: u32,
  scales: usize,
  xs: usize, // scratch: the row, expanded if `open`
  open: bool,
  term: f64,
  candidates: usize, // in: u16 places
  count: i32,
  order: usize,
  values: usize,
  ids: usize,
  k: i32,
): f64 {
  let exact: f64 = 0;
  for (let from = 0; from < count; from += BATCH) {
    const list = candidates + (<usize>from << 1);
    const size = keepByParts(context, r, scales, list, min(BATCH, count - from), order, values, k);
    if (size == 0) continue;
    if (!open) expandRow(context, r, xs);
    open = true;
    offerListed(context, xs, term, list, size, order, values, ids, k);
    exact += size;
  }
  return exact;
}

/** Keeps the candidates whose level-3 bound reaches what is needed; returns how many. */
function keepByParts(
  context: usize,
  r: u32,
  scales: usize,
  list: usize,
  count: i32,
  order: usize,
  values: usize,
  k: i32,
): i32 {
  const vector = load<usize>(context, slot.ROW_PARTS) + <usize>r * PARTS_BYTES;
  const table = load<usize>(context, slot.COMPACT);
  const parts = load<usize>(context, slot.FILTER_PARTS);
  const need = need32(needed(context, scales, load<f64>(worstOf(context, values, k)), 3));
  const below = i32x4.splat(max(need, i32.MIN_VALUE + 1) - 1);
  fillUp(list, count);
  let left = 0;
  let j = 0;
  do {
    const places = list + (<usize>j << 1);
    const p0 = parts + filterAt(order, places) * PARTS_BYTES;
    const p1 = parts + filterAt(order, places + 2) * PARTS_BYTES;
    const p2 = parts + filterAt(order, places + 4) * PARTS_BYTES;
    const p3 = parts + filterAt(order, places + 6) * PARTS_BYTES;
    const sums = dot4(vector, p0, p1, p2, p3, PARTS_BYTES);
    left = keepFour(i32x4.bitmask(i32x4.gt_s(sums, below)), list, j, count, left, list, table);
    j += 4;
  } while (j < count);
  return left;
}
