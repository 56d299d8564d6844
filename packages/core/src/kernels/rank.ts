/**
 * Ranks of a vector: average-tie ranks kept doubled, so that they are integers in 2..2n and sum to n(n+1); or values
 * drawn from a distribution D, where a tie group gets the mean of D over the ranks it spans.
 */

import type { Weights } from "./shapes.ts";

/** Doubled ranks fit 16 bits up to this many features (2n <= 65,535). */
const MOST_FEATURES_16_BIT = 32_767;

/** Room for `count` weights of filters with n features. */
export function weightsFor(count: number, n: number, distribution: Float64Array | undefined): Weights {
  if (distribution) return new Float64Array(count);
  return n <= MOST_FEATURES_16_BIT ? new Uint16Array(count) : new Uint32Array(count);
}

/** The L1 norm all filters of n features share: n(n+1) for doubled ranks, the sum of |D| otherwise (1 if that is 0). */
export function commonNorm(n: number, distribution: Float64Array | undefined): number {
  if (!distribution) return n * (n + 1);
  let sum = 0;
  for (const value of distribution) sum += Math.abs(value);
  return sum === 0 ? 1 : sum;
}

/** Deviation 2: the weight of a tie group that spans the ranks `first + 1` to `last` (counted from 1). */
export function tieWeight(first: number, last: number, distribution: Float64Array | undefined): number {
  if (!distribution) return first + 1 + last; // twice the mean of first+1 .. last
  let sum = 0;
  for (let r = first; r < last; r++) sum += distribution[r];
  return sum / (last - first);
}

/**
 * Ranks a vector of n features. `values` belong to some of them, to all where the vector is dense; the others are 0. Returns the
 * weight of the zeros, 0 where there are none; the weights of the given values go to `out`.
 */
export function rankVector(
  values: Float64Array, // in: no NaN; zeros may occur
  n: number,
  distribution: Float64Array | undefined, // in: n values in ascending order, or absent for ranks
  out: Weights, // out: weight of each given value, from `at`
  at = 0,
): number {
  const given = values.length;
  const others = n - given;
  // Sorted without their positions, which takes a fraction of the time; each value then finds its tie by halving.
  const sorted = values.slice().sort();
  const weights = new Float64Array(given); // of the ties, in ascending order; `sorted` becomes their values
  let ties = 0;
  let negative = 0;
  let base: number | undefined;
  for (let first = 0; first < given; ties++) {
    let last = first + 1;
    while (last < given && sorted[last] === sorted[first]) last++;
    const value = sorted[first];
    const weight = tieWeight(value > 0 ? first + others : first, value < 0 ? last : last + others, distribution);
    if (value < 0) negative = last;
    if (value === 0) base = weight;
    sorted[ties] = value;
    weights[ties] = weight;
    first = last;
  }
  for (let j = 0; j < given; j++) {
    let [low, high] = [0, ties - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle] < values[j]) low = middle + 1;
      else high = middle;
    }
    out[at + j] = weights[low];
  }
  return base ?? (others > 0 ? tieWeight(negative, negative + others, distribution) : 0);
}
