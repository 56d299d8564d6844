/**
 * What several transforms make of the same rows, side by side, for a classifier that weighs all of it: columns and their similarities to
 * filters, words and characters. Each part is scaled so that its rows are as long as those of the others, on average.
 */

import { RanksimError } from "../errors.ts";
import { Csr } from "../matrix/csr.ts";
import type { LabelSets, Labels } from "../matrix/labels.ts";
import { asMatrix, isMatrix, type Matrix, type MatrixLike, toCsr } from "../matrix/matrix.ts";
import type { Saved } from "../model-file/saved.ts";
import { bad, stored, vector } from "../model-file/stored/arrays.ts";
import { FLAG } from "../model-file/stored/record.ts";
import type { Estimator, Model, ModelReader, Run, TransformingModel } from "./estimator.ts";
import { changedSteps, namedSteps, type Step, wrongName } from "./named-steps.ts";
import { isTransformer } from "./pipeline.ts";
import { advance, partOfRun } from "./run.ts";

/** How parts are put side by side. */
export interface UnionOptions {
  /** Whether the rows as they are come first. They then have to be numbers. */
  readonly rows?: boolean;
}

/**
 * Puts what transforms make of rows side by side.
 *
 * ```ts
 * const both = new Union([["similar", new RankSimilarityTransform({ filters: 100 })]], { rows: true });
 * const model = await new Pipeline([both, new LinearClassifier()]).fit(x, y);
 * ```
 */
export class Union<X = MatrixLike> implements Estimator<X, UnionModel<X>> {
  readonly kind = "union";
  /** The parameters of all parts, each under "part.parameter". */
  readonly params: { readonly [name: string]: unknown };
  readonly names: readonly string[];
  readonly estimators: readonly Estimator<never>[];
  readonly #hasRows: boolean;

  constructor(parts: readonly Step<Estimator<X>>[], { rows = false }: UnionOptions = {}) {
    const { names, estimators, params } = namedSteps(this.kind, parts);
    this.names = names;
    this.estimators = estimators;
    this.params = params;
    this.#hasRows = rows;
  }

