/** The first rows of a table as they stand in the file, and a guess at what each column is. */

import { blobSource, detectColumns, mayBeLabel, readData, Table, type TableColumn } from "@ranksim/data";
import type { ColumnRole, Preview, ReadChoices } from "../protocol.ts";

/** Files that hold tables, by their names; those of lines can be looked at by their beginning. */
const TABLE = /\.(csv|tsv|tab|jsonl|ndjson|parquet|arrow|feather)(\.gz)?$/i;
const LINES = /\.(csv|tsv|tab|jsonl|ndjson)$/i;

/** Bytes at the beginning that are looked at. */
const HEAD = 1 << 18;

/** Rows and columns that are shown, and letters of a cell. */
const SHOWN_ROWS = 6;
const SHOWN_COLUMNS = 24;
const SHOWN_LETTERS = 60;

/** A column whose cells have this many words on average is text. */
const WORDS_OF_TEXT = 4;

/** A table's first rows and the choices to read it with: `given`, or a guess. Undefined for other files. */
export async function previewOf(
  file: File,
  given: ReadChoices,
): Promise<{ preview: Preview; choices: ReadChoices } | undefined> {
  if (!TABLE.test(file.name)) return undefined;
  const table = await headOf(file);
  if (!table) return undefined;
  const roles = Object.keys(given).length > 0 ? rolesOf(table, given) : guessedRoles(table);
  return { preview: viewOf(table, roles), choices: { ...given, ...choicesOf(table, roles) } };
}

/** The first rows; undefined where they cannot be read as a table, which reading the whole file will explain. */
async function headOf(file: File): Promise<Table | undefined> {
  let head: File = file;
  if (LINES.test(file.name) && file.size > HEAD) {
    const text = await file.slice(0, HEAD).text();
    head = new File([text.slice(0, text.lastIndexOf("\n") + 1)], file.name);
  }
  try {
    const table = await readTable(head);
    return table && namesItsColumns(table) ? await readTable(head, { header: true }) : table;
  } catch {
    return undefined;
  }
}

async function readTable(head: File, options: { header?: boolean } = {}): Promise<Table | undefined> {
  const data = await readData(blobSource(head), { table: true, labelColumn: null, ...options });
  if (data.form === "text") return undefined;
  return data.form === "table" ? data.table : Table.fromMatrix(data.x, data.featureNames);
}

/**
 * Whether the first row of a table of words names its columns: readers know that by numbers below it alone. It does if it is made of
 * short words that do not come again, above a column in which most words do.
 */
function namesItsColumns(table: Table): boolean {
  const { columns, rows } = table;
  if (rows < 4 || !columns.every(({ name, form }) => /^column \d+$/.test(name) && form === "words")) return false;
  const cells = columns.map((_, c) =>
    Array.from({ length: rows }, (__, row) => String(table.cell(c, row) ?? "").trim()),
  );
  const first = cells.map(([cell]) => cell);
  const isName = (cell: string) => /^\p{L}[\p{L}\p{N}_ .-]{0,29}$/u.test(cell);
  if (!first.every(isName) || new Set(first).size < first.length) return false;
  const others = cells.map((own) => new Set(own.slice(1)));
  return others.every((own, c) => !own.has(first[c])) && others.some(({ size }) => size <= (rows - 1) / 2);
}

/** A column by its name; by its number where the file names none. */
const keyOf = ({ name }: TableColumn): string => /^column (\d+)$/.exec(name)?.[1] ?? name;

function guessedRoles(table: Table): ColumnRole[] {
  const found = detectColumns(table);
  const isText = table.columns.map((column) => column.form === "words" && wordsIn(column.words) >= WORDS_OF_TEXT);
  const text = isText.indexOf(true);
  const named = table.columns.findIndex(({ name }, c) => mayBeLabel(name) && c !== text);
  const last = table.columns.length - 1;
  const isClass = (c: number) => c !== text && /^(category|boolean)$/.test(found[c].type) && !found[c].leftOut;
  const label = named >= 0 ? named : isClass(last) ? last : found.findLastIndex((_, c) => isClass(c));
  return table.columns.map((column, c) => {
    if (c === label) return "label";
    if (c === text) return "text";
    return text >= 0 || column.form === "words" || found[c].leftOut ? "ignore" : "feature";
  });
}

function wordsIn(cells: readonly string[]): number {
  return cells.reduce((sum, cell) => sum + cell.trim().split(/\s+/).length, 0) / Math.max(1, cells.length);
}

function rolesOf(table: Table, { labelColumn, textColumn, ignoreColumns = [] }: ReadChoices): ColumnRole[] {
  const count = table.columns.length;
  const is = (column: TableColumn, c: number, choice: string | null | undefined) =>
    choice !== undefined &&
    choice !== null &&
    (keyOf(column) === choice || String(c) === choice || String(c - count) === choice);
  const guessed = labelColumn === undefined ? table.columns.findIndex(({ name }) => mayBeLabel(name)) : -1;
  return table.columns.map((column, c) => {
    if (is(column, c, textColumn)) return "text";
    if (is(column, c, labelColumn) || c === guessed) return "label";
    return textColumn !== undefined || ignoreColumns.some((choice) => is(column, c, choice)) ? "ignore" : "feature";
  });
}

function choicesOf(table: Table, roles: readonly ColumnRole[]): ReadChoices {
  const keys = table.columns.map(keyOf);
  const [label, text] = [roles.indexOf("label"), roles.indexOf("text")];
  const ignored = keys.filter((_, c) => roles[c] === "ignore");
  return {
    labelColumn: label < 0 ? null : keys[label],
    ...(text < 0 ? {} : { textColumn: keys[text] }),
    ...(text < 0 && ignored.length > 0 ? { ignoreColumns: ignored } : {}),
  };
}

/** The columns that are shown: the first ones, and those of labels and text wherever they stand. */
function viewOf(table: Table, roles: readonly ColumnRole[]): Preview {
  const shown = table.columns
    .map((column, c) => ({ column, c }))
    .filter(({ c }) => c < SHOWN_COLUMNS || roles[c] === "label" || roles[c] === "text");
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
