/**
 * Scalers of rows, each by itself, for counts that were taken at different depths, such as those of genes in cells or words in texts. Zeros stay
 * zeros, so that sparse rows stay sparse.
 */

import { naturalLog } from "../kernels/exponential.ts";
import { rankVector, weightsFor } from "../kernels/rank.ts";
import { Csr } from "../matrix/csr.ts";
import { Dense } from "../matrix/dense.ts";
import type { LabelSets, Labels } from "../matrix/labels.ts";
import { asMatrix, type Matrix, type MatrixLike, matchingMatrix, refuseLost } from "../matrix/matrix.ts";
import type { Saved } from "../model-file/saved.ts";
import { count } from "../model-file/stored/arrays.ts";
import type { Estimator, ModelReader, Run, TransformingModel } from "./estimator.ts";
import { type ParameterInfo, Parametrized, paramsAsJson, storedParams } from "./parameter.ts";
import { advance, turns } from "./run.ts";

/** Parameters of `RowScaler`. */
export interface RowScalerParams {
  /**
   * What comes in the place of a value: how far its rank in the row is from that of the zeros (doubled, so that it is whole), log(1 + value), or
   * the same after the row was made to add up to 10,000. Of values below 0 the same with their sign.
   */
  readonly by: "rank" | "log" | "log-share";
}

const PARAMETERS: readonly ParameterInfo[] = [
  {
    name: "by",
    form: "choice",
    choices: ["rank", "log", "log-share"],
    default: "rank",
    about: "what comes in the place of a value: its rank in the row, its logarithm, or that of its share of the row",
  },
];

/** What a row adds up to before logarithms of shares are taken, as is usual for cells. */
const SHARES_OF = 10_000;
/** Entries between two looks at the clock and the signal, about. */
const ENTRIES_PER_TURN = 1 << 14;

/** Replaces the values of each row by their ranks or logarithms. */
export class RowScaler extends Parametrized<RowScalerParams> implements Estimator<MatrixLike, RowScalerModel> {
  readonly kind = "row-scaler";

  constructor(params: Partial<RowScalerParams> = {}) {
    super(params, PARAMETERS);
  }

  /** Notes how many features there are: nothing else is learned. */
  async fit(x: MatrixLike, _y?: Labels | LabelSets, run: Run = {}): Promise<RowScalerModel> {
    const { features } = asMatrix(x);
    await advance(run, { stage: "fit", share: 1 });
    return new RowScalerModel(features, paramsAsJson(this.params));
  }
}

/** Scales rows. Made by `RowScaler.fit` or `loadModel`. */
export class RowScalerModel implements TransformingModel<MatrixLike> {
  readonly kind = "row-scaler";
  readonly features: number;
  readonly params: ReturnType<typeof paramsAsJson>;

  /** Use `RowScaler.fit` or `loadModel`. */
  constructor(features: number, params: ReturnType<typeof paramsAsJson>) {
    this.features = features;
    this.params = params;
  }

  /** The scaled rows, dense as dense and sparse as sparse, float32; ranks of more than 8 million features float64. */
  async transform(x: MatrixLike, run: Run = {}): Promise<Matrix> {
    const matrix = matchingMatrix(x, this.features);
    const { rows, features } = matrix;
    const scale = this.params.by === "rank" ? ranked : this.params.by === "log" ? logarithms : logarithmsOfShares;
    const isExact = this.params.by !== "rank" || 2 * features < 2 ** 24;
    const entries = matrix.form === "dense" ? rows * features : matrix.offsets[rows] - matrix.offsets[0];
    const out = isExact ? new Float32Array(entries) : new Float64Array(entries);
    const turn = turns(run);
    let done = 0;
    for (let r = 0, at = 0; r < rows; r++) {
      if (at >= done + ENTRIES_PER_TURN) {
        done = at;
        await turn();
        refuseLost(matrix);
      }
      const from = matrix.form === "dense" ? r * features : matrix.offsets[r];
      const to = matrix.form === "dense" ? from + features : matrix.offsets[r + 1];
      scale(Float64Array.from(matrix.values.subarray(from, to)), features, out.subarray(at, at + to - from));
      at += to - from;
    }
    await advance(run, { stage: "transform", share: 1 });
    refuseLost(matrix);
    if (matrix.form === "dense") return Dense.of(out, rows, features);
    const [first] = matrix.offsets;
    const indices = matrix.indices.slice(first, first + entries);
    return Csr.of(
      matrix.offsets.map((offset) => offset - first),
      indices,
      out,
      features,
    );
  }

  save(): Saved {
    const { kind, features, params } = this;
    return { kind, meta: { features, params }, arrays: {} };
  }
}

/** Writes the scaled values of a row; `values` are all of its features or those that are not zero. */
type Scale = (values: Float64Array, features: number, out: Float32Array | Float64Array) => void;

/** All of one row shifted alike: by every filter its response shifts by the same, so that it is as if the row had its ranks. */
const ranked: Scale = (values, features, out) => {
  const ranks = weightsFor(values.length, features, undefined);
  const missing = rankVector(values, features, undefined, ranks);
  // A row without zeros has no rank of zeros; the place where they would come in has.
  const zeros = missing === 0 ? 1 + 2 * values.reduce((below, value) => below + (value < 0 ? 1 : 0), 0) : missing;
  for (let e = 0; e < values.length; e++) out[e] = ranks[e] - zeros;
};

const logarithms: Scale = (values, _, out) => {
  for (let e = 0; e < values.length; e++) {
    const log = naturalLog(1 + Math.abs(values[e]));
    out[e] = values[e] < 0 ? -log : log;
  }
};

const logarithmsOfShares: Scale = (values, features, out) => {
  let sum = 0;
  for (const value of values) sum += Math.abs(value);
  // Shares before the product: a sum near the largest number must not overflow.
  for (let e = 0; e < values.length; e++) values[e] = sum === 0 ? 0 : (values[e] / sum) * SHARES_OF;
  logarithms(values, features, out);
};

/** Reads a stored scaler of rows. */
export const rowScalerReader: ModelReader = {
  kind: "row-scaler",
  read: (saved) => new RowScalerModel(count(saved, "features"), storedParams(saved, PARAMETERS)),
};
