/** The gate for rows that need not be in memory: what a user passes becomes a `RowSource` here, and the facts that the method needs are found. */

import { RanksimError } from "../errors.ts";
import { looksOf } from "../kernels/measure.ts";
import { listedRows } from "../kernels/rows.ts";
import type { RowSource, Rows } from "../kernels/shapes.ts";
import { Csr } from "./csr.ts";
import { checkShape, Dense } from "./dense.ts";
import { asMatrix, isMatrix, isWhole, type Matrix, type MatrixLike, toDense } from "./matrix.ts";
import { sameType, type Values } from "./values.ts";

/** What users may pass where rows are taken one after the other: numbers in memory, or a source that reads them. */
export type RowsLike = MatrixLike | RowSource;

/** Bytes that are looked at at a time. */
const LOOK_BYTES = 2 ** 24;

/** Whether `x` reads its rows. */
export function isSource(x: unknown): x is RowSource {
  if (typeof x !== "object" || x === null || isMatrix(x)) return false;
  return "blocks" in x && "gather" in x && typeof x.blocks === "function" && typeof x.gather === "function";
}

/** The gate of `fit`: at least one row and two features. */
export function trainingRows(x: RowsLike): RowSource {
  const rows = isSource(x) ? x : asMatrix(x);
  checkShape(rows.rows, rows.features);
  if (rows.rows === 0) throw new RanksimError("empty-input", "expected at least 1 row to train on, found none");
  if (rows.features < 2) {
    throw new RanksimError("bad-matrix", `expected at least 2 features to rank, found ${rows.features}`);
  }
  return rows;
}

/** The same of what works on single features: at least one row and one feature, not two to rank. */
export function fittingRows(x: RowsLike): RowSource {
  const rows = isSource(x) ? x : asMatrix(x);
  checkShape(rows.rows, rows.features);
  if (rows.rows > 0 && rows.features > 0) return rows;
  const found = `${rows.rows} x ${rows.features}`;
  throw new RanksimError("empty-input", `expected at least 1 row and 1 feature, found ${found}`);
}

/** The gate of `predict` and `transform`: rows as wide as the model; no rows is a valid question with no answers. */
export function matchingRows(x: RowsLike, features: number): RowSource {
  const rows = isSource(x) ? x : asMatrix(x);
  if (rows.features !== features && !(Array.isArray(x) && x.length === 0)) {
    throw new RanksimError("wrong-width", `the model has ${features} features, the data has ${rows.features}`);
  }
  return rows;
}

/** The rows as a matrix; those that have to be read are refused, with what asks for them. */
export function matrixFor(x: RowSource, what: string): Matrix {
  if (x instanceof Dense || x instanceof Csr) return x;
  throw new RanksimError(
    "unsupported",
    `${what}: expected rows in memory, found a source that is read in blocks; it needs all rows at once: leave it out, or read the rows whole (raise --memory)`,
  );
}

/** The listed rows in that order, read if they are not in memory. */
export async function gatherMatrix(x: RowSource, rows: Uint32Array): Promise<Matrix> {
  return wrapRows(await x.gather(rows));
}

/** The listed rows as a source: of a matrix a matrix, of a source one that reads them when they are asked for. */
export function pickRows(x: RowSource, rows: Uint32Array): RowSource {
  return x instanceof Dense || x instanceof Csr ? x.gather(rows) : listedRows(x, rows);
}

/** Whether every number is whole, whatever the element type. Reads a source once if its element type does not tell. */
export async function areAllWhole(x: RowSource): Promise<boolean> {
  if (x instanceof Dense || x instanceof Csr) return isWhole(x);
  if (x.valueBytes < Float32Array.BYTES_PER_ELEMENT) return true;
  for await (const block of x.blocks(LOOK_BYTES)) if (!looksOf(block).whole) return false;
  return true;
}

/** How many values of each row are not zero. */
export async function rowLengths(x: RowSource): Promise<Uint32Array> {
  const lengths = new Uint32Array(x.rows);
  let first = 0;
  for await (const block of x.blocks(LOOK_BYTES)) {
    lengthsIn(block, lengths.subarray(first));
    first += block.rows;
  }
  return lengths;
}

// Loops over rows are functions of their own: an engine compiles all of an asynchronous one around them, more than once.
function lengthsIn(x: Rows, out: Uint32Array): void {
  for (let r = 0; r < x.rows; r++) {
    const [from, to] = placeOf(x, r);
    for (let e = from; e < to; e++) if (x.values[e] !== 0) out[r]++;
  }
}

/** 1 for each row that is all zero. */
export async function zeroRows(x: RowSource): Promise<Uint8Array> {
  const zero = new Uint8Array(x.rows);
  let first = 0;
  for await (const block of x.blocks(LOOK_BYTES)) {
    zeroIn(block, zero.subarray(first));
    first += block.rows;
  }
  return zero;
}

function zeroIn(x: Rows, out: Uint8Array): void {
  const { values, rows } = x;
  if (x.form === "dense") for (let r = 0; r < rows; r++) out[r] = isZero(values, r * x.features, (r + 1) * x.features);
  else for (let r = 0; r < rows; r++) out[r] = isZero(values, x.offsets[r], x.offsets[r + 1]);
}

/** 1 if all values are zero. Looks from the middle on: the rim of an image is often dark. */
function isZero(values: Rows["values"], from: number, to: number): number {
  const middle = from + ((to - from) >>> 1); // the sum of both may exceed 32 bits
  for (let e = middle; e < to; e++) if (values[e] !== 0) return 0;
  for (let e = from; e < middle; e++) if (values[e] !== 0) return 0;
  return 1;
}

/** Where the values of a row begin and end. */
const placeOf = (x: Rows, r: number): readonly [number, number] =>
  x.form === "dense" ? [r * x.features, (r + 1) * x.features] : [x.offsets[r], x.offsets[r + 1]];

/** Rows that passed a gate already, as a matrix of all values. */
export function denseOf(rows: Rows): Dense {
  return rows instanceof Dense ? rows : toDense(wrapRows(rows));
}

/** Blocks of dense rows as one matrix; a block that has all rows is it. Its values are of the type of `like`. */
export async function joinBlocks(
  blocks: AsyncIterable<Dense>,
  { rows, features, like }: { readonly rows: number; readonly features: number; readonly like: Values },
): Promise<Dense> {
  let values: Values | undefined;
  let first = 0;
  for await (const block of blocks) {
    if (block.rows === rows) values = block.values;
    values ??= sameType(like, rows * features);
    if (values !== block.values) values.set(block.values, first * features);
    first += block.rows;
  }
  return Dense.of(values ?? like, rows, features);
}

/** Rows that passed a gate already, as a matrix. */
function wrapRows(rows: Rows): Matrix {
  if (rows instanceof Dense || rows instanceof Csr) return rows;
  return rows.form === "dense"
    ? Dense.of(rows.values, rows.rows, rows.features)
    : Csr.of(rows.offsets, rows.indices, rows.values, rows.features);
}
