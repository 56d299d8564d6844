/** @packageDocumentation Readers, writers, text vectorisers and a catalogue of data sets. Runs in Node and browsers. */

export { type Block, type BlockOptions, readBlocks, readsInBlocks, readTextBlocks, slices } from "./blocks.ts";
export { Account, Budget, OverBudget, parseBytes } from "./budget.ts";
export { type CatalogueChoice, catalogue, findDataSet } from "./catalogue/catalogue.ts";
export { loadDigits } from "./catalogue/digits.ts";
export type { CatalogueEntry, CatalogueFile, CatalogueSource } from "./catalogue/entry.ts";
export { readCatalogued } from "./catalogue/read-source.ts";
export type {
  AnyRows,
  AnySource,
  DataSet,
  Found,
  ImageSize,
  MatrixData,
  RowLabels,
  ScaledImages,
  SourceData,
  TableData,
  TableSourceData,
  TextData,
  TextSourceData,
  WritableRows,
} from "./data-set.ts";
export { rowCount } from "./data-set.ts";
export { didYouMean } from "./did-you-mean.ts";
export { joinData, joinLabels } from "./join.ts";
export { isImageName, type ReadDataOptions, readData, siblingLabels, withLabels } from "./read.ts";
export { typedLabels } from "./readers/dense-builder.ts";
export { formatOfSource } from "./readers/detect.ts";
export { readLabels } from "./readers/labels.ts";
export { type ColumnChoice, FORMATS, type Format, type ReadOptions, type TextPart } from "./readers/options.ts";
export { atImageSize, type ChosenSize, chooseImageSize, IMAGE_SIZES } from "./recipes/image-size.ts";
export { type DataKind, kindOf } from "./recipes/kind.ts";
export { type Recipe, recipeFor, TABLE_VOTERS } from "./recipes/recipe.ts";
export { PRESETS, type Preset, type RecipeOptions } from "./recipes/task.ts";
export { type Trained, type TrainingData, type TrainOptions, train } from "./recipes/train.ts";
export { hashedInPassing, SeenTally, seenRows } from "./row-hash.ts";
export { type FixedLayout, fixedRows, layoutOf, type Placed } from "./rows/fixed-rows.ts";
export { type Arrange, joinSources } from "./rows/joined-rows.ts";
export { type DescribeOptions, describeData, describeSource, joinSchemas } from "./schema.ts";
export { type ByteSource, blobSource, bytesSource, type Folder, type FolderEntry, filesFolder } from "./source.ts";
export {
  COLUMN_KINDS,
  type ColumnKind,
  type DetectedColumn,
  detectColumns,
  IS_TEXT,
  looksLikeTable,
  sourceLooksLikeTable,
} from "./table/detect.ts";
export { TableEncoder, type TableLike, TableModel, tableReader } from "./table/encoder.ts";
export { type Spacing, TABLE_PARAMETERS, type TableParams } from "./table/params.ts";
export { detectSource, type TableSource } from "./table/source.ts";
export { type NumberColumn, Table, type TableColumn, type WordColumn } from "./table/table.ts";
export { timesOf } from "./table/times.ts";
export { CountModel, CountVectorizer } from "./text/count.ts";
export { HashingModel, HashingVectorizer } from "./text/hashing.ts";
export {
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
export { listedTexts, type TextSource, type Texts } from "./text/source.ts";
export { TfidfModel, TfidfVectorizer } from "./text/tfidf.ts";
export { type WriteFormat, writeBlocks, writeData, writeFormatOf } from "./write.ts";
export { encodeNpy, packNpz } from "./writers/npy.ts";
export { labelsInBlocks, writtenLabels } from "./written-labels.ts";
