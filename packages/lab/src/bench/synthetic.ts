/**
 * Synthetic bytes for growth curves: every row is a blend of a few fixed patterns plus noise, so rows have the low-rank
 * structure that measured data have, at any number of rows and features. The same arguments give the same bytes.
 */

import { Dense } from "@ranksim/core";
import type { Part } from "./data-files.ts";

/** Patterns that rows are blends of. */
const PATTERNS = 12;
/** Largest share of one pattern in a row, and of the noise, as byte values. */
const PATTERN_HEIGHT = 60;
const NOISE_HEIGHT = 24;

/** Rows of `features` bytes in `classes` classes; a class is a preferred blend. */
export function syntheticPart(rows: number, features: number, classes: number, seed: number): Part {
  const patterns = draws(1, PATTERNS * features);
  const preferred = draws(2, classes * PATTERNS);
  const next = generator(seed);
  const values = new Uint8Array(rows * features);
  const y = new Uint8Array(rows);
  const blend = new Float64Array(features);
  for (let r = 0; r < rows; r++) {
    const c = r % classes;
    y[r] = c;
    blend.fill(0);
    for (let p = 0; p < PATTERNS; p++) {
      const share = PATTERN_HEIGHT * (0.5 * preferred[c * PATTERNS + p] + 0.5 * next());
      for (let i = 0; i < features; i++) blend[i] += share * patterns[p * features + i];
    }
    for (let i = 0; i < features; i++) {
      values[r * features + i] = Math.min(255, Math.max(0, blend[i] - 100 + NOISE_HEIGHT * next()));
    }
  }
  return { x: Dense.of(values, rows, features), y };
}

function draws(seed: number, count: number): Float64Array {
  const next = generator(seed);
  return Float64Array.from({ length: count }, () => next());
}

/** Numbers from 0 (included) to 1 (not included): a Weyl sequence, mixed. Source of the constants: the finalizer of MurmurHash3. */
function generator(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e3779b9);
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return ((z ^ (z >>> 16)) >>> 0) / 2 ** 32;
  };
}
