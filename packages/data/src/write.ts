/** The one way out: a data set as the bytes of a file, in a format that is given or taken from a name's ending. */

import { Csr, Dense, RanksimError } from "@ranksim/core";
import type { DataSet, WritableRows } from "./data-set.ts";
import { narrowed } from "./growing-values.ts";
import { joinData } from "./join.ts";
import { writeCsv } from "./writers/csv.ts";
import { writeJsonLines } from "./writers/json-lines.ts";
import { writeNpy, writeNpz } from "./writers/npy.ts";
import { writeSvmlight } from "./writers/svmlight.ts";
import { writeTable } from "./writers/table.ts";

/** Formats that can be written. */
export type WriteFormat = "csv" | "tsv" | "jsonl" | "npy" | "npz" | "svmlight";

const ENDINGS: { readonly [ending: string]: WriteFormat } = {
  csv: "csv",
  tsv: "tsv",
  jsonl: "jsonl",
  ndjson: "jsonl",
  npy: "npy",
  npz: "npz",
  svm: "svmlight",
  svmlight: "svmlight",
  libsvm: "svmlight",
};

/** The format that a file name's ending tells (before .gz). Refuses (code "bad-params") an ending it does not know. */
export function writeFormatOf(name: string): WriteFormat {
  const ending = /\.([a-z]+)$/i.exec(name.replace(/\.gz$/i, ""))?.[1].toLowerCase() ?? "";
  if (Object.hasOwn(ENDINGS, ending)) return ENDINGS[ending];
  throw new RanksimError("bad-params", `${name}: expected a name ending in ${Object.keys(ENDINGS).join(", ")}`);
}

/** The bytes of a file that holds the data. What a format has no place for is refused (code "unsupported"). */
export function writeData(data: DataSet, format: WriteFormat): Iterable<Uint8Array> {
  if (data.form === "table") return writeTable(data, format);
  switch (format) {
    case "csv":
      return writeCsv(data);
    case "tsv":
      return writeCsv(data, "\t");
    case "jsonl":
      return writeJsonLines(data);
    case "npy":
      return writeNpy(data);
    case "npz":
      return writeNpz(data);
    case "svmlight":
      return writeSvmlight(data);
    default:
      throw new RanksimError(
        "bad-params",
        `format: expected one of ${Object.values(ENDINGS).join(", ")}, found ${format}`,
      );
  }
}

/**
 * The same for rows that come in blocks. Formats of lines are written as blocks come; the others begin with the number of rows, so that
 * the blocks are put together in memory, and numbers are written in the narrowest exact type, which does not depend on where blocks end.
 */
export async function* writeBlocks(
  blocks: Iterable<WritableRows> | AsyncIterable<WritableRows>,
  format: WriteFormat,
): AsyncGenerator<Uint8Array> {
  if (format === "npy" || format === "npz") {
    const all: WritableRows[] = [];
    for await (const block of blocks) all.push(block);
    yield* writeData(withNarrowest(joinData(all)), format);
    return;
  }
  let isFirst = true;
  for await (const block of blocks) {
    if (format === "svmlight") yield* writeSvmlight(block);
    else if (format === "jsonl") yield* writeJsonLines(block, isFirst);
    else yield* writeCsv(block, format === "tsv" ? "\t" : ",", isFirst);
    isFirst = false;
  }
}

/** The rows in the narrowest exact type. Several blocks that were joined have it already; a single one has the type it came in. */
function withNarrowest(data: DataSet): DataSet {
  if (data.form !== "matrix") return data;
  const { x } = data;
  const values = narrowed(x.values);
  if (values === x.values) return data;
  const narrow =
    x.form === "dense" ? Dense.of(values, x.rows, x.features) : Csr.of(x.offsets, x.indices, values, x.features);
  return { ...data, x: narrow };
}
