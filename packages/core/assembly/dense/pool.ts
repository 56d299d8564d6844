/**
 * Images to pooled similarities of their windows, as `src/kernels/patches.ts` defines them, one image after the other:
 * windows, responses, the strongest filters and the sums of cells follow each other in scratch, so that no matrix of
 * windows or responses ever exists.
 *
 * Values are stored minus 128 and ranks minus (n + 1). All filters have the same sum of ranks, so this shifts all responses of a window equally,
 * and similarities depend on differences alone.
 */

import * as slot from "../../src/backends/wasm/dense/pool-slots";
import { addSimilarities, fillMoves, selectBytes, strongestPacked, strongestWide } from "./pool-select";
import { products } from "./tile";

/** Bytes beyond the end of an array that may be read or written. */
const SLACK: usize = 32;

/** Images (16 bits a value), four windows and their cells, responses of four windows, the selection's room, sums. */
// @ts-ignore: decorator
@inline
function imageBytes(context: usize): usize {
  return round16((load<usize>(context, slot.IMAGE_VALUES) << 1) + SLACK);
}

// @ts-ignore: decorator
@inline
function windowBytes(context: usize): usize {
  return round16((load<usize>(context, slot.WINDOW_VALUES) << 1) + SLACK);
}

// @ts-ignore: decorator
@inline
function responseBytes(context: usize): usize {
  return ((load<usize>(context, slot.PATCH_FILTERS) + 7) & ~7) << 2;
}

// @ts-ignore: decorator
@inline
function sumBytes(context: usize): usize {
  return round16(sumCount(context) << 2);
}

// @ts-ignore: decorator
@inline
function round16(bytes: usize): usize {
  return (bytes + 15) & ~15;
}

/** Bytes that `pool_patches` needs. */
export function scratch_patches(context: usize): usize {
  const windows: usize = (windowBytes(context) + responseBytes(context)) << 2;
  return imageBytes(context) + windows + selectBytes(responseBytes(context), load<i32>(context, slot.BEST)) + sumBytes(context);
}

/** Pools the images [from, to). */
export function pool_patches(from: u32, to: u32, scratch: usize, context: usize): u32 {
  const image = scratch;
  const windows = image + imageBytes(context);
  const responses = windows + 4 * windowBytes(context);
  const room = responses + 4 * responseBytes(context);
  const sums = room + selectBytes(responseBytes(context), load<i32>(context, slot.BEST));
  fillMoves(room);
  for (let r = from; r < to; r++) {
    const bytes = load<usize>(context, slot.IMAGES) + <usize>r * load<usize>(context, slot.IMAGE_BYTES);
    openImage(bytes, load<usize>(context, slot.IMAGE_VALUES), image);
    memory.fill(sums, 0, sumBytes(context));
    poolImage(context, image, windows, responses, room, sums);
    const out = load<usize>(context, slot.POOLED) + <usize>r * load<usize>(context, slot.POOLED_BYTES);
    if (load<u32>(context, slot.BYTE_LIMIT)) closeBytes(context, sums, out);
    else closeSums(context, sums, out);
  }
  return 0;
}

/** Bytes to 16-bit numbers minus 128. Reads and writes a little beyond the end. */
function openImage(bytes: usize, values: usize, image: usize): void {
  const middle = i16x8.splat(128);
  for (let i: usize = 0; i < values; i += 8) {
    v128.store(image + (i << 1), i16x8.sub(v128.load8x8_u(bytes + i), middle));
  }
}

