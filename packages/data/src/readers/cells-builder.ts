/**
 * Cells of a table, row by row, on their way to a matrix or to a table: to a matrix as long as they are all numbers, to a
 * table where words, dates or gaps occur and the caller can use them, and to columns of known types for a model that was
 * trained on a table.
 */

import type { Schema, SchemaColumn } from "@ranksim/core";
import { badFile, quoted } from "../bad-file.ts";
import { type Account, budgetOf } from "../budget.ts";
import type { Found, MatrixData, TableData } from "../data-set.ts";
import { columnNumber, dateOf, truthOf } from "../table/cells.ts";
import { ColumnBuilder, type ColumnState } from "../table/column-builder.ts";
import { Table } from "../table/table.ts";
import { DenseBuilder } from "./dense-builder.ts";
import type { ReadOptions } from "./options.ts";

/** Rows as they came out, and what was learned of missing numbers. */
export type BuiltRows =
  | (Pick<MatrixData, "form" | "x" | "featureNames"> & { readonly fill?: Found["fill"] })
  | Pick<TableData, "form" | "table">;

/** Takes the cells of all features, row by row. */
export interface CellsBuilder {
  add(value: number): void;
  /** A cell without a value; `where` names it for the error. */
  addMissing(where: string): void;
  /** A cell that holds neither a number nor nothing. */
  addText(text: string, where: string): void;
  /** Whether the next cell has to come as text even if it spells a number: its column has decimal commas, so a point is refused. */
  needsText?(): boolean;
  /** `names` are those of the features, where they have some. */
  finish(rows: number, features: number, names: readonly string[] | undefined): Promise<BuiltRows>;
}

/** Options of reading a table block by block as if it were read whole: what blocks have shown of the columns so far. */
export interface Pouring {
  readonly pour?: { columns: readonly ColumnState[] };
}

/** The builder that suits the options; `features` is known where rows cannot differ in width. */
export function cellsBuilder(name: string, options: ReadOptions & Pouring, features: number): CellsBuilder {
  const { schema, pour } = options;
  if (pour) return new PouredCells(name, options, features, pour);
  if (schema?.form === "table" && schema.columns !== undefined) return new TypedCells(name, schema, options);
  if (options.table === true && schema === undefined) return new OpenCells(name, options, features);
  return new NumberCells(name, options);
}

/** Numbers and nothing else. */
class NumberCells implements CellsBuilder {
  readonly #name: string;
  readonly #builder: DenseBuilder;
  /** A model of numbers takes no words, however they are read. */
  readonly #cure: string;

  constructor(name: string, options: ReadOptions) {
    this.#name = name;
    this.#builder = new DenseBuilder(name, options);
    this.#cure = options.schema ? "" : ", words kept by `table`";
  }

  add(value: number): void {
    this.#builder.add(value);
  }

  addMissing(where: string): void {
    this.#builder.addMissing(where);
  }

  addText(text: string, where: string): void {
    throw badFile(
      this.#name,
      where,
      `expected a number, found ${quoted(text)}; labels are named by labelColumn, other columns left out by ignoreColumns${this.#cure}`,
    );
  }

