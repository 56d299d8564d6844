/**
 * Several recipes as one: transforms, then an estimator or one more transform. A pipeline is an estimator and its result a
 * model, so both go wherever those go: cross-validation, searches, files, other pipelines. The first step may take text.
 */

import type { RowSource } from "../backends/contract.ts";
import { RanksimError, refuseJson } from "../errors.ts";
import type { Dense } from "../matrix/dense.ts";
import type { Label, LabelSets, Labels } from "../matrix/labels.ts";
import type { Matrix, MatrixLike } from "../matrix/matrix.ts";
import type { Weighted } from "../matrix/row-weights.ts";
import type { Copied } from "../matrix/shifted.ts";
import type { Saved } from "../model-file/saved.ts";
import { bad } from "../model-file/stored/arrays.ts";
import type {
  Classifier,
  Estimator,
  Explanation,
  Given,
  GrowingModel,
  LabelOf,
  Model,
  ModelReader,
  PredictingModel,
  Ranked,
  Run,
  SureOptions,
  TransformingModel,
} from "./estimator.ts";
import { changedSteps, namedSteps, type Step, wrongName } from "./named-steps.ts";
import type { PatchModel } from "./patches.ts";
import { advance, partOfRun } from "./run.ts";
import { inheritSchema, schemaOf } from "./schema.ts";

/** One recipe, or several of which all but the last must make transforming models. `X` is what the first takes. */
export type Steps<X, M extends Model> =
  | readonly [Step<Estimator<X, M>>]
  | readonly [Step<Estimator<X>>, ...Step<Estimator>[], Step<Estimator<MatrixLike, M>>];

/**
 * Runs data through transforms and into an estimator.
 *
 * ```ts
 * const pipeline = new Pipeline([
 *   ["scale", new StandardScaler()],
 *   ["head", new LinearClassifier()],
 * ]);
 * const model = await pipeline.with({ "head.c": 0.1 }).fit(x, y);
 * ```
 */
export class Pipeline<X = MatrixLike, M extends Model = Model> implements Estimator<X, PipelineModel<X, M>> {
  readonly kind = "pipeline";
  /** The parameters of all steps, each under "step.parameter". */
  readonly params: { readonly [name: string]: unknown };
  readonly names: readonly string[];
  readonly estimators: readonly Estimator<never>[];

  constructor(steps: Steps<X, M>) {
    const { names, estimators, params } = namedSteps(this.kind, steps as readonly Step<Estimator<never>>[]);
    this.names = names;
    this.estimators = estimators;
    this.params = params;
  }

  /** A copy with some parameters changed, each named "step.parameter". */
  with(changes: { readonly [name: string]: unknown }): Pipeline<X, M> {
    return new Pipeline(changedSteps(this.kind, this, changes) as unknown as Steps<X, M>);
  }

  /** Fits each transform on what the ones before it make of the rows, then the last step, which alone knows what rows weigh. */
  async fit(x: X, y?: Labels | LabelSets, run: Run & Weighted = {}): Promise<PipelineModel<X, M>> {
    const last = this.estimators[this.estimators.length - 1];
    if (run.weights && !("takesWeights" in last)) {
      throw new RanksimError(
        "unsupported",
        `pipeline, step ${this.names.at(-1)}: a ${last.kind} takes no weights of rows`,
      );
    }
    await advance(run, { stage: "fit", share: 0 });
    const { weights, ...rest } = run;
    const steps = this.estimators.length;
    const models: Model[] = [];
    let data: unknown = x;
    let copied: Copied = {};
    for (const [j, estimator] of this.estimators.entries()) {
      const isLast = j === steps - 1;
      const part = partOfRun(isLast ? run : rest, j / steps, (j + (isLast ? 1 : 0.5)) / steps, this.names[j]);
      const model = await estimator.fit(data as never, y, { ...part, ...copied });
      models.push(model);
      if (isLast) break;
      if (!isTransformer(model)) {
        throw new RanksimError("unsupported", `pipeline, step ${this.names[j]}: a ${model.kind} does not transform`);
      }
      const making = partOfRun(rest, (j + 0.5) / steps, (j + 1) / steps);
      const next = this.estimators[j + 1];
      copied = {};
      if ("takesCopies" in next && givesCopies(model)) {
        data = await model.withCopies(data as MatrixLike);
        copied = { copies: model.copies };
      }
      const sourced = !weights && "takesSource" in next && givesRows(model);
      data = sourced
        ? await model.rowsFor(data as MatrixLike, making)
        : await model.transform(data as MatrixLike, making);
    }
    await advance(run, { stage: "fit", share: 1 });
    return new PipelineModel<X, M>(this.names, models);
  }
}

