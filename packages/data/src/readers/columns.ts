/** Which column of a table is what: features, label, text, or left out. One rule for CSV, JSON lines, Parquet and Arrow. */

import { RanksimError } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import type { ColumnChoice, ReadOptions } from "./options.ts";

/** Columns by their numbers; -1 for none. */
export interface Columns {
  readonly label: number;
  readonly text: number;
  readonly features: readonly number[];
}

/** Not "y": in a table with a column "x" it is a coordinate. */
const LABEL_NAMES = new Set(["label", "class", "target"]);

/** Finds the columns that the options name. `names` is absent where the table has none. */
export function chooseColumns(
  name: string,
  names: readonly string[] | undefined,
  count: number,
  options: ReadOptions,
): Columns {
  const find = (choice: ColumnChoice, option: string) => findColumn(name, names, count, choice, option);
  const text = options.textColumn === undefined ? -1 : find(options.textColumn, "textColumn");
  const ignored = new Set((options.ignoreColumns ?? []).map((choice) => find(choice, "ignoreColumns")));
  let label = -1;
  if (options.labelColumn === undefined) {
    label =
      names?.findIndex((column, c) => LABEL_NAMES.has(column.toLowerCase()) && c !== text && !ignored.has(c)) ?? -1;
  } else if (options.labelColumn !== null) {
    label = find(options.labelColumn, "labelColumn");
  }
  if (label >= 0 && label === text) {
    throw new RanksimError("bad-params", "labelColumn and textColumn: expected two columns, found one and the same");
  }
  const features: number[] = [];
  if (text < 0) for (let c = 0; c < count; c++) if (c !== label && !ignored.has(c)) features.push(c);
  if (text < 0 && features.length === 0) throw badFile(name, "", "expected at least one column of numbers, found none");
  return { label, text, features };
}

function findColumn(
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
  throw new RanksimError("bad-params", `${option}: ${name} has columns ${known}; found ${JSON.stringify(choice)}`);
}

/** "column 3" or `column 3 ("width")`, for messages. */
export function columnPlace(names: readonly string[] | undefined, column: number): string {
  return names === undefined ? `column ${column}` : `column ${column} (${JSON.stringify(names[column])})`;
}
