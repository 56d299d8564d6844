/**
 * A linear support vector machine, one class against the rest: what the paper puts behind the transform. The same problem
 * as scikit-learn's LinearSVC (dual, squared hinge by default, intercept through an extra feature), so weights agree
 * within the tolerance. It gives decision values, not probabilities.
 */

import { RanksimError } from "../errors.ts";
import type { Estimator, ModelReader, PredictingModel, Run } from "../estimators/estimator.ts";
import { checkParams, type ParameterInfo, paramsAsJson } from "../estimators/params.ts";
import { advance } from "../estimators/run.ts";
import { shareRight } from "../estimators/score.ts";
import { dotRow } from "../kernels/dot.ts";
import { Dense } from "../matrix/dense.ts";
import { encodeLabels, isLabelSets, type Label, type LabelSets, type Labels } from "../matrix/labels.ts";
import { type MatrixLike, matchingMatrix } from "../matrix/matrix.ts";
import type { Saved } from "../model-file/saved.ts";
import { bad, readClasses } from "../model-file/stored/filters.ts";
import { Streams } from "../random.ts";
import { type Loss, type Plane, prepare, separate } from "./coordinate-descent.ts";
import { fittingMatrix } from "./fitting-matrix.ts";
import { turns } from "./run-part.ts";
import { storedParams } from "./stored-params.ts";

export interface LinearSvmParams {
  /** How much errors cost against a wide margin. */
  readonly c: number;
  /** What an error costs: its distance to the margin, or the square of it. */
  readonly loss: Loss;
  /** Whether planes may lie off the origin. */
  readonly intercept: boolean;
  /** Value of the feature whose weight is the intercept: the larger, the less the intercept is regularised. */
  readonly interceptScaling: number;
  /** Training has converged when no row's gradient differs from another's by more. */
  readonly tolerance: number;
  /** Most passes over the rows. */
  readonly maxIterations: number;
  /** Where the order of rows comes from. */
  readonly seed: number;
}

/** Parameters of the linear support vector machine. */
export const LINEAR_SVM_PARAMETERS: readonly ParameterInfo[] = [
  { name: "c", form: "positive", default: 1, about: "how much errors cost against a wide margin" },
  {
    name: "loss",
    form: "choice",
    choices: ["squaredHinge", "hinge"],
    default: "squaredHinge",
    about: "what an error costs",
  },
  { name: "intercept", form: "flag", default: true, about: "planes may lie off the origin" },
  { name: "interceptScaling", form: "positive", default: 1, about: "value of the feature behind the intercept" },
  { name: "tolerance", form: "positive", default: 1e-4, about: "range of gradients at which training has converged" },
  { name: "maxIterations", form: "count", default: 1000, about: "most passes over the rows" },
  { name: "seed", form: "seed", default: 0, about: "where the order of rows comes from" },
];

/** How training went, for each plane. */
export interface LinearSvmReport {
  readonly iterations: readonly number[];
  readonly converged: readonly boolean[];
}

/**
 * Separates classes by planes.
 *
 * ```ts
 * const model = await new LinearSvm({ c: 0.5 }).fit(x, y);
 * const labels = await model.predict(x);
 * ```
 */
export class LinearSvm implements Estimator<MatrixLike, LinearSvmModel> {
  readonly kind = "linear-svm";
  readonly params: Readonly<LinearSvmParams> & { readonly [name: string]: unknown };

  constructor(params: Partial<LinearSvmParams> = {}) {
    this.params = checkParams<LinearSvm["params"]>(params, LINEAR_SVM_PARAMETERS);
  }

  /** A copy with some parameters changed. */
  with(changes: Partial<LinearSvmParams>): LinearSvm {
    return new LinearSvm({ ...this.params, ...changes });
  }

  /** Finds one plane for each class against the rest; for two classes one plane, with the second class above it. */
  async fit(x: MatrixLike, y?: Labels | LabelSets, run: Run = {}): Promise<LinearSvmModel> {
    const matrix = fittingMatrix(x);
    if (y === undefined || isLabelSets(y)) {
      throw new RanksimError("bad-labels", `expected one label for each row, found ${y ? "label sets" : "none"}`);
    }
    const { classes, codes } = encodeLabels(y, matrix.rows);
    const { intercept, interceptScaling, maxIterations, seed } = this.params;
    await advance(run, { stage: "fit", share: 0 });
    const prepared = prepare(matrix, intercept ? interceptScaling : 0);
    const streams = new Streams(seed);
    const turn = turns(run);
    const above = classes.length === 2 ? [1] : [...classes.keys()];
    const planes: Plane[] = [];
    for (const [j, positive] of above.entries()) {
      const sign = Int8Array.from(codes, (code) => (code === positive ? 1 : -1));
      planes.push(
        await separate(prepared, sign, this.params, streams.plane(j), async (iteration) => {
          await turn();
          const share = (j + (iteration - 1) / maxIterations) / above.length;
          await advance(run, { stage: "fit", label: classes[positive], iteration, share });
        }),
      );
    }
    await advance(run, { stage: "fit", share: 1 });
    return new LinearSvmModel(classes, paramsAsJson(this.params), joinPlanes(planes, matrix.features), {
      iterations: planes.map((plane) => plane.iterations),
      converged: planes.map((plane) => plane.converged),
    });
  }
}

