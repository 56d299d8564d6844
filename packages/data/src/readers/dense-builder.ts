/** Collects the cells of a table, row by row, into a dense matrix, and deals with missing values the way the caller chose. */

import { type Dense, RanksimError, type Values } from "@ranksim/core";
import { badCell, badFile } from "../bad-file.ts";
import type { Account } from "../budget.ts";
import { denseFrom } from "../data-set.ts";
import { GrowingValues, narrowed } from "../growing-values.ts";
import type { ReadOptions } from "./options.ts";

/** Cells of a table on their way to a matrix. */
export class DenseBuilder {
  readonly #name: string;
  readonly #missing: "refuse" | "mean" | number;
  readonly #learned: readonly number[] | undefined;
  #fill: readonly number[] | undefined;
  /** Of the rows that were handed on with open gaps. */
  #means: Means | undefined;
  readonly #account: Account;
  #values: GrowingValues;
  #gaps: GrowingValues;

  constructor(name: string, options: ReadOptions, account: Account) {
    const { missing = "refuse" } = options;
    if (missing !== "refuse" && missing !== "mean" && !Number.isFinite(missing)) {
      throw new RanksimError("bad-params", {
        parameter: "missing",
        expected: '"refuse", "mean" or a finite number',
        found: String(missing),
      });
    }
    const { schema } = options;
    if (schema !== undefined && missing === "mean" && schema.fill === undefined) {
      throw new RanksimError("bad-params", {
        parameter: "missing",
        expected: "a number, as this model learned no means at training",
        found: "mean",
        cure: () => "give a number, or train it again",
      });
    }
    this.#name = name;
    this.#missing = missing;
    this.#learned = missing === "refuse" || missing === "mean" ? schema?.fill : undefined;
    this.#account = account;
    this.#values = new GrowingValues(account);
    this.#gaps = new GrowingValues(account);
  }

  /** What stands for a missing value of each feature, after the last row; nothing where missing values are refused. */
  ending(): { readonly fill?: readonly number[] } {
    const fill = this.#fill ?? this.#means?.finish(this.#name);
    return fill ? { fill } : {};
  }

  add(value: number): void {
    this.#values.push(value);
  }

  /** The numbers at some places, unless one is NaN: then nothing is added, and the answer is false. */
  addRow(numbers: Float64Array, places: readonly number[]): boolean {
    return this.#values.pushAll(numbers, places);
  }

  /** A cell without a value; `where` names it for the error. */
  addMissing(where: () => string): void {
    if (this.#learned !== undefined) {
      this.#values.push(this.#learned[this.#values.length % this.#learned.length]);
      return;
    }
    if (this.#missing === "refuse") {
      throw badCell(this.#name, where(), {
        expected: "a number",
        found: "a missing value",
        cure: (called) => `${called("missing")} can fill it in`,
      });
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

  /** The rows so far. Where gaps stay open, they have 0 there, and `gaps` says where. */
  async take(
    rows: number,
    features: number,
    areOpen: boolean,
  ): Promise<{ x: Dense; gaps?: Uint32Array; fill?: readonly number[] }> {
    const missing = this.#missing;
    const values = this.#values.finish();
    const gaps = Uint32Array.from(this.#gaps.finish());
    this.#values = new GrowingValues(this.#account);
    this.#gaps = new GrowingValues(this.#account);
    if (typeof missing === "number") this.#fill = new Array<number>(features).fill(missing);
    else if (this.#learned !== undefined) this.#fill = this.#learned;
    else if (missing === "mean") {
      this.#means ??= new Means(features);
      this.#means.add(rows, values, gaps);
      if (!areOpen) this.#fill = this.#means.finish(this.#name);
    }
    const isOpen = areOpen && gaps.length > 0;
    const filled = gaps.length === 0 || isOpen ? values : narrowed(this.#filled(values, gaps, features));
    const x = await denseFrom(this.#name, filled, rows, features);
    return { x, ...(isOpen ? { gaps } : {}), ...(this.#fill && !areOpen ? { fill: this.#fill } : {}) };
  }

  #filled(values: Values, gaps: Uint32Array, features: number): Float64Array {
    this.#account.take(8 * values.length);
    const all = Float64Array.from(values);
    for (const gap of gaps) all[gap] = (this.#fill as readonly number[])[gap % features];
    return all;
  }
}

/** The mean of each column over the rows that have a value there; rows come in order. */
class Means {
  readonly #counts: Float64Array;
  readonly #sums: Float64Array;

  constructor(features: number) {
    this.#counts = new Float64Array(features);
    this.#sums = new Float64Array(features);
  }

  /** Adds rows, which have 0 at `gaps`. */
  add(rows: number, values: ArrayLike<number>, gaps: Iterable<number> = []): void {
    const [sums, features] = [this.#sums, this.#sums.length];
    for (let c = 0; c < features; c++) this.#counts[c] += rows;
    for (const gap of gaps) this.#counts[gap % features]--;
    for (let i = 0; i < values.length; i++) sums[i % features] += values[i];
  }

  finish(name: string): number[] {
    return Array.from(this.#sums, (sum, column) => {
      if (this.#counts[column] > 0) return sum / this.#counts[column];
      throw badFile(name, `column ${column}`, "expected at least one value to take the mean of, found none");
    });
  }
}
