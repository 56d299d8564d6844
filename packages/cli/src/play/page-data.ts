/** Rows as the page takes them: read here, by the model's schema and any flags, so that the page has nothing to find out. */

import type { Model } from "@ranksim/core";
import { type DataSet, type TableLike, type WriteFormat, writeData } from "@ranksim/data";
import { inputOf, isSets, tableModelOf } from "@ranksim/learn";
import type { ServedFile } from "./serve.ts";

/** A file of the rows: of a table as its encoder codes them, whose features the model names. */
export async function pageData(model: Model, set: DataSet, name: string): Promise<ServedFile> {
  const rows = await codedRows(model, set);
  const format: WriteFormat = rows.form === "text" || isSets(rows.y ?? []) ? "jsonl" : "npz";
  return { name: `${name.replace(/\.[^.]*$/, "")}.${format}`, bytes: Buffer.concat([...writeData(rows, format)]) };
}

async function codedRows(model: Model, set: DataSet): Promise<DataSet> {
  const labels = set.y ? { y: set.y } : {};
  const input = inputOf(model, set);
  const encoder = tableModelOf(model);
  if (encoder) return { form: "matrix", x: await encoder.transform(input as TableLike), ...labels };
  if (set.form !== "matrix") return set;
  const { x, imageSize } = set;
  // An array of images has one axis for each side: colours have no place in it.
  const isGrey = imageSize !== undefined && imageSize.width * imageSize.height === x.features;
  return { form: "matrix", x, ...labels, ...(isGrey ? { imageSize } : {}) };
}
