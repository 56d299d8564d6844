/** The columns of one Arrow record batch as cells. Every length that a batch claims is checked against its buffers. */

import type { ArrowField } from "./arrow-schema.ts";
import type { FlatTable } from "./flatbuffer.ts";
import { halfToNumber } from "./npy.ts";
import type { Cells } from "./table.ts";

/** Entries of the dictionaries that came so far, by id. */
export type Dictionaries = Map<number, unknown[]>;

/** Undoes the packing of one buffer. */
export type Unpack = (codec: number, packed: Uint8Array, size: number) => Uint8Array;

/** A column of a batch, not yet looked into. */
export interface ArrowColumn {
  readonly field: ArrowField;
  readonly length: number;
  readonly nulls: number;
  readonly buffers: readonly (() => Uint8Array)[];
  readonly children: readonly ArrowColumn[];
}

/** Splits a batch's nodes and buffers among the fields. */
export function columnsOf(
  fields: readonly ArrowField[],
  batch: FlatTable,
  body: Uint8Array,
  unpack: Unpack,
): ArrowColumn[] {
  const nodes = batch.longs(1, 2);
  const regions = batch.longs(2, 2);
  const variadic = batch.longs(4, 1);
  const compression = batch.table(3);
  let node = 0;
  let region = 0;
  let view = 0;
  const buffer = (): (() => Uint8Array) => {
    const [offset, length] = [regions[2 * region], regions[2 * region + 1]];
    region++;
    if (!(offset >= 0 && length >= 0 && offset + length <= body.byteLength)) {
      throw new Error(`expected a buffer within ${body.byteLength} bytes, found ${length} bytes at ${offset}`);
    }
    const stored = body.subarray(offset, offset + length);
    return () => (compression === undefined ? stored : unpacked(stored, compression.int8(0), unpack));
  };
  const column = (field: ArrowField): ArrowColumn => {
    const [length, nulls] = [nodes[2 * node], nodes[2 * node + 1]];
    node++;
    if (!(length >= 0 && nulls >= 0))
      throw new Error(`expected column ${JSON.stringify(field.name)}, found no more nodes`);
    const count = field.buffers + (field.isVariadic ? variadic[view++] : 0);
    if (!(count <= regions.length)) throw new Error(`expected at most ${regions.length} buffers, found ${count}`);
    const buffers = Array.from({ length: count }, buffer);
    return { field, length, nulls, buffers, children: field.children.map(column) };
  };
  return fields.map(column);
}

/** A packed buffer begins with its plain size; -1 says that it is not packed after all. */
function unpacked(stored: Uint8Array, codec: number, unpack: Unpack): Uint8Array {
  if (stored.byteLength === 0) return stored;
  const view = new DataView(stored.buffer, stored.byteOffset, stored.byteLength);
  const size = view.getInt32(4, true) * 2 ** 32 + view.getUint32(0, true);
  if (size === -1) return stored.subarray(8);
  if (!(size >= 0)) throw new Error(`expected the size of a packed buffer, found ${size}`);
  const plain = unpack(codec, stored.subarray(8), size);
  if (plain.byteLength === size) return plain;
  throw new Error(`expected a buffer of ${size} bytes when unpacked, found ${plain.byteLength}`);
}

/** The cells of a column. Throws plain errors; the caller names file and column. */
export function cellsOf(column: ArrowColumn, dictionaries: Dictionaries): Cells {
  const { field, length, nulls, buffers } = column;
  if (field.type.kind === "null") return () => null;
  const cells = field.dictionary ? dictionaryCells(column, dictionaries) : plainCells(column, dictionaries);
  if (nulls === 0) return cells;
  const valid = buffers[0]();
  need("bytes of validity", valid.byteLength, Math.ceil(length / 8));
  return (row) => ((valid[row >> 3] >> (row & 7)) & 1 ? cells(row) : null);
}

function need(what: string, found: number, expected: number): void {
  if (found < expected) throw new Error(`expected ${expected} ${what}, found ${found}`);
}

function dictionaryCells(column: ArrowColumn, dictionaries: Dictionaries): Cells {
  const entries = dictionaries.get(column.field.dictionary?.id as number);
  if (entries === undefined) throw new Error("expected its dictionary before it, found none");
  const numbers = plainCells(column, dictionaries);
  return (row) => {
    const entry = Number(numbers(row));
    if (entry >= 0 && entry < entries.length) return entries[entry];
    throw new Error(`row ${row}: expected one of ${entries.length} entries, found ${entry}`);
  };
}

