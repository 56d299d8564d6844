/**
 * Cells of a table, row by row, on their way to a matrix or to a table: to a matrix as long as they are all numbers, to a
 * table where words, dates or gaps occur and the caller can use them, and to columns of known types for a model that was
 * trained on a table.
 */

import type { Dense, Schema, SchemaColumn } from "@ranksim/core";
import { badCell, badFile, quoted } from "../bad-file.ts";
import type { Account } from "../budget.ts";
import type { Found, MatrixData, TableData } from "../data-set.ts";
import { isPlainNumber, truthOf } from "../table/cells.ts";
import { ColumnBuilder, type ColumnState } from "../table/column-builder.ts";
import { dateOf, timeOfDay } from "../table/dates.ts";
import { columnNumber } from "../table/numbers.ts";
import { Table } from "../table/table.ts";
import { DenseBuilder } from "./dense-builder.ts";
import { isToldCategory, type Reading } from "./options.ts";
import type { Ending } from "./reader.ts";

/** Rows as they came out, and what was learned of missing numbers. */
export type BuiltRows =
  | (Pick<MatrixData, "form" | "x" | "featureNames" | "gaps" | "notes"> & Pick<Found, "fill" | "firstFeature">)
  | Pick<TableData, "form" | "table">;

/** Takes the cells of all features, row by row. */
export interface CellsBuilder {
  /** `isGrouped`: its text may be a whole number with thousands set apart by a point, and ends in a zero, which the value does not tell. */
  add(value: number, isGrouped?: boolean): void;
  /**
   * A whole row, its cells at `places` of `numbers`, unless one is NaN or cells have to come one by one: then nothing is added, and the answer is
   * false. `hasGrouped`: one may be as above.
   */
  addRow?(numbers: Float64Array, places: readonly number[], hasGrouped: boolean): boolean;
  /** A cell without a value; `where` names it for the error. */
  addMissing(where: () => string): void;
  /** A cell that holds neither a number nor nothing. */
  addText(text: string, where: () => string): void;
  /** Whether the next cell has to come as text even if it spells a number: a point means something else in its column, or it is a word there. */
  needsText?(): boolean;
  /** Whether the next cell is a category that is known by how it is written, so that no number may stand for another. */
  keepsSpelling?(): boolean;
  /** The rows so far. `names` are those of the features, where they have some; `isOpen`: what depends on all rows stays open. */
  take(rows: number, features: number, names: readonly string[] | undefined, isOpen: boolean): Promise<BuiltRows>;
  /** What all rows say, after the last. */
  ending?(): Ending;
}

/** The builder that suits the options; `features` is known where rows cannot differ in width, and so are their `names` where they have some. */
export function cellsBuilder(
  name: string,
  options: Reading,
  features: number,
  names: readonly string[] | undefined,
  account: Account,
): CellsBuilder {
  const { schema } = options;
  if (schema?.form === "table" && schema.columns !== undefined) return new TypedCells(name, options, schema, account);
  if (schema === undefined) {
    const isTold = (c: number) => isToldCategory(options, names?.[c] ?? `column ${c}`);
    const stateOf = (c: number) => (options.columns !== undefined && isTold(c) ? WRITTEN : UNKNOWN);
    const states = Array.from({ length: features }, (_, c) => stateOf(c));
    if (options.table ?? states.includes(WRITTEN)) return new OpenCells(name, options, states, account);
  }
  return new NumberCells(name, options, account);
}

/** Numbers and nothing else. */
export class NumberCells implements CellsBuilder {
  readonly #name: string;
  readonly #builder: DenseBuilder;
  /** A model of numbers takes no words, however they are read. */
  readonly #hasModel: boolean;

  constructor(name: string, options: Reading, account: Account) {
    this.#name = name;
    this.#builder = new DenseBuilder(name, options, account);
    this.#hasModel = options.schema !== undefined;
  }

  add(value: number): void {
    this.#builder.add(value);
  }

  addRow(numbers: Float64Array, places: readonly number[]): boolean {
    return this.#builder.addRow(numbers, places);
  }

  addMissing(where: () => string): void {
    this.#builder.addMissing(where);
  }