/** Whether the model turns data into a matrix. */
export function isTransformer(model: Model): model is TransformingModel {
  return "transform" in model;
}

/** Whether the model can give what it makes of data as rows that are made when they are asked for. */
function givesRows(model: Model): model is Model & { rowsFor(x: MatrixLike, run?: Run): Promise<RowSource> } {
  return "rowsFor" in model;
}

/** Whether the model says which copies of rows are to be learned from as well. */
function givesCopies(model: Model): model is Model & Pick<PatchModel, "copies" | "withCopies"> {
  return "withCopies" in model;
}

/** Whether the model names classes. `X` is what it takes, which only who trained it knows: rows of numbers, texts, records. */
export function isClassifier<X = object>(model: Model): model is Classifier<Label, X> {
  return "predict" in model;
}

/** Whether the model takes in new rows. */
export function isUpdatable(model: Model): model is GrowingModel {
  return "partialFit" in model;
}

/** What `M` has under a name, as a pipeline that ends in it has it. */
type Ability<M, Name extends string, Given> = M extends { readonly [name in Name]: unknown } ? Given : never;

/** The labels that `M` predicts. */
type Predicted<M> = M extends { predict(x: never, run?: Run): Promise<(infer Y)[]> } ? Extract<Y, Given> : never;

/** Asks for the class of each row, or for what is sure. */
interface Predicting<X, Y> {
  (x: X, options: Run & SureOptions): Promise<(Y | null)[]>;
  (x: X, run?: Run): Promise<Y[]>;
}

/**
 * Trained steps. It has `transform`, or `predict` with `classes`, `score` and maybe `predictProbabilities`, and
 * `partialFit`, as the last step has them; what the last step lacks is absent.
 */
export class PipelineModel<X = MatrixLike, M extends Model = Model> implements Model {
  readonly kind = "pipeline";
  readonly names: readonly string[];
  readonly steps: readonly Model[];
  declare readonly transform: Ability<M, "transform", (x: X, run?: Run) => Promise<Matrix>>;
  declare readonly classes: Ability<M, "predict", readonly LabelOf<Predicted<M>>[]>;
  declare readonly predict: Ability<M, "predict", Predicting<X, Predicted<M>>>;
  declare readonly predictTop: Ability<
    M,
    "predict",
    (x: X, k: number, run?: Run) => Promise<Ranked<LabelOf<Predicted<M>>>[][]>
  >;
  /** Why one row of `x` gets its class or labels, with features by their names. */
  declare readonly explain: Ability<
    M,
    "predict",
    (x: X, row?: number, run?: Run) => Promise<Explanation<Predicted<M>>>
  >;
  declare readonly score: Ability<M, "predict", (x: X, y: Labels | LabelSets, run?: Run) => Promise<number>>;
  declare readonly predictProbabilities: Ability<M, "predictProbabilities", (x: X, run?: Run) => Promise<Dense>>;

  /** How much each row, as the steps before make it, is like the filter of the last step it is most like. */
  declare readonly familiarity: Ability<M, "familiarity", (x: X, run?: Run) => Promise<Float64Array>>;

  /** The pipeline with new rows added to its last step; the steps before it stay as they are. */
  declare readonly partialFit: Ability<
    M,
    "partialFit",
    (x: X, y?: Labels | LabelSets, run?: Run) => Promise<PipelineModel<X, M>>
  >;

