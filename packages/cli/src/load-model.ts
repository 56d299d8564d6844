/** Models from files: `loadModel` opens what `ranksim train` writes, models of text and of tables included. */

import {
  type Classifier,
  type Given,
  isClassifier,
  isTransformer,
  type Label,
  type LoadedModel,
  loadModel as loadBuiltIn,
  RanksimError,
  type TransformingModel,
} from "@ranksim/core";
import { type TableLike, type TableModel, type TextModel, tableReader, textReaders } from "@ranksim/data";

/** The bytes of a file. */
export type FileBytes = Uint8Array | ArrayBuffer;

/** The model in a file, of any kind. */
export function readModelFile(bytes: FileBytes): LoadedModel<TableLike | readonly string[]> | TextModel | TableModel {
  const readers = [...textReaders, tableReader];
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
