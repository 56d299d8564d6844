/** Scaling of sparse rows. */

import type { Norm } from "./params.ts";

/** Divides each row by the sum of its absolute values (l1) or the root of its sum of squares (l2); rows of zeros stay. */
export function normalizeRows(offsets: Uint32Array, values: Float64Array, norm: Norm): void {
  if (norm === "none") return;
  for (let row = 0; row + 1 < offsets.length; row++) {
    let sum = 0;
    for (let e = offsets[row]; e < offsets[row + 1]; e++) {
      sum += norm === "l1" ? Math.abs(values[e]) : values[e] * values[e];
    }
    if (sum === 0) continue;
    const length = norm === "l1" ? sum : Math.sqrt(sum);
    for (let e = offsets[row]; e < offsets[row + 1]; e++) values[e] /= length;
  }
}
