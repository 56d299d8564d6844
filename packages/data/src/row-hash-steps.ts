/** The steps of MurmurHash3 (32 bits, x86) over words. */

/** A word as it goes into a hash. */
export function premixed(word: number): number {
  const mixed = Math.imul(word, 0xcc9e2d51);
  return Math.imul((mixed << 15) | (mixed >>> 17), 0x1b873593);
}

/** The hash after a word that is mixed already. */
export function steppedBy(hash: number, word: number): number {
  const next = hash ^ word;
  return (Math.imul((next << 13) | (next >>> 19), 5) + 0xe6546b64) | 0;
}

/** The hash after a word. */
export function mix(hash: number, word: number): number {
  return steppedBy(hash, premixed(word));
}

/** The hash at the end: every bit of it depends on all words. */
export function finish(hash: number): number {
  const first = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const second = Math.imul(first ^ (first >>> 13), 0xc2b2ae35);
  return (second ^ (second >>> 16)) >>> 0;
}
