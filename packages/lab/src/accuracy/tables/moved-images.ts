/** Copies of images moved by a pixel, for a classifier to learn from as well. */

import { Dense, type Matrix, toDense } from "@ranksim/core";

/** Where a copy takes its pixels from: columns to the right, lines down. The first is the image as it is. */
const MOVES = [
  [0, 0],
  [1, 0],
  [-1, 0],
  [0, 1],
  [0, -1],
] as const;

/** The square images, then all of them moved in one direction after the other, edges repeated. `copies`: how often each comes. */
export function withMovedImages(x: Matrix): { readonly x: Dense; readonly copies: number } {
  const { rows, features, values } = toDense(x);
  const width = Math.sqrt(features);
  const inside = (place: number) => Math.max(0, Math.min(width - 1, place));
  const out = new (values.constructor as new (length: number) => typeof values)(MOVES.length * values.length);
  for (const [copy, [right, down]] of MOVES.entries()) {
    for (let i = 0; i < features; i++) {
      const from = inside(Math.floor(i / width) + down) * width + inside((i % width) + right);
      for (let r = 0; r < rows; r++) out[(copy * rows + r) * features + i] = values[r * features + from];
    }
  }
  return { x: Dense.of(out, MOVES.length * rows, features), copies: MOVES.length };
}
