/** What simple methods reach in the folds that candidates are judged by. */

import {
  type Estimator,
  type Fold,
  gatherRows,
  groupFolds,
  type Labels,
  type Matrix,
  Pipeline,
  type Run,
  stratifiedFolds,
  type TransformingModel,
  timeFolds,
} from "@ranksim/core";
import { type Baseline, baselines, foldsWithin, type Halves } from "./baselines.ts";
import type { SplitColumn } from "./hold-out.ts";
import type { Input } from "./passage.ts";

/** Judges the simple methods on the numbers that the last step of the estimator is given, fold by fold. */
export async function foldBaselines(
  estimator: Estimator<never>,
  x: Input,
  y: Labels,
  options: { readonly folds: number; readonly seed?: number } & SplitColumn,
  run: Run,
): Promise<Baseline[]> {
  const divided = foldsOf(y, options);
  const halves: Halves[] = [];
  for (let j = 0; j < divided.length; j++) {
    const one = await halvesOf(estimator, x, y, divided[j], run);
    halves.push(one);
    if (halves.length >= foldsWithin(y.length, one.train.x.features, divided.length)) break;
  }
  return baselines(halves, run);
}

function foldsOf(y: Labels, { groups, times, ...options }: Parameters<typeof foldBaselines>[3]): Fold[] {
  return groups ? groupFolds(groups, options) : times ? timeFolds(times, options) : stratifiedFolds(y, options);
}

async function halvesOf(estimator: Estimator<never>, x: Input, y: Labels, fold: Fold, run: Run): Promise<Halves> {
  let train: unknown = gatherRows(x as Matrix, fold.train);
  let test: unknown = gatherRows(x as Matrix, fold.test);
  const before = estimator instanceof Pipeline ? estimator.estimators.slice(0, -1) : [];
  for (const step of before as readonly Estimator<unknown>[]) {
    const model = (await step.fit(train, gatherRows(y, fold.train), run)) as TransformingModel<unknown>;
    train = await model.transform(train, run);
    test = await model.transform(test, run);
  }
  const labels = (rows: Uint32Array) => Array.from(rows, (r) => y[r]);
  return {
    train: { x: train as Matrix, y: labels(fold.train) },
    test: { x: test as Matrix, y: labels(fold.test) },
  };
}
