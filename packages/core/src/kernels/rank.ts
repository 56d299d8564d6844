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

/** Ranks n values into `out[at .. at + n)`. */
export function rankDense(
  values: Float64Array, // in: n values, no NaN
  distribution: Float64Array | undefined, // in: n values in ascending order, or absent for ranks
  out: Weights, // out: n weights from `at`
  at: number,
): void {
  const n = values.length;
  // Sorted without their positions, which takes a fraction of the time; each value then finds its tie by halving.
  const sorted = values.slice().sort();
  const weights = new Float64Array(n); // of the ties, in ascending order; `sorted` becomes their values
  let ties = 0;
  for (let first = 0; first < n; ties++) {
    let last = first + 1;
    while (last < n && sorted[last] === sorted[first]) last++;
    sorted[ties] = sorted[first];
    weights[ties] = tieWeight(first, last, distribution);
    first = last;
  }
  for (let i = 0; i < n; i++) {
    let [low, high] = [0, ties - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle] < values[i]) low = middle + 1;
      else high = middle;
    }
    out[at + i] = weights[low];
  }
}

/**
 * Ranks a sparse vector of n features: `values[j]` belongs to some feature j of the caller's, all other features are 0.
 * Returns the weight of the zeros; the weights of the given values go to `out`.
 */
export function rankSparse(
  values: Float64Array, // in: the values of the features that some row touches; zeros may occur
  n: number,
  distribution: Float64Array | undefined,
  out: Float64Array, // out: weight of each given value
): number {
  const given = values.length;
  const order = Uint32Array.from(values.keys()).sort((a, b) => values[a] - values[b]);
  let negative = 0;
  while (negative < given && values[order[negative]] < 0) negative++;
  let notPositive = negative;
  while (notPositive < given && values[order[notPositive]] === 0) notPositive++;

  const untouched = n - given;
  const zerosEnd = notPositive + untouched; // ranks negative+1 .. zerosEnd are zeros
  const base = zerosEnd > negative ? tieWeight(negative, zerosEnd, distribution) : 0;
  for (let j = negative; j < notPositive; j++) out[order[j]] = base;
  for (let first = 0; first < given; ) {
    if (first === negative && notPositive > negative) {
      first = notPositive;
      continue;
    }
    let last = first + 1;
    while (last < given && values[order[last]] === values[order[first]]) last++;
    const shift = first >= notPositive ? untouched : 0;
    const weight = tieWeight(first + shift, last + shift, distribution);
    for (let j = first; j < last; j++) out[order[j]] = weight;
    first = last;
  }
  return base;
}
