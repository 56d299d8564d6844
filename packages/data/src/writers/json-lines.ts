/** A data set as JSON lines: {"x": [...], "y": label} a row; sparse rows as {"x": {"feature": value}}, text as {"text": "..."}. */

import { rowCount, type WritableRows } from "../data-set.ts";
import { encodeLines } from "./lines.ts";

/** Writes JSON lines. The first sparse row also says how many features there are. */
export function writeJsonLines(data: WritableRows, isFirst = true): Iterable<Uint8Array> {
  return encodeLines(jsonLines(data, isFirst));
}

function* jsonLines(data: WritableRows, isFirst: boolean): Generator<string> {
  for (let row = 0; row < rowCount(data); row++) {
    const y = data.y === undefined ? {} : { y: data.y[row] };
    yield `${JSON.stringify({ ...rowOf(data, row, isFirst && row === 0), ...y })}\n`;
  }
}

function rowOf(data: WritableRows, row: number, saysWidth: boolean): object {
  if (data.form === "text") return { text: data.text[row] };
  const { x } = data;
  if (x.form === "dense") return { x: Array.from(x.row(row)) };
  const entries: [string, number][] = [];
  for (let e = x.offsets[row]; e < x.offsets[row + 1]; e++) entries.push([String(x.indices[e]), x.values[e]]);
  return { x: Object.fromEntries(entries), ...(saysWidth ? { features: x.features } : {}) };
}
