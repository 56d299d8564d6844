/**
 * Predictions as arrays: Parquet, a row group for each block, and numpy's .npy and .npz. The header of the latter tells the
 * number of rows, so they are put together in memory, where a row takes a class number and its probabilities.
 */

import { type Label, RanksimError, type Values } from "@ranksim/core";
import { encodeNpy, packNpz } from "@ranksim/data";
import { type AnswerBlock, type AnswerShape, cellsOf, columnNames } from "./answers.ts";

/** Rows in a group of Parquet, at least. */
const GROUP_ROWS = 1 << 16;

/** The answers as Parquet. */
export async function* answersAsParquet(
  blocks: AsyncIterable<AnswerBlock>,
  shape: AnswerShape,
): AsyncGenerator<Uint8Array> {
  const { ByteWriter, ParquetWriter } = await import("hyparquet-writer");
  const names = columnNames(shape);
  const areNumbers = shape.classes.every((name) => typeof name === "number");
  const isNumber = (name: string, c: number) =>
    c >= shape.keptNames.length &&
    !(shape.sets && name === "set" && c === shape.keptNames.length + 1) &&
    (/^probability \d+$/.test(name) || (/^label( \d+)?$/.test(name) ? areNumbers : true));
  const schema = [
    { name: "root", num_children: names.length },
    ...names.map((name, c) => ({
      name,
      type: isNumber(name, c) ? ("DOUBLE" as const) : ("BYTE_ARRAY" as const),
      ...(isNumber(name, c) ? {} : { converted_type: "UTF8" as const }),
      repetition_type: "REQUIRED" as const,
    })),
  ];
  const bytes = new ByteWriter();
  const writer = new ParquetWriter({ writer: bytes, schema });
  let rows: (Label | number)[][] = [];
  const write = async (): Promise<Uint8Array> => {
    const columnData = names.map((name, c) => ({
      name,
      // A row without a class has no number.
      data: rows.map((row) => (isNumber(name, c) ? (row[c] === "" ? Number.NaN : Number(row[c])) : String(row[c]))),
    }));
    await writer.write({ columnData, rowGroupSize: Math.max(1, rows.length) });
    rows = [];
    return taken(bytes);
  };
  for await (const block of blocks) {
    for (let r = 0; r < block.labels.length; r++) rows.push(cellsOf(block, r, shape));
    if (rows.length >= GROUP_ROWS) yield await write();
  }
  if (rows.length > 0) yield await write();
  await writer.finish();
  yield taken(bytes);
}

/** What was written since the last time; the writer goes on counting. */
function taken(bytes: { getBytes(): Uint8Array; index?: number }): Uint8Array {
  const copy = bytes.getBytes().slice();
  bytes.index = 0;
  return copy;
}

/** The answers as .npy: the labels, or the probabilities where these were asked for; or as .npz: labels, classes and probabilities. */
export async function* answersAsNumpy(
  blocks: AsyncIterable<AnswerBlock>,
  format: "npy" | "npz",
  { classes, keptNames, probabilities, top, sets }: AnswerShape,
): AsyncGenerator<Uint8Array> {
  if (keptNames.length > 0 || top > 0 || sets) {
    const flags = "a column of ids, --keep, --top or --coverage";
    throw new RanksimError("unsupported", `${format} has no place for ${flags}; write .csv, .jsonl or .parquet`);
  }
  const labels: Label[] = [];
  const shares: Values[] = [];
  for await (const block of blocks) {
    for (const label of block.labels) {
      if (label === null) throw new RanksimError("unsupported", `${format} has no place for rows without a class`);
      if (typeof label === "object") {
        throw new RanksimError("unsupported", `${format} has no place for several labels a row; write .csv or .jsonl`);
      }
      labels.push(label);
    }
    if (block.probabilities) shares.push(block.probabilities.values);
  }
  const table = probabilities ? encodeNpy(joined(shares), [labels.length, classes.length]) : undefined;
  if (format === "npy") yield table ?? encodeNpy(labels);
  else {
    const arrays = { labels: encodeNpy(labels), classes: encodeNpy(classes) };
    yield packNpz(table ? { ...arrays, probabilities: table } : arrays);
  }
}

function joined(parts: readonly Values[]): Float64Array {
  const all = new Float64Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
