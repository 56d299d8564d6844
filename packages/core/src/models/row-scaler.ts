/**
 * Scalers of rows, each by itself, for counts that were taken at different depths, such as those of genes in cells or words in texts. Zeros stay
 * zeros, so that sparse rows stay sparse.
 */

import type { LabelSets, Labels } from "../matrix/labels.ts";
import { asMatrix, type Matrix, type MatrixLike, matchingMatrix } from "../matrix/matrix.ts";
import type { Saved } from "../model-file/saved.ts";
import { count } from "../model-file/stored/arrays.ts";
import type { Estimator, ModelReader, Run, TransformingModel } from "./estimator.ts";
import { type ParameterInfo, Parametrized, paramsAsJson, storedParams } from "./parameter.ts";
import { advance } from "./run.ts";

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
    return (await import("./row-scaling.ts")).scaledRows(matrix, this.params.by as RowScalerParams["by"], run);
  }

  save(): Saved {
    const { kind, features, params } = this;
    return { kind, meta: { features, params }, arrays: {} };
  }
}

/** Reads a stored scaler of rows. */
export const rowScalerReader: ModelReader = {
  kind: "row-scaler",
  read: (saved) => new RowScalerModel(count(saved, "features"), storedParams(saved, PARAMETERS)),
};
