/** Rows of a table with columns of numbers and of words, some of them missing: what an encoder turns into rows of numbers. */

import { type DenseRows, type Matrix, RanksimError, toDense } from "@ranksim/core";
import { spelled } from "./cells.ts";

/** A column of numbers; NaN where one is missing. */
export interface NumberColumn {
  readonly form: "numbers";
  readonly name: string;
  readonly values: Float64Array;
  /** What separated decimals in the file, where that was a comma. */
  readonly decimal?: ",";
  /** Whether cells such as 12.000 are among them: if points turn out to set thousands apart in other cells, these are lost. */
  readonly grouped?: true;
}

/** A column of words: for each row the number of its word, `NO_WORD` where it is missing. */
export interface WordColumn {
  readonly form: "words";
  readonly name: string;
  readonly codes: Uint32Array;
  readonly words: readonly string[];
  /** Whether cells such as 12.000 were read as numbers before a word came: if points set thousands apart, these are lost. */
  readonly grouped?: true;
  /** Whether all words are as they were written, those of numbers too: a column of records, or one that was said to be a category as it was read. */
  readonly written?: true;
}

export type TableColumn = NumberColumn | WordColumn;

/** The code of a missing word. */
export const NO_WORD = 0xffff_ffff;

/** A row by the names of its columns: numbers, strings, booleans, dates, and null or nothing for a missing value. */
export type TableRecord = { readonly [name: string]: unknown };

