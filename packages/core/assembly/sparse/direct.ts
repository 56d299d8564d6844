/**
 * Sparse rows against filters that are written out in full, every product in the defined order (`src/kernels/dot.ts`): for
 * dense banks, for few filters, and where the index would not do. Eight filters lie side by side, so that one feature of a
 * row meets the weights of all eight in one cache line; a single filter lies alone.
 */

import * as slot from "../../src/backends/wasm/sparse/slots";
import { joinLanes8, weightAt } from "./dot";
import { clearPiece, firstOf, lastOf, offerRow } from "./pieces";
import { entryOf, valueAt } from "./rows";
import { clearTop, offerNew, sortTop } from "../shared/top";

/** Bytes of scratch: eight lanes of eight filters, and eight products. */
const LANES: usize = 512;

export function scratch_direct_csr(context: usize): usize {
  return LANES + 64;
}

/** Writes out the filters of the blocks [from, to). */
export function write_out_csr(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const width = load<u32>(context, slot.DIRECT_WIDTH);
  const features = <usize>load<u32>(context, slot.FEATURES);
  const count = load<u32>(context, slot.DIRECT_COUNT);
  for (let b = from; b < to; b++) {
    const block = load<usize>(context, slot.DIRECT) + <usize>b * features * (<usize>width << 3);
    for (let j: u32 = 0; j < width; j++) {
      const p = b * width + j;
      if (p < count) writeFilter(context, filterAt(context, p), block + (<usize>j << 3), <usize>width << 3);
      else for (let i: usize = 0; i < features; i++) store<f64>(block + (i * <usize>width + <usize>j << 3), 0);
    }
  }
  return 0;
}

/** The weights of filter f, `step` bytes apart. */
function writeFilter(context: usize, f: u32, out: usize, step: usize): void {
  const features = <usize>load<u32>(context, slot.FEATURES);
  const weights = load<usize>(context, slot.FILTER_WEIGHTS);
  const bytes = load<i32>(context, slot.WEIGHT_BYTES);
  const offsets = load<usize>(context, slot.FILTER_OFFSETS);
  if (offsets == 0) {
    const first = <usize>f * features;
    for (let i: usize = 0; i < features; i++) store<f64>(out + i * step, weightAt(weights, first + i, bytes));
    return;
  }
  const base = load<f64>(load<usize>(context, slot.FILTER_BASE) + (<usize>f << 3));
  for (let i: usize = 0; i < features; i++) store<f64>(out + i * step, base);
  const end = <usize>load<u32>(offsets + (<usize>f << 2), 4);
  for (let e = <usize>load<u32>(offsets + (<usize>f << 2)); e < end; e++) {
    const i = <usize>load<u32>(load<usize>(context, slot.FILTER_INDICES) + (e << 2));
    store<f64>(out + i * step, weightAt(weights, e, bytes));
  }
}

// @ts-ignore: decorator
@inline
function filterAt(context: usize, p: u32): u32 {
  const list = load<usize>(context, slot.DIRECT_LIST);
  return list == 0 ? p : load<u32>(list + (<usize>p << 2));
}

