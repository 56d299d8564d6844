/**
 * The sums that filters are the ranks of, kept so that rows can be added to a trained filter later. A sum runs over the
 * filter's rows in the order they came, in float64: exact for whole numbers, and for others the same bits as one sum
 * over all rows. Sums of sparse rows are never written out in full.
 */

import type { CsrRows, DenseRows, Groups, Rows } from "../kernels/shapes.ts";
import { narrowest, narrowestType, type Values } from "../matrix/values.ts";

/** Row f is the sum of the rows of filter f. */
export type Sums = Rows;

/** One sum: n values, or those of the listed features (ascending), all others being 0. */
export interface Sum {
  readonly indices?: Uint32Array;
  readonly values: Values;
}

/** Sum f of `sums`, as a view. */
export function sumAt(sums: Sums, f: number): Sum {
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

/** The sum of each group's rows, each on top of what `before` gives for the group. */
export function sumGroups(
  x: Rows,
  groups: Groups,
  before: (group: number) => Sum | undefined = () => undefined,
): Sum[] {
  const adder = new Adder(x.features);
  return Array.from({ length: groups.offsets.length - 1 }, (_, g) => {
    const earlier = before(g);
    if (earlier) adder.add(earlier.indices, earlier.values);
    for (let e = groups.offsets[g]; e < groups.offsets[g + 1]; e++) {
      const r = groups.rows[e];
      if (x.form === "dense") adder.add(undefined, x.values, r * x.features, (r + 1) * x.features);
      else adder.add(x.indices, x.values, x.offsets[r], x.offsets[r + 1]);
    }
    return adder.take();
  });
}

/** Adds vectors up, remembering which features were touched for as long as all of them are sparse. */
class Adder {
  readonly #sum: Float64Array;
  readonly #touched: Uint8Array;
  #found: number[] = [];
  #full = false;

  constructor(n: number) {
    this.#sum = new Float64Array(n);
    this.#touched = new Uint8Array(n);
  }

  /** Adds the values `from` to `to`, of the features in `indices` at the same places, or of all features. */
  add(indices: Uint32Array | undefined, values: Values, from = 0, to = values.length): void {
    const sum = this.#sum;
    if (!indices) {
      this.#full = true;
      for (let e = from; e < to; e++) sum[e - from] += values[e];
      return;
    }
    for (let e = from; e < to; e++) {
      const i = indices[e];
      sum[i] += values[e];
      if (this.#touched[i]) continue;
      this.#touched[i] = 1;
      this.#found.push(i);
    }
  }

  /** The sum; the next one starts at zero. */
  take(): Sum {
    const indices = this.#full ? undefined : Uint32Array.from(this.#found).sort();
    const values = narrowest(indices ? Float64Array.from(indices, (i) => this.#sum[i]) : this.#sum.slice());
    for (const i of this.#found) this.#touched[i] = this.#sum[i] = 0;
    if (this.#full) this.#sum.fill(0);
    this.#found = [];
    this.#full = false;
    return indices ? { indices, values } : { values };
  }
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