/** Adds the similarities of all windows of an image to the sums of their cells. */
function poolImage(context: usize, image: usize, windows: usize, responses: usize, room: usize, sums: usize): void {
  const across = load<u32>(context, slot.ACROSS);
  const down = load<u32>(context, slot.DOWN);
  const cellsAcross = load<u32>(context, slot.CELLS_ACROSS);
  const cellsDown = load<u32>(context, slot.CELLS_DOWN);
  const right = load<usize>(context, slot.STEP_RIGHT) << 1;
  const downward = load<usize>(context, slot.STEP_DOWN) << 1;
  const cellBytes = load<usize>(context, slot.PATCH_FILTERS) << 2;
  const apart = windowBytes(context);
  let waiting: u32 = 0;
  let cell0: usize = 0;
  let cell1: usize = 0;
  let cell2: usize = 0;
  for (let y: u32 = 0; y < down; y++) {
    const line = sums + <usize>(((y * cellsDown) / down) * cellsAcross) * cellBytes;
    let corner = image + <usize>y * downward;
    for (let x: u32 = 0; x < across; x++, corner += right) {
      // Windows without contrast add nothing.
      if (!copyWindow(context, corner, windows + <usize>waiting * apart)) continue;
      const cell = line + <usize>((x * cellsAcross) / across) * cellBytes;
      if (waiting < 3) {
        if (waiting == 0) cell0 = cell;
        else if (waiting == 1) cell1 = cell;
        else cell2 = cell;
        waiting++;
        continue;
      }
      respondFour(context, windows, responses);
      addWindow(context, responses, 0, room, cell0);
      addWindow(context, responses, 1, room, cell1);
      addWindow(context, responses, 2, room, cell2);
      addWindow(context, responses, 3, room, cell);
      waiting = 0;
    }
  }
  if (waiting == 0) return;
  respondFour(context, windows, responses); // the places that no window took hold earlier numbers, which are not read
  addWindow(context, responses, 0, room, cell0);
  if (waiting > 1) addWindow(context, responses, 1, room, cell1);
  if (waiting > 2) addWindow(context, responses, 2, room, cell2);
}

/** Copies a window and fills it up to a multiple of 8 values with its first; returns whether its values differ. */
function copyWindow(context: usize, corner: usize, out: usize): bool {
  const bytes = load<usize>(context, slot.PATCH_LINE) << 1;
  const lines = load<u32>(context, slot.PATCH_LINES);
  const lineBytes = load<usize>(context, slot.LINE_VALUES) << 1;
  const first = v128.load16_splat(corner);
  let at = out;
  for (let j: u32 = 0; j < lines; j++, corner += lineBytes, at += bytes) {
    // What is written beyond the line is written over by the next one.
    for (let i: usize = 0; i < bytes; i += 16) v128.store(at + i, v128.load(corner + i));
  }
  v128.store(at, first);
  const end = out + (load<usize>(context, slot.WINDOW_VALUES) << 1);
  let differ = i16x8.splat(0);
  for (let i = out; i < end; i += 16) differ = v128.or(differ, v128.xor(v128.load(i), first));
  return v128.any_true(differ);
}

/** Responses of four windows to all filters; where both fit 32 bits, the response above, and below it the filter, lower ones larger. */
function respondFour(context: usize, windows: usize, responses: usize): void {
  const apart = windowBytes(context);
  const bits = load<i32>(context, slot.ID_BITS);
  const filters = load<i32>(context, slot.PATCH_FILTERS);
  const outStride = responseBytes(context);
  // Zeros beyond n need not be multiplied, but for one where n is odd.
  const bytes = (<usize>(load<u32>(context, slot.PATCH_LINE) * load<u32>(context, slot.PATCH_LINES) + 1) & ~1) << 1;
  let panel = load<usize>(context, slot.PATCH_PANEL);
  const last = bits ? (1 << bits) - 1 : 0;
  let low = i32x4.sub(i32x4.splat(last), i32x4(0, 1, 2, 3));
  let high = i32x4.sub(low, i32x4.splat(4));
  const step = i32x4.splat(8);
  if (!bits) {
    low = i32x4.splat(0);
    high = low;
  }
  const second = windows + apart;
  const third = second + apart;
  const fourth = third + apart;
  for (let f = 0, out = responses; f < filters; f += 8, out += 32) {
    products<u32>(windows, second, third, fourth, panel, bytes, bits, low, high, out, outStride);
    panel += bytes << 3;
    if (!bits) continue;
    low = i32x4.sub(low, step);
    high = i32x4.sub(high, step);
  }
  // Places beyond the last filter are weaker than any filter.
  const places = (filters + 7) & ~7;
  for (let f = filters; f < places; f++) {
    const at = responses + (<usize>f << 2);
    store<i32>(at, i32.MIN_VALUE);
    store<i32>(at + outStride, i32.MIN_VALUE);
    store<i32>(at + 2 * outStride, i32.MIN_VALUE);
    store<i32>(at + 3 * outStride, i32.MIN_VALUE);
  }
}

