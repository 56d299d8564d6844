/**
 * Collects the cells of a table, row by row, into a dense matrix, and deals with missing values the way the caller chose.
 * Also collects labels: names that all spell numbers become numbers.
 */

import { type Dense, type Label, RanksimError } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import { denseFrom, type RowLabels } from "../data-set.ts";
import { GrowingValues, narrowed } from "../growing-values.ts";
import type { ReadOptions } from "./options.ts";

/** Cells of a table on their way to a matrix. */
export class DenseBuilder {
  readonly #name: string;
  readonly #missing: "refuse" | "mean" | number;
  readonly #values = new GrowingValues();
  readonly #gaps = new GrowingValues();

  constructor(name: string, options: ReadOptions) {
    const { missing = "refuse" } = options;
    if (missing !== "refuse" && missing !== "mean" && !Number.isFinite(missing)) {
      throw new RanksimError("bad-params", `missing: expected "refuse", "mean" or a finite number, found ${missing}`);
    }
    this.#name = name;
    this.#missing = missing;
  }

  add(value: number): void {
    this.#values.push(value);
  }

  /** A cell without a value; `where` names it for the error. */
  addMissing(where: string): void {
    if (this.#missing === "refuse") {
      throw badFile(this.#name, where, "expected a number, found a missing value; the option `missing` can fill it in");
    }
    if (this.#missing === "mean") this.#gaps.push(this.#values.length);
    this.#values.push(this.#missing === "mean" ? 0 : this.#missing);
  }

  finish(rows: number, features: number): Promise<Dense> {
    const values = this.#gaps.length === 0 ? this.#values.finish() : narrowed(this.#fillMeans(rows, features));
    return denseFrom(this.#name, values, rows, features);
  }

  #fillMeans(rows: number, features: number): Float64Array {
    const values = Float64Array.from(this.#values.finish());
    const gaps = this.#gaps.finish();
    const counts = new Float64Array(features).fill(rows);
    for (const gap of gaps) counts[gap % features]--;
    const sums = new Float64Array(features);
    for (let i = 0; i < values.length; i++) sums[i % features] += values[i];
    for (const gap of gaps) {
      const column = gap % features;
      if (counts[column] === 0) {
        throw badFile(this.#name, `column ${column}`, "expected at least one value to take the mean of, found none");
      }
      values[gap] = sums[column] / counts[column];
    }
    return values;
  }
}

/** Labels on their way to a list. */
export class LabelBuilder {
  readonly #labels: (Label | readonly Label[])[] = [];
  #sets = false;

  /** Adds the label or the labels of the next row. */
  add(label: Label | readonly Label[]): void {
    if (typeof label === "object") this.#sets = true;
    this.#labels.push(label);
  }

  get length(): number {
    return this.#labels.length;
  }

  /** The labels. One row with several labels makes them all label sets; strings that all spell numbers become numbers. */
  finish(): RowLabels {
    const distinct = new Set<Label>(this.#labels.flat());
    const numeric = [...distinct].every((label) => typeof label === "number" || spellsNumber(label));
    const name = (label: Label): Label => (numeric ? Number(label) : String(label));
    if (!this.#sets) return (this.#labels as Label[]).map(name);
    return this.#labels.map((label) => (typeof label === "object" ? label.map(name) : [name(label as Label)]));
  }
}

function spellsNumber(label: string): boolean {
  return /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(label) && Number.isFinite(Number(label));
}
