/** From data and a recipe to a model: what the data asks for as the command trains it, or filters on the rows as they are. */

import type { Recipe } from "../protocol.ts";
import { type LoadedData, namesOf, pickLabels } from "./data.ts";
import type { SubjectParts } from "./subject.ts";
import { estimatorOf, type Part, type TrainingRun, train } from "./training.ts";

/** Trains a recipe and puts together what there is to know of its model. */
export async function fit(
  data: LoadedData,
  recipe: Recipe,
  rows: { readonly train: Uint32Array; readonly test: Uint32Array },
  run: TrainingRun,
): Promise<SubjectParts> {
  // The library's own path reads what a file's columns are; the embedded digits are known.
  if (recipe.estimator === "chosen" || data.set.form !== "matrix" || !data.inkBlocks) {
    const { trainRecipe } = await import("./recipe-training.ts");
    return trainRecipe(data, recipe, rows, run);
  }
  // Parameters that cannot be are refused before anything is prepared.
  estimatorOf(recipe);
  const { x } = data.set;
  const names = namesOf(data.set);
  const part = (picked: Uint32Array): Part => ({
    x: x.gather(picked),
    ...(data.y ? { y: pickLabels(data.y, picked) } : {}),
    ...names,
  });
  const test = rows.test.length > 0 ? part(rows.test) : undefined;
  const { model, history } = await train({ recipe, train: part(rows.train), test, classes: data.classes }, run);
  return {
    name: data.name,
    origin: "trained",
    trainingRows: rows.train,
    whole: model,
    filters: model,
    history,
    prepare: async (set) => {
      if (set.form === "matrix") return set.x;
      throw new Error("expected rows of numbers");
    },
    takesText: false,
    inputs: model.features,
    ...names,
  };
}
