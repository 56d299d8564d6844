/**
 * Scalers per feature, for data of mixed units: ranks compare features with one another, so they must be measured alike.
 * Every scaler is a shift and a scale: (x − shift) / scale, in float64. A feature without spread carries nothing and
 * becomes 0, whatever value comes later. A sparse matrix stays sparse, so it is refused where a shift would fill its zeros.
 */

import { RanksimError } from "../errors.ts";
import { Csr } from "../matrix/csr.ts";
import { Dense } from "../matrix/dense.ts";
import type { LabelSets, Labels } from "../matrix/labels.ts";
import { asMatrix, type Matrix, type MatrixLike, matchingMatrix, refuseLost } from "../matrix/matrix.ts";
import { fittingRows } from "../matrix/source.ts";
import type { Saved } from "../model-file/saved.ts";
import { bad, vector } from "../model-file/stored/arrays.ts";
import type { Estimator, ModelReader, Run, TransformingModel } from "./estimator.ts";
import { type ParameterInfo, Parametrized, paramsAsJson, storedParams } from "./parameter.ts";
import { advance } from "./run.ts";

/** Scalers by name. */
export type ScalerKind = "standard-scaler" | "min-max-scaler" | "max-abs-scaler";

export interface StandardScalerParams {
  /** Whether the mean is subtracted. Without it, zeros stay zeros and sparse matrices are accepted. */
  readonly center: boolean;
}

const PARAMETERS: { readonly [kind in ScalerKind]: readonly ParameterInfo[] } = {
  "standard-scaler": [{ name: "center", form: "flag", default: true, about: "subtract the mean" }],
  "min-max-scaler": [],
  "max-abs-scaler": [],
};

type NoParams = { readonly [name: string]: never };

/** What scalers share. */
abstract class Scaler<P extends object> extends Parametrized<P> implements Estimator<MatrixLike, ScalerModel> {
  readonly kind: ScalerKind;

  constructor(kind: ScalerKind, params: Partial<P>) {
    super(params, PARAMETERS[kind]);
    this.kind = kind;
  }

  async fit(x: MatrixLike, _y?: Labels | LabelSets, run: Run = {}): Promise<ScalerModel> {
    const matrix = fittingRows(asMatrix(x)) as Matrix;
    await advance(run, { stage: "fit", share: 0 });
    refuseLost(matrix);
    const model = new ScalerModel(this.kind, paramsAsJson(this.params), this.scaling(matrix, spreadOf(matrix)));
    model.checkZerosStay(matrix);
    await advance(run, { stage: "fit", share: 1 });
    return model;
  }

  protected abstract scaling(matrix: Matrix, spread: Spread): Scaling;
}

/** Mean 0 and standard deviation 1 (of all rows, not one less) for each feature. */
export class StandardScaler extends Scaler<StandardScalerParams> {
  constructor(params: Partial<StandardScalerParams> = {}) {
    super("standard-scaler", params);
  }

  protected scaling(matrix: Matrix, spread: Spread): Scaling {
    const { mean, deviation } = standardize(matrix, spread);
    return { shift: this.params.center ? mean : new Float64Array(matrix.features), scale: deviation };
  }
}

/** The smallest value becomes 0 and the largest 1, for each feature. Later values may lie outside. */
export class MinMaxScaler extends Scaler<NoParams> {
  constructor(params: Partial<NoParams> = {}) {
    super("min-max-scaler", params);
  }

  protected scaling(_: Matrix, { low, high }: Spread): Scaling {
    return { shift: low, scale: high.map((top, i) => top - low[i]) };
  }
}

/** The largest magnitude becomes 1, for each feature. Zeros stay zeros: the scaler for sparse matrices. */
export class MaxAbsScaler extends Scaler<NoParams> {
  constructor(params: Partial<NoParams> = {}) {
    super("max-abs-scaler", params);
  }

  protected scaling({ features }: Matrix, { low, high }: Spread): Scaling {
    return { shift: new Float64Array(features), scale: high.map((top, i) => Math.max(top, -low[i])) };
  }
}

/** A shift and a scale for each feature; scale 0 marks a feature that becomes 0. */
interface Scaling {
  readonly shift: Float64Array;
  readonly scale: Float64Array;
}

/** A trained scaler. */
export class ScalerModel implements TransformingModel<MatrixLike> {
  readonly kind: ScalerKind;
  readonly features: number;
  readonly params: ReturnType<typeof paramsAsJson>;
  readonly #scaling: Scaling;

  /** Use `fit` of a scaler, or `loadModel`. */
  constructor(kind: ScalerKind, params: ReturnType<typeof paramsAsJson>, scaling: Scaling) {
    this.kind = kind;
    this.features = scaling.shift.length;
    this.params = params;
    this.#scaling = scaling;
  }

  /** The scaled rows, dense as dense and sparse as sparse, float64. */
  async transform(x: MatrixLike, run: Run = {}): Promise<Matrix> {
    const matrix = matchingMatrix(x, this.features);
    await advance(run, { stage: "transform", share: 0 });
    refuseLost(matrix);
    this.checkZerosStay(matrix);
    const scaled = matrix.form === "dense" ? this.#scaleDense(matrix) : this.#scaleCsr(matrix);
    await advance(run, { stage: "transform", share: 1 });
    return scaled;
  }

