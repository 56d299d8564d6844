/**
 * Inner products, the innermost loops. Sums of 16-bit products run in 32 bits modulo 2^32: what matters is that the
 * final sum fits, which the callers have shown, not that every partial sum does.
 *
 * The ordered product follows `src/kernels/dot.ts`: feature i goes to lane i mod 8, products are rounded and then added,
 * and the lanes are joined in the order given there.
 */

/** Four vectors of four partial sums become one vector of four sums. */
// @ts-ignore: decorator
@inline
export function joinSums(a0: v128, a1: v128, a2: v128, a3: v128): v128 {
  const low = i32x4.add(v128.shuffle<i32>(a0, a1, 0, 4, 1, 5), v128.shuffle<i32>(a0, a1, 2, 6, 3, 7));
  const high = i32x4.add(v128.shuffle<i32>(a2, a3, 0, 4, 1, 5), v128.shuffle<i32>(a2, a3, 2, 6, 3, 7));
  return i32x4.add(v128.shuffle<i32>(low, high, 0, 1, 4, 5), v128.shuffle<i32>(low, high, 2, 3, 6, 7));
}

/** The product of a cache line of 16-bit numbers, in registers, with that at f: four partial sums. */
// @ts-ignore: decorator
@inline
export function dotLine(v0: v128, v1: v128, v2: v128, v3: v128, f: usize): v128 {
  return i32x4.add(
    i32x4.add(i32x4.dot_i16x8_s(v0, v128.load(f)), i32x4.dot_i16x8_s(v1, v128.load(f, 16))),
    i32x4.add(i32x4.dot_i16x8_s(v2, v128.load(f, 32)), i32x4.dot_i16x8_s(v3, v128.load(f, 48))),
  );
}

/** One 16-bit vector against four; `bytes` is a multiple of 16. */
// @ts-ignore: decorator
@inline
export function dot4(x: usize, f0: usize, f1: usize, f2: usize, f3: usize, bytes: usize): v128 {
  let a0 = i32x4.splat(0);
  let a1 = a0;
  let a2 = a0;
  let a3 = a0;
  // A line a turn: the engine adds up an address for each load that is not at a constant distance.
  const end = x + bytes;
  for (const turns = x + (bytes & ~63); x < turns; x += 64, f0 += 64, f1 += 64, f2 += 64, f3 += 64) {
    const v0 = v128.load(x);
    const v1 = v128.load(x, 16);
    const v2 = v128.load(x, 32);
    const v3 = v128.load(x, 48);
    a0 = i32x4.add(a0, dotLine(v0, v1, v2, v3, f0));
    a1 = i32x4.add(a1, dotLine(v0, v1, v2, v3, f1));
    a2 = i32x4.add(a2, dotLine(v0, v1, v2, v3, f2));
    a3 = i32x4.add(a3, dotLine(v0, v1, v2, v3, f3));
  }
  for (; x < end; x += 16, f0 += 16, f1 += 16, f2 += 16, f3 += 16) {
    const v = v128.load(x);
    a0 = i32x4.add(a0, i32x4.dot_i16x8_s(v, v128.load(f0)));
    a1 = i32x4.add(a1, i32x4.dot_i16x8_s(v, v128.load(f1)));
    a2 = i32x4.add(a2, i32x4.dot_i16x8_s(v, v128.load(f2)));
    a3 = i32x4.add(a3, i32x4.dot_i16x8_s(v, v128.load(f3)));
  }
  return joinSums(a0, a1, a2, a3);
}

