/** Copies of rows: how often each row comes, and images moved by one pixel (deviation 32), as a classifier should not depend on such a shift. */

import { RanksimError } from "../errors.ts";
import { Dense } from "./dense.ts";
import { sameType } from "./values.ts";

/** Where a copy takes its pixels from: columns to the right, lines down. */
const MOVES = [
  [1, 0],
  [-1, 0],
  [0, 1],
  [0, -1],
] as const;

/** Copies of an image at most: it is moved in one direction for each. */
export const MOST_COPIES = MOVES.length;

/** What a fit is told about rows of which some are copies. */
export interface Copied {
  /** How often each row comes: copy c of row r is row c * rows / copies + r. Labels and weights are of the first ones. */
  readonly copies?: number;
}

/** The number of rows that are not copies. Refuses (code "bad-params") copies that do not go into the rows. */
export function rowsWithoutCopies({ rows }: { readonly rows: number }, { copies = 1 }: Copied): number {
  if (Number.isInteger(copies) && copies > 0 && rows % copies === 0) return rows / copies;
  throw new RanksimError(
    "bad-params",
    `copies: expected a whole number that divides the ${rows} rows, found ${copies}`,
  );
}

/** Pixels of a line of an image, and the values of a pixel, which lie together. */
interface Lines {
  readonly width: number;
  readonly channels: number;
}

/**
 * Copy `copy` (from 1 to 4) of images whose first has the number `first`: each is moved by a pixel, and images that follow each other
 * in different directions, so that of few copies all directions occur.
 */
export function shiftedCopy(x: Dense, lines: Lines, copy: number, first = 0): Dense {
  const { rows, features: n, values } = x;
  const out = sameType(values, rows * n);
  const places = placesOf(n, lines);
  for (let r = 0; r < rows; r++) {
    const from = places[(first + r + copy - 1) % places.length];
    for (let i = 0; i < n; i++) out[r * n + i] = values[r * n + from[i]];
  }
  return Dense.of(out, rows, n);
}

/** For each move, where a value comes from. What comes in at an edge repeats the edge. */
function placesOf(features: number, { width, channels }: Lines): Uint32Array[] {
  const pixels = features / channels;
  return MOVES.map(([right, down]) => {
    const from = new Uint32Array(features);
    for (let i = 0; i < features; i++) {
      const pixel = Math.floor(i / channels);
      const line = inside(Math.floor(pixel / width) + down, pixels / width);
      from[i] = (line * width + inside((pixel % width) + right, width)) * channels + (i % channels);
    }
    return from;
  });
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
