/**
 * Judging a recipe by data it was not trained on: cross-validation, and a search over parameters by it. Fits run one
 * after another, so an abort leaves nothing running; `Run` is handed on to each, its progress as a part of the whole.
 */

import {
  asMatrix,
  type Estimator,
  isMatrix,
  type Label,
  type LabelSets,
  type Labels,
  type MatrixLike,
  type Model,
  type PredictingModel,
  RanksimError,
  type Run,
  runOf,
} from "@ranksim/core";
import { advance, isLabelSets, optionsOf, partOfRun } from "@ranksim/core/internal";
import { logLoss } from "./log-loss.ts";
import { balancedAccuracy, f1 } from "./metrics.ts";
import {
  countRows,
  type Fold,
  type FoldOptions,
  folds,
  gatherRows,
  groupFolds,
  isPickable,
  type Samples,
  stratifiedFolds,
  timeFolds,
} from "./split.ts";

/** A score by name; larger is better. "accuracy" is the model's own `score`. */
export type ScoringName = "accuracy" | "balancedAccuracy" | "f1Macro" | "f1Micro" | "f1Weighted" | "negativeLogLoss";

/** A score of the caller's own; larger is better. */
export type Scorer<X, M extends Model> = (model: M, x: X, y: Labels | LabelSets, run: Run) => number | Promise<number>;

export interface CrossValidateOptions<X, M extends Model> extends FoldOptions {
  /** Whether folds keep the share of each class. Default: yes for one label per row, no for label sets. */
  readonly stratified?: boolean;
  /** The group of each row; rows of one group are then never on both sides, and `stratified` is not asked. */
  readonly groups?: ArrayLike<Label>;
  /** The time of each row; folds then train on earlier rows than they test on (`timeFolds`). Not together with groups. */
  readonly times?: ArrayLike<number>;
  /** Default "accuracy". */
  readonly scoring?: ScoringName | Scorer<X, M>;
}

/** Scores of the folds, in their order. */
export interface CrossValidation {
  readonly scores: readonly number[];
  readonly mean: number;
  /** Of the scores, divided by their number (not one less). */
  readonly standardDeviation: number;
  /** Wall-clock seconds per fold. */
  readonly fitSeconds: readonly number[];
  readonly scoreSeconds: readonly number[];
}

/** Values to try for each parameter; every combination is tried, the last parameter changing fastest. */
export type Grid = { readonly [param: string]: readonly unknown[] };

/** One combination and its cross-validation. */
export interface GridResult extends CrossValidation {
  readonly params: { readonly [param: string]: unknown };
}

export interface GridSearch<X, M extends Model> {
  /** Best mean first; equal means in the order of the grid. */
  readonly results: readonly GridResult[];
  readonly bestParams: { readonly [param: string]: unknown };
  readonly bestScore: number;
  readonly bestEstimator: Estimator<X, M>;
  /** The best recipe fitted on all rows. */
  readonly model: M;
}

/** Share of a fold's time that goes to the fit, for progress alone. */
const FIT_SHARE = 0.9;

/** Fits on the training part and scores on the test part of each fold. */
export async function crossValidate<X extends Samples, M extends PredictingModel<X>>(
  estimator: Estimator<X, M>,
  x: X,
  y: Labels | LabelSets,
  options: CrossValidateOptions<X, M> & Run = {},
  ...rest: undefined[]
): Promise<CrossValidation> {
  const run = runOf(optionsOf("crossValidate", options, rest));
  const samples = checkedOnce(x);
  const divided = divide(countRows(samples), y, options);
  const open = async (fold: number) => rowsOf(samples, y, divided[fold]);
  return validate(estimator, divided.length, open, scorerOf(options.scoring), run);
}

/**
 * Cross-validates `estimator.with(params)` for every combination of the grid, all on the same folds, and fits the best on
 * all rows. All combinations are made before the first fit, so a wrong parameter is refused at once.
 */
export async function gridSearch<X extends Samples, M extends PredictingModel<X>>(
  estimator: Estimator<X, M>,
  grid: Grid,
  x: X,
  y: Labels | LabelSets,
  options: CrossValidateOptions<X, M> & Run = {},
  ...rest: undefined[]
): Promise<GridSearch<X, M>> {
  const run = runOf(optionsOf("gridSearch", options, rest));
  const samples = checkedOnce(x);
  const divided = divide(countRows(samples), y, options);
  const open = async (fold: number) => rowsOf(samples, y, divided[fold]);
  const scorer = scorerOf(options.scoring);
  const candidates = combinations(grid).map((params) => ({ params, estimator: estimator.with(params) }));
  const fits = candidates.length * divided.length + 1;
  const results: (GridResult & { estimator: Estimator<X, M> })[] = [];
  for (const [j, candidate] of candidates.entries()) {
    const part = partOfRun(run, (j * divided.length) / fits, ((j + 1) * divided.length) / fits);
    results.push({ ...candidate, ...(await validate(candidate.estimator, divided.length, open, scorer, part)) });
  }
  // Sorting keeps the order of equals.
  results.sort((a, b) => b.mean - a.mean);
  const best = results[0];
  const model = await best.estimator.fit(samples, y, partOfRun(run, 1 - 1 / fits, 1));
  await advance(run, { stage: "fit", share: 1 });
  return {
    results: results.map(({ estimator: _, ...result }) => result),
    bestParams: best.params,
    bestScore: best.mean,
    bestEstimator: best.estimator,
    model,
  };
}

