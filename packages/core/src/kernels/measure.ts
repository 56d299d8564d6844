/** Facts about rows that the method asks for: sizes, signs, zeros. */

import type { Rows } from "./shapes.ts";

/** Sum of the absolute values of each row. */
export function absoluteSums(x: Rows, out: Float64Array): void {
  for (let r = 0; r < x.rows; r++) {
    const [from, to] = entriesOfRow(x, r);
    let sum = 0;
    for (let e = from; e < to; e++) sum += Math.abs(x.values[e]);
    out[r] = sum;
  }
}

/** What some rows look like. */
export interface Looks {
  /** Values that are not zero. */
  readonly filled: number;
  readonly negative: boolean;
  readonly whole: boolean;
}

/** Looks at all values of the rows. */
export function looksOf(x: Rows): Looks {
  let filled = 0;
  let negative = false;
  let whole = true;
  const [from] = x.rows === 0 ? [0] : entriesOfRow(x, 0);
  const [, to] = x.rows === 0 ? [0, 0] : entriesOfRow(x, x.rows - 1);
  for (let e = from; e < to; e++) {
    const value = x.values[e];
    if (value !== 0) filled++;
    if (value < 0) negative = true;
    if (whole && !Number.isInteger(value)) whole = false;
  }
  return { filled, negative, whole };
}

/** Where the stored values of row r begin and end. */
export function entriesOfRow(x: Rows, r: number): [from: number, to: number] {
  return x.form === "dense" ? [r * x.features, (r + 1) * x.features] : [x.offsets[r], x.offsets[r + 1]];
}

/** The first position of the largest value in `values[from .. from + count)`, counted from `from`. */
export function indexOfLargest(values: ArrayLike<number>, from: number, count: number): number {
  let best = 0;
  for (let c = 1; c < count; c++) if (values[from + c] > values[from + best]) best = c;
  return best;
}
