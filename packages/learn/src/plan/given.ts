/** What programs give to be trained on, as readers would give it: rows, texts or tables with their labels, records, files. */

import { asMatrix, isMatrix, type Label, type MatrixLike, RanksimError } from "@ranksim/core";
import {
  type AnyRows,
  blobSource,
  isRecords,
  type MatrixData,
  type ReadOptions,
  type RowLabels,
  readData,
  Table,
  type TableRecord,
  type TableRows,
  type TextRows,
} from "@ranksim/data";
import type { ColumnOptions } from "./prepare.ts";

/** Rows with names, and how the columns of labels and of text are called. */
export interface RecordOptions {
  /** Records and files: the column that holds the labels. */
  readonly label?: string;
  /** Records and files: the column that holds the text, where the rows are texts. */
  readonly text?: string;
}

type Unnamed<D> = Omit<D, "form"> & { readonly form?: undefined };

/**
 * What `train` takes: data as readers give it, in memory or read when it is needed; records; a `File` or `Blob`; rows, texts or a table with
 * their labels.
 */
export type TrainingData =
  | AnyRows
  | readonly TableRecord[]
  | Blob
  | (Omit<MatrixData, "x" | "form"> & { readonly form?: "matrix"; readonly x: MatrixLike })
  | Unnamed<TextRows>
  | Unnamed<TableRows>;

/** What was given, as readers would give it; refused with the cure where it is no data. */
export async function dataOf(
  given: TrainingData,
  options: RecordOptions & ColumnOptions & { readonly reading?: ReadOptions },
): Promise<AnyRows> {
  if (isFile(given)) return fileData(given, options);
  if (isRecords(given)) return recordData(given, options);
  const { form, x, text, table } = (given ?? {}) as { form?: string; x?: unknown; text?: unknown; table?: unknown };
  const isFormed = (name: string) => form === undefined || form === name;
  if (x !== undefined && isFormed("matrix")) {
    const rows = typeof x === "object" && x !== null && "blocks" in x ? x : asMatrix(x as MatrixLike);
    return { ...given, form: "matrix", x: rows } as AnyRows;
  }
  if (text !== undefined && isFormed("text")) return { ...given, form: "text" } as AnyRows;
  if (table !== undefined && isFormed("table")) return { ...given, form: "table" } as AnyRows;
  const found = Array.isArray(given) || isMatrix(given) ? "rows alone" : foundIn(given);
  throw new RanksimError(
    "bad-params",
    `train: expected { x, y }, { text, y }, { table, y }, a list of records or a file, found ${found}`,
  );
}

/** Whether it is a file, by its tag: it may come of another realm. */
const isFile = (given: unknown): given is Blob =>
  /^\[object (Blob|File)\]$/.test(Object.prototype.toString.call(given));

/** A file as the command reads it. */
function fileData(
  file: Blob,
  { label, text, columns, reading }: RecordOptions & ColumnOptions & { readonly reading?: ReadOptions },
) {
  return readData(blobSource(file), {
    emptyLabels: "leave out",
    ...(text === undefined ? { table: true } : { textColumn: text }),
    ...(label === undefined ? {} : { labelColumn: label }),
    ...(columns ? { columns } : {}),
    ...reading,
  });
}

/** Records with their labels apart. */
function recordData(records: readonly TableRecord[], { label, text }: RecordOptions): AnyRows {
  const names = [...new Set(records.flatMap((record) => Object.keys(record)))];
  for (const [option, name] of [
    ["label", label],
    ["text", text],
  ] as const) {
    if (name === undefined || names.includes(name)) continue;
    throw new RanksimError(
      "bad-params",
      `${option}: expected one of ${names.join(", ")}, found ${JSON.stringify(name)}`,
    );
  }
  const labels =
    label === undefined ? {} : { y: records.map((record, r) => labelOf(record[label], r, label)) as RowLabels };
  const found = { found: { ...(label === undefined ? {} : { label }), ...(text === undefined ? {} : { text }) } };
  if (text !== undefined) {
    return { form: "text", text: records.map((record, r) => textOf(record[text], r, text)), ...labels, ...found };
  }
  const rest = names.filter((name) => name !== label);
  return { form: "table", table: Table.fromRecords(records).select(rest), ...labels, ...found };
}

function labelOf(value: unknown, row: number, column: string): Label | readonly Label[] {
  if (typeof value === "string" || (typeof value === "number" && Number.isFinite(value))) return value;
  if (typeof value === "boolean") return String(value);
  if (Array.isArray(value)) return value.map((one) => labelOf(one, row, column) as Label);
  throw new RanksimError(
    "bad-labels",
    `row ${row}, ${column}: expected a label, found ${JSON.stringify(value) ?? "nothing"}`,
  );
}

function textOf(value: unknown, row: number, column: string): string {
  if (typeof value === "string") return value;
  throw new RanksimError(
    "bad-matrix",
    `row ${row}, ${column}: expected text, found ${JSON.stringify(value) ?? "nothing"}`,
  );
}

function foundIn(given: unknown): string {
  if (typeof given !== "object" || given === null) return given === null ? "null" : `a value of type ${typeof given}`;
  if (given instanceof Promise) return "a promise; did you forget await?";
  const { form } = given as { form?: unknown };
  return form === undefined ? "an object without rows" : `one of form ${JSON.stringify(form)} and without its rows`;
}
