/** The first rows of a table as they stand in the file, and what the readers took each column for. */

import { blobSource, type DataSet, detectColumns, readData, Table, type TableColumn } from "@ranksim/data";
import type { ColumnRole, Preview, ReadChoices } from "../protocol.ts";

/** Files that hold tables, by their names; those of lines can be looked at by their beginning. */
const TABLE = /\.(csv|tsv|tab|jsonl|ndjson|parquet|arrow|feather|xlsx)(\.gz)?$/i;
const LINES = /\.(csv|tsv|tab|jsonl|ndjson)$/i;

/** Bytes at the beginning that are looked at. */
const HEAD = 1 << 18;

/** Rows and columns that are shown, and letters of a cell. */
const SHOWN_ROWS = 6;
const SHOWN_COLUMNS = 24;
const SHOWN_LETTERS = 60;

/** The first rows of a table with all its columns; undefined for other files, and where reading the whole will explain what is wrong. */
export async function headOf(file: File): Promise<Table | undefined> {
  if (!TABLE.test(file.name)) return undefined;
  let head: File = file;
  if (LINES.test(file.name) && file.size > HEAD) {
    const text = await file.slice(0, HEAD).text();
    head = new File([text.slice(0, text.lastIndexOf("\n") + 1)], file.name);
  }
  try {
    const data = await readData(blobSource(head), { table: true, labelColumn: null });
    if (data.form === "text") return undefined;
    return data.form === "table" ? data.table : Table.fromMatrix(data.x, data.featureNames);
  } catch {
    return undefined;
  }
}

/** The first rows, and the role of each column: as was said, as was found in reading, or as recipes leave columns out. */
export function previewOf(table: Table, choices: ReadChoices, read?: DataSet): Preview {
  const label = choices.labelColumn ?? read?.found?.label;
  const text = choices.textColumn ?? read?.found?.text;
  const leftOut = read && text === undefined ? detectColumns(table).map((column) => column.leftOut !== undefined) : [];
  const roles = table.columns.map((column, c): ColumnRole => {
    const is = (choice: string | number | null | undefined) =>
      choice !== undefined && choice !== null && isColumn(column, c, table.columns.length, String(choice));
    if (is(label)) return "label";
    if (is(text)) return "text";
    if (is(choices.groupColumn)) return "group";
    if (is(choices.timeColumn)) return "time";
    if (is(choices.weightColumn)) return "weight";
    return text !== undefined || leftOut[c] || choices.ignoreColumns?.some(is) ? "ignore" : "feature";
  });
  return viewOf(table, roles);
}

/** A column by its name; by its number where the file names none. */
const keyOf = ({ name }: TableColumn): string => /^column (\d+)$/.exec(name)?.[1] ?? name;

const isColumn = (column: TableColumn, c: number, count: number, choice: string): boolean =>
  keyOf(column) === choice || String(c) === choice || String(c - count) === choice;

/** The columns that are shown: the first ones, and those that are more than features wherever they stand. */
function viewOf(table: Table, roles: readonly ColumnRole[]): Preview {
  const shown = table.columns
    .map((column, c) => ({ column, c }))
    .filter(({ c }) => c < SHOWN_COLUMNS || (roles[c] !== "feature" && roles[c] !== "ignore"));
  const cell = (c: number, row: number) => {
    const text = String(table.cell(c, row) ?? "");
    return text.length > SHOWN_LETTERS ? `${text.slice(0, SHOWN_LETTERS)}…` : text;
  };
  const rows = Math.min(SHOWN_ROWS, table.rows);
  return {
    columns: shown.map(({ column, c }) => ({
      key: keyOf(column),
      role: roles[c],
      cells: Array.from({ length: rows }, (_, row) => cell(c, row)),
    })),
    hidden: table.columns.length - shown.length,
  };
}
