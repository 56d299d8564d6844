/** From data and a recipe to a model, whatever rows are: numbers, texts, or pictures in which patches are found first. */

import type { Recipe } from "../protocol.ts";
import { isMatrix, type LoadedData, pickLabels } from "./data.ts";
import type { SubjectParts } from "./subject.ts";
import { estimatorOf, type Part, type TrainingRun, train } from "./training.ts";

/** Trains a recipe and puts together what there is to know of its model. */
export async function fit(
  data: LoadedData,
  recipe: Recipe,
  rows: { readonly train: Uint32Array; readonly test: Uint32Array },
  run: TrainingRun,
): Promise<SubjectParts> {
  // Parameters that cannot be are refused before anything is prepared.
  estimatorOf(recipe);
  const { x } = data;
  const labels = (picked: Uint32Array) => (data.y ? { y: pickLabels(data.y, picked) } : {});
  const shared = { name: data.name, origin: "trained", trainingRows: rows.train } as const;
  if (recipe.estimator === "patches") {
    const { trainOnPatches } = await import("./patch-training.ts");
    return { ...shared, ...(await trainOnPatches(data, rows, recipe, labels, run)) };
  }
  const trainOn = (training: Part, test: Part | undefined) =>
    train({ recipe, train: training, test, classes: data.classes }, run);
  if (!isMatrix(x)) {
    const { trainOnText } = await import("./pipeline.ts");
    return { ...shared, ...(await trainOnText(x, rows, labels, trainOn, run)) };
  }
  const names = data.featureNames ? { featureNames: data.featureNames } : {};
  const part = (picked: Uint32Array): Part => ({ x: x.gather(picked), ...labels(picked), ...names });
  const { model, history } = await trainOn(part(rows.train), rows.test.length > 0 ? part(rows.test) : undefined);
  return {
    ...shared,
    whole: model,
    model,
    history,
    prepare: async (prepared) => prepared as never,
    takesText: false,
    inputs: model.features,
    ...names,
  };
}
