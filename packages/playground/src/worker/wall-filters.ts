/** The filters that are shown all at once, and their responses to a row at every stroke. */

import { expandFilter, type FilterBank, type Matrix, toCsr } from "@ranksim/core";

/** Weights that are kept for them, at most (80 MB). */
const MOST_WEIGHTS = 10_000_000;

export class WallFilters {
  readonly filters: Uint32Array;
  /** Divided by their norms; undefined where they would take too much room. */
  readonly #weights: Float64Array | undefined;

  /** At most `most` filters; each group gets its share of the places, at least one while there are places. */
  constructor(bank: FilterBank, groups: readonly Uint32Array[], most: number) {
    const share = (group: Uint32Array) =>
      bank.filters <= most ? group.length : Math.max(1, Math.floor((most * group.length) / bank.filters));
    const chosen = groups.flatMap((group) => Array.from(group.subarray(0, share(group))));
    this.filters = Uint32Array.from(chosen.slice(0, most));
    this.#weights = weightsOf(bank, this.filters);
  }

  /** The response of each filter to the one row of `x`. */
  responses(x: Matrix): Float64Array | undefined {
    const weights = this.#weights;
    if (!weights) return undefined;
    const { indices, values } = toCsr(x);
    return Float64Array.from(this.filters, (_, j) => {
      let sum = 0;
      for (let e = 0; e < indices.length; e++) sum += values[e] * weights[j * x.features + indices[e]];
      return sum;
    });
  }
}

function weightsOf(bank: FilterBank, filters: Uint32Array): Float64Array | undefined {
  if (filters.length * bank.features > MOST_WEIGHTS) return undefined;
  const weights = new Float64Array(filters.length * bank.features);
  filters.forEach((filter, j) => {
    const own = weights.subarray(j * bank.features, (j + 1) * bank.features);
    expandFilter(bank, filter, own);
    for (let i = 0; i < own.length; i++) own[i] /= bank.norm[filter];
  });
  return weights;
}
