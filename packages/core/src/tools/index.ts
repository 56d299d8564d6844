/** What surrounds the method: metrics, validation, pipelines, scalers and a linear classifier. */

export {
  ConformalClassifier,
  ConformalModel,
  type ConformalParams,
  conformalOf,
  type LabelledRows,
  type RejectOptions,
  type SetOptions,
} from "./conformal.ts";
export type { Loss } from "./coordinate-descent.ts";
export { type FilterWord, FilterWords, type Word } from "./filter-words.ts";
export type { TuneRound } from "./judge-candidate.ts";
export {
  LINEAR_SVM_PARAMETERS,
  LinearSvm,
  LinearSvmModel,
  type LinearSvmParams,
  type LinearSvmReport,
  linearSvmReader,
} from "./linear-svm.ts";
export { LogLossTally, logLoss } from "./log-loss.ts";
export {
  type Average,
  accuracy,
  balancedAccuracy,
  type ClassificationReport,
  type ClassScores,
  type ConfusionMatrix,
  classificationReport,
  confusionMatrix,
  f1,
  hammingLoss,
  precision,
  recall,
  type Scores,
  subsetAccuracy,
} from "./metrics.ts";
export {
  grows,
  isClassifier,
  isTransformer,
  isUpdatable,
  Pipeline,
  PipelineModel,
  pipelineReader,
  predicts,
  type Step,
  type Steps,
  transforms,
} from "./pipeline.ts";
export { arrayBytes, multiplyAdds } from "./prediction-cost.ts";
export {
  calibrationError,
  type ReliabilityBin,
  type ReliabilityOptions,
  ReliabilityTally,
  reliability,
} from "./reliability.ts";
export {
  MaxAbsScaler,
  MinMaxScaler,
  type ScalerKind,
  ScalerModel,
  StandardScaler,
  type StandardScalerParams,
  scalerReaders,
} from "./scalers.ts";
export {
  type Fold,
  type FoldOptions,
  folds,
  gatherRows,
  groupFolds,
  type PickableRows,
  type Samples,
  type Split,
  type SplitOptions,
  sampleOrder,
  stratifiedFolds,
  timeFolds,
  trainTestRows,
  trainTestSplit,
} from "./split.ts";
export { type TuneOptions, type TuneOutcome, type TuneResult, type Tuning, tune } from "./tune.ts";
export { gridCandidates, suggestCandidates } from "./tune-candidates.ts";
export {
  type CrossValidateOptions,
  type CrossValidation,
  crossValidate,
  type Grid,
  type GridResult,
  type GridSearch,
  gridSearch,
  type Scorer,
  type ScoringName,
} from "./validation.ts";
