/**
 * One column of one Parquet row group as a list of cells, page by page: levels, then values, put together into plain cells
 * or lists. What a page header claims is checked before room is made. Deeper nesting than a list is refused.
 */

import type { ColumnMetaData, Compressors, SchemaTree } from "hyparquet";
import { parquetHeader } from "hyparquet/src/column.js";
import type { Account } from "../budget.ts";
import { crc32 } from "../crc32.ts";
import { decodeValues, meaningOf, type Stored } from "./parquet-values.ts";
import { readRuns } from "./runs.ts";
import { unpackZstd } from "./zstd.ts";

/** Values in one page that are still believed; writers stop a page at about a megabyte. */
const MOST_PAGE_VALUES = 2 ** 24;
/** A page may unpack to this size, or to this many times its own if that is more. */
const MOST_PAGE_BYTES = 2 ** 26;
const MOST_UNPACKED = 1032;

/** What the schema says about a column's one leaf. */
interface Leaf {
  readonly tree: SchemaTree;
  /** Level at which a value is there. */
  readonly definition: number;
  /** 0 for plain columns, 1 for lists. */
  readonly repetition: number;
}

/** The leaf of a top-level column. Refuses structures and lists of lists. */
export function leafOf(column: SchemaTree): Leaf {
  let tree = column;
  let definition = 0;
  let repetition = 0;
  for (let depth = 0; depth < 8; depth++) {
    const { repetition_type: kind } = tree.element;
    if (kind !== "REQUIRED") definition++;
    if (kind === "REPEATED") repetition++;
    if (tree.children.length === 0 && repetition <= 1) return { tree, definition, repetition };
    if (tree.children.length !== 1) break;
    tree = tree.children[0];
  }
  throw new Error("expected numbers, text or lists of numbers, found a nested column");
}

/** Reads the pages in `bytes`: cells for `rows` rows. Throws plain errors; the caller names file and column. */
export function readPages(
  bytes: Uint8Array,
  chunk: ColumnMetaData,
  leaf: Leaf,
  rows: number,
  compressors: Compressors,
  account: Account,
): unknown[] {
  const reader = { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), offset: 0 };
  const cells: unknown[] = [];
  let dictionary: unknown[] | undefined;
  const isDone = () => cells.length >= rows && leaf.repetition === 0;
  while (reader.offset < bytes.byteLength - 1 && !isDone()) {
    const header = parquetHeader(reader);
    const { compressed_page_size: packedSize, uncompressed_page_size: plainSize } = header;
    const packed = bytes.subarray(reader.offset, reader.offset + packedSize);
    if (!(packedSize >= 0 && packed.byteLength === packedSize && plainSize >= 0)) {
      throw new Error(`expected a page of ${packedSize} bytes at ${reader.offset} of its column`);
    }
    if (header.crc !== undefined && crc32(packed) !== header.crc >>> 0) {
      throw new Error(`the page at ${reader.offset} of its column is damaged: its check sum is that of other bytes`);
    }
    reader.offset += packedSize;
    const unpack = (part: Uint8Array, size: number) => unpackPage(part, size, chunk.codec, compressors, account);
    if (header.type === "DICTIONARY_PAGE") {
      const count = header.dictionary_page_header?.num_values ?? -1;
      checkCount(count, MOST_PAGE_VALUES);
      takeStored(account, chunk.type, count);
      const stored = decodeValues("PLAIN", chunk.type, typeLength(leaf), unpack(packed, plainSize), count);
      dictionary = textsOf(account, stored, leaf);
    } else if (header.type === "DATA_PAGE" && header.data_page_header) {
      const { num_values: count, encoding } = header.data_page_header;
      checkCount(count, leaf.repetition === 0 ? rows : MOST_PAGE_VALUES);
      account.take(8 * count);
      const page = new Page(unpack(packed, plainSize), count);
      page.readLevels(leaf.repetition, leaf.definition);
      addCells(cells, page, leaf, page.values(encoding, chunk.type, leaf, dictionary, account), rows, account);
    } else if (header.type === "DATA_PAGE_V2" && header.data_page_header_v2) {
      const v2 = header.data_page_header_v2;
      const { num_values: count, repetition_levels_byte_length: r, definition_levels_byte_length: d } = v2;
      checkCount(count, leaf.repetition === 0 ? rows : MOST_PAGE_VALUES);
      if (!(r >= 0 && d >= 0 && r + d <= packedSize)) throw new Error("expected levels within their page");
      const rest = packed.subarray(r + d);
      const page = new Page(v2.is_compressed === false ? rest : unpack(rest, plainSize - r - d), count);
      page.setLevels(packed.subarray(0, r), packed.subarray(r, r + d), leaf.repetition, leaf.definition);
      addCells(cells, page, leaf, page.values(v2.encoding, chunk.type, leaf, dictionary, account), rows, account);
    } else if (header.type !== "INDEX_PAGE") throw new Error(`expected a page of data, found ${header.type}`);
  }
  if (cells.length !== rows) throw new Error(`expected ${rows} values in a row group, found ${cells.length}`);
  return cells;
}

function typeLength(leaf: Leaf): number {
  return leaf.tree.element.type_length ?? 0;
}

function checkCount(count: number, most: number): void {
  if (!(count >= 0 && count <= most)) throw new Error(`expected a page of at most ${most} values, found ${count}`);
}

