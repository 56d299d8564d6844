/** Labels of data and classes of a model, brought together: a file may spell 3 what another stores as the number 3. */

import { type Label, RanksimError } from "@ranksim/core";
import type { AnyRows, DataSet, RowLabels } from "@ranksim/data";

/** The labels, each as the class of the same spelling where the model has it in the other type only. */
export function matchLabels(y: RowLabels, classes: readonly Label[]): RowLabels {
  const known = new Set(classes);
  const bySpelling = new Map(classes.map((label) => [String(label), label]));
  const match = (label: Label): Label => (known.has(label) ? label : (bySpelling.get(String(label)) ?? label));
  return isSets(y) ? y.map((set) => set.map(match)) : y.map(match);
}

/** Whether rows have several labels. */
export function isSets(y: RowLabels): y is readonly (readonly Label[])[] {
  return y.length > 0 && Array.isArray(y[0]);
}

/** Columns named at most. */
const NAMED = 12;

/** The error of rows that need labels and have none, with the cure for data of their form. */
export function noLabels(name: string, data?: AnyRows): RanksimError {
  const cure = "name their column with --label-column or their file with --labels";
  return new RanksimError("bad-labels", `${name}: expected labels, found none; ${data ? cureFor(data, cure) : cure}`);
}

function cureFor(data: AnyRows, cure: string): string {
  if (data.form === "matrix" && data.imageSize && data.rowNames)
    return "put the images of each class in a folder of its own, or name a file of labels with --labels";
  const names =
    data.form === "table"
      ? data.table.columns.map((column) => column.name)
      : data.form === "matrix" || data.form === "source"
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

/** What labels are called in front of people: by the names that come with the data, or as they are. */
export function labelNamer(data: DataSet): (label: Label) => string {
  const names = data.form === "matrix" ? data.classNames : undefined;
  return (label) => (typeof label === "number" ? names?.[label] : undefined) ?? String(label);
}
