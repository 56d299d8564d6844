/**
 * numpy's .npy: a magic string, a header in Python's spelling, then raw values. All numeric types that JavaScript can hold
 * exactly are read, in either byte order and either array order, and strings for labels. Pickled objects are refused.
 */

import type { Label } from "@ranksim/core";
import { badFile, quoted } from "../bad-file.ts";
import type { Account } from "../budget.ts";
import { type DataSet, denseFrom, type ImageSize } from "../data-set.ts";
import { narrowed } from "../growing-values.ts";

/** Numbers of an array file, in the file's own type where JavaScript has it, else in float64. */
export type Numbers = Parameters<typeof narrowed>[0];

/** An array as a file holds it, in row-major order. */
export interface NpyArray {
  readonly shape: readonly number[];
  /** Numbers, or strings for numpy's types U and S. */
  readonly values: Numbers | readonly string[];
}

/** Bytes of a header that are still believed. */
export const LONGEST_HEADER = 1 << 20;
/** Axes that numpy allows. */
const MOST_AXES = 64;

/** Decodes one .npy file. `name` is for errors. */
export function decodeNpy(name: string, bytes: Uint8Array, account: Account): NpyArray {
  const { descr, fortran, shape, dataAt } = readHeader(name, bytes);
  const count = shape.reduce((product, size) => product * size, 1);
  const match = /^([<>|=])([biufUS])(\d{1,6})$/.exec(descr);
  const itemSize = match === null ? 0 : Number(match[3]) * (match[2] === "U" ? 4 : 1);
  if (match === null || itemSize === 0) {
    throw badFile(name, "", `expected an array of numbers or strings, found numpy type ${quoted(descr)}`);
  }
  const found = bytes.byteLength - dataAt;
  if (!Number.isSafeInteger(count) || count > 2 ** 32 || found !== count * itemSize) {
    throw badFile(
      name,
      `byte ${dataAt}`,
      `expected ${shape.join(" x ")} items of ${itemSize} bytes = ${count * itemSize} bytes, found ${found}`,
    );
  }
  const isText = match[2] === "U" || match[2] === "S";
  const data = new DataView(bytes.buffer, bytes.byteOffset + dataAt, found);
  const copies = fortran ? 2 : 1;
  if (isText) account.takeValues(count * copies);
  account.take((isText ? found : count * decodedBytes(match[2] + match[3], itemSize)) * copies);
  const values = isText
    ? decodeStrings(name, data, count, itemSize, match[2] === "U", match[1] !== ">")
    : decodeNumbers(name, data, count, match[2] + match[3], match[1] !== ">");
  return { shape, values: fortran ? toRowMajor(values, shape) : values };
}

/** What the header of a .npy file says; the bytes must hold all of it. */
export function readHeader(name: string, bytes: Uint8Array) {
  const magic = String.fromCharCode(...bytes.subarray(0, 6));
  if (magic !== "\x93NUMPY" || bytes.byteLength < 12) throw badFile(name, "byte 0", "expected a .npy file of numpy");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const headerAt = bytes[6] === 1 ? 10 : 12;
  const headerSize = bytes[6] === 1 ? view.getUint16(8, true) : view.getUint32(8, true);
  const dataAt = headerAt + headerSize;
  if (bytes[6] < 1 || bytes[6] > 3 || dataAt > bytes.byteLength || headerSize > LONGEST_HEADER) {
    throw badFile(name, "byte 6", `expected version 1 to 3 and a header within the file's ${bytes.byteLength} bytes`);
  }
  const header = new TextDecoder().decode(bytes.subarray(headerAt, dataAt));
  const descr = /'descr':\s*'([^']*)'/.exec(header);
  const fortran = /'fortran_order':\s*(True|False)/.exec(header);
  const shape = /'shape':\s*\(([\d, L]*)\)/.exec(header);
  if (fortran === null || shape === null)
    throw badFile(name, "byte 10", `expected a numpy header, found ${quoted(header)}`);
  if (descr === null) {
    throw badFile(name, "byte 10", `expected an array of one type, found a structured one: ${quoted(header)}`);
  }
  const sizes = shape[1].split(",").map((size) => size.trim().replace(/L$/, ""));
  const axes = sizes.filter((size) => size !== "").map(Number);
  if (axes.length > MOST_AXES)
    throw badFile(name, "byte 10", `expected at most ${MOST_AXES} axes, found ${axes.length}`);
  return { descr: descr[1], fortran: fortran[1] === "True", shape: axes, dataAt };
}

