/** @packageDocumentation `@ranksim/data` with access to files, folders, standard input and downloads. */

export * from "./index.ts";
export { type CheckpointOptions, openCheckpoint, packState, unpackState } from "./node/checkpoint.ts";
export type { DownloadOptions, DownloadProgress } from "./node/download.ts";
export { fileSource, listedFiles, openPath, pathFolder, readWhole, stdinSource } from "./node/files.ts";
export {
  type FetchOptions,
  fetchDataSet,
  type LoadDataOptions,
  loadData,
  loadDataSet,
  locateDataSet,
} from "./node/load.ts";
export { type OpenDataOptions, openData, storeData } from "./node/open.ts";
export { cacheFolder, dataFolders, type Environment, type Located } from "./node/places.ts";
export { replaceWhole } from "./node/replace-whole.ts";
export { saveData } from "./node/save.ts";
export { differingFacts, type TrainingFacts } from "./node/training-facts.ts";
export { checkNames, removeUnfinished, writeWhole } from "./node/write-whole.ts";
