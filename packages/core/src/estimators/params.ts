/**
 * The parameters of the three estimators: types, defaults, one description each (from which command line and page are
 * made) and one check each. Given parameters become complete, checked and frozen ones here and nowhere else.
 */

import type { CalibrationMethod } from "../beyond/probabilities/calibration.ts";
import type { ThresholdRule } from "../beyond/probabilities/thresholds.ts";
import { RanksimError } from "../errors.ts";
import type { Json } from "../model-file/saved.ts";
import type { ClassWeight } from "../paper/allocate.ts";
import type { DistributionSpec } from "../paper/distribution.ts";
import type { FilterFunction } from "../paper/filter-function.ts";
import type { Initialize } from "../paper/initialize.ts";
import type { Spreading } from "../paper/spread.ts";
import type { Combine } from "../paper/vote.ts";

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
  /** Train on all rows, and calibrate by a second fit without the last rows of each class ("last") or without drawn ones ("drawn"); absent: drawn rows are held out of training. */
  readonly calibrateOn: "last" | "drawn" | undefined;
  /** Width, in pixels, of the images that rows are: they are also learned from moved by a pixel to each of four sides (deviation 32). */
  readonly shiftImages: number | undefined;
  /** How many of the strongest filters decide the class of a row, each by its similarity (deviation 25). */
  readonly voters: number;
}

/** A parameter as data, for a command line, a page or a search. */
export interface ParameterInfo {
  readonly name: string;
  readonly about: string;
  readonly form: "count" | "counts" | "count-or-auto" | "share" | "positive" | "seed" | "flag" | "choice" | "special";
  readonly choices?: readonly string[];
  /** The least value of a count: 1 where it is absent. */
  readonly least?: number;
  readonly default: Json;
}

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
  { name: "nBest", form: "count", default: 25, about: "strongest filters of a row that are kept" },
  { name: "keepSums", form: "flag", default: false, about: "store the sums that partialFit needs to add rows later" },
  { name: "seed", form: "seed", default: 0, about: "seed for all random choices" },
];

const INITIAL_ROWS: ParameterInfo = {
  name: "initialRows",
  form: "special",
  default: null,
  about: "training rows to initialise the filters from",
};

const CALIBRATE: ParameterInfo = {
  name: "calibrate",
  form: "choice",
  choices: ["none", "temperature", "isotonic"],
  default: "none",
  about: "calibrate probabilities on held-out rows",
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
  {
    name: "thresholds",
    form: "choice",
    choices: ["none", "common", "perLabel"],
    default: "none",
    about: "multilabel decision thresholds, chosen on held-out rows",
  },
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
    choices: ["last", "drawn"],
    default: null,
    about:
      "train on all rows, and calibrate on the last rows of each class or on drawn ones by a second fit; if not given, drawn rows are held out of training",
  },
  {
    name: "committee",
    form: "count",
    default: 1,
    about: "ensemble of banks trained separately; class scores are summed",
  },
  { name: "refine", form: "flag", default: false, about: "supervised refinement of the filters" },
  { name: "refineEpochs", form: "count", default: 12, about: "maximum number of refinement epochs" },
  {
    name: "refineWindow",
    form: "share",
    default: null,
    about: "margin beyond which a row no longer moves filters; chosen on held-out rows if not given",
  },
  {
    name: "shiftImages",
    form: "count",
    default: null,
    about: "width of images: train on copies shifted by one pixel as well",
  },
  { name: "voters", form: "count", default: 1, about: "strongest filters that decide the class" },
];

/** Checked, complete, frozen parameters. Unknown names are refused with the known ones. */
export function checkParams<P extends object>(given: Partial<P>, infos: readonly ParameterInfo[]): P {
  const known = new Map(infos.map((info) => [info.name, info]));
  const complete: Record<string, unknown> = {};
  for (const info of infos) complete[info.name] = info.default ?? undefined;
  for (const [name, value] of Object.entries(given)) {
    const info = known.get(name);
    if (!info) {
      throw new RanksimError("bad-params", `unknown parameter ${name}; there are ${[...known.keys()].join(", ")}`);
    }
    if (value === undefined) continue;
    checkParam(info, value);
    complete[name] = value;
  }
  return Object.freeze(complete) as P;
}

