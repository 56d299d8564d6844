/**
 * Labels of a file that is read in blocks. They stay as they are written until the last block, because whether they are numbers depends
 * on all of them. Each row takes the number of its label, which is kept once.
 */

import type { Label } from "@ranksim/core";
import { type Account, Budget } from "../budget.ts";
import { type DataSet, type RowLabels, rowCount } from "../data-set.ts";
import { GrowingIndices } from "../growing-values.ts";
import { labelTyper } from "./label-types.ts";

/** Bytes that labels may take however little room rows have: those of a million rows. */
const LEAST_ROOM = 2 ** 26;

/** The memory of labels and of all else that stays of each row while its values do not, where rows may take `room` bytes. */
export const labelBudget = (room: number): Budget => new Budget(Math.max(room, LEAST_ROOM));

/** Bytes that each row takes wherever its values are: its hash, its filter, its places in lists of rows. */
const ROW_BYTES = 32;

/** Pays for what stays of rows beside their values and their labels. */
export function chargeRows(account: Account, data: DataSet): void {
  account.take(ROW_BYTES * rowCount(data));
  for (const names of [data.groups, data.times, data.rowNames]) {
    for (const name of names ?? []) account.takeText(String(name).length);
  }
}

/** Bytes of a class beside its name: a filter, what is told of its training, its places in lists of classes. */
const CLASS_BYTES = 400;

/** Takes in the labels of one file. */
export class LabelBlocks {
  /** Whether the format has text only, which is to be said before the end. */
  areText = false;
  readonly #name: string;
  readonly #account: Account;
  /** The distinct labels, and the number of each. */
  readonly #labels: Label[] = [];
  readonly #numbers = new Map<Label, number>();
  /** The numbers of the labels of all rows. */
  readonly #codes: GrowingIndices;
  /** Where the labels of each row end, where a row has several. */
  #ends: GrowingIndices | undefined;
  #isLabelled = false;
  #unlabelled = 0;

  /** `account` pays for what stays. */
  constructor(name: string, account: Account) {
    this.#name = name;
    this.#account = account;
    this.#codes = new GrowingIndices(account);
  }

  /** Adds the labels of as many rows. Rows of which some have no labels before the first that has are rows of any number of labels. */
  add(y: RowLabels | undefined, rows: number): void {
    if (!y) {
      this.#unlabelled += rows;
      return;
    }
    if (!this.#isLabelled && this.#unlabelled > 0) {
      this.#ends = new GrowingIndices(this.#account);
      for (let row = 0; row < this.#unlabelled; row++) this.#ends.push(0);
    }
    this.#isLabelled = true;
    for (const label of y) {
      if (typeof label !== "object") this.#codes.push(this.#numberOf(label));
      else {
        this.#ends ??= this.#singleEnds();
        for (const one of label) this.#codes.push(this.#numberOf(one));
      }
      this.#ends?.push(this.#codes.length);
    }
  }

  /** The labels; undefined where no block had any. */
  finish(): RowLabels | undefined {
    if (!this.#isLabelled) return undefined;
    const rowOf = (label: Label) => this.#rowOf(this.#numbers.get(label) as number);
    const typed = labelTyper(this.#name, { areText: this.areText, distinct: this.#labels, rowOf });
    const labels = this.#labels.map(typed);
    const [codes, ends] = [this.#codes, this.#ends];
    this.#account.takePlaces(codes.length);
    if (!ends) return Array.from({ length: codes.length }, (_, row) => labels[codes.get(row)]);
    this.#account.takeValues(ends.length);
    return Array.from({ length: ends.length }, (_, row) => {
      const from = row === 0 ? 0 : ends.get(row - 1);
      return Array.from({ length: ends.get(row) - from }, (_, i) => labels[codes.get(from + i)]);
    });
  }

  /** Until now each row had one label. */
  #singleEnds(): GrowingIndices {
    const ends = new GrowingIndices(this.#account);
    for (let row = 0; row < this.#codes.length; row++) ends.push(row + 1);
    return ends;
  }

  #numberOf(label: Label): number {
    const known = this.#numbers.get(label);
    if (known !== undefined) return known;
    this.#account.takeHeap(CLASS_BYTES + (typeof label === "string" ? label.length : 0));
    const number = this.#labels.push(label) - 1;
    this.#numbers.set(label, number);
    return number;
  }

  #rowOf(code: number): number {
    let at = 0;
    while (this.#codes.get(at) !== code) at++;
    let row = 0;
    while (this.#ends && this.#ends.get(row) <= at) row++;
    return this.#ends ? row : at;
  }
}
