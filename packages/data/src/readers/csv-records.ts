/**
 * The grammar of CSV: records of fields (RFC 4180, with any delimiter, any line end, blanks around unquoted fields left
 * out, blank lines skipped). Fields stay positions in the window; nothing is copied. Plain numbers are read while their end is
 * looked for.
 */

import { MOST_FEATURES } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import type { Account } from "../budget.ts";
import { numberOf, POWERS } from "./decimal.ts";
import { decoded } from "./encoding.ts";
import { skipBlanks, trimBlanks } from "./scan.ts";

const LF = 10;
const CR = 13;
const QUOTE = 34;
const MINUS = 45;
const POINT = 46;

/** Digits that 32 bits hold, whatever they are. */
const SHORT = 9;
/** Bytes at the end of a window that are left to the careful way, so that none behind it is looked at. */
const MARGIN = 2;

/** Short texts of ASCII, of which a table repeats many: the same string again costs a tenth of another. */
class ShortTexts {
  readonly #texts: string[] = new Array(256).fill("");

  /** Undefined for long ones and for other characters. */
  text(window: Uint8Array, from: number, to: number): string | undefined {
    if (to - from > 16) return undefined;
    let hash = to - from;
    let all = 0;
    for (let at = from; at < to; at++) {
      hash = Math.imul(hash, 31) + window[at];
      all |= window[at];
    }
    if (all > 127) return undefined;
    const place = (hash ^ (hash >>> 8)) & 255;
    if (!spells(this.#texts[place], window, from, to)) {
      this.#texts[place] = String.fromCharCode(...window.subarray(from, to));
    }
    return this.#texts[place];
  }
}

function spells(text: string, window: Uint8Array, from: number, to: number): boolean {
  if (text.length !== to - from) return false;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) !== window[from + i]) return false;
  return true;
}

/** A scanner over windows of bytes; after `next` answers true, the fields of one record can be read. */
export class CsvRecords {
  /** Line on which the record begins, from 1. */
  line = 1;
  /** Number of fields in the record. */
  fields = 0;
  /** Whether one of them may be a number whose thousands a point sets apart. */
  hasGrouped = false;
  readonly #name: string;
  readonly #delimiter: number;
  /** Whether the delimiter is no part of a number. */
  readonly #takesDigits: boolean;
  readonly #account: Account;
  #starts = new Uint32Array(64);
  #ends = new Uint32Array(64);
  /** 0: unquoted, 1: quoted, 2: quoted with doubled quotes inside. */
  #quoting = new Uint8Array(64);
  #numbers = new Float64Array(64);
  readonly #short = new ShortTexts();
  #window: Uint8Array = new Uint8Array(0);
  #final = false;
  #at = 0;
  #nextLine = 1;

  constructor(name: string, delimiter: number, account: Account) {
    this.#name = name;
    this.#delimiter = delimiter;
    this.#takesDigits = delimiter !== MINUS && delimiter !== POINT && !(delimiter >= 48 && delimiter <= 57);
    this.#account = account;
  }

  /** Takes a window; `next` then walks its records from `from`. */
  open(window: Uint8Array, final: boolean, from: number): void {
    this.#window = window;
    this.#final = final;
    this.#at = from;
  }

  /** Position behind the last whole record. */
  get used(): number {
    return this.#at;
  }

