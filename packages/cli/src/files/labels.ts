/** Errors about labels that data lacks. */

import { RanksimError } from "@ranksim/core";
import type { AnyRows, RowLabels } from "@ranksim/data";
import { isSets } from "@ranksim/learn";
import { usageError } from "../flags/usage-error.ts";

/** Columns named at most. */
const NAMED = 12;

/** The error of rows that need labels and have none, with the cure for data of their form. */
export function noLabels(name: string, data?: AnyRows): RanksimError {
  const cure = "name their column with --label or their file with --labels";
  return new RanksimError("bad-labels", `${name}: expected labels, found none; ${data ? cureFor(data, cure) : cure}`);
}

function cureFor(data: AnyRows, cure: string): string {
  if (data.form === "matrix" && data.imageSize && data.rowNames)
    return "put the images of each class in a folder of its own, or name a file of labels with --labels";
  const names =
    data.form === "table"
      ? data.table.columns.map((column) => column.name)
      : data.form === "matrix"
        ? (data.featureNames ?? [])
        : [];
  const known = names.slice(0, NAMED).join(", ");
  return names.every((name) => /^column \d+$/.test(name))
    ? cure
    : `${cure}; columns are ${known}${names.length > NAMED ? ", …" : ""}`;
}

/** Refuses --multilabel for labels that have no commas to be split at: numbers of arrays, names of folders. */
export function refuseSingle(name: string, y: RowLabels | undefined, multilabel: boolean | undefined): void {
  if (!multilabel || y === undefined || isSets(y)) return;
  const cure = "give them in a label column, in lists of JSON lines or with --labels, or leave --multilabel out";
  throw new RanksimError("bad-labels", `${name}: --multilabel: expected several labels a row, found one; ${cure}`);
}

/** Refuses --baselines for rows of several labels, before any work is done. */
export function refuseSeveral(y: RowLabels | undefined): void {
  if (isSets(y ?? [])) throw usageError("--baselines: expected one label per row");
}