/** Planes as arrays: planes x features weights, and an intercept for each. */
interface Planes {
  readonly weights: Float64Array;
  readonly intercepts: Float64Array;
}

/** Trained planes. */
export class LinearSvmModel implements PredictingModel<MatrixLike, Label> {
  readonly kind = "linear-svm";
  readonly features: number;
  readonly classes: readonly Label[];
  readonly params: ReturnType<typeof paramsAsJson>;
  readonly report: LinearSvmReport;
  /** planes x features, row-major. Not to be written to. */
  readonly weights: Float64Array;
  /** One for each plane. Not to be written to. */
  readonly intercepts: Float64Array;

  /** Use `LinearSvm.fit` or `loadModel`. */
  constructor(
    classes: readonly Label[],
    params: ReturnType<typeof paramsAsJson>,
    { weights, intercepts }: Planes,
    report: LinearSvmReport,
  ) {
    this.features = weights.length / intercepts.length;
    this.classes = classes;
    this.params = params;
    this.weights = weights;
    this.intercepts = intercepts;
    this.report = report;
  }

  /** x·w + intercept, rows x planes: one plane for each class, or for two classes one, above 0 for the second class. */
  async decisionValues(x: MatrixLike, run: Run = {}): Promise<Dense> {
    const matrix = matchingMatrix(x, this.features);
    const planes = this.intercepts.length;
    const values = new Float64Array(matrix.rows * planes);
    const turn = turns(run);
    for (let r = 0; r < matrix.rows; r++) {
      if (r % ROWS_PER_TURN === 0) {
        await turn();
        await advance(run, { stage: "predict", share: r / matrix.rows });
      }
      for (let j = 0; j < planes; j++) {
        const w = this.weights.subarray(j * this.features, (j + 1) * this.features);
        values[r * planes + j] = dotRow(matrix, r, w) + this.intercepts[j];
      }
    }
    await advance(run, { stage: "predict", share: 1 });
    return Dense.of(values, matrix.rows, planes);
  }

  /** The class whose decision value is the largest; equal values give the lower class. */
  async predict(x: MatrixLike, run: Run = {}): Promise<Label[]> {
    const { rows, features: planes, values } = await this.decisionValues(x, run);
    return Array.from({ length: rows }, (_, r) => {
      if (this.classes.length === 2) return this.classes[values[r] > 0 ? 1 : 0];
      let best = 0;
      for (let j = 1; j < planes; j++) if (values[r * planes + j] > values[r * planes + best]) best = j;
      return this.classes[best];
    });
  }

  /** Accuracy. */
  async score(x: MatrixLike, y: Labels | LabelSets, run: Run = {}): Promise<number> {
    return shareRight(await this.predict(x, run), y, this.classes);
  }

  save(): Saved {
    const { classes, params, report, features, weights, intercepts } = this;
    return {
      kind: this.kind,
      meta: { classes, params, report: { iterations: report.iterations, converged: report.converged } },
      arrays: {
        weights: { shape: [intercepts.length, features], values: weights },
        intercepts: { shape: [intercepts.length], values: intercepts },
      },
    };
  }
}

/** Rows answered between two looks at the clock and the signal. */
const ROWS_PER_TURN = 256;

function joinPlanes(planes: readonly Plane[], features: number): Planes {
  const weights = new Float64Array(planes.length * features);
  for (const [j, plane] of planes.entries()) weights.set(plane.weights, j * features);
  return { weights, intercepts: Float64Array.from(planes, (plane) => plane.intercept) };
}

/** Reads a stored linear support vector machine. */
export const linearSvmReader: ModelReader = {
  kind: "linear-svm",
  read: (saved) => {
    const classes = readClasses(saved);
    const planes = classes.length === 2 ? 1 : classes.length;
    const params = storedParams(saved, LINEAR_SVM_PARAMETERS);
    const { weights, intercepts, ...others } = saved.arrays;
    if (Object.keys(others).length > 0) throw bad(saved, "expected the arrays weights and intercepts alone");
    if (!(intercepts?.values instanceof Float64Array) || `${intercepts.shape}` !== `${[planes]}`) {
      throw bad(saved, `intercepts: expected ${planes} float64 values for ${classes.length} classes`);
    }
    const features = weights?.shape[1];
    if (
      !(weights?.values instanceof Float64Array) ||
      weights.shape.length !== 2 ||
      weights.shape[0] !== planes ||
      features === 0 ||
      weights.values.length !== planes * features
    ) {
      throw bad(saved, `weights: expected ${planes} x features float64 values`);
    }
    if (!weights.values.every(Number.isFinite) || !intercepts.values.every(Number.isFinite)) {
      throw bad(saved, "expected finite weights and intercepts");
    }
    const arrays = { weights: weights.values, intercepts: intercepts.values };
    return new LinearSvmModel(classes, params, arrays, storedReport(saved, planes));
  },
};

function storedReport(saved: Saved, planes: number): LinearSvmReport {
  const { iterations, converged } = (saved.meta.report ?? {}) as { readonly [key: string]: unknown };
  const counts = Array.isArray(iterations) && iterations.every((count) => Number.isSafeInteger(count) && count > 0);
  const flags = Array.isArray(converged) && converged.every((flag) => typeof flag === "boolean");
  if (!counts || !flags || iterations.length !== planes || converged.length !== planes) {
    throw bad(saved, `report: expected iterations and convergence of ${planes} planes`);
  }
  return { iterations, converged };
}
