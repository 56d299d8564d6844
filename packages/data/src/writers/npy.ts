/** Arrays as numpy's .npy (version 1.0, little-endian), and data sets as .npy (rows alone) or .npz (rows and labels). */

import { type Label, RanksimError, type Values } from "@ranksim/core";
import { zipSync } from "fflate";
import type { RowLabels, WritableRows } from "../data-set.ts";

/** Writes the rows as .npy; images keep their three axes. Labels have no place in it. */
export function writeNpy(data: WritableRows): Iterable<Uint8Array> {
  if (data.form === "text" || data.x.form === "csr") {
    throw new RanksimError("unsupported", "NPY holds dense numbers; write NPZ for sparse rows");
  }
  const { x, imageSize } = data;
  const shape = imageSize ? [x.rows, imageSize.height, imageSize.width] : [x.rows, x.features];
  return [encodeNumbers(x.values, shape)];
}

/** Writes rows and labels as .npz, under x and y; sparse rows the way scipy.sparse.save_npz does. */
export function writeNpz(data: WritableRows): Iterable<Uint8Array> {
  if (data.form === "text") throw new RanksimError("unsupported", "NPZ holds numbers; vectorise the text first");
  const { x } = data;
  const arrays: { [name: string]: Uint8Array } = {};
  if (x.form === "dense") [arrays.x] = writeNpy(data);
  else {
    const [from, to] = [x.offsets[0], x.offsets[x.rows]];
    arrays.indices = encodeArray("<i4", Int32Array.from(x.indices.subarray(from, to)), [to - from]);
    arrays.indptr = encodeArray(
      "<i4",
      Int32Array.from(x.offsets, (offset) => offset - from),
      [x.rows + 1],
    );
    arrays.format = encodeArray("|S3", new TextEncoder().encode("csr"), []);
    arrays.shape = encodeLongs([x.rows, x.features]);
    arrays.data = encodeNumbers(x.values.subarray(from, to) as Values, [to - from]);
  }
  if (data.y !== undefined) arrays.y = encodeLabels(data.y);
  return [packNpz(arrays)];
}

/** An array of labels (whole numbers, numbers or strings, one axis) or of numbers with their shape, as the bytes of an .npy file. */
export function encodeNpy(values: readonly Label[]): Uint8Array;
export function encodeNpy(values: Values, shape: readonly number[]): Uint8Array;
export function encodeNpy(values: Values | readonly Label[], shape?: readonly number[]): Uint8Array {
  return shape === undefined ? encodeLabels(values as readonly Label[]) : encodeNumbers(values as Values, shape);
}

/** Arrays by name, each as the bytes of an .npy file, as the bytes of an .npz file. */
export function packNpz(arrays: { readonly [name: string]: Uint8Array }): Uint8Array {
  const files = Object.entries(arrays).map(([name, bytes]) => [`${name}.npy`, bytes]);
  // A fixed date, so that equal data gives equal bytes.
  return zipSync(Object.fromEntries(files), { mtime: new Date(1980, 0, 1) });
}

function encodeNumbers(values: Values, shape: readonly number[]): Uint8Array {
  const type =
    values instanceof Uint8Array
      ? "|u1"
      : values instanceof Uint16Array
        ? "<u2"
        : values instanceof Int16Array
          ? "<i2"
          : values instanceof Float32Array
            ? "<f4"
            : "<f8";
  return encodeArray(type, values, shape);
}

function encodeLabels(y: RowLabels): Uint8Array {
  if (y.some((label) => typeof label === "object")) {
    throw new RanksimError("unsupported", "NPZ has no place for several labels a row; write JSON lines or svmlight");
  }
  const labels = y as readonly Label[];
  if (labels.every((label) => Number.isSafeInteger(label))) return encodeLongs(labels as number[]);
  if (labels.every((label) => typeof label === "number")) {
    return encodeArray("<f8", Float64Array.from(labels as number[]), [labels.length]);
  }
  const texts = labels.map((label) => Array.from(String(label), (character) => character.codePointAt(0) as number));
  const longest = Math.max(1, ...texts.map((codes) => codes.length));
  const codes = new Uint32Array(labels.length * longest);
  texts.forEach((text, row) => {
    codes.set(text, row * longest);
  });
  return encodeArray(`<U${longest}`, codes, [labels.length]);
}

function encodeLongs(numbers: readonly number[]): Uint8Array {
  return encodeArray("<i8", BigInt64Array.from(numbers, BigInt), [numbers.length]);
}

/** The bytes of an .npy file. The header is padded so that values begin at a multiple of 64, as numpy does. */
function encodeArray(type: string, values: ArrayBufferView, shape: readonly number[]): Uint8Array {
  const axes = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const fields = `{'descr': '${type}', 'fortran_order': False, 'shape': (${axes}), }`;
  const padded = fields.padEnd(Math.ceil((10 + fields.length + 1) / 64) * 64 - 11);
  const header = new TextEncoder().encode(`\u0000NUMPY\u0001\u0000\u0000\u0000${padded}\n`);
  header[0] = 0x93;
  new DataView(header.buffer).setUint16(8, header.length - 10, true);
  const bytes = new Uint8Array(header.length + values.byteLength);
  bytes.set(header);
  bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), header.length);
  return bytes;
}
