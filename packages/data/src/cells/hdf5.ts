/** HDF5 files through the library h5wasm. What it is to hand over is counted before it is asked for. */

import type { ErrorFacts, RanksimError } from "@ranksim/core";
import { asBadFile, badCell, badFile } from "../bad-file.ts";
import type { Account } from "../budget.ts";
import type { Reading } from "../readers/options.ts";
import { MOST_UNPACKED } from "../readers/zip.ts";
import { type Opened, type OpenFile, readAll } from "../source.ts";
import type { FileNumbers } from "./counts.ts";
import { type Host, hostOf } from "./hdf5-host.ts";
import type { Metadata, NewColumn, Start } from "./hdf5-library.ts";

/** Texts that are asked for at a time: what they take is known when they are there. */
const TEXTS = 4096;
/** Bytes of numbers that are asked for at a time. */
const PIECE = 1 << 22;

/** Kinds of numbers, text and numbers with names, as the library tells them. */
const TEXT = 3;
const ENUM = 8;
const NUMBERS = [0, 1, ENUM];

/** Runs `work` with an HDF5 file; what the library cannot read is refused by the file's name. */
export async function* readingHdf5<T, R>(
  opened: Opened,
  { budget, signal }: Pick<Reading, "budget" | "signal">,
  work: (file: Hdf5) => AsyncGenerator<T, R>,
): AsyncGenerator<T, R> {
  const { name, source } = opened;
  const account = budget.of(name);
  const stored = opened.slice === undefined ? undefined : source.file?.();
  const bytes = stored ?? (await readAll(opened.stream, account, opened.byteLength));
  const file = await openHdf5(name, bytes, { account, ...(signal ? { signal } : {}) });
  try {
    return yield* work(file);
  } catch (error) {
    throw signal?.aborted ? error : asBadFile(name, "HDF5", error);
  } finally {
    await file.close();
  }
}

/** How a file is opened. */
interface Opening {
  readonly account: Account;
  readonly signal?: AbortSignal;
  readonly isChanged?: boolean;
}

/** Numbers of files that were opened so far: each has a place of its own. */
let files = 0;

/** Opens bytes as HDF5. They are handed over; an open file is closed in the end. */
export async function openHdf5(
  name: string,
  bytes: Uint8Array | OpenFile,
  { account, signal, isChanged = false }: Opening,
): Promise<Hdf5> {
  const close = () => {
    if (!(bytes instanceof Uint8Array)) bytes.close();
  };
  const { byteLength } = bytes;
  try {
    signal?.throwIfAborted();
    const given = bytes instanceof Uint8Array ? bytes : { number: bytes.number, byteLength };
    const start: Start = { bytes: given, isChanged, folder: `/ranksim-${files++}` };
    const host = await hostOf(name, start, signal);
    const end = async () => {
      await host.end();
      close();
    };
    return new Hdf5(name, byteLength, account, host, end);
  } catch (error) {
    close();
    throw signal?.aborted ? error : asBadFile(name, "HDF5", error);
  }
}

/** Numbers, or texts, in a file. */
export interface H5Array {
  readonly path: string;
  readonly shape: readonly number[];
  readonly isText: boolean;
  /** Bytes of an element. */
  readonly size: number;
}

/** An open HDF5 file, which is asked one question after the other. */
export class Hdf5 {
  readonly name: string;
  readonly account: Account;
  readonly #byteLength: number;
  readonly #host: Host;
  readonly #end: () => Promise<void>;

  constructor(name: string, byteLength: number, account: Account, host: Host, end: () => Promise<void>) {
    this.#byteLength = byteLength;
    this.name = name;
    this.account = account;
    this.#host = host;
    this.#end = end;
  }

  /** Ends the reading: the library's memory is given back. */
  close(): Promise<void> {
    return this.#end();
  }

