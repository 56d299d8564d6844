/** MurmurHash3 (x86, 32 bits) of a string's UTF-8 bytes, as scikit-learn hashes terms. */

const encoder = new TextEncoder();
let buffer = new Uint8Array(256);

/** The hash as a signed number. */
export function murmurHash(text: string, seed = 0): number {
  if (buffer.length < text.length * 3) buffer = new Uint8Array(Math.max(text.length * 3, buffer.length * 2));
  const { written } = encoder.encodeInto(text, buffer);
  const tail = written & ~3;
  let hash = seed;
  for (let at = 0; at < tail; at += 4) {
    hash ^= scramble(buffer[at] | (buffer[at + 1] << 8) | (buffer[at + 2] << 16) | (buffer[at + 3] << 24));
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  let rest = 0;
  for (let at = written - 1; at >= tail; at--) rest = (rest << 8) | buffer[at];
  if (written > tail) hash ^= scramble(rest);
  hash ^= written;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

function scramble(block: number): number {
  const mixed = Math.imul(block, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}
