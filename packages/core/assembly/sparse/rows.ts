/** Sparse rows: reading their values, and what must be known of them before a search. */

import * as slot from "../../src/backends/wasm/sparse/slots";
import { F32, I16, U16, U8 } from "../../src/backends/wasm/engine/slots";

/** Value of entry e. */
// @ts-ignore: decorator
@inline
export function valueAt(values: usize, e: usize, type: i32): f64 {
  if (type == U8) return <f64>load<u8>(values + e);
  if (type == U16) return <f64>load<u16>(values + (e << 1));
  if (type == I16) return <f64>load<i16>(values + (e << 1));
  if (type == F32) return <f64>load<f32>(values + (e << 2));
  return load<f64>(values + (e << 3));
}

/** First entry of row r; the row ends where the next begins. */
// @ts-ignore: decorator
@inline
export function entryOf(context: usize, r: u32): usize {
  return <usize>load<u32>(load<usize>(context, slot.ROW_OFFSETS) + (<usize>r << 2));
}

/** The largest sum of absolute values of rows [from, to); infinity if some value is not whole. */
export function measure_csr(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const values = load<usize>(context, slot.ROW_VALUES);
  const type = load<i32>(context, slot.ROW_TYPE);
  let largest: f64 = 0;
  for (let r = from; r < to; r++) {
    const end = entryOf(context, r + 1);
    let size: f64 = 0;
    for (let e = entryOf(context, r); e < end; e++) {
      const x = valueAt(values, e, type);
      if (type >= F32 && nearest(x) != x) return Infinity;
      size += abs(x);
    }
    largest = max(largest, size);
  }
  return largest;
}
