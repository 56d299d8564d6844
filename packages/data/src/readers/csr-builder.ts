/** Collects entries row by row, in any order within a row, into compressed sparse rows. Zeros are left out. */

import { type Csr, MOST_FEATURES } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import type { Account } from "../budget.ts";
import { csrFrom } from "../data-set.ts";
import { GrowingIndices, GrowingValues } from "../growing-values.ts";

/** Entries of a table on their way to a sparse matrix. */
export class CsrBuilder {
  /** Largest feature that occurred, -1 before any; zeros count, so that a file's width does not depend on its values. */
  largest = -1;
  /** Smallest feature that occurred. */
  smallest = Number.POSITIVE_INFINITY;
  readonly #name: string;
  readonly #account: Account;
  #offsets!: GrowingIndices;
  #indices!: GrowingIndices;
  #values!: GrowingValues;
  #features: number[] = [];
  #numbers: number[] = [];
  #ascending = true;

  constructor(name: string, account: Account) {
    this.#name = name;
    this.#account = account;
    this.#clear();
  }

  #clear(): void {
    this.#offsets = new GrowingIndices(this.#account);
    this.#indices = new GrowingIndices(this.#account);
    this.#values = new GrowingValues(this.#account);
    this.#offsets.push(0);
  }

  get rows(): number {
    return this.#offsets.length - 1;
  }

  /** Adds an entry to the current row. */
  add(feature: number, value: number, where: string): void {
    if (!Number.isFinite(value)) throw badFile(this.#name, where, `expected a finite number, found ${value}`);
    if (feature > MOST_FEATURES) {
      throw badFile(this.#name, where, `expected at most ${MOST_FEATURES} features, found number ${feature}`);
    }
    if (this.#features.length > 0 && feature <= this.#features[this.#features.length - 1]) this.#ascending = false;
    this.#features.push(feature);
    this.#numbers.push(value);
    if (feature > this.largest) this.largest = feature;
    if (feature < this.smallest) this.smallest = feature;
  }

  /** Ends the current row; refuses a feature that came twice. */
  endRow(where: string): void {
    const features = this.#features;
    const order = this.#ascending ? undefined : features.map((_, e) => e).sort((a, b) => features[a] - features[b]);
    for (let j = 0; j < features.length; j++) {
      const e = order === undefined ? j : order[j];
      if (order !== undefined && j > 0 && features[e] === features[order[j - 1]]) {
        throw badFile(this.#name, where, `expected each feature once, found ${features[e]} twice`);
      }
      if (this.#numbers[e] === 0) continue;
      this.#indices.push(features[e]);
      this.#values.push(this.#numbers[e]);
    }
    this.#offsets.push(this.#indices.length);
    this.#features = [];
    this.#numbers = [];
    this.#ascending = true;
  }

  /** The rows so far, their features counted from `first`. */
  take(features: number, first = 0): Promise<Csr> {
    const [offsets, indices, values] = [this.#offsets.finish(), this.#indices.finish(), this.#values.finish()];
    this.#clear();
    if (first !== 0) for (let e = 0; e < indices.length; e++) indices[e] -= first;
    return csrFrom(this.#name, offsets, indices, values, features);
  }

  /** Leaves out the entries from feature `end` on, and counts the features and the entries that went. */
  cut(end: number): { readonly features: number; readonly entries: number } {
    const [offsets, indices, values] = [this.#offsets.finish(), this.#indices.finish(), this.#values.finish()];
    const gone = new Set<number>();
    let kept = 0;
    for (let r = 0; r < offsets.length - 1; r++) {
      for (let e = offsets[r]; e < offsets[r + 1]; e++) {
        if (indices[e] >= end) {
          gone.add(indices[e]);
          continue;
        }
        this.#indices.set(kept, indices[e]);
        this.#values.set(kept++, values[e]);
      }
      this.#offsets.set(r + 1, kept);
    }
    this.#indices.length = kept;
    this.#values.length = kept;
    return { features: gone.size, entries: indices.length - kept };
  }
}
