/**
 * What Zstandard frames claim, and what can come out of them at most, by the headers of frames and blocks alone: so that they can be refused
 * before room is made, or before the decoder meets input on which it never ends. The check sum of a frame, which the decoder reads over.
 */

import type { Account } from "../budget.ts";
import { Xxh64 } from "../xxh64.ts";

/** How frames begin that hold no content, but for the last four bits. */
export const SKIPPABLE = 0x184d2a50;
const MOST_BLOCK = 2 ** 17;
/** Windows that encoders take whatever the size. */
const LEAST_WINDOW = 2 ** 23;
const COMPRESSED_BLOCK = 2;
const COMPRESSED_LITERALS = 2;

/** What the headers say. */
interface ZstdFrames {
  /** The largest content or window that a frame asks room for. */
  readonly claim: number;
  /** No more bytes than this come out. */
  readonly most: number;
  /** Where the check sum of the content stands, if it is that of all of it: if there is one frame, and it has a sum. */
  readonly sumAt: number | undefined;
}

/** Undoes a page or a buffer that makes `size` bytes, and checks its sum where it has one. Throws plain errors. */
export function unpackZstd(
  packed: Uint8Array,
  size: number,
  decode: (packed: Uint8Array) => Uint8Array,
  account: Account,
): Uint8Array {
  account.take(size + zstdRoom(packed, size));
  const plain = decode(packed);
  const { sumAt } = zstdFrames(packed);
  if (sumAt === undefined) return plain;
  const sum = new Xxh64();
  sum.update(plain);
  const stored = new DataView(packed.buffer, packed.byteOffset).getUint32(sumAt, true);
  if (stored === sum.low) return plain;
  throw new Error("it is damaged: the check sum of a Zstandard frame is that of other bytes");
}

/** Bytes that the decoder needs to make `size` bytes of the frames. Throws plain errors for frames that claim more or would never end. */
export function zstdRoom(packed: Uint8Array, size: number): number {
  const { claim, most } = zstdFrames(packed);
  if (claim <= Math.max(2 * size, LEAST_WINDOW)) return most;
  throw new Error(`expected ${size} bytes when unpacked, found a claim of ${claim}`);
}

/** What the header of a frame says. */
interface FrameHeader {
  /** Bytes of the header, with the four that every frame begins with. */
  readonly length: number;
  /** Bytes of the content, where it says so. */
  readonly size: number | undefined;
  /** Bytes of the window, where it does not. */
  readonly window: number;
  /** Whether a check sum follows the last block. */
  readonly hasSum: boolean;
}

/** The header of a frame. Its length is known from the fifth byte; the other bytes must be there before the sizes mean anything. */
export function readFrameHeader(bytes: Uint8Array, at: number): FrameHeader {
  const descriptor = bytes[at + 4];
  if ((descriptor & 8) !== 0) throw new Error("expected the header of a frame, found one of an unknown kind");
  const isSingle = (descriptor & 0x20) !== 0;
  const window = bytes[at + 5];
  const sizeAt = at + 5 + (isSingle ? 0 : 1) + [0, 1, 2, 4][descriptor & 3];
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6];
  let size = 0;
  for (let i = sizeBytes - 1; i >= 0; i--) size = size * 256 + (bytes[sizeAt + i] ?? 0);
  if (sizeBytes === 2) size += 256;
  return {
    length: sizeAt + sizeBytes - at,
    size: sizeBytes > 0 ? size : undefined,
    window: (1 + (window & 7) / 8) * 2 ** (10 + (window >> 3)),
    hasSum: (descriptor & 4) !== 0,
  };
}

function zstdFrames(bytes: Uint8Array): ZstdFrames {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let [claim, most, frames] = [0, 0, 0];
  let sumAt: number | undefined;
  for (let at = 0; at + 8 < bytes.byteLength; ) {
    if ((view.getUint32(at, true) & 0xfffffff0) === SKIPPABLE) {
      at += 8 + view.getUint32(at + 4, true);
      continue;
    }
    const { length: headerLength, size, window, hasSum } = readFrameHeader(bytes, at);
    claim = Math.max(claim, size ?? window);
    frames++;
    at += headerLength;
    for (let isLast = false; !isLast && at + 3 <= bytes.byteLength; ) {
      const block = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16);
      const [kind, length] = [(block >> 1) & 3, block >>> 3];
      isLast = (block & 1) === 1;
      if (kind === COMPRESSED_BLOCK && isEndless(bytes, at + 3))
        throw new Error("expected the weights of a code, found only one");
      most += kind < COMPRESSED_BLOCK ? length : MOST_BLOCK;
      at += 3 + (kind === 1 ? 1 : length);
    }
    sumAt = hasSum && frames === 1 && at + 4 <= bytes.byteLength ? at : undefined;
    at += hasSum ? 4 : 0;
  }
  return { claim, most, sumAt };
}

/**
 * Whether the code of a block's literals is described by one symbol that has all the probability. Such a symbol takes no bits, and a decoder
 * that goes on until the bits are used up goes on for ever; no encoder writes it.
 */
export function isEndless(bytes: Uint8Array, block: number): boolean {
  if ((bytes[block] & 3) !== COMPRESSED_LITERALS) return false;
  const tree = block + [3, 3, 4, 5][(bytes[block] >> 2) & 3];
  if (bytes[tree] >= 128) return false;
  const accuracy = (bytes[tree + 1] & 15) + 5;
  const all = 2 ** accuracy;
  const bitsAt = (bit: number, count: number): number => {
    const at = tree + 1 + (bit >> 3);
    const three = (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16);
    return (three >> (bit & 7)) & (2 ** count - 1);
  };
  // Probabilities come one by one, those of 0 with a count of how many more are 0.
  for (let [symbol, bit] = [0, 4]; symbol < 256; symbol++) {
    const short = bitsAt(bit, accuracy);
    const few = all - 2; // values below this take one bit less
    const long = bitsAt(bit, accuracy + 1);
    const probability = (short < few ? short : long >= all ? long - few : long) - 1;
    bit += short < few ? accuracy : accuracy + 1;
    if (probability !== 0) return probability === all;
    for (let more = 3; more === 3; bit += 2) {
      more = bitsAt(bit, 2);
      symbol += more;
      if (symbol > 255) return false;
    }
  }
  return false;
}
