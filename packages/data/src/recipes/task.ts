/** What recipes of all kinds of data share: presets and options, the task, parameters given by hand, how many filters, and whether probabilities are fitted. */

import {
  type ClassifierParams,
  type Estimator,
  type MatrixLike,
  type Model,
  type PatchParams,
  Pipeline,
} from "@ranksim/core";
import type { AnyRows } from "../data-set.ts";
import { type DataKind, hasSeveralLabels, type takesOf } from "./kind.ts";

/** How much time is traded for accuracy; "paper" is the paper's plain method. */
export type Preset = "paper" | "fast" | "balanced" | "best";

export const PRESETS: readonly Preset[] = ["paper", "fast", "balanced", "best"];

/** How a recipe is chosen. */
export interface RecipeOptions {
  readonly preset?: Preset;
  readonly seed?: number;
  /** Parameters of the last step (filters, refine, calibrate, …) that take the place of the recipe's. */
  readonly params?: { readonly [name: string]: unknown };
  /** Images: parameters of the windows that take the place of the recipe's. */
  readonly patches?: Partial<
    Pick<PatchParams, "patch" | "filters" | "nBest" | "grid" | "shiftedCopies" | "bytes" | "sample">
  >;
}

/** What a recipe is chosen for. */
export interface Task extends Required<RecipeOptions> {
  readonly data: AnyRows;
  readonly takes: ReturnType<typeof takesOf>;
  readonly kind: DataKind;
  readonly rows: number;
  readonly classes: number;
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

/** Probabilities of classes. Where rows are few, those that fit them are trained on as well. */
export function calibration(task: Task): Partial<Pick<ClassifierParams, "calibrate" | "calibrateOn">> {
  const own = calibrationOfLabels(task);
  const { calibrate = "none" } = { ...own, ...task.params };
  const isAgain = calibrate !== "none" && (task.takes === "table" || task.rows <= TRAINED_AGAIN);
  return { ...own, ...(isAgain ? { calibrateOn: "drawn" } : {}) };
}

/** Whether rows are enough to hold some out for probabilities. */
function hasEnough({ rows, classes, data }: Task): boolean {
  const each = rows <= TRAINED_AGAIN ? FEW_CALIBRATING_EACH : CALIBRATING_EACH;
  return rows >= CALIBRATING_ROWS && (hasSeveralLabels(data) || rows >= each * classes);
}

/** Whether a preset that fits probabilities finds too few rows for it. */
export function isUncalibrated(task: Task): boolean {
  const { preset, data, params } = task;
  return preset !== "paper" && data.y !== undefined && params.calibrate === undefined && !hasEnough(task);
}

/** A pipeline of two steps with names. */
export function named<X>(
  first: readonly [string, Estimator<X>],
  last: readonly [string, Estimator<MatrixLike, Model>],
): Estimator<never, Model> {
  return new Pipeline<X, Model>([first, last]) as unknown as Estimator<never, Model>;
}
