/**
 * Texts made numbers once: candidates of `tune` whose pipelines begin with the same steps share what these make of each fold. The
 * scores are the same as without; only the counting of words is not done again for every candidate.
 */

import {
  type Estimator,
  type LabelSets,
  type Labels,
  type Matrix,
  type MatrixLike,
  type Model,
  Pipeline,
  type PipelineModel,
  type PredictingModel,
  type Run,
  type Steps,
} from "@ranksim/core";
import type { Fold, Samples } from "../select/split.ts";
import { type FoldRows, rowsOf } from "../select/validation.ts";
import { arrayBytes } from "./prediction-cost.ts";

/** The last step of a pipeline, with the folds as the steps before it leave them. */
export interface Shared {
  readonly last: Estimator<MatrixLike, PredictingModel>;
  open(fold: number, run: Run): Promise<FoldRows<Matrix> & { readonly bytes: number }>;
}

/** What the first steps of pipelines make of the folds of one round. Nothing is shared of data that is numbers already: it is large. */
export class SharedSteps {
  readonly #x: Samples;
  readonly #y: Labels | LabelSets;
  readonly #folds: readonly Fold[];
  readonly #made = new Map<string, Promise<FoldRows<Matrix> & { readonly bytes: number }>>();

  constructor(x: Samples, y: Labels | LabelSets, folds: readonly Fold[]) {
    this.#x = x;
    this.#y = y;
    this.#folds = folds;
  }

  /** The candidate's last step, if it is a pipeline that takes texts and has steps before it. */
  of(estimator: Estimator<never, Model>): Shared | undefined {
    const isText = Array.isArray(this.#x) && typeof this.#x[0] === "string";
    if (!isText || !(estimator instanceof Pipeline) || estimator.names.length < 2) return undefined;
    const before = estimator.estimators.slice(0, -1);
    if (before.some(({ params }) => Object.values(params).some((value) => typeof value === "function")))
      return undefined;
    const key = JSON.stringify(before.map(({ kind, params }) => [kind, params]));
    const named = before.map((step, j) => [estimator.names[j], step] as const);
    const lead = new Pipeline(named as unknown as Steps<Samples, Model>);
    return {
      last: estimator.estimators[before.length] as unknown as Estimator<MatrixLike, PredictingModel>,
      open: (fold, run) => {
        const name = `${fold} ${key}`;
        const found = this.#made.get(name) ?? this.#make(lead, this.#folds[fold], run);
        this.#made.set(name, found);
        return found;
      },
    };
  }

  async #make(lead: Pipeline<Samples, Model>, fold: Fold, run: Run): Promise<FoldRows<Matrix> & { bytes: number }> {
    const quiet = run.signal ? { signal: run.signal } : {};
    const { train, test } = rowsOf(this.#x, this.#y, fold);
    const model = await lead.fit(train.x, train.y, quiet);
    const transform = (x: Samples) => (model as unknown as Transforming).transform(x, quiet);
    return {
      train: { x: await transform(train.x), y: train.y },
      test: { x: await transform(test.x), y: test.y },
      bytes: arrayBytes(model.save()),
    };
  }
}

type Transforming = PipelineModel<Samples, Model & { transform(x: Samples, run?: Run): Promise<Matrix> }>;
