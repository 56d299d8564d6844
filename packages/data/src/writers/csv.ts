/** A data set as CSV: a line of names, then the features of each row and its label in the last column. */

import { type Label, type Matrix, RanksimError, toDense } from "@ranksim/core";
import { rowCount, type WritableRows } from "../data-set.ts";
import { encodeLines } from "./lines.ts";

/** Writes CSV; the names only above the first rows of a file. Numbers are spelled so that reading gives the same ones. Refuses (code "unsupported") several labels a row. */
export function writeCsv(data: WritableRows, delimiter = ",", isFirst = true): Iterable<Uint8Array> {
  if (data.y?.some((label) => typeof label === "object")) {
    throw new RanksimError("unsupported", "CSV has no place for several labels a row; write JSON lines or svmlight");
  }
  return encodeLines(csvLines(data, delimiter, isFirst));
}

function* csvLines(data: WritableRows, delimiter: string, isFirst: boolean): Generator<string> {
  const label = data.y === undefined ? [] : ["label"];
  const names = data.form === "text" ? ["text"] : featureNames(data.x, data.featureNames);
  const join = (fields: readonly string[]) => `${fields.map((field) => quote(field, delimiter)).join(delimiter)}\n`;
  if (isFirst) yield join([...names, ...label]);
  for (let row = 0; row < rowCount(data); row++) {
    const fields = data.form === "text" ? [data.text[row]] : Array.from(rowOf(data.x, row), String);
    yield join(data.y === undefined ? fields : [...fields, String(data.y[row] as Label)]);
  }
}

/** Names of the features, made up as f0, f1, … where there are none. */
function featureNames(x: Matrix, names: readonly string[] | undefined): readonly string[] {
  return names ?? Array.from({ length: x.features }, (_, i) => `f${i}`);
}

function rowOf(x: Matrix, row: number): ArrayLike<number> {
  return toDense(x.slice(row, row + 1)).values;
}

/** A field, quoted where it has to be. */
export function quote(field: string, delimiter: string): string {
  // A lone empty field is quoted: an empty line would be no row at all. So are blanks at an end, which readers leave out.
  const isPlain = field !== "" && !field.includes(delimiter) && !/["\r\n]|^[ \t]|[ \t]$/.test(field);
  return isPlain ? field : `"${field.replaceAll('"', '""')}"`;
}
