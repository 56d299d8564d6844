/** A model with rows of its own, by which its answers can be seen: those most like a row, and all of them as a map. */

import {
  asMatrix,
  BlendModel,
  ClassifierModel,
  ConformalModel,
  type Dense,
  type Label,
  type LabelSets,
  type Labels,
  type Matrix,
  type MatrixLike,
  type Model,
  type ModelReader,
  PipelineModel,
  ProbabilisticModel,
  RanksimError,
  type Run,
  type Saved,
  schemaOf,
  type TransformingModel,
  TransformModel,
  withSchema,
} from "@ranksim/core";
import { Lock } from "@ranksim/core/backend";
import { bad, encodeLabels, isLabelSets, partOfRun, readClasses, vector } from "@ranksim/core/internal";
import { RankMap, type RankMapModel } from "../map/rank-map.ts";
import { type IndexParams, RankIndex, RankIndexModel, type SearchOptions } from "./rank-index.ts";
import type { Neighbours } from "./similarity.ts";

/** The rows most like each of some, with their labels where these were kept: entry `r * k + j`. */
export interface LabelledNeighbours extends Neighbours {
  readonly labels?: readonly Label[];
}

/** The steps that rows go through before they are compared: words of texts, codes of tables, patches of images; of a blend those of the part that counts most. */
function stepsBefore(model: Model): readonly TransformingModel<unknown>[] {
  if (model instanceof ConformalModel) return stepsBefore(model.model as Model);
  if (model instanceof BlendModel) return stepsBefore(model.steps[model.weights.indexOf(Math.max(...model.weights))]);
  if (!(model instanceof PipelineModel)) return [];
  const { steps } = model as { readonly steps: readonly Model[] };
  const filters = steps.findIndex(
    (step) => step instanceof ClassifierModel || step instanceof ProbabilisticModel || step instanceof TransformModel,
  );
  return steps.slice(0, filters < 0 ? steps.length - 1 : filters) as unknown as TransformingModel<unknown>[];
}

/** Rows as a model compares them. */
export async function asCompared(model: Model, x: unknown, run: Run = {}): Promise<Matrix> {
  const steps = stepsBefore(model);
  let data = x;
  for (const [s, step] of steps.entries())
    data = await step.transform(data, partOfRun(run, s / steps.length, (s + 1) / steps.length));
  return asMatrix(data as MatrixLike);
}

/** The names of labels, and the number of that of each row. */
interface KeptLabels {
  readonly classes: readonly Label[];
  readonly codes: Uint32Array;
}

/** How rows are kept. */
export type KeepOptions = Partial<IndexParams> & Run;

/**
 * The model with rows, such as those it was trained on, and their labels. Rows of several labels are kept without them.
 *
 * ```ts
 * const kept = await keepRows(model, x, y, { similarity: "cosine" });
 * const { rows, labels } = await kept.nearest(queries, 5);
 * ```
 */
export async function keepRows<X = MatrixLike>(
  model: Model,
  x: X,
  y?: Labels | LabelSets,
  { similarity, lists, seed, ...run }: KeepOptions = {},
): Promise<KeptRowsModel<X>> {
  if (model instanceof KeptRowsModel)
    throw new RanksimError("unsupported", "the model keeps rows already: give the one it was made of, its `model`");
  const given = { similarity, lists, seed };
  const params = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const rows = await asCompared(model, x, partOfRun(run, 0, 0.3));
  const labels = y && !isLabelSets(y) ? encodeLabels(y, rows.rows) : undefined;
  const index = await new RankIndex(params).fit(rows, undefined, partOfRun(run, 0.3, 1));
  const kept = new KeptRowsModel<X>(model, index, labels);
  const schema = schemaOf(model);
  return schema ? withSchema(kept, schema) : kept;
}

/** A model that keeps rows. Made by `keepRows` or `loadModel`. */
export class KeptRowsModel<X = MatrixLike> implements Model {
  readonly kind = "kept-rows";
  /** The model itself: `kept.model.predict(x)`. */
  readonly model: Model;
  /** The rows as the model compares them. */
  readonly index: RankIndexModel;
  readonly #labels: KeptLabels | undefined;
  readonly #lock = new Lock();
  #map: RankMapModel | undefined;

  /** Use `keepRows`, or `loadModel`. */
  constructor(model: Model, index: RankIndexModel, labels?: KeptLabels) {
    this.model = model;
    this.index = index;
    this.#labels = labels;
  }

  /** The steps that rows go through before they are compared. */
  get steps(): readonly TransformingModel<unknown>[] {
    return stepsBefore(this.model);
  }

  /** The k kept rows most like each row of `x`, as `RankIndexModel.search` has them, with their labels. */
  async nearest(x: X, k: number, options: SearchOptions = {}): Promise<LabelledNeighbours> {
    const { probes, ...run } = options;
    const rows = await asCompared(this.model, x, partOfRun(run, 0, 0.3));
    const found = await this.index.search(rows, k, { ...partOfRun(run, 0.3, 1), ...(probes ? { probes } : {}) });
    return this.withLabels(found);
  }

  /** Neighbours found in the index, with their labels. */
  withLabels(found: Neighbours): LabelledNeighbours {
    if (!this.#labels) return found;
    const { classes, codes } = this.#labels;
    return { ...found, labels: Array.from(found.rows, (row) => classes[codes[row]]) };
  }

  /** The place of each row of `x` on a map of the kept rows, rows x 2. The map is made by the first call. */
  async map(x: X, run: Run = {}): Promise<Dense> {
    const rows = await asCompared(this.model, x, partOfRun(run, 0, 0.1));
    const map = await this.#lock.run(async () => {
      const { similarity, seed } = this.index.params as unknown as IndexParams;
      this.#map ??= await new RankMap({ similarity, seed }).fit(this.index.rows, undefined, partOfRun(run, 0.1, 0.9));
      return this.#map;
    });
    return map.transform(rows, partOfRun(run, 0.9, 1));
  }

  save(): Saved {
    const { kind, model, index } = this;
    const steps = [model.save(), index.save()];
    if (!this.#labels) return { kind, meta: {}, arrays: {}, steps };
    const { classes, codes } = this.#labels;
    return { kind, meta: { classes }, arrays: { label: { shape: [codes.length], values: codes } }, steps };
  }
}

/** Reads a stored model with rows; its steps need readers of their own. */
export const keptRowsReader: ModelReader<KeptRowsModel> = {
  kind: "kept-rows",
  read: (saved, readStep) => {
    if (saved.steps?.length !== 2) throw bad(saved, `expected 2 steps, found ${saved.steps?.length ?? 0}`);
    const [model, index] = saved.steps.map(readStep);
    if (!(index instanceof RankIndexModel)) throw bad(saved, `expected an index, found a ${index.kind}`);
    if (model instanceof KeptRowsModel) throw bad(saved, "expected a model, found one that keeps rows");
    if (saved.arrays.label === undefined) return new KeptRowsModel(model, index);
    const classes = readClasses(saved);
    const codes = vector(saved, "label", Uint32Array, index.rows.rows);
    const wrong = codes.find((c) => c >= classes.length);
    if (wrong !== undefined) throw bad(saved, `label: expected numbers below ${classes.length}, found ${wrong}`);
    return new KeptRowsModel(model, index, { classes, codes });
  },
};
