/** From data to a model in one call, by the recipe that suits the data. */

import { type Model, RanksimError, type Run, withSchema } from "@ranksim/core";
import type { DataSet } from "../data-set.ts";
import type { ReadOptions } from "../readers/options.ts";
import { describeData } from "../schema.ts";
import { type Recipe, type RecipeOptions, recipeFor } from "./recipe.ts";

/** How `train` chooses and what the model remembers. */
export interface TrainOptions extends RecipeOptions {
  /** The options by which the data was read; the model remembers those that matter for further rows. */
  readonly reading?: ReadOptions;
}

/** A trained model and the recipe it was made by. */
export interface Trained {
  readonly model: Model;
  readonly recipe: Recipe;
}

/**
 * Trains what suits the data: patches for images, weighted words for text, thresholds for several labels, and so on.
 *
 * ```ts
 * const { model, recipe } = await train(data, { preset: "balanced" });
 * console.log(recipe.about);
 * ```
 */
export async function train(data: DataSet, options: TrainOptions = {}, run: Run = {}): Promise<Trained> {
  const recipe = recipeFor(data, options);
  const x = data.form === "text" ? data.text : data.form === "table" ? data.table : data.x;
  if (data.y === undefined && recipe.kind !== "no labels" && recipe.kind !== "text") {
    throw new RanksimError("bad-labels", "expected labels, found none");
  }
  const fitted = await recipe.estimator.fit(x as never, data.y, run);
  const schema = describeData(data, options.reading ? { options: options.reading } : {});
  const { preset, about } = recipe;
  return { model: withSchema(fitted, { ...schema, recipe: { preset, about } }), recipe };
}