/** x·f of 16-bit vectors, carried over into 64 bits every `flush` bytes (a multiple of 16, small enough not to overflow). */
export function dotWide(x: usize, f: usize, bytes: usize, flush: usize): i64 {
  let sum = i64x2.splat(0);
  for (let from: usize = 0; from < bytes; from += flush) {
    const to = min(from + flush, bytes);
    let part = i32x4.splat(0);
    for (let i = from; i < to; i += 16) {
      part = i32x4.add(part, i32x4.dot_i16x8_s(v128.load(x + i), v128.load(f + i)));
    }
    sum = i64x2.add(sum, i64x2.add(i64x2.extend_low_i32x4_s(part), i64x2.extend_high_i32x4_s(part)));
  }
  return i64x2.extract_lane(sum, 0) + i64x2.extract_lane(sum, 1);
}

/** Two float64 weights from `at`; T is the type they are stored in. */
// @ts-ignore: decorator
@inline
export function two<T>(at: usize): v128 {
  if (sizeof<T>() == 4) return f64x2.promote_low_f32x4(v128.load64_zero(at));
  return v128.load(at);
}

/** x·w in the defined order: x is float64, w is stored as T; `stride` elements, a multiple of 8. */
export function dotOrdered<T>(x: usize, w: usize, stride: i32): f64 {
  let l01 = f64x2.splat(0);
  let l23 = l01;
  let l45 = l01;
  let l67 = l01;
  const end = x + (<usize>stride << 3);
  while (x < end) {
    l01 = f64x2.add(l01, f64x2.mul(v128.load(x), two<T>(w)));
    l23 = f64x2.add(l23, f64x2.mul(v128.load(x, 16), two<T>(w + 2 * sizeof<T>())));
    l45 = f64x2.add(l45, f64x2.mul(v128.load(x, 32), two<T>(w + 4 * sizeof<T>())));
    l67 = f64x2.add(l67, f64x2.mul(v128.load(x, 48), two<T>(w + 6 * sizeof<T>())));
    x += 64;
    w += 8 * sizeof<T>();
  }
  return joinLanes(l01, l23, l45, l67);
}

/** The lanes of the definition, joined as ((l0+l4)+(l2+l6)) + ((l1+l5)+(l3+l7)). */
// @ts-ignore: decorator
@inline
function joinLanes(l01: v128, l23: v128, l45: v128, l67: v128): f64 {
  const sum = f64x2.add(f64x2.add(l01, l45), f64x2.add(l23, l67));
  return f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1);
}

/** Two ordered products of one row at once: four more chains of additions hide the latency of the first four. */
export function dotOrdered2<T>(x: usize, w: usize, u: usize, stride: i32, out: usize): void {
  let a01 = f64x2.splat(0);
  let a23 = a01;
  let a45 = a01;
  let a67 = a01;
  let b01 = a01;
  let b23 = a01;
  let b45 = a01;
  let b67 = a01;
  const end = x + (<usize>stride << 3);
  while (x < end) {
    let v = v128.load(x);
    a01 = f64x2.add(a01, f64x2.mul(v, two<T>(w)));
    b01 = f64x2.add(b01, f64x2.mul(v, two<T>(u)));
    v = v128.load(x, 16);
    a23 = f64x2.add(a23, f64x2.mul(v, two<T>(w + 2 * sizeof<T>())));
    b23 = f64x2.add(b23, f64x2.mul(v, two<T>(u + 2 * sizeof<T>())));
    v = v128.load(x, 32);
    a45 = f64x2.add(a45, f64x2.mul(v, two<T>(w + 4 * sizeof<T>())));
    b45 = f64x2.add(b45, f64x2.mul(v, two<T>(u + 4 * sizeof<T>())));
    v = v128.load(x, 48);
    a67 = f64x2.add(a67, f64x2.mul(v, two<T>(w + 6 * sizeof<T>())));
    b67 = f64x2.add(b67, f64x2.mul(v, two<T>(u + 6 * sizeof<T>())));
    x += 64;
    w += 8 * sizeof<T>();
    u += 8 * sizeof<T>();
  }
  store<f64>(out, joinLanes(a01, a23, a45, a67));
  store<f64>(out, joinLanes(b01, b23, b45, b67), 8);
}
