/**
 * What a user needs, in one package: estimators, training, tuning and scoring, matrices, model files, readers, exports. Runs in
 * Node and browsers; what needs a file system is in `ranksim/node`. All types are here; what else tools are built of (tables
 * of parameters, folds, formats, single kernels) is in `@ranksim/core`, `@ranksim/data` and `@ranksim/export`.
 *
 * @packageDocumentation
 */

export type * from "@ranksim/core";
export {
  accuracy,
  balancedAccuracy,
  ConformalClassifier,
  Csr,
  calibrationError,
  classificationReport,
  confusionMatrix,
  crossValidate,
  Dense,
  f1,
  gridSearch,
  hammingLoss,
  isClassifier,
  isTransformer,
  LinearSvm,
  logLoss,
  MaxAbsScaler,
  MinMaxScaler,
  openBackend,
  PatchTransform,
  Pipeline,
  precision,
  predicts,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
  RanksimError,
  recall,
  StandardScaler,
  saveModel,
  schemaOf,
  toCsr,
  toDense,
  trainTestSplit,
  transforms,
  tune,
} from "@ranksim/core";
export type * from "@ranksim/data";
export {
  blobSource,
  bytesSource,
  CountVectorizer,
  HashingVectorizer,
  loadDigits,
  readData,
  Table,
  TableEncoder,
  TfidfVectorizer,
  train,
} from "@ranksim/data";
export type * from "@ranksim/export";
export { exportC, exportOnnx, simulateSpikes } from "@ranksim/export";
export { loadModel } from "./load-model.ts";
