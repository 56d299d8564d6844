/** @packageDocumentation The same names as `ranksim`, with access to files, folders and downloads; and the command line as a function. */

import type { Classifier, Label, Run } from "@ranksim/core";
import { type DataSet, type LoadDataOptions, loadData, type TableLike } from "@ranksim/data/node";
import { type Trained, type TrainingData, type TrainOptions, train as trainOn } from "@ranksim/learn";

export type * from "@ranksim/data/node";
export { fileSource, loadData, openCheckpoint, openData, saveData, stdinSource } from "@ranksim/data/node";
export { exportNir } from "@ranksim/export/nir";
export * from "./index.ts";
export { type FileIdentity, type Io, type Output, type Processes, processIo } from "./io.ts";
export { run } from "./run.ts";

/** What a model that was trained on a file takes: the rows of a table, or texts. */
type FileRows = TableLike | readonly string[];

/** `train` of `ranksim`, which also takes the path of a file or a folder, or the name of a data set. */
export const train: typeof trainOn &
  ((path: string, options?: TrainOptions & Run) => Promise<Trained<DataSet, Classifier<Label, FileRows>>>) = (async (
  given: TrainingData | string,
  options: TrainOptions & Run = {},
) => {
  if (typeof given !== "string") return trainOn(given, options);
  const { label, text, reading } = options;
  const asked: LoadDataOptions = {
    emptyLabels: "leave out",
    ...(label === undefined ? {} : { labelColumn: label }),
    ...(text === undefined ? {} : { textColumn: text }),
    ...reading,
  };
  return trainOn(await loadData(given, asked), options);
}) as never;
