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
export { type OpenRowsOptions, openRows } from "./node/open-rows.ts";
export { openTable, tableOfRows } from "./node/open-table.ts";
export { openTexts } from "./node/open-texts.ts";
export { cacheFolder, dataFolders, type Environment, type Located } from "./node/places.ts";
export { saveData } from "./node/save.ts";
export { differingFacts, type TrainingFacts } from "./node/training-facts.ts";
export { checkNames, removeUnfinished, writeWhole } from "./node/write-whole.ts";
