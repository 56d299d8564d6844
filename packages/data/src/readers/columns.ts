/** Which column of a table is what: features, label, text, or left out. One rule for CSV, JSON lines, Parquet and Arrow. */

import { RanksimError } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import type { Found } from "../data-set.ts";
import { didYouMean } from "../did-you-mean.ts";
import { expectedColumns } from "./expected-columns.ts";
import { type ColumnChoice, type ReadOptions, ROW_COLUMNS } from "./options.ts";

/** Columns by their numbers; -1 for none. */
export interface Columns {
  readonly label: number;
  readonly text: number;
  readonly features: readonly number[];
  readonly ignored: readonly number[];
  /** Columns that say something of the rows, and those that are passed on as text. */
  readonly groups: number;
  readonly times: number;
  readonly weights: number;
  readonly kept: readonly number[];
  /** What a person should know of the choice. */
  readonly notes?: readonly string[];
}

/** No columns at all. */
export const NO_COLUMNS: Columns = {
  label: -1,
  text: -1,
  features: [],
  ignored: [],
  groups: -1,
  times: -1,
  weights: -1,
  kept: [],
};

/** What columns of labels are called. Not "y": in a table with a column "x" it is a coordinate. */
const LABEL_NAMES = new Set(["label", "labels", "class", "target"]);
/** What is often to be learned. In a table of words without a line of names, these may be cells. */
const OUTCOME_NAMES = new Set(["species", "survived", "outcome", "sentiment"]);

/** Finds the columns that the options or their schema name. `names` is absent where the table has none. */
export function chooseColumns(
  name: string,
  names: readonly string[] | undefined,
  count: number,
  options: ReadOptions,
): Columns {
  const find = (choice: ColumnChoice, option: string) => findColumn(name, names, count, choice, option);
  const facts = factColumns(name, names, count, options);
  if (options.schema !== undefined && options.schema.form !== "text") {
    const { labelColumn } = options;
    const given = typeof labelColumn === "string" || typeof labelColumn === "number";
    const label = given ? find(labelColumn, "labelColumn") : labelColumn;
    const known = new Set(options.schema.columns?.map((column) => column.name));
    const isFree = (c: number) => !known.has(names?.[c] as string);
    const isOpen = label === undefined && options.schema.label === undefined;
    // Labels that nobody reads are no column that the model does not know.
    const called = isOpen ? guessedLabel(name, names, isFree) : (likelyLabels(names, isFree)[0] ?? -1);
    return { ...expectedColumns(name, names, count, options.schema, label, called), ...facts };
  }
  const text = options.textColumn === undefined ? -1 : find(options.textColumn, "textColumn");
  const ignored = new Set((options.ignoreColumns ?? []).map((choice) => find(choice, "ignoreColumns")));
  for (const column of [facts.groups, facts.times, facts.weights]) if (column >= 0) ignored.add(column);
  let label = -1;
  let isGuessed = false;
  if (options.labelColumn === undefined) {
    const { schema } = options;
    if (schema?.label !== undefined) label = whereIn(names, count, schema.label);
    if (label < 0) {
      label = guessedLabel(name, names, (c) => c !== text && !ignored.has(c));
      isGuessed = true;
    }
  } else if (options.labelColumn !== null) {
    label = find(options.labelColumn, "labelColumn");
  }
  if (label >= 0 && label === text) {
    throw new RanksimError("bad-params", {
      parameter: "labelColumn",
      expected: "another column than that of the text",
      found: "one and the same",
    });
  }
  const features: number[] = [];
  if (text < 0) for (let c = 0; c < count; c++) if (c !== label && !ignored.has(c)) features.push(c);
  if (text < 0 && features.length === 0) throw badFile(name, "", "expected at least one column of numbers, found none");
  const notes = isGuessed ? guessNotes(names, label) : {};
  return { label, text, features, ignored: [...ignored], ...facts, ...notes };
}

