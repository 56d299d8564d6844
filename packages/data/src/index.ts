/** @packageDocumentation Readers, writers, text vectorisers and a catalogue of data sets. Runs in Node and browsers. */

export { Account, Budget, OverBudget, parseBytes } from "./budget.ts";
export { type CatalogueChoice, catalogue, findDataSet } from "./catalogue/catalogue.ts";
export { loadDigits } from "./catalogue/digits.ts";
export type { CatalogueEntry, CatalogueFile, CatalogueSource } from "./catalogue/entry.ts";
export { readCatalogued } from "./catalogue/read-source.ts";
export { annotated, type CellAnswers } from "./cells/annotate.ts";
export type {
  AnyRows,
  DataSet,
  Found,
  ImageSize,
  MatrixData,
  MatrixRows,
  RowLabels,
  ScaledImages,
  TableData,
  TableRows,
  TextData,
  TextRows,
  WritableRows,
} from "./data-set.ts";
export { isInMemory, rowCount, slices } from "./data-set.ts";
export { didYouMean } from "./did-you-mean.ts";
export { type ImageRowsOptions, imageRows, type Pixels } from "./images.ts";
export { joinData } from "./join.ts";
export { type Loader, openSources, type Source } from "./open.ts";
export { type BlockOptions, type ReadDataOptions, readBlocks, readData, withLabels } from "./read.ts";
export { mayBeLabel } from "./readers/columns.ts";
export { isImageName } from "./readers/folder-rows.ts";
export { readLabels } from "./readers/labels.ts";
export { type ColumnChoice, FORMATS, type Format, type ReadOptions, type TextPart } from "./readers/options.ts";
export { hashedInPassing, hashesOf, hashRows, repeatsIn, SeenTally, seenRows } from "./row-hash.ts";
export { dataBlocks, pickRows } from "./rows/any-rows.ts";
export { type DescribeOptions, describeData, joinSchemas } from "./schema.ts";
export { type ByteSource, blobSource, bytesSource, type Folder, type FolderEntry, filesFolder } from "./source.ts";
export {
  COLUMN_KINDS,
  type ColumnKind,
  type ColumnKinds,
  type DetectedColumn,
  detectColumns,
  looksLikeTable,
  schemaColumn,
} from "./table/detect.ts";
export { TableEncoder, type TableLike, TableModel, tableReader } from "./table/encoder.ts";
export { type Spacing, TABLE_PARAMETERS, type TableParams } from "./table/params.ts";
export { detectTable, type TableSource, tableColumn } from "./table/source.ts";
export {
  isRecords,
  type NumberColumn,
  Table,
  type TableColumn,
  type TableRecord,
  type WordColumn,
} from "./table/table.ts";
export { timesOf } from "./table/times.ts";
export { CountModel, CountVectorizer } from "./text/count.ts";
export { HashingModel, HashingVectorizer } from "./text/hashing.ts";
export {
  type AnalyzerKind,
  type AnalyzerParams,
  COUNT_PARAMETERS,
  type CountParams,
  HASHING_PARAMETERS,
  type HashingParams,
  type Norm,
  TFIDF_PARAMETERS,
  type TfidfParams,
} from "./text/params.ts";
export { type TextModel, textReaders } from "./text/readers.ts";
export type { TextSource, Texts } from "./text/source.ts";
export { TfidfModel, TfidfVectorizer } from "./text/tfidf.ts";
export { type WriteFormat, writeBlocks, writeData, writeFormatOf } from "./write.ts";
export { encodeNpy, packNpz } from "./writers/npy.ts";
export { encodePng } from "./writers/png.ts";
