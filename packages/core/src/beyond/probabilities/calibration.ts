/**
 * From scores to probabilities that can be believed (deviation 27): which mapping, fitted on which rows, and how it is
 * applied. The scores are responses (`committee/class-scores.ts`), or label shares of the probabilistic classifier.
 */

import type { Csr } from "../../matrix/csr.ts";
import { fitRising, type Rising, valueAt } from "./isotonic.ts";
import { type Curve, fitCurve, probabilityAt } from "./logistic.ts";
import { weighByLength } from "./row-length.ts";
import { fitSparse, rootSpread } from "./spread.ts";
import { fitBeta, logShares, relateResponses, soften } from "./temperature.ts";

/**
 * "temperature": one factor for all classes, with several labels a logistic curve for each. "isotonic": after that factor a
 * rising function for each class, with several labels the function alone.
 */
export type CalibrationMethod = "temperature" | "isotonic";

/** What scores are. */
export type ScoreKind = "responses" | "shares";

/** A fitted mapping for one label per row: softmax(beta · score), then perhaps a function for each class. */
export interface ClassCalibration {
  readonly beta: number;
  /** Features that are not zero with which the scores of a row count half; 0 where the length of rows says nothing. */
  readonly halfway: number;
  /** Whether the scores of a row are divided by the root of their spread. */
  readonly isRooted: boolean;
  readonly rising: readonly Rising[] | undefined;
}

/** A fitted mapping for several labels per row: a curve over the logarithm of its share, or a function of the share. */
export type LabelCalibration = { readonly curves: readonly Curve[] } | { readonly rising: readonly Rising[] };

/**
 * Fits the mapping of one label per row. `scores` is rows x classes and is overwritten; `lengths` counts the features of sparse rows that
 * are not zero.
 */
export function calibrateClasses(
  scores: Float64Array,
  kind: ScoreKind,
  truth: Uint32Array,
  classes: number,
  method: CalibrationMethod,
  lengths?: Uint32Array,
): ClassCalibration {
  relate(scores, kind, classes);
  const fitted = lengths
    ? fitSparse(scores, truth, classes, lengths)
    : { beta: fitBeta(scores, truth, classes), halfway: 0, isRooted: false };
  const { beta, halfway, isRooted } = fitted;
  if (method === "temperature") return { ...fitted, rising: undefined };
  if (isRooted) rootSpread(scores, classes);
  if (lengths && halfway > 0) weighByLength(scores, classes, lengths, halfway);
  soften(scores, classes, beta);
  const rising = Array.from({ length: classes }, (_, c) =>
    fitRising(
      column(scores, classes, c),
      Uint8Array.from(truth, (own) => Number(own === c)),
      classes,
    ),
  );
  return { ...fitted, rising };
}

/** Fits the mapping of several labels per row. `shares` is rows x labels and is overwritten. */
export function calibrateLabels(shares: Float64Array, present: Csr, method: CalibrationMethod): LabelCalibration {
  const { rows, features: labels } = present;
  const has = new Uint8Array(rows * labels);
  for (let r = 0; r < rows; r++) {
    for (let e = present.offsets[r]; e < present.offsets[r + 1]; e++) has[r * labels + present.indices[e]] = 1;
  }
  const fitted = <T>(fit: (scores: Float64Array, isTrue: Uint8Array) => T): T[] =>
    Array.from({ length: labels }, (_, o) => fit(column(shares, labels, o), column(has, labels, o)));
  if (method === "isotonic") return { rising: fitted((scores, isTrue) => fitRising(scores, isTrue)) };
  logShares(shares);
  return { curves: fitted(fitCurve) };
}

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

/** Turns shares into the probabilities of labels, in place. */
export function applyToLabels(calibration: LabelCalibration, shares: Float64Array, labels: number): void {
  if ("rising" in calibration) {
    for (let e = 0; e < shares.length; e++) shares[e] = valueAt(calibration.rising[e % labels], shares[e]);
    return;
  }
  logShares(shares);
  for (let e = 0; e < shares.length; e++) shares[e] = probabilityAt(calibration.curves[e % labels], shares[e]);
}

function relate(scores: Float64Array, kind: ScoreKind, classes: number): void {
  if (kind === "shares") logShares(scores);
  else relateResponses(scores, classes);
}

function column<T extends Float64Array | Uint8Array>(values: T, width: number, j: number): T {
  const out = new (values.constructor as new (length: number) => T)(values.length / width);
  for (let r = 0; r < out.length; r++) out[r] = values[r * width + j];
  return out;
}
