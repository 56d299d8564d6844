/** The gate for data: whatever a user passes becomes a checked `Matrix` here, once. */

import { describeGiven, RanksimError } from "../errors.ts";
import { Csr } from "./csr.ts";
import { Dense } from "./dense.ts";
import { areWhole, sameType } from "./values.ts";

/** Data of the method: N rows of n features. */
export type Matrix = Dense | Csr;

/** What users may pass: a matrix, or rows as arrays of numbers or typed arrays. */
export type MatrixLike = Matrix | readonly ArrayLike<number>[];

/**
 * Whether `x` is a matrix, by its form and not by its class: it may have been made by another copy or version of the library,
 * and `asMatrix` then makes one of this copy of it.
 */
export function isMatrix(x: unknown): x is Matrix {
  if (typeof x !== "object" || x === null || !("form" in x) || !("values" in x)) return false;
  return (x.form === "dense" || x.form === "csr") && ArrayBuffer.isView(x.values);
}

/** Turns what a user passed into a matrix. */
export function asMatrix(x: MatrixLike): Matrix {
  if (x instanceof Dense || x instanceof Csr) return withMemory(x);
  if (isMatrix(x)) return wrapAgain(x);
  if (Array.isArray(x) && x.every((row) => typeof row === "object" && row !== null && "length" in row)) {
    return Dense.fromRows(x);
  }
  throw new RanksimError("bad-matrix", `expected a Dense or Csr matrix or an array of rows, found ${describeRows(x)}`);
}

/** What was passed in place of rows, with the cure where it is plain what was meant. */
function describeRows(x: unknown): string {
  const isList = Array.isArray(x) || (ArrayBuffer.isView(x) && !(x instanceof DataView));
  if (!isList || (x as ArrayLike<unknown>).length === 0) return describeGiven(x);
  const numbers = (x as ArrayLike<unknown>).length;
  const first = (x as ArrayLike<unknown>)[0];
  if (typeof first === "string") return `an array of ${numbers} texts; rows of this model are numbers`;
  if (typeof first !== "number") return `an array that begins with ${describeGiven(first)}; rows are arrays of numbers`;
  return `${numbers} numbers; for one row pass [row], for a flat list Dense.of(Float64Array.from(list), rows, features)`;
}

/** Refuses a matrix whose buffer was detached or resized since it was made: its numbers are gone, and nothing would notice. */
function withMemory(x: Matrix): Matrix {
  const lost = lostPart(x);
  if (!lost) return x;
  throw new RanksimError(
    "bad-matrix",
    `expected the matrix's ${lost.expected} numbers, found ${lost.found}: its buffer was detached or resized after the matrix was made`,
  );
}

/** Refuses rows whose buffer was detached or resized during a call: what was made of them may be wrong. */
export function refuseLost(x: unknown, cause?: unknown): void {
  const lost = isMatrix(x) ? lostPart(x) : undefined;
  if (!lost) return;
  throw new RanksimError(
    "bad-matrix",
    `expected rows that stay until the call ends, found ${lost.found} of ${lost.expected} numbers: their buffer was detached or resized during it; pass a copy`,
    { cause },
  );
}

/** An array of a matrix that no longer has the length it was checked with. */
function lostPart(x: Matrix): { readonly found: number; readonly expected: number } | undefined {
  const entries = x.form === "dense" ? x.rows * x.features : (x.offsets[x.rows] ?? 0);
  const parts =
    x.form === "dense"
      ? [[x.values.length, entries]]
      : [
          [x.offsets.length, x.rows + 1],
          [Math.min(x.indices.length, entries), entries],
          [Math.min(x.values.length, entries), entries],
        ];
  for (const [found, expected] of parts) if (found !== expected) return { found, expected };
  return undefined;
}

/** A matrix of another copy of the library as one of this copy, over the same memory and checked again. */
function wrapAgain(x: Matrix): Matrix {
  return x.form === "dense"
    ? Dense.of(x.values, x.rows, x.features)
    : Csr.of(x.offsets, x.indices, x.values, x.features);
}

/** The gate of `fit`: a matrix with at least one row and two features. */
export function trainingMatrix(x: MatrixLike): Matrix {
  const matrix = asMatrix(x);
  if (matrix.rows === 0) throw new RanksimError("empty-input", "expected at least 1 row to train on, found none");
  if (matrix.features < 2) {
    throw new RanksimError("bad-matrix", `expected at least 2 features to rank, found ${matrix.features}`);
  }
  return matrix;
}

/** The gate of `predict` and `transform`: a matrix as wide as the model; no rows is a valid question with no answers. */
export function matchingMatrix(x: MatrixLike, features: number): Matrix {
  const matrix = asMatrix(x);
  if (matrix.features !== features && !(Array.isArray(x) && x.length === 0)) {
    throw new RanksimError("wrong-width", `the model has ${features} features, the data has ${matrix.features}`);
  }
  return matrix;
}

/** The same numbers as a dense matrix. */
export function toDense(matrix: Matrix): Dense {
  const x = asMatrix(matrix);
  if (x.form === "dense") return x;
  const values = sameType(x.values, x.rows * x.features);
  for (let r = 0; r < x.rows; r++) {
    for (let e = x.offsets[r]; e < x.offsets[r + 1]; e++) values[r * x.features + x.indices[e]] = x.values[e];
  }
  return Dense.of(values, x.rows, x.features);
}

/** The same numbers as compressed sparse rows, zeros left out. */
export function toCsr(matrix: Matrix): Csr {
  const x = asMatrix(matrix);
  if (x.form === "csr") return x;
  const { rows, features, values } = x;
  const offsets = new Uint32Array(rows + 1);
  let entries = 0;
  for (let r = 0; r < rows; r++) {
    for (let i = 0; i < features; i++) if (values[r * features + i] !== 0) entries++;
    offsets[r + 1] = entries;
  }
  const indices = new Uint32Array(entries);
  const kept = sameType(values, entries);
  let e = 0;
  for (let r = 0; r < rows; r++) {
    for (let i = 0; i < features; i++) {
      const value = values[r * features + i];
      if (value === 0) continue;
      indices[e] = i;
      kept[e++] = value;
    }
  }
  return Csr.of(offsets, indices, kept, features);
}

/** Whether every number of the matrix is whole, whatever its element type. */
export function isWhole(x: Matrix): boolean {
  if (x.form === "dense") return areWhole(x.values);
  return areWhole(x.values.subarray(x.offsets[0], x.offsets[x.rows]) as typeof x.values);
}

/** Whether all values of row r are zero. */
export function isZeroRow(x: Matrix, r: number): boolean {
  const from = x.form === "dense" ? r * x.features : x.offsets[r];
  const to = x.form === "dense" ? from + x.features : x.offsets[r + 1];
  for (let e = from; e < to; e++) if (x.values[e] !== 0) return false;
  return true;
}
