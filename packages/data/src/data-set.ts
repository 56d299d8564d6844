/** What readers give: rows of numbers or texts, with their labels apart. */

import {
  type ColumnKey,
  Csr,
  Dense,
  isMatrix,
  type Label,
  type Matrix,
  type RowSource,
  type Values,
} from "@ranksim/core";
import { badFile, guarded } from "./bad-file.ts";
import type { TableSource } from "./table/source.ts";
import { Table } from "./table/table.ts";
import { isTextSource, type Texts } from "./text/source.ts";

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
  /** Whether the columns are genes: they are found by any of their names, and a file may lack some. */
  readonly genes?: boolean;
  /** Which columns of the model the rows have, ascending, where the file lacks some that it may lack. */
  readonly columns?: Uint32Array;
  /** The size that images of several sizes were made. */
  readonly resize?: ImageSize;
  /** What was put in the place of missing numbers, for each feature; present where missing numbers may occur. */
  readonly fill?: readonly number[];
}

/** What rows of any form may have. */
interface AnyData {
  readonly y?: RowLabels;
  /** Where each row comes from, for rows that were files of their own. */
  readonly rowNames?: readonly string[];
  /** The group and the weight of each row, where columns say so. */
  readonly groups?: readonly string[];
  readonly weights?: Float64Array;
  /** The time of each row: as it is written in a block, in all rows a number that grows with time. */
  readonly times?: readonly string[] | Float64Array;
  /** What the columns that are to be kept hold in each row, as text. */
  readonly kept?: readonly (readonly string[])[];
  readonly found?: Found;
  /** What a person should know of the reading, such as columns that were left out. */
  readonly notes?: readonly string[];
}

/** Rows of numbers. */
export interface MatrixData extends AnyData {
  readonly form: "matrix";
  readonly x: Matrix;
  readonly featureNames?: readonly string[];
  /** Another name of each feature, "" for none: the Ensembl numbers of genes. */
  readonly featureIds?: readonly string[];
  readonly imageSize?: ImageSize;
  /** Images that were made smaller on reading, in all sizes that were asked for; `x` has the largest. */
  readonly scaled?: ScaledImages;
  /** What labels 0, 1, … stand for, where they are numbers with names. */
  readonly classNames?: readonly string[];
  /** Of a part of the rows: places in `x`, row by row, whose values are missing and not known yet. */
  readonly gaps?: Uint32Array;
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

/** What a reader gives and a writer takes: rows in memory. */
export type DataSet = MatrixData | TextData | TableData;

/** Rows of numbers, in memory or read when they are needed. */
export interface MatrixRows extends Omit<MatrixData, "x"> {
  readonly x: RowSource;
  /** The same rows as a table; where it is missing, they are in memory. */
  readonly asTable?: () => Promise<TableSource>;
}

/** Texts, in memory or read when they are needed. */
export interface TextRows extends Omit<TextData, "text"> {
  readonly text: Texts;
}

/** Rows of a table, in memory or read when they are needed. */
export interface TableRows extends Omit<TableData, "table"> {
  readonly table: Table | TableSource;
}

/** Rows of any form, in memory or read when they are needed. */
export type AnyRows = MatrixRows | TextRows | TableRows;

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
  if (data.form === "matrix") return data.x.rows;
  return isTextSource(data.text) ? data.text.rows : data.text.length;
}

/** Whether all rows are in memory. */
export function isInMemory(data: AnyRows): data is DataSet {
  if (data.form === "table") return data.table instanceof Table;
  return data.form === "matrix" ? isMatrix(data.x) : !isTextSource(data.text);
}

/** Rows of a block of data that is there already. */
export const BLOCK_ROWS = 1 << 13;

/** What each row has beside its values. */
const ROW_FACTS = ["y", "rowNames", "groups", "times", "weights", "kept"] as const;

/** What rows have beside their values, some of it chosen. */
export function factsOfRows(
  data: AnyRows,
  choose: (values: readonly unknown[] | Float64Array) => readonly unknown[] | Float64Array,
): Pick<DataSet, (typeof ROW_FACTS)[number]> {
  const known = ROW_FACTS.filter((fact) => data[fact] !== undefined);
  return Object.fromEntries(known.map((fact) => [fact, choose(data[fact] as readonly unknown[])]));
}

/** Rows `from` (included) to `to` (not included), with what belongs to them. */
function sliceRows(data: DataSet, from: number, to: number): DataSet {
  const facts = factsOfRows(data, (values) => values.slice(from, to));
  if (data.form === "text") return { ...data, ...facts, text: data.text.slice(from, to) };
  if (data.form === "table") return { ...data, ...facts, table: data.table.slice(from, to) };
  return { ...data, ...facts, x: data.x.slice(from, to) };
}

/** Data that is there already, in blocks. */
export function* slices(data: DataSet): Generator<DataSet> {
  const rows = rowCount(data);
  for (let from = 0; from < rows; from += BLOCK_ROWS) yield sliceRows(data, from, Math.min(from + BLOCK_ROWS, rows));
}