/** Adds the similarities of window `w` of four to its cell. */
// @ts-ignore: decorator
@inline
function addWindow(context: usize, responses: usize, w: usize, room: usize, cell: usize): void {
  const stride = responseBytes(context);
  const own = responses + w * stride;
  const best = load<i32>(context, slot.BEST);
  const bits = load<i32>(context, slot.ID_BITS);
  if (bits) addSimilarities(strongestPacked(own, stride, best, room), best, bits, cell);
  else strongestWide(own, load<i32>(context, slot.PATCH_FILTERS), best, room, cell);
}

/** Sums of an image. */
// @ts-ignore: decorator
@inline
function sumCount(context: usize): usize {
  const cells = load<usize>(context, slot.CELLS_ACROSS) * load<usize>(context, slot.CELLS_DOWN);
  return cells * load<usize>(context, slot.PATCH_FILTERS);
}

/** The sums of an image, less their last bits, in 16 bits. */
function closeSums(context: usize, sums: usize, out: usize): void {
  const count = sumCount(context);
  const shift = load<i32>(context, slot.POOLED_SHIFT);
  let e: usize = 0;
  for (; e + 8 <= count; e += 8) {
    const low = i32x4.shr_u(v128.load(sums + (e << 2)), shift);
    const high = i32x4.shr_u(v128.load(sums + (e << 2), 16), shift);
    v128.store(out + (e << 1), i16x8.narrow_i32x4_s(low, high));
  }
  for (; e < count; e++) store<u16>(out + (e << 1), <u16>(load<u32>(sums + (e << 2)) >> shift));
}

/** Half of 2^24, the unit of the factor. */
const HALF = 1 << 23;

/** The sums of an image as bytes (`byteOf`). No product and half exceeds 32 bits, and no byte 255. */
function closeBytes(context: usize, sums: usize, out: usize): void {
  const count = sumCount(context);
  const shift = load<i32>(context, slot.POOLED_SHIFT);
  const limit = load<u32>(context, slot.BYTE_LIMIT);
  const factor = load<u32>(context, slot.BYTE_FACTOR);
  const limits = i32x4.splat(limit);
  const factors = i32x4.splat(factor);
  let e: usize = 0;
  for (; e + 16 <= count; e += 16) {
    const at = sums + (e << 2);
    const low = i16x8.narrow_i32x4_u(
      fourBytes(v128.load(at), shift, limits, factors),
      fourBytes(v128.load(at, 16), shift, limits, factors),
    );
    const high = i16x8.narrow_i32x4_u(
      fourBytes(v128.load(at, 32), shift, limits, factors),
      fourBytes(v128.load(at, 48), shift, limits, factors),
    );
    v128.store(out + e, i8x16.narrow_i16x8_u(low, high));
  }
  for (; e < count; e++) {
    store<u8>(out + e, <u8>((min(load<u32>(sums + (e << 2)) >> shift, limit) * factor + HALF) >> 24));
  }
}

// @ts-ignore: decorator
@inline
function fourBytes(sums: v128, shift: i32, limits: v128, factors: v128): v128 {
  const cut = i32x4.min_u(i32x4.shr_u(sums, shift), limits);
  return i32x4.shr_u(i32x4.add(i32x4.mul(cut, factors), i32x4.splat(HALF)), 24);
}