  async finish(rows: number, features: number, names: readonly string[] | undefined): Promise<BuiltRows> {
    const x = await this.#builder.finish(rows, features);
    const { fill } = this.#builder;
    return { form: "matrix", x, ...(names ? { featureNames: names } : {}), ...(fill ? { fill } : {}) };
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
  #columns: ColumnBuilder[] | undefined;
  #cells = 0;

  constructor(name: string, options: ReadOptions, features: number) {
    this.#features = features;
    this.#account = budgetOf(options).of(name);
    this.#fills = options.missing !== undefined;
    this.#refuses = options.missing === "refuse";
    this.#dense = new DenseBuilder(name, options);
  }

  add(value: number): void {
    if (this.#columns === undefined) this.#dense.add(value);
    else this.#columns[this.#cells % this.#features].addNumber(value);
    this.#cells++;
  }

  addMissing(where: string): void {
    if ((this.#columns === undefined && this.#fills) || this.#refuses) this.#dense.addMissing(where);
    else this.#column().addNumber(Number.NaN);
    this.#cells++;
  }

  addText(text: string): void {
    this.#column().addText(text);
    this.#cells++;
  }

  /** The column that is next, made of what came before if need be. */
  #column(): ColumnBuilder {
    if (this.#columns === undefined) {
      const columns = Array.from({ length: this.#features }, () => new ColumnBuilder("", this.#account));
      this.#dense.eachCell((value, i) => columns[i % this.#features].addNumber(value));
      this.#columns = columns;
    }
    return this.#columns[this.#cells % this.#features];
  }

  async finish(rows: number, features: number, names: readonly string[] | undefined): Promise<BuiltRows> {
    if (this.#columns === undefined) {
      const x = await this.#dense.finish(rows, features);
      const { fill } = this.#dense;
      return { form: "matrix", x, ...(names ? { featureNames: names } : {}), ...(fill ? { fill } : {}) };
    }
    const columns = this.#columns.map((column, c) => ({ ...column.finish(), name: names?.[c] ?? `column ${c}` }));
    return { form: "table", table: Table.of(columns) };
  }
}

/** Columns of one block of a table. They go on from what blocks before it have shown, and later blocks may show that they are words after all. */
class PouredCells implements CellsBuilder {
  readonly #pour: NonNullable<Pouring["pour"]>;
  readonly #columns: readonly ColumnBuilder[];
  /** Says that gaps are refused, where that was said. */
  readonly #refusal: DenseBuilder | undefined;
  #cells = 0;

  constructor(name: string, options: ReadOptions, features: number, pour: NonNullable<Pouring["pour"]>) {
    const account = budgetOf(options).of(name);
    this.#pour = pour;
    this.#columns = Array.from({ length: features }, (_, c) => new ColumnBuilder("", account, pour.columns[c]));
    this.#refusal = options.missing === "refuse" ? new DenseBuilder(name, options) : undefined;
  }

  add(value: number): void {
    this.#columns[this.#cells++ % this.#columns.length].addNumber(value);
  }

  addMissing(where: string): void {
    this.#refusal?.addMissing(where);
    this.add(Number.NaN);
  }

  addText(text: string): void {
    this.#columns[this.#cells++ % this.#columns.length].addText(text);
  }

  async finish(_rows: number, _features: number, names: readonly string[] | undefined): Promise<BuiltRows> {
    this.#pour.columns = this.#columns.map((column) => column.state);
    const columns = this.#columns.map((column, c) => ({ ...column.cells(), name: names?.[c] ?? `column ${c}` }));
    return { form: "table", table: Table.of(columns) };
  }
}

/** Columns of the types they had at training. */
class TypedCells implements CellsBuilder {
  readonly #name: string;
  readonly #types: readonly SchemaColumn[];
  readonly #fill: readonly number[] | undefined;
  readonly #columns: readonly ColumnBuilder[];
  #cells = 0;

  constructor(name: string, schema: Schema, options: ReadOptions) {
    const account = budgetOf(options).of(name);
    this.#name = name;
    this.#fill = schema.fill;
    this.#types = schema.columns ?? [];
    this.#columns = this.#types.map((column) => new ColumnBuilder(column.name, account));
  }

  add(value: number): void {
    this.#columns[this.#cells % this.#columns.length].addNumber(value);
    this.#cells++;
  }

  addMissing(): void {
    this.add(this.#fill?.[this.#cells % this.#columns.length] ?? Number.NaN);
  }

  needsText(): boolean {
    const { type, decimal } = this.#types[this.#cells % this.#columns.length];
    return type === "number" && decimal === ",";
  }

  addText(text: string, where: string): void {
    const column = this.#types[this.#cells % this.#columns.length];
    const { type, order = "ymd" } = column;
    if (type === "number") {
      this.add(this.#number(text, column, where));
      return;
    }
    const isFit = type === "category" || !Number.isNaN(type === "date" ? dateOf(text, order) : truthOf(text));
    if (!isFit) throw this.#refusal(text, column, where);
    this.#columns[this.#cells % this.#columns.length].addWord(text);
    this.#cells++;
  }

  #number(text: string, column: SchemaColumn, where: string): number {
    const value = columnNumber(text, column);
    if (Number.isNaN(value)) throw this.#refusal(text, column, where);
    return value;
  }

  #refusal(text: string, { type, decimal }: SchemaColumn, where: string): Error {
    const what = type === "number" && decimal === "," ? "a number with a decimal comma" : `a ${type}`;
    return badFile(this.#name, where, `expected ${what} as at training, found ${quoted(text)}`);
  }

  async finish(): Promise<BuiltRows> {
    return { form: "table", table: Table.of(this.#columns.map((column) => column.finish())) };
  }
}
