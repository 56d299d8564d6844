/**
 * Exact responses of a dense row to some filters, bit for bit as `src/kernels` defines them. Four ways, chosen once per
 * call (MODE):
 *
 * - WHOLE_NARROW, WHOLE_WIDE: rows and weights are whole numbers, so x·w is exact in any order. Weights are kept as
 *   v = w - c in 16 bits (c: CENTRE), unsigned 16-bit rows as y = x - o, and x·w = y·v + o·Σv + c·Σx. NARROW: |y||v| < 2^31
 *   has been shown, so 32-bit sums modulo 2^32 suffice; WIDE carries over into 64 bits.
 * - ORDERED_F32, ORDERED_F64: float64 sums in the defined order; weights that float32 holds exactly are kept in it.
 */

import { ORDERED_F32, ORDERED_F64, WHOLE_NARROW, WHOLE_WIDE } from "../../src/backends/wasm/dense/sizes";
import * as slot from "../../src/backends/wasm/dense/slots";
import { U16 } from "../../src/backends/wasm/engine/slots";
import { dot4, dotOrdered, dotOrdered2, dotWide } from "./dot";
import { bytesOf, expand16, expand64, OFFSET_U16, sum16 } from "./expand";

/** Expands row r into `xs` (room for STRIDE float64). */
export function expandRow(context: usize, r: u32, xs: usize): void {
  const type = load<i32>(context, slot.TYPE);
  const stride = load<i32>(context, slot.STRIDE);
  const row = load<usize>(context, slot.ROWS) + <usize>r * (<usize>stride * bytesOf(type));
  if (load<i32>(context, slot.MODE) >= ORDERED_F32) expand64(type, row, xs, stride);
  else expand16(type, row, xs, load<i32>(context, slot.FEATURES), stride);
}

/** Expands row r into `xs` and returns the part of x·w that no filter changes: c·Σx. */
export function openRow(context: usize, r: u32, xs: usize): f64 {
  expandRow(context, r, xs);
  if (load<i32>(context, slot.MODE) >= ORDERED_F32) return 0;
  const offset: i64 = load<i32>(context, slot.TYPE) == U16 ? <i64>OFFSET_U16 * <i64>load<i32>(context, slot.FEATURES) : 0;
  return load<f64>(context, slot.CENTRE_F64) * <f64>(sum16(xs, load<i32>(context, slot.STRIDE)) + offset);
}

/** x·w of one filter. */
export function product(context: usize, xs: usize, term: f64, f: u32): f64 {
  const mode = load<i32>(context, slot.MODE);
  const stride = load<i32>(context, slot.STRIDE);
  const weights = load<usize>(context, slot.WEIGHTS);
  if (mode == ORDERED_F32) return dotOrdered<f32>(xs, weights + <usize>f * (<usize>stride << 2), stride);
  if (mode == ORDERED_F64) return dotOrdered<f64>(xs, weights + <usize>f * (<usize>stride << 3), stride);
  const bytes = <usize>stride << 1;
  const flush = mode == WHOLE_WIDE ? load<usize>(context, slot.FLUSH) : bytes;
  return <f64>dotWide(xs, weights + <usize>f * bytes, bytes, flush) + term + shifted(context, f);
}

/** x·w / norm of one filter. */
export function respond(context: usize, xs: usize, term: f64, f: u32): f64 {
  return product(context, xs, term, f) / load<f64>(load<usize>(context, slot.NORM) + (<usize>f << 3));
}

/** x·w of four filters whose sums fit 32 bits (WHOLE_NARROW), to `out`. */
// @ts-ignore: decorator
@inline
export function narrowProducts4(context: usize, xs: usize, term: f64, f0: u32, f1: u32, f2: u32, f3: u32, out: usize): void {
  const weights = load<usize>(context, slot.WEIGHTS);
  const bytes = <usize>load<i32>(context, slot.STRIDE) << 1;
  const sums = dot4(
    xs,
    weights + <usize>f0 * bytes,
    weights + <usize>f1 * bytes,
    weights + <usize>f2 * bytes,
    weights + <usize>f3 * bytes,
    bytes,
  );
  const same = f64x2.splat(term);
  const last = v128.shuffle<i32>(sums, sums, 2, 3, 0, 1);
  v128.store(out, f64x2.add(f64x2.convert_low_i32x4_s(sums), same));
  v128.store(out, f64x2.add(f64x2.convert_low_i32x4_s(last), same), 16);
  const offsets = load<usize>(context, slot.SHIFTED);
  if (offsets) {
    v128.store(out, f64x2.add(v128.load(out), pair(offsets, f0, f1)));
    v128.store(out, f64x2.add(v128.load(out, 16), pair(offsets, f2, f3)), 16);
  }
}

/** x·w / norm of four filters, to `out`. */
export function respond4(context: usize, xs: usize, term: f64, f0: u32, f1: u32, f2: u32, f3: u32, out: usize): void {
  const mode = load<i32>(context, slot.MODE);
  const stride = load<i32>(context, slot.STRIDE);
  const weights = load<usize>(context, slot.WEIGHTS);
  const norm = load<usize>(context, slot.NORM);
  if (mode == WHOLE_NARROW) {
    narrowProducts4(context, xs, term, f0, f1, f2, f3, out);
  } else if (mode == ORDERED_F32) {
    const bytes = <usize>stride << 2;
    dotOrdered2<f32>(xs, weights + <usize>f0 * bytes, weights + <usize>f1 * bytes, stride, out);
    dotOrdered2<f32>(xs, weights + <usize>f2 * bytes, weights + <usize>f3 * bytes, stride, out + 16);
  } else if (mode == ORDERED_F64) {
    const bytes = <usize>stride << 3;
    dotOrdered2<f64>(xs, weights + <usize>f0 * bytes, weights + <usize>f1 * bytes, stride, out);
    dotOrdered2<f64>(xs, weights + <usize>f2 * bytes, weights + <usize>f3 * bytes, stride, out + 16);
  } else {
    store<f64>(out, product(context, xs, term, f0));
    store<f64>(out, product(context, xs, term, f1), 8);
    store<f64>(out, product(context, xs, term, f2), 16);
    store<f64>(out, product(context, xs, term, f3), 24);
  }
  v128.store(out, f64x2.div(v128.load(out), pair(norm, f0, f1)));
  v128.store(out, f64x2.div(v128.load(out, 16), pair(norm, f2, f3)), 16);
}

/** Numbers f and g of some float64. */
// @ts-ignore: decorator
@inline
function pair(values: usize, f: u32, g: u32): v128 {
  return v128.load64_lane(values + (<usize>g << 3), v128.load64_zero(values + (<usize>f << 3)), 1);
}

/** o·Σv of filter f, 0 unless the rows are unsigned 16-bit. */
// @ts-ignore: decorator
@inline
function shifted(context: usize, f: u32): f64 {
  const at = load<usize>(context, slot.SHIFTED);
  return at == 0 ? 0 : load<f64>(at + (<usize>f << 3));
}
