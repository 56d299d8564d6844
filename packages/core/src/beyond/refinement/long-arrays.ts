/** Loops over arrays of millions of numbers that let others in. */

import type { Turn } from "../../backends/contract.ts";

/** Numbers that a loop takes before it looks at the clock. */
const CHUNK = 2 ** 19;

/** Calls `work` with one range [from, to) after the other. */
export async function inChunks(length: number, turn: Turn, work: (from: number, to: number) => void): Promise<void> {
  for (let from = 0; from < length; from += CHUNK) {
    work(from, Math.min(length, from + CHUNK));
    await turn.pause();
  }
}

/** Bits that one round of a selection looks at. */
const DIGIT = 16;
const ROUNDS = 4;

/**
 * Of n positive numbers, sorted, the one at floor(share * (n - 1)); undefined if there is none. Positive float64 numbers
 * have the order of their bits, so each round finds 16 bits of the answer: sorting millions of numbers would keep
 * everybody waiting.
 */
export async function positiveQuantile(values: Float64Array, share: number, turn: Turn): Promise<number | undefined> {
  const words = new Uint32Array(values.buffer, values.byteOffset, 2 * values.length); // low word first
  const found = new Uint32Array(2);
  const mask = new Uint32Array(2);
  let left: number | undefined;
  for (let round = 0; round < ROUNDS; round++) {
    const word = round < 2 ? 1 : 0;
    const shift = round % 2 === 0 ? DIGIT : 0;
    const counts = new Uint32Array(2 ** DIGIT);
    await inChunks(values.length, turn, (from, to) => {
      for (let i = from; i < to; i++) {
        if (!(values[i] > 0)) continue;
        if ((words[2 * i + 1] & mask[1]) >>> 0 !== found[1] || (words[2 * i] & mask[0]) >>> 0 !== found[0]) continue;
        counts[(words[2 * i + word] >>> shift) & 0xffff]++;
      }
    });
    if (left === undefined) {
      const total = counts.reduce((sum, count) => sum + count, 0);
      if (total === 0) return undefined;
      left = Math.floor(share * (total - 1));
    }
    let digit = 0;
    while (left >= counts[digit]) left -= counts[digit++];
    found[word] |= digit << shift;
    mask[word] |= 0xffff << shift;
  }
  return new Float64Array(found.buffer)[0];
}
