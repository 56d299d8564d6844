/** From data to a model in one call, by the recipe that suits the data. */

import {
  type MatrixLike,
  type Model,
  type PredictingModel,
  RanksimError,
  type Run,
  runOf,
  withSchema,
} from "@ranksim/core";
import type { DataSet, ImageSize, RowLabels } from "../data-set.ts";
import type { ReadOptions } from "../readers/options.ts";
import { describeData } from "../schema.ts";
import type { TableLike } from "../table/encoder.ts";
import { atImageSize, chooseImageSize } from "./image-size.ts";
import { type Recipe, type RecipeOptions, recipeFor } from "./recipe.ts";

/** How `train` chooses and what the model remembers. */
export interface TrainOptions extends RecipeOptions {
  /** The options by which the data was read; the model remembers those that matter for further rows. */
  readonly reading?: ReadOptions;
}

/** What a model trained on `D` takes. */
type Taken<D> = D extends { form: "text" } ? readonly string[] : D extends { form: "table" } ? TableLike : MatrixLike;

/** A trained model and the recipe it was made by. Data with labels gives a classifier. */
export interface Trained<D extends DataSet = DataSet> {
  readonly model: D extends { readonly y: RowLabels } ? PredictingModel<Taken<D>> : Model;
  readonly recipe: Recipe;
}

/**
 * Trains what suits the data: patches for images, weighted words for text, thresholds for several labels, and so on. Images that were
 * read in several sizes (`readData(folder, { sizes: IMAGE_SIZES })`) are trained on in the size that is best on held-out images.
 *
 * ```ts
 * const { model, recipe } = await train({ form: "matrix", x, y }, { preset: "balanced" });
 * console.log(recipe.about, await model.predict(rows));
 * ```
 */
export async function train<D extends DataSet>(given: D, options: TrainOptions & Run = {}): Promise<Trained<D>> {
  const run = runOf(options);
  const { data, reading } = await sized(given, options, run);
  const recipe = recipeFor(data, options);
  const x = data.form === "text" ? data.text : data.form === "table" ? data.table : data.x;
  if (data.y === undefined && recipe.kind !== "no labels" && recipe.kind !== "text") {
    throw new RanksimError("bad-labels", "expected labels, found none");
  }
  const fitted = await recipe.estimator.fit(x as never, data.y, run);
  const schema = describeData(data, reading ? { options: reading } : {});
  const { preset, about } = recipe;
  return { model: withSchema(fitted, { ...schema, recipe: { preset, about } }) as Trained<D>["model"], recipe };
}

/** Images in the size that was chosen, which the model remembers; other data as it is. The paper's method takes the largest. */
async function sized(
  data: DataSet,
  { reading, preset, seed = 0 }: TrainOptions,
  run: Run,
): Promise<{ data: DataSet; reading: ReadOptions | undefined }> {
  if (data.form !== "matrix" || !data.scaled) return { data, reading };
  const quiet = { ...(run.backend ? { backend: run.backend } : {}), ...(run.signal ? { signal: run.signal } : {}) };
  const chosen = preset === "paper" ? undefined : await chooseImageSize(data, { seed, ...quiet });
  const resize = chosen?.imageSize ?? (data.imageSize as ImageSize);
  return { data: atImageSize(data, resize), reading: { ...reading, resize } };
}
