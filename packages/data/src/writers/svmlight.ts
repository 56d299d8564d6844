/** A data set as svmlight / libsvm: labels, then feature:value for the values that are not zero, features from 1. */

import { type Csr, type Label, RanksimError, toCsr } from "@ranksim/core";
import type { WritableRows } from "../data-set.ts";
import { encodeLines } from "./lines.ts";

/** Writes svmlight. Refuses (code "unsupported") text, and labels with blanks, commas, colons or number signs. */
export function writeSvmlight(data: WritableRows): Iterable<Uint8Array> {
  if (data.form === "text") throw new RanksimError("unsupported", "svmlight holds numbers; vectorise the text first");
  const odd = data.y?.flat().find((label) => /[\s,:#]/.test(String(label)) || label === "");
  if (odd !== undefined) {
    throw new RanksimError("unsupported", `svmlight has no place for the label ${JSON.stringify(odd)}`);
  }
  return encodeLines(svmlightLines(toCsr(data.x), data.y));
}

function* svmlightLines({ rows, offsets, indices, values }: Csr, y: WritableRows["y"]): Generator<string> {
  for (let row = 0; row < rows; row++) {
    const fields: (Label | string)[] = [];
    if (y !== undefined) fields.push([y[row]].flat().join(","));
    for (let e = offsets[row]; e < offsets[row + 1]; e++) fields.push(`${indices[e] + 1}:${values[e]}`);
    // A line with nothing on it would be no row: an explicit zero keeps it.
    const line = fields.join(" ");
    yield `${line.trim() === "" ? `${line}1:0` : line}\n`;
  }
}
