/** XXH32, the check sum of LZ4 frames. */

const P1 = 0x9e3779b1;
const P2 = 0x85ebca77;
const P3 = 0xc2b2ae3d;
const P4 = 0x27d4eb2f;
const P5 = 0x165667b1;

const rotate = (value: number, bits: number): number => (value << bits) | (value >>> (32 - bits));
const step = (lane: number, word: number): number => Math.imul(rotate(lane + Math.imul(word, P2), 13), P1);

/** XXH32 of bytes; the seed is 0. */
export function xxh32(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const length = bytes.byteLength;
  let at = 0;
  let sum = P5;
  if (length >= 16) {
    const lanes = Int32Array.of(P1 + P2, P2, 0, -P1);
    for (; at + 16 <= length; at += 16) {
      for (let lane = 0; lane < 4; lane++) lanes[lane] = step(lanes[lane], view.getInt32(at + 4 * lane, true));
    }
    sum = rotate(lanes[0], 1) + rotate(lanes[1], 7) + rotate(lanes[2], 12) + rotate(lanes[3], 18);
  }
  sum = (sum + length) | 0;
  for (; at + 4 <= length; at += 4) {
    sum = Math.imul(rotate((sum + Math.imul(view.getInt32(at, true), P3)) | 0, 17), P4);
  }
  for (; at < length; at++) sum = Math.imul(rotate((sum + Math.imul(bytes[at], P5)) | 0, 11), P1);
  sum = Math.imul(sum ^ (sum >>> 15), P2);
  sum = Math.imul(sum ^ (sum >>> 13), P3);
  return (sum ^ (sum >>> 16)) >>> 0;
}
