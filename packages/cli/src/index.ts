/**
 * What a user needs, in one package: estimators, training, tuning and scoring, matrices, model files, readers, exports. Runs in
 * Node and browsers; what needs a file system is in `ranksim/node`. All types are here; what else tools are built of (tables
 * of parameters, folds, formats, single kernels) is in `@ranksim/core`, `@ranksim/data` and `@ranksim/export`.
 *
 * @packageDocumentation
 */

export type * from "@ranksim/core";
export {
  Csr,
  Dense,
  isClassifier,
  isTransformer,
  LinearClassifier,
  MaxAbsScaler,
  MinMaxScaler,
  openBackend,
  PatchTransform,
  Pipeline,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
  RanksimError,
  RowScaler,
  StandardScaler,
  saveModel,
  schemaOf,
  toCsr,
  toDense,
} from "@ranksim/core";
export type * from "@ranksim/data";
export {
  blobSource,
  bytesSource,
  CountVectorizer,
  HashingVectorizer,
  imageRows,
  loadDigits,
  readData,
  Table,
  TableEncoder,
  TfidfVectorizer,
} from "@ranksim/data";
export type * from "@ranksim/export";
export { exportC, exportOnnx, simulateSpikes } from "@ranksim/export";
export type * from "@ranksim/learn";
export {
  accuracy,
  balancedAccuracy,
  ConformalClassifier,
  calibrationError,
  classificationReport,
  confusionMatrix,
  crossValidate,
  f1,
  gridSearch,
  hammingLoss,
  logLoss,
  precision,
  recall,
  rowsFor,
  train,
  trainTestSplit,
  tune,
} from "@ranksim/learn";
export {
  type Neighbours,
  RankIndex,
  type RankIndexModel,
  RankMap,
  type RankMapModel,
} from "@ranksim/vq";
export { type FileBytes, loadModel, loadTransform } from "./load-model.ts";
