/** What is fitted to the answers of a trained model, on rows that it was not trained on: probabilities and thresholds. */

import type { RowSource } from "../backends/contract.ts";
import { fitCalibration, truthAmong } from "../beyond/probabilities/fit.ts";
import type { CalibrationMethod, Truth } from "../beyond/probabilities/fitted.ts";
import { chooseThresholds, type ThresholdRule } from "../beyond/probabilities/thresholds.ts";
import { RanksimError } from "../errors.ts";
import { numbersBelow } from "../kernels/rows.ts";
import type { Label, LabelSets, Labels } from "../matrix/labels.ts";
import { gatherMatrix, matchingRows, type RowsLike } from "../matrix/source.ts";
import type { Answers } from "./answers.ts";
import type { CalibrateOptions, ThresholdOptions } from "./estimator.ts";

/** What it is fitted for. */
interface Fitted {
  readonly features: number;
  readonly classes: readonly Label[];
  readonly multilabel: boolean;
}

/** Probabilities, by a method that was checked, of what is said of rows: of all by one model, or part by part, which one after the other are `all`. */
export async function calibrationFor<Y extends Label | Label[]>(
  { features, classes, multilabel }: Fitted,
  parts: readonly { readonly answers: Answers<Y>; readonly x: RowsLike }[],
  y: Labels | LabelSets,
  { method, ...run }: CalibrateOptions & { readonly method: CalibrationMethod },
  all?: RowSource,
) {
  const asked: RowSource[] = [];
  const found: Float64Array[] = [];
  for (const { answers, x } of parts) {
    const rows = await rowsToFitTo(x, features);
    asked.push(rows);
    found.push((await answers.scores(rows, run)).values as Float64Array);
  }
  const rows = all ?? asked[0];
  const scores = new Float64Array(rows.rows * classes.length);
  let at = 0;
  for (const values of found) {
    scores.set(values, at);
    at += values.length;
  }
  const truth = truthAmong(y, classes, rows.rows, multilabel);
  return fitCalibration(scores, parts[0].answers.kind, rows, truth, classes.length, method);
}

/** Thresholds for `predict`, of probabilities or of scores, chosen by F1 by a rule that was checked. */
export async function thresholdsFor<Y extends Label | Label[]>(
  { features, classes, multilabel }: Fitted,
  answers: Answers<Y>,
  ofProbabilities: boolean,
  x: RowsLike,
  y: LabelSets,
  { rule, ...run }: ThresholdOptions & { readonly rule: ThresholdRule },
) {
  if (!multilabel) throw new RanksimError("bad-params", "thresholds: expected a model of several labels per row");
  const rows = await rowsToFitTo(x, features);
  const { values } = ofProbabilities ? await answers.probabilities(rows, run) : await answers.scores(rows, run);
  const { present } = truthAmong(y, classes, rows.rows, true) as Extract<Truth, { present: unknown }>;
  return chooseThresholds(values as Float64Array, present, rule);
}

/** At least one row. Rows that are made are made once: they are read again. */
async function rowsToFitTo(x: RowsLike, features: number): Promise<RowSource> {
  const rows = matchingRows(x, features);
  if (rows.rows === 0) throw new RanksimError("empty-input", "expected at least 1 row to fit to, found none");
  return rows.made ? gatherMatrix(rows, numbersBelow(rows.rows)) : rows;
}