function unpackPage(
  packed: Uint8Array,
  size: number,
  codec: ColumnMetaData["codec"],
  compressors: Compressors,
  account: Account,
): Uint8Array {
  if (codec === "UNCOMPRESSED") return packed;
  const decompress = compressors[codec];
  if (decompress === undefined) throw new Error(`expected pages packed in a known way, found ${codec}`);
  const most = Math.max(MOST_PAGE_BYTES, packed.byteLength * MOST_UNPACKED);
  if (!(size >= 0 && size <= most)) {
    throw new Error(`expected a page of at most ${most} bytes, found a claim of ${size}`);
  }
  if (size === 0) return new Uint8Array(0);
  if (codec !== "ZSTD") account.take(size);
  const decode = (part: Uint8Array) => decompress(part, size);
  const plain = codec === "ZSTD" ? unpackZstd(packed, size, decode, account) : decode(packed);
  if (codec === "GZIP") checkGzip(packed, plain);
  if (plain.byteLength === size) return plain;
  throw new Error(`expected a page of ${size} bytes when unpacked, found ${plain.byteLength}`);
}

/** The decoder of gzip takes anything else for bare Deflate, fills up what is lacking with zeros, and reads over the check sum. */
function checkGzip(packed: Uint8Array, plain: Uint8Array): void {
  if (packed[0] !== 0x1f || packed[1] !== 0x8b) throw new Error("expected a page packed by gzip, found other bytes");
  const end = new DataView(packed.buffer, packed.byteOffset + packed.byteLength - 8);
  // The sum is that of the last member; where there are several, its size is not that of the page.
  if (end.getUint32(4, true) === plain.byteLength && end.getUint32(0, true) !== crc32(plain)) {
    throw new Error("a page packed by gzip is damaged: its check sum is that of other bytes");
  }
}

/** A page's levels and values. */
class Page {
  readonly count: number;
  repetition: Uint32Array | undefined;
  definition: Uint32Array | undefined;
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array, count: number) {
    this.#bytes = bytes;
    this.count = count;
  }

  /** Levels of version 1: before the values, each with its size. */
  readLevels(repetition: number, definition: number): void {
    const next = (most: number) => {
      if (most === 0) return undefined;
      const size = new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.byteLength).getUint32(
        this.#at,
        true,
      );
      const from = this.#at + 4;
      if (from + size > this.#bytes.byteLength) throw new Error("expected levels within their page");
      this.#at = from + size;
      return readRuns(this.#bytes, from, from + size, bitsFor(most), this.count);
    };
    this.repetition = next(repetition);
    this.definition = next(definition);
  }

  /** Levels of version 2: apart and never packed. */
  setLevels(repetition: Uint8Array, definition: Uint8Array, mostRepetition: number, mostDefinition: number): void {
    const all = (bytes: Uint8Array, most: number) =>
      most === 0 ? undefined : readRuns(bytes, 0, bytes.byteLength, bitsFor(most), this.count);
    this.repetition = all(repetition, mostRepetition);
    this.definition = all(definition, mostDefinition);
  }

  /** The values that are there, as what they mean. */
  values(
    encoding: Parameters<typeof decodeValues>[0],
    type: ColumnMetaData["type"],
    leaf: Leaf,
    dictionary: unknown[] | undefined,
    account: Account,
  ): unknown[] {
    let present = this.count;
    if (this.definition) for (const level of this.definition) if (level !== leaf.definition) present--;
    const bytes = this.#bytes.subarray(this.#at);
    if (encoding === "PLAIN_DICTIONARY" || encoding === "RLE_DICTIONARY") {
      if (present === 0) return [];
      if (dictionary === undefined) throw new Error("expected a dictionary before its page, found none");
      account.takePlaces(present);
      const entries = readRuns(bytes, 1, bytes.byteLength, bytes[0], present);
      return Array.from(entries, (entry) => {
        if (entry < dictionary.length) return dictionary[entry];
        throw new Error(`expected one of ${dictionary.length} entries, found ${entry}`);
      });
    }
    takeStored(account, type, present);
    return textsOf(account, decodeValues(encoding, type, typeLength(leaf), bytes, present), leaf);
  }
}

/** Room for values as they are stored: numbers, or views of the page. */
function takeStored(account: Account, type: ColumnMetaData["type"], count: number): void {
  account.take(8 * count);
  if (/BYTE_ARRAY|INT96/.test(type)) account.takeValues(3 * count);
}

/** What the stored values mean, strings of their own where they are text. */
function textsOf(account: Account, stored: Stored, leaf: Leaf): unknown[] {
  account.takePlaces(stored.length);
  const meaning = meaningOf(leaf.tree.element);
  return Array.from(stored, (value) => {
    if (value instanceof Uint8Array) account.takeText(2 * value.byteLength);
    return meaning(value);
  });
}

function bitsFor(most: number): number {
  return 32 - Math.clz32(most);
}

/** Puts a page's values in their cells: null where a value is missing, lists where the column has them. */
function addCells(
  cells: unknown[],
  page: Page,
  leaf: Leaf,
  values: readonly unknown[],
  rows: number,
  account: Account,
): void {
  account.takePlaces(page.count);
  if (leaf.repetition > 0) account.takeValues(page.count);
  let next = 0;
  for (let i = 0; i < page.count; i++) {
    const level = page.definition === undefined ? leaf.definition : page.definition[i];
    const value = level === leaf.definition ? values[next++] : null;
    if (leaf.repetition === 0) cells.push(value);
    else if (page.repetition?.[i] === 0) {
      if (cells.length === rows) throw new Error(`expected ${rows} lists in a row group, found more`);
      // Below the level of an item that is null, there is no item: the list is empty or missing.
      const hasItem = level === leaf.definition || level === leaf.definition - 1;
      cells.push(hasItem ? [value] : []);
    } else {
      const list = cells.at(-1);
      if (!Array.isArray(list)) throw new Error("expected a list to go on with, found none");
      list.push(value);
    }
  }
}
