/**
 * How much the scores of a row can be trusted by the number of its features that are not zero (deviation 27): among sparse rows, few
 * words part the classes as far as many do, but by chance. Scores are multiplied by n / (n + halfway) before the factor. Only + - * /
 * are used.
 */

import type { RowSource } from "../../kernels/shapes.ts";
import { rowLengths } from "../../matrix/source.ts";
import { naturalLog } from "./logarithm.ts";
import { fitBeta, soften } from "./temperature.ts";

/** The largest `halfway`: longer rows are rare. */
export const LARGEST_HALFWAY = 2 ** 16;
/** Where the search begins. */
const FIRST = 16;
/** By how much the summed log loss has to fall for one more parameter to be used: a parameter without meaning gains less. */
export const GAIN = 2;
const SMALLEST_PROBABILITY = 1e-300;

/** Rows of which at most this share is not zero are sparse: their length differs, and says how much they can be trusted. */
const SPARSE = 0.05;

/** The lengths of sparse rows; undefined of others. */
export async function sparseLengths(rows: RowSource): Promise<Uint32Array | undefined> {
  const lengths = await rowLengths(rows);
  const filled = lengths.reduce((sum, length) => sum + length, 0);
  return filled <= SPARSE * rows.rows * rows.features ? lengths : undefined;
}

/** Multiplies the scores of each row (rows x classes) by n / (n + halfway), in place; a row of zeros gets 0. */
export function weighByLength(scores: Float64Array, classes: number, lengths: Uint32Array, halfway: number): void {
  for (let r = 0; r < lengths.length; r++) {
    const trust = lengths[r] === 0 ? 0 : lengths[r] / (lengths[r] + halfway);
    for (let e = r * classes; e < (r + 1) * classes; e++) scores[e] *= trust;
  }
}

/**
 * The power of two of the smallest log loss, each with the factor that suits it; 0, which leaves scores as they are, unless that is
 * clearly better. The loss falls and then rises, so the search ends where doubling or halving makes it worse.
 */
export function fitHalfway(
  scores: Float64Array,
  truth: Uint32Array,
  classes: number,
  lengths: Uint32Array,
): { readonly halfway: number; readonly beta: number; readonly loss: number } {
  const at = (halfway: number) => {
    const own = scores.slice();
    if (halfway > 0) weighByLength(own, classes, lengths, halfway);
    const beta = fitBeta(own, truth, classes);
    soften(own, classes, beta);
    let loss = 0;
    for (let r = 0; r < truth.length; r++)
      loss -= naturalLog(Math.max(own[r * classes + truth[r]], SMALLEST_PROBABILITY));
    return { halfway, beta, loss };
  };
  let best = at(FIRST);
  for (const step of [2, 0.5]) {
    for (let next = best.halfway * step; next >= 1 && next <= LARGEST_HALFWAY; next *= step) {
      const found = at(next);
      if (!(found.loss < best.loss)) break;
      best = found;
    }
  }
  const none = at(0);
  return none.loss - best.loss > GAIN ? best : none;
}