  /** Refuses a sparse matrix if zeros would not stay zeros. */
  checkZerosStay(x: Matrix): void {
    if (x.form === "dense") return;
    const moved = this.#scaling.shift.findIndex((value) => value !== 0);
    if (moved < 0) return;
    throw new RanksimError(
      "unsupported",
      `${this.kind}: subtracting ${this.#scaling.shift[moved]} from feature ${moved} would fill the zeros of a sparse ` +
        "matrix; use MaxAbsScaler, StandardScaler({ center: false }) or toDense(x)",
    );
  }

  save(): Saved {
    const { shift, scale } = this.#scaling;
    return {
      kind: this.kind,
      meta: { params: this.params },
      arrays: { shift: { shape: [shift.length], values: shift }, scale: { shape: [scale.length], values: scale } },
    };
  }

  #scaleDense({ rows, values }: Dense): Dense {
    const { shift, scale } = this.#scaling;
    const n = this.features;
    const out = new Float64Array(rows * n);
    for (let r = 0; r < rows; r++) {
      for (let i = 0; i < n; i++) {
        if (scale[i] !== 0) out[r * n + i] = (values[r * n + i] - shift[i]) / scale[i];
      }
    }
    return Dense.of(out, rows, n);
  }

  #scaleCsr({ rows, offsets, indices, values }: Csr): Csr {
    const { scale } = this.#scaling;
    const from = offsets[0];
    const kept = indices.slice(from, offsets[rows]);
    const out = new Float64Array(kept.length);
    for (let e = 0; e < kept.length; e++) {
      if (scale[kept[e]] !== 0) out[e] = values[from + e] / scale[kept[e]];
    }
    return Csr.of(
      offsets.map((offset) => offset - from),
      kept,
      out,
      this.features,
    );
  }
}

/** Per feature, zeros of sparse rows included. */
interface Spread {
  readonly low: Float64Array;
  readonly high: Float64Array;
  readonly sum: Float64Array;
  /** Rows whose value is not 0. */
  readonly filled: Uint32Array;
}

function spreadOf(x: Matrix): Spread {
  const n = x.features;
  const low = new Float64Array(n).fill(Number.POSITIVE_INFINITY);
  const high = new Float64Array(n).fill(Number.NEGATIVE_INFINITY);
  const sum = new Float64Array(n);
  const filled = new Uint32Array(n);
  forEachEntry(x, (i, value) => {
    if (value < low[i]) low[i] = value;
    if (value > high[i]) high[i] = value;
    sum[i] += value;
    filled[i]++;
  });
  for (let i = 0; i < n; i++) {
    if (filled[i] === x.rows) continue;
    low[i] = Math.min(low[i], 0);
    high[i] = Math.max(high[i], 0);
  }
  return { low, high, sum, filled };
}

/** Mean and standard deviation; of a feature without spread its one value and 0. */
function standardize(x: Matrix, { low, high, sum, filled }: Spread): { mean: Float64Array; deviation: Float64Array } {
  const constant = low.map((value, i) => (value === high[i] ? 1 : 0));
  const mean = sum.map((total, i) => (constant[i] ? low[i] : total / x.rows));
  // Deviations as shares of the largest one: their squares neither overflow nor vanish.
  const largest = mean.map((m, i) => Math.max(high[i] - m, m - low[i]));
  const squares = new Float64Array(x.features);
  forEachEntry(x, (i, value) => {
    const share = (value - mean[i]) / largest[i];
    if (!constant[i]) squares[i] += share * share;
  });
  const deviation = squares.map((total, i) => {
    if (constant[i]) return 0;
    // Zeros are added together, in sparse and dense matrices alike, so that both give the same bits.
    const share = mean[i] / largest[i];
    const all = total + (x.rows - filled[i]) * (share * share);
    return largest[i] * Math.sqrt(all / x.rows);
  });
  return { mean, deviation };
}

/** Visits the values that are not 0, row by row. */
function forEachEntry(x: Matrix, visit: (feature: number, value: number) => void): void {
  const n = x.features;
  if (x.form === "dense") {
    for (let r = 0, e = 0; r < x.rows; r++) {
      for (let i = 0; i < n; i++, e++) if (x.values[e] !== 0) visit(i, x.values[e]);
    }
  } else {
    for (let e = x.offsets[0]; e < x.offsets[x.rows]; e++) if (x.values[e] !== 0) visit(x.indices[e], x.values[e]);
  }
}

/** Reads stored scalers. */
export const scalerReaders: readonly ModelReader[] = (Object.keys(PARAMETERS) as ScalerKind[]).map((kind) => ({
  kind,
  read: (saved) => {
    const shift = vector(saved, "shift", Float64Array);
    const scale = vector(saved, "scale", Float64Array);
    if (shift.length === 0 || scale.length !== shift.length) {
      throw bad(saved, `expected as many shifts as scales, found ${shift.length} and ${scale.length}`);
    }
    if (!shift.every(Number.isFinite) || !scale.every((value) => value >= 0 && Number.isFinite(value))) {
      throw bad(saved, "expected finite shifts, and finite scales from 0");
    }
    if (Object.keys(saved.arrays).length !== 2) throw bad(saved, "expected the arrays shift and scale alone");
    return new ScalerModel(kind, storedParams(saved, PARAMETERS[kind]), { shift, scale });
  },
}));
