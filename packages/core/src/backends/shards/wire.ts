/** Arrays, sums and filters as bytes, for other processes of the same program on machines of the same byte order. */

import type { FilterBank, Sum, Weights } from "../../kernels/shapes.ts";

type Numbers = Uint8Array | Uint16Array | Uint32Array | Float64Array;
const TYPES = [Uint8Array, Uint16Array, Uint32Array, Float64Array] as const;
/** Type and length of an array; each begins at a multiple of 8. */
const HEAD = 16;

/** Arrays one after the other. */
export function packArrays(arrays: readonly Numbers[]): Uint8Array {
  const sizes = arrays.map(({ byteLength }) => HEAD + Math.ceil(byteLength / 8) * 8);
  const bytes = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0));
  let at = 0;
  arrays.forEach((array, j) => {
    new Float64Array(bytes.buffer, at, 2).set([TYPES.findIndex((Type) => array instanceof Type), array.length]);
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at + HEAD);
    at += sizes[j];
  });
  return bytes;
}

/** The arrays in bytes that `packArrays` made. */
export function unpackArrays(packed: Uint8Array): Numbers[] {
  const bytes = packed.byteOffset % 8 === 0 ? packed : packed.slice();
  const arrays: Numbers[] = [];
  for (let at = bytes.byteOffset; at < bytes.byteOffset + bytes.byteLength; ) {
    const [type, length] = new Float64Array(bytes.buffer, at, 2);
    const array = new TYPES[type](bytes.buffer as ArrayBuffer, at + HEAD, length);
    arrays.push(array);
    at += HEAD + Math.ceil(array.byteLength / 8) * 8;
  }
  return arrays;
}

/** Sums, whatever their form. */
export function packSums(sums: readonly Sum[]): Uint8Array {
  const isSparse = Uint8Array.from(sums, ({ indices }) => (indices ? 1 : 0));
  const lengths = Uint32Array.from(sums, ({ values }) => values.length);
  const indices = joined(
    Uint32Array,
    sums.map((sum) => sum.indices ?? []),
  );
  const values = joined(
    Float64Array,
    sums.map((sum) => sum.values),
  );
  return packArrays([isSparse, lengths, indices, values]);
}

/** The sums in bytes that `packSums` made. */
export function unpackSums(bytes: Uint8Array): Sum[] {
  const [isSparse, lengths, indices, values] = unpackArrays(bytes);
  let [value, index] = [0, 0];
  return Array.from(lengths, (length, s) => {
    const own = values.subarray(value, value + length) as Float64Array;
    value += length;
    if (isSparse[s] === 0) return { values: own };
    index += length;
    return { indices: indices.subarray(index - length, index) as Uint32Array, values: own };
  });
}

/** Filters, whatever their form. */
export function packBank(bank: FilterBank): Uint8Array {
  const shape = Uint32Array.of(bank.form === "dense" ? 0 : 1, bank.filters, bank.features);
  const common = [shape, bank.norm, bank.weights];
  return packArrays(bank.form === "dense" ? common : [...common, bank.base, bank.offsets, bank.indices]);
}

/** The filters in bytes that `packBank` made. */
export function unpackBank(bytes: Uint8Array): FilterBank {
  const [shape, norm, weights, base, offsets, indices] = unpackArrays(bytes);
  const [form, filters, features] = shape;
  const common = { filters, features, norm: norm as Float64Array, weights: weights as Weights };
  if (form === 0) return { form: "dense", ...common };
  const rest = { base: base as Float64Array, offsets: offsets as Uint32Array, indices: indices as Uint32Array };
  return { form: "sparse", ...common, ...rest };
}

/** Lists in one array. */
export function joined<T extends Numbers>(Type: new (length: number) => T, parts: readonly ArrayLike<number>[]): T {
  const all = new Type(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Numbers [from, to). */
export function numbersFrom(from: number, to: number): Uint32Array {
  const numbers = new Uint32Array(to - from);
  for (let j = 0; j < numbers.length; j++) numbers[j] = from + j;
  return numbers;
}
