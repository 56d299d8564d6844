/**
 * The k strongest rows of some filters by bounds: the cascade of `bound.ts` turned round. A filter meets all rows; a row
 * whose bound, divided by its divisor, cannot reach the k-th best value so far is passed over.
 */

import { BOUND_BYTES, FIRST_BYTES, PARTS_BYTES, SCALES_BYTES, SECOND_BYTES } from "../../src/backends/wasm/dense/sizes";
import * as slot from "../../src/backends/wasm/dense/slots";
import { needed } from "./bound";
import { dot4, dotWide } from "./dot";
import { idsOf, valuesOf } from "./full";
import { openRow, product } from "./respond";
import { clearTop, LIST_LIMIT, offerNew, sortTop } from "../shared/top";

/** As `top_rows_full`, the same answer. Each call takes the filters at [from, to) of LIST four at a time. */
export function top_rows_pruned(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const k = load<i32>(context, slot.K);
  const list = load<usize>(context, slot.LIST);
  let exact: f64 = 0;
  for (let j = from; j < to; j += 4) {
    const last = min(j + 4, to);
    for (let i = j; i < last; i++) clearTop(valuesOf(context, i, k), idsOf(context, i, k), k);
    exact += passRows(context, list + (<usize>j << 2), j, last - j, scratch, k);
    for (let i = j; i < last; i++) sortTop(valuesOf(context, i, k), idsOf(context, i, k), k);
  }
  return exact;
}

/** All rows past up to four filters. Returns the exact products computed. */
function passRows(context: usize, list: usize, j: u32, filters: u32, scratch: usize, k: i32): f64 {
  const rows = load<u32>(context, slot.PLACES);
  const f0 = <usize>load<u32>(list);
  const f1 = <usize>load<u32>(list + (filters > 1 ? 4 : 0));
  const f2 = <usize>load<u32>(list + (filters > 2 ? 8 : 0));
  const f3 = <usize>load<u32>(list + (filters > 3 ? 12 : 0));
  let exact: f64 = 0;
  for (let r: u32 = 0; r < rows; r++) {
    const divisor = load<f64>(load<usize>(context, slot.DIVISOR) + (<usize>r << 3));
    if (divisor == 0) {
      for (let i: u32 = 0; i < filters; i++) offerNew(0, r, valuesOf(context, j + i, k), idsOf(context, j + i, k), k);
      continue;
    }
    const vector = load<usize>(context, slot.ROW_BOUNDS) + <usize>r * BOUND_BYTES;
    const sums = i32x4.add(
      products(vector, load<usize>(context, slot.FILTER_FIRST), FIRST_BYTES, f0, f1, f2, f3),
      products(vector + FIRST_BYTES, load<usize>(context, slot.FILTER_SECOND), SECOND_BYTES, f0, f1, f2, f3),
    );
    const scales = load<usize>(context, slot.ROW_SCALES) + <usize>r * SCALES_BYTES;
    let term: f64 = 0;
    let open = false;
    for (let i: u32 = 0; i < filters; i++) {
      const f = load<u32>(list + (<usize>i << 2));
      const values = valuesOf(context, j + i, k);
      const worst = load<f64>(values + (k <= LIST_LIMIT ? <usize>(k - 1) << 3 : 0));
      if (divisor > 0) {
        if (isBelow(context, scales, worst, divisor, f, lane(sums, i), 2)) continue;
        const parts = load<usize>(context, slot.FILTER_PARTS) + <usize>f * PARTS_BYTES;
        const closer = <i32>dotWide(load<usize>(context, slot.ROW_PARTS) + <usize>r * PARTS_BYTES, parts, PARTS_BYTES, PARTS_BYTES);
        if (isBelow(context, scales, worst, divisor, f, closer, 3)) continue;
      }
      if (!open) term = openRow(context, r, scratch);
      open = true;
      offerNew(product(context, scratch, term, f) / divisor, r, values, idsOf(context, j + i, k), k);
      exact++;
    }
  }
  return exact;
}

/** A vector against four of those at `vectors`, `bytes` long each. */
// @ts-ignore: decorator
@inline
function products(x: usize, vectors: usize, bytes: usize, f0: usize, f1: usize, f2: usize, f3: usize): v128 {
  return dot4(x, vectors + f0 * bytes, vectors + f1 * bytes, vectors + f2 * bytes, vectors + f3 * bytes, bytes);
}

/** Whether x·w / divisor cannot reach `worst`; x·w = (x·v + x·b)·norm / common norm. */
function isBelow(context: usize, scales: usize, worst: f64, divisor: f64, f: u32, sum: i32, level: i32): bool {
  if (worst == -Infinity) return false;
  const value = (worst * divisor) / load<f64>(load<usize>(context, slot.NORM) + (<usize>f << 3));
  // Two roundings above; the rest of the allowance is in `needed`.
  return <f64>sum < needed(context, scales, value - abs(value) * 1e-15, level);
}

// @ts-ignore: decorator
@inline
function lane(sums: v128, i: u32): i32 {
  if (i == 0) return i32x4.extract_lane(sums, 0);
  if (i == 1) return i32x4.extract_lane(sums, 1);
  if (i == 2) return i32x4.extract_lane(sums, 2);
  return i32x4.extract_lane(sums, 3);
}
