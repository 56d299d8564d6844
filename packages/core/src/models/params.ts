/**
 * The parameters of the estimators: types, defaults and one description each, from which command line and page are
 * made. `parameter.ts` checks them.
 */

import type { CalibrationMethod } from "../beyond/probabilities/fitted.ts";
import type { ThresholdRule } from "../beyond/probabilities/thresholds.ts";
import type { ClassWeight } from "../paper/allocate.ts";
import type { DistributionSpec } from "../paper/distribution.ts";
import type { FilterFunction } from "../paper/filter-function.ts";
import type { Initialize } from "../paper/initialize.ts";
import type { Spreading } from "../paper/spread.ts";
import type { Combine, Decision } from "../paper/vote.ts";
import { CALIBRATE, N_BEST, type Need, type ParameterInfo, THRESHOLDS } from "./parameter.ts";

/** Parameters all three estimators have. */
export interface FilterParams {
  /** Number of filters, or "auto": by the number of rows, see `fastFilters` and `maxFilters`. */
  readonly filters: "auto" | number;
  /** "auto": up to this many rows, one filter each; above, at least this many filters. */
  readonly fastFilters: number;
  /** "auto": never more than this many filters, unless there are more classes that train separately. */
  readonly maxFilters: number;
  /** How the first filters are chosen. */
  readonly initialize: Initialize;
  /** How filters move. */
  readonly spreading: Spreading;
  /** Maximum number of spreading iterations. */
  readonly iterations: number;
  /** Spreading stops when at most this fraction of the rows changes filter. */
  readonly tolerance: number;
  /** What a filter's weights are drawn from: ranks, Savage scores, the confusion of features, or ascending values of your own. */
  readonly distribution: DistributionSpec;
  /** How the confusion of features is estimated; "auto": histogram for whole numbers, kde otherwise. */
  readonly density: "auto" | "histogram" | "kde";
  /** Rows, drawn with the seed, that confusion is estimated from. */
  readonly confusionRows: number;
  /** How a group of rows becomes a filter. */
  readonly filterFunction: FilterFunction;
  /** Filters per row whose similarity counts (deviation 22). */
  readonly nBest: number;
  /** Whether the model keeps the sums of its filters' rows, so that `partialFit` can add rows to it (deviation 26). */
  readonly keepSums: boolean;
  /** Seed for all random choices. */
  readonly seed: number;
}

/** Parameters of estimators that train on all rows together. */
export interface WholeParams extends FilterParams {
  /** Rows to start from, one for each filter, in place of `initialize` and `filters`. */
  readonly initialRows: readonly number[] | undefined;
}

/** Parameters of the probabilistic classifier. */
export interface ProbabilisticParams extends WholeParams {
  /** How the label shares of similar filters become one: the largest product with similarity, or their weighted mean (deviation 28). */
  readonly combine: Combine;
  /** From which probability on a row has a label: one half, one value for all labels, or one for each (deviation 29). */
  readonly thresholds: "none" | ThresholdRule;
  /** How probabilities are fitted to rows that are held out of training; "none": they are the method's own (deviation 27). */
  readonly calibrate: "none" | CalibrationMethod;
}

/** Parameters of the classifier. */
export interface ClassifierParams extends FilterParams {
  /** Rows to start from for each class, in the order of the sorted classes, in place of `initialize` and `filters`. */
  readonly initialRows: readonly (readonly number[])[] | undefined;
  /** How filters are divided among classes. */
  readonly classWeight: ClassWeight;
  /** Whether each class has a distribution of its own (deviation 8). */
  readonly distributionPerClass: boolean;
  /** How probabilities are fitted to rows that are held out of training; "none": they are the method's own (deviation 27). */
  readonly calibrate: "none" | CalibrationMethod;
  /** Banks trained separately whose class scores are summed; `filters` counts those of all banks (deviation 30). */
  readonly committee: number;
  /** Supervised refinement of the filters; kept only where held-out rows show that it helps (deviation 31). */
  readonly refine: boolean;
  /** Maximum number of refinement epochs. */
  readonly refineEpochs: number;
  /** Margin, from -1 to 1, beyond which a row no longer moves filters; absent: chosen on held-out rows. */
  readonly refineWindow: number | undefined;
  /** Train on all rows, and calibrate by a second fit without the last rows of each class ("last") or without drawn ones ("drawn"), or by three fits without a third each ("folds"); absent: drawn rows are held out of training. */
  readonly calibrateOn: "last" | "drawn" | "folds" | undefined;
  /** How many of the strongest filters decide the class of a row, each by its similarity (deviation 25). */
  readonly voters: number;
  /**
   * What decides the class of a row: the filters, as in the paper, whatever the probabilities are, or the largest probability. With
   * several voters probabilities are then made of their votes (deviation 38).
   */
  readonly decision: Decision;
}

/** A parameter that cannot be where rows can be added later. */
const noMoreRows: Need = { why: "no rows can be added later", of: "keepSums", among: [false] };
const SUMMED = "only sums of whole rows can be kept";

