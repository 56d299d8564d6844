/** Some filters of a bank as a bank of their own, in either form; nothing is computed. */

import type { FilterBank } from "./shapes.ts";

/** The listed filters of `bank`, in that order. */
export function pickFilters(bank: FilterBank, list: Uint32Array): FilterBank {
  const n = bank.features;
  const norm = Float64Array.from(list, (f) => bank.norm[f]);
  const room = bank.weights.constructor as new (length: number) => typeof bank.weights;
  if (bank.form === "dense") {
    const weights = new room(list.length * n);
    list.forEach((f, j) => {
      weights.set(bank.weights.subarray(f * n, (f + 1) * n), j * n);
    });
    return { form: "dense", filters: list.length, features: n, weights, norm };
  }
  const base = Float64Array.from(list, (f) => bank.base[f]);
  const offsets = new Uint32Array(list.length + 1);
  list.forEach((f, j) => {
    offsets[j + 1] = offsets[j] + bank.offsets[f + 1] - bank.offsets[f];
  });
  const indices = new Uint32Array(offsets[list.length]);
  const weights = new room(indices.length);
  list.forEach((f, j) => {
    indices.set(bank.indices.subarray(bank.offsets[f], bank.offsets[f + 1]), offsets[j]);
    weights.set(bank.weights.subarray(bank.offsets[f], bank.offsets[f + 1]), offsets[j]);
  });
  return { form: "sparse", filters: list.length, features: n, base, offsets, indices, weights, norm };
}
