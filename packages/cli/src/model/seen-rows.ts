/** Rows of the data that the model was trained on, and the note about scores on them. */

import { type Model, schemaOf } from "@ranksim/core";
import { type DataSet, seenRows } from "@ranksim/data";
import { count, percent } from "../terminal/numbers.ts";

/** Rows that the model was trained on; undefined where it does not know. */
export function seenIn(model: Model, set: DataSet): number | undefined {
  const schema = schemaOf(model);
  return schema && seenRows(schema, set);
}

/** Scores on training rows say nothing about new rows. */
export function seenNotes(seen: number | undefined, rows: number): string[] {
  if (!seen) return [];
  const share = seen >= rows ? "all" : `about ${percent(seen / rows, 0)} of`;
  return [
    `${share} ${count(rows)} rows were seen in training: the scores say how well they are remembered, not how well new rows are classified (train --test-share holds rows out)`,
  ];
}
