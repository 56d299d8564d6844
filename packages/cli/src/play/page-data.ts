/** Rows as the page takes them: read here, by the model's schema and any flags, so that the page has nothing to find out. */

import { type Model, schemaOf } from "@ranksim/core";
import { type DataSet, Table, type WriteFormat, writeData } from "@ranksim/data";
import { inputOf, isSets, tableModelOf } from "@ranksim/learn";
import type { ServedFile } from "./serve.ts";

/** A file of the rows: of a table its cells, by the names that the model knows. */
export async function pageData(model: Model, set: DataSet, name: string): Promise<ServedFile> {
  const stem = name.replace(/\.[^.]*$/, "");
  const input = inputOf(model, set);
  if (tableModelOf(model) && input instanceof Table) {
    return { name: `${stem}.jsonl`, bytes: Buffer.from(recordLines(input, set, schemaOf(model)?.label)) };
  }
  const rows = shownRows(set);
  const format: WriteFormat = rows.form === "text" || isSets(rows.y ?? []) ? "jsonl" : "npz";
  return { name: `${stem}.${format}`, bytes: Buffer.concat([...writeData(rows, format)]) };
}

/** Rows of a table as JSON lines, with their labels where these are found again. */
function recordLines(table: Table, { y }: DataSet, label: string | number = "label"): string {
  const lines = Array.from({ length: table.rows }, (_, r) => {
    const cells = table.columns.map(({ name }, c) => [name, table.cell(c, r) ?? null] as const);
    return JSON.stringify(Object.fromEntries(y ? [...cells, [label, y[r]]] : cells));
  });
  return `${lines.join("\n")}\n`;
}

function shownRows(set: DataSet): DataSet {
  if (set.form !== "matrix") return set;
  const { x, imageSize, y } = set;
  // An array of images has one axis for each side: colours have no place in it.
  const isGrey = imageSize !== undefined && imageSize.width * imageSize.height === x.features;
  return { form: "matrix", x, ...(y ? { y } : {}), ...(isGrey ? { imageSize } : {}) };
}
