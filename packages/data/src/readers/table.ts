/**
 * Columnar tables (Parquet, Arrow) row by row into a data set. A column of lists of one length (embeddings, images) is as
 * many features; every other feature column is one.
 */

import type { Label } from "@ranksim/core";
import { badFile, quoted } from "../bad-file.ts";
import type { DataSet } from "../data-set.ts";
import { isMissing } from "../table/cells.ts";
import { type Columns, chooseColumns, distinctNames } from "./columns.ts";
import { isDue, type Reading } from "./options.ts";
import { endOf, noRows, type RowBlocks } from "./reader.ts";
import { RowsBuilder } from "./rows-builder.ts";

/** The cells of one column for some rows. */
export type Cells = (row: number) => unknown;

/** Rows of a columnar table on their way to a data set. */
export class TableBuilder {
  /** Numbers of the columns whose cells are asked for. */
  readonly needed: readonly number[];
  readonly #name: string;
  readonly #names: readonly string[];
  readonly #columns: Columns;
  readonly #options: Reading;
  #rows: RowsBuilder | undefined;
  /** Features of each feature column; 0 for a plain column. */
  #widths: readonly number[] = [];

  constructor(name: string, names: readonly string[], options: Reading) {
    this.#name = name;
    this.#names = distinctNames(names);
    this.#columns = chooseColumns(name, this.#names, names.length, options);
    this.#options = options;
    const { label, text, features, groups, times, weights, kept } = this.#columns;
    this.needed = [...new Set([...features, label, text, groups, times, weights, ...kept])].filter((c) => c >= 0);
  }

  /** Adds rows; `cells` gives each needed column's cells by the column's number. */
  add(count: number, cells: (column: number) => Cells): void {
    if (count === 0) return;
    const { label, text, features } = this.#columns;
    const featureCells = features.map(cells);
    const labelCells = label < 0 ? undefined : cells(label);
    const textCells = text < 0 ? undefined : cells(text);
    this.#rows ??= this.#open(featureCells);
    const rows = this.#rows;
    for (let r = 0; r < count; r++) {
      if (labelCells !== undefined && rows.leavesOut(labelCells(r))) continue;
      for (let f = 0; f < features.length; f++) this.#addFeatures(featureCells[f](r), f);
      if (labelCells !== undefined && !rows.keepsEmpty(labelCells(r))) rows.addLabel(this.#label(labelCells(r)));
      if (textCells !== undefined) rows.addText(this.#textOf(textCells(r)));
      if (rows.hasFacts) {
        rows.addFacts(
          (c) => textOfCell(cells(c)(r)),
          (c) => this.#placeOf(c),
        );
      }
      rows.rows++;
    }
  }

  #open(featureCells: readonly Cells[]): RowsBuilder {
    const widths = featureCells.map((column) => listOf(column(0))?.length ?? 0);
    this.#widths = widths;
    const featureNames = this.#columns.features.flatMap((column, f) => {
      const name = this.#names[column];
      return widths[f] === 0 ? [name] : Array.from({ length: widths[f] }, (_, i) => `${name}[${i}]`);
    });
    const own = { featureNames, features: featureNames.length };
    return new RowsBuilder(this.#name, this.#names, this.#columns, this.#options, own);
  }

  /** The rows since the last time, where they are to be handed on. */
  async *take(): AsyncGenerator<DataSet> {
    if (this.#rows && this.#rows.rows > 0 && isDue(this.#options.pace)) yield await this.#rows.take();
  }

  /** The last rows. */
  async *finish(): RowBlocks {
    if (!this.#rows || this.#rows.rows + this.#rows.taken === 0) throw noRows(this.#name, this.#rows?.leftOut);
    if (this.#rows.rows > 0) yield await this.#rows.take(true);
    return endOf(this.#rows);
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
    const builder = (this.#rows as RowsBuilder).cells;
    const where = () => this.#place(f);
    if (typeof cell === "number" && !Number.isNaN(cell)) builder.add(cell);
    else if (typeof cell === "boolean") builder.add(Number(cell));
    else if (typeof cell === "bigint" && Number.isSafeInteger(Number(cell))) builder.add(Number(cell));
    else if (typeof cell === "bigint" && builder.keepsSpelling?.()) builder.addText(String(cell), where);
    else if (cell === null || cell === undefined || Number.isNaN(cell)) builder.addMissing(where);
    else if (typeof cell === "string" && isMissing(cell)) builder.addMissing(where);
    else if (typeof cell === "string") builder.addText(cell, where);
    else if (cell instanceof Date) builder.addText(cell.toISOString(), where);
    else throw badFile(this.#name, where(), `expected a number, found ${describe(cell)}`);
  }

  #row(): string {
    return `row ${this.#rows ? this.#rows.taken + this.#rows.rows + this.#rows.leftOut : 0}`;
  }

  #placeOf(column: number): string {
    return `${this.#row()}, column ${quoted(this.#names[column])}`;
  }

  #place(f: number): string {
    return this.#placeOf(this.#columns.features[f]);
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
    if (typeof cell === "string") return cell;
    throw badFile(this.#name, this.#row(), `expected text, found ${describe(cell)}`);
  }
}

/** A cell as text, "" where it is missing. */
function textOfCell(cell: unknown): string {
  if (cell === null || cell === undefined) return "";
  if (cell instanceof Date) return cell.toISOString();
  return typeof cell === "object" ? JSON.stringify(cell) : String(cell);
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
