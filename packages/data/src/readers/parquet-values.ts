/** The values of a Parquet page: its encodings, and what the stored numbers and bytes stand for. All counts are checked first. */

import type { Encoding, ParquetType, SchemaElement } from "hyparquet";
import { decimalOf } from "./decimal.ts";
import { halfToNumber } from "./npy.ts";
import { readRuns } from "./runs.ts";

/** Values as stored. */
export type Stored = ArrayLike<number | bigint | boolean | Uint8Array>;

/** Decodes `count` values that fill `bytes`. Throws plain errors; the caller names the file. */
export function decodeValues(
  encoding: Encoding,
  type: ParquetType,
  typeLength: number,
  bytes: Uint8Array,
  count: number,
): Stored {
  switch (encoding) {
    case "PLAIN":
      return plainValues(type, typeLength, bytes, count);
    case "RLE":
      if (type !== "BOOLEAN") break;
      return Array.from(readRuns(bytes, 4, bytes.byteLength, 1, count), (bit) => bit === 1);
    case "BYTE_STREAM_SPLIT":
      return splitValues(type, typeLength, bytes, count);
    case "DELTA_BINARY_PACKED":
      if (type === "INT32") return Int32Array.from(deltaValues(bytes, 0, count, 32).values, Number);
      if (type === "INT64") return deltaValues(bytes, 0, count, 64).values;
      break;
    case "DELTA_LENGTH_BYTE_ARRAY": {
      const { values, end } = deltaValues(bytes, 0, count, 32);
      return cut(bytes, end, values);
    }
    case "DELTA_BYTE_ARRAY":
      return prefixedValues(bytes, count);
  }
  throw new Error(`expected values of type ${type} in a known encoding, found ${encoding}`);
}

const SIZES: { readonly [type: string]: number } = { INT32: 4, FLOAT: 4, INT64: 8, DOUBLE: 8, INT96: 12 };

function need(found: number, expected: number): void {
  if (!(found >= expected)) throw new Error(`expected ${expected} bytes of values, found ${found}`);
}

function plainValues(type: ParquetType, typeLength: number, bytes: Uint8Array, count: number): Stored {
  if (type === "BOOLEAN") {
    need(bytes.byteLength * 8, count);
    return Array.from({ length: count }, (_, i) => ((bytes[i >> 3] >> (i & 7)) & 1) === 1);
  }
  if (type === "BYTE_ARRAY") {
    need(bytes.byteLength, count * 4);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const out: Uint8Array[] = [];
    for (let at = 0; out.length < count; ) {
      const length = view.getUint32(at, true);
      need(bytes.byteLength - at - 4, length);
      out.push(bytes.subarray(at + 4, at + 4 + length));
      at += 4 + length;
    }
    return out;
  }
  const size = type === "FIXED_LEN_BYTE_ARRAY" ? typeLength : SIZES[type];
  if (!(size > 0)) throw new Error(`expected a known type of value, found ${type}`);
  need(bytes.byteLength, count * size);
  // A copy begins where numbers of any size may.
  return numbersOf(type, size, bytes.slice(0, count * size), count);
}

function numbersOf(type: ParquetType, size: number, bytes: Uint8Array<ArrayBuffer>, count: number): Stored {
  if (type === "INT32") return new Int32Array(bytes.buffer);
  if (type === "INT64") return new BigInt64Array(bytes.buffer);
  if (type === "FLOAT") return new Float32Array(bytes.buffer);
  if (type === "DOUBLE") return new Float64Array(bytes.buffer);
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
}

/** Values whose first bytes come first, then all second bytes, and so on. */
function splitValues(type: ParquetType, typeLength: number, bytes: Uint8Array, count: number): Stored {
  const size = type === "FIXED_LEN_BYTE_ARRAY" ? typeLength : SIZES[type];
  if (!(size > 0)) throw new Error(`expected a known type of value, found ${type}`);
  need(bytes.byteLength, count * size);
  const joined = new Uint8Array(count * size);
  for (let b = 0; b < size; b++) for (let i = 0; i < count; i++) joined[i * size + b] = bytes[b * count + i];
  return numbersOf(type, size, joined, count);
}

