/**
 * Probabilities as a softmax of scores, with one factor fitted on held-out rows. Only + - * / are used, so that
 * the same rows give the same factor on every engine.
 */

import { tailExp } from "../../paper/density.ts";
import { naturalLog } from "./logarithm.ts";

/** The largest factor; scores that far apart are certainties already. */
export const LARGEST_BETA = 2 ** 20;

/** Halvings of the interval that the factor lies in: to a millionth of a millionth of itself. */
const BISECTIONS = 40;

/** Shares are raised by this before their logarithm is taken, so that a share of 0 can still be doubted. */
const SMALLEST_SHARE = 0.001;

/** Shares replaced by the logarithms of shares, in place: a factor then is a power of them. */
export function logShares(shares: Float64Array): void {
  for (let e = 0; e < shares.length; e++) shares[e] = naturalLog(shares[e] + SMALLEST_SHARE);
}

/** Responses divided by the mean size of the row's responses, in place. A row of zeros stays. */
export function relateResponses(scores: Float64Array, classes: number): void {
  for (let at = 0; at < scores.length; at += classes) {
    let size = 0;
    for (let c = 0; c < classes; c++) size += Math.abs(scores[at + c]);
    if (size === 0) continue;
    for (let c = 0; c < classes; c++) scores[at + c] /= size / classes;
  }
}

/** Replaces scores by softmax(beta · score), row by row. */
export function soften(scores: Float64Array, classes: number, beta: number): void {
  for (let at = 0; at < scores.length; at += classes) softenRow(scores, at, classes, beta, scores);
}

/**
 * The factor of the smallest log loss on rows of scores and their true classes, by bisection on its derivative, which only
 * rises. Targets leave 1 / (n + 2) to the strongest other class, so that n rows which are all right do not ask for certainty.
 */
export function fitBeta(scores: Float64Array, truth: Uint32Array, classes: number): number {
  const wanted = scores.length === 0 ? 0 : targetScore(scores, truth, classes);
  const share = new Float64Array(classes);
  const isTooLarge = (beta: number): boolean => {
    let found = 0;
    for (let at = 0; at < scores.length; at += classes) {
      softenRow(scores, at, classes, beta, share, 0);
      for (let c = 0; c < classes; c++) found += share[c] * scores[at + c];
    }
    return found > wanted;
  };
  if (isTooLarge(0)) return 0;
  let high = 1;
  while (!isTooLarge(high)) {
    if (high === LARGEST_BETA) return high;
    high *= 2;
  }
  let low = high === 1 ? 0 : high / 2;
  for (let j = 0; j < BISECTIONS; j++) {
    const middle = (low + high) / 2;
    if (isTooLarge(middle)) high = middle;
    else low = middle;
  }
  return low;
}

/** The sum over rows of the score expected under the targets; at the best factor, softmax expects the same. */
function targetScore(scores: Float64Array, truth: Uint32Array, classes: number): number {
  const doubt = 1 / (truth.length + 2);
  let sum = 0;
  for (let r = 0; r < truth.length; r++) {
    const own = scores[r * classes + truth[r]];
    let other = Number.NEGATIVE_INFINITY;
    for (let c = 0; c < classes; c++)
      if (c !== truth[r] && scores[r * classes + c] > other) other = scores[r * classes + c];
    sum += classes === 1 ? own : (1 - doubt) * own + doubt * other;
  }
  return sum;
}

/** exp is below 1e-300 beyond this. */
const VANISHING = -690;

function softenRow(scores: Float64Array, at: number, classes: number, beta: number, out: Float64Array, to = at): void {
  let largest = scores[at];
  for (let c = 1; c < classes; c++) if (scores[at + c] > largest) largest = scores[at + c];
  let sum = 0;
  for (let c = 0; c < classes; c++) {
    const power = beta * (scores[at + c] - largest);
    out[to + c] = power < VANISHING ? 0 : tailExp(power);
    sum += out[to + c];
  }
  for (let c = 0; c < classes; c++) out[to + c] /= sum;
}
