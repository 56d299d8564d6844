/**
 * The grammar of CSV: records of fields (RFC 4180, with any delimiter, any line end, blanks around unquoted fields left
 * out, blank lines skipped). Fields stay positions in the window; nothing is copied.
 */

import { MOST_FEATURES } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import type { Account } from "../budget.ts";
import { decoded } from "./encoding.ts";
import { skipBlanks, trimBlanks } from "./scan.ts";

const LF = 10;
const CR = 13;
const QUOTE = 34;

/** A scanner over windows of bytes; after `next` answers true, the fields of one record can be read. */
export class CsvRecords {
  /** Line on which the record begins, from 1. */
  line = 1;
  /** Number of fields in the record. */
  fields = 0;
  readonly #name: string;
  readonly #delimiter: number;
  readonly #account: Account;
  #starts = new Uint32Array(64);
  #ends = new Uint32Array(64);
  /** 0: unquoted, 1: quoted, 2: quoted with doubled quotes inside. */
  #quoting = new Uint8Array(64);
  #window: Uint8Array = new Uint8Array(0);
  #final = false;
  #at = 0;
  #nextLine = 1;

  constructor(name: string, delimiter: number, account: Account) {
    this.#name = name;
    this.#delimiter = delimiter;
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
    for (;;) {
      const start = this.#delimiter === 32 || this.#delimiter === 9 ? at : skipBlanks(window, at, window.length);
      const isQuoted = window[start] === QUOTE;
      const end = isQuoted ? this.#quotedEnd(start) : this.#plainEnd(at);
      if (end < 0) return false;
      if (isQuoted) for (let i = start; i < end; i++) if (window[i] === LF) line++;
      at = end;
      if (at === window.length && !this.#final) return false;
      if (window[at] === this.#delimiter) {
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

  #plainEnd(from: number): number {
    const window = this.#window;
    const delimiter = this.#delimiter;
    let at = from;
    while (at < window.length && window[at] !== delimiter && window[at] !== LF && window[at] !== CR) at++;
    const start = skipBlanks(window, from, at);
    this.#add(start, trimBlanks(window, start, at), 0);
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
      this.#account.take(9 * this.fields);
      this.#starts = doubled(this.#starts, new Uint32Array(this.fields * 2));
      this.#ends = doubled(this.#ends, new Uint32Array(this.fields * 2));
      this.#quoting = doubled(this.#quoting, new Uint8Array(this.fields * 2));
    }
    this.#starts[this.fields] = start;
    this.#ends[this.fields] = end;
    this.#quoting[this.fields++] = quoting;
  }

  start(field: number): number {
    return this.#starts[field];
  }

  end(field: number): number {
    return this.#ends[field];
  }

  /** The field as a string, doubled quotes undone. */
  text(field: number): string {
    const text = decoded(this.#name, this.line, this.#window.subarray(this.#starts[field], this.#ends[field]));
    return this.#quoting[field] === 2 ? text.replaceAll('""', '"') : text;
  }
}

function doubled<T extends Uint8Array | Uint32Array>(array: T, larger: T): T {
  larger.set(array);
  return larger;
}