/** Parameters as JSON: functions and vectors of the caller's are named "custom". */
export function paramsAsJson(params: object): { readonly [name: string]: Json } {
  const out: Record<string, Json> = {};
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) continue;
    const foreign = typeof value === "function" || (name === "distribution" && typeof value !== "string");
    out[name] = foreign ? "custom" : asJson(value);
  }
  return out;
}

/** A parameter's value as JSON; typed arrays of rows become lists. */
function asJson(value: unknown): Json {
  if (isArrayLike(value)) return Array.from(value, asJson);
  return JSON.parse(JSON.stringify(value)) as Json;
}

function checkParam(info: ParameterInfo, value: unknown): void {
  const { name } = info;
  switch (info.form) {
    case "count-or-auto":
      if (value !== "auto" && !isCount(value)) throw refuse(name, 'a whole number from 1 or "auto"', value);
      return;
    case "count":
      if (!isCount(value, info.least)) throw refuse(name, `a whole number from ${info.least ?? 1}`, value);
      return;
    case "counts":
      if (!isCount(value) && !(Array.isArray(value) && value.length > 0 && value.every((one) => isCount(one)))) {
        throw refuse(name, "a whole number from 1 or a list of them", value);
      }
      return;
    case "share":
      if (!(typeof value === "number" && value >= 0 && value <= 1)) throw refuse(name, "a number from 0 to 1", value);
      return;
    case "positive":
      if (!(typeof value === "number" && value > 0 && Number.isFinite(value))) {
        throw refuse(name, "a number above 0", value);
      }
      return;
    case "seed":
      if (!(Number.isSafeInteger(value) && (value as number) >= 0)) throw refuse(name, "a whole number from 0", value);
      return;
    case "flag":
      if (typeof value !== "boolean") throw refuse(name, "true or false", value);
      return;
    case "choice":
      if (!(info.choices as readonly unknown[]).includes(value)) throw refuse(name, choicesOf(info), value);
      return;
    case "special":
      checkSpecial(info, value);
      return;
    default:
      info.form satisfies never;
  }
}

function checkSpecial(info: ParameterInfo, value: unknown): void {
  const { name } = info;
  if (info.choices?.includes(value as string)) return;
  if (name === "filterFunction" && typeof value === "function") return;
  if (name === "distribution") {
    if (typeof value === "function" || (isArrayLike(value) && typeof value !== "string")) return;
    throw refuse(name, `${choicesOf(info)}, ascending values or a function`, value);
  }
  if (name === "initialRows") {
    const isRows = (rows: unknown) =>
      isArrayLike(rows) && rows.length > 0 && Array.from(rows).every((r) => Number.isSafeInteger(r) && Number(r) >= 0);
    if (isRows(value) || (Array.isArray(value) && value.length > 0 && value.every(isRows))) return;
    throw refuse(name, "row numbers (for the classifier a list of them for each class)", value);
  }
  if (name === "classWeight" && typeof value === "object" && value !== null && !Array.isArray(value)) {
    const weights = Object.values(value);
    if (weights.every((w) => typeof w === "number" && w > 0 && Number.isFinite(w))) return;
    throw refuse(
      name,
      "positive weights by class",
      weights.find((w) => !(typeof w === "number" && w > 0)),
    );
  }
  throw refuse(name, choicesOf(info), value);
}

const isCount = (value: unknown, least = 1): boolean => Number.isSafeInteger(value) && (value as number) >= least;

const isArrayLike = (value: unknown): value is ArrayLike<unknown> =>
  Array.isArray(value) || (ArrayBuffer.isView(value) && "length" in value);

const choicesOf = (info: ParameterInfo): string => (info.choices ?? []).map((choice) => `"${choice}"`).join(" or ");

function refuse(name: string, expected: string, found: unknown): RanksimError {
  const shown = typeof found === "function" ? "a function" : (JSON.stringify(found) ?? String(found));
  return new RanksimError("bad-params", `parameter ${name}: expected ${expected}, found ${shown.slice(0, 80)}`);
}
