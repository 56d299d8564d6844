/**
 * How much rows are like the filters (deviation 35): the correlation of a row with the filter it is most like. A response x·w grows with
 * the values of a row, whatever their order; its part beyond what a row of equal values with the same sum would give, over the
 * spread of the row's values, does not. Filters of one bank have one sum and nearly one spread, so these are left out.
 */

import type { FilterBank } from "../../kernels/shapes.ts";
import { expandFilter } from "../../kernels/top.ts";
import type { Matrix } from "../../matrix/matrix.ts";

/** The mean of a filter's weights over its norm: what a row of ones would respond with, for each feature. */
export function meanWeight(bank: FilterBank): number {
  const weights = new Float64Array(bank.features);
  let sum = 0;
  for (let f = 0; f < bank.filters; f++) {
    expandFilter(bank, f, weights);
    let own = 0;
    for (const weight of weights) own += weight;
    sum += own / bank.norm[f] / bank.features;
  }
  return sum / bank.filters;
}

/** Writes the familiarity of each row over its strongest response, which is the mean over the banks of a committee; 0 for a row of equal values. */
export function familiarityOf(x: Matrix, strongest: Float64Array, mean: number): Float64Array {
  const n = x.features;
  return strongest.map((response, r) => {
    let sum = 0;
    let squares = 0;
    const values = x.form === "dense" ? x.row(r) : x.values.subarray(x.offsets[r], x.offsets[r + 1]);
    for (let i = 0; i < values.length; i++) {
      sum += values[i];
      squares += values[i] * values[i];
    }
    const spread = squares - (sum * sum) / n;
    return spread > 0 ? (response - mean * sum) / Math.sqrt(spread) : 0;
  });
}
