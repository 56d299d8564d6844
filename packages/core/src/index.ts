/**
 * Rank similarity filters: a nonlinear transform, a fast classifier and a probabilistic, multilabel classifier whose
 * weights are the rank order of features.
 *
 * @packageDocumentation
 */

export type * from "./backends/contract.ts";
export { prefetch, requestNext } from "./backends/host/prefetch.ts";
export { BACKEND_NAMES, type BackendName, type OpenOptions, openBackend } from "./backends/open.ts";
export type { ByteScale, WindowMap } from "./beyond/patches/windows.ts";
export type { CalibrationMethod } from "./beyond/probabilities/fitted.ts";
export type { ThresholdRule } from "./beyond/probabilities/thresholds.ts";
export type { Refinement } from "./beyond/refinement/choice.ts";
export { type ErrorCode, type ErrorFacts, type ParameterName, RanksimError } from "./errors.ts";
export { listedRows } from "./kernels/rows.ts";
export type {
  CsrRows,
  DenseBank,
  DenseRows,
  FilterBank,
  KeptShape,
  Rows,
  SparseBank,
  Weights,
} from "./kernels/shapes.ts";
export { expandFilter } from "./kernels/top.ts";
export { Csr } from "./matrix/csr.ts";
export { Dense, MOST_FEATURES } from "./matrix/dense.ts";
export type { ImageShape } from "./matrix/image-shape.ts";
export { compareLabels, type Label, type LabelSets, type Labels } from "./matrix/labels.ts";
export { asMatrix, isMatrix, isWhole, type Matrix, type MatrixLike, toCsr, toDense } from "./matrix/matrix.ts";
export type { Weighted } from "./matrix/row-weights.ts";
export type { Copied } from "./matrix/shifted.ts";
export { isSource, type RowsLike } from "./matrix/source.ts";
export { narrowest, type Values } from "./matrix/values.ts";
export { statedDigest } from "./model-file/container/layout.ts";
export { sha256 } from "./model-file/container/sha256.ts";
export { type LoadOptions, loadModel } from "./model-file/load.ts";
export { type SaveOptions, saveModel } from "./model-file/save.ts";
export type { Json, Saved, SavedArray } from "./model-file/saved.ts";
export type { Report, ReportStep, TrainingReport } from "./model-file/stored/report.ts";
export { withColumns } from "./model-file/with-columns.ts";
export { Blend, BlendModel, type BlendOptions } from "./models/blend.ts";
export { RankSimilarityClassifier } from "./models/classifier.ts";
export { type ClassExplanation, ClassifierModel } from "./models/classifier-model.ts";
export {
  ConformalModel,
  conformalOf,
  type LabelledRows,
  type RejectOptions,
  type SetOptions,
} from "./models/conformal.ts";
export type * from "./models/estimator.ts";
export { LinearClassifier } from "./models/linear.ts";
export {
  type LinearContribution,
  type LinearExplanation,
  LinearModel,
  type LinearReport,
} from "./models/linear-model.ts";
export { LINEAR_PARAMETERS, type LinearParams } from "./models/linear-params.ts";
export type { LoadedClassifier, LoadedModel, LoadedPipeline, LoadedTransform } from "./models/loaded.ts";
export type { Step } from "./models/named-steps.ts";
export { MOST_PAIRED, PairModel, type PairParams, PairTransform } from "./models/pairs.ts";
export type { Need, ParameterInfo } from "./models/parameter.ts";
export {
  CLASSIFIER_PARAMETERS,
  type ClassifierParams,
  type FilterParams,
  PROBABILISTIC_PARAMETERS,
  type ProbabilisticParams,
  WHOLE_PARAMETERS,
  type WholeParams,
} from "./models/params.ts";
export { PATCH_PARAMETERS, type PatchParams, type PerLayer } from "./models/patch-params.ts";
export { PatchModel, PatchTransform } from "./models/patches.ts";
export {
  isClassifier,
  isTransformer,
  isUpdatable,
  Pipeline,
  PipelineModel,
  pipelineReader,
  type Steps,
} from "./models/pipeline.ts";
export { RankSimilarityProbabilisticClassifier } from "./models/probabilistic.ts";
export { type ProbabilisticExplanation, ProbabilisticModel } from "./models/probabilistic-model.ts";
export { RowScaler, RowScalerModel, type RowScalerParams, rowScalerReader } from "./models/row-scaler.ts";
export { runOf } from "./models/run.ts";
export {
  MaxAbsScaler,
  MinMaxScaler,
  type ScalerKind,
  ScalerModel,
  StandardScaler,
  type StandardScalerParams,
  scalerReaders,
} from "./models/scalers.ts";
export {
  type ColumnKey,
  type ColumnType,
  type Schema,
  type SchemaColumn,
  type SchemaReading,
  schemaOf,
  type TriedRecipe,
  withSchema,
} from "./models/schema.ts";
export { RankSimilarityTransform, TransformModel, type TransformParams } from "./models/transform.ts";
export { Union, UnionModel, type UnionOptions } from "./models/union.ts";
export type { ClassWeight } from "./paper/allocate.ts";
export type { Contribution } from "./paper/contributions.ts";
export type { DistributionSpec } from "./paper/distribution.ts";
export type { BankExplanation, StrongFilter } from "./paper/explain.ts";
export type { FilterFunction } from "./paper/filter-function.ts";
export type { Initialize } from "./paper/initialize.ts";
export type { Spreading } from "./paper/spread.ts";
export type { Combine, Decision } from "./paper/vote.ts";
