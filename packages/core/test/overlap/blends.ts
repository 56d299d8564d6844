/** Rows like measured ones, of any width: blends of a few patterns with noise, so that bounds rule most filters out. */

import { Dense, toCsr } from "@ranksim/core";
import { drawBelow, generatorOf } from "../../src/random.ts";

const PATTERNS = 10;

/** `rows` rows of bytes in `classes` classes; row r is of class r mod classes. */
export function blends(rows: number, features: number, classes: number, seed: number): Dense {
  const fixed = generatorOf(77);
  const patterns = Uint8Array.from({ length: PATTERNS * features }, () => drawBelow(fixed, 256));
  const preferred = Uint8Array.from({ length: classes * PATTERNS }, () => drawBelow(fixed, 256));
  const generator = generatorOf(seed);
  const values = new Uint8Array(rows * features);
  const blend = new Float64Array(features);
  for (let r = 0; r < rows; r++) {
    blend.fill(0);
    for (let p = 0; p < PATTERNS; p++) {
      const share = preferred[(r % classes) * PATTERNS + p] + drawBelow(generator, 160);
      for (let i = 0; i < features; i++) blend[i] += share * patterns[p * features + i];
    }
    for (let i = 0; i < features; i++) {
      values[r * features + i] = Math.max(0, blend[i] / (256 * PATTERNS) - 40 + drawBelow(generator, 12));
    }
  }
  return Dense.of(values, rows, features);
}

/** The class of each row of `blends`. */
export const classesOf = (rows: number, classes: number): number[] =>
  Array.from({ length: rows }, (_, r) => r % classes);

/** Sparse rows: those bytes that are large. */
export function sparseBlends(rows: number, features: number, classes: number, seed: number) {
  const { values } = blends(rows, features, classes, seed);
  return toCsr(Dense.of(values.map((value) => (value > 100 ? value : 0)) as Uint8Array, rows, features));
}
