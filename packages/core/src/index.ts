/**
 * Rank similarity filters: a nonlinear transform, a fast classifier and a probabilistic, multilabel classifier whose
 * weights are the rank order of features.
 *
 * @packageDocumentation
 */

export type * from "./backends/contract.ts";
export { prefetch, requestNext } from "./backends/host/prefetch.ts";
export { BACKEND_NAMES, type BackendName, type OpenOptions, openBackend } from "./backends/open.ts";
export { openShards } from "./backends/shards/backend.ts";
export type { Collective } from "./backends/shards/collective.ts";
export type { ByteScale, WindowMap } from "./beyond/patches/windows.ts";
export type { CalibrationMethod } from "./beyond/probabilities/calibration.ts";
export type { ThresholdRule } from "./beyond/probabilities/thresholds.ts";
export type { Refinement } from "./beyond/refinement/choice.ts";
export { type ErrorCode, RanksimError } from "./errors.ts";
export { RankSimilarityClassifier } from "./estimators/classifier.ts";
export { type ClassExplanation, ClassifierModel } from "./estimators/classifier-model.ts";
export type * from "./estimators/estimator.ts";
export {
  CLASSIFIER_PARAMETERS,
  type ClassifierParams,
  type FilterParams,
  type ParameterInfo,
  PROBABILISTIC_PARAMETERS,
  type ProbabilisticParams,
  WHOLE_PARAMETERS,
  type WholeParams,
} from "./estimators/params.ts";
export { PATCH_PARAMETERS, type PatchParams, type PerLayer } from "./estimators/patch-params.ts";
export { PatchModel, PatchTransform } from "./estimators/patches.ts";
export { RankSimilarityProbabilisticClassifier } from "./estimators/probabilistic.ts";
export { type ProbabilisticExplanation, ProbabilisticModel } from "./estimators/probabilistic-model.ts";
export { runOf } from "./estimators/run.ts";
export {
  type ColumnKey,
  type ColumnType,
  type Schema,
  type SchemaColumn,
  type SchemaReading,
  schemaOf,
  withSchema,
} from "./estimators/schema.ts";
export { RankSimilarityTransform, TransformModel, type TransformParams } from "./estimators/transform.ts";
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
export type { LoadedModel, LoadedPipeline } from "./model-file/loaded.ts";
export { type LoadOptions, loadModel, type SaveOptions, saveModel } from "./model-file/model-file.ts";
export type { Json, Saved, SavedArray } from "./model-file/saved.ts";
export type { Report, ReportStep, TrainingReport } from "./model-file/stored/report.ts";
export type { ClassWeight } from "./paper/allocate.ts";
export type { DistributionSpec } from "./paper/distribution.ts";
export type { BankExplanation, Contribution, StrongFilter } from "./paper/explain.ts";
export type { FilterFunction } from "./paper/filter-function.ts";
export type { Initialize } from "./paper/initialize.ts";
export type { Spreading } from "./paper/spread.ts";
export type { Combine } from "./paper/vote.ts";
export * from "./tools/index.ts";
