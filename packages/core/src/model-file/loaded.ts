/** What `loadModel` can give, as a union that narrows on `kind`. A new built-in kind adds its model here. */

import type { ClassifierModel } from "../estimators/classifier-model.ts";
import type { Model, Run } from "../estimators/estimator.ts";
import type { PatchModel } from "../estimators/patches.ts";
import type { ProbabilisticModel } from "../estimators/probabilistic-model.ts";
import type { TransformModel } from "../estimators/transform.ts";
import type { Dense } from "../matrix/dense.ts";
import type { Label, LabelSets, Labels } from "../matrix/labels.ts";
import type { Matrix, MatrixLike } from "../matrix/matrix.ts";
import type { ConformalModel } from "../tools/conformal.ts";
import type { LinearSvmModel } from "../tools/linear-svm.ts";
import type { ScalerModel } from "../tools/scalers.ts";

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
  | LinearSvmModel
  | ScalerModel
  | ConformalModel
  | LoadedPipeline<X>;
