/**
 * x·w of a sparse row in the order of `src/kernels/dot.ts`: feature i goes to lane i mod 8, products are rounded and then
 * added, and the lanes are joined in the order given there.
 */

import * as slot from "../../src/backends/wasm/sparse/slots";
import { entryOf, valueAt } from "./rows";

/** Weight e as float64. */
// @ts-ignore: decorator
@inline
export function weightAt(weights: usize, e: usize, bytes: i32): f64 {
  if (bytes == 4) return <f64>load<u32>(weights + (e << 2));
  if (bytes == 2) return <f64>load<u16>(weights + (e << 1));
  return load<f64>(weights + (e << 3));
}

/** The largest of the first `count` integer weights. */
export function largest_weight_csr(count: u32, context: usize): u32 {
  const weights = load<usize>(context, slot.FILTER_WEIGHTS);
  let largest: u32 = 0;
  if (load<i32>(context, slot.WEIGHT_BYTES) == 2) {
    for (let e: usize = 0; e < <usize>count; e++) largest = max(largest, <u32>load<u16>(weights + (e << 1)));
  } else for (let e: usize = 0; e < <usize>count; e++) largest = max(largest, load<u32>(weights + (e << 2)));
  return largest;
}

/** The sum of eight lanes. */
// @ts-ignore: decorator
@inline
export function joinLanes8(lanes: usize): f64 {
  const l04 = load<f64>(lanes) + load<f64>(lanes, 32);
  const l26 = load<f64>(lanes, 16) + load<f64>(lanes, 48);
  const l15 = load<f64>(lanes, 8) + load<f64>(lanes, 40);
  const l37 = load<f64>(lanes, 24) + load<f64>(lanes, 56);
  return l04 + l26 + (l15 + l37);
}

/** The first place in [at, end) whose feature is not below i, found by steps that double and then by halving. */
function seek(indices: usize, at: usize, end: usize, i: u32): usize {
  let step: usize = 1;
  let low = at; // all places before it lie below i
  while (at < end && load<u32>(indices + (at << 2)) < i) {
    low = at + 1;
    at += step;
    step <<= 1;
  }
  let high = min(at, end);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (load<u32>(indices + (middle << 2)) < i) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** x·w of row r and filter f. */
export function dotSparse(
  context: usize,
  r: u32,
  f: u32,
  lanes: usize, // 64 bytes of scratch
): f64 {
  const indices = load<usize>(context, slot.ROW_INDICES);
  const values = load<usize>(context, slot.ROW_VALUES);
  const type = load<i32>(context, slot.ROW_TYPE);
  const weights = load<usize>(context, slot.FILTER_WEIGHTS);
  const bytes = load<i32>(context, slot.WEIGHT_BYTES);
  const offsets = load<usize>(context, slot.FILTER_OFFSETS);
  const end = entryOf(context, r + 1);
  memory.fill(lanes, 0, 64);
  if (offsets == 0) {
    const first = <usize>f * <usize>load<u32>(context, slot.FEATURES);
    for (let e = entryOf(context, r); e < end; e++) {
      const i = <usize>load<u32>(indices + (e << 2));
      const lane = lanes + ((i & 7) << 3);
      store<f64>(lane, load<f64>(lane) + valueAt(values, e, type) * weightAt(weights, first + i, bytes));
    }
    return joinLanes8(lanes);
  }
  const features = load<usize>(context, slot.FILTER_INDICES);
  const base = load<f64>(load<usize>(context, slot.FILTER_BASE) + (<usize>f << 3));
  let at = <usize>load<u32>(offsets + (<usize>f << 2));
  const last = <usize>load<u32>(offsets + (<usize>f << 2), 4);
  for (let e = entryOf(context, r); e < end; e++) {
    const i = load<u32>(indices + (e << 2));
    at = seek(features, at, last, i);
    const w = at < last && load<u32>(features + (at << 2)) == i ? weightAt(weights, at, bytes) : base;
    const lane = lanes + (<usize>(i & 7) << 3);
    store<f64>(lane, load<f64>(lane) + valueAt(values, e, type) * w);
  }
  return joinLanes8(lanes);
}
