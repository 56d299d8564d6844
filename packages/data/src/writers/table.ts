/** A table as CSV or as JSON lines with a value under each column's name; missing values are empty or null. */

import { RanksimError } from "@ranksim/core";
import type { TableData } from "../data-set.ts";
import type { WriteFormat } from "../write.ts";
import { quote } from "./csv.ts";
import { encodeLines } from "./lines.ts";

/** Writes a table. Refuses (code "unsupported") formats of numbers alone, and several labels a row as CSV. */
export function writeTable(data: TableData, format: WriteFormat): Iterable<Uint8Array> {
  if (format === "jsonl") return encodeLines(jsonLines(data));
  if (format !== "csv" && format !== "tsv") {
    throw new RanksimError("unsupported", `${format} holds numbers alone; write a table as csv, tsv or jsonl`);
  }
  if (data.y?.some((label) => typeof label === "object")) {
    throw new RanksimError("unsupported", "CSV has no place for several labels a row; write JSON lines");
  }
  return encodeLines(csvLines(data, format === "csv" ? "," : "\t"));
}

function* csvLines({ table, y }: TableData, delimiter: string): Generator<string> {
  const join = (fields: readonly string[]) => `${fields.map((field) => quote(field, delimiter)).join(delimiter)}\n`;
  yield join([...table.columns.map(({ name }) => name), ...(y ? ["label"] : [])]);
  for (let row = 0; row < table.rows; row++) {
    const fields = table.columns.map((_, c) => String(table.cell(c, row) ?? ""));
    yield join(y ? [...fields, String(y[row])] : fields);
  }
}

function* jsonLines({ table, y }: TableData): Generator<string> {
  for (let row = 0; row < table.rows; row++) {
    const cells = table.columns.map(({ name }, c) => [name, table.cell(c, row) ?? null] as const);
    yield `${JSON.stringify({ ...Object.fromEntries(cells), ...(y ? { label: y[row] } : {}) })}\n`;
  }
}