  addText(text: string, where: () => string): void {
    throw badCell(this.#name, where(), {
      expected: "a number",
      found: quoted(text),
      cure: (called) =>
        `labels are named by ${called("labelColumn")}, other columns left out by ${called("ignoreColumns")}${this.#hasModel ? "" : `, words kept by ${called("table")}`}`,
    });
  }

  async take(
    rows: number,
    features: number,
    names: readonly string[] | undefined,
    isOpen: boolean,
  ): Promise<BuiltRows> {
    const built = await this.#builder.take(rows, features, isOpen);
    return { form: "matrix", ...built, ...(names ? { featureNames: names } : {}) };
  }

  ending(): Ending {
    return this.#builder.ending();
  }
}

/** Numbers until something else comes; then columns. */
class OpenCells implements CellsBuilder {
  readonly #features: number;
  readonly #dense: DenseBuilder;
  /** Whether gaps are filled in while all cells are numbers. */
  readonly #fills: boolean;
  readonly #account: Account;
  /** Whether they are refused, because that was said. */
  readonly #refuses: boolean;
  /** What was said, and what cells that were handed on have shown, of each column. */
  #shown: readonly ColumnState[];
  readonly #hasWritten: boolean;
  #columns: ColumnBuilder[] | undefined;
  #cells = 0;
  /** Columns with numbers such as 12.000. */
  readonly #grouped = new Set<number>();

  constructor(name: string, options: Reading, states: readonly ColumnState[], account: Account) {
    this.#features = states.length;
    this.#shown = states;
    this.#hasWritten = states.some(({ isWritten }) => isWritten);
    this.#account = account;
    this.#fills = options.missing !== undefined;
    this.#refuses = options.missing === "refuse";
    this.#dense = new DenseBuilder(name, options, account);
  }

  ending(): Ending {
    return this.#columns ? { columns: this.#columns.map((column) => column.state) } : this.#dense.ending();
  }