  /** Moves to the next whole record; false if the window holds none. */
  next(): boolean {
    const window = this.#window;
    let at = this.#at;
    let line = this.#nextLine;
    while (at < window.length && (window[at] === LF || window[at] === CR)) {
      if (window[at] === CR && at + 1 === window.length && !this.#final) return false;
      if (window[at] === CR && window[at + 1] === LF) at++;
      at++;
      line++;
      this.#at = at;
      this.#nextLine = line;
    }
    if (at >= window.length) return false;
    this.line = line;
    this.fields = 0;
    this.hasGrouped = false;
    const delimiter = this.#delimiter;
    const isBlank = delimiter === 32 || delimiter === 9;
    for (;;) {
      at = this.#plainNumbers(at);
      const start = isBlank ? at : skipBlanks(window, at, window.length);
      const isQuoted = window[start] === QUOTE;
      const end = isQuoted ? this.#quotedEnd(start) : this.#plainEnd(at);
      if (end < 0) return false;
      if (isQuoted) for (let i = start; i < end; i++) if (window[i] === LF) line++;
      at = end;
      if (at === window.length && !this.#final) return false;
      if (window[at] === delimiter) {
        at++;
        continue;
      }
      if (window[at] === CR) {
        if (at + 1 === window.length && !this.#final) return false;
        if (window[at + 1] === LF) at++;
      }
      this.#at = Math.min(at + 1, window.length);
      this.#nextLine = line + 1;
      return true;
    }
  }

  /** Adds the fields from `from` on as long as each is digits with a minus and a point at most, and ended by a delimiter; answers where the next one begins. */
  #plainNumbers(from: number): number {
    const window = this.#window;
    const delimiter = this.#delimiter;
    const [starts, ends, quoting, numbers] = [this.#starts, this.#ends, this.#quoting, this.#numbers];
    const most = this.#takesDigits ? starts.length : 0;
    const powers = POWERS;
    const last = window.length - MARGIN;
    let field = this.fields;
    let start = from;
    for (; field < most && start < last; field++) {
      const isNegative = window[start] === MINUS;
      const first = isNegative ? start + 1 : start;
      let at = first;
      let digit = window[at] - 48;
      let digits = 0;
      for (; digit >= 0 && digit <= 9 && at < last; digit = window[++at] - 48)
        digits = (Math.imul(digits, 10) + digit) | 0;
      let count = at - first;
      let value = digits;
      if (digit === POINT - 48) {
        const point = at;
        digit = window[++at] - 48;
        for (; digit >= 0 && digit <= 9 && at < last; digit = window[++at] - 48)
          digits = (Math.imul(digits, 10) + digit) | 0;
        const decimals = at - point - 1;
        count += decimals;
        value = digits / powers[decimals];
        if (decimals === 3 && mayBeGrouped(window, start, at)) this.hasGrouped = true;
      }
      if (digit !== delimiter - 48 || count === 0) break;
      if (count > SHORT) value = numberOf(window, start, at);
      numbers[field] = isNegative && count <= SHORT ? -value : value;
      starts[field] = start;
      ends[field] = at;
      quoting[field] = 0;
      start = at + 1;
    }
    this.fields = field;
    return start;
  }

  #plainEnd(from: number): number {
    const window = this.#window;
    const delimiter = this.#delimiter;
    let at = from;
    while (at < window.length && window[at] !== delimiter && window[at] !== LF && window[at] !== CR) at++;
    const start = skipBlanks(window, from, at);
    const end = trimBlanks(window, start, at);
    this.#add(start, end, 0);
    return at;
  }

  /** End of the field whose opening quote is at `quote`, or -1 if the window ends first. */
  #quotedEnd(quote: number): number {
    const window = this.#window;
    let quoting = 1;
    let at = quote + 1;
    for (;;) {
      at = window.indexOf(QUOTE, at);
      if (at < 0 || (at + 1 === window.length && !this.#final)) {
        if (at < 0 && this.#final) {
          throw badFile(this.#name, `line ${this.line}`, "expected a closing quote, found the end of the file");
        }
        return -1;
      }
      if (window[at + 1] !== QUOTE) break;
      quoting = 2;
      at += 2;
    }
    this.#add(quote + 1, at, quoting);
    const end = this.#delimiter === 32 || this.#delimiter === 9 ? at + 1 : skipBlanks(window, at + 1, window.length);
    const after = window[end];
    if (end < window.length && after !== this.#delimiter && after !== LF && after !== CR) {
      throw badFile(
        this.#name,
        `line ${this.line}, column ${this.fields - 1}`,
        `expected a delimiter after the closing quote, found ${JSON.stringify(String.fromCharCode(after))}`,
      );
    }
    return end;
  }

  #add(start: number, end: number, quoting: number): void {
    if (this.fields === this.#starts.length) {
      if (this.fields > MOST_FEATURES) {
        throw badFile(this.#name, `line ${this.line}`, `expected at most ${MOST_FEATURES} fields, found more`);
      }
      this.#account.take(17 * this.fields);
      this.#starts = doubled(this.#starts, new Uint32Array(this.fields * 2));
      this.#ends = doubled(this.#ends, new Uint32Array(this.fields * 2));
      this.#quoting = doubled(this.#quoting, new Uint8Array(this.fields * 2));
      this.#numbers = doubled(this.#numbers, new Float64Array(this.fields * 2));
    }
    this.#starts[this.fields] = start;
    this.#ends[this.fields] = end;
    this.#quoting[this.fields] = quoting;
    this.#numbers[this.fields++] = numberOf(this.#window, start, end);
    if (mayBeGrouped(this.#window, start, end)) this.hasGrouped = true;
  }

  /** The numbers that the fields spell; NaN for one that spells none. It holds until the next record. */
  get numbers(): Float64Array {
    return this.#numbers;
  }

  /** Whether a field may be 12 thousand and spells 12: 12.000 or 1.200, which no number tells from 12 and 1.2. */
  mayBeGrouped(field: number): boolean {
    return mayBeGrouped(this.#window, this.#starts[field], this.#ends[field]);
  }

  /** The field as a string, doubled quotes undone. */
  text(field: number): string {
    const [from, to] = [this.#starts[field], this.#ends[field]];
    const text =
      this.#short.text(this.#window, from, to) ?? decoded(this.#name, this.line, this.#window.subarray(from, to));
    return this.#quoting[field] === 2 ? text.replaceAll('""', '"') : text;
  }
}

const mayBeGrouped = (window: Uint8Array, from: number, to: number): boolean =>
  to - from > 4 && to - from < 9 && window[to - 4] === POINT && window[to - 1] === 48;

function doubled<T extends Uint8Array | Uint32Array | Float64Array>(array: T, larger: T): T {
  larger.set(array);
  return larger;
}