/** The columns that say something of the rows. */
export function factColumns(
  name: string,
  names: readonly string[] | undefined,
  count: number,
  options: ReadOptions,
): Pick<Columns, "groups" | "times" | "weights" | "kept"> {
  const find = (choice: ColumnChoice, option: string) => findColumn(name, names, count, choice, option);
  const said = (option: (typeof ROW_COLUMNS)[keyof typeof ROW_COLUMNS]) => {
    const choice = options[option];
    return choice === undefined ? -1 : find(choice, option);
  };
  return {
    groups: said(ROW_COLUMNS.groups),
    times: said(ROW_COLUMNS.times),
    weights: said(ROW_COLUMNS.weights),
    kept: (options.keep ?? []).map((choice) => find(choice, "keep")),
  };
}

/** What was found, in the words of a schema. */
export function foundIn(names: readonly string[] | undefined, { label, text, ignored }: Columns): Found {
  const key = (column: number) => (names === undefined ? column : names[column]);
  return {
    ...(label < 0 ? {} : { label: key(label) }),
    ...(text < 0 ? {} : { text: key(text) }),
    ...(ignored.length === 0 ? {} : { ignored: ignored.map(key) }),
  };
}

/** The names with those that came before made different: a second "size" is "size (2)". */
export function distinctNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let own = name;
    for (let i = 2; taken.has(own); i++) own = `${name} (${i})`;
    taken.add(own);
    return own;
  });
}

/** The column that is called as labels are, and as no cell of a table of words. */
export const labelNamed = (names: readonly string[]): number =>
  names.findIndex((column) => LABEL_NAMES.has(column.toLowerCase()));

/** Whether a column is likely to hold labels, by its name. */
export const mayBeLabel = (column: string): boolean =>
  LABEL_NAMES.has(column.toLowerCase()) || OUTCOME_NAMES.has(column.toLowerCase());

const likelyLabels = (names: readonly string[] = [], isFree: (column: number) => boolean = () => true): number[] =>
  names.map((_, c) => c).filter((c) => mayBeLabel(names[c]) && isFree(c));

/** The column that is likely to hold the labels, or -1; refused where several are. */
export function guessedLabel(
  name: string,
  names: readonly string[] = [],
  isFree?: (column: number) => boolean,
): number {
  const likely = likelyLabels(names, isFree);
  if (likely.length < 2) return likely[0] ?? -1;
  throw new RanksimError("bad-params", {
    parameter: "labelColumn",
    file: name,
    expected: "one column that is likely to hold the labels",
    found: likely.map((c) => JSON.stringify(names[c])).join(" and "),
    cure: (called) => `say which by ${called("labelColumn")} NAME`,
  });
}

/** What is said of a label column that nobody named, unless it is called just that. */
export function guessNotes(names: readonly string[] = [], label: number): { notes?: readonly string[] } {
  return label < 0 || /^labels?$/i.test(names[label]) ? {} : { notes: [`label: ${names[label]} (guessed)`] };
}

/** The number of a column that may be absent. */
function whereIn(names: readonly string[] | undefined, count: number, key: ColumnChoice): number {
  if (typeof key === "string") return names?.indexOf(key) ?? -1;
  return key < count ? key : -1;
}

/** The number of a column that was asked for; refused where there is none. */
export function findColumn(
  name: string,
  names: readonly string[] | undefined,
  count: number,
  choice: ColumnChoice,
  option: string,
): number {
  const about = { parameter: option, file: name };
  if (typeof choice === "number") {
    const column = choice < 0 ? count + choice : choice;
    if (Number.isInteger(choice) && column >= 0 && column < count) return column;
    throw new RanksimError("bad-params", {
      ...about,
      expected: `a column from 0 to ${count - 1}`,
      found: String(choice),
    });
  }
  if (names === undefined) {
    throw new RanksimError("bad-params", {
      ...about,
      expected: "a column's number, as there is no line of names",
      found: JSON.stringify(choice),
    });
  }
  const column = names.indexOf(choice);
  if (column >= 0) return column;
  const known = names.slice(0, 20).join(", ") + (names.length > 20 ? ", …" : "");
  throw new RanksimError("bad-params", {
    ...about,
    expected: `one of the columns ${known}`,
    found: `${JSON.stringify(choice)}${didYouMean(choice, names)}`,
  });
}

/** "column 3" or `column 3 ("width")`, for messages. */
export function columnPlace(names: readonly string[] | undefined, column: number): string {
  return names === undefined ? `column ${column}` : `column ${column} (${JSON.stringify(names[column])})`;
}