const FILTER_PARAMETERS: readonly ParameterInfo[] = [
  { name: "filters", form: "count-or-auto", default: "auto", about: "number of filters" },
  { name: "fastFilters", form: "count", default: 1000, about: "auto: up to this many rows, one filter each" },
  { name: "maxFilters", form: "count", default: 5000, about: "auto: never more filters than this" },
  {
    name: "initialize",
    form: "choice",
    choices: ["random", "plusplus", "weightedAverage"],
    default: "random",
    about: "how the first filters are chosen",
  },
  {
    name: "spreading",
    form: "choice",
    choices: ["max", "weightedAverage", "none"],
    default: "max",
    about: "how filters move",
  },
  { name: "iterations", form: "count", default: 5, about: "maximum number of spreading iterations" },
  { name: "tolerance", form: "share", default: 0.01, about: "stop when at most this fraction of rows changes filter" },
  {
    name: "distribution",
    form: "special",
    choices: ["rank", "savage", "confusion"],
    default: "rank",
    about: "distribution of the weights",
  },
  {
    name: "density",
    form: "choice",
    choices: ["auto", "histogram", "kde"],
    default: "auto",
    about: "density estimate for the confusion distribution",
  },
  { name: "confusionRows", form: "count", default: 1000, about: "rows sampled to estimate the confusion distribution" },
  {
    name: "filterFunction",
    form: "special",
    choices: ["meanRank", "medianRank", "mean"],
    default: "meanRank",
    about: "how a filter is made from its rows",
  },
  N_BEST,
  {
    name: "keepSums",
    form: "flag",
    default: false,
    about: "store what is needed to add rows later",
    needs: [
      { why: SUMMED, of: "filterFunction", among: ["meanRank"] },
      { why: SUMMED, of: "spreading", among: ["max", "none"] },
      { why: SUMMED, of: "initialize", among: ["random", "plusplus"], where: { spreading: "none", initialRows: null } },
    ],
  },
  { name: "seed", form: "seed", default: 0, about: "seed for all random choices" },
];

const INITIAL_ROWS: ParameterInfo = {
  name: "initialRows",
  form: "special",
  default: null,
  about: "training rows to initialise the filters from",
};

/** Parameters of the transform. */
export const WHOLE_PARAMETERS: readonly ParameterInfo[] = [...FILTER_PARAMETERS, INITIAL_ROWS];

/** Parameters of the probabilistic classifier. */
export const PROBABILISTIC_PARAMETERS: readonly ParameterInfo[] = [
  ...WHOLE_PARAMETERS,
  {
    name: "combine",
    form: "choice",
    choices: ["max", "mean"],
    default: "max",
    about: "how label frequencies of similar filters are combined",
  },
  THRESHOLDS,
  CALIBRATE,
];

/** Parameters of the classifier. */
export const CLASSIFIER_PARAMETERS: readonly ParameterInfo[] = [
  ...FILTER_PARAMETERS.map((info) => (info.name === "maxFilters" ? { ...info, default: 10_000 } : info)),
  INITIAL_ROWS,
  {
    name: "classWeight",
    form: "special",
    choices: ["proportional", "uniform"],
    default: "proportional",
    about: "how filters are divided among classes",
  },
  {
    name: "distributionPerClass",
    form: "flag",
    default: false,
    about: "estimate the weight distribution separately for each class",
  },
  CALIBRATE,
  {
    name: "calibrateOn",
    form: "choice",
    choices: ["last", "drawn", "folds"],
    default: null,
    about:
      "train on all rows, and calibrate on the last rows of each class or on drawn ones by a second fit, or on all rows by three fits without a third each; if not given, drawn rows are held out of training",
  },
  {
    name: "committee",
    form: "count",
    default: 1,
    about: "ensemble of banks trained separately; class scores are summed",
    needs: [
      { why: "banks add up their scores", of: "voters", among: [1] },
      { why: "banks begin with rows of their own", of: "initialRows", among: [null] },
      noMoreRows,
    ],
  },
  {
    name: "refine",
    form: "flag",
    default: false,
    about: "supervised refinement of the filters",
    needs: [
      noMoreRows,
      { why: "filters are ranks of prototypes", of: "filterFunction", among: ["meanRank"] },
      { why: "filters share one distribution", of: "distributionPerClass", among: [false] },
    ],
  },
  { name: "refineEpochs", form: "count", default: 12, about: "maximum number of refinement epochs" },
  {
    name: "refineWindow",
    form: "share",
    default: null,
    about: "margin beyond which a row no longer moves filters; chosen on held-out rows if not given",
  },
  { name: "voters", form: "count", default: 1, about: "strongest filters that decide the class" },
  {
    name: "decision",
    form: "choice",
    choices: ["vote", "probability"],
    default: "vote",
    about: "what decides the class: the vote of filters, or the largest probability",
    isRare: true,
  },
];
