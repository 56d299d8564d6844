/**
 * The update step: each group of rows becomes the filter that is the rank (or D) of the sum of its rows. Never a
 * division: the rank of a mean is the rank of the sum.
 *
 * **Order of summation.** Rows are added in the order the group lists them, feature by feature, in float64. Sums of
 * integers are exact; sums of floats therefore do not depend on threads.
 */

import { commonNorm, rankVector, weightsFor } from "./rank.ts";
import type { FilterBank, Groups, Rows, Sum, Weights } from "./shapes.ts";
import { Adder } from "./sums.ts";

/** The bank with one filter per group: dense for dense rows, base plus exceptions for sparse rows. */
export function rankSums(x: Rows, groups: Groups, distribution: Float64Array | undefined): FilterBank {
  const ranker = rankerFor(x.form, groups.offsets.length - 1, x.features, distribution);
  const adder = new Adder(x.features);
  for (let g = 0; g + 1 < groups.offsets.length; g++) {
    for (let e = groups.offsets[g]; e < groups.offsets[g + 1]; e++) {
      adder.addRow(x, groups.rows[e], groups.weight ? groups.weight[e] : 1);
    }
    ranker.add(adder.take());
  }
  return ranker.bank();
}

/** Ranks one sum after the other. */
interface Ranker {
  add(sum: Sum): void;
  /** The filters, once all have been added. */
  bank(): FilterBank;
}

/** A ranker of sums of rows of the given form. */
export function rankerFor(
  form: Rows["form"],
  filters: number,
  features: number,
  distribution: Float64Array | undefined,
): Ranker {
  return form === "dense"
    ? new DenseRanker(filters, features, distribution)
    : new SparseRanker(filters, features, distribution);
}

class DenseRanker implements Ranker {
  readonly #features: number;
  readonly #distribution: Float64Array | undefined;
  readonly #weights: Weights;
  readonly #norm: Float64Array;
  #next = 0;

  constructor(filters: number, features: number, distribution: Float64Array | undefined) {
    this.#features = features;
    this.#distribution = distribution;
    this.#weights = weightsFor(filters * features, features, distribution);
    this.#norm = new Float64Array(filters).fill(commonNorm(features, distribution));
  }

  add({ indices, values }: Sum): void {
    const all = indices ? new Float64Array(this.#features) : Float64Array.from(values);
    indices?.forEach((i, e) => {
      all[i] = values[e];
    });
    rankVector(all, this.#features, this.#distribution, this.#weights, this.#next++ * this.#features);
  }

  bank(): FilterBank {
    const [norm, weights, features] = [this.#norm, this.#weights, this.#features];
    return { form: "dense", filters: norm.length, features, weights, norm };
  }
}

class SparseRanker implements Ranker {
  readonly #features: number;
  readonly #distribution: Float64Array | undefined;
  readonly #base: Float64Array;
  readonly #offsets: Uint32Array;
  readonly #indices: Uint32Array[] = [];
  readonly #weights: Float64Array[] = [];

  constructor(filters: number, features: number, distribution: Float64Array | undefined) {
    this.#features = features;
    this.#distribution = distribution;
    this.#base = new Float64Array(filters);
    this.#offsets = new Uint32Array(filters + 1);
  }

  add(sum: Sum): void {
    const f = this.#indices.length;
    const indices = sum.indices ?? Uint32Array.from(sum.values.keys());
    const weights = new Float64Array(indices.length);
    this.#base[f] = rankVector(Float64Array.from(sum.values), this.#features, this.#distribution, weights);
    this.#offsets[f + 1] = this.#offsets[f] + indices.length;
    this.#indices.push(indices);
    this.#weights.push(weights);
  }

  bank(): FilterBank {
    const [base, offsets, features] = [this.#base, this.#offsets, this.#features];
    const filters = base.length;
    const indices = new Uint32Array(offsets[filters]);
    const weights = weightsFor(offsets[filters], features, this.#distribution);
    for (let f = 0; f < filters; f++) {
      indices.set(this.#indices[f], offsets[f]);
      weights.set(this.#weights[f], offsets[f]);
    }
    const norm = new Float64Array(filters).fill(commonNorm(features, this.#distribution));
    return { form: "sparse", filters, features, base, offsets, indices, weights, norm };
  }
}
