/**
 * HDF5 files through the library h5wasm, which is fetched when the first of them is opened. The library sees one file alone, by the places of
 * its bytes: neither other files nor the network. What it is to hand over is counted before it is asked for.
 */

import { type ErrorFacts, RanksimError } from "@ranksim/core";
import type { Attribute, Dataset, File, Group } from "h5wasm";
import { asBadFile, badCell, badFile } from "../bad-file.ts";
import type { Account, Budget } from "../budget.ts";
import { MOST_UNPACKED } from "../readers/zip.ts";
import { type BytesAt, bytesAt, type Opened, readAll } from "../source.ts";
import type { FileNumbers } from "./counts.ts";

type Library = typeof import("h5wasm").default;

/** Texts that are asked for at a time: what they take is known when they are there. */
const TEXTS = 4096;
/** Bytes of numbers that are asked for at a time. */
const PIECE = 1 << 22;

/** Kinds of numbers, text and numbers with names, as the library tells them. */
const TEXT = 3;
const ENUM = 8;
const NUMBERS = [0, 1, ENUM];

/** How often the library broke down over a damaged file; it is then loaded anew, as nothing can be said of its memory. */
let breakdowns = 0;
/** The memory of one that broke down is not given back: after this many no other is loaded. */
const MOST_BREAKDOWNS = 2;

/** The library is C in WebAssembly: what leads it astray ends in a trap. */
const isTrap = (error: unknown): boolean => error instanceof WebAssembly.RuntimeError;

const load = (): Promise<{ readonly default: Library }> =>
  breakdowns === 0
    ? import("h5wasm")
    : import(/* @vite-ignore */ `${import.meta.resolve("h5wasm")}?again=${breakdowns}`);

/** The library, where it is installed. */
async function library(name: string): Promise<{ readonly h5: Library; readonly module: Awaited<Library["ready"]> }> {
  if (breakdowns > MOST_BREAKDOWNS) {
    const times = `${breakdowns} damaged HDF5 files led the library that reads them astray`;
    throw new RanksimError("unsupported", `${name}: ${times}; start the program again without them`);
  }
  const h5 = await load().then(
    (found) => found.default,
    (cause) => {
      throw new RanksimError(
        "unsupported",
        `${name}: the package h5wasm reads HDF5 and is not installed; npm install h5wasm`,
        {
          cause,
        },
      );
    },
  );
  const module = await h5.ready;
  // Else it prints what it meets in damaged files, and goes on.
  module.activate_throwing_error_handler();
  return { h5, module };
}

/** Numbers of files that were opened so far: each has a place of its own. */
let files = 0;

/** Runs `work` with an HDF5 file; what the library cannot read is refused by the file's name. */
export async function* readingHdf5<T, R>(
  opened: Opened,
  budget: Budget,
  work: (file: Hdf5) => AsyncGenerator<T, R>,
): AsyncGenerator<T, R> {
  const { name, source } = opened;
  const account = budget.of(name);
  const isPlain = opened.slice !== undefined && source.at !== undefined;
  const bytes = isPlain ? source.at?.() : bytesAt(await readAll(opened.stream, account, opened.byteLength));
  const file = await openHdf5(name, bytes as BytesAt, account);
  try {
    return yield* work(file);
  } catch (error) {
    if (isTrap(error)) {
      breakdowns++;
      throw badFile(name, "", "cannot be read as HDF5: the library broke down over it, so it is damaged", error);
    }
    throw asBadFile(name, "HDF5", error);
  } finally {
    closeRead(file);
  }
}

/** Closes a file that nothing was written to: what the library makes of a damaged one now changes no row. */
function closeRead(file: Hdf5): void {
  try {
    file.close();
  } catch (error) {
    if (isTrap(error)) breakdowns++;
  }
}

/** Opens bytes as HDF5; to be written to where they can be. */
export async function openHdf5(name: string, bytes: BytesAt, account: Account): Promise<Hdf5> {
  const { h5, module } = await library(name);
  const loaded = breakdowns;
  const folder = `/ranksim-${files++}`;
  try {
    refuseSmallSizes(name, bytes);
    const fs = module.FS as unknown as Fs;
    mount(fs, folder, bytes);
    return new Hdf5(name, new h5.File(`${folder}/file`, bytes.write ? "a" : "r"), bytes.byteLength, account, (file) => {
      try {
        // A library that broke down is left as it is.
        if (breakdowns !== loaded) return;
        file.close();
        fs.unmount(folder);
        fs.rmdir(folder);
      } finally {
        bytes.close();
      }
    });
  } catch (error) {
    if (isTrap(error)) breakdowns++;
    bytes.close();
    throw asBadFile(name, "HDF5", error);
  }
}

