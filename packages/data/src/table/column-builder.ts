/**
 * Cells of one column on their way to a table. A column is one of numbers until a cell says otherwise; then what came before
 * becomes words too, spelled as categories are known. A column whose type is known from training takes nothing else.
 */

import type { Account } from "../budget.ts";
import { categoryOf, commaNumber, isMissing, mayBeThousands, plainNumber, spelled } from "./cells.ts";
import { NO_WORD, type TableColumn } from "./table.ts";

/** What is known of a column after some of its cells, for a builder that takes the next ones. */
export interface ColumnState {
  /** Whether it has become one of words. */
  readonly isWords: boolean;
  readonly points: number;
  readonly commas: number;
  readonly clearCommas: number;
}

/** Whether a column is one of words, now that all of its cells are known. */
export function endsAsWords({ isWords, commas, clearCommas }: ColumnState): boolean {
  // 1,234 in every cell may be a thousand or a little more than one: it is ambiguous, so it is not read as a number.
  return isWords || (commas > 0 && clearCommas === 0);
}

export class ColumnBuilder {
  readonly #name: string;
  readonly #account: Account;
  #numbers = new Float64Array(256);
  #codes: Uint32Array | undefined;
  readonly #words = new Map<string, number>();
  #length = 0;
  /** Cells with a decimal point, with a comma, and with a comma that cannot set thousands apart. */
  #points = 0;
  #commas = 0;
  #clearCommas = 0;

  /** Room is taken from the account before it is made. `before`: what earlier cells, which another builder took, have shown. */
  constructor(name: string, account: Account, before?: ColumnState) {
    this.#name = name;
    this.#account = account;
    if (!before) return;
    this.#points = before.points;
    this.#commas = before.commas;
    this.#clearCommas = before.clearCommas;
    if (before.isWords) this.#codes = new Uint32Array(256);
  }

  get state(): ColumnState {
    const [points, commas, clearCommas] = [this.#points, this.#commas, this.#clearCommas];
    return { isWords: this.#codes !== undefined, points, commas, clearCommas };
  }

  get length(): number {
    return this.#length;
  }

  /** Adds a number; NaN for a missing one. */
  addNumber(value: number): void {
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
    const plain = plainNumber(text);
    if (!Number.isNaN(plain)) {
      this.addNumber(plain);
      return;
    }
    const value = this.#codes === undefined ? commaNumber(text) : Number.NaN;
    if (!Number.isNaN(value) && this.#points === 0) {
      this.#commas++;
      if (!mayBeThousands(text)) this.#clearCommas++;
      this.#pushNumber(value);
      return;
    }
    this.addWord(text);
  }

  /** Adds a word, whatever it spells. */
  addWord(word: string): void {
    if (this.#codes === undefined) this.#toWords();
    this.#pushCode(this.#codeOf(categoryOf(word)));
  }

  finish(): TableColumn {
    if (this.#codes === undefined && endsAsWords(this.state)) this.#toWords();
    return this.cells();
  }

  /** The cells as they are taken so far. */
  cells(): TableColumn {
    const name = this.#name;
    if (this.#codes !== undefined) {
      return { form: "words", name, codes: this.#codes.slice(0, this.#length), words: [...this.#words.keys()] };
    }
    const values = this.#numbers.slice(0, this.#length);
    return { form: "numbers", name, values, ...(this.#commas > 0 ? { decimal: "," } : {}) };
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
      this.#account.take(Math.max(256, this.#length * 2) * 4);
      codes = new Uint32Array(Math.max(256, this.#length * 2));
      codes.set(this.#codes as Uint32Array);
      this.#codes = codes;
    }
    codes[this.#length++] = code;
  }
}
