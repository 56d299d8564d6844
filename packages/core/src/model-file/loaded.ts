/** What `loadModel` can give, as a union that narrows on `kind`. A new built-in kind adds its model here. */

import type { Dense } from "../matrix/dense.ts";
import type { Label, LabelSets, Labels } from "../matrix/labels.ts";
import type { Matrix, MatrixLike } from "../matrix/matrix.ts";
import type { BlendModel } from "../models/blend.ts";
import type { ClassifierModel } from "../models/classifier-model.ts";
import type { ConformalModel } from "../models/conformal.ts";
import type { Model, Run } from "../models/estimator.ts";
import type { LinearModel } from "../models/linear-model.ts";
import type { PairModel } from "../models/pairs.ts";
import type { PatchModel } from "../models/patches.ts";
import type { ProbabilisticModel } from "../models/probabilistic-model.ts";
import type { RowScalerModel } from "../models/row-scaler.ts";
import type { ScalerModel } from "../models/scalers.ts";
import type { TransformModel } from "../models/transform.ts";
import type { UnionModel } from "../models/union.ts";

/** What a pipeline's first step may take. */
type Input = MatrixLike | readonly string[];

/**
 * A pipeline from a file. What it can do depends on its last step, which only the file knows, so every ability is to be
 * asked for: `if (model.predict) await model.predict(x)`.
 */
export interface LoadedPipeline<X = Input> extends Model {
  readonly kind: "pipeline";
  readonly names: readonly string[];
  readonly steps: readonly Model[];
  readonly transform?: (x: X, run?: Run) => Promise<Matrix>;
  readonly classes?: readonly Label[];
  readonly predict?: (x: X, run?: Run) => Promise<(Label | readonly Label[])[]>;
  readonly score?: (x: X, y: Labels | LabelSets, run?: Run) => Promise<number>;
  readonly predictProbabilities?: (x: X, run?: Run) => Promise<Dense>;
  readonly familiarity?: (x: X, run?: Run) => Promise<Float64Array>;
  readonly partialFit?: (x: X, y?: Labels | LabelSets, run?: Run) => Promise<Model>;
}

/** A model of a built-in kind, distinguished by `kind`; `X` is what pipelines may take. */
export type LoadedModel<X = Input> =
  | ClassifierModel
  | ProbabilisticModel
  | TransformModel
  | PatchModel
  | LinearModel
  | ScalerModel
  | RowScalerModel
  | PairModel
  | UnionModel<X>
  | BlendModel<X>
  | ConformalModel
  | LoadedPipeline<X>;
