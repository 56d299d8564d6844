/** Element types of matrices: which there are, which is the narrowest for given numbers, and the check for bad numbers. */

import { describeGiven, RanksimError } from "../errors.ts";
import type { Values } from "../kernels/shapes.ts";

export type { Values } from "../kernels/shapes.ts";

/**
 * Numbers beyond this size are refused: sums of rows and responses (at most value x 2n x n x N) then stay finite for any
 * data that fits in memory, so no infinity or NaN can arise later.
 */
const LARGEST_MAGNITUDE = 1e200;

/** A typed array of this realm: one of another, such as a frame or a test runner's, is seen through one of ours. */
export function ownArray<A extends Values | Uint32Array>(
  given: unknown,
  Type: new (buffer: ArrayBufferLike, byteOffset: number, length: number) => A,
): A | undefined {
  if (given instanceof Type) return given;
  if (Object.prototype.toString.call(given) !== `[object ${Type.name}]` || !ArrayBuffer.isView(given)) return undefined;
  return new Type(given.buffer, given.byteOffset, (given as A).length);
}

/** The values of a matrix, if they are of a type that it may have. */
export function valuesOf(given: unknown): Values | undefined {
  for (const Type of [Uint8Array, Uint16Array, Int16Array, Float32Array, Float64Array]) {
    const own = ownArray<Values>(given, Type);
    if (own) return own;
  }
  return undefined;
}

/** What was passed in place of values, with the cure for numbers of another type. */
export function foundValues(given: unknown): string {
  const isNumbers = Array.isArray(given) || (ArrayBuffer.isView(given) && !(given instanceof DataView));
  if (!isNumbers) return describeGiven(given);
  const isBig = given instanceof BigInt64Array || given instanceof BigUint64Array;
  return `${describeGiven(given)}; pass narrowest(Float64Array.from(values${isBig ? ", Number" : ""}))`;
}

/** Position of the first NaN, infinity or oversized number, or -1. Integer types cannot hold one. */
export function firstBadValue(values: Values): number {
  if (!(values instanceof Float32Array || values instanceof Float64Array)) return -1;
  for (let i = 0; i < values.length; i++) if (!(Math.abs(values[i]) <= LARGEST_MAGNITUDE)) return i;
  return -1;
}

/** The error for a value that no filter can rank. */
export function badValue(value: number, row: number, column: number): RanksimError {
  const found = Number.isFinite(value) ? `${value}, beyond ${LARGEST_MAGNITUDE}` : String(value);
  return new RanksimError("bad-matrix", `row ${row}, column ${column}: expected a finite number, found ${found}`);
}

/** An array of the narrowest type that holds all of `numbers` exactly. */
export function narrowest(numbers: Float64Array): Values {
  const Type = narrowestType([numbers]);
  return Type === Float64Array ? numbers : Type.from(numbers);
}

/** The element types of matrices. */
export type ValuesType =
  | Uint8ArrayConstructor
  | Uint16ArrayConstructor
  | Int16ArrayConstructor
  | Float32ArrayConstructor
  | Float64ArrayConstructor;

/** The narrowest element type that holds all numbers of all lists exactly. */
export function narrowestType(lists: Iterable<ArrayLike<number>>): ValuesType {
  const seen = new SeenNumbers();
  for (const numbers of lists) seen.add(numbers);
  return seen.type;
}

/** What is known of numbers that were looked at, list by list: the type that they need. */
export class SeenNumbers {
  #low = 0;
  #high = 0;
  #whole = true;
  #single = true;

  /** Looks at numbers, each times a factor. */
  add(numbers: ArrayLike<number>, factor = 1): void {
    let low = this.#low;
    let high = this.#high;
    let whole = this.#whole;
    let single = this.#single;
    for (let i = 0; i < numbers.length; i++) {
      const v = numbers[i] * factor;
      if (v < low) low = v;
      if (v > high) high = v;
      if (whole && !Number.isInteger(v)) whole = false;
      if (single && Math.fround(v) !== v) single = false;
    }
    this.#low = low;
    this.#high = high;
    this.#whole = whole;
    this.#single = single;
  }

  /** The narrowest element type that holds them exactly. */
  get type(): ValuesType {
    if (this.#whole && this.#low >= 0 && this.#high <= 0xff) return Uint8Array;
    if (this.#whole && this.#low >= 0 && this.#high <= 0xffff) return Uint16Array;
    if (this.#whole && this.#low >= -0x8000 && this.#high <= 0x7fff) return Int16Array;
    return this.#single ? Float32Array : Float64Array;
  }
}

/** Whether all numbers are whole; true for integer types without a look. */
export function areWhole(values: Values): boolean {
  if (!(values instanceof Float32Array || values instanceof Float64Array)) return true;
  return values.every(Number.isInteger);
}

/** A new array of the same element type. */
export function sameType(values: Values, length: number): Values {
  return new (values.constructor as new (length: number) => Values)(length);
}
