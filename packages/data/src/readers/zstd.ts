/**
 * What Zstandard frames claim, and what can come out of them at most, by the headers of frames and blocks alone: so that they can be refused
 * before room is made, or before the decoder meets input on which it never ends.
 */

const SKIPPED = 0x184d2a50;
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
}

/** Bytes that the decoder needs to make `size` bytes of the frames. Throws plain errors for frames that claim more or would never end. */
export function zstdRoom(packed: Uint8Array, size: number): number {
  const { claim, most } = zstdFrames(packed);
  if (claim <= Math.max(2 * size, LEAST_WINDOW)) return most;
  throw new Error(`expected ${size} bytes when unpacked, found a claim of ${claim}`);
}

function zstdFrames(bytes: Uint8Array): ZstdFrames {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let [claim, most] = [0, 0];
  for (let at = 0; at + 8 < bytes.byteLength; ) {
    if ((view.getUint32(at, true) & 0xfffffff0) === SKIPPED) {
      at += 8 + view.getUint32(at + 4, true);
      continue;
    }
    const descriptor = bytes[at + 4];
    const isSingle = (descriptor & 0x20) !== 0;
    const window = bytes[at + 5];
    const sizeAt = at + 5 + (isSingle ? 0 : 1) + [0, 1, 2, 4][descriptor & 3];
    const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6];
    let size = 0;
    for (let i = sizeBytes - 1; i >= 0; i--) size = size * 256 + (bytes[sizeAt + i] ?? 0);
    if (sizeBytes === 2) size += 256;
    claim = Math.max(claim, sizeBytes > 0 ? size : (1 + (window & 7) / 8) * 2 ** (10 + (window >> 3)));
    at = sizeAt + sizeBytes;
    for (let isLast = false; !isLast && at + 3 <= bytes.byteLength; ) {
      const block = bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16);
      const [kind, length] = [(block >> 1) & 3, block >>> 3];
      isLast = (block & 1) === 1;
      if (kind === COMPRESSED_BLOCK && isEndless(bytes, at + 3))
        throw new Error("expected the weights of a code, found only one");
      most += kind < COMPRESSED_BLOCK ? length : MOST_BLOCK;
      at += 3 + (kind === 1 ? 1 : length);
    }
    at += descriptor & 4 ? 4 : 0;
  }
  return { claim, most };
}

/**
 * Whether the code of a block's literals is described by one symbol that has all the probability. Such a symbol takes no bits, and a decoder
 * that goes on until the bits are used up goes on for ever; no encoder writes it.
 */
function isEndless(bytes: Uint8Array, block: number): boolean {
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
