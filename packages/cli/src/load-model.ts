/** Models from files: `loadModel` opens what `ranksim train` writes, models of text and of tables included. */

import {
  type Classifier,
  type Given,
  isClassifier,
  isTransformer,
  type Label,
  type LoadedModel,
  loadModel as loadBuiltIn,
  type Model,
  type ModelReader,
  RanksimError,
  schemaOf,
  type TransformingModel,
  withSchema,
} from "@ranksim/core";
import { type TableLike, type TableModel, type TextModel, tableReader, textReaders } from "@ranksim/data";
import type { KeptRowsModel } from "@ranksim/vq";

/** The bytes of a file. */
export type FileBytes = Uint8Array | ArrayBuffer;

/** The model in a file, of any kind. */
export function readModelFile(
  bytes: FileBytes,
  more: readonly ModelReader[] = [],
): LoadedModel<TableLike | readonly string[]> | TextModel | TableModel {
  const readers = [...textReaders, tableReader, ...more];
  return loadBuiltIn(bytes, { readers }) as LoadedModel<TableLike | readonly string[]>;
}

/**
 * The classifier in a file, which answers as it did when it was trained. `Y` is what it gives a row (`string[]` where rows have several
 * labels), `X` what it takes. The bytes are checked in full first, and every refusal has the code "bad-file". The model keeps views of `bytes`,
 * which must not change afterwards.
 */
export function loadModel<Y extends Given = Label, X = object>(bytes: FileBytes): Classifier<Y, X> {
  const model = readModelFile(bytes);
  if (isClassifier(model)) return model as unknown as Classifier<Y, X>;
  throw new RanksimError(
    "unsupported",
    `expected a model that names classes, found one of kind "${model.kind}", which transforms rows; open it with loadTransform`,
  );
}

/** The transform in a file: of rows, of text or of tables, to a matrix. */
export function loadTransform<X = object>(bytes: FileBytes): TransformingModel<X> {
  const model = readModelFile(bytes);
  if (isTransformer(model)) return model as unknown as TransformingModel<X>;
  throw new RanksimError(
    "unsupported",
    `expected a transform, found a model of kind "${model.kind}", which names classes; open it with loadModel`,
  );
}

/** A model, and the rows that its file keeps for it. */
export interface OpenedModel {
  readonly model: Model;
  readonly kept?: KeptRowsModel<unknown>;
}

/** Said by the reader of files that keep rows: what reads them is fetched for these alone. */
class KeepsRows extends Error {}

const NOTICE: ModelReader = {
  kind: "kept-rows",
  read: () => {
    throw new KeepsRows("a model that keeps rows");
  },
};

/** The model in a file for commands and servers, with the rows that it may keep. */
export async function openModel(bytes: FileBytes): Promise<OpenedModel> {
  try {
    return { model: readModelFile(bytes, [NOTICE]) };
  } catch (error) {
    if (!(error instanceof RanksimError && error.cause instanceof KeepsRows)) throw error;
    const { indexReader, keptRowsReader } = await import("@ranksim/vq");
    const kept = readModelFile(bytes, [indexReader, keptRowsReader]) as unknown as KeptRowsModel<unknown>;
    const schema = schemaOf(kept);
    return { model: schema ? withSchema(kept.model, schema) : kept.model, kept };
  }
}
