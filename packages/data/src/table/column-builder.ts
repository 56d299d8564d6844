/**
 * Cells of one column on their way to a table. A column is one of numbers, with decimal points or with decimal commas, until a cell says
 * otherwise; then what came before becomes words too, spelled as categories are known, and later cells stay as they are written: in which
 * format all of them are numbers after all shows when all are there. A column whose type is known from training
 * takes nothing else, and one that is known to be of categories forgets no spelling.
 */

import type { Account } from "../budget.ts";
import { isMissing, isPlainNumber, spelled } from "./cells.ts";
import { commaNumber, mayBeThousands, plainNumber } from "./numbers.ts";
import { NO_WORD, type TableColumn } from "./table.ts";

/** What is known of a column after some of its cells, for a builder that takes the next ones. */
export interface ColumnState {
  /** Whether it has become one of words. */
  readonly isWords: boolean;
  readonly points: number;
  readonly commas: number;
  /** Whether numbers such as 12.000 were among them. */
  readonly isGrouped: boolean;
  /** Whether it is known to be one of categories, which are kept as they are written. */
  readonly isWritten?: true;
}

/** Cells that there is room for at first. */
const FIRST_CELLS = 16;
/** Bytes of a column of one cell, with all that is learned of it until it is encoded: a file may have millions of columns. */
const COLUMN_BYTES = 4000;

export class ColumnBuilder {
  readonly #name: string;
  readonly #account: Account;
  #numbers = new Float64Array(FIRST_CELLS);
  #codes: Uint32Array | undefined;
  readonly #words = new Map<string, number>();
  #length = 0;
  /** Cells with a decimal point, and with a decimal comma. */
  #points = 0;
  #commas = 0;
  #isGrouped = false;
  readonly #written: { readonly isWritten?: true };

  /** Room is taken from the account before it is made. `before`: what earlier cells, which another builder took, have shown. */
  constructor(name: string, account: Account, before?: ColumnState) {
    this.#name = name;
    this.#account = account;
    this.#written = before?.isWritten ? { isWritten: true } : {};
    account.take(COLUMN_BYTES);
    if (!before) return;
    this.#points = before.points;
    this.#commas = before.commas;
    this.#isGrouped = before.isGrouped;
    if (before.isWords) this.#codes = new Uint32Array(FIRST_CELLS);
  }

  get state(): ColumnState {
    const [points, commas, isGrouped] = [this.#points, this.#commas, this.#isGrouped];
    return { isWords: this.isWords, points, commas, isGrouped, ...this.#written };
  }

  get isWords(): boolean {
    return this.#codes !== undefined;
  }

  get length(): number {
    return this.#length;
  }

  /** Adds a number; NaN for a missing one. `isGrouped`: it may have been written as a whole number whose thousands a point sets apart. */
  addNumber(value: number, isGrouped = false): void {
    if (isGrouped) this.#isGrouped = true;
    if (this.#codes !== undefined) {
      this.#pushCode(Number.isNaN(value) ? NO_WORD : this.#codeOf(spelled(value)));
      return;
    }
    if (!Number.isInteger(value) && !Number.isNaN(value)) this.#points++;
    if (this.#points > 0 && this.#commas > 0) {
      this.#toWords();
      this.addNumber(value);
    } else this.#pushNumber(value);
  }

  /** Adds whatever a cell's text says. */
  addText(text: string): void {
    if (isMissing(text)) {
      this.addNumber(Number.NaN);
      return;
    }
    if (this.#written.isWritten) {
      if (this.#codes === undefined && isPlainNumber(text)) this.addNumber(Number(text));
      else this.addWord(text);
      return;
    }
    if (this.#codes === undefined) {
      const plain = plainNumber(text);
      if (!Number.isNaN(plain)) {
        this.addNumber(plain);
        return;
      }
      const value = commaNumber(text);
      // 1,234 is a decimal among such alone.
      if (!Number.isNaN(value) && this.#points === 0 && (this.#commas > 0 || !mayBeThousands(text))) {
        this.#commas++;
        this.#pushNumber(value);
        return;
      }
    }
    this.addWord(text);
  }

  /** Adds a word, whatever it spells. */
  addWord(word: string): void {
    if (this.#codes === undefined) this.#toWords();
    this.#pushCode(this.#codeOf(word));
  }

  finish(): TableColumn {
    const name = this.#name;
    const grouped = this.#isGrouped ? ({ grouped: true } as const) : {};
    if (this.#codes !== undefined) {
      const codes = this.#codes.slice(0, this.#length);
      const written = this.#written.isWritten ? ({ written: true } as const) : {};
      return { form: "words", name, codes, words: [...this.#words.keys()], ...grouped, ...written };
    }
    const values = this.#numbers.slice(0, this.#length);
    return { form: "numbers", name, values, ...(this.#commas > 0 ? { decimal: "," } : {}), ...grouped };
  }

  #toWords(): void {
    this.#codes = new Uint32Array(this.#numbers.length);
    const length = this.#length;
    const decimal = this.#commas > 0 ? "," : undefined;
    this.#length = 0;
    for (let r = 0; r < length; r++) {
      const value = this.#numbers[r];
      this.#pushCode(Number.isNaN(value) ? NO_WORD : this.#codeOf(spelled(value, decimal)));
    }
    this.#numbers = new Float64Array(0);
  }

  #codeOf(word: string): number {
    const known = this.#words.get(word);
    if (known !== undefined) return known;
    this.#account.takeText(2 * word.length);
    this.#words.set(word, this.#words.size);
    return this.#words.size - 1;
  }

  #pushNumber(value: number): void {
    if (this.#length === this.#numbers.length) {
      this.#account.take(this.#length * 16);
      const larger = new Float64Array(this.#length * 2);
      larger.set(this.#numbers);
      this.#numbers = larger;
    }
    this.#numbers[this.#length++] = value;
  }

  #pushCode(code: number): void {
    let codes = this.#codes as Uint32Array;
    if (this.#length === codes.length) {
      this.#account.take(this.#length * 8);
      codes = new Uint32Array(this.#length * 2);
      codes.set(this.#codes as Uint32Array);
      this.#codes = codes;
    }
    codes[this.#length++] = code;
  }
}