/** A copy of the bytes with each group of `size` turned round where the byte order is not this machine's. */
function nativeBytes(data: DataView, size: number, little: boolean): ArrayBuffer {
  const copy = new Uint8Array(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  const nativeLittle = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
  if (little !== nativeLittle && size > 1)
    for (let at = 0; at < copy.length; at += size) copy.subarray(at, at + size).reverse();
  return copy.buffer;
}

/** Bytes of a number once it is decoded: half floats become float32, long integers float64, all others stay as wide as they are. */
function decodedBytes(type: string, itemSize: number): number {
  return type === "f2" ? Float32Array.BYTES_PER_ELEMENT : itemSize;
}

/** Numbers of a type by its kind and bytes, such as f4. */
export function decodeNumbers(name: string, data: DataView, count: number, type: string, little: boolean): Numbers {
  const native = (size: number) => nativeBytes(data, size, little);
  switch (type) {
    case "b1":
    case "u1":
      return new Uint8Array(native(1));
    case "i1":
      return new Int8Array(native(1));
    case "u2":
      return new Uint16Array(native(2));
    case "i2":
      return new Int16Array(native(2));
    case "u4":
      return new Uint32Array(native(4));
    case "i4":
      return new Int32Array(native(4));
    case "f4":
      return new Float32Array(native(4));
    case "f8":
      return new Float64Array(native(8));
    case "f2":
      return Float32Array.from({ length: count }, (_, i) => halfToNumber(data.getUint16(2 * i, little)));
    case "i8":
    case "u8":
      return decodeLong(name, data, count, type === "i8", little);
  }
  throw badFile(name, "", `expected numbers that float64 can hold, found numpy type ${quoted(type)}`);
}

function decodeLong(name: string, data: DataView, count: number, signed: boolean, little: boolean): Float64Array {
  const out = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const high = 8 * i + (little ? 4 : 0);
    const value =
      (signed ? data.getInt32(high, little) : data.getUint32(high, little)) * 2 ** 32 +
      data.getUint32(8 * i + (little ? 0 : 4), little);
    if (!Number.isSafeInteger(value)) {
      throw badFile(name, `item ${i}`, `expected whole numbers within ±(2^53 - 1), found about ${value}`);
    }
    out[i] = value;
  }
  return out;
}

/** The value of a 16-bit float. */
export function halfToNumber(bits: number): number {
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  const sign = bits & 0x8000 ? -1 : 1;
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}

function decodeStrings(
  name: string,
  data: DataView,
  count: number,
  itemSize: number,
  unicode: boolean,
  little: boolean,
): string[] {
  const out: string[] = [];
  for (let i = 0; i < count; i++) {
    let text = "";
    const step = unicode ? 4 : 1;
    let end = (i + 1) * itemSize;
    // Shorter strings are filled up with zeros.
    while (end > i * itemSize && (unicode ? data.getUint32(end - 4, little) : data.getUint8(end - 1)) === 0)
      end -= step;
    // In pieces: a string made character by character takes several times as long.
    for (let at = i * itemSize; at < end; ) {
      const codes: number[] = [];
      for (; at < end && codes.length < 4096; at += step) {
        const code = unicode ? data.getUint32(at, little) : data.getUint8(at);
        if (code > 0x10ffff) throw badFile(name, `item ${i}`, `expected a Unicode character, found code ${code}`);
        codes.push(code);
      }
      text += String.fromCodePoint(...codes);
    }
    out.push(text);
  }
  return out;
}

function toRowMajor<T extends Numbers | readonly string[]>(values: T, shape: readonly number[]): T {
  const out = values.slice() as T;
  const strides = shape.map((_, axis) => shape.slice(0, axis).reduce((product, size) => product * size, 1));
  const position = shape.map(() => 0);
  const target = out as unknown as (number | string)[];
  for (let i = 0; i < values.length; i++) {
    let from = 0;
    for (let axis = 0; axis < shape.length; axis++) from += position[axis] * strides[axis];
    target[i] = values[from];
    for (let axis = shape.length - 1; axis >= 0 && ++position[axis] === shape[axis]; axis--) position[axis] = 0;
  }
  return out;
}

/** Values of a pixel that the last of four axes may have: grey, with transparency, red-green-blue, with transparency. */
const MOST_CHANNELS = 4;

/** Rows of a decoded array: 2 axes are rows x features; 3 are images, and so are 4, the last being the values of a pixel. */
export async function arrayToData(
  name: string,
  array: NpyArray,
  account: Account,
): Promise<DataSet & { form: "matrix" }> {
  const { rows, features, ...size } = rowsOfShape(name, array.shape, Array.isArray(array.values));
  const x = await denseFrom(name, narrowed(array.values as Numbers, account), rows, features);
  return { form: "matrix", x, ...size };
}

/** Rows and features of an array of numbers, and the size of the images that the rows are. */
export function rowsOfShape(
  name: string,
  shape: readonly number[],
  isText: boolean,
): { rows: number; features: number; imageSize?: ImageSize } {
  const isImages = shape.length === 3 || (shape.length === 4 && shape[3] <= MOST_CHANNELS);
  if ((shape.length !== 2 && !isImages) || isText) {
    throw badFile(
      name,
      "",
      `expected numbers with 2 axes (rows, features), 3 (images) or 4 (images, values of a pixel last), found ${isText ? "strings" : "numbers"} of shape (${shape.join(", ")})`,
    );
  }
  const [rows, height, width = 1, channels = 1] = shape;
  return { rows, features: height * width * channels, ...(isImages ? { imageSize: { width, height } } : {}) };
}

/** Labels of a decoded array: 1 axis (or 2, the second of size 1); with 2 axes of zeros and ones, the columns that are 1. */
export function arrayToLabels(name: string, array: NpyArray, account: Account): Label[] | Label[][] {
  const { shape, values } = array;
  account.takeValues(values.length);
  if (shape.length === 1 || (shape.length === 2 && shape[1] === 1)) return Array.from(values as ArrayLike<Label>);
  if (shape.length === 2 && (values as ArrayLike<Label>).length > 0) {
    const [rows, columns] = shape;
    const sets: number[][] = Array.from({ length: rows }, () => []);
    for (let i = 0; i < rows * columns; i++) {
      if (values[i] === 1) sets[Math.floor(i / columns)].push(i % columns);
      else if (values[i] !== 0)
        throw badFile(name, `row ${Math.floor(i / columns)}`, `expected 0 or 1, found ${values[i]}`);
    }
    return sets;
  }
  throw badFile(name, "", `expected one label for each row, found an array of shape (${shape.join(", ")})`);
}
