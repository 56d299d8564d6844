/** How good what `train` makes of data is: in each fold recipes are chosen and trained anew, by the rows of the other folds alone. */

import type { Label, LabelSets, Labels, Run } from "@ranksim/core";
import { advance } from "@ranksim/core/internal";
import { pickRows, type RowLabels, rowCount } from "@ranksim/data";
import { inMemory } from "../choose/out-of-fold.ts";
import { takesOf } from "../plan/kind.ts";
import type { Prepared, View } from "../plan/prepare.ts";
import { gatherRows } from "../select/split.ts";
import { divide } from "../select/validation.ts";
import { type TrainOptions, trainPrepared } from "../train.ts";
import { partOf } from "./hold-out.ts";
import { predictAll } from "./judge.ts";

/** What was answered in one fold. */
export interface FoldAnswers {
  readonly truth: RowLabels;
  readonly predicted: readonly (Label | readonly Label[])[];
  /** Wall-clock seconds: to choose and train, and to answer. */
  readonly fitSeconds: number;
  readonly scoreSeconds: number;
}

/** Trains on all folds but one and asks about that one, for each in turn; `split` says which rows belong together, or when they were. */
export async function crossTrain(
  { views }: Prepared,
  { folds, ...options }: TrainOptions & Run & { readonly folds: number },
): Promise<readonly FoldAnswers[]> {
  const { onProgress, seed = 0, split = {}, backend, signal } = options;
  const run: Run = { ...(backend ? { backend } : {}), ...(signal ? { signal } : {}) };
  const [{ data }] = views;
  const y = data.y as Labels | LabelSets;
  const found: FoldAnswers[] = [];
  const divided = divide(rowCount(data), y, { folds, seed, ...split });
  for (const [f, { train, test }] of divided.entries()) {
    await advance({ ...run, ...(onProgress ? { onProgress } : {}) }, { stage: "fit", share: f / divided.length });
    const known = await Promise.all(views.map(async (view) => ({ ...view, data: await pickRows(view.data, train) })));
    const began = performance.now();
    const own = { ...options, ...run, split: partOf(split, train), keepsRows: false };
    const { onProgress: _, ...quiet } = own;
    const { model, recipe } = await trainPrepared({ views: known }, quiet);
    const trained = performance.now();
    const view = views.find((one) => takesOf(one.data) === recipe.takes) as View;
    const { predicted } = await predictAll(model, await inMemory(await pickRows(view.data, test)), run);
    found.push({
      truth: gatherRows(y, test) as RowLabels,
      predicted,
      fitSeconds: (trained - began) / 1000,
      scoreSeconds: (performance.now() - trained) / 1000,
    });
  }
  return found;
}
