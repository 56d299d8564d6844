/** `loadModel` of the whole package: it opens what `ranksim train` writes, models of text and of tables included. */

import { type LoadedModel, type LoadOptions, loadModel as loadBuiltIn, type ModelReader } from "@ranksim/core";
import { type TableLike, type TableModel, type TextModel, tableReader, textReaders } from "@ranksim/data";

/**
 * The model in a file, of the same type as when it was trained: `kind` says which that is. The bytes are checked in full
 * first, and every refusal has the code "bad-file". The model keeps views of `bytes`, which must not change afterwards.
 */
export function loadModel<R extends ModelReader = never>(
  bytes: Uint8Array,
  options: LoadOptions<R> = {},
): LoadedModel<TableLike | readonly string[]> | TextModel | TableModel | ReturnType<R["read"]> {
  const readers = [...textReaders, tableReader, ...(options.readers ?? [])] as R[];
  return loadBuiltIn(bytes, { readers }) as LoadedModel<TableLike | readonly string[]> | ReturnType<R["read"]>;
}
