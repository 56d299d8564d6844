/**
 * The entries of a zip, each checked against its CRC-32. What the directory at the end says is compared with what stands before each
 * entry, so that no damaged byte changes which entries there are, what they are called or what they hold.
 */

import { inflateSync } from "fflate";
import { crc32 } from "../crc32.ts";

/** Deflate makes no byte from less than 1/1032 byte, so a larger claim is false. */
export const MOST_UNPACKED = 1032;

/** One entry, as the directory has it. */
export interface ZipEntry {
  readonly name: string;
  /** Bytes in the file. */
  readonly storedSize: number;
  /** Bytes when unpacked, as the directory claims. */
  readonly size: number;
  /** The bytes, unpacked and checked. Throws plain errors. */
  unpack(): Uint8Array;
}

const END = 0x06054b50;
const END_SIZE = 22;
const LARGE_END = 0x06064b50;
const LARGE_END_SIZE = 56;
const LOCATOR = 0x07064b50;
const LOCATOR_SIZE = 20;
const DIRECTORY_ENTRY = 0x02014b50;
const LOCAL_ENTRY = 0x04034b50;
const LARGE_FIELDS = 1;
const STORED = 0;
const DEFLATED = 8;
const ENCRYPTED = 1;
/** Stands for a number that has its place in a field for large files. */
const ELSEWHERE = 0xffffffff;

/** The entries of a zip in the order of its directory. Throws plain errors. */
export function zipEntries(bytes: Uint8Array): ZipEntry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const { count, from, to } = directoryOf(view);
  const entries: ZipEntry[] = [];
  let at = from;
  while (at < to) {
    if (at + 46 > to || view.getUint32(at, true) !== DIRECTORY_ENTRY) {
      throw new Error(`expected an entry of the directory at byte ${at}`);
    }
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((field) => view.getUint16(at + field, true));
    const end = at + 46 + nameLength + extraLength + commentLength;
    if (end > to) throw new Error(`expected an entry of the directory within its ${to - from} bytes at byte ${at}`);
    entries.push(entryOf(bytes, view, at, nameLength, extraLength));
    at = end;
  }
  if (entries.length !== count) throw new Error(`expected ${count} entries, found ${entries.length}`);
  return entries;
}

/** Where the directory is. */
function directoryOf(view: DataView): { count: number; from: number; to: number } {
  // The comment at the end must reach to the end of the file.
  let end = view.byteLength - END_SIZE;
  const isEnd = () =>
    view.getUint32(end, true) === END && end + END_SIZE + view.getUint16(end + 20, true) === view.byteLength;
  while (end >= 0 && !isEnd()) end--;
  if (end < 0) throw new Error("expected a directory at the end of the file");
  const [count, size, from] = [
    view.getUint16(end + 10, true),
    view.getUint32(end + 12, true),
    view.getUint32(end + 16, true),
  ];
  const locator = end - LOCATOR_SIZE;
  const isLarge = locator >= LARGE_END_SIZE && view.getUint32(locator, true) === LOCATOR;
  const found = isLarge ? largeDirectoryOf(view, locator) : { count, from, to: from + size, end };
  if (found.to !== found.end || found.from > found.to) {
    throw new Error(
      `expected a directory that ends at byte ${found.end}, found one from byte ${found.from} to ${found.to}`,
    );
  }
  return found;
}

function largeDirectoryOf(view: DataView, locator: number): { count: number; from: number; to: number; end: number } {
  const end = locator - LARGE_END_SIZE;
  if (view.getUint32(end, true) !== LARGE_END) throw new Error(`expected the end of a large directory at byte ${end}`);
  const [count, size, from] = [32, 40, 48].map((field) => Number(view.getBigUint64(end + field, true)));
  return { count, from, to: from + size, end };
}

function entryOf(bytes: Uint8Array, view: DataView, at: number, nameLength: number, extraLength: number): ZipEntry {
  const name = textOf(bytes, at + 46, nameLength);
  const [flags, method] = [view.getUint16(at + 8, true), view.getUint16(at + 10, true)];
  const sum = view.getUint32(at + 16, true);
  const [storedSize, size, offset] = placeOf(view, at, at + 46 + nameLength, extraLength);
  const isEntry = offset + 30 <= bytes.byteLength && view.getUint32(offset, true) === LOCAL_ENTRY;
  if (!isEntry) throw new Error(`expected entry ${name} at byte ${offset}`);
  const own = view.getUint16(offset + 26, true);
  if (textOf(bytes, offset + 30, own) !== name || view.getUint16(offset + 8, true) !== method) {
    throw new Error(`expected entry ${name} as the directory has it, found another at byte ${offset}`);
  }
  const from = offset + 30 + own + view.getUint16(offset + 28, true);
  if (from + storedSize > bytes.byteLength) throw new Error(`expected ${storedSize} bytes of ${name}, found fewer`);
  const stored = bytes.subarray(from, from + storedSize);
  return {
    ...{ name, storedSize, size },
    unpack() {
      if ((flags & ENCRYPTED) !== 0) throw new Error(`expected ${name} to be readable, found it encrypted`);
      const content = unpacked(name, method, stored, size);
      if (content.byteLength === size && crc32(content) === sum) return content;
      throw new Error(`${name} is damaged: its check sum is that of other bytes`);
    },
  };
}

/** Stored size, size and offset, which large files have in a field of their own, if they do not fit. */
function placeOf(view: DataView, at: number, extra: number, extraLength: number): [number, number, number] {
  const plain = [20, 24, 42].map((field) => view.getUint32(at + field, true));
  let next = extra;
  while (next + 4 <= extra + extraLength && view.getUint16(next, true) !== LARGE_FIELDS) {
    next += 4 + view.getUint16(next + 2, true);
  }
  next += 4;
  // The order in the field is size, stored size, offset; those that fit are left out.
  const large = (value: number): number => {
    if (value !== ELSEWHERE) return value;
    if (next + 8 > extra + extraLength) throw new Error("expected the size of a large entry, found none");
    next += 8;
    return Number(view.getBigUint64(next - 8, true));
  };
  const size = large(plain[1]);
  const storedSize = large(plain[0]);
  return [storedSize, size, large(plain[2])];
}

function unpacked(name: string, method: number, stored: Uint8Array, size: number): Uint8Array {
  if (method === STORED) return stored;
  if (method === DEFLATED) return inflateSync(stored, { out: new Uint8Array(size) });
  throw new Error(`expected ${name} stored or deflated, found method ${method}`);
}

const textOf = (bytes: Uint8Array, from: number, length: number): string =>
  new TextDecoder().decode(bytes.subarray(from, from + length));
