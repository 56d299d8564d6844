/**
 * Sets of classes with guaranteed coverage (split conformal prediction, deviation 34). Some rows are held out of training, apart from those that
 * probabilities are fitted to. A class belongs to a row's set if 1 minus its probability is no larger than the
 * ⌈(n + 1) · coverage⌉-th smallest of the same numbers for the true classes of the n rows held out. Of rows drawn like these, the set holds
 * the true class with at least the probability `coverage`, for any model; a poor one gives large sets.
 *
 * The same rows say which rows are known (deviation 35): a row that is less like the filters than nearly all of them is unlike
 * what was trained on. Of rows drawn like these, at most the share `reject` is refused.
 */

import { RanksimError } from "../errors.ts";
import type { Dense } from "../matrix/dense.ts";
import type { Label, LabelSets, Labels } from "../matrix/labels.ts";
import type { MatrixLike } from "../matrix/matrix.ts";
import type { Saved } from "../model-file/saved.ts";
import { bad, vector } from "../model-file/stored/arrays.ts";
import { CombinedModel } from "./combined.ts";
import type { ModelReader, PredictingModel, Run, SureOptions } from "./estimator.ts";
import { isClassifier } from "./pipeline.ts";

/** How sure sets have to be. */
export interface SetOptions {
  /** Least probability that a set holds the true class, above 0 and below 1. */
  readonly coverage?: number;
}

/** Which rows are given no class. */
export interface RejectOptions {
  /** Share of known rows that may be refused at most, above 0 and below 1: a row whose novelty is above 1 minus this is given none. */
  readonly reject: number;
}

/** A model that says how much rows are like what it was trained on. */
interface Familiar<X> {
  familiarity(x: X, run?: Run): Promise<Float64Array>;
}

const isFamiliar = <X>(model: object): model is Familiar<X> => "familiarity" in model;

/** Some rows with their labels. */
export interface LabelledRows<X> {
  readonly x: X;
  readonly y: Labels;
}

/** A trained model with sets, by rows it was not trained on and whose probabilities were not fitted to. */
export function conformalOf<X>(
  model: PredictingModel<X, Label>,
  x: X,
  y: Labels,
  run: Run = {},
): Promise<ConformalModel<X>> {
  return conformalOn(model, [{ x, y }], run);
}

/** The same of rows that come in blocks. */
export async function conformalOn<X>(
  model: PredictingModel<X, Label>,
  blocks: Iterable<LabelledRows<X>> | AsyncIterable<LabelledRows<X>>,
  run: Run,
): Promise<ConformalModel<X>> {
  const place = new Map(model.classes.map((label, c) => [label, c]));
  const scores: number[] = [];
  const known: number[] = [];
  for await (const { x, y } of blocks) {
    const probabilities = await model.predictProbabilities?.(x, run);
    if (!probabilities)
      throw new RanksimError("unsupported", `a ${model.kind} model has no probabilities to make sets of`);
    if (y.length !== probabilities.rows) {
      throw new RanksimError(
        "bad-labels",
        `expected ${probabilities.rows} labels, one for each row, found ${y.length}`,
      );
    }
    for (let r = 0; r < probabilities.rows; r++) {
      const c = place.get(y[r]);
      // A class that the model does not know is missed by every set except the set of all classes.
      scores.push(c === undefined ? 1 : 1 - probabilities.row(r)[c]);
    }
    if (isFamiliar<X>(model)) for (const value of await model.familiarity(x, run)) known.push(value);
  }
  if (scores.length === 0) throw new RanksimError("empty-input", "conformal sets: expected at least 1 row, found none");
  const ascending = (values: readonly number[]) => Float64Array.from(values).sort();
  return new ConformalModel(model, ascending(scores), isFamiliar(model) ? ascending(known) : undefined);
}

/** A model that also answers with sets of classes. */
export class ConformalModel<X = MatrixLike> extends CombinedModel<X> {
  readonly kind = "conformal";
  readonly model: PredictingModel<X, Label>;
  readonly classes: readonly Label[];
  /** 1 minus the probability of the true class of each row held out, ascending. */
  readonly scores: Float64Array;

  /** How much each row held out is like the filter it is most like, ascending; absent where the model cannot say. */
  readonly known: Float64Array | undefined;

  /** Use `ConformalClassifier.fit`, `conformalOf` or `loadModel`. */
  constructor(model: PredictingModel<X, Label>, scores: Float64Array, known?: Float64Array) {
    super();
    this.model = model;
    this.classes = model.classes;
    this.scores = scores;
    this.known = known;
  }

