/** Facts about rows and filters that decide which arithmetic is exact, and the laying out of rows in memory. */

import { ORDERED_F32, ORDERED_F64 } from "../../src/backends/wasm/dense/sizes";
import * as slot from "../../src/backends/wasm/dense/slots";
import { square16 } from "./quantise";
import { bytesOf, expand64, OFFSET_U16, sum16 } from "./expand";

/** Moves rows that lie packed at the end of their room to their places, `strideBytes` apart, padding with zeros. */
export function spread_rows(packed: usize, out: usize, rows: u32, rowBytes: usize, strideBytes: usize): void {
  for (let r: u32 = 0; r < rows; r++, packed += rowBytes, out += strideBytes) {
    memory.copy(out, packed, rowBytes);
    memory.fill(out + rowBytes, 0, strideBytes - rowBytes);
  }
}

/** Scratch of the kernels here: one float64 vector. */
export function scratch_measure(context: usize): usize {
  return <usize>load<i32>(context, slot.STRIDE) << 3;
}

/** The largest absolute value of rows [from, to). */
export function measure_rows(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const type = load<i32>(context, slot.TYPE);
  const stride = load<i32>(context, slot.STRIDE);
  const rowBytes = <usize>stride * bytesOf(type);
  let top = f64x2.splat(0);
  for (let r = from; r < to; r++) {
    expand64(type, load<usize>(context, slot.ROWS) + <usize>r * rowBytes, scratch, stride);
    for (let i: usize = 0; i < <usize>stride << 3; i += 16) top = f64x2.max(top, f64x2.abs(v128.load(scratch + i)));
  }
  return max(f64x2.extract_lane(top, 0), f64x2.extract_lane(top, 1));
}

/** Takes CENTRE off the 16-bit weights of filters [from, to); returns the largest weight before. */
export function centre_weights(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const stride = load<i32>(context, slot.STRIDE);
  const features = load<i32>(context, slot.FEATURES);
  const centre = i16x8.splat(<i16>load<f64>(context, slot.CENTRE_F64));
  let top = i16x8.splat(0);
  for (let f = from; f < to; f++) {
    const filter = load<usize>(context, slot.WEIGHTS) + <usize>f * (<usize>stride << 1);
    for (let i: usize = 0; i < <usize>stride << 1; i += 16) {
      const w = v128.load(filter + i);
      top = i16x8.max_u(top, w);
      v128.store(filter + i, i16x8.sub(w, centre));
    }
    for (let i = features; i < stride; i++) store<i16>(filter + (<usize>i << 1), 0);
  }
  let most: u32 = 0;
  most = max(most, max(<u32>i16x8.extract_lane_u(top, 0), <u32>i16x8.extract_lane_u(top, 1)));
  most = max(most, max(<u32>i16x8.extract_lane_u(top, 2), <u32>i16x8.extract_lane_u(top, 3)));
  most = max(most, max(<u32>i16x8.extract_lane_u(top, 4), <u32>i16x8.extract_lane_u(top, 5)));
  most = max(most, max(<u32>i16x8.extract_lane_u(top, 6), <u32>i16x8.extract_lane_u(top, 7)));
  return <f64>most;
}

/** The largest Euclidean norm of filters [from, to), of the weights as they are stored; fills SHIFTED where there is room for it. */
export function measure_filters(from: u32, to: u32, scratch: usize, context: usize): f64 {
  const stride = load<i32>(context, slot.STRIDE);
  const mode = load<i32>(context, slot.MODE);
  const weights = load<usize>(context, slot.WEIGHTS);
  const shifted = load<usize>(context, slot.SHIFTED);
  let longest: f64 = 0;
  for (let f = from; f < to; f++) {
    const first = <usize>f * <usize>stride;
    let square: f64 = 0;
    if (mode < ORDERED_F32) {
      square = square16(weights + (first << 1), stride);
      if (shifted) store<f64>(shifted + (<usize>f << 3), <f64>OFFSET_U16 * <f64>sum16(weights + (first << 1), stride));
    } else {
      for (let i: usize = 0; i < <usize>stride; i++) {
        const w = mode == ORDERED_F64 ? load<f64>(weights + ((first + i) << 3)) : <f64>load<f32>(weights + ((first + i) << 2));
        square += w * w;
      }
    }
    longest = max(longest, sqrt(square));
  }
  return longest;
}
