/** Which column of a table is what: features, label, text, or left out. One rule for CSV, JSON lines, Parquet and Arrow. */

import { RanksimError } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import type { DataSet, Found } from "../data-set.ts";
import { didYouMean } from "../did-you-mean.ts";
import type { BuiltRows } from "./cells-builder.ts";
import { expectedColumns } from "./expected-columns.ts";
import type { ColumnChoice, ReadOptions } from "./options.ts";

/** Columns by their numbers; -1 for none. */
export interface Columns {
  readonly label: number;
  readonly text: number;
  readonly features: readonly number[];
  readonly ignored: readonly number[];
  /** What a person should know of the choice. */
  readonly notes?: readonly string[];
}

/** Not "y": in a table with a column "x" it is a coordinate. */
const LABEL_NAMES = new Set(["label", "labels", "class", "target"]);

/** Finds the columns that the options or their schema name. `names` is absent where the table has none. */
export function chooseColumns(
  name: string,
  names: readonly string[] | undefined,
  count: number,
  options: ReadOptions,
): Columns {
  const find = (choice: ColumnChoice, option: string) => findColumn(name, names, count, choice, option);
  if (options.schema !== undefined && options.schema.form !== "text") {
    const { labelColumn } = options;
    const given = typeof labelColumn === "string" || typeof labelColumn === "number";
    const label = given ? find(labelColumn, "labelColumn") : labelColumn;
    return expectedColumns(name, names, count, options.schema, label, labelNamed(names));
  }
  const text = options.textColumn === undefined ? -1 : find(options.textColumn, "textColumn");
  const ignored = new Set((options.ignoreColumns ?? []).map((choice) => find(choice, "ignoreColumns")));
  let label = -1;
  if (options.labelColumn === undefined) {
    const { schema } = options;
    if (schema?.label !== undefined) label = whereIn(names, count, schema.label);
    if (label < 0) label = labelNamed(names, (c) => c !== text && !ignored.has(c));
  } else if (options.labelColumn !== null) {
    label = find(options.labelColumn, "labelColumn");
  }
  if (label >= 0 && label === text) {
    throw new RanksimError("bad-params", "labelColumn and textColumn: expected two columns, found one and the same");
  }
  const features: number[] = [];
  if (text < 0) for (let c = 0; c < count; c++) if (c !== label && !ignored.has(c)) features.push(c);
  if (text < 0 && features.length === 0) throw badFile(name, "", "expected at least one column of numbers, found none");
  return { label, text, features, ignored: [...ignored] };
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

/** Rows and what was found out about them. */
export function withFound(rows: BuiltRows, { found, ...facts }: Pick<DataSet, "y" | "notes" | "found">): DataSet {
  if (rows.form === "table") return { ...rows, ...facts, ...(found ? { found } : {}) };
  const { fill, ...matrix } = rows;
  return { ...matrix, ...facts, found: { ...found, ...(fill ? { fill } : {}) } };
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

/** The column that is called as labels are. */
export function labelNamed(
  names: readonly string[] | undefined,
  isFree: (column: number) => boolean = () => true,
): number {
  return names?.findIndex((column, c) => LABEL_NAMES.has(column.toLowerCase()) && isFree(c)) ?? -1;
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
  if (typeof choice === "number") {
    const column = choice < 0 ? count + choice : choice;
    if (Number.isInteger(choice) && column >= 0 && column < count) return column;
    throw new RanksimError("bad-params", `${option}: ${name} has columns 0 to ${count - 1}, found ${choice}`);
  }
  if (names === undefined) {
    throw new RanksimError(
      "bad-params",
      `${option}: ${name} has no line of column names, found ${JSON.stringify(choice)}; give the column's number`,
    );
  }
  const column = names.indexOf(choice);
  if (column >= 0) return column;
  const known = names.slice(0, 20).join(", ") + (names.length > 20 ? ", …" : "");
  throw new RanksimError(
    "bad-params",
    `${option}: ${name} has columns ${known}; found ${JSON.stringify(choice)}${didYouMean(choice, names)}`,
  );
}

/** "column 3" or `column 3 ("width")`, for messages. */
export function columnPlace(names: readonly string[] | undefined, column: number): string {
  return names === undefined ? `column ${column}` : `column ${column} (${JSON.stringify(names[column])})`;
}
