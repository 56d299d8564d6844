/** Rows that are images, together with copies of them moved by one pixel: a classifier should not depend on such a shift. */

import { RanksimError } from "../errors.ts";
import { Dense } from "./dense.ts";
import type { Matrix } from "./matrix.ts";
import { sameType } from "./values.ts";

/** Where a copy takes its pixels from: columns to the right, lines down. The first is the image as it is. */
const MOVES = [
  [0, 0],
  [1, 0],
  [-1, 0],
  [0, 1],
  [0, -1],
] as const;

/** The image itself and its copies. */
export const COPIES = MOVES.length;

/**
 * All rows as they are, then all of them moved by a pixel in one direction after the other: copy c of row r is row
 * c * rows + r. What comes in at an edge repeats the edge. Refuses (code "bad-params") rows that are not images of that width.
 */
export function withShifted(x: Matrix, width: number): Dense {
  if (x.form !== "dense") {
    throw new RanksimError(
      "bad-params",
      "shiftImages: expected dense rows, one number for each pixel, found sparse rows",
    );
  }
  const { rows, features: n, values } = x;
  if (n % width !== 0) {
    throw new RanksimError(
      "bad-params",
      `shiftImages: expected a width that divides the ${n} features of a row, found ${width}`,
    );
  }
  const lines = n / width;
  const out = sameType(values, COPIES * rows * n);
  const from = new Uint32Array(n);
  for (const [copy, [right, down]] of MOVES.entries()) {
    for (let i = 0; i < n; i++) {
      const line = inside(Math.floor(i / width) + down, lines);
      from[i] = line * width + inside((i % width) + right, width);
    }
    for (let r = 0, at = copy * rows * n; r < rows; r++, at += n) {
      for (let i = 0; i < n; i++) out[at + i] = values[r * n + from[i]];
    }
  }
  return Dense.of(out, COPIES * rows, n);
}

const inside = (place: number, size: number): number => Math.max(0, Math.min(size - 1, place));

/** The listed rows, of `rows` in all, and their copies. */
export function copiesOf(listed: Uint32Array, rows: number, copies: number): Uint32Array {
  const all = new Uint32Array(listed.length * copies);
  for (let at = 0; at < all.length; at++) {
    all[at] = listed[at % listed.length] + Math.floor(at / listed.length) * rows;
  }
  return all;
}
