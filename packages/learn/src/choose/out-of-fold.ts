/** What a recipe says of rows that it was not trained on: the probabilities of all rows of a sample, fold by fold. */

import {
  type Estimator,
  type Label,
  type LabelSets,
  type Labels,
  LinearModel,
  type Model,
  PipelineModel,
  type PredictingModel,
  type Run,
} from "@ranksim/core";
import { naturalLog } from "@ranksim/core/internal";
import { type AnyRows, type DataSet, dataBlocks, isInMemory, joinData, type RowLabels } from "@ranksim/data";
import type { inputFor } from "../model/passage.ts";
import { type Fold, gatherRows, type Samples } from "../select/split.ts";
import { multiplyAdds } from "../tune/prediction-cost.ts";

/** Rows to judge by, in memory, and how they are divided. */
export interface Sample {
  readonly y: RowLabels;
  readonly classes: readonly Label[];
  readonly folds: readonly Fold[];
  /** The rows that the folds ask about. */
  readonly asked: Uint32Array;
  readonly weights?: Float64Array;
}

/** What was found of one recipe. */
export interface OutOfFold {
  /** rows x classes. */
  readonly probabilities: Float64Array;
  /** Multiply-adds to answer one row. */
  readonly multiplyAdds: number;
}

type Judged = Estimator<unknown, PredictingModel<unknown>>;

/** All rows of a part of the data, in memory. */
export async function inMemory(data: AnyRows): Promise<DataSet> {
  if (isInMemory(data)) return data;
  const blocks: DataSet[] = [];
  for await (const block of dataBlocks(data)) blocks.push(block);
  return joinData(blocks);
}

/** Fits the recipe to the training rows of each fold, and asks it about the others. A class that it has not seen has the probability 0. */
export async function outOfFold(
  estimator: Estimator<never, never>,
  input: ReturnType<typeof inputFor>,
  { y, classes, folds, weights }: Sample,
  run: Run,
): Promise<OutOfFold> {
  const c = classes.length;
  const place = new Map(classes.map((label, j) => [label, j]));
  const probabilities = new Float64Array(y.length * c);
  let cost = 0;
  let recipe = estimator as unknown as Judged;
  for (const [f, { train, test }] of folds.entries()) {
    const known = gatherRows(input as Samples, train);
    const labels = gatherRows(y as Labels | LabelSets, train);
    const own = weights ? { weights: gatherRows(weights as never, train) } : {};
    const model = await recipe.fit(known, labels, { ...run, ...own });
    if (f === 0) recipe = settled(recipe, model);
    const asked = gatherRows(input as Samples, test);
    const found = await (model.predictProbabilities as NonNullable<typeof model.predictProbabilities>)(asked, run);
    for (const [j, label] of model.classes.entries()) {
      const column = place.get(label) as number;
      for (const [t, row] of test.entries()) probabilities[row * c + column] = found.values[t * found.features + j];
    }
    if (f === 0) cost = await multiplyAdds(model, asked, run);
  }
  return { probabilities, multiplyAdds: cost };
}

/** The recipe with what errors cost as it was found on the first fold, so that it is not looked for again. */
function settled(recipe: Judged, model: Model): Judged {
  const name = Object.keys(recipe.params).find((one) => /(^|\.)c$/.test(one));
  const last = model instanceof PipelineModel ? model.steps[model.steps.length - 1] : model;
  return name !== undefined && last instanceof LinearModel
    ? (recipe.with({ [name]: last.report.c }) as Judged)
    : recipe;
}

/** No class is ruled out: a loss has an end. */
const SMALLEST = 1e-4;

/** How good probabilities are. */
export interface Score {
  /** Mean over the rows that were asked about, to four digits, and of each of them. */
  readonly logLoss: number;
  readonly losses: Float64Array;
  /** Share of the rows that are right; of several labels, of all labels of all rows. */
  readonly accuracy: number;
  /** Rows of each class that were named; of several labels empty. */
  readonly found: Uint32Array;
}

/** The loss of probabilities, and how often they are right. */
export function scoreOf(probabilities: Float64Array, { y, classes, weights, asked }: Sample): Score {
  const c = classes.length;
  const place = new Map(classes.map((label, j) => [label, j]));
  const found = new Uint32Array(c);
  const several = Array.isArray(y[0]);
  const losses = new Float64Array(asked.length);
  let [loss, right, all] = [0, 0, 0];
  const logOf = (p: number) => naturalLog(Math.min(Math.max(p, SMALLEST), 1));
  for (const [t, r] of asked.entries()) {
    const weight = weights?.[r] ?? 1;
    const row = probabilities.subarray(r * c, (r + 1) * c);
    all += weight;
    if (several) {
      const own = new Set((y[r] as readonly Label[]).map((label) => place.get(label)));
      for (let j = 0; j < c; j++) {
        losses[t] -= logOf(own.has(j) ? row[j] : 1 - row[j]) / c;
        if (row[j] > 0.5 === own.has(j)) right += weight / c;
      }
      loss += weight * losses[t];
      continue;
    }
    const truth = place.get(y[r] as Label) as number;
    losses[t] = -logOf(row[truth]);
    loss += weight * losses[t];
    if (row.indexOf(Math.max(...row)) !== truth) continue;
    right += weight;
    found[truth]++;
  }
  return { logLoss: Math.round((1e4 * loss) / all) / 1e4, losses, accuracy: right / all, found };
}