  /** A copy with some parameters changed, each named "part.parameter". */
  with(changes: { readonly [name: string]: unknown }): Union<X> {
    return new Union(changedSteps(this.kind, this, changes) as readonly Step<Estimator<X>>[], { rows: this.#hasRows });
  }

  /** Fits each transform on the rows, and measures what it makes of them. */
  async fit(x: X, y?: Labels | LabelSets, run: Run = {}): Promise<UnionModel<X>> {
    const count = this.estimators.length;
    const models: TransformingModel<X>[] = [];
    const scales: number[] = this.#hasRows ? [scaleOf(numbersOf(x))] : [];
    for (const [j, estimator] of this.estimators.entries()) {
      const fitting = partOfRun(run, j / count, (j + 0.5) / count, this.names[j]);
      const model = await estimator.fit(x as never, y, fitting);
      if (!isTransformer(model)) {
        throw new RanksimError("unsupported", `union, part ${this.names[j]}: a ${model.kind} does not transform`);
      }
      models.push(model as unknown as TransformingModel<X>);
      const made = await model.transform(x as never, partOfRun(run, (j + 0.5) / count, (j + 1) / count));
      scales.push(scaleOf(made));
    }
    return new UnionModel(this.names, models, this.#hasRows, Float64Array.from(scales));
  }
}

/** Trained transforms side by side. Made by `Union.fit` or `loadModel`. */
export class UnionModel<X = MatrixLike> implements TransformingModel<X> {
  readonly kind = "union";
  readonly names: readonly string[];
  readonly steps: readonly TransformingModel<X>[];
  /** Whether the rows as they are come first. */
  readonly hasRows: boolean;
  /** What the values of each part are multiplied by, those of the rows first. Not to be written to. */
  readonly scales: Float64Array;

  /** Columns that it takes; undefined of texts and tables. */
  get features(): number | undefined {
    return (this.steps[0] as { readonly features?: number }).features;
  }

  /** Use `Union.fit` or `loadModel`. */
  constructor(
    names: readonly string[],
    steps: readonly TransformingModel<X>[],
    hasRows: boolean,
    scales: Float64Array,
  ) {
    this.names = names;
    this.steps = steps;
    this.hasRows = hasRows;
    this.scales = scales;
  }

  /** The features of the rows, if they come first, then those of each transform in turn; float32. */
  async transform(x: X, run: Run = {}): Promise<Csr> {
    const parts: Csr[] = this.hasRows ? [toCsr(numbersOf(x))] : [];
    for (const [j, step] of this.steps.entries()) {
      const part = partOfRun(run, j / this.steps.length, (j + 1) / this.steps.length);
      parts.push(toCsr(await step.transform(x, part)));
    }
    await advance(run, { stage: "transform", share: 1 });
    return sideBySide(parts, this.scales);
  }

  save(): Saved {
    return {
      kind: this.kind,
      meta: { names: this.names, rows: this.hasRows },
      arrays: { scales: stored(this.scales) },
      steps: this.steps.map((step) => step.save()),
    };
  }
}

function numbersOf(x: unknown): Matrix {
  if (isMatrix(x) || Array.isArray(x)) return asMatrix(x as MatrixLike);
  throw new RanksimError("bad-matrix", "union: expected rows of numbers, to come before what transforms make of them");
}

/** 1 / the root of the mean of x·x. */
function scaleOf(x: Matrix): number {
  const values = x.form === "csr" ? x.values.subarray(x.offsets[0], x.offsets[x.rows]) : x.values;
  let sum = 0;
  for (const value of values) sum += value * value;
  const scale = Math.sqrt(x.rows / sum);
  return Number.isFinite(scale) && scale > 0 ? scale : 1;
}

function sideBySide(parts: readonly Csr[], scales: Float64Array): Csr {
  const { rows } = parts[0];
  const entries = parts.reduce((sum, part) => sum + part.entries, 0);
  const offsets = new Uint32Array(rows + 1);
  const indices = new Uint32Array(entries);
  const values = new Float32Array(entries);
  let at = 0;
  for (let r = 0; r < rows; r++) {
    let first = 0;
    for (const [p, part] of parts.entries()) {
      for (let e = part.offsets[r]; e < part.offsets[r + 1]; e++) {
        indices[at] = first + part.indices[e];
        values[at++] = part.values[e] * scales[p];
      }
      first += part.features;
    }
    offsets[r + 1] = at;
  }
  return Csr.of(offsets, indices, values, parts.reduce((sum, { features }) => sum + features, 0)); // biome-ignore format: one line
}

/** Reads a stored union. */
export const unionReader: ModelReader = {
  kind: "union",
  read: (saved, readStep) => {
    const { names, rows } = saved.meta;
    if (!Array.isArray(names) || names.length === 0 || !names.every((name) => typeof name === "string")) {
      throw bad(saved, "names: expected a list of strings");
    }
    const wrong = wrongName(names) ?? FLAG(rows, "rows");
    if (wrong) throw bad(saved, wrong);
    if (saved.steps?.length !== names.length) {
      throw bad(saved, `expected ${names.length} parts as named, found ${saved.steps?.length ?? "none"}`);
    }
    const steps: Model[] = saved.steps.map(readStep);
    const stuck = steps.findIndex((step) => !isTransformer(step));
    if (stuck >= 0) throw bad(saved, `part ${names[stuck]}: a ${steps[stuck].kind} does not transform`);
    const scales = vector(saved, "scales", Float64Array, names.length + (rows ? 1 : 0));
    if (!scales.every((scale) => scale > 0 && Number.isFinite(scale))) {
      throw bad(saved, "scales: expected finite numbers above 0");
    }
    return new UnionModel(names, steps as TransformingModel[], rows as boolean, scales);
  },
};
