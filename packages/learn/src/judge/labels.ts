/** Labels of data and classes of a model, brought together: a file may spell 3 what another stores as the number 3. */

import type { Label } from "@ranksim/core";
import type { AnyRows, RowLabels } from "@ranksim/data";

/** The labels, each as the class of the same spelling, else as the class of the same number where just one has it: 1.0 or 01 for 1. */
export function matchLabels(y: RowLabels, classes: readonly Label[]): RowLabels {
  const known = new Set(classes);
  const bySpelling = new Map(classes.map((label) => [String(label), label]));
  const byNumber = new Map<number, Label | undefined>();
  for (const label of classes) {
    const number = numberOf(label);
    byNumber.set(number, byNumber.has(number) ? undefined : label);
  }
  byNumber.delete(Number.NaN);
  const match = (label: Label): Label =>
    known.has(label) ? label : (bySpelling.get(String(label)) ?? byNumber.get(numberOf(label)) ?? label);
  return isSets(y) ? y.map((set) => set.map(match)) : y.map(match);
}

/** The number that a label spells, NaN for a word and for a whole number that could be another. */
function numberOf(label: Label): number {
  const number = typeof label === "number" ? label : NUMBER.test(label) ? Number(label) : Number.NaN;
  return Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : Number.NaN;
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;

/** Whether rows have several labels. */
export function isSets(y: RowLabels): y is readonly (readonly Label[])[] {
  return y.length > 0 && Array.isArray(y[0]);
}

/** What labels are called in front of people: by the names that come with the data, or as they are. */
export function labelNamer(data: AnyRows): (label: Label) => string {
  const names = data.form === "matrix" ? data.classNames : undefined;
  return (label) => (typeof label === "number" ? names?.[label] : undefined) ?? String(label);
}
