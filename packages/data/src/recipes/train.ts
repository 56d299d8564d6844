/** From data to a model in one call, by the recipe that suits the data. */

import {
  asMatrix,
  isMatrix,
  type MatrixLike,
  type Model,
  type PredictingModel,
  RanksimError,
  type Run,
  runOf,
  withSchema,
} from "@ranksim/core";
import type { DataSet, ImageSize, MatrixData, RowLabels } from "../data-set.ts";
import type { ReadOptions } from "../readers/options.ts";
import { describeData } from "../schema.ts";
import { looksLikeTable } from "../table/detect.ts";
import type { TableLike } from "../table/encoder.ts";
import { Table } from "../table/table.ts";
import { atImageSize, chooseImageSize } from "./image-size.ts";
import { type Recipe, recipeFor } from "./recipe.ts";
import type { RecipeOptions } from "./task.ts";

/** How `train` chooses and what the model remembers. */
export interface TrainOptions extends RecipeOptions {
  /** The options by which the data was read; the model remembers those that matter for further rows. */
  readonly reading?: ReadOptions;
}

/** What `train` takes: data as readers give it, or rows of numbers as plain arrays. */
export type TrainingData = DataSet | (Omit<MatrixData, "x"> & { readonly x: MatrixLike });

/** What a model trained on `D` takes. */
type Taken<D> = D extends { form: "text" } ? readonly string[] : D extends { form: "table" } ? TableLike : MatrixLike;

/** A trained model and the recipe it was made by. Data with labels gives a classifier. */
export interface Trained<D extends TrainingData = DataSet> {
  readonly model: D extends { readonly y: RowLabels } ? PredictingModel<Taken<D>> : Model;
  readonly recipe: Recipe;
}

/**
 * Trains what suits the data: patches for images, weighted words for text, thresholds for several labels, and so on. Labelled rows of
 * numbers whose columns have units of their own (`looksLikeTable`) are encoded as a table, as `ranksim train` does. Images that were
 * read in several sizes (`readData(folder, { sizes: IMAGE_SIZES })`) are trained on in the size that is best on held-out images.
 *
 * ```ts
 * const { model, recipe } = await train({ form: "matrix", x, y }, { preset: "balanced" });
 * console.log(recipe.about, await model.predict(rows));
 * ```
 */
export async function train<D extends TrainingData>(given: D, options: TrainOptions & Run = {}): Promise<Trained<D>> {
  const run = runOf(options);
  const { data, reading } = await sized(tabled(dataOf(given)), options, run);
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

/** What was given, with its rows as a matrix; refused with the cure where it is no data. */
function dataOf(given: TrainingData): DataSet {
  if (given?.form === "matrix") return { ...given, x: asMatrix(given.x) };
  const rows = given?.form === "text" ? given.text : given?.form === "table" ? given.table : undefined;
  if (rows !== undefined) return given as DataSet;
  const found = Array.isArray(given) || isMatrix(given) ? "rows alone" : foundIn(given);
  throw new RanksimError(
    "bad-params",
    `train: expected one object, { form: "matrix", x, y }, { form: "text", text, y } or { form: "table", table, y }, found ${found}`,
  );
}

function foundIn(given: unknown): string {
  if (typeof given !== "object" || given === null) return given === null ? "null" : `a value of type ${typeof given}`;
  if (given instanceof Promise) return "a promise; did you forget await?";
  const { form } = given as { form?: unknown };
  return form === undefined ? "one without form" : `one of form ${JSON.stringify(form)} and without its rows`;
}

/** Rows of numbers that are a table, as one; the model takes both. Other data as it is. */
function tabled(data: DataSet): DataSet {
  if (data.form !== "matrix" || data.y === undefined || data.imageSize) return data;
  const { x, featureNames, ...facts } = data;
  return looksLikeTable(x, featureNames) ? { ...facts, form: "table", table: Table.fromMatrix(x, featureNames) } : data;
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
