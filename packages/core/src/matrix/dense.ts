/** Dense matrices: row-major typed arrays with their shape, checked once at construction. */

import { describeGiven, RanksimError } from "../errors.ts";
import { blocksOf, gatherRows } from "../kernels/rows.ts";
import type { DenseRows, RowSource, Rows } from "../kernels/shapes.ts";
import { badValue, firstBadValue, foundValues, narrowest, type Values, valuesOf } from "./values.ts";

/** A row-major matrix over a typed array. Made by `Dense.of` or `Dense.fromRows`; never changes shape. */
export class Dense implements DenseRows, RowSource {
  readonly form = "dense";
  readonly rows: number;
  readonly features: number;
  readonly values: Values;

  private constructor(values: Values, rows: number, features: number) {
    this.values = values;
    this.rows = rows;
    this.features = features;
  }

  /** Wraps `given` values without a copy. Refuses a wrong length, NaN and infinities (by row and column). */
  static of(given: Values, rows: number, features: number): Dense {
    const values = valuesOf(given);
    if (!values) {
      throw new RanksimError(
        "bad-matrix",
        `expected values as Uint8Array, Uint16Array, Int16Array, Float32Array or Float64Array, found ${foundValues(given)}`,
      );
    }
    checkShape(rows, features);
    if (values.length !== rows * features) {
      throw new RanksimError(
        "bad-matrix",
        `expected ${rows} rows x ${features} features = ${rows * features} values, found ${values.length}`,
      );
    }
    const bad = firstBadValue(values);
    if (bad >= 0) throw badValue(values[bad], Math.floor(bad / features), bad % features);
    return new Dense(values, rows, features);
  }

  /** Copies rows of numbers (arrays or typed arrays of one length) into the narrowest element type that is exact. */
  static fromRows(rows: readonly ArrayLike<number>[]): Dense {
    const features = rows.length === 0 ? 0 : rows[0].length;
    checkShape(rows.length, features);
    // A length cannot be trusted until there are numbers at both ends; memory is allocated afterwards.
    for (let r = 0; r < rows.length; r++) {
      if (rows[r].length === features && features > 0) {
        checkNumber(rows[r][0], r, 0);
        checkNumber(rows[r][features - 1], r, features - 1);
      }
    }
    const all = roomFor(rows.length, features);
    for (let r = 0; r < rows.length; r++) {
      const row = rows[r];
      if (row.length !== features) {
        throw new RanksimError("bad-matrix", `row ${r}: expected ${features} values as in row 0, found ${row.length}`);
      }
      for (let i = 0; i < features; i++) {
        checkNumber(row[i], r, i);
        all[r * features + i] = row[i];
      }
    }
    const bad = firstBadValue(all);
    if (bad >= 0) throw badValue(all[bad], Math.floor(bad / features), bad % features);
    return new Dense(narrowest(all), rows.length, features);
  }

  /** Rows `from` (included) to `to` (not included; the end if absent), as a view of the same memory. */
  slice(from: number, to: number = this.rows): Dense {
    const n = this.features;
    return new Dense(this.values.subarray(from * n, to * n) as Values, to - from, n);
  }

  /** The listed rows, copied: to the beginning of `room`, values of the same type, or to memory of their own. */
  gather(rows: ArrayLike<number>, room?: Values): Dense {
    return new Dense(gatherRows(this, rows, room).values, rows.length, this.features);
  }

  /** Values in all. */
  get entries(): number {
    return this.rows * this.features;
  }

  /** Bytes of a value. */
  get valueBytes(): number {
    return this.values.BYTES_PER_ELEMENT;
  }

  /** All rows in order, in blocks of about `bytes` bytes at most and one row at least, as views. */
  blocks(bytes: number): Iterable<Rows> {
    return blocksOf(this, bytes);
  }

  /** One row, as a view. */
  row(r: number): Values {
    return this.values.subarray(r * this.features, (r + 1) * this.features) as Values;
  }
}

/**
 * Features a matrix, a file or a model may have: 2²⁶, about 67 million. Products with ranks then stay exact for whole numbers
 * well beyond bytes (n(n+1) is 2⁵²), and positions of features fit 32 bits everywhere.
 */
export const MOST_FEATURES = 2 ** 26;

/** Refuses shapes that are not whole non-negative numbers, and rows too wide to rank. */
export function checkShape(rows: number, features: number): void {
  for (const [name, value] of [
    ["rows", rows],
    ["features", features],
  ] as const) {
    if (!Number.isSafeInteger(value) || value < 0) {
      throw new RanksimError("bad-matrix", `expected ${name} as a whole number from 0, found ${value}`);
    }
  }
  if (features > MOST_FEATURES) {
    throw new RanksimError(
      "bad-matrix",
      `expected at most ${MOST_FEATURES} features, found ${features}: hash them into fewer`,
    );
  }
}

function checkNumber(value: unknown, row: number, column: number): void {
  if (typeof value === "number") return;
  throw new RanksimError("bad-matrix", `row ${row}, column ${column}: expected a number, found ${describe(value)}`);
}

function roomFor(rows: number, features: number): Float64Array {
  try {
    return new Float64Array(rows * features);
  } catch (cause) {
    throw new RanksimError("bad-matrix", `expected rows that fit in memory, found ${rows} x ${features} numbers`, {
      cause,
    });
  }
}

function describe(value: unknown): string {
  if (typeof value === "bigint") return describeGiven(value);
  return typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : String(value);
}
