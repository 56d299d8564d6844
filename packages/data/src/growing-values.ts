/**
 * Numbers of unknown count, kept in the narrowest element type that holds all of them exactly: bytes until something
 * larger comes, and so on up to float64. The result is the type `core` would choose for the same numbers, and memory
 * stays near that of the result while a long file streams in.
 */

import type { Values } from "@ranksim/core";
import type { Account } from "./budget.ts";

type Level = 0 | 1 | 2 | 3 | 4;

const TYPES = [Uint8Array, Uint16Array, Int16Array, Float32Array, Float64Array] as const;
const LOWEST = [0, 0, -0x8000];
const HIGHEST = [0xff, 0xffff, 0x7fff];

/** A list of numbers that widens as it must. */
export class GrowingValues {
  length = 0;
  readonly #account: Account | undefined;
  #values: Values = new Uint8Array(1024);
  #level: Level = 0;
  #largest = 0;
  /** Room for numbers that are added together. */
  #taken = new Float64Array(0);

  constructor(account?: Account) {
    this.#account = account;
  }

  push(value: number): void {
    if (!this.#fits(value)) this.#widen(value);
    if (this.length === this.#values.length) this.#grow(this.length * 2);
    if (value > this.#largest) this.#largest = value;
    // Adding 0 makes 0 of -0: whether its sign would last depends on when the list became one of floats.
    this.#values[this.length++] = value + 0;
  }

  /** Adds those of `numbers` that `places` name, as `push` does one after the other; false, and none is added, where one is NaN. */
  pushAll(numbers: Float64Array, places: readonly number[]): boolean {
    const count = places.length;
    const isFitting = this.#takeFitting(numbers, places);
    if (!isFitting) {
      for (let j = 0; j < count; j++) if (Number.isNaN(numbers[places[j]])) return false;
      for (let j = 0; j < count; j++) this.push(numbers[places[j]]);
      return true;
    }
    const length = this.length + count;
    if (length > this.#values.length) this.#grow(Math.max(length, this.length * 2));
    this.#values.set(this.#taken, this.length);
    this.length = length;
    return true;
  }

  /** Whether no number needs a wider type; then they are in `#taken`. */
  #takeFitting(numbers: Float64Array, places: readonly number[]): boolean {
    if (this.#taken.length !== places.length) this.#taken = new Float64Array(places.length);
    const taken = this.#taken;
    const level = this.#level;
    const low = level < 3 ? LOWEST[level] : Number.NEGATIVE_INFINITY;
    const high = level < 3 ? HIGHEST[level] : Number.POSITIVE_INFINITY;
    let largest = this.#largest;
    for (let j = 0; j < taken.length; j++) {
      const value = numbers[places[j]] + 0;
      if (!(value >= low && value <= high)) return false;
      if (level < 3 ? (value | 0) !== value : level === 3 && Math.fround(value) !== value) return false;
      if (value > largest) largest = value;
      taken[j] = value;
    }
    this.#largest = largest;
    return true;
  }

  get(position: number): number {
    return this.#values[position];
  }

  /** Puts a number of the list in another place of it. */
  set(position: number, value: number): void {
    this.#values[position] = value;
  }

  /** The numbers, in an array of just their count. */
  finish(): Values {
    this.#account?.take(this.length * this.#values.BYTES_PER_ELEMENT);
    return this.#values.slice(0, this.length) as Values;
  }

  #fits(value: number): boolean {
    if (this.#level < 3) {
      return value >= LOWEST[this.#level] && value <= HIGHEST[this.#level] && Number.isInteger(value);
    }
    return this.#level === 4 || Math.fround(value) === value;
  }

  #widen(value: number): void {
    this.#level = levelFor(value, this.#level, this.#largest);
    this.#grow(this.#values.length);
  }

  #grow(capacity: number): void {
    this.#account?.take(capacity * TYPES[this.#level].BYTES_PER_ELEMENT);
    const larger = new TYPES[this.#level](capacity);
    larger.set(this.#values.subarray(0, this.length));
    this.#account?.give(this.#values.byteLength);
    this.#values = larger;
  }
}

/** The narrowest level that holds `value` and what the current level holds already. */
function levelFor(value: number, level: Level, largest: number): Level {
  if (!Number.isInteger(value) || level >= 3) return Math.fround(value) === value ? 3 : 4;
  const low = level === 2 ? -1 : Math.min(value, 0);
  const high = Math.max(largest, value);
  if (low >= 0) return high <= 0xffff ? 1 : Math.fround(value) === value ? 3 : 4;
  if (value >= -0x8000 && high <= 0x7fff) return 2;
  return Math.fround(value) === value ? 3 : 4;
}

/** Feature numbers of unknown count. */
export class GrowingIndices {
  length = 0;
  readonly #account: Account | undefined;
  #values = new Uint32Array(1024);

  constructor(account?: Account) {
    this.#account = account;
  }

  push(value: number): void {
    if (this.length === this.#values.length) {
      this.#account?.take(this.length * 8);
      const larger = new Uint32Array(this.length * 2);
      larger.set(this.#values);
      this.#account?.give(this.length * 4);
      this.#values = larger;
    }
    this.#values[this.length++] = value;
  }

  get(position: number): number {
    return this.#values[position];
  }

  set(position: number, value: number): void {
    this.#values[position] = value;
  }

  finish(): Uint32Array {
    this.#account?.take(this.length * 4);
    return this.#values.slice(0, this.length);
  }
}

/** Numbers of any typed array in the narrowest element type that is exact; the array itself where it has that type. A copy is asked for. */
export function narrowed(numbers: Values | Int8Array | Int32Array | Uint32Array, account?: Account): Values {
  let low = 0;
  let high = 0;
  let whole = true;
  let single = true;
  for (let i = 0; i < numbers.length; i++) {
    const v = numbers[i];
    if (v < low) low = v;
    if (v > high) high = v;
    if (whole && !Number.isInteger(v)) whole = false;
    if (single && Math.fround(v) !== v) single = false;
  }
  const level: Level = !whole
    ? single
      ? 3
      : 4
    : low >= 0 && high <= 0xff
      ? 0
      : low >= 0 && high <= 0xffff
        ? 1
        : low >= -0x8000 && high <= 0x7fff
          ? 2
          : single
            ? 3
            : 4;
  const Type = TYPES[level];
  if (numbers instanceof Type) return numbers;
  account?.take(Type.BYTES_PER_ELEMENT * numbers.length);
  return Type.from(numbers as ArrayLike<number>);
}
