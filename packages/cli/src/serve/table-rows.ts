/** Rows of a table in a request: objects by the names of columns, or lists in the order of the model's columns; null is a missing value. */

import type { SchemaColumn } from "@ranksim/core";
import { Table, type TableModel } from "@ranksim/data";
import { badRequest } from "./http-error.ts";
import { kindOf, matrixRows, type Rows } from "./input.ts";
import { isObject } from "./tensors.ts";

type Row = { readonly [column: string]: unknown };

/** Rows as the filters behind the encoder take them. */
export async function tableRows(encoder: TableModel, content: readonly unknown[]): Promise<Rows> {
  if (content.length === 0) return { form: "dense", rows: 0, values: new Uint8Array(0), isBytes: true };
  const isOneRow = !Array.isArray(content[0]) && !isObject(content[0]);
  const records = (isOneRow ? [content] : content).map((row, r) => recordOf(row, r, encoder.columns));
  return matrixRows(await encoder.transform(Table.fromRecords(records)));
}

/** A row by the names of columns. One that is lacking is refused: it may be misspelt. */
function recordOf(row: unknown, r: number, columns: readonly SchemaColumn[]): Row {
  const names = columns.map(({ name }) => name);
  if (Array.isArray(row)) {
    if (row.length === names.length)
      return Object.fromEntries(columns.map((column, c) => [column.name, cellOf(row[c], r, column)]));
    throw badRequest(
      `row ${r}: the model has ${names.length} columns (${names.join(", ")}), the row has ${row.length}`,
    );
  }
  if (!isObject(row)) throw badRequest(`row ${r}: expected an object by column or a list, found ${kindOf(row)}`);
  const lacking = names.filter((name) => !Object.hasOwn(row, name)).map((name) => JSON.stringify(name));
  if (lacking.length > 0) {
    throw badRequest(
      `row ${r}: expected the columns ${lacking.join(", ")}, which it lacks; null says that a value is missing`,
    );
  }
  return Object.fromEntries(columns.map((column) => [column.name, cellOf(row[column.name], r, column)]));
}

/** Truths are 0 and 1, as the reader of JSON lines has them. */
function cellOf(cell: unknown, r: number, { name, type }: SchemaColumn): unknown {
  if (typeof cell === "boolean") return Number(cell);
  if (cell === null || typeof cell === "string" || Number.isFinite(cell)) return cell;
  throw badRequest(`row ${r}, column ${JSON.stringify(name)}: expected a ${type} or null, found ${kindOf(cell)}`);
}
