/**
 * How far an answer can be believed for a sample that may be like nothing in the training rows: by the rows most like it. Their classes are
 * compared with the answer, and what such agreement was worth on held-out rows is known; how near they are is compared with how near
 * training rows are to each other.
 */

import { type Label, type Matrix, toDense } from "@ranksim/core";

/** Rows most like the sample that are asked. */
const ASKED = 10;

/** Values of training rows that are looked through for each sample, at most, and rows by which trust is measured. */
const MOST_VALUES = 2_000_000;
const MEASURED = 300;

/** Only this share of training rows are as far from all others: whatever lies beyond is unlike anything seen. */
const FAR = 0.03;

/** What the rows most like a sample say of an answer. */
export interface Trust {
  /** 0..1: what the probabilities of the answer are worth. */
  readonly share: number;
  /** Whether no training row is as like it as training rows are to each other. */
  readonly isUnlike: boolean;
  /** Rows of the data set, the most alike first. */
  readonly nearest: readonly number[];
}

export class Doubt {
  readonly #rows: Uint32Array;
  readonly #labels: readonly Label[];
  readonly #values: Float32Array;
  readonly #features: number;
  /** How alike training rows are to the one most like them, ascending. */
  readonly #near: Float64Array;
  /** Of answers with which so many of the rows asked agreed: how many there were, and how many were right. */
  readonly #agreed = new Uint32Array(ASKED + 1);
  readonly #right = new Uint32Array(ASKED + 1);

  /** `rows`: those of the training set; `y`: labels of all rows. */
  constructor(x: Matrix, rows: Uint32Array, y: readonly Label[]) {
    const count = Math.min(rows.length, Math.floor(MOST_VALUES / x.features));
    this.#rows = Uint32Array.from({ length: count }, (_, j) => rows[Math.floor((j * rows.length) / count)]);
    this.#labels = Array.from(this.#rows, (row) => y[row]);
    this.#features = x.features;
    this.#values = new Float32Array(count * x.features);
    const { values } = toDense(x.gather(this.#rows));
    for (let r = 0; r < count; r++) {
      this.#values.set(normal(values.subarray(r * x.features, (r + 1) * x.features)), r * x.features);
    }
    const some = Math.min(count, MEASURED);
    this.#near = Float64Array.from({ length: some }, (_, j) => {
      const own = Math.floor((j * count) / some);
      const [, next] = this.#nearest(this.#row(own), 2);
      return next?.alike ?? 0;
    }).sort();
  }

  /** Takes in answers to rows that were held out of training, some of them where there are many. */
  learn(x: Matrix, answers: readonly Label[], truth: readonly Label[]): void {
    const some = Math.min(x.rows, MEASURED);
    const rows = Uint32Array.from({ length: some }, (_, j) => Math.floor((j * x.rows) / some));
    const { values } = toDense(x.gather(rows));
    rows.forEach((row, j) => {
      const found = this.#nearest(normal(values.subarray(j * this.#features, (j + 1) * this.#features)), ASKED);
      const agreed = found.filter(({ at }) => this.#labels[at] === answers[row]).length;
      this.#agreed[agreed]++;
      if (answers[row] === truth[row]) this.#right[agreed]++;
    });
  }

  /** What an answer is worth. */
  trust(values: ArrayLike<number>, answer: Label): Trust {
    const found = this.#nearest(normal(values), ASKED);
    const agreed = found.filter(({ at }) => this.#labels[at] === answer).length;
    const near = this.#near.filter((alike) => alike <= (found[0]?.alike ?? 0)).length;
    const far = Math.min(1, (near + 1) / (FAR * (this.#near.length + 1)));
    return {
      share: far * this.#worth(agreed),
      isUnlike: far < 1,
      nearest: found.map(({ at }) => this.#rows[at]),
    };
  }

  /** The share of right answers among those with about as much agreement; 1 where nothing was held out. */
  #worth(agreed: number): number {
    let [all, right] = [0, 0];
    for (let a = Math.max(0, agreed - 1); a <= Math.min(ASKED, agreed + 1); a++) {
      all += this.#agreed[a];
      right += this.#right[a];
    }
    // As many as agree stand for two answers more, so that few rows say little.
    return this.#agreed.some((count) => count > 0) ? (right + (2 * agreed) / ASKED) / (all + 2) : 1;
  }

  #row(at: number): Float32Array {
    return this.#values.subarray(at * this.#features, (at + 1) * this.#features);
  }

  /** The training rows most like a row, by correlation. */
  #nearest(row: Float32Array, count: number): { at: number; alike: number }[] {
    const found: { at: number; alike: number }[] = [];
    for (let at = 0; at < this.#rows.length; at++) {
      let alike = 0;
      const from = at * this.#features;
      for (let i = 0; i < row.length; i++) alike += row[i] * this.#values[from + i];
      if (found.length === count && alike <= found[count - 1].alike) continue;
      let place = found.length;
      while (place > 0 && found[place - 1].alike < alike) place--;
      found.splice(place, 0, { at, alike });
      if (found.length > count) found.pop();
    }
    return found;
  }
}

/** Without their mean, at length one: products of such rows are correlations. */
function normal(values: ArrayLike<number>): Float32Array {
  const row = Float32Array.from(values);
  const mean = row.reduce((sum, value) => sum + value, 0) / row.length;
  let squares = 0;
  for (let i = 0; i < row.length; i++) {
    row[i] -= mean;
    squares += row[i] * row[i];
  }
  return squares > 0 ? row.map((value) => value / Math.sqrt(squares)) : row;
}