function plainCells(column: ArrowColumn, dictionaries: Dictionaries): Cells {
  const { field, length, buffers, children } = column;
  const { type } = field;
  switch (type.kind) {
    case "bool": {
      const bits = buffers[1]();
      need("bytes", bits.byteLength, Math.ceil(length / 8));
      return (row) => ((bits[row >> 3] >> (row & 7)) & 1) === 1;
    }
    case "int":
    case "float": {
      const values = numbersOf(type.kind, type.bits, type.kind === "int" && type.isSigned, buffers[1](), length);
      return (row) => values[row];
    }
    case "text": {
      const offsets = offsetsOf(buffers[1](), type.isLarge, length);
      const bytes = buffers[2]();
      return (row) => textOf(bytes, offsets(row), offsets(row + 1));
    }
    case "text-view":
      return viewCells(length, buffers);
    case "list": {
      const offsets = offsetsOf(buffers[1](), type.isLarge, length);
      const inner = cellsOf(children[0], dictionaries);
      return (row) => listOf(inner, children[0].length, offsets(row), offsets(row + 1));
    }
    case "fixed-list": {
      const inner = cellsOf(children[0], dictionaries);
      need("values in lists", children[0].length, length * type.size);
      return (row) => listOf(inner, children[0].length, row * type.size, (row + 1) * type.size);
    }
    default:
      throw new Error(`expected numbers, text or lists of numbers, found type ${field.typeName}`);
  }
}

function numbersOf(
  kind: "int" | "float",
  bits: number,
  isSigned: boolean,
  bytes: Uint8Array,
  length: number,
): ArrayLike<number | bigint> {
  need("bytes of values", bytes.byteLength, (length * bits) / 8);
  // A copy begins where numbers of any size may.
  const { buffer } = bytes.slice(0, (length * bits) / 8);
  switch (`${kind}${bits}`) {
    case "int8":
      return isSigned ? new Int8Array(buffer) : new Uint8Array(buffer);
    case "int16":
      return isSigned ? new Int16Array(buffer) : new Uint16Array(buffer);
    case "int32":
      return isSigned ? new Int32Array(buffer) : new Uint32Array(buffer);
    case "int64":
      return isSigned ? new BigInt64Array(buffer) : new BigUint64Array(buffer);
    case "float16":
      return Float32Array.from(new Uint16Array(buffer), halfToNumber);
    case "float32":
      return new Float32Array(buffer);
    case "float64":
      return new Float64Array(buffer);
  }
  throw new Error(`expected numbers of 8, 16, 32 or 64 bits, found ${bits}`);
}

function offsetsOf(bytes: Uint8Array, isLarge: boolean, length: number): (row: number) => number {
  need("bytes of offsets", bytes.byteLength, (length + 1) * (isLarge ? 8 : 4));
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (!isLarge) return (row) => view.getInt32(4 * row, true);
  return (row) => view.getInt32(8 * row + 4, true) * 2 ** 32 + view.getUint32(8 * row, true);
}

const utf8 = new TextDecoder();

function textOf(bytes: Uint8Array, from: number, to: number): string {
  if (!(from >= 0 && to >= from && to <= bytes.byteLength)) {
    throw new Error(`expected text within ${bytes.byteLength} bytes, found ${from} to ${to}`);
  }
  return utf8.decode(bytes.subarray(from, to));
}

function listOf(inner: Cells, available: number, from: number, to: number): unknown[] {
  if (!(from >= 0 && to >= from && to <= available)) {
    throw new Error(`expected a list within ${available} values, found ${from} to ${to}`);
  }
  return Array.from({ length: to - from }, (_, i) => inner(from + i));
}

/** Texts as views: 16 bytes each, with the text itself if it has up to 12 bytes, else where it lies. */
function viewCells(length: number, buffers: ArrowColumn["buffers"]): Cells {
  const views = buffers[1]();
  need("bytes of views", views.byteLength, length * 16);
  const table = new DataView(views.buffer, views.byteOffset, views.byteLength);
  const pools = buffers.slice(2).map((buffer) => buffer());
  return (row) => {
    const size = table.getInt32(16 * row, true);
    if (size <= 12) return textOf(views, 16 * row + 4, 16 * row + 4 + size);
    const pool = pools[table.getInt32(16 * row + 8, true)];
    if (pool === undefined) throw new Error(`row ${row}: expected text in one of ${pools.length} buffers`);
    const from = table.getInt32(16 * row + 12, true);
    return textOf(pool, from, from + size);
  };
}