  /** Use `Pipeline.fit` or `loadModel`. */
  constructor(names: readonly string[], steps: readonly Model[]) {
    this.names = names;
    this.steps = steps;
    Object.assign(this, this.#abilities());
  }

  toJSON(): never {
    return refuseJson();
  }

  save(): Saved {
    return {
      kind: this.kind,
      meta: { names: this.names },
      arrays: {},
      steps: this.steps.map((step) => step.save()),
    };
  }

  #abilities(): object {
    const last = this.steps[this.steps.length - 1];
    const found: { [name: string]: unknown } = {};
    const then =
      <T>(call: (data: MatrixLike, run: Run) => Promise<T>) =>
      async (x: X, run: Run = {}): Promise<T> => {
        const { data, rest } = await this.#prepare(x, run);
        return call(data, rest);
      };
    if (isTransformer(last)) found.transform = then((data, run) => last.transform(data, run));
    if (isClassifier<MatrixLike>(last)) {
      const self = this as unknown as PredictingModel<X, Given>;
      found.classes = last.classes;
      const predict = then((data, rest) => last.predict(data, rest));
      found.predict = async (x: X, { threshold, ...run }: Run & Partial<SureOptions> = {}) =>
        threshold === undefined ? predict(x, run) : (await import("./asked.ts")).sureAnswers(self, x, threshold, run);
      found.predictTop = async (x: X, k: number, run?: Run) => (await import("./asked.ts")).topAnswers(self, x, k, run);
      found.explain = async (x: X, row = 0, run?: Run) =>
        (await import("./asked.ts")).explainAnswer(this, schemaOf(this), x, row, run);
      found.score = (x: X, y: Labels | LabelSets, run?: Run) => then((data, rest) => last.score(data, y, rest))(x, run);
      const { predictProbabilities } = last;
      if (predictProbabilities) {
        found.predictProbabilities = then((data, run) => predictProbabilities.call(last, data, run));
      }
    }
    const { familiarity } = last as { familiarity?: (x: MatrixLike, run: Run) => Promise<Float64Array> };
    if (familiarity) found.familiarity = then((data, run) => familiarity.call(last, data, run));
    if (isUpdatable(last)) {
      found.partialFit = async (x: X, y?: Labels | LabelSets, run?: Run) => {
        const grown = await then((data, rest) => last.partialFit(data, y, rest))(x, run);
        return inheritSchema(new PipelineModel<X, M>(this.names, [...this.steps.slice(0, -1), grown]), this, true);
      };
    }
    return found;
  }

  /** What all steps but the last make of `x`, and the run for the last. */
  async #prepare(x: X, run: Run): Promise<{ data: MatrixLike; rest: Run }> {
    const before = this.steps.length - 1;
    let data: unknown = x;
    for (const [j, step] of this.steps.slice(0, -1).entries()) {
      const part = partOfRun(run, j / (before + 1), (j + 1) / (before + 1));
      data = await (step as TransformingModel).transform(data as MatrixLike, part);
    }
    return { data: data as MatrixLike, rest: partOfRun(run, before / (before + 1), 1) };
  }
}

/** Reads a stored pipeline. */
export const pipelineReader: ModelReader = {
  kind: "pipeline",
  read: (saved, readStep) => {
    const { names } = saved.meta;
    if (!Array.isArray(names) || names.length === 0 || !names.every((name) => typeof name === "string")) {
      throw bad(saved, "names: expected a list of strings");
    }
    const wrong = wrongName(names);
    if (wrong) throw bad(saved, wrong);
    if (saved.steps?.length !== names.length) {
      throw bad(saved, `expected ${names.length} steps as named, found ${saved.steps?.length ?? "none"}`);
    }
    if (Object.keys(saved.arrays).length > 0) throw bad(saved, "expected no arrays but those of the steps");
    const steps = saved.steps.map(readStep);
    const stuck = steps.slice(0, -1).findIndex((step) => !isTransformer(step));
    if (stuck >= 0) throw bad(saved, `step ${names[stuck]}: a ${steps[stuck].kind} does not transform`);
    return new PipelineModel(names, steps);
  },
};