  /** Whether there is a group or an array at a path. */
  async has(path: string): Promise<boolean> {
    return (await this.#host.ask("typeOf", path)) !== undefined;
  }

  async isGroup(path: string): Promise<boolean> {
    return (await this.#host.ask("typeOf", path)) === "Group";
  }

  /** Names in a group; none where there is no group. */
  async keys(path: string): Promise<readonly string[]> {
    return (await this.isGroup(path)) ? this.#host.ask("keys", path) : [];
  }

  /** What is known of an array; undefined where there is none. */
  async metadata(path: string): Promise<Metadata | undefined> {
    return (await this.#host.ask("typeOf", path)) === "Dataset" ? this.#host.ask("metadata", path) : undefined;
  }

  /** What an attribute says: text, numbers, or lists of them. */
  async attribute(path: string, name: string): Promise<unknown> {
    const size = await this.#host.ask("attributeSize", path, name);
    if (size === undefined) return undefined;
    if (size > TEXTS * TEXTS) throw this.refused(path, "expected a short attribute", name);
    this.account.takeValues(size);
    return plain(await this.#host.ask("attribute", path, name));
  }

  /** All of an array of records, each a list. */
  async records(path: string): Promise<readonly (readonly unknown[])[]> {
    return (await this.#host.ask("value", path)) as readonly (readonly unknown[])[];
  }

  /** Adds columns to a table, and names its columns in order. */
  addColumns(path: string, added: readonly NewColumn[], order: readonly string[]): Promise<void> {
    return this.#host.ask("addColumns", path, added, order);
  }

  /** The bytes of a file that was written to, which is closed by that, in parts of so many. */
  async *written(part: number): AsyncGenerator<Uint8Array> {
    const byteLength = await this.#host.ask("close");
    for (let from = 0; from < byteLength; from += part) {
      yield this.#host.ask("bytes", from, Math.min(from + part, byteLength));
    }
  }

  /** An array of that many axes; refused by its path where there is none. */
  async array(path: string, axes = 1): Promise<H5Array> {
    const metadata = await this.metadata(path);
    if (!metadata) throw this.refused(path, "expected an array", "found none");
    const { shape, type } = metadata;
    const isText = type === TEXT;
    if (!shape || shape.length !== axes || !(isText || NUMBERS.includes(type))) {
      throw this.refused(path, `expected numbers or texts of ${axes} ${axes === 1 ? "axis" : "axes"}`, "found others");
    }
    if (!shape.every((length) => Number.isSafeInteger(length) && length < 2 ** 32)) {
      throw this.refused(path, "expected fewer than 2^32 along each axis", `found ${shape.join(" x ")}`);
    }
    const { size } = metadata;
    const claimed = shape.reduce((product, length) => product * length, size);
    if (claimed > this.#byteLength * MOST_UNPACKED) {
      throw this.refused(path, `expected what ${this.#byteLength} bytes can hold`, `found a claim of ${claimed} bytes`);
    }
    // The library unpacks a piece as a whole.
    const piece = (metadata.chunks ?? [1]).reduce((product, length) => product * length, size);
    this.account.take(piece);
    this.account.give(piece);
    return { path, shape, isText, size };
  }

  /** Some of the numbers of an array: along each axis from (included) and to (not included). */
  async numbers(
    { path, isText, size }: H5Array,
    ...ranges: readonly (readonly [from: number, to: number])[]
  ): Promise<FileNumbers> {
    if (isText) throw this.refused(path, "expected numbers", "found texts");
    const count = ranges.reduce((product, [from, to]) => product * (to - from), 1);
    if (count === 0) return new Uint8Array(0);
    const bytes = count * size;
    this.account.take(2 * bytes);
    const found = await this.#host.ask("slice", path, ranges);
    this.account.give(2 * bytes);
    if (found instanceof BigInt64Array || found instanceof BigUint64Array) return Float64Array.from(found, Number);
    if (Array.isArray(found)) return Float64Array.from(found as never[], Number);
    if (ArrayBuffer.isView(found) && (found as unknown as FileNumbers).length === count)
      return found as unknown as FileNumbers;
    throw this.refused(path, `expected ${count} numbers`, "found others");
  }

  /** All numbers of an array of one axis. */
  async allNumbers(path: string): Promise<FileNumbers> {
    const array = await this.array(path);
    return this.numbers(array, [0, array.shape[0]]);
  }

  /** All of an array of one axis as texts; what is no number is "". */
  async texts(path: string): Promise<string[]> {
    const array = await this.array(path);
    const [length] = array.shape;
    this.account.takePlaces(length);
    const texts: string[] = [];
    for (let from = 0; from < length; from += TEXTS) {
      const range = [from, Math.min(from + TEXTS, length)] as const;
      if (!array.isText) {
        for (const value of await this.numbers(array, range)) texts.push(Number.isNaN(value) ? "" : String(value));
        this.account.takeValues(range[1] - from);
        continue;
      }
      const found = await this.#host.ask("slice", path, [range]);
      for (const text of found as string[]) {
        const own = typeof text === "string" ? text.replace(/\0+$/, "") : "";
        this.account.takeText(2 * own.length);
        texts.push(own);
      }
    }
    return texts;
  }

  refused(path: string, expected: string, found: string): RanksimError {
    return badFile(this.name, path, `${expected}, ${found}`);
  }

  /** The error of a file that holds something else. */
  strange(facts: Pick<ErrorFacts, "expected" | "found" | "cure">): RanksimError {
    return badCell(this.name, "", facts);
  }
}

/** How many rows of so many numbers are asked for at a time. */
export const rowsAtATime = (width: number): number => Math.max(1, Math.floor(PIECE / (4 * Math.max(1, width))));

const plain = (value: unknown): unknown => {
  if (value instanceof BigInt64Array || value instanceof BigUint64Array) return Array.from(value, Number);
  if (typeof value === "bigint") return Number(value);
  return ArrayBuffer.isView(value) ? Array.from(value as unknown as ArrayLike<number>) : value;
};
