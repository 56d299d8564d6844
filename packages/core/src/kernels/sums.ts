/**
 * Sums of rows, which can be added to: by rows that come later, by the next process, by the next block of a file. A sum
 * runs over its rows in the order listed, in float64: exact for whole numbers, and for others the same bits as one sum over
 * all rows. Sums of sparse rows are never written out in full.
 */

import type { Rows, Sum, Values } from "./shapes.ts";

/** Adds vectors up, remembering which features were touched for as long as all of them are sparse. */
export class Adder {
  readonly #sum: Float64Array;
  readonly #touched: Uint8Array;
  #found: number[] = [];
  #full = false;

  constructor(features: number) {
    this.#sum = new Float64Array(features);
    this.#touched = new Uint8Array(features);
  }

  /** Starts from an earlier sum. */
  addSum({ indices, values }: Sum): void {
    if (indices) this.#addSparse(indices, values, 0, values.length, 1);
    else this.#addDense(values, 0, values.length, 1);
  }

  /** Adds row r, times `weight`. */
  addRow(x: Rows, r: number, weight = 1): void {
    if (x.form === "dense") this.#addDense(x.values, r * x.features, (r + 1) * x.features, weight);
    else this.#addSparse(x.indices, x.values, x.offsets[r], x.offsets[r + 1], weight);
  }

  /** Adds the listed rows in order, each times its weight if there are weights; dense ones four at a time, which takes half as long. */
  addRows(x: Rows, list: Uint32Array, weights?: Float64Array): void {
    let j = 0;
    if (x.form === "dense" && !weights) {
      this.#full ||= list.length > 0;
      const { values, features } = x;
      for (; j + 4 <= list.length; j += 4) addFour(this.#sum, values, list.subarray(j, j + 4), features);
    }
    for (; j < list.length; j++) this.addRow(x, list[j], weights ? weights[j] : 1);
  }

  /** The sum; the next one starts at zero. */
  take(): Sum {
    const indices = this.#full ? undefined : Uint32Array.from(this.#found).sort();
    const values = indices ? Float64Array.from(indices, (i) => this.#sum[i]) : this.#sum.slice();
    for (const i of this.#found) this.#touched[i] = this.#sum[i] = 0;
    if (this.#full) this.#sum.fill(0);
    this.#found = [];
    this.#full = false;
    return indices ? { indices, values } : { values };
  }

  #addDense(values: Values, from: number, to: number, weight: number): void {
    const sum = this.#sum;
    this.#full = true;
    for (let e = from; e < to; e++) sum[e - from] += weight * values[e];
  }

  #addSparse(indices: Uint32Array, values: Values, from: number, to: number, weight: number): void {
    for (let e = from; e < to; e++) {
      const i = indices[e];
      this.#sum[i] += weight * values[e];
      if (this.#touched[i]) continue;
      this.#touched[i] = 1;
      this.#found.push(i);
    }
  }
}

/** Adds four rows, one after the other. */
function addFour(sum: Float64Array, values: Values, list: Uint32Array, features: number): void {
  const [a, b, c, d] = [list[0] * features, list[1] * features, list[2] * features, list[3] * features];
  for (let i = 0; i < features; i++) {
    sum[i] = sum[i] + values[a + i] + values[b + i] + values[c + i] + values[d + i];
  }
}
