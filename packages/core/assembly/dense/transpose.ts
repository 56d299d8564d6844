/** Matrices of 16-bit numbers turned round, eight rows and eight columns at a time: single numbers would miss the cache. */

/** Transposes `rows` vectors of `length` numbers, both multiples of 8. */
export function transpose(from: usize, rows: i32, length: i32, to: usize): void {
  const step = <usize>length << 1;
  const stepTo = <usize>rows << 1;
  for (let r: usize = 0; r < <usize>rows; r += 8) {
    for (let i: usize = 0; i < <usize>length; i += 8) {
      transpose8(from + r * step + (i << 1), step, to + i * stepTo + (r << 1), stepTo);
    }
  }
}

/** Transposes eight by eight numbers; rows are `step` bytes apart, those of the result `stepTo`. */
export function transpose8(from: usize, step: usize, to: usize, stepTo: usize): void {
  const last = from + (step << 2);
  const r0 = v128.load(from);
  const r1 = v128.load(from + step);
  const r2 = v128.load(from + 2 * step);
  const r3 = v128.load(from + 3 * step);
  const r4 = v128.load(last);
  const r5 = v128.load(last + step);
  const r6 = v128.load(last + 2 * step);
  const r7 = v128.load(last + 3 * step);
  // Pairs of rows, then fours, then all eight: the lower halves, then the upper.
  const p0 = low16(r0, r1);
  const p1 = low16(r2, r3);
  const p2 = low16(r4, r5);
  const p3 = low16(r6, r7);
  const q0 = high16(r0, r1);
  const q1 = high16(r2, r3);
  const q2 = high16(r4, r5);
  const q3 = high16(r6, r7);
  store2(to, stepTo, low32(p0, p1), low32(p2, p3));
  store2(to + 2 * stepTo, stepTo, high32(p0, p1), high32(p2, p3));
  store2(to + 4 * stepTo, stepTo, low32(q0, q1), low32(q2, q3));
  store2(to + 6 * stepTo, stepTo, high32(q0, q1), high32(q2, q3));
}

// @ts-ignore: decorator
@inline
function low16(a: v128, b: v128): v128 {
  return v128.shuffle<i16>(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}

// @ts-ignore: decorator
@inline
function high16(a: v128, b: v128): v128 {
  return v128.shuffle<i16>(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}

// @ts-ignore: decorator
@inline
function low32(a: v128, b: v128): v128 {
  return v128.shuffle<i32>(a, b, 0, 4, 1, 5);
}

// @ts-ignore: decorator
@inline
function high32(a: v128, b: v128): v128 {
  return v128.shuffle<i32>(a, b, 2, 6, 3, 7);
}

/** Two rows of the result from the fours of upper and lower rows. */
// @ts-ignore: decorator
@inline
function store2(to: usize, stepTo: usize, a: v128, b: v128): void {
  v128.store(to, v128.shuffle<i64>(a, b, 0, 2));
  v128.store(to + stepTo, v128.shuffle<i64>(a, b, 1, 3));
}
