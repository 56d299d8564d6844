/** What is fitted to make probabilities of scores (deviation 27), and the bounds of its numbers. `calibration.ts` applies it, `fit.ts` fits it. */

import type { Csr } from "../../matrix/csr.ts";

/**
 * "temperature": one factor for all classes, with several labels a logistic curve for each. "isotonic": after that factor a
 * rising function for each class, with several labels the function alone.
 */
export type CalibrationMethod = "temperature" | "isotonic";

/** What is true of rows: the class of each, or its labels. */
export type Truth = { readonly codes: Uint32Array } | { readonly present: Csr };

/** What is true of the listed rows. */
export const truthAt = (truth: Truth, rows: Uint32Array): Truth =>
  "present" in truth ? { present: truth.present.gather(rows) } : { codes: rows.map((r) => truth.codes[r]) };

/** The largest factor; scores that far apart are certainties already. */
export const LARGEST_BETA = 2 ** 20;
/** The largest `halfway`: longer rows are rare. */
export const LARGEST_HALFWAY = 2 ** 16;
/** No number of a fitted curve exceeds this. */
export const LARGEST_TERM = 1e6;

/** A fitted mapping for one label per row: softmax(beta · score), then perhaps a function for each class. */
export interface ClassCalibration {
  readonly beta: number;
  /** Features that are not zero with which the scores of a row count half; 0 where the length of rows says nothing. */
  readonly halfway: number;
  /** Whether the scores of a row are divided by the root of their spread. */
  readonly isRooted: boolean;
  readonly rising: readonly Rising[] | undefined;
}

/** A fitted mapping for several labels per row: a curve over the logarithm of its share or its distance, or a function of the share. */
export type LabelCalibration = { readonly curves: readonly Curve[] } | { readonly rising: readonly Rising[] };

/** Points of a rising function: straight between them, flat beyond the first and the last. */
export interface Rising {
  /** Ascending. */
  readonly scores: Float64Array;
  /** Not falling, between 0 and 1 and neither of them. */
  readonly values: Float64Array;
}

/** 1 / (1 + exp(−(slope · score + offset))). */
export interface Curve {
  readonly slope: number;
  readonly offset: number;
}
