/** Rows of a table on their way to a data set: their features, label or text, and what columns say of them. One for all formats with columns. */

import { type Label, RanksimError } from "@ranksim/core";
import { quoted } from "../bad-file.ts";
import type { Account } from "../budget.ts";
import type { DataSet, RowLabels } from "../data-set.ts";
import { type CellsBuilder, cellsBuilder } from "./cells-builder.ts";
import { type Columns, foundIn } from "./columns.ts";
import { splitLabels } from "./label-types.ts";
import { type Pace, type Reading, type ReadOptions, ROW_COLUMNS } from "./options.ts";
import { leftOutNote } from "./reader.ts";

/** Features that are no columns of their own. */
export interface OwnFeatures {
  readonly features?: number;
  readonly featureNames?: readonly string[];
  cells?(account: Account): CellsBuilder;
}

/** Bytes of the name of a column, in all the lists and descriptions that have it. */
const NAME_BYTES = 512;

/** Takes in rows one after the other, and hands on those that it has. */
export class RowsBuilder {
  /** Rows that were handed on. */
  taken = 0;
  /** Rows since then. */
  rows = 0;
  /** Rows that were left out, as they have no label. */
  leftOut = 0;
  readonly cells: CellsBuilder;
  /** Whether a row may have any number of labels: a text holds them separated by commas. */
  readonly several: boolean;
  readonly #name: string;
  readonly #names: readonly string[] | undefined;
  readonly #columns: Columns;
  readonly #featureNames: readonly string[] | undefined;
  readonly #features: number;
  readonly #account: Account;
  readonly #pace: Pace;
  readonly #isPart: boolean;
  readonly #emptyLabels: ReadOptions["emptyLabels"];
  /** Rows left out of which a note was given. */
  #told = 0;
  #labels: (Label | readonly Label[])[] = [];
  #text: string[] = [];
  #groups: string[] = [];
  #times: string[] = [];
  #weights: number[] = [];
  #kept: string[][] = [];

