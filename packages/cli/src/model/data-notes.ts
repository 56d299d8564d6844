/** Where a person would stop and look at the data again. */

import { Dense, type Label } from "@ranksim/core";
import type { AnyRows } from "@ranksim/data";
import { isSets, type Recipe, shownName } from "@ranksim/learn";
import type { ReadingOptions } from "../flags/reading-flags.ts";
import { quoted } from "../provenance.ts";
import { count, counted } from "../terminal/numbers.ts";
import { cut } from "../terminal/style.ts";

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
  return ["--label was not used: this data has its labels elsewhere"];
}

/** A first row whose label no other row has may be the line of column names. */
function headerNote(labels: readonly Label[], counts: ReadonlyMap<Label, number>, options: ReadingOptions) {
  const isGuessed = options.header === undefined && typeof options.labelColumn === "number";
  if (!isGuessed || typeof labels[0] !== "string" || counts.get(labels[0]) !== 1 || labels.length < 3) return undefined;
  return `the first line was taken as data, and no other row has its label ${JSON.stringify(labels[0])}; if it names the columns, add --set header=true`;
}

/** A column whose every row has its own whole number, without a gap, names the rows and says nothing about them. */
function nameNotes(set: AnyRows): string[] {
  if (set.form !== "matrix" || !(set.x instanceof Dense) || set.x.rows < MANY_CLASSES) return [];
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
      `${JSON.stringify(name)} counts the ${count(rows)} rows and says nothing about them; leave it out with --columns ${quoted(`${name}:ignore`)}`,
  );
}

/** Characters of a cell that a note shows at most. */
const LONGEST_CELL = 40;

/** Columns whose cells could be read otherwise, and those that would be numbers but for a few cells, which are mistakes more often than not. */
export function columnNotes(recipe: Recipe): string[] {
  return (recipe.columns ?? []).flatMap((column) => {
    const name = shownName(column);
    if (column.note !== undefined && column.leftOut === undefined) {
      return [
        `column ${name}: ${column.note}; --columns ${quoted(`${name}:number`)} or ${quoted(`${name}:category`)} reads it otherwise`,
      ];
    }
    if (column.odd === undefined) return [];
    const taken = column.leftOut === undefined ? "taken as categories" : "left out";
    return `almost all cells of ${name} are numbers, but ${JSON.stringify(cut(column.odd, LONGEST_CELL))} is not, so it is ${taken}; --columns ${quoted(`${name}:number`)} says where`;
  });
}

/** What is to be chosen, for those who only look. */
export function sizeNotes(set: AnyRows): string[] {
  if (set.form !== "matrix" || !set.scaled) return [];
  const { width, height } = set.scaled.from;
  return [
    `images of ${width} x ${height} are made smaller; training chooses the size on held-out images, --set resize says it`,
  ];
}
