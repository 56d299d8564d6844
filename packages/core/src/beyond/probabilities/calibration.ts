/**
 * From scores to probabilities that can be believed (deviation 27): how what was fitted is applied. The scores are responses (`committee/committee.ts`), or label shares of the probabilistic classifier. Only + - * / and roots are
 * used, so that probabilities are the same on every engine.
 */

import { naturalLog, tailExp } from "../../kernels/exponential.ts";
import { indexOfLargest } from "../../kernels/measure.ts";
import type { ClassCalibration, Curve, LabelCalibration, Rising } from "./fitted.ts";

/** What scores are: responses of filters, shares of votes or labels, or distances from planes. */
export type ScoreKind = "responses" | "shares" | "distances";

/** Turns scores into the probabilities of classes, in place. `lengths` is needed where they count. */
export function applyToClasses(
  { beta, halfway, isRooted, rising }: ClassCalibration,
  kind: ScoreKind,
  scores: Float64Array,
  classes: number,
  lengths?: Uint32Array,
): void {
  relate(scores, kind, classes);
  if (isRooted) rootSpread(scores, classes);
  if (lengths && halfway > 0) weighByLength(scores, classes, lengths, halfway);
  soften(scores, classes, beta);
  if (!rising) return;
  for (let at = 0; at < scores.length; at += classes) {
    let sum = 0;
    for (let c = 0; c < classes; c++) {
      scores[at + c] = valueAt(rising[c], scores[at + c]);
      sum += scores[at + c];
    }
    for (let c = 0; c < classes; c++) scores[at + c] /= sum;
  }
}

/** Turns scores into the probabilities of labels, in place; where none were fitted shares are some already. */
export function applyToLabels(
  calibration: LabelCalibration | undefined,
  kind: LabelScoreKind,
  scores: Float64Array,
  labels: number,
): void {
  if (!calibration) {
    if (kind === "distances") sharesOfDistances(scores);
    return;
  }
  if ("rising" in calibration) {
    if (kind === "distances") sharesOfDistances(scores);
    for (let e = 0; e < scores.length; e++) scores[e] = valueAt(calibration.rising[e % labels], scores[e]);
    return;
  }
  if (kind === "shares") logShares(scores);
  for (let e = 0; e < scores.length; e++) scores[e] = probabilityAt(calibration.curves[e % labels], scores[e]);
}

/** What the scores of labels are. */
export type LabelScoreKind = Exclude<ScoreKind, "responses">;

/** Distances as probabilities before any were fitted, in place: two classes, of which the other one has the opposite distance. */
export function sharesOfDistances(distances: Float64Array): void {
  for (let e = 0; e < distances.length; e++) distances[e] = logistic(2 * distances[e]);
}

/** What the factor is applied to. */
export function relate(scores: Float64Array, kind: ScoreKind, classes: number): void {
  if (kind === "shares") logShares(scores);
  else if (kind === "responses") relateResponses(scores, classes);
}

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

/** Multiplies the scores of each row (rows x classes) by n / (n + halfway), in place; a row of zeros gets 0. */
export function weighByLength(scores: Float64Array, classes: number, lengths: Uint32Array, halfway: number): void {
  for (let r = 0; r < lengths.length; r++) {
    const trust = lengths[r] === 0 ? 0 : lengths[r] / (lengths[r] + halfway);
    for (let e = r * classes; e < (r + 1) * classes; e++) scores[e] *= trust;
  }
}

/**
 * Replaces the scores of each row (rows x classes) by what they differ from their mean, divided by the root of their standard deviation:
 * among sparse rows log odds grow as the root of it, not with it. Found on the training texts of 20 Newsgroups, as the lab's BEYOND.md tells.
 */
export function rootSpread(scores: Float64Array, classes: number): void {
  for (let at = 0; at < scores.length; at += classes) {
    let mean = 0;
    for (let c = 0; c < classes; c++) mean += scores[at + c];
    mean /= classes;
    let squares = 0;
    for (let c = 0; c < classes; c++) {
      scores[at + c] -= mean;
      squares += scores[at + c] * scores[at + c];
    }
    const root = Math.sqrt(Math.sqrt(squares / classes));
    if (root === 0) continue;
    for (let c = 0; c < classes; c++) scores[at + c] /= root;
  }
}

/** Replaces scores by softmax(beta · score), row by row. */
export function soften(scores: Float64Array, classes: number, beta: number): void {
  for (let at = 0; at < scores.length; at += classes) softenRow(scores, at, classes, beta, scores);
}

/** exp is below 1e-300 beyond this. */
const VANISHING = 690;

/** Writes softmax(beta · score) of one row to `out`. */
export function softenRow(
  scores: Float64Array,
  at: number,
  classes: number,
  beta: number,
  out: Float64Array,
  to = at,
): void {
  let largest = scores[at];
  for (let c = 1; c < classes; c++) if (scores[at + c] > largest) largest = scores[at + c];
  let sum = 0;
  for (let c = 0; c < classes; c++) {
    const power = beta * (scores[at + c] - largest);
    out[to + c] = power < -VANISHING ? 0 : tailExp(power);
    sum += out[to + c];
  }
  for (let c = 0; c < classes; c++) out[to + c] /= sum;
}

/** The value at a score. */
export function valueAt({ scores, values }: Rising, score: number): number {
  const last = scores.length - 1;
  if (!(score > scores[0])) return values[0];
  if (score >= scores[last]) return values[last];
  let low = 0;
  let high = last;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (scores[middle] <= score) low = middle;
    else high = middle;
  }
  const step = (score - scores[low]) / (scores[high] - scores[low]);
  return values[low] + step * (values[high] - values[low]);
}

/** The probability at a score. */
export function probabilityAt({ slope, offset }: Curve, score: number): number {
  return logistic(slope * score + offset);
}

export function logistic(z: number): number {
  const tail = tailExp(-Math.min(Math.abs(z), VANISHING));
  return z < 0 ? tail / (1 + tail) : 1 / (1 + tail);
}

/** The class that scores most in each row of rows x classes, the lowest of equals. */
export function leadersOf(scores: Float64Array, classes: number): Uint32Array {
  return Uint32Array.from({ length: scores.length / classes }, (_, r) => indexOfLargest(scores, r * classes, classes));
}

/** Less than a number by one or two units in the last place. */
const JUST_BELOW = 1 - 2 ** -52;

/**
 * Makes the leader of each row the first of the most probable classes, in place (deviation 38): rounding, or a factor of 0, may make a
 * class as probable as the one that scores most, and then the lower of the two would be the most probable.
 */
export function keepOrder(probabilities: Float64Array, leaders: Uint32Array, classes: number): void {
  for (const [r, leader] of leaders.entries()) {
    const most = probabilities[r * classes + leader];
    for (let e = r * classes; e < r * classes + leader; e++) {
      if (probabilities[e] >= most) probabilities[e] = most * JUST_BELOW;
    }
  }
}
