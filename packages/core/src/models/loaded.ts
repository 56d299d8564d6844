/** What `loadModel` can give, as a union that narrows on `kind`. A new built-in kind adds its model here. */

import type { Label, LabelSets, Labels } from "../matrix/labels.ts";
import type { MatrixLike } from "../matrix/matrix.ts";
import type { BlendModel } from "./blend.ts";
import type { ClassifierModel } from "./classifier-model.ts";
import type { ConformalModel } from "./conformal.ts";
import type { Classifier, Model, Run, TransformingModel } from "./estimator.ts";
import type { LinearModel } from "./linear-model.ts";
import type { PairModel } from "./pairs.ts";
import type { PatchModel } from "./patches.ts";
import type { ProbabilisticModel } from "./probabilistic-model.ts";
import type { RowScalerModel } from "./row-scaler.ts";
import type { ScalerModel } from "./scalers.ts";
import type { TransformModel } from "./transform.ts";
import type { UnionModel } from "./union.ts";

/** What a pipeline's first step may take. */
type Input = MatrixLike | readonly string[];

/** A pipeline from a file. */
interface AnyPipeline extends Model {
  readonly kind: "pipeline";
  readonly names: readonly string[];
  readonly steps: readonly Model[];
}

/** One that ends with a model that names classes. */
export interface LoadedClassifier<X = Input> extends AnyPipeline, Classifier<Label, X> {
  readonly kind: "pipeline";
  readonly transform?: undefined;
  readonly familiarity?: (x: X, run?: Run) => Promise<Float64Array>;
  readonly partialFit?: (x: X, y?: Labels | LabelSets, run?: Run) => Promise<Model>;
}

/** One that ends with a transform. */
export interface LoadedTransform<X = Input> extends AnyPipeline, TransformingModel<X> {
  readonly kind: "pipeline";
  readonly classes?: undefined;
  readonly predict?: undefined;
  readonly score?: undefined;
  readonly predictProbabilities?: undefined;
  readonly partialFit?: (x: X, y?: Labels | LabelSets, run?: Run) => Promise<Model>;
}

/** A pipeline from a file. Its last step, which only the file knows, says what it can do: `if (model.predict) await model.predict(x)`. */
export type LoadedPipeline<X = Input> = LoadedClassifier<X> | LoadedTransform<X>;

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
