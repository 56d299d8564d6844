/**
 * Rows as they are stored (bytes stay bytes) become vectors the products can use: 16-bit integers for exact integer
 * arithmetic, float64 otherwise. Padding between n and the stride is zero in memory and zero in the result.
 */

import { F32, F64, I16, U8 } from "../../src/backends/wasm/engine/slots";

/** What is taken off 16-bit unsigned values so that they fit signed ones. */
export const OFFSET_U16: i32 = 32768;

/** Bytes of one value of `type`. */
// @ts-ignore: decorator
@inline
export function bytesOf(type: i32): usize {
  return type == U8 ? 1 : type == F64 ? 8 : type == F32 ? 4 : 2;
}

/** A row of whole numbers as 16-bit integers; unsigned 16-bit values less OFFSET_U16. */
export function expand16(type: i32, row: usize, out: usize, features: i32, stride: i32): void {
  if (type == U8) {
    for (let i: usize = 0; i < <usize>stride; i += 8) v128.store(out + (i << 1), v128.load8x8_u(row + i));
    return;
  }
  if (type == I16) {
    memory.copy(out, row, <usize>stride << 1);
    return;
  }
  const flip = i16x8.splat(<i16>0x8000);
  for (let i: usize = 0; i < <usize>stride << 1; i += 16) v128.store(out + i, v128.xor(v128.load(row + i), flip));
  for (let i = features; i < stride; i++) store<i16>(out + (<usize>i << 1), 0);
}

/** A row as float64. */
export function expand64(type: i32, row: usize, out: usize, stride: i32): void {
  if (type == F64) {
    memory.copy(out, row, <usize>stride << 3);
    return;
  }
  const end = out + (<usize>stride << 3);
  if (type == F32) {
    for (; out < end; out += 16, row += 8) v128.store(out, f64x2.promote_low_f32x4(v128.load64_zero(row)));
    return;
  }
  const step: usize = type == U8 ? 8 : 16;
  for (; out < end; out += 64, row += step) {
    const eight = type == U8 ? v128.load8x8_u(row) : v128.load(row);
    const low = type == I16 ? i32x4.extend_low_i16x8_s(eight) : i32x4.extend_low_i16x8_u(eight);
    const high = type == I16 ? i32x4.extend_high_i16x8_s(eight) : i32x4.extend_high_i16x8_u(eight);
    v128.store(out, f64x2.convert_low_i32x4_s(low));
    v128.store(out, f64x2.convert_low_i32x4_s(v128.shuffle<i32>(low, low, 2, 3, 0, 1)), 16);
    v128.store(out, f64x2.convert_low_i32x4_s(high), 32);
    v128.store(out, f64x2.convert_low_i32x4_s(v128.shuffle<i32>(high, high, 2, 3, 0, 1)), 48);
  }
}

/** Reads something of each cache line, so that all are on their way at once. */
export function touch(at: usize, bytes: usize): u32 {
  const end = at + bytes;
  let seen: u32 = 0;
  do {
    seen += load<u8>(at);
    at += 64;
  } while (at < end);
  return seen;
}

/** Numbers whose 16-bit sums, in pairs, surely fit 32 bits in each lane. */
const SUMMED: i32 = 1 << 17;

/** The sum of a 16-bit vector. */
export function sum16(x: usize, stride: i32): i64 {
  const one = i16x8.splat(1);
  let total: i64 = 0;
  for (let from = 0; from < stride; from += SUMMED) {
    const end = <usize>min(stride, from + SUMMED) << 1;
    let sum = i32x4.splat(0);
    for (let i = <usize>from << 1; i < end; i += 16) sum = i32x4.add(sum, i32x4.dot_i16x8_s(v128.load(x + i), one));
    const pairs = i64x2.add(i64x2.extend_low_i32x4_s(sum), i64x2.extend_high_i32x4_s(sum));
    total += i64x2.extract_lane(pairs, 0) + i64x2.extract_lane(pairs, 1);
  }
  return total;
}
