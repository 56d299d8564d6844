/**
 * The hashes of rows of bytes, as `hashMatrix` defines them, in a quarter of its time: what a value or a position is mixed into
 * is looked up, and several rows are hashed at once, because each step of one row waits for the step before.
 */

import { premixed, steppedBy } from "./row-hash-steps.ts";

/** Hashes of rows that lie one after the other, before they are finished. */
export function hashBytes(values: Uint8Array, rows: number, features: number): Int32Array {
  const hashes = new Int32Array(rows);
  const place = premixedPlaces(features);
  let r = 0;
  for (; r + AT_ONCE <= rows; r += AT_ONCE) hashFour(values, r, features, place, hashes);
  for (; r < rows; r++) hashes[r] = hashOne(values, r * features, features, place);
  return hashes;
}

const AT_ONCE = 4;

/** What each value of a byte is mixed into: the bits of its float64. */
const VALUE: Int32Array = Int32Array.from({ length: 256 }, (_, value) => {
  const bits = new Uint32Array(Float64Array.of(value).buffer);
  return premixed(bits[0] ^ Math.imul(bits[1], 0x9e3779b1));
});

let known = new Int32Array(0);

/** What each position is mixed into. */
function premixedPlaces(features: number): Int32Array {
  if (known.length < features) known = Int32Array.from({ length: features }, (_, i) => premixed(i));
  return known;
}

function hashOne(values: Uint8Array, from: number, features: number, place: Int32Array): number {
  let hash = 0;
  for (let i = 0; i < features; i++) {
    const value = values[from + i];
    if (value !== 0) hash = steppedBy(steppedBy(hash, place[i]), VALUE[value]);
  }
  return hash;
}

/** Four rows; steps are written out, which takes half the time of calls that an engine inlines. */
function hashFour(values: Uint8Array, r: number, features: number, place: Int32Array, hashes: Int32Array): void {
  const [twice, thrice] = [2 * features, 3 * features];
  let [a, b, c, d, next] = [0, 0, 0, 0, 0];
  for (let i = 0, at = r * features; i < features; i++, at++) {
    const position = place[i];
    const va = values[at];
    const vb = values[at + features];
    const vc = values[at + twice];
    const vd = values[at + thrice];
    if (va !== 0) {
      next = a ^ position;
      next = ((Math.imul((next << 13) | (next >>> 19), 5) + 0xe6546b64) | 0) ^ VALUE[va];
      a = (Math.imul((next << 13) | (next >>> 19), 5) + 0xe6546b64) | 0;
    }
    if (vb !== 0) {
      next = b ^ position;
      next = ((Math.imul((next << 13) | (next >>> 19), 5) + 0xe6546b64) | 0) ^ VALUE[vb];
      b = (Math.imul((next << 13) | (next >>> 19), 5) + 0xe6546b64) | 0;
    }
    if (vc !== 0) {
      next = c ^ position;
      next = ((Math.imul((next << 13) | (next >>> 19), 5) + 0xe6546b64) | 0) ^ VALUE[vc];
      c = (Math.imul((next << 13) | (next >>> 19), 5) + 0xe6546b64) | 0;
    }
    if (vd !== 0) {
      next = d ^ position;
      next = ((Math.imul((next << 13) | (next >>> 19), 5) + 0xe6546b64) | 0) ^ VALUE[vd];
      d = (Math.imul((next << 13) | (next >>> 19), 5) + 0xe6546b64) | 0;
    }
  }
  hashes[r] = a;
  hashes[r + 1] = b;
  hashes[r + 2] = c;
  hashes[r + 3] = d;
}
