/**
 * Columnar tables (Parquet, Arrow) row by row into a data set. A column of lists of one length (embeddings, images) is as
 * many features; every other feature column is one.
 */

import type { Label } from "@ranksim/core";
import { badFile, quoted } from "../bad-file.ts";
import { type Account, budgetOf } from "../budget.ts";
import type { DataSet } from "../data-set.ts";
import { isMissing } from "../table/cells.ts";
import { type CellsBuilder, cellsBuilder } from "./cells-builder.ts";
import { type Columns, chooseColumns, distinctNames, foundIn, withFound } from "./columns.ts";
import { LabelBuilder } from "./dense-builder.ts";
import type { ReadOptions } from "./options.ts";

/** The cells of one column for some rows. */
export type Cells = (row: number) => unknown;

/** Rows of a columnar table on their way to a data set. */
export class TableBuilder {
  /** Numbers of the columns whose cells are asked for. */
  readonly needed: readonly number[];
  readonly #name: string;
  readonly #names: readonly string[];
  readonly #columns: Columns;
  readonly #options: ReadOptions;
  #builder: CellsBuilder | undefined;
  readonly #labels: LabelBuilder;
  readonly #account: Account;
  readonly #text: string[] = [];
  /** Features of each feature column; 0 for a plain column. */
  #widths: number[] | undefined;
  #rows = 0;
  /** Rows of the file before these. */
  readonly #before: number;

  /** `before` are rows of the same file that another builder has, where there are any. */
  constructor(name: string, names: readonly string[], options: ReadOptions, before?: TableBuilder) {
    this.#name = name;
    this.#before = before ? before.#before + before.#rows : 0;
    this.#widths = before ? before.#widths : undefined;
    this.#names = distinctNames(names);
    this.#columns = chooseColumns(name, this.#names, names.length, options);
    this.#options = options;
    this.#account = budgetOf(options).of(name);
    this.#labels = new LabelBuilder(this.#account, options);
    const { label, text, features } = this.#columns;
    this.needed = [...features, ...(label < 0 ? [] : [label]), ...(text < 0 ? [] : [text])];
  }

  /** Adds rows; `cells` gives each needed column's cells by the column's number. */
  add(rows: number, cells: (column: number) => Cells): void {
    const { label, text, features } = this.#columns;
    const featureCells = features.map(cells);
    const labelCells = label < 0 ? undefined : cells(label);
    const textCells = text < 0 ? undefined : cells(text);
    if (rows > 0 && this.#builder === undefined) {
      this.#widths ??= featureCells.map((column) => listOf(column(0))?.length ?? 0);
      const width = this.#widths.reduce((sum, own) => sum + Math.max(own, 1), 0);
      this.#builder = cellsBuilder(this.#name, this.#options, width);
    }
    for (let r = 0; r < rows; r++) {
      for (let f = 0; f < features.length; f++) this.#addFeatures(featureCells[f](r), f);
      if (labelCells !== undefined) this.#labels.add(this.#label(labelCells(r)));
      if (textCells !== undefined) this.#text.push(this.#textOf(textCells(r)));
      this.#rows++;
    }
  }

  async finish(): Promise<DataSet> {
    const { label, text, features } = this.#columns;
    if (this.#rows === 0) throw badFile(this.#name, "", "expected at least one row, found none");
    const { notes } = this.#columns;
    const facts = { ...(label < 0 ? {} : { y: this.#labels.finish() }), ...(notes ? { notes } : {}) };
    const found = foundIn(this.#names, this.#columns);
    if (text >= 0) return { form: "text", text: this.#text, ...facts, found };
    const widths = this.#widths as number[];
    const featureNames = features.flatMap((column, f) =>
      widths[f] === 0
        ? [this.#names[column]]
        : Array.from({ length: widths[f] }, (_, i) => `${this.#names[column]}[${i}]`),
    );
    const built = await (this.#builder as CellsBuilder).finish(this.#rows, featureNames.length, featureNames);
    return withFound(built, { ...facts, found });
  }

  #addFeatures(cell: unknown, f: number): void {
    const width = (this.#widths as number[])[f];
    if (width === 0) {
      this.#addNumber(cell, f);
      return;
    }
    const list = listOf(cell);
    if (list?.length !== width) {
      throw badFile(
        this.#name,
        this.#place(f),
        `expected a list of ${width} numbers as in row 0, found ${describe(cell)}`,
      );
    }
    for (let i = 0; i < width; i++) this.#addNumber(list[i], f);
  }

  #addNumber(cell: unknown, f: number): void {
    const builder = this.#builder as CellsBuilder;
    if (typeof cell === "number" && !Number.isNaN(cell)) builder.add(cell);
    else if (typeof cell === "boolean") builder.add(Number(cell));
    else if (typeof cell === "bigint" && Number.isSafeInteger(Number(cell))) builder.add(Number(cell));
    else if (cell === null || cell === undefined || Number.isNaN(cell)) builder.addMissing(this.#place(f));
    else if (typeof cell === "string" && isMissing(cell)) builder.addMissing(this.#place(f));
    else if (typeof cell === "string") builder.addText(cell, this.#place(f));
    else if (cell instanceof Date) builder.addText(cell.toISOString(), this.#place(f));
    else throw badFile(this.#name, this.#place(f), `expected a number, found ${describe(cell)}`);
  }

  #row(): string {
    return `row ${this.#before + this.#rows}`;
  }

  #place(f: number): string {
    return `${this.#row()}, column ${quoted(this.#names[this.#columns.features[f]])}`;
  }

  #label(cell: unknown): Label | readonly Label[] {
    const one = plainLabel(cell);
    if (one !== undefined) return one;
    const several = listOf(cell);
    const labels = several === undefined ? [undefined] : Array.from(several, plainLabel);
    if (labels.every((label) => label !== undefined)) return labels;
    throw badFile(this.#name, this.#row(), `expected a label or a list of labels, found ${describe(cell)}`);
  }

  #textOf(cell: unknown): string {
    if (typeof cell === "string") {
      this.#account.takeText(2 * cell.length);
      return cell;
    }
    throw badFile(this.#name, this.#row(), `expected text, found ${describe(cell)}`);
  }
}

function plainLabel(cell: unknown): Label | undefined {
  if (typeof cell === "string" || (typeof cell === "number" && Number.isFinite(cell))) return cell;
  if (typeof cell === "boolean") return Number(cell);
  if (typeof cell === "bigint") return Number.isSafeInteger(Number(cell)) ? Number(cell) : String(cell);
  return undefined;
}

function listOf(cell: unknown): ArrayLike<unknown> | undefined {
  if (Array.isArray(cell) || (ArrayBuffer.isView(cell) && !(cell instanceof DataView)))
    return cell as ArrayLike<unknown> & object;
  return undefined;
}

function describe(cell: unknown): string {
  if (cell === null || cell === undefined) return "nothing";
  const list = listOf(cell);
  if (list !== undefined) return `a list of ${list.length}`;
  return typeof cell === "string" ? quoted(cell) : quoted(String(cell));
}
