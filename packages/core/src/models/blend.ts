/**
 * Several classifiers of the same rows as one: its probabilities are the weighted mean of theirs. One classifier by itself may be blended
 * to decide in another way: the class that gains most over its share of the training rows, so that rare classes are found.
 */

import { RanksimError } from "../errors.ts";
import { indexOfLargest } from "../kernels/measure.ts";
import { Dense } from "../matrix/dense.ts";
import { encodeLabels, isLabelSets, type Label, type LabelSets, type Labels } from "../matrix/labels.ts";
import type { MatrixLike } from "../matrix/matrix.ts";
import type { Weighted } from "../matrix/row-weights.ts";
import type { Saved } from "../model-file/saved.ts";
import { bad, stored, vector } from "../model-file/stored/arrays.ts";
import { CombinedModel } from "./combined.ts";
import type { Estimator, ModelReader, PredictingModel, Run, SureOptions } from "./estimator.ts";
import { changedSteps, namedSteps, type Step, wrongName } from "./named-steps.ts";
import { isClassifier } from "./pipeline.ts";
import { partOfRun } from "./run.ts";

/** How classifiers are blended. */
export interface BlendOptions {
  /** What the probabilities of each count; default: the same. */
  readonly weights?: readonly number[];
  /** What decides the class: the largest probability, or the largest in relation to the share of the class among the training rows. */
  readonly decide?: "probable" | "balanced";
}

type Classifying<X> = PredictingModel<X, Label>;

/**
 * Blends classifiers.
 *
 * ```ts
 * const both = new Blend([new LinearClassifier(), new RankSimilarityClassifier({ calibrate: "temperature" })]);
 * const model = await both.fit(x, y);
 * ```
 */
export class Blend<X = MatrixLike> implements Estimator<X, BlendModel<X>> {
  readonly kind = "blend";
  readonly takesWeights = true;
  /** The parameters of all parts, each under "part.parameter". */
  readonly params: { readonly [name: string]: unknown };
  readonly names: readonly string[];
  readonly estimators: readonly Estimator<never>[];
  readonly options: Required<BlendOptions>;

  constructor(parts: readonly Step<Estimator<X, Classifying<X>>>[], options: BlendOptions = {}) {
    const { names, estimators, params } = namedSteps(this.kind, parts);
    const { weights = names.map(() => 1), decide = "probable" } = options;
    if (weights.length !== names.length || !weights.every(isWeight)) {
      throw new RanksimError("bad-params", `blend: expected ${names.length} weights above 0, found ${weights}`);
    }
    this.names = names;
    this.estimators = estimators;
    this.params = params;
    this.options = { weights, decide };
  }

  /** A copy with some parameters changed, each named "part.parameter". */
  with(changes: { readonly [name: string]: unknown }): Blend<X> {
    return new Blend(
      changedSteps(this.kind, this, changes) as readonly Step<Estimator<X, Classifying<X>>>[],
      this.options,
    );
  }

  /** Fits each classifier on the rows. */
  async fit(x: X, y?: Labels | LabelSets, run: Run & Weighted = {}): Promise<BlendModel<X>> {
    if (y === undefined || isLabelSets(y)) {
      throw new RanksimError("bad-labels", "blend: expected one label for each row, found none or several");
    }
    const count = this.estimators.length;
    const models: Classifying<X>[] = [];
    for (const [j, estimator] of this.estimators.entries()) {
      const model = await estimator.fit(x as never, y, partOfRun(run, j / count, (j + 1) / count, this.names[j]));
      models.push(
        classifying(model, (what) => new RanksimError("unsupported", `blend, part ${this.names[j]}: ${what}`)),
      );
    }
    const { weights, decide } = this.options;
    const sum = weights.reduce((a, b) => a + b);
    const { classes, codes } = encodeLabels(y, y.length);
    const rows = new Float64Array(classes.length);
    for (const code of codes) rows[code]++;
    return new BlendModel<X>({
      names: this.names,
      steps: models,
      weights: Float64Array.from(weights, (weight) => weight / sum),
      odds: decide === "balanced" ? rows.map((count) => codes.length / (count * classes.length)) : undefined,
    });
  }
}

const isWeight = (weight: number): boolean => weight > 0 && Number.isFinite(weight);

/** What a blend consists of. */
interface BlendParts<X> {
  readonly names: readonly string[];
  readonly steps: readonly Classifying<X>[];
  /** What the probabilities of each part count; together 1. */
  readonly weights: Float64Array;
  /** What the probability of each class is multiplied by before the largest names the class. */
  readonly odds: Float64Array | undefined;
}

