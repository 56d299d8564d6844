/** The sums that filters are the ranks of, as they are kept so that rows can be added to a trained filter later. */

import { numbersBelow } from "../kernels/rows.ts";
import type { CsrRows, DenseRows, Rows, Sum } from "../kernels/shapes.ts";
import { narrowestType, type Values } from "../matrix/values.ts";

/** Row f is the sum of the rows of filter f. */
export type Sums = Rows;

/** Sum f of `sums`, as a view. */
function sumAt(sums: Sums, f: number): Sum {
  if (sums.form === "dense") {
    const n = sums.features;
    return { values: sums.values.subarray(f * n, (f + 1) * n) as Values };
  }
  const [from, to] = [sums.offsets[f], sums.offsets[f + 1]];
  return { indices: sums.indices.subarray(from, to), values: sums.values.subarray(from, to) as Values };
}

/** All of `sums`, one by one. */
export function listSums(sums: Sums): Sum[] {
  return Array.from({ length: sums.rows }, (_, f) => sumAt(sums, f));
}

/**
 * The sums in their one stored form, a function of their values alone: the narrowest exact element type; sparse, zeros
 * left out, when that takes less than half the bytes.
 */
export function joinSums(sums: readonly Sum[], features: number): Sums {
  const Type = narrowestType(sums.map(({ values }) => values));
  const entries = sums.reduce((count, { values }) => count + countFilled(values), 0);
  return isSmall(entries, sums.length, features, Type.BYTES_PER_ELEMENT)
    ? joinSparse(sums, features, entries, new Type(entries))
    : joinDense(sums, features, new Type(sums.length * features));
}

/** The sums as rows of the given form, for what ranks them: of sparse ones every value that was added up, zeros too. */
export function rowsOfSums(sums: readonly Sum[], features: number, form: Rows["form"]): Rows {
  if (form === "dense") return joinDense(sums, features, new Float64Array(sums.length * features));
  const offsets = new Uint32Array(sums.length + 1);
  for (let f = 0; f < sums.length; f++) offsets[f + 1] = offsets[f] + sums[f].values.length;
  const indices = new Uint32Array(offsets[sums.length]);
  const values = new Float64Array(offsets[sums.length]);
  for (let f = 0; f < sums.length; f++) {
    indices.set(sums[f].indices ?? numbersBelow(features), offsets[f]);
    values.set(sums[f].values, offsets[f]);
  }
  return { form, rows: sums.length, features, offsets, indices, values };
}

/** Whether `sums` is as `joinSums` would make it. */
export function isStoredForm(sums: Sums): boolean {
  if (!(sums.values instanceof narrowestType([sums.values]))) return false;
  const entries = countFilled(sums.values);
  if (sums.form === "csr" && entries < sums.values.length) return false;
  return isSmall(entries, sums.rows, sums.features, sums.values.BYTES_PER_ELEMENT) === (sums.form === "csr");
}

function isSmall(entries: number, sums: number, features: number, size: number): boolean {
  return 2 * (entries * (4 + size) + 4 * (sums + 1)) < sums * features * size;
}

function countFilled(values: Values): number {
  let count = 0;
  for (let e = 0; e < values.length; e++) if (values[e] !== 0) count++;
  return count;
}

function joinDense(sums: readonly Sum[], features: number, values: Values): DenseRows {
  sums.forEach((sum, f) => {
    const { indices } = sum;
    if (!indices) values.set(sum.values, f * features);
    else for (let e = 0; e < indices.length; e++) values[f * features + indices[e]] = sum.values[e];
  });
  return { form: "dense", rows: sums.length, features, values };
}

function joinSparse(sums: readonly Sum[], features: number, entries: number, values: Values): CsrRows {
  const offsets = new Uint32Array(sums.length + 1);
  const indices = new Uint32Array(entries);
  let at = 0;
  sums.forEach((sum, f) => {
    for (let e = 0; e < sum.values.length; e++) {
      if (sum.values[e] === 0) continue;
      indices[at] = sum.indices ? sum.indices[e] : e;
      values[at++] = sum.values[e];
    }
    offsets[f + 1] = at;
  });
  return { form: "csr", rows: sums.length, features, offsets, indices, values };
}