  add(value: number, isGrouped = false): void {
    if (isGrouped) this.#grouped.add(this.#cells % this.#features);
    if (this.#columns === undefined) this.#dense.add(value);
    else this.#columns[this.#cells % this.#features].addNumber(value, isGrouped);
    this.#cells++;
  }

  addRow(numbers: Float64Array, places: readonly number[], hasGrouped: boolean): boolean {
    if (hasGrouped || this.#hasWritten || this.#columns !== undefined || !this.#dense.addRow(numbers, places))
      return false;
    this.#cells += places.length;
    return true;
  }

  needsText(): boolean {
    return this.keepsSpelling() || (this.#columns?.[this.#cells % this.#features].isWords ?? false);
  }

  keepsSpelling(): boolean {
    return this.#shown[this.#cells % this.#features].isWritten ?? false;
  }

  addMissing(where: () => string): void {
    if ((this.#columns === undefined && this.#fills) || this.#refuses) this.#dense.addMissing(where);
    else this.#column().addNumber(Number.NaN);
    this.#cells++;
  }

  addText(text: string): void {
    // What a number writes needs no table.
    if (this.#columns === undefined && this.keepsSpelling() && isPlainNumber(text)) this.#dense.add(Number(text));
    else this.#column().addText(text);
    this.#cells++;
  }

  /** The column that is next, made of what came before if need be. */
  #column(): ColumnBuilder {
    if (this.#columns === undefined) {
      const columns = this.#builders(
        Array.from({ length: this.#features }, (_, c) => ({
          ...this.#shown[c],
          isGrouped: this.#grouped.has(c),
        })),
      );
      this.#dense.eachCell((value, i) => columns[i % this.#features].addNumber(value));
      this.#columns = columns;
    }
    return this.#columns[this.#cells % this.#features];
  }

  #builders(shown: readonly ColumnState[]): ColumnBuilder[] {
    return shown.map((state) => new ColumnBuilder("", this.#account, state));
  }

  async take(
    rows: number,
    features: number,
    names: readonly string[] | undefined,
    isOpen: boolean,
  ): Promise<BuiltRows> {
    if (this.#columns === undefined) {
      const built = await this.#dense.take(rows, features, isOpen);
      if (isOpen) this.#shown = statesOf(built.x, this.#shown);
      return { form: "matrix", ...built, ...(names ? { featureNames: names } : {}) };
    }
    const columns = this.#columns.map((column, c) => ({ ...column.finish(), name: names?.[c] ?? `column ${c}` }));
    this.#columns = this.#builders(this.#columns.map((column) => column.state));
    return { form: "table", table: Table.of(columns) };
  }
}

/** What is known of a column before its first cell. */
const UNKNOWN: ColumnState = { isWords: false, points: 0, commas: 0, isGrouped: false };
const WRITTEN: ColumnState = { ...UNKNOWN, isWritten: true };

/** What rows of numbers show of their columns, should these be more than numbers later on: whether some have decimals. */
function statesOf({ values, features }: Dense, states: readonly ColumnState[]): readonly ColumnState[] {
  if (!(values instanceof Float32Array || values instanceof Float64Array)) return states;
  return states.map((state, c) => {
    for (let i = c; state.points === 0 && i < values.length; i += features)
      if (!Number.isInteger(values[i])) return { ...state, points: 1 };
    return state;
  });
}

/** Columns of the types they had at training. */
class TypedCells implements CellsBuilder {
  readonly #name: string;
  readonly #types: readonly SchemaColumn[];
  readonly #fill: readonly number[] | undefined;
  /** Which columns are categories that are known by how they are written, and which cells have to come as text. */
  readonly #isWritten: readonly boolean[];
  readonly #needText: readonly boolean[];
  readonly #account: Account;
  #columns: readonly ColumnBuilder[];
  #cells = 0;

  constructor(name: string, options: Reading, schema: Schema, account: Account) {
    this.#name = name;
    this.#fill = schema.fill;
    this.#types = schema.columns ?? [];
    this.#isWritten = this.#types.map((column) => column.written ?? isToldCategory(options, column.name));
    this.#needText = this.#types.map((column, c) => this.#isWritten[c] || isFormatted(column));
    this.#account = account;
    this.#columns = this.#builders();
  }

  #builders(): ColumnBuilder[] {
    return this.#types.map(
      ({ name }, c) => new ColumnBuilder(name, this.#account, this.#isWritten[c] ? WRITTEN : UNKNOWN),
    );
  }

  add(value: number): void {
    this.#columns[this.#cells % this.#columns.length].addNumber(value);
    this.#cells++;
  }

  addMissing(): void {
    this.add(this.#fill?.[this.#cells % this.#columns.length] ?? Number.NaN);
  }

  addRow(numbers: Float64Array, places: readonly number[]): boolean {
    if (this.#needText.includes(true)) return false;
    for (let c = 0; c < places.length; c++) if (Number.isNaN(numbers[places[c]])) return false;
    for (let c = 0; c < places.length; c++) this.#columns[c].addNumber(numbers[places[c]]);
    this.#cells += places.length;
    return true;
  }

  needsText(): boolean {
    return this.#needText[this.#cells % this.#columns.length];
  }

  keepsSpelling(): boolean {
    return this.#isWritten[this.#cells % this.#columns.length];
  }

  addText(text: string, where: () => string): void {
    const column = this.#types[this.#cells % this.#columns.length];
    const { type, missing } = column;
    if (missing?.includes(text)) {
      this.addMissing();
      return;
    }
    if (type === "number") {
      this.add(this.#number(text, column, where));
      return;
    }
    if (!fits(text, column)) throw this.#refusal(text, column, where);
    this.#columns[this.#cells % this.#columns.length].addWord(text);
    this.#cells++;
  }

  #number(text: string, column: SchemaColumn, where: () => string): number {
    const value = columnNumber(text, column);
    if (Number.isNaN(value)) throw this.#refusal(text, column, where);
    return value;
  }

  #refusal(text: string, { type, decimal, unit }: SchemaColumn, where: () => string): Error {
    const comma = decimal === "," ? " with a decimal comma" : "";
    const what = type === "number" ? `a number${comma}${unit ? ` in ${unit}` : ""}` : `a ${type}`;
    return badFile(this.#name, where(), `expected ${what} as at training, found ${quoted(text)}`);
  }

  async take(): Promise<BuiltRows> {
    const columns = this.#columns.map((column) => column.finish());
    this.#columns = this.#builders();
    return { form: "table", table: Table.of(columns) };
  }
}

/** Whether numbers in such a column have to be read from their text. */
const isFormatted = ({ type, decimal, thousands }: SchemaColumn): boolean =>
  type === "text" || (type === "number" && (decimal === "," || thousands === "."));

/** Whether a text is a cell of such a column. */
function fits(text: string, { type, order }: SchemaColumn): boolean {
  if (type === "category" || type === "text") return true;
  return !Number.isNaN(
    type === "date" ? dateOf(text, order ?? "ymd") : type === "time" ? timeOfDay(text) : truthOf(text),
  );
}
