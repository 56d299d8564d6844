/** One PGM (plain P2 or raw P5) as grey pixels. */

import { badFile } from "../bad-file.ts";
import type { Account } from "../budget.ts";
import type { Picture } from "./picture.ts";

/** Whether the bytes begin as a PGM does. */
export function isPgm(bytes: Uint8Array): boolean {
  return bytes[0] === 0x50 && (bytes[1] === 0x32 || bytes[1] === 0x35) && isBlank(bytes[2]);
}

/** Decodes a PGM. Values stay as they are; `largest` is the file's own value of white. */
export function decodePgm(name: string, bytes: Uint8Array, account: Account): Picture {
  const header = new Tokens(name, bytes, 2);
  const width = header.next("a width");
  const height = header.next("a height");
  const largest = header.next("a value of white");
  if (width === 0 || height === 0 || largest === 0 || largest > 0xffff) {
    throw badFile(name, "byte 2", `expected a size and a white of 1 to 65535, found ${width} x ${height}, ${largest}`);
  }
  const count = width * height;
  const isRaw = bytes[1] === 0x35;
  const bytesEach = !isRaw ? 2 : largest < 256 ? 1 : 2;
  const dataAt = header.at + 1;
  // A plain pixel takes a blank and a digit at least (the last blank may be missing).
  const room = bytes.byteLength - dataAt + (isRaw ? 0 : 1);
  if (count * bytesEach > room) {
    throw badFile(name, `byte ${dataAt}`, `expected ${width} x ${height} pixels, found only ${room} bytes`);
  }
  account.take(count * (largest < 256 ? 1 : 2));
  const pixels = largest < 256 ? new Uint8Array(count) : new Uint16Array(count);
  for (let p = 0; p < count; p++) {
    const value = !isRaw
      ? header.next("a pixel")
      : bytesEach === 1
        ? bytes[dataAt + p]
        : bytes[dataAt + 2 * p] * 256 + bytes[dataAt + 2 * p + 1];
    if (value > largest) throw badFile(name, `pixel ${p}`, `expected at most ${largest}, found ${value}`);
    pixels[p] = value;
  }
  return { width, height, largest, channels: 1, pixels };
}

/** Whole numbers between blanks and comments. */
class Tokens {
  at: number;
  readonly #name: string;
  readonly #bytes: Uint8Array;

  constructor(name: string, bytes: Uint8Array, at: number) {
    this.#name = name;
    this.#bytes = bytes;
    this.at = at;
  }

  next(what: string): number {
    const bytes = this.#bytes;
    while (isBlank(bytes[this.at]) || bytes[this.at] === 35) {
      if (bytes[this.at] === 35) while (this.at < bytes.length && bytes[this.at] !== 10) this.at++;
      else this.at++;
    }
    const from = this.at;
    let value = 0;
    for (; bytes[this.at] >= 48 && bytes[this.at] <= 57 && value < 2 ** 32; this.at++) {
      value = value * 10 + bytes[this.at] - 48;
    }
    if (this.at === from || value >= 2 ** 32) {
      throw badFile(this.#name, `byte ${from}`, `expected ${what} as a whole number`);
    }
    return value;
  }
}

function isBlank(byte: number): boolean {
  return byte === 32 || (byte >= 9 && byte <= 13);
}