  /** `names` are those of the columns; `own` says what differs where a feature is no column of its own. */
  constructor(
    name: string,
    names: readonly string[] | undefined,
    columns: Columns,
    options: Reading,
    own: OwnFeatures = {},
  ) {
    this.#name = name;
    this.#names = names;
    this.#columns = columns;
    this.#features = own.features ?? columns.features.length;
    this.#featureNames =
      own.featureNames ?? (own.features === undefined ? names && columns.features.map((c) => names[c]) : undefined);
    this.#account = options.budget.of(name);
    if (this.#featureNames) this.#account.takeHeap(NAME_BYTES * this.#features);
    this.#pace = options.pace;
    this.#isPart = options.isPart === true;
    this.several = options.multilabel === true;
    this.#emptyLabels = this.several ? undefined : options.emptyLabels;
    this.cells =
      own.cells?.(this.#account) ?? cellsBuilder(name, options, this.#features, this.#featureNames, this.#account);
  }

  /** Whether the next row is left out, as its label is empty. It is asked before anything of the row is added. */
  leavesOut(label: unknown): boolean {
    if (this.#emptyLabels !== "leave out" || !isEmpty(label)) return false;
    this.leftOut++;
    return true;
  }

  /** Adds the label of the next row if it is empty and kept as it is. */
  keepsEmpty(label: unknown): boolean {
    if (this.#emptyLabels !== "keep" || !isEmpty(label)) return false;
    this.addLabel("");
    return true;
  }

  /** Adds the label or the labels of the next row. */
  addLabel(label: Label | readonly Label[]): void {
    if (typeof label === "string") this.#account.takeText(label.length);
    else this.#account.takeValues(typeof label === "object" ? 1 + label.length : 1);
    this.#labels.push(this.several && typeof label !== "object" ? this.#split(label) : label);
  }

  #split(cell: Label): Label[] {
    if (typeof cell === "number") return [cell];
    const labels = splitLabels(cell);
    this.#account.takeValues(1 + labels.length);
    return labels;
  }

  /** Adds the text of the next row. */
  addText(text: string): void {
    this.#account.takeText(2 * text.length);
    this.#text.push(text);
  }

  /** Adds what columns say of the next row. `cellOf` gives the text of a cell, "" where it is missing; `where` says where a column is. */
  addFacts(cellOf: (column: number) => string, where: (column: number) => string): void {
    const { groups, times, weights, kept } = this.#columns;
    const given = (column: number, parameter: string, expected: string): string => {
      const text = cellOf(column);
      const isFit =
        parameter === "weightColumn" ? Number(text) > 0 && Number.isFinite(Number(text)) : text.trim() !== "";
      if (!isFit) {
        const found = text.trim() === "" ? "nothing" : quoted(text);
        throw new RanksimError("bad-file", { parameter, file: this.#name, where: where(column), expected, found });
      }
      this.#account.takeText(2 * text.length);
      return text;
    };
    if (groups >= 0) this.#groups.push(given(groups, ROW_COLUMNS.groups, "a group"));
    if (times >= 0) this.#times.push(given(times, ROW_COLUMNS.times, "a time"));
    if (weights >= 0) this.#weights.push(Number(given(weights, ROW_COLUMNS.weights, "a number above 0")));
    if (kept.length === 0) return;
    const texts = kept.map(cellOf);
    for (const text of texts) this.#account.takeText(2 * text.length);
    this.#kept.push(texts);
  }

  /** Whether columns say something of rows. */
  get hasFacts(): boolean {
    const { groups, times, weights, kept } = this.#columns;
    return groups >= 0 || times >= 0 || weights >= 0 || kept.length > 0;
  }

  /** The rows since the last time; `isEnd`: they are the last. What a block takes is given back with it; rows at once keep it. */
  async take(isEnd = false): Promise<DataSet> {
    const isOpen = this.#isPart && !(isEnd && this.taken === 0);
    const { text, groups, times, weights, kept } = this.#columns;
    const notes = this.#notes();
    const facts = {
      ...(this.#labels.length === 0 ? {} : { y: this.#labels as RowLabels }),
      ...(groups < 0 ? {} : { groups: this.#groups }),
      ...(times < 0 ? {} : { times: this.#times }),
      ...(weights < 0 ? {} : { weights: Float64Array.from(this.#weights) }),
      ...(kept.length === 0 ? {} : { kept: this.#kept }),
      ...(notes.length > 0 ? { notes } : {}),
    };
    const found = foundIn(this.#names, this.#columns);
    const texts = this.#text;
    const built = text < 0 ? await this.cells.take(this.rows, this.#features, this.#featureNames, isOpen) : undefined;
    this.taken += this.rows;
    this.rows = 0;
    [this.#labels, this.#text, this.#groups, this.#times, this.#weights, this.#kept] = [[], [], [], [], [], []];
    if (Number.isFinite(this.#pace.blockBytes)) this.#account.release();
    if (!built) return { form: "text", text: texts, ...facts, found };
    if (built.form === "table") return { ...built, ...facts, found };
    const { fill, firstFeature, notes: cut = [], ...matrix } = built;
    const all = [...notes, ...cut];
    return {
      ...matrix,
      ...facts,
      ...(all.length > 0 ? { notes: all } : {}),
      found: { ...found, ...(fill ? { fill } : {}), ...(firstFeature === undefined ? {} : { firstFeature }) },
    };
  }
  /** What is to be known of the rows that are handed on. How many were left out of rows in parts is told after the last. */
  #notes(): readonly string[] {
    const { notes = [] } = this.#columns;
    const untold = this.leftOut - this.#told;
    if (this.#isPart || untold === 0) return notes;
    this.#told = this.leftOut;
    return [...notes, leftOutNote(this.#name, untold)];
  }
}

const isEmpty = (label: unknown): boolean =>
  label === undefined || label === null || Number.isNaN(label) || (typeof label === "string" && label.trim() === "");
