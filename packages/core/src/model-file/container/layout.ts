/**
 * The bytes of a model file (FORMAT.md): the safetensors container with one layout for each set of arrays. Writer and
 * reader both lay arrays out by the rule here, and the reader accepts no other layout.
 */

import { RanksimError } from "../../errors.ts";
import type { SavedArray } from "../saved.ts";

/** The version this library writes and the only one it reads. */
export const VERSION = 1;

/** Longest header, in bytes; the limit of the safetensors library. */
export const LONGEST_HEADER = 100_000_000;

/** Names of arrays within one model: no dot, so that `0.filters` can only be an array of step 0. */
export const ARRAY_NAME = /^[a-z][a-z0-9_]*$/;

/** How the header of every version begins; the version follows. */
export const OPENING = '{"__metadata__":{"format":"ranksim","version":"';
const BEFORE_DIGEST = `${OPENING}${VERSION}","digest":"`;

/** What stands for the digest while it is computed. */
export const NO_DIGEST = "0".repeat(64);

/** Where the digest stands in a file, from its first byte to the byte after its last. */
export const DIGEST_AT = 8 + BEFORE_DIGEST.length;
export const DIGEST_END = DIGEST_AT + NO_DIGEST.length;

/** The digest that the bytes of a model file state. */
export const statedDigest = (bytes: Uint8Array): string =>
  new TextDecoder().decode(bytes.subarray(DIGEST_AT, DIGEST_END));

/** Types of elements by their safetensors names. */
export type ElementType = "F64" | "U32" | "F32" | "U16" | "I16" | "U8";

interface TypedArrayConstructor {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: ArrayBufferLike, byteOffset: number, length: number): SavedArray["values"];
}

/** The typed array for each type. */
export const ARRAY_OF: { readonly [type in ElementType]: TypedArrayConstructor } = {
  F64: Float64Array,
  U32: Uint32Array,
  F32: Float32Array,
  U16: Uint16Array,
  I16: Int16Array,
  U8: Uint8Array,
};

/** An array's place in the file; `begin` and `end` (not included) count from the first byte after the header. */
export interface Placed {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

/** Lays arrays out one after another: wide elements first, so that each is aligned, then by name. */
export function place(arrays: readonly Pick<Placed, "name" | "type" | "shape">[]): Placed[] {
  const width = (type: ElementType) => ARRAY_OF[type].BYTES_PER_ELEMENT;
  const order = arrays.toSorted((a, b) => width(b.type) - width(a.type) || (a.name < b.name ? -1 : 1));
  let end = 0;
  return order.map(({ name, type, shape }) => {
    const begin = end;
    end += countOf(shape) * width(type);
    return { name, type, shape, begin, end };
  });
}

/** The header, with the spaces that put the first array at a multiple of 8 bytes. */
export function headerText(model: string, placed: readonly Placed[], digest: string): string {
  const entries = placed.map(
    ({ name, type, shape, begin, end }) =>
      `,"${name}":{"dtype":"${type}","shape":[${shape}],"data_offsets":[${begin},${end}]}`,
  );
  const text = `${BEFORE_DIGEST}${digest}","model":${JSON.stringify(model)}}${entries.join("")}}`;
  const { length } = new TextEncoder().encode(text);
  return text + " ".repeat((8 - (length % 8)) % 8);
}

/** Number of elements, or NaN where an extent is not a whole number below 2^32. */
export function countOf(shape: readonly unknown[]): number {
  let count = 1;
  for (const extent of shape) {
    if (!Number.isInteger(extent) || (extent as number) < 0 || (extent as number) > 0xffff_ffff) return Number.NaN;
    count *= extent as number;
  }
  return count;
}

/** Refuses NaN and infinities by name and position. */
export function checkFinite(name: string, values: SavedArray["values"], code: "bad-file" | "unsupported"): void {
  if (!(values instanceof Float64Array || values instanceof Float32Array)) return;
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i])) {
      throw new RanksimError(code, `array ${name}, position ${i}: expected a finite number, found ${values[i]}`);
    }
  }
}
