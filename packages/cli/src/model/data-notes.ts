/** Where a person would stop and look at the data again. */

import type { Label } from "@ranksim/core";
import type { AnyRows } from "@ranksim/data";
import { isSets } from "../files/labels.ts";
import { flagOf } from "../flags/parameter-flags.ts";
import type { ReadingOptions } from "../flags/reading-flags.ts";
import { count, counted } from "../terminal/numbers.ts";

/** Numbers that are the labels of at most this many rows each, on average, are measurements rather than classes. */
const ROWS_PER_NUMBER = 2;
const MANY_CLASSES = 20;
/** Classes named at most. */
const NAMED = 5;

/** What is strange about data to be trained on. */
export function dataNotes(set: AnyRows, options: ReadingOptions): string[] {
  const { y } = set;
  if (y === undefined || y.length === 0) return [];
  const notes = ignoredNotes(set, options);
  if (isSets(y)) return [...notes, ...separatorNotes(y)];
  const labels = y as readonly Label[];
  const counts = new Map<Label, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  if (counts.size === 1)
    notes.push(`all rows are of one class, ${JSON.stringify(labels[0])}: there is nothing to tell apart`);
  const areNumbers = [...counts.keys()].every((label) => typeof label === "number");
  if (areNumbers && counts.size > MANY_CLASSES && labels.length < counts.size * ROWS_PER_NUMBER) {
    notes.push(
      `the labels are ${counted(counts.size, "different number")} in ${counted(labels.length, "row")}: a measurement rather than classes? Each number is a class here`,
    );
    return notes;
  }
  const header = headerNote(labels, counts, options);
  if (header) notes.push(header);
  const single = [...counts].filter(([, rows]) => rows === 1).map(([label]) => label);
  if (single.length > 0 && counts.size > 1) {
    const named = single
      .slice(0, NAMED)
      .map((label) => JSON.stringify(label))
      .join(", ");
    notes.push(
      `${counted(single.length, "class has", "classes have")} one row only (${named}${single.length > NAMED ? ", …" : ""}): no score can be believed there`,
    );
  }
  return [...notes, ...nameNotes(set)];
}

/** Rows of one label each, some of which look like several: only commas separate labels. */
function separatorNotes(y: readonly (readonly Label[])[]): string[] {
  if (y.some((labels) => labels.length > 1)) return [];
  const joined = y.flat().find((label) => typeof label === "string" && /[^\s;|][;|]\s*[^\s;|]/.test(label));
  if (joined === undefined) return [];
  return [`no row has several labels, but one has ${JSON.stringify(joined)}: labels are separated by commas`];
}

/** A flag that names a column, for data whose labels are elsewhere. */
function ignoredNotes({ found }: AnyRows, options: ReadingOptions): string[] {
  if (options.labelColumn === undefined || options.labels !== undefined || found?.label !== undefined) return [];
  return [`${flagOf("labelColumn")} was not used: this data has its labels elsewhere`];
}

/** A first row whose label no other row has may be the line of column names. */
function headerNote(labels: readonly Label[], counts: ReadonlyMap<Label, number>, options: ReadingOptions) {
  const isGuessed = options.header === undefined && typeof options.labelColumn === "number";
  if (!isGuessed || typeof labels[0] !== "string" || counts.get(labels[0]) !== 1 || labels.length < 3) return undefined;
  return `the first line was taken as data, and no other row has its label ${JSON.stringify(labels[0])}; if it names the columns, add --header`;
}

/** A column whose every row has its own whole number, without a gap, names the rows and says nothing about them. */
function nameNotes(set: AnyRows): string[] {
  if (set.form !== "matrix" || set.x.form !== "dense" || set.x.rows < MANY_CLASSES) return [];
  const { rows, features, values } = set.x;
  const names = set.featureNames;
  const found: string[] = [];
  for (let c = 0; c < features && found.length < NAMED; c++) {
    let step = 0;
    let r = 1;
    for (; r < rows; r++) {
      step = values[r * features + c] - values[(r - 1) * features + c];
      if (step !== 1) break;
    }
    if (r === rows && Number.isInteger(values[c])) found.push(names?.[c] ?? `column ${c}`);
  }
  return found.map(
    (name) =>
      `${JSON.stringify(name)} counts the ${count(rows)} rows and says nothing about them; leave it out with --ignore-columns`,
  );
}