/** Whether something is a record: an object without a class of its own. */
export function isRecord(x: unknown): x is TableRecord {
  if (typeof x !== "object" || x === null || Array.isArray(x) || ArrayBuffer.isView(x)) return false;
  const prototype: unknown = Object.getPrototypeOf(x);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Whether rows are a list of records. */
export const isRecords = (x: unknown): x is readonly TableRecord[] => Array.isArray(x) && isRecord(x[0]);

/** Columns of one length under different names. */
export class Table {
  readonly rows: number;
  readonly columns: readonly TableColumn[];

  private constructor(rows: number, columns: readonly TableColumn[]) {
    this.rows = rows;
    this.columns = columns;
  }

  /** Wraps columns without a copy. Refuses different lengths, names that come twice, infinities and codes without a word. */
  static of(columns: readonly TableColumn[]): Table {
    if (columns.length === 0)
      throw new RanksimError("bad-matrix", "expected a table of at least one column, found none");
    const names = new Set<string>();
    const rows = lengthOf(columns[0]);
    for (const column of columns) {
      const where = `column ${JSON.stringify(column.name)}`;
      if (names.has(column.name))
        throw new RanksimError("bad-matrix", `${where}: expected one of this name, found two`);
      names.add(column.name);
      if (lengthOf(column) !== rows) {
        throw new RanksimError("bad-matrix", `${where}: expected ${rows} rows, found ${lengthOf(column)}`);
      }
      let bad = 0;
      if (column.form === "numbers")
        while (bad < rows && Math.abs(column.values[bad]) !== Number.POSITIVE_INFINITY) bad++;
      else while (bad < rows && (column.codes[bad] === NO_WORD || column.codes[bad] < column.words.length)) bad++;
      if (bad < rows)
        throw new RanksimError("bad-matrix", `${where}, row ${bad}: expected a finite number or a known word`);
    }
    return new Table(rows, columns);
  }

  /** A table of records. */
  static fromRecords(records: readonly TableRecord[]): Table {
    const names = [...new Set(records.flatMap((record) => Object.keys(record)))];
    return Table.of(
      names.map((name) =>
        columnOf(
          name,
          records.map((record) => record[name]),
        ),
      ),
    );
  }

  /** The columns of a matrix; those without names are called "column 0", "column 1" and so on. */
  static fromMatrix(x: Matrix, names?: readonly string[]): Table {
    return Table.fromRows(toDense(x), names);
  }

  /** The same of dense rows that were checked already. */
  static fromRows({ rows, features, values }: DenseRows, names?: readonly string[]): Table {
    const columns = Array.from({ length: features }, () => new Float64Array(rows));
    for (let r = 0, e = 0; r < rows; r++) for (let c = 0; c < features; c++) columns[c][r] = values[e++];
    return Table.of(columns.map((values, c) => ({ form: "numbers", name: names?.[c] ?? `column ${c}`, values })));
  }

  /** The rows of all tables, in order, with the columns of the first. */
  static join(tables: readonly Table[]): Table {
    const names = tables[0].columns.map(({ name }) => name);
    const parts = tables.map((table) => table.select(names).columns);
    return Table.of(names.map((_, c) => joinColumns(parts.map((columns) => columns[c]))));
  }

  /** The listed rows, copied. */
  gather(rows: ArrayLike<number>): Table {
    const pick = (column: TableColumn): TableColumn =>
      column.form === "numbers"
        ? { ...column, values: picked(column.values, rows, new Float64Array(rows.length)) }
        : { ...column, codes: picked(column.codes, rows, new Uint32Array(rows.length)) };
    return new Table(rows.length, this.columns.map(pick));
  }

  /** Rows `from` (included) to `to` (not included), as a view of the same memory. */
  slice(from: number, to: number): Table {
    const cut = (column: TableColumn): TableColumn =>
      column.form === "numbers"
        ? { ...column, values: column.values.subarray(from, to) }
        : { ...column, codes: column.codes.subarray(from, to) };
    return new Table(Math.max(0, Math.min(to, this.rows) - from), this.columns.map(cut));
  }

  /** The columns of these names, in this order. Refuses (code "wrong-width") names that are not there. */
  select(names: readonly string[]): Table {
    const byName = new Map(this.columns.map((column) => [column.name, column]));
    const lacking = names.filter((name) => !byName.has(name));
    if (lacking.length > 0) {
      const list = lacking.slice(0, 8).map((name) => JSON.stringify(name));
      throw new RanksimError("wrong-width", `expected the columns ${list.join(", ")}, which the table lacks`);
    }
    return new Table(
      this.rows,
      names.map((name) => byName.get(name) as TableColumn),
    );
  }

  /** What a cell holds: a number, a word, or undefined. */
  cell(column: number, row: number): number | string | undefined {
    const found = this.columns[column];
    if (found.form === "numbers") return Number.isNaN(found.values[row]) ? undefined : found.values[row];
    return found.words[found.codes[row]];
  }
}

/** A loop: `from` with a function takes twenty times as long. */
function picked<T extends Float64Array | Uint32Array>(values: T, rows: ArrayLike<number>, into: T): T {
  for (let j = 0; j < rows.length; j++) into[j] = values[rows[j]];
  return into;
}

function lengthOf(column: TableColumn): number {
  return column.form === "numbers" ? column.values.length : column.codes.length;
}

/** One column below the other: of numbers if all are, else of words. */
function joinColumns(parts: readonly TableColumn[]): TableColumn {
  const rows = parts.reduce((sum, part) => sum + lengthOf(part), 0);
  let at = 0;
  if (parts.every((part) => part.form === "numbers")) {
    const values = new Float64Array(rows);
    for (const part of parts) {
      values.set(part.values, at);
      at += part.values.length;
    }
    return { ...parts[0], values };
  }
  const places = new Map<string, number>();
  const place = (word: string): number => {
    if (!places.has(word)) places.set(word, places.size);
    return places.get(word) as number;
  };
  const codes = new Uint32Array(rows);
  for (const part of parts) {
    if (part.form === "numbers")
      for (const value of part.values)
        codes[at++] = Number.isNaN(value) ? NO_WORD : place(spelled(value, part.decimal));
    else {
      const own = part.words.map(place);
      for (const code of part.codes) codes[at++] = code === NO_WORD ? NO_WORD : own[code];
    }
  }
  const grouped = parts.some((part) => part.grouped) ? ({ grouped: true } as const) : {};
  const written = parts.some((part) => part.form === "words" && part.written) ? ({ written: true } as const) : {};
  return { form: "words", name: parts[0].name, codes, words: [...places.keys()], ...grouped, ...written };
}

/** Numbers beyond this are written with an exponent. */
const LARGEST_WRITTEN = 1e21;

/** Refuses a number among words that may have been another one before it was rounded, such as one of 19 digits. */
export function refuseRounded(name: string, row: number, value: number): void {
  if (!(Math.abs(value) > Number.MAX_SAFE_INTEGER && Math.abs(value) < LARGEST_WRITTEN)) return;
  throw new RanksimError(
    "bad-matrix",
    `column ${JSON.stringify(name)}, row ${row}: expected words, or numbers up to 2^53, found ${value}, which could be another; write it as a string`,
  );
}

/** A column of numbers where all values are numbers or missing, else one of words. */
function columnOf(name: string, cells: readonly unknown[]): TableColumn {
  if (cells.every((cell) => cell === null || cell === undefined || typeof cell === "number")) {
    return { form: "numbers", name, values: Float64Array.from(cells, (cell) => (cell as number | null) ?? Number.NaN) };
  }
  const codes = new Map<string, number>();
  const codeOf = (cell: unknown, row: number): number => {
    if (cell === null || cell === undefined || Number.isNaN(cell)) return NO_WORD;
    if (typeof cell === "number") refuseRounded(name, row, cell);
    const word = cell instanceof Date ? cell.toISOString() : String(cell);
    if (!codes.has(word)) codes.set(word, codes.size);
    return codes.get(word) as number;
  };
  return { form: "words", name, codes: Uint32Array.from(cells, codeOf), words: [...codes.keys()], written: true };
}
