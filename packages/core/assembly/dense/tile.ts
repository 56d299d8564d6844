/**
 * Products of many 16-bit vectors with many: four vectors against a block of eight kept in a packed panel, all sums in
 * registers. In a panel two neighbouring numbers of one vector lie together (one 32-bit word), the words of the eight
 * vectors of a block follow each other, so one multiplication serves four vectors and no sum across a register is needed.
 */

/** Bytes of a panel of `count` vectors (a multiple of 8) of `length` numbers (even). */
// @ts-ignore: decorator
@inline
export function panelBytes(count: i32, length: i32): usize {
  return <usize>count * (<usize>length << 1);
}

/** Packs the vector number `order[p]` (or p) of `vectors` to place p, for p in [from, to). */
export function packPanel(
  vectors: usize, // in: 16-bit vectors
  strideBytes: usize, // in: bytes from one to the next
  length: i32, // in: numbers to take of each, even
  order: usize, // in: u32 per place; 0: as they come
  from: i32,
  to: i32,
  panel: usize, // out
): void {
  const blockBytes = panelBytes(8, length);
  for (let p = from; p < to; p++) {
    const which: usize = order == 0 ? <usize>p : <usize>load<u32>(order + (<usize>p << 2));
    const vector = vectors + which * strideBytes;
    let at = panel + <usize>(p >> 3) * blockBytes + (<usize>(p & 7) << 2);
    for (let i: usize = 0; i < <usize>length << 1; i += 4, at += 32) store<u32>(at, load<u32>(vector + i));
  }
}

/**
 * Products of four vectors with the eight of one block. What becomes of a sum is decided where it is compiled: `i32` stores it, `i16`
 * its upper half, `u32` the sum shifted left by `bits`, with `low` or `high` added. One body for all, with sums that never leave
 * registers.
 */
// @ts-ignore: decorator
@inline
export function products<T>(
  x0: usize,
  x1: usize,
  x2: usize,
  x3: usize,
  block: usize, // in: one block of a panel
  bytes: usize, // in: twice the length of the vectors
  bits: i32,
  low: v128,
  high: v128,
  out: usize, // out: rows `outStride` bytes apart
  outStride: usize,
): void {
  let a00 = i32x4.splat(0);
  let a01 = a00;
  let a10 = a00;
  let a11 = a00;
  let a20 = a00;
  let a21 = a00;
  let a30 = a00;
  let a31 = a00;
  for (let i: usize = 0; i < bytes; i += 4) {
    const f0 = v128.load(block);
    const f1 = v128.load(block, 16);
    block += 32;
    let x = v128.load32_splat(x0 + i);
    a00 = i32x4.add(a00, i32x4.dot_i16x8_s(x, f0));
    a01 = i32x4.add(a01, i32x4.dot_i16x8_s(x, f1));
    x = v128.load32_splat(x1 + i);
    a10 = i32x4.add(a10, i32x4.dot_i16x8_s(x, f0));
    a11 = i32x4.add(a11, i32x4.dot_i16x8_s(x, f1));
    x = v128.load32_splat(x2 + i);
    a20 = i32x4.add(a20, i32x4.dot_i16x8_s(x, f0));
    a21 = i32x4.add(a21, i32x4.dot_i16x8_s(x, f1));
    x = v128.load32_splat(x3 + i);
    a30 = i32x4.add(a30, i32x4.dot_i16x8_s(x, f0));
    a31 = i32x4.add(a31, i32x4.dot_i16x8_s(x, f1));
  }
  storeEight<T>(a00, a01, bits, low, high, out);
  storeEight<T>(a10, a11, bits, low, high, out + outStride);
  storeEight<T>(a20, a21, bits, low, high, out + 2 * outStride);
  storeEight<T>(a30, a31, bits, low, high, out + 3 * outStride);
}

// @ts-ignore: decorator
@inline
function storeEight<T>(first: v128, second: v128, bits: i32, low: v128, high: v128, out: usize): void {
  if (sizeof<T>() == 2) {
    v128.store(out, i16x8.narrow_i32x4_s(i32x4.shr_s(first, 16), i32x4.shr_s(second, 16)));
  } else if (isSigned<T>()) {
    v128.store(out, first);
    v128.store(out, second, 16);
  } else {
    v128.store(out, i32x4.add(i32x4.shl(first, bits), low));
    v128.store(out, i32x4.add(i32x4.shl(second, bits), high), 16);
  }
}

/** out[r][c] = x_r · (vector c of the block), for four rows and the eight vectors of one block. */
export function tile(
  x0: usize,
  x1: usize,
  x2: usize,
  x3: usize,
  block: usize,
  bytes: usize,
  out: usize, // out: i32
  outStride: usize,
): void {
  const none = i32x4.splat(0);
  products<i32>(x0, x1, x2, x3, block, bytes, 0, none, none, out, outStride);
}

/** The upper 16 bits of the products of four vectors with all blocks of a panel: out[r][place], rows `outStride` bytes apart. */
export function coarse(
  x0: usize,
  x1: usize,
  x2: usize,
  x3: usize,
  panel: usize,
  bytes: usize, // in: twice the length of the vectors
  blocks: i32,
  out: usize, // out: i16
  outStride: usize,
): void {
  const none = i32x4.splat(0);
  const blockBytes = bytes << 3;
  for (let b = 0; b < blocks; b++) {
    products<i16>(x0, x1, x2, x3, panel, bytes, 0, none, none, out, outStride);
    panel += blockBytes;
    out += 16;
  }
}
