/** What simple methods reach in the folds that candidates are judged by. */

import { type Estimator, type Labels, type Matrix, Pipeline, type Run, type TransformingModel } from "@ranksim/core";
import { turns } from "@ranksim/core/internal";
import type { Input } from "../model/passage.ts";
import { type Fold, gatherRows, groupFolds, stratifiedFolds, timeFolds } from "../select/split.ts";
import {
  type Baseline,
  baselines,
  foldsWithin,
  type Halves,
  type Labelled,
  sampledRows,
  TEST_ROWS,
  TRAIN_ROWS,
} from "./baselines.ts";
import type { SplitColumn } from "./hold-out.ts";

/** Judges the simple methods on the numbers that the last step of the estimator is given, fold by fold. */
export function foldBaselines(
  estimator: Estimator<never>,
  x: Input,
  y: Labels,
  options: { readonly folds: number; readonly seed?: number } & SplitColumn,
  run: Run,
): Promise<Baseline[]> {
  return baselines(halves(estimator, x, y, foldsOf(y, options), run), run);
}

function foldsOf(y: Labels, { groups, times, ...options }: Parameters<typeof foldBaselines>[3]): Fold[] {
  return groups ? groupFolds(groups, options) : times ? timeFolds(times, options) : stratifiedFolds(y, options);
}

/** As many folds as there is time for, one at a time, with only the rows that the methods are given. */
async function* halves(
  estimator: Estimator<never>,
  x: Input,
  y: Labels,
  folds: readonly Fold[],
  run: Run,
): AsyncGenerator<Halves> {
  const pause = turns(run);
  let most = folds.length;
  for (let j = 0; j < most; j++) {
    const before = await stepsBefore(estimator, x, y, folds[j].train, run);
    const labelled = async (rows: Uint32Array, atMost: number): Promise<Labelled> => {
      await pause();
      const all = Array.from(rows, (r) => y[r]);
      const kept = sampledRows(all, atMost);
      let picked: unknown = gatherRows(x as Matrix, kept ? Array.from(kept, (k) => rows[k]) : rows);
      for (const model of before) picked = await model.transform(picked, run);
      return { x: picked as Matrix, y: kept ? Array.from(kept, (k) => all[k]) : all, all };
    };
    const train = await labelled(folds[j].train, TRAIN_ROWS);
    yield { train, test: await labelled(folds[j].test, TEST_ROWS) };
    most = Math.min(most, foldsWithin(y.length, train.x.features, folds.length));
  }
}

/** What comes before the last step of a pipeline, fitted to the rows of a fold. */
async function stepsBefore(
  estimator: Estimator<never>,
  x: Input,
  y: Labels,
  rows: Uint32Array,
  run: Run,
): Promise<TransformingModel<unknown>[]> {
  const steps = estimator instanceof Pipeline ? estimator.estimators.slice(0, -1) : [];
  const models: TransformingModel<unknown>[] = [];
  if (steps.length === 0) return models;
  let rest: unknown = gatherRows(x as Matrix, rows);
  for (const step of steps as readonly Estimator<unknown>[]) {
    const model = (await step.fit(rest, gatherRows(y, rows), run)) as TransformingModel<unknown>;
    models.push(model);
    rest = await model.transform(rest, run);
  }
  return models;
}
