/** What readers give: rows of numbers or texts, with their labels apart. */

import { Csr, Dense, type Label, type Matrix, type Values } from "@ranksim/core";
import { badFile, guarded } from "./bad-file.ts";

/** One label for each row, or a list of labels for each row. */
export type RowLabels = readonly Label[] | readonly (readonly Label[])[];

/** Width and height of the images that the rows of a matrix are, row by row from the top left. */
export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** Rows of numbers. */
export interface MatrixData {
  readonly form: "matrix";
  readonly x: Matrix;
  readonly y?: RowLabels;
  readonly featureNames?: readonly string[];
  readonly imageSize?: ImageSize;
  /** Where each row comes from, for rows that were files of their own. */
  readonly rowNames?: readonly string[];
  /** What labels 0, 1, … stand for, where they are numbers with names. */
  readonly classNames?: readonly string[];
}

/** Rows of text, for a vectoriser. */
export interface TextData {
  readonly form: "text";
  readonly text: readonly string[];
  readonly y?: RowLabels;
  readonly rowNames?: readonly string[];
}

/** What a reader gives and a writer takes. */
export type DataSet = MatrixData | TextData;

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
export function rowCount(data: DataSet): number {
  return data.form === "matrix" ? data.x.rows : data.text.length;
}
