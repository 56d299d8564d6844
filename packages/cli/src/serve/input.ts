/** Rows of a request, in forms that can be joined into one search. */

import { Csr, Dense, type Matrix } from "@ranksim/core";
import { badRequest } from "./http-error.ts";

/** Rows that wait for a search. */
export type Rows =
  | { readonly form: "dense"; readonly rows: number; readonly values: ArrayLike<number>; readonly isBytes: boolean }
  | { readonly form: "sparse"; readonly rows: number; readonly x: Csr }
  | { readonly form: "text"; readonly rows: number; readonly texts: readonly string[] };

/** Beyond this a matrix refuses a number. */
const LARGEST = 1e200;

/** Lists of numbers as rows; a list that is too short, or holds something else, is refused with its place. */
export function denseRows(lists: readonly unknown[], features: number): Rows {
  // Before there is room for them: a model of many features must not make much of lists that are empty.
  for (const [r, row] of lists.entries()) {
    if (!Array.isArray(row)) throw badRequest(`row ${r}: expected a list of ${features} numbers, found ${kindOf(row)}`);
    if (row.length !== features) {
      throw badRequest(`row ${r}: the model has ${features} features, the row has ${row.length}`);
    }
  }
  // Most rows are bytes, which take an eighth of the room; the first number that is none starts again.
  const bytes = new Uint8Array(lists.length * features);
  if (fill(bytes, lists, features)) return { form: "dense", rows: lists.length, values: bytes, isBytes: true };
  const values = new Float64Array(lists.length * features);
  fill(values, lists, features);
  return { form: "dense", rows: lists.length, values, isBytes: false };
}

/** Writes the numbers down; false where they are no bytes and only bytes have room. */
function fill(values: Uint8Array | Float64Array, lists: readonly unknown[], features: number): boolean {
  const onlyBytes = values instanceof Uint8Array;
  for (let r = 0; r < lists.length; r++) {
    const row = lists[r] as readonly number[];
    const at = r * features;
    for (let i = 0; i < features; i++) {
      const value = row[i];
      if (onlyBytes && (value & 255) === value) values[at + i] = value;
      else if (typeof value !== "number" || !(value <= LARGEST && value >= -LARGEST)) {
        throw badRequest(`row ${r}, column ${i}: expected a number, found ${kindOf(value)}`);
      } else if (onlyBytes) return false;
      else values[at + i] = value;
    }
  }
  return true;
}

/** A matrix as rows. */
export function matrixRows(x: Matrix): Rows {
  if (x.form === "csr") return { form: "sparse", rows: x.rows, x };
  return { form: "dense", rows: x.rows, values: x.values, isBytes: x.values instanceof Uint8Array };
}

/** Texts as rows. */
export function textRows(texts: readonly unknown[]): Rows {
  const wrong = texts.findIndex((text) => typeof text !== "string");
  if (wrong >= 0) throw badRequest(`text ${wrong}: expected a string, found ${kindOf(texts[wrong])}`);
  return { form: "text", rows: texts.length, texts: texts as readonly string[] };
}

/** The memory that rows take. */
export function bytesOf(rows: Rows): number {
  if (rows.form === "text") return rows.texts.reduce((sum, text) => sum + 2 * text.length, 0);
  if (rows.form === "dense") return (rows.isBytes ? 1 : 8) * rows.values.length;
  const { offsets, indices, values } = rows.x;
  return offsets.byteLength + indices.byteLength + values.byteLength;
}

/** Rows `from` (included) to `to` (not included). */
export function sliceRows(rows: Rows, from: number, to: number): Rows {
  if (from === 0 && to === rows.rows) return rows;
  if (rows.form === "text") return textRows(rows.texts.slice(from, to));
  if (rows.form === "sparse") return { form: "sparse", rows: to - from, x: rows.x.slice(from, to) as Csr };
  const n = rows.values.length / rows.rows;
  const values = (rows.values as Float64Array).subarray(from * n, to * n);
  return { ...rows, rows: to - from, values };
}

/** Whether two requests can share a search. */
export const canJoin = (a: Rows, b: Rows): boolean => a.form === b.form;

/** Rows of one or several requests as what a model is asked with. */
export function joinRows(all: readonly Rows[], features: number): Matrix | readonly string[] {
  const [first] = all;
  if (first.form === "text") {
    return all.length === 1 ? first.texts : all.flatMap((rows) => (rows as typeof first).texts);
  }
  if (first.form === "sparse") return joinSparse(all.map((rows) => (rows as typeof first).x));
  if (all.length === 1 && first.values instanceof Uint8Array) return Dense.of(first.values, first.rows, features);
  const parts = all as readonly (typeof first)[];
  const count = parts.reduce((sum, { rows }) => sum + rows, 0);
  const isBytes = parts.every((part) => part.isBytes);
  const values = isBytes ? new Uint8Array(count * features) : new Float64Array(count * features);
  let at = 0;
  for (const part of parts) {
    values.set(part.values, at);
    at += part.values.length;
  }
  return Dense.of(values, count, features);
}

function joinSparse(parts: readonly Csr[]): Csr {
  if (parts.length === 1) return parts[0];
  const rows = parts.reduce((sum, part) => sum + part.rows, 0);
  const entries = parts.reduce((sum, { offsets, rows: own }) => sum + offsets[own] - offsets[0], 0);
  const isBytes = parts.every(({ values }) => values instanceof Uint8Array);
  const offsets = new Uint32Array(rows + 1);
  const indices = new Uint32Array(entries);
  const values = isBytes ? new Uint8Array(entries) : new Float64Array(entries);
  let row = 0;
  let at = 0;
  for (const part of parts) {
    const [from, to] = [part.offsets[0], part.offsets[part.rows]];
    indices.set(part.indices.subarray(from, to), at);
    values.set(part.values.subarray(from, to), at);
    for (let r = 1; r <= part.rows; r++) offsets[++row] = at + part.offsets[r] - from;
    at += to - from;
  }
  return Csr.of(offsets, indices, values, parts[0].features);
}

/** A word for what was found. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  return value === undefined ? "nothing" : "an object";
}
