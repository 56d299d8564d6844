/**
 * Collects the cells of a table, row by row, into a dense matrix, and deals with missing values the way the caller chose.
 * Also collects labels: names that all spell numbers become numbers, and those of a row are taken apart where it has several.
 */

import { type Dense, type Label, RanksimError } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import { type Account, budgetOf } from "../budget.ts";
import { denseFrom, type RowLabels } from "../data-set.ts";
import { GrowingValues, narrowed } from "../growing-values.ts";
import type { InBlocks, LabelBlocks } from "./label-blocks.ts";
import type { ReadOptions } from "./options.ts";

/** Cells of a table on their way to a matrix. */
export class DenseBuilder {
  readonly #name: string;
  readonly #missing: "refuse" | "mean" | number;
  readonly #learned: readonly number[] | undefined;
  #fill: readonly number[] | undefined;
  readonly #account: Account;
  readonly #values: GrowingValues;
  readonly #gaps: GrowingValues;

  constructor(name: string, options: ReadOptions) {
    const { missing = "refuse" } = options;
    if (missing !== "refuse" && missing !== "mean" && !Number.isFinite(missing)) {
      throw new RanksimError("bad-params", `missing: expected "refuse", "mean" or a finite number, found ${missing}`);
    }
    const { schema } = options;
    if (schema !== undefined && missing === "mean" && schema.fill === undefined) {
      throw new RanksimError(
        "bad-params",
        "missing: means are learned at training, and this model learned none; give a number, or train it again",
      );
    }
    this.#name = name;
    this.#missing = missing;
    this.#learned = missing === "refuse" || missing === "mean" ? schema?.fill : undefined;
    this.#account = budgetOf(options).of(name);
    this.#values = new GrowingValues(this.#account);
    this.#gaps = new GrowingValues(this.#account);
  }

  /** What stands for a missing value of each feature, after `finish`; undefined where missing values are refused. */
  get fill(): readonly number[] | undefined {
    return this.#fill;
  }

  add(value: number): void {
    this.#values.push(value);
  }

  /** A cell without a value; `where` names it for the error. */
  addMissing(where: string): void {
    if (this.#learned !== undefined) {
      this.#values.push(this.#learned[this.#values.length % this.#learned.length]);
      return;
    }
    if (this.#missing === "refuse") {
      throw badFile(this.#name, where, "expected a number, found a missing value; the option `missing` can fill it in");
    }
    this.#gaps.push(this.#values.length);
    this.#values.push(this.#missing === "mean" ? 0 : this.#missing);
  }

  /** The cells so far, NaN for missing ones. */
  eachCell(visit: (value: number, position: number) => void): void {
    const gaps = new Set<number>();
    for (let g = 0; g < this.#gaps.length; g++) gaps.add(this.#gaps.get(g));
    for (let i = 0; i < this.#values.length; i++) visit(gaps.has(i) ? Number.NaN : this.#values.get(i), i);
  }

  finish(rows: number, features: number): Promise<Dense> {
    const missing = this.#missing;
    this.#fill = this.#learned;
    if (this.#learned === undefined && missing === "mean") this.#fill = this.#means(rows, features);
    else if (typeof missing === "number") this.#fill = new Array<number>(features).fill(missing);
    const values = this.#gaps.length === 0 ? this.#values.finish() : narrowed(this.#fillGaps(features));
    return denseFrom(this.#name, values, rows, features);
  }

  #fillGaps(features: number): Float64Array {
    this.#account.take(2 * 8 * this.#values.length);
    const values = Float64Array.from(this.#values.finish());
    for (const gap of this.#gaps.finish()) values[gap] = (this.#fill as readonly number[])[gap % features];
    return values;
  }

  /** The mean of each column over the rows that have a value there. */
  #means(rows: number, features: number): number[] {
    const values = this.#values.finish();
    const counts = new Float64Array(features).fill(rows);
    for (const gap of this.#gaps.finish()) counts[gap % features]--;
    const sums = new Float64Array(features);
    for (let i = 0; i < values.length; i++) sums[i % features] += values[i];
    return Array.from(sums, (sum, column) => {
      if (counts[column] > 0) return sum / counts[column];
      throw badFile(this.#name, `column ${column}`, "expected at least one value to take the mean of, found none");
    });
  }
}

/** Labels on their way to a list. */
export class LabelBuilder {
  readonly #labels: (Label | readonly Label[])[] = [];
  readonly #account: Account;
  readonly #blocks: LabelBlocks | undefined;
  /** Whether text holds any number of labels, separated by commas. */
  readonly several: boolean;

  constructor(account: Account, { labelBlocks, multilabel = false }: ReadOptions & InBlocks = {}) {
    this.#account = account;
    this.#blocks = labelBlocks;
    this.several = multilabel;
  }

  /** Adds the label or the labels of the next row. */
  add(label: Label | readonly Label[]): void {
    if (typeof label === "string") this.#account.takeText(label.length);
    else this.#account.takeValues(typeof label === "object" ? 1 + label.length : 1);
    this.#labels.push(this.several && typeof label !== "object" ? this.#split(label) : label);
  }

  #split(cell: Label): Label[] {
    if (typeof cell === "number") return [cell];
    const labels = [...new Set(cell.split(",").map((label) => label.trim()))].filter((label) => label !== "");
    this.#account.takeValues(1 + labels.length);
    return labels;
  }

  get length(): number {
    return this.#labels.length;
  }

  /** The labels of a file; those of a block stay as they are written. */
  finish(): RowLabels {
    const labels = this.#labels as RowLabels;
    if (!this.#blocks) return typedLabels(labels);
    this.#blocks.areAsWritten = true;
    return labels;
  }
}

/**
 * Labels as they are written: one row with several labels makes them all label sets; strings that all spell numbers become numbers. Where
 * one is too large for each whole number to be its own, all stay strings, or two labels could become one.
 */
export function typedLabels(labels: RowLabels): RowLabels {
  const distinct = new Set<Label>(labels.flat());
  const numeric = [...distinct].every((label) => typeof label === "number" || spellsNumber(label));
  const name = (label: Label): Label => (numeric ? Number(label) : String(label));
  if (!labels.some((label) => typeof label === "object")) return (labels as Label[]).map(name);
  return labels.map((label) => (typeof label === "object" ? label.map(name) : [name(label)]));
}

function spellsNumber(label: string): boolean {
  return /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/.test(label) && Math.abs(Number(label)) <= Number.MAX_SAFE_INTEGER;
}
