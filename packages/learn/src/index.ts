/** @packageDocumentation From data to a judged model: recipes, training, validation, tuning and metrics. Runs in Node and browsers. */

export type { Choice, ChooseOptions } from "./choose/choose.ts";
export { ConformalClassifier, type ConformalParams } from "./conformal.ts";
export { type FilterWord, FilterWords, type Word } from "./explain/filter-words.ts";
export { type Baseline, baselinesOf } from "./judge/baselines.ts";
export { crossTrain, type FoldAnswers } from "./judge/cross-train.ts";
export { flawsOf } from "./judge/flaws.ts";
export { foldBaselines } from "./judge/fold-baselines.ts";
export { foldFor, type SplitColumn } from "./judge/hold-out.ts";
export { type Interval, macroF1Interval, shareInterval } from "./judge/intervals.ts";
export {
  type Answers,
  answer,
  type Judged,
  type Judgement,
  type JudgeOptions,
  JudgingTally,
  judge,
  judgeAnswers,
  predictAll,
  type Reliability,
  renamed,
  SHARE_BEFORE,
  withBefore,
} from "./judge/judge.ts";
export { isSets, labelNamer, matchLabels } from "./judge/labels.ts";
export type { SetsJudged } from "./judge/sets-tally.ts";
export {
  asConformal,
  asGrowing,
  asPredicting,
  asTransforming,
  classesOf,
  type DecidingPart,
  decidingPart,
  type FilterModel,
  filterClasses,
  filterPart,
  isFilterModel,
  isMultilabel,
  madeBytes,
  stepsOf,
  tableModelOf,
  takesText,
  vocabularyOf,
  widthOf,
} from "./model/parts.ts";
export { type Input, inputFor, inputOf, modelFor, type Passage, passThrough, rowsFor } from "./model/passage.ts";
export type { Candidate, Purpose } from "./plan/candidates/candidate.ts";
export { PURPOSES } from "./plan/candidates/candidate.ts";
export { TABLE_VOTERS } from "./plan/candidates/columns-votes.ts";
export type { TrainingData } from "./plan/given.ts";
export { atImageSize, type ChosenSize, chooseImageSize, IMAGE_SIZES } from "./plan/image-size.ts";
export { type DataKind, kindOf } from "./plan/kind.ts";
export {
  type ColumnOptions,
  keptOf,
  leftOutText,
  type Prepared,
  prepare,
  shownName,
  type View,
} from "./plan/prepare.ts";
export { type Recipe, recipeFor, type Trial, trialsFor } from "./plan/recipe.ts";
export { type EstimatorName, PRESETS, type Preset, type RecipeOptions } from "./plan/task.ts";
export { LogLossTally, logLoss } from "./select/log-loss.ts";
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
} from "./select/metrics.ts";
export {
  calibrationError,
  type ReliabilityBin,
  type ReliabilityOptions,
  ReliabilityTally,
  reliability,
} from "./select/reliability.ts";
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
} from "./select/split.ts";
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
} from "./select/validation.ts";
export {
  type AroundFit,
  type FitFacts,
  type HeldOut,
  type PlanOptions,
  plan,
  type Trained,
  type TrainingPlan,
  type TrainOptions,
  train,
  trainingBytes,
  trainPrepared,
} from "./train.ts";
export { gridCandidates, suggestCandidates } from "./tune/candidates.ts";
export type { TuneRound } from "./tune/judge-candidate.ts";
export { arrayBytes, multiplyAdds } from "./tune/prediction-cost.ts";
export { type TuneOptions, type TuneOutcome, type TuneResult, type Tuning, tune } from "./tune/tune.ts";
