/** The parameters of the linear classifier: types, defaults and descriptions. */

import type { CalibrationMethod } from "../beyond/probabilities/fitted.ts";
import type { ThresholdRule } from "../beyond/probabilities/thresholds.ts";
import { CALIBRATE, type ParameterInfo, THRESHOLDS } from "./parameter.ts";

/** Parameters of the linear classifier. */
export interface LinearParams {
  /**
   * What errors cost beside large weights, whatever the unit of the rows: they count as if their mean squared length were 1. "auto": chosen
   * by the log loss of rows held out.
   */
  readonly c: "auto" | number;
  /** What rows count: each the same, or each class the same. */
  readonly classWeight: "proportional" | "uniform";
  /** How probabilities are fitted to rows held out in turn; "none": the logistic function of distances. */
  readonly calibrate: "none" | CalibrationMethod;
  /** From which probability on a row has a label: one half, one value for all labels, or one for each. */
  readonly thresholds: "none" | ThresholdRule;
  /** A fit has converged when no row's gradient differs from another's by more. */
  readonly tolerance: number;
  /** Most passes over the rows. */
  readonly maxIterations: number;
  /** Where the order of rows comes from. */
  readonly seed: number;
}

/** Parameters of the linear classifier. */
export const LINEAR_PARAMETERS: readonly ParameterInfo[] = [
  {
    name: "c",
    form: "positive-or-auto",
    default: "auto",
    about: "what errors cost beside large weights; auto: by the log loss of rows held out",
  },
  {
    name: "classWeight",
    form: "choice",
    choices: ["proportional", "uniform"],
    default: "proportional",
    about: "what rows count: each the same, or each class the same",
  },
  THRESHOLDS,
  { ...CALIBRATE, default: "temperature" },
  { name: "tolerance", form: "positive", default: 0.01, about: "range of gradients at which a fit has converged" },
  { name: "maxIterations", form: "count", default: 1000, about: "most passes over the rows" },
  { name: "seed", form: "seed", default: 0, about: "seed for the order of rows" },
];