/** What is used of the file system that the library sees. */
interface Fs {
  mkdir(path: string): void;
  rmdir(path: string): void;
  mount(type: object, options: object, path: string): void;
  unmount(path: string): void;
  createNode(parent: object | null, name: string, mode: number, device: number): FsNode;
  readonly ErrnoError: new (code: number) => Error;
}

interface FsNode {
  readonly id: number;
  readonly mode: number;
  node_ops: object;
  stream_ops: object;
}

const [FOLDER, FILE, NO_ENTRY, BAD_READ] = [0o40777, 0o100666, 44, 29];

/** A folder with one file in it. */
function mount(fs: Fs, folder: string, bytes: BytesAt): void {
  let size = bytes.byteLength;
  const time = new Date(0);
  const times = { atime: time, mtime: time, ctime: time };
  const getattr = (node: FsNode) => {
    const own = { ino: node.id, mode: node.mode, size: node.mode === FILE ? size : 0 };
    return {
      ...own,
      ...times,
      dev: 1,
      nlink: 1,
      uid: 0,
      gid: 0,
      rdev: 0,
      blksize: 4096,
      blocks: Math.ceil(size / 512),
    };
  };
  const stream = {
    read(_: object, into: Uint8Array, at: number, length: number, from: number) {
      const own = into.subarray(at, at + length);
      const count = bytes.read(own, from);
      if (isEndless(own.subarray(0, count), size)) throw new fs.ErrnoError(BAD_READ);
      return count;
    },
    write: (_: object, given: Uint8Array, at: number, length: number, to: number) => {
      bytes.write?.(given.subarray(at, at + length), to);
      size = Math.max(size, to + length);
      return length;
    },
    llseek: (stream: { readonly position: number }, offset: number, whence: number) =>
      offset + (whence === 1 ? stream.position : whence === 2 ? size : 0),
  };
  const setattr = (_: FsNode, change: { readonly size?: number }) => {
    if (change.size === undefined) return;
    size = change.size;
    bytes.resize?.(size);
  };
  const type = {
    mount() {
      const root = fs.createNode(null, "/", FOLDER, 0);
      root.stream_ops = {};
      root.node_ops = {
        getattr,
        lookup(parent: FsNode, name: string) {
          if (name !== "file") throw new fs.ErrnoError(NO_ENTRY);
          const node = fs.createNode(parent, name, FILE, 0);
          node.node_ops = { getattr, setattr };
          node.stream_ops = stream;
          return node;
        },
      };
      return root;
    },
  };
  fs.mkdir(folder);
  fs.mount(type, {}, folder);
}

/** Bytes before the first object of a heap, and before the data of each. */
const HEAP_HEAD = 16;
const OBJECT_HEAD = 16;

/** Whether bytes are a heap of texts whose parts do not lie in it one behind the other: the library would look for its end for ever. */
function isEndless(bytes: Uint8Array, most: number): boolean {
  if (bytes.length < HEAP_HEAD || String.fromCharCode(...bytes.subarray(0, 4)) !== "GCOL") return false;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const heap = Number(view.getBigUint64(8, true));
  if (heap > most) return true;
  for (let at = HEAP_HEAD; at + OBJECT_HEAD <= Math.min(bytes.length, heap); ) {
    const size = Number(view.getBigUint64(at + 8, true));
    const takes = view.getUint16(at, true) === 0 ? size : OBJECT_HEAD + 8 * Math.ceil(size / 8);
    if (takes < 8 || at + takes > heap) return true;
    at += takes;
  }
  return false;
}

/** Refuses files whose sizes are not of eight bytes: nobody writes them, and what is checked here takes them for that. */
function refuseSmallSizes(name: string, bytes: BytesAt): void {
  const head = new Uint8Array(16);
  bytes.read(head, 0);
  const size = head[8] < 2 ? head[14] : head[10];
  if (size !== 8) throw badFile(name, "byte 0", `expected HDF5 with sizes of 8 bytes, found ${size}`);
}

/** Numbers, or texts, in a file. */
export interface H5Array {
  readonly path: string;
  readonly shape: readonly number[];
  readonly isText: boolean;
}

/** An open HDF5 file. */
export class Hdf5 {
  readonly name: string;
  readonly account: Account;
  readonly #file: File;
  readonly #byteLength: number;
  readonly #close: (file: File) => void;

  constructor(name: string, file: File, byteLength: number, account: Account, close: (file: File) => void) {
    this.#byteLength = byteLength;
    this.name = name;
    this.#file = file;
    this.account = account;
    this.#close = close;
  }

