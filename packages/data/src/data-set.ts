/** What readers give: rows of numbers or texts, with their labels apart. */

import { type ColumnKey, Csr, Dense, type Label, type Matrix, type RowSource, type Values } from "@ranksim/core";
import { badFile, guarded } from "./bad-file.ts";
import type { TableSource } from "./table/source.ts";
import type { Table } from "./table/table.ts";
import type { TextSource } from "./text/source.ts";

/** One label for each row, or a list of labels for each row. */
export type RowLabels = readonly Label[] | readonly (readonly Label[])[];

/** Width and height of the images that the rows of a matrix are, row by row from the top left. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** What a reader found out about its source, apart from the rows. Columns are named where they have names, else numbered from 0. */
export interface Found {
  readonly label?: ColumnKey;
  readonly text?: ColumnKey;
  readonly ignored?: readonly ColumnKey[];
  /** svmlight: the number of the first feature. */
  readonly firstFeature?: 0 | 1;
  /** What was put in the place of missing numbers, for each feature; present where missing numbers may occur. */
  readonly fill?: readonly number[];
}

/** What rows of any form may have. */
interface AnyData {
  readonly y?: RowLabels;
  /** Where each row comes from, for rows that were files of their own. */
  readonly rowNames?: readonly string[];
  readonly found?: Found;
  /** What a person should know of the reading, such as columns that were left out. */
  readonly notes?: readonly string[];
}

/** Rows of numbers. */
export interface MatrixData extends AnyData {
  readonly form: "matrix";
  readonly x: Matrix;
  readonly featureNames?: readonly string[];
  readonly imageSize?: ImageSize;
  /** Images that were made smaller on reading, in all sizes that were asked for; `x` has the largest. */
  readonly scaled?: ScaledImages;
  /** What labels 0, 1, … stand for, where they are numbers with names. */
  readonly classNames?: readonly string[];
}

/** The same images in several sizes, ascending, and the size they had. */
export interface ScaledImages {
  readonly from: ImageSize;
  readonly sizes: readonly { readonly imageSize: ImageSize; readonly x: Matrix }[];
}

/** Rows of text, for a vectoriser. */
export interface TextData extends AnyData {
  readonly form: "text";
  readonly text: readonly string[];
}

/** Rows of a table with words, dates or missing values, for an encoder. */
export interface TableData extends AnyData {
  readonly form: "table";
  readonly table: Table;
}

/** Rows of numbers that are read when they are needed: for data that does not fit in memory. */
export interface SourceData extends AnyData {
  readonly form: "source";
  readonly x: RowSource;
  readonly featureNames?: readonly string[];
  readonly imageSize?: ImageSize;
}

/** Texts that are read when they are needed. */
export interface TextSourceData extends AnyData {
  readonly form: "texts";
  readonly x: TextSource;
  /** A hash of each text, as `describeData` takes them. */
  readonly hashes: Uint32Array;
}

/** Rows of a table that are read when they are needed. */
export interface TableSourceData extends AnyData {
  readonly form: "tables";
  readonly x: TableSource;
}

/** Rows that are read when they are needed, of any form. */
export type AnySource = SourceData | TextSourceData | TableSourceData;

/** Rows of any form, in memory or not. */
export type AnyRows = DataSet | AnySource;

/** What a reader gives and a writer takes. */
export type DataSet = MatrixData | TextData | TableData;

/** What all formats have a place for. */
export type WritableRows = MatrixData | TextData;

/** Wraps values that a file held; a value that no filter can rank becomes an error that names the file. */
export function denseFrom(name: string, values: Values, rows: number, features: number): Promise<Dense> {
  return guarded(name, "a matrix", () => Dense.of(values, rows, someFeatures(name, features)));
}

/** Wraps sparse rows that a file held, with errors that name the file. */
export function csrFrom(
  name: string,
  offsets: Uint32Array,
  indices: Uint32Array,
  values: Values,
  features: number,
): Promise<Csr> {
  return guarded(name, "a sparse matrix", () => Csr.of(offsets, indices, values, someFeatures(name, features)));
}

function someFeatures(name: string, features: number): number {
  if (features > 0) return features;
  throw badFile(name, "", "expected rows of at least one feature, found rows of none");
}

/** Number of rows, whatever the form. */
export function rowCount(data: AnyRows): number {
  if (data.form === "table") return data.table.rows;
  return data.form === "text" ? data.text.length : data.x.rows;
}
