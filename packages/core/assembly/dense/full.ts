/**
 * The searches on dense rows as full loops over exact responses: for few filters or features, for large k, and wherever
 * bounds would not pay.
 */

import { ORDERED_F32, ORDERED_F64, WHOLE_NARROW } from "../../src/backends/wasm/dense/sizes";
import * as slot from "../../src/backends/wasm/dense/slots";
import { narrowProducts4, openRow, product, respond, respond4 } from "./respond";
import { clearTop, offerNew, sortTop } from "../shared/top";

/** Bytes of filters that stay in the second-level cache while a range of rows passes by. */
const CACHED_BYTES: u32 = 1 << 18;

/** Scratch of both kernels: one row and four responses. */
export function scratch_full(context: usize): usize {
  return (<usize>load<i32>(context, slot.STRIDE) << 3) + 64;
}

/** The k strongest filters of rows [from, to). Returns the exact products computed. */
export function top_filters_full(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const k = load<i32>(context, slot.K);
  const filters = load<u32>(context, slot.FILTERS);
  const mode = load<i32>(context, slot.MODE);
  const stride = load<u32>(context, slot.STRIDE);
  const batch = scratch + (<usize>stride << 3);
  const weightBytes: u32 = mode == ORDERED_F64 ? 8 : mode == ORDERED_F32 ? 4 : 2;
  const cached = max<u32>(4, (CACHED_BYTES / (stride * weightBytes)) & ~3);
  for (let start: u32 = 0; start < filters; start += cached) {
    const end = min(filters, start + cached);
    for (let r = from; r < to; r++) {
      const ids = load<usize>(context, slot.OUT_ID) + (<usize>r * <usize>k << 2);
      const values = load<usize>(context, slot.OUT_VALUE) + (<usize>r * <usize>k << 3);
      if (start == 0) clearTop(values, ids, k);
      const term = openRow(context, r, scratch);
      let f = start;
      for (; f + 4 <= end; f += 4) {
        respond4(context, scratch, term, f, f + 1, f + 2, f + 3, batch);
        offerNew(load<f64>(batch), f, values, ids, k);
        offerNew(load<f64>(batch, 8), f + 1, values, ids, k);
        offerNew(load<f64>(batch, 16), f + 2, values, ids, k);
        offerNew(load<f64>(batch, 24), f + 3, values, ids, k);
      }
      for (; f < end; f++) offerNew(respond(context, scratch, term, f), f, values, ids, k);
      if (end == filters) sortTop(values, ids, k);
    }
  }
  return <f64>(to - from) * <f64>filters;
}

/**
 * The k strongest of the PLACES rows for the filters at [from, to) of LIST, by x·w over the row's DIVISOR. Returns the exact products computed.
 */
export function top_rows_full(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const k = load<i32>(context, slot.K);
  const rows = load<u32>(context, slot.PLACES);
  const list = load<usize>(context, slot.LIST);
  const isNarrow = load<i32>(context, slot.MODE) == WHOLE_NARROW;
  const four = scratch + scratch_full(context) - 32;
  for (let j = from; j < to; j++) clearTop(valuesOf(context, j, k), idsOf(context, j, k), k);
  for (let r: u32 = 0; r < rows; r++) {
    const divisor = load<f64>(load<usize>(context, slot.DIVISOR) + (<usize>r << 3));
    const term = divisor == 0 ? 0 : openRow(context, r, scratch);
    let j = from;
    for (; isNarrow && divisor != 0 && j + 4 <= to; j += 4) {
      const at = list + (<usize>j << 2);
      narrowProducts4(context, scratch, term, load<u32>(at), load<u32>(at, 4), load<u32>(at, 8), load<u32>(at, 12), four);
      for (let i: u32 = 0; i < 4; i++) {
        const value = load<f64>(four + (<usize>i << 3)) / divisor;
        offerNew(value, r, valuesOf(context, j + i, k), idsOf(context, j + i, k), k);
      }
    }
    for (; j < to; j++) {
      const f = load<u32>(list + (<usize>j << 2));
      const value = divisor == 0 ? 0 : product(context, scratch, term, f) / divisor;
      offerNew(value, r, valuesOf(context, j, k), idsOf(context, j, k), k);
    }
  }
  for (let j = from; j < to; j++) sortTop(valuesOf(context, j, k), idsOf(context, j, k), k);
  return <f64>(to - from) * <f64>rows;
}

// @ts-ignore: decorator
@inline
export function idsOf(context: usize, j: u32, k: i32): usize {
  return load<usize>(context, slot.OUT_ID) + (<usize>j * <usize>k << 2);
}

// @ts-ignore: decorator
@inline
export function valuesOf(context: usize, j: u32, k: i32): usize {
  return load<usize>(context, slot.OUT_VALUE) + (<usize>j * <usize>k << 3);
}
