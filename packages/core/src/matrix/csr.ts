/** Compressed sparse rows, checked once at construction. */

import { RanksimError } from "../errors.ts";
import { blocksOf, gatherRows } from "../kernels/rows.ts";
import type { CsrRows, RowSource, Rows } from "../kernels/shapes.ts";
import { checkShape } from "./dense.ts";
import { badValue, firstBadValue, foundValues, narrowest, ownArray, type Values, valuesOf } from "./values.ts";

/** A sparse matrix: per row the features that are not zero, ascending, and their values. Made by `Csr.of` or `Csr.fromRows`. */
export class Csr implements CsrRows, RowSource {
  readonly form = "csr";
  readonly rows: number;
  readonly features: number;
  readonly offsets: Uint32Array;
  readonly indices: Uint32Array;
  readonly values: Values;

  private constructor(offsets: Uint32Array, indices: Uint32Array, values: Values, features: number) {
    this.rows = offsets.length - 1;
    this.features = features;
    this.offsets = offsets;
    this.indices = indices;
    this.values = values;
  }

  /**
   * Wraps the three arrays without a copy. Refuses offsets that fall or point outside, features out of range, out of
   * order or repeated within a row, NaN and infinities.
   */
  static of(givenOffsets: Uint32Array, givenIndices: Uint32Array, givenValues: Values, features: number): Csr {
    const offsets = ownArray(givenOffsets, Uint32Array);
    const indices = ownArray(givenIndices, Uint32Array);
    const values = valuesOf(givenValues);
    if (!offsets || !indices || !values) {
      throw new RanksimError(
        "bad-matrix",
        `expected offsets and indices as Uint32Array and values as Uint8Array, Uint16Array, Int16Array, Float32Array or Float64Array, found ${foundValues(givenValues)}`,
      );
    }
    if (offsets.length === 0) throw new RanksimError("bad-matrix", "expected rows + 1 offsets, found none");
    const rows = offsets.length - 1;
    checkShape(rows, features);
    if (offsets[rows] > indices.length || indices.length !== values.length) {
      throw new RanksimError(
        "bad-matrix",
        `expected ${offsets[rows]} entries as the last offset says, found ${indices.length} indices and ${values.length} values`,
      );
    }
    for (let r = 0; r < rows; r++) {
      if (offsets[r + 1] < offsets[r]) {
        throw new RanksimError(
          "bad-matrix",
          `row ${r}: expected offsets that do not fall, found ${offsets[r]} then ${offsets[r + 1]}`,
        );
      }
      for (let e = offsets[r]; e < offsets[r + 1]; e++) {
        if (indices[e] >= features) {
          throw new RanksimError("bad-matrix", `row ${r}: expected features below ${features}, found ${indices[e]}`);
        }
        if (e > offsets[r] && indices[e] <= indices[e - 1]) {
          throw new RanksimError(
            "bad-matrix",
            `row ${r}: expected features in ascending order without repeats, found ${indices[e - 1]} then ${indices[e]}`,
          );
        }
      }
    }
    const bad = firstBadValue(values);
    if (bad >= 0) {
      let r = 0;
      while (r < rows - 1 && offsets[r + 1] <= bad) r++;
      throw badValue(values[bad], r, indices[bad]);
    }
    return new Csr(offsets, indices, values, features);
  }

  /** Builds a matrix from rows of [feature, value] pairs in any order; pairs of one feature are added up. */
  static fromRows(rows: readonly (readonly (readonly [feature: number, value: number])[])[], features: number): Csr {
    const offsets = new Uint32Array(rows.length + 1);
    const indices: number[] = [];
    const numbers: number[] = [];
    for (let r = 0; r < rows.length; r++) {
      const sums = new Map<number, number>();
      for (const [feature, value] of rows[r]) {
        if (!Number.isInteger(feature) || feature < 0 || feature >= features) {
          throw new RanksimError(
            "bad-matrix",
            `row ${r}: expected features from 0 below ${features}, found ${feature}`,
          );
        }
        if (typeof value !== "number" || !Number.isFinite(value)) throw badValue(value, r, feature);
        sums.set(feature, (sums.get(feature) ?? 0) + value);
      }
      for (const feature of [...sums.keys()].sort((a, b) => a - b)) {
        indices.push(feature);
        numbers.push(sums.get(feature) as number);
      }
      offsets[r + 1] = indices.length;
    }
    return Csr.of(offsets, Uint32Array.from(indices), narrowest(Float64Array.from(numbers)), features);
  }

  /** Number of stored entries. */
  get entries(): number {
    return this.offsets[this.rows] - this.offsets[0];
  }

  /** Rows `from` (included) to `to` (not included; the end if absent), as a view of the same memory. */
  slice(from: number, to: number = this.rows): Csr {
    return new Csr(this.offsets.subarray(from, to + 1), this.indices, this.values, this.features);
  }

  /** The listed rows, copied. */
  gather(rows: ArrayLike<number>): Csr {
    const { offsets, indices, values } = gatherRows(this, rows);
    return new Csr(offsets, indices, values, this.features);
  }

  /** Bytes of a value. */
  get valueBytes(): number {
    return this.values.BYTES_PER_ELEMENT;
  }

  /** All rows in order, in blocks of about `bytes` bytes at most and one row at least, as views. */
  blocks(bytes: number): Iterable<Rows> {
    return blocksOf(this, bytes);
  }
}
