/** What recipes of all kinds of data share: presets and options, the task, parameters given by hand, how many filters, and whether probabilities are fitted. */

import {
  type ClassifierParams,
  type Estimator,
  type MatrixLike,
  type Model,
  type PatchParams,
  Pipeline,
} from "@ranksim/core";
import type { AnyRows, DetectedColumn, TableParams } from "@ranksim/data";
import type { Purpose } from "./candidates/candidate.ts";
import { type DataKind, hasSeveralLabels, type takesOf } from "./kind.ts";

/** How much time is traded for accuracy; "paper" is the paper's plain method. */
export type Preset = "paper" | "fast" | "balanced" | "best";

export const PRESETS: readonly Preset[] = ["paper", "fast", "balanced", "best"];

/** An estimator of the paper by name, trained as it is. */
export type EstimatorName = "classifier" | "probabilistic" | "transform";

/** How a recipe is chosen. */
export interface RecipeOptions {
  /** Default "balanced", unless an estimator is named. */
  readonly preset?: Preset;
  /** In the place of a preset. */
  readonly estimator?: EstimatorName;
  readonly seed?: number;
  /** Parameters of the last step (filters, refine, calibrate, …) that take the place of the recipe's. */
  readonly params?: { readonly [name: string]: unknown };
  /** Images: parameters of the windows that take the place of the recipe's. */
  readonly patches?: Partial<
    Pick<PatchParams, "patch" | "filters" | "nBest" | "grid" | "shiftedCopies" | "bytes" | "sample">
  >;
  /** Text: the vectoriser that takes the place of the recipe's. */
  readonly vectorizer?: Estimator<readonly string[]>;
  /** Tables: parameters of the encoder. */
  readonly encoding?: Partial<TableParams>;
  /** What the model has to be good for beside answers: only what can do that is tried. */
  readonly purpose?: Purpose;
}

/** What a recipe is chosen for. */
export interface Task extends Required<Omit<RecipeOptions, "estimator" | "vectorizer" | "purpose">> {
  readonly estimator: EstimatorName | undefined;
  readonly vectorizer: Estimator<readonly string[]> | undefined;
  /** What the columns of a table are. */
  readonly columns: readonly DetectedColumn[];
  readonly data: AnyRows;
  readonly takes: ReturnType<typeof takesOf>;
  readonly kind: DataKind;
  /** Labels of a row. */
  readonly labels: "none" | "one" | "several";
  readonly rows: number;
  readonly classes: number;
  /** Of a text, on average. */
  readonly characters: number;
}

/** What was chosen, and what to say of it. */
export interface Chosen {
  readonly estimator: Estimator<never, Model>;
  readonly what: string;
}

/**
 * Rows that are needed, in all and of each class on average, to hold some out for probabilities. Fewer of each class do where all rows are
 * trained on in the end: of 100 and 150 classes of 10 and 6 drawn rows, calibration errors fell from 0.97 to 0.02.
 */
const CALIBRATING_ROWS = 200;
const CALIBRATING_EACH = 20;
const FEW_CALIBRATING_EACH = 5;
/**
 * Up to so many rows, and for any table, filters are trained on all rows and once more without those that fit the probabilities. Chosen on
 * training rows and drawn tables (the lab's BEYOND.md, "Few rows"): accuracy rises by 0.001 to 0.005 in all twelve cases.
 */
export const TRAINED_AGAIN = 10_000;

/** The recipe's parameters, then those given by hand; these leave no room for refinement where they need filters as they are trained. */
export function given<P extends object>({ seed, params, classes }: Task, recipe: P): P {
  const { keepSums, distributionPerClass, filterFunction = "meanRank" } = params;
  const isPlain = keepSums === true || distributionPerClass === true || filterFunction !== "meanRank";
  const plain = isPlain && "refine" in recipe ? { refine: false } : {};
  const { committee } = recipe as { committee?: number };
  const banks = committee === undefined ? {} : { committee: isPlain ? 1 : banksFor(committee, params, classes) };
  return { seed, ...recipe, ...plain, ...banks, ...params } as P;
}

/** Banks that vote, where filters given by hand are enough for all of them and nothing given asks for a single one. */
function banksFor(committee: number, { filters, voters, initialRows }: Task["params"], classes: number): number {
  if ((typeof voters === "number" && voters > 1) || initialRows !== undefined) return 1;
  return typeof filters === "number" ? Math.max(1, Math.min(committee, Math.floor(filters / classes))) : committee;
}

/** So many filters for each class, but not more than half as many as there are rows: a filter of one row knows that row alone. */
export function filtersFor({ classes, rows }: Task, each: number): number {
  return Math.min(each * classes, Math.max(classes, Math.floor(rows / 2)));
}

/** Probabilities of several labels a row. */
export function calibrationOfLabels(task: Task): { calibrate?: "temperature" } {
  return task.preset !== "paper" && hasEnough(task) ? { calibrate: "temperature" } : {};
}

/**
 * Probabilities of classes, of which the largest decides but in the paper's method. Where rows are few, those that fit them are trained
 * on as well; where there are too few to hold some out, all of them fit probabilities, in folds.
 */
export function probabilities(
  task: Task,
  on: "drawn" | "last" = "drawn",
): Partial<Pick<ClassifierParams, "calibrate" | "calibrateOn" | "decision">> {
  if (task.preset === "paper") return {};
  const { calibrate = "temperature" } = task.params;
  const isFew = !hasEnough(task);
  const isAgain = isFew || on === "last" || task.takes === "table" || task.rows <= TRAINED_AGAIN;
  const calibrateOn: ClassifierParams["calibrateOn"] = isFew ? "folds" : on;
  const fitting = calibrate !== "none" && isAgain ? { calibrateOn } : {};
  return { calibrate: "temperature", decision: "probability", ...fitting };
}

/** Whether rows are enough to hold some out for probabilities. */
function hasEnough({ rows, classes, data }: Task): boolean {
  const each = rows <= TRAINED_AGAIN ? FEW_CALIBRATING_EACH : CALIBRATING_EACH;
  return rows >= CALIBRATING_ROWS && (hasSeveralLabels(data) || rows >= each * classes);
}

/** Whether a preset that fits probabilities finds too few rows for those of this recipe. */
export function isUncalibrated(task: Task, { params }: Estimator<never, Model>): boolean {
  const isPlain = Object.entries(params).some(([name, value]) => /(^|\.)calibrate$/.test(name) && value === "none");
  return isPlain && task.preset !== "paper" && task.labels !== "none" && task.params.calibrate === undefined;
}

/** A pipeline of two steps with names. */
export function named<X>(
  first: readonly [string, Estimator<X>],
  last: readonly [string, Estimator<MatrixLike, Model>],
): Estimator<never, Model> {
  return new Pipeline<X, Model>([first, last]) as unknown as Estimator<never, Model>;
}

/** Words made numbers, and what takes these. */
export function texts(
  words: Estimator<readonly string[]>,
  last: Estimator<MatrixLike, Model>,
): Estimator<never, Model> {
  return named<readonly string[]>(["words", words], ["classify", last]);
}
