/**
 * Arrow IPC (file, stream, Feather 2), one record batch at a time. Own code, because the common library makes room by the
 * word of a damaged file. Columns that are not needed are not unpacked.
 */

import { asBadFile, badFile, quoted } from "../bad-file.ts";
import type { Account } from "../budget.ts";
import { type Opened, readAll } from "../source.ts";
import { type ArrowColumn, cellsOf, columnsOf, type Dictionaries, type Unpack } from "./arrow-columns.ts";
import { type ArrowField, readSchema } from "./arrow-schema.ts";
import { FlatTable } from "./flatbuffer.ts";
import { decodeLz4Frame } from "./lz4.ts";
import type { Reading } from "./options.ts";
import type { RowBlocks } from "./reader.ts";
import { type Cells, TableBuilder } from "./table.ts";
import { unpackZstd } from "./zstd.ts";

/** "ARROW1" */
const MAGIC = [0x41, 0x52, 0x52, 0x4f, 0x57, 0x31];
const SCHEMA = 1;
const DICTIONARY = 2;
const BATCH = 3;

/** Reads an Arrow file or stream, all of whose bytes are held in memory; a record batch is a block. */
export async function* readArrow(opened: Opened, options: Reading): RowBlocks {
  const { name } = opened;
  const account = options.budget.of(name);
  const bytes = await readAll(opened.stream, account, opened.byteLength);
  try {
    const unpack = await unpacker(account);
    const dictionaries: Dictionaries = new Map();
    const { stream, schema } = partsOf(name, bytes);
    let table: { fields: ArrowField[]; builder: TableBuilder } | undefined;
    const open = (found: FlatTable) => {
      const fields = readSchema(found);
      const names = fields.map((field) => field.name);
      return { fields, builder: new TableBuilder(name, names, options) };
    };
    if (schema !== undefined) table = open(schema);
    for (const { type, header, body } of messagesOf(stream)) {
      if (type === SCHEMA) table ??= open(header);
      else if (table === undefined)
        throw badFile(name, "byte 0", "expected an Arrow schema first, found other messages");
      else if (type === DICTIONARY) addDictionary(table.fields, header, body, unpack, dictionaries, account);
      else if (type === BATCH) {
        addBatch(name, header.int64(0), columnsOf(table.fields, header, body, unpack), dictionaries, table.builder);
        yield* table.builder.take();
      }
    }
    if (table === undefined) throw badFile(name, "byte 0", "expected an Arrow schema, found none");
    return yield* table.builder.finish();
  } catch (error) {
    throw asBadFile(name, "Arrow", error);
  }
}

/**
 * A file holds a stream between two magic strings, and at its end a footer with the schema, which some writers leave out of
 * the stream. The footer's list of batches is not needed.
 */
function partsOf(name: string, bytes: Uint8Array): { stream: Uint8Array; schema?: FlatTable } {
  const isMagic = (at: number) => MAGIC.every((code, i) => bytes[at + i] === code);
  if (!isMagic(0)) return { stream: bytes };
  const footerEnd = bytes.byteLength - MAGIC.length - 4;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const footerAt = footerEnd < 8 ? -1 : footerEnd - view.getUint32(footerEnd, true);
  if (footerAt < 8 || !isMagic(footerEnd + 4)) {
    throw badFile(name, `byte ${bytes.byteLength}`, "expected an Arrow file to end with its footer, found another end");
  }
  const schema = FlatTable.root(bytes.subarray(footerAt, footerEnd)).table(1);
  return { stream: bytes.subarray(8, footerAt), ...(schema ? { schema } : {}) };
}

interface Message {
  readonly type: number;
  readonly header: FlatTable;
  readonly body: Uint8Array;
}

/** The messages of a stream: a mark (absent in old files), the size of the header, the header, the body. */
function* messagesOf(stream: Uint8Array): Generator<Message> {
  const view = new DataView(stream.buffer, stream.byteOffset, stream.byteLength);
  let at = 0;
  while (at + 4 <= stream.byteLength) {
    if (view.getUint32(at, true) === 0xffffffff) at += 4;
    const size = view.getUint32(at, true);
    at += 4;
    if (size === 0) return;
    if (at + size > stream.byteLength) throw new Error(`expected a message of ${size} bytes at byte ${at}`);
    const message = FlatTable.root(stream.subarray(at, at + size));
    at += size;
    const header = message.table(2);
    const bodySize = message.int64(3);
    if (header === undefined || !(bodySize >= 0 && at + bodySize <= stream.byteLength)) {
      throw new Error(`expected a message with a body of ${bodySize} bytes at byte ${at}`);
    }
    yield { type: message.int8(1), header, body: stream.subarray(at, at + bodySize) };
    at += bodySize;
  }
}

async function unpacker(account: Account): Promise<Unpack> {
  const { decompressZstd } = await import("hyparquet-compressors");
  return (codec, packed, size) => {
    if (codec === 1) return unpackZstd(packed, size, decompressZstd, account);
    account.take(size);
    if (codec === 0) return decodeLz4Frame(packed, size);
    throw new Error(`expected buffers packed by LZ4 or Zstandard, found codec ${codec}`);
  };
}

function addDictionary(
  fields: readonly ArrowField[],
  header: FlatTable,
  body: Uint8Array,
  unpack: Unpack,
  dictionaries: Dictionaries,
  account: Account,
): void {
  const id = header.int64(0);
  const value = fields.find((field) => field.dictionary?.id === id)?.dictionary?.value;
  const batch = header.table(1);
  // A dictionary of a nested column is not needed: only plain columns are read through one.
  if (value === undefined || batch === undefined) return;
  const [column] = columnsOf([value], batch, body, unpack);
  // Of other kinds the length cannot be trusted: there may be no bytes behind it.
  if (!/^(text|text-view|int|float|bool)$/.test(value.type.kind)) {
    throw new Error(`expected a dictionary of text or numbers, found type ${value.typeName}`);
  }
  const cells = cellsOf(column, new Map());
  const entries = Array.from({ length: column.length }, (_, row) => {
    const entry = cells(row);
    account.takeText(typeof entry === "string" ? 2 * entry.length : 0);
    return entry;
  });
  const isMore = header.int8(2) !== 0;
  dictionaries.set(id, isMore ? [...(dictionaries.get(id) ?? []), ...entries] : entries);
}

function addBatch(
  name: string,
  rows: number,
  columns: readonly ArrowColumn[],
  dictionaries: Dictionaries,
  builder: TableBuilder,
): void {
  const cells = new Map<number, Cells>();
  let isBacked = rows === 0;
  for (const needed of builder.needed) {
    const column = columns[needed];
    const { field } = column;
    try {
      if (column.length < rows) throw new Error(`expected ${rows} values in a batch, found ${column.length}`);
      cells.set(needed, cellsOf(column, dictionaries));
    } catch (error) {
      throw badFile(name, `column ${quoted(field.name)}`, (error as Error).message, error);
    }
    isBacked ||= field.type.kind !== "null";
  }
  // Without a column that has bytes behind it, the number of rows cannot be trusted.
  if (!isBacked) throw badFile(name, "", "expected a column with values, found only empty ones");
  builder.add(rows, (column) => cells.get(column) as Cells);
}
