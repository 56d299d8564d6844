/** What processes tell each other: arrays, sums and filters as bytes, for the same program on machines of the same byte order. */

import type { FilterBank, Sum, Weights } from "@ranksim/core/backend";

/** Several processes that run the same program on the same data, and what they can do together. Every call is made by all of them, in the same order. */
export interface Collective {
  /** The number of this process, from 0, and how many there are. */
  readonly rank: number;
  readonly size: number;
  /** The sums over all processes. Exact for whole numbers below 2^53 alone: others depend on the order in which they are added. */
  sum(values: Float64Array): Promise<Float64Array>;
  /** What each process gave, in the order of their numbers. */
  gather(part: Uint8Array): Promise<Uint8Array[]>;
  /** What the process `from` gave; the others' is not looked at. */
  broadcast(bytes: Uint8Array, from: number): Promise<Uint8Array>;
  /** Hands something to one process, which receives it; what is sent to a process arrives in order. */
  send(bytes: Uint8Array, to: number): Promise<void>;
  receive(from: number): Promise<Uint8Array>;
}

export type Numbers = Uint8Array | Uint16Array | Uint32Array | Float64Array;
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
  const indices = joined([new Uint32Array(0), ...sums.map((sum) => sum.indices ?? new Uint32Array(0))]);
  const values = joined([new Float64Array(0), ...sums.map(({ values }) => values)]);
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

/** Lists in one array, of the type of the first. */
export function joined<T extends Numbers>(parts: readonly [T, ...ArrayLike<number>[]] | readonly T[]): T {
  const Type = parts[0].constructor as new (length: number) => T;
  const all = new Type(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** Sums of all features, one after the other. */
export function flatSums(sums: readonly Sum[], features: number): Float64Array {
  const flat = new Float64Array(sums.length * features);
  sums.forEach(({ indices, values }, s) => {
    if (!indices) flat.set(values, s * features);
    else for (let e = 0; e < indices.length; e++) flat[s * features + indices[e]] = values[e];
  });
  return flat;
}

/** The sums that `flatSums` laid down. */
export function unflatSums(flat: Float64Array, features: number): Sum[] {
  return Array.from({ length: flat.length / features }, (_, s) => ({
    values: flat.subarray(s * features, (s + 1) * features),
  }));
}