/** x·w of row r and each filter of block b, to `products`. */
function multiply(context: usize, r: u32, b: u32, scratch: usize, products: usize): void {
  const indices = load<usize>(context, slot.ROW_INDICES);
  const values = load<usize>(context, slot.ROW_VALUES);
  const type = load<i32>(context, slot.ROW_TYPE);
  const width = <usize>load<u32>(context, slot.DIRECT_WIDTH);
  const block = load<usize>(context, slot.DIRECT) + <usize>b * <usize>load<u32>(context, slot.FEATURES) * (width << 3);
  const last = entryOf(context, r + 1);
  memory.fill(scratch, 0, width << 6);
  if (width == 1) {
    for (let e = entryOf(context, r); e < last; e++) {
      const i = <usize>load<u32>(indices + (e << 2));
      const lane = scratch + ((i & 7) << 3);
      store<f64>(lane, load<f64>(lane) + valueAt(values, e, type) * load<f64>(block + (i << 3)));
    }
    store<f64>(products, joinLanes8(scratch));
    return;
  }
  for (let e = entryOf(context, r); e < last; e++) {
    const i = <usize>load<u32>(indices + (e << 2));
    const lane = scratch + ((i & 7) << 6);
    const w = block + (i << 6);
    const x = f64x2.splat(valueAt(values, e, type));
    v128.store(lane, f64x2.add(v128.load(lane), f64x2.mul(x, v128.load(w))));
    v128.store(lane, f64x2.add(v128.load(lane, 16), f64x2.mul(x, v128.load(w, 16))), 16);
    v128.store(lane, f64x2.add(v128.load(lane, 32), f64x2.mul(x, v128.load(w, 32))), 32);
    v128.store(lane, f64x2.add(v128.load(lane, 48), f64x2.mul(x, v128.load(w, 48))), 48);
  }
  for (let j: usize = 0; j < 64; j += 16) {
    const l04 = f64x2.add(v128.load(scratch + j), v128.load(scratch + j, 256));
    const l26 = f64x2.add(v128.load(scratch + j, 128), v128.load(scratch + j, 384));
    const l15 = f64x2.add(v128.load(scratch + j, 64), v128.load(scratch + j, 320));
    const l37 = f64x2.add(v128.load(scratch + j, 192), v128.load(scratch + j, 448));
    v128.store(products + j, f64x2.add(f64x2.add(l04, l26), f64x2.add(l15, l37)));
  }
}

/** The k strongest of the filters written out for rows [from, to). Returns the products computed. */
export function top_filters_direct_csr(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const k = load<i32>(context, slot.K);
  const width = load<u32>(context, slot.DIRECT_WIDTH);
  const count = load<u32>(context, slot.DIRECT_COUNT);
  const norms = load<usize>(context, slot.FILTER_NORM);
  const products = scratch + LANES;
  // A block of filters stays in the cache while the rows pass by.
  for (let b: u32 = 0; b * width < count; b++) {
    const end = min(count, (b + 1) * width);
    for (let r = from; r < to; r++) {
      const ids = load<usize>(context, slot.OUT_ID) + (<usize>r * <usize>k << 2);
      const values = load<usize>(context, slot.OUT_VALUE) + (<usize>r * <usize>k << 3);
      if (b == 0) clearTop(values, ids, k);
      multiply(context, r, b, scratch, products);
      for (let p = b * width; p < end; p++) {
        const f = filterAt(context, p);
        const product = load<f64>(products + (<usize>(p - b * width) << 3));
        offerNew(product / load<f64>(norms + (<usize>f << 3)), f, values, ids, k);
      }
      if (end == count) sortTop(values, ids, k);
    }
  }
  return <f64>(to - from) * <f64>count;
}

/** The strongest rows, for the filters written out, within each of the pieces [from, to). */
export function top_rows_direct_csr(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const width = load<u32>(context, slot.DIRECT_WIDTH);
  const count = load<u32>(context, slot.DIRECT_COUNT);
  const products = scratch + LANES;
  let exact: f64 = 0;
  for (let c = from; c < to; c++) {
    clearPiece(context, c);
    const last = lastOf(context, c);
    for (let b: u32 = 0; b * width < count; b++) {
      const end = min(count, (b + 1) * width);
      for (let r = firstOf(context, c); r < last; r++) {
        const divisor = load<f64>(load<usize>(context, slot.DIVISOR) + (<usize>r << 3));
        if (divisor != 0) multiply(context, r, b, scratch, products);
        for (let p = b * width; p < end; p++) {
          const product = load<f64>(products + (<usize>(p - b * width) << 3));
          offerRow(context, c, p, r, divisor == 0 ? 0 : product / divisor);
        }
      }
    }
    exact += <f64>(last - firstOf(context, c)) * <f64>count;
  }
  return exact;
}