  /** The file itself, to be written to. */
  get file(): File {
    return this.#file;
  }

  close(): void {
    this.#close(this.#file);
  }

  /** What is at a path: a group, an array, or nothing that can be read. */
  at(path: string): Group | Dataset | undefined {
    let here: Group | Dataset = this.#file;
    for (const part of path.split("/").filter((part) => part !== "")) {
      if (here.type !== "Group" || !(here as Group).keys().includes(part)) return undefined;
      const next = (here as Group).get(part) as Group | Dataset | null;
      if (next === null || (next.type !== "Group" && next.type !== "Dataset")) return undefined;
      here = next;
    }
    return here;
  }

  /** Names in a group; none where there is no group. */
  keys(path: string): readonly string[] {
    const found = this.at(path);
    return found?.type === "Group" ? (found as Group).keys() : [];
  }

  isGroup(path: string): boolean {
    return this.at(path)?.type === "Group";
  }

  /** What an attribute says: text, numbers, or lists of them. */
  attribute(path: string, name: string): unknown {
    const found = this.at(path);
    const attribute: Attribute | undefined = found?.attrs[name];
    if (!attribute) return undefined;
    const { metadata } = attribute;
    if (metadata.total_size > TEXTS * TEXTS) throw this.refused(path, "expected a short attribute", name);
    this.account.takeValues(Number(metadata.total_size));
    return plain(attribute.value);
  }

  /** An array of that many axes; refused by its path where there is none. */
  array(path: string, axes = 1): H5Array {
    const found = this.at(path);
    if (found?.type !== "Dataset") throw this.refused(path, "expected an array", "found none");
    const { metadata } = found as Dataset;
    const { shape, type } = metadata;
    const isText = type === TEXT;
    if (!shape || shape.length !== axes || !(isText || NUMBERS.includes(type))) {
      throw this.refused(path, `expected numbers or texts of ${axes} ${axes === 1 ? "axis" : "axes"}`, "found others");
    }
    if (!shape.every((length) => Number.isSafeInteger(length) && length < 2 ** 32)) {
      throw this.refused(path, "expected fewer than 2^32 along each axis", `found ${shape.join(" x ")}`);
    }
    const size = shape.reduce((product, length) => product * length, metadata.size);
    if (size > this.#byteLength * MOST_UNPACKED) {
      throw this.refused(path, `expected what ${this.#byteLength} bytes can hold`, `found a claim of ${size} bytes`);
    }
    // The library unpacks a piece as a whole.
    const piece = (metadata.chunks ?? [1]).reduce((product, length) => product * length, metadata.size);
    this.account.take(piece);
    this.account.give(piece);
    return { path, shape, isText };
  }

  /** Some of the numbers of an array: along each axis from (included) and to (not included). */
  numbers({ path, isText }: H5Array, ...ranges: readonly (readonly [from: number, to: number])[]): FileNumbers {
    if (isText) throw this.refused(path, "expected numbers", "found texts");
    const count = ranges.reduce((product, [from, to]) => product * (to - from), 1);
    if (count === 0) return new Uint8Array(0);
    const bytes = count * (this.at(path) as Dataset).metadata.size;
    this.account.take(2 * bytes);
    const found = (this.at(path) as Dataset).slice(ranges.map(([from, to]) => [from, to]));
    this.account.give(2 * bytes);
    if (found instanceof BigInt64Array || found instanceof BigUint64Array) return Float64Array.from(found, Number);
    if (Array.isArray(found)) return Float64Array.from(found as never[], Number);
    if (ArrayBuffer.isView(found) && (found as unknown as FileNumbers).length === count)
      return found as unknown as FileNumbers;
    throw this.refused(path, `expected ${count} numbers`, "found others");
  }

  /** All numbers of an array of one axis. */
  allNumbers(path: string): FileNumbers {
    const array = this.array(path);
    return this.numbers(array, [0, array.shape[0]]);
  }

  /** All of an array of one axis as texts; what is no number is "". */
  texts(path: string): string[] {
    const array = this.array(path);
    const [length] = array.shape;
    this.account.takePlaces(length);
    const texts: string[] = [];
    for (let from = 0; from < length; from += TEXTS) {
      const range = [from, Math.min(from + TEXTS, length)] as const;
      if (!array.isText) {
        for (const value of this.numbers(array, range)) texts.push(Number.isNaN(value) ? "" : String(value));
        this.account.takeValues(range[1] - from);
        continue;
      }
      const found = (this.at(path) as Dataset).slice([[...range]]);
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