/** Differences, in blocks of miniblocks with a bit width each. 64-bit arithmetic wraps round, as the format says. */
function deltaValues(
  bytes: Uint8Array,
  from: number,
  count: number,
  bits: 32 | 64,
): { values: BigInt64Array; end: number } {
  let at = from;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      if (at >= bytes.byteLength) throw new Error("expected differences, found the end");
      const byte = bytes[at++];
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw new Error("expected a number of at most 10 bytes");
  };
  const zigzag = () => {
    const value = varint();
    return (value >> 1n) ^ -(value & 1n);
  };
  const blockSize = Number(varint());
  const miniblocks = Number(varint());
  const each = blockSize / miniblocks;
  if (!(Number.isInteger(each) && each > 0 && each % 8 === 0 && blockSize <= 2 ** 20)) {
    throw new Error(`expected blocks of differences, found ${blockSize} in ${miniblocks} parts`);
  }
  const total = Number(varint());
  if (total < count) throw new Error(`expected ${count} differences, found ${total}`);
  const values = new BigInt64Array(count);
  let value = zigzag();
  if (count > 0) values[0] = BigInt.asIntN(bits, value);
  for (let seen = 1; seen < count; ) {
    const least = zigzag();
    const widths = bytes.subarray(at, at + miniblocks);
    if (widths.byteLength < miniblocks) throw new Error("expected bit widths, found the end");
    at += miniblocks;
    for (let m = 0; m < miniblocks && seen < count; m++) {
      const width = widths[m];
      if (width > 64 || at + (each * width) / 8 > bytes.byteLength)
        throw new Error("expected differences, found the end");
      for (let i = 0; i < each && seen < count; i++, seen++) {
        value = BigInt.asIntN(bits, value + least + longBits(bytes, at * 8 + i * width, width));
        values[seen] = value;
      }
      at += (each * width) / 8;
    }
  }
  return { values, end: at };
}

function longBits(bytes: Uint8Array, bit: number, width: number): bigint {
  let value = 0n;
  for (let got = 0; got < width; ) {
    const offset = (bit + got) % 8;
    const taken = Math.min(8 - offset, width - got);
    const part = (bytes[Math.floor((bit + got) / 8)] >> offset) & ((1 << taken) - 1);
    value |= BigInt(part) << BigInt(got);
    got += taken;
  }
  return value;
}

function cut(bytes: Uint8Array, from: number, lengths: BigInt64Array): Uint8Array[] {
  let at = from;
  return Array.from(lengths, (long) => {
    const length = Number(long);
    if (length < 0) throw new Error(`expected a length, found ${length}`);
    need(bytes.byteLength - at, length);
    at += length;
    return bytes.subarray(at - length, at);
  });
}

/** Texts that share a beginning with the one before. */
function prefixedValues(bytes: Uint8Array, count: number): Uint8Array[] {
  const prefixes = deltaValues(bytes, 0, count, 32);
  const lengths = deltaValues(bytes, prefixes.end, count, 32);
  let last = new Uint8Array(0);
  let room = bytes.byteLength * 64 + 2 ** 24;
  return cut(bytes, lengths.end, lengths.values).map((suffix, i) => {
    const prefix = Number(prefixes.values[i]);
    if (prefix < 0 || prefix > last.byteLength)
      throw new Error(`expected a beginning of ${last.byteLength} bytes or less`);
    room -= prefix + suffix.byteLength;
    // Sharing can make long texts from few bytes, but not without end.
    if (room < 0) throw new Error("expected texts that fit their page");
    const joined = new Uint8Array(prefix + suffix.byteLength);
    joined.set(last.subarray(0, prefix));
    joined.set(suffix, prefix);
    last = joined;
    return joined;
  });
}

const utf8 = new TextDecoder();

/** Digits after the point that a decimal may have. */
const MOST_SCALE = 100;

/** What stored values of a column mean: numbers, booleans or text. Other kinds are refused by name. */
export function meaningOf(element: SchemaElement): (stored: number | bigint | boolean | Uint8Array) => unknown {
  const { type, converted_type: converted, logical_type: logical } = element;
  const kind = logical?.type ?? converted;
  if (kind === "DECIMAL") {
    const { scale = 0 } = element;
    if (!(scale >= 0 && scale <= MOST_SCALE)) throw new Error(`expected a scale of 0 to ${MOST_SCALE}, found ${scale}`);
    return (stored) => decimalOf(stored instanceof Uint8Array ? bigEndian(stored) : BigInt(stored), scale);
  }
  if (kind === "FLOAT16") return (stored) => halfToNumber((stored as Uint8Array)[0] | ((stored as Uint8Array)[1] << 8));
  if (type === "BYTE_ARRAY") return (stored) => utf8.decode(stored as Uint8Array);
  const isUnsigned = /^UINT/.test(converted ?? "") || (logical?.type === "INTEGER" && !logical.isSigned);
  const isPlain = kind === undefined || kind === "INTEGER" || /^U?INT_/.test(kind);
  if (isPlain && type !== "INT96" && type !== "FIXED_LEN_BYTE_ARRAY") {
    if (isUnsigned && type === "INT32") return (stored) => (stored as number) >>> 0;
    if (isUnsigned && type === "INT64") return (stored) => BigInt.asUintN(64, stored as bigint);
    return (stored) => stored;
  }
  throw new Error(`expected numbers or text, found values of kind ${kind ?? type}`);
}

function bigEndian(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return BigInt.asIntN(bytes.byteLength * 8, value);
}