/** The rows of one fold, to train on and to test on. */
export interface FoldRows<X> {
  readonly train: { readonly x: X; readonly y: Labels | LabelSets };
  readonly test: { readonly x: X; readonly y: Labels | LabelSets };
}

/** The rows of a fold. */
export function rowsOf<X extends Samples>(x: X, y: Labels | LabelSets, { train, test }: Fold): FoldRows<X> {
  return {
    train: { x: gatherRows(x, train), y: gatherRows(y, train) },
    test: { x: gatherRows(x, test), y: gatherRows(y, test) },
  };
}

/** Cross-validation on `count` folds whose rows are asked for one after the other. */
export async function validate<X, M extends Model>(
  estimator: Estimator<X, M>,
  count: number,
  open: (fold: number) => Promise<FoldRows<X>>,
  scorer: Scorer<X, M>,
  run: Run,
): Promise<CrossValidation> {
  const scores: number[] = [];
  const fitSeconds: number[] = [];
  const scoreSeconds: number[] = [];
  for (let j = 0; j < count; j++) {
    const share = (within: number) => (j + within) / count;
    await advance(run, { stage: "fit", share: share(0) });
    const { train, test } = await open(j);
    const start = performance.now();
    const model = await estimator.fit(train.x, train.y, partOfRun(run, share(0), share(FIT_SHARE)));
    fitSeconds.push((performance.now() - start) / 1000);
    await advance(run, { stage: "score", share: share(FIT_SHARE) });
    const fitted = performance.now();
    const score = await scorer(model, test.x, test.y, partOfRun(run, share(FIT_SHARE), share(1)));
    if (!Number.isFinite(score)) {
      throw new RanksimError("bad-params", `fold ${j}: expected a finite score, found ${score}`);
    }
    scores.push(score);
    scoreSeconds.push((performance.now() - fitted) / 1000);
  }
  await advance(run, { stage: "score", share: 1 });
  const mean = scores.reduce((a, b) => a + b) / scores.length;
  const variance = scores.reduce((a, score) => a + (score - mean) * (score - mean), 0) / scores.length;
  return { scores, mean, standardDeviation: Math.sqrt(variance), fitSeconds, scoreSeconds };
}

/** The data as the folds take it: rows of numbers become a matrix once, so that every fold has the same element type; texts and tables stay as they are. */
export function checkedOnce<X extends Samples>(x: X): X {
  if (isPickable(x) && !isMatrix(x)) return x;
  if (Array.isArray(x) && x.every((row) => typeof row === "string")) return x;
  return asMatrix(x as MatrixLike) as unknown as X;
}

/** What of the options says how rows are divided. */
type Divided = Pick<CrossValidateOptions<never, never>, "stratified" | "groups" | "times" | "folds" | "seed">;

/** The folds that the options ask for. */
export function divide(
  rows: number,
  y: Labels | LabelSets,
  { stratified = !isLabelSets(y), groups, times, ...options }: Divided,
): Fold[] {
  if (countRows(y) !== rows) {
    throw new RanksimError("bad-labels", `expected ${rows} labels, one for each row, found ${countRows(y)}`);
  }
  if (groups !== undefined && times !== undefined) {
    throw new RanksimError("bad-params", "expected folds by groups or by times, found both");
  }
  for (const [name, list] of Object.entries({ groups, times })) {
    if (list === undefined || list.length === rows) continue;
    throw new RanksimError("bad-params", `expected ${rows} ${name}, one for each row, found ${list.length}`);
  }
  if (groups !== undefined) return groupFolds(groups, options);
  if (times !== undefined) return timeFolds(times, options);
  return stratified ? stratifiedFolds(y as Labels, options) : folds(rows, options);
}

/** The score that the option names. */
export function scorerOf<X, M extends PredictingModel<X>>(
  scoring: ScoringName | Scorer<X, M> = "accuracy",
): Scorer<X, M> {
  if (typeof scoring === "function") return scoring;
  const averages = { f1Macro: "macro", f1Micro: "micro", f1Weighted: "weighted" } as const;
  switch (scoring) {
    case "accuracy":
      return (model, x, y, run) => model.score(x, y, run);
    case "balancedAccuracy":
      return async (model, x, y, run) => balancedAccuracy(y as Labels, (await model.predict(x, run)) as Labels);
    case "f1Macro":
    case "f1Micro":
    case "f1Weighted":
      return async (model, x, y, run) =>
        f1(y, (await model.predict(x, run)) as Labels | LabelSets, { average: averages[scoring] });
    case "negativeLogLoss":
      return async (model, x, y, run) => {
        if (!model.predictProbabilities) {
          throw new RanksimError("unsupported", `scoring negativeLogLoss: a ${model.kind} model has no probabilities`);
        }
        return -logLoss(y as Labels, await model.predictProbabilities(x, run), model.classes);
      };
    default:
      throw new RanksimError(
        "bad-params",
        `expected scoring accuracy, balancedAccuracy, f1Macro, f1Micro, f1Weighted, negativeLogLoss or a function, found ${String(scoring)}`,
      );
  }
}

/** Every combination of the grid's values, the last parameter changing fastest. */
export function combinations(grid: Grid): { readonly [param: string]: unknown }[] {
  let found: { readonly [param: string]: unknown }[] = [{}];
  for (const [param, values] of Object.entries(grid)) {
    if (!Array.isArray(values) || values.length === 0) {
      throw new RanksimError("bad-params", `grid: expected a list of at least 1 value for ${param}`);
    }
    found = found.flatMap((params) => values.map((value) => ({ ...params, [param]: value })));
  }
  return found;
}
