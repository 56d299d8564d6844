/**
 * Whether labels are numbers or text. A format with types of its own keeps them. In a format of text all are numbers where each is written
 * as a number writes itself, else all stay text: "01" and "1", or "1.1" and "1.10", are different labels.
 */

import type { Label } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import type { RowLabels } from "../data-set.ts";

/** Labels of one file, as they were read. */
export interface ReadLabels {
  /** Whether the format has text only. */
  readonly areText: boolean;
  readonly distinct: Iterable<Label>;
  /** The first row that has the label. */
  rowOf(label: Label): number;
}

/** What each label of a file becomes. A number and a text of the same spelling are refused: they could not be told apart later. */
export function labelTyper(name: string, { areText, distinct, rowOf }: ReadLabels): (label: Label) => Label {
  const all = [...distinct];
  if (areText && all.every((label) => writesItself(String(label)))) return Number;
  const numbers = all.filter((label) => typeof label === "number");
  if (numbers.length === 0 || numbers.length === all.length) return (label) => label;
  const texts = new Set(all);
  const twin = numbers.find((number) => texts.has(String(number)));
  if (twin === undefined) return String;
  const [first, second] = [rowOf(twin), rowOf(String(twin))];
  throw badFile(
    name,
    `row ${second}`,
    `expected labels of one type, found the text ${JSON.stringify(String(twin))}, where row ${first} has the number ${twin}; write all as texts`,
  );
}

/** The labels that a text holds, separated by commas. */
export const splitLabels = (text: string): string[] =>
  [...new Set(text.split(",").map((label) => label.trim()))].filter((label) => label !== "");

/** The labels of one file; one row with several makes them all sets. */
export function typedLabels(name: string, labels: RowLabels, areText: boolean): RowLabels {
  const rows = labels as readonly (Label | readonly Label[])[];
  const rowOf = (label: Label) =>
    rows.findIndex((row) => row === label || (typeof row === "object" && row.includes(label)));
  const typed = labelTyper(name, { areText, distinct: new Set(labels.flat()), rowOf });
  if (!rows.some((row) => typeof row === "object")) return (labels as readonly Label[]).map(typed);
  return rows.map((row) => (typeof row === "object" ? row.map(typed) : [typed(row)]));
}

/** Whether a text is a number and written as that number is: then no two texts are the same number. */
export function writesItself(text: string): boolean {
  const value = Number(text);
  return Number.isFinite(value) && String(value) === text;
}