  /** The class of each row; null for rows that are unlike what was trained on, where `reject` says how sure that has to be. */
  predict(x: X, options: Run & (RejectOptions | SureOptions)): Promise<(Label | null)[]>;
  predict(x: X, run?: Run): Promise<Label[]>;
  async predict(x: X, run: Run & Partial<RejectOptions & SureOptions> = {}): Promise<(Label | null)[]> {
    const { reject, threshold, ...rest } = run;
    const labels =
      threshold === undefined
        ? await this.model.predict(x, rest)
        : await (await import("./asked.ts")).sureAnswers(this.model, x, threshold, rest);
    if (reject === undefined) return labels;
    if (!(reject > 0 && reject < 1)) {
      throw new RanksimError("bad-params", `reject: expected a number above 0 and below 1, found ${reject}`);
    }
    const novelty = await this.novelty(x, rest);
    return labels.map((label, r) => (novelty[r] > 1 - reject ? null : label));
  }

  /**
   * How unlike what was trained on each row is, from 0 to 1: the share of rows held out that are more like the filters. Of known rows
   * it is above 1 - a with a probability of at most a.
   */
  async novelty(x: X, run: Run = {}): Promise<Float64Array> {
    const { known, model } = this;
    if (!known || !isFamiliar<X>(model)) {
      throw new RanksimError(
        "unsupported",
        `a ${model.kind} that ends with no filters of classes cannot say how novel rows are; train for reject (--for reject)`,
      );
    }
    const found = await model.familiarity(x, run);
    return found.map((value) => 1 - (1 + countUpTo(known, value)) / (1 + known.length));
  }

  score(x: X, y: Labels | LabelSets, run?: Run): Promise<number> {
    return this.model.score(x, y, run);
  }

  predictProbabilities(x: X, run?: Run): Promise<Dense> {
    return (this.model.predictProbabilities as NonNullable<typeof this.model.predictProbabilities>)(x, run);
  }

  /** How improbable a class may be (1 minus its probability) that belongs to a set of this coverage; infinite where too few rows were held out. */
  limit(coverage: number): number {
    if (!(coverage > 0 && coverage < 1)) {
      throw new RanksimError("bad-params", `coverage: expected a number above 0 and below 1, found ${coverage}`);
    }
    const place = Math.ceil((this.scores.length + 1) * coverage);
    return place > this.scores.length ? Number.POSITIVE_INFINITY : this.scores[place - 1];
  }

  /** For each row the classes that cannot be ruled out, most probable first; all of them where too few rows were held out. */
  async predictSets(x: X, { coverage = 0.95, ...run }: SetOptions & Run = {}): Promise<Label[][]> {
    const limit = this.limit(coverage);
    const probabilities = await this.predictProbabilities(x, run);
    return Array.from({ length: probabilities.rows }, (_, r) => {
      const row = probabilities.row(r);
      const kept = Array.from(this.classes.keys()).filter((c) => 1 - row[c] <= limit);
      return kept.sort((a, b) => row[b] - row[a] || a - b).map((c) => this.classes[c]);
    });
  }

  save(): Saved {
    const list = (values: Float64Array) => ({ shape: [values.length], values });
    const arrays = { scores: list(this.scores), ...(this.known ? { known: list(this.known) } : {}) };
    return { kind: this.kind, meta: {}, arrays, steps: [this.model.save()] };
  }
}

/** How many of ascending values are at most `value`. */
function countUpTo(values: Float64Array, value: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Reads a stored model with sets. */
export const conformalReader: ModelReader = {
  kind: "conformal",
  read: (saved, readStep) => {
    if (saved.steps?.length !== 1) throw bad(saved, `expected 1 step, found ${saved.steps?.length ?? "none"}`);
    const scores = vector(saved, "scores", Float64Array);
    if (scores.length === 0) throw bad(saved, "scores: expected at least 1, found none");
    for (let r = 0; r < scores.length; r++) {
      if (!(scores[r] >= 0 && scores[r] <= 1 && (r === 0 || scores[r] >= scores[r - 1]))) {
        throw bad(saved, "scores: expected ascending numbers from 0 to 1");
      }
    }
    const model = readStep(saved.steps[0]);
    if (!isClassifier(model) || !model.predictProbabilities) throw bad(saved, `a ${model.kind} has no probabilities`);
    const known = saved.arrays.known && vector(saved, "known", Float64Array);
    if (known && !isFamiliar(model)) throw bad(saved, `known: a ${model.kind} cannot say how novel rows are`);
    if (known?.length !== (known && scores.length)) {
      throw bad(saved, `known: expected ${scores.length} numbers, found ${known?.length}`);
    }
    if (known?.some((value, r) => !Number.isFinite(value) || value < known[Math.max(0, r - 1)])) {
      throw bad(saved, "known: expected ascending numbers");
    }
    return new ConformalModel(model as unknown as PredictingModel<MatrixLike, Label>, scores, known);
  },
};