/** Trained classifiers, blended. Made by `Blend.fit` or `loadModel`. */
export class BlendModel<X = MatrixLike> extends CombinedModel<X> {
  readonly kind = "blend";
  readonly names: readonly string[];
  readonly steps: readonly Classifying<X>[];
  readonly classes: readonly Label[];
  /** What the probabilities of each part count; together 1. Not to be written to. */
  readonly weights: Float64Array;
  /** What the probability of each class is multiplied by before the largest names the class; absent: nothing. Not to be written to. */
  readonly odds: Float64Array | undefined;

  /** Use `Blend.fit` or `loadModel`. */
  constructor({ names, steps, weights, odds }: BlendParts<X>) {
    super();
    this.names = names;
    this.steps = steps;
    this.classes = steps[0].classes;
    this.weights = weights;
    this.odds = odds;
  }

  /** The class of the largest probability, multiplied by the odds of the class where there are some; the lower of equals. */
  predict(x: X, options: Run & SureOptions): Promise<(Label | null)[]>;
  predict(x: X, run?: Run): Promise<Label[]>;
  async predict(x: X, { threshold, ...run }: Run & Partial<SureOptions> = {}): Promise<(Label | null)[]> {
    if (threshold !== undefined) return (await import("./asked.ts")).sureAnswers(this, x, threshold, run);
    const { values, rows } = await this.predictProbabilities(x, run);
    const { classes, odds } = this;
    const c = classes.length;
    const scores = odds ? Float64Array.from(values, (value, e) => value * odds[e % c]) : (values as Float64Array);
    return Array.from({ length: rows }, (_, r) => classes[indexOfLargest(scores, r * c, c)]);
  }

  /** The weighted mean of the probabilities of the parts: rows x classes in the order of `classes`. */
  async predictProbabilities(x: X, run: Run = {}): Promise<Dense> {
    let sums = new Float64Array(0);
    let rows = 0;
    for (const [j, step] of this.steps.entries()) {
      const part = partOfRun(run, j / this.steps.length, (j + 1) / this.steps.length);
      const found = await (step.predictProbabilities as NonNullable<typeof step.predictProbabilities>)(x, part);
      if (j === 0) sums = new Float64Array(found.values.length);
      for (let e = 0; e < sums.length; e++) sums[e] += this.weights[j] * found.values[e];
      rows = found.rows;
    }
    return Dense.of(sums, rows, this.classes.length);
  }

  /** Accuracy: the share of rows given their own label. */
  async score(x: X, y: Labels | LabelSets, run: Run = {}): Promise<number> {
    const { shareRight } = await import("./score.ts");
    return shareRight(await this.predict(x, run), y, this.classes);
  }

  save(): Saved {
    const { names, weights, odds } = this;
    return {
      kind: this.kind,
      meta: { names },
      arrays: { weights: stored(weights), ...(odds ? { odds: stored(odds) } : {}) },
      steps: this.steps.map((step) => step.save()),
    };
  }
}

/** The model as one whose probabilities can be blended. */
function classifying<X>(model: unknown, refusal: (what: string) => RanksimError): Classifying<X> {
  const found = model as PredictingModel<X>;
  if (!isClassifier(found)) throw refusal(`a ${found.kind} names no class`);
  if (!found.predictProbabilities) throw refusal(`a ${found.kind} has no probabilities`);
  return found as Classifying<X>;
}

/** Reads a stored blend. */
export const blendReader: ModelReader = {
  kind: "blend",
  read: (saved, readStep) => {
    const { names } = saved.meta;
    if (!Array.isArray(names) || names.length === 0 || !names.every((name) => typeof name === "string")) {
      throw bad(saved, "names: expected a list of strings");
    }
    const wrong = wrongName(names);
    if (wrong) throw bad(saved, wrong);
    if (saved.steps?.length !== names.length) {
      throw bad(saved, `expected ${names.length} parts as named, found ${saved.steps?.length ?? "none"}`);
    }
    const steps = saved.steps.map((step, j) =>
      classifying<MatrixLike>(readStep(step), (what) => bad(saved, `part ${names[j]}: ${what}`)),
    );
    const classes = JSON.stringify(steps[0].classes);
    if (steps.some((step) => JSON.stringify(step.classes) !== classes || ("multilabel" in step && step.multilabel))) {
      throw bad(saved, "expected parts that name the same classes, one for each row");
    }
    const weights = vector(saved, "weights", Float64Array, names.length);
    const odds = saved.arrays.odds && vector(saved, "odds", Float64Array, steps[0].classes.length);
    if (![...weights, ...(odds ?? [])].every(isWeight)) {
      throw bad(saved, "weights and odds: expected finite numbers above 0");
    }
    return new BlendModel({ names, steps, weights, odds });
  },
};
