/**
 * From similar filters to classes: the classifier's vote and probabilities (section 7 of the method) and the
 * probabilistic classifier's probabilities (the paper's algorithm 7, section 8).
 */

import type { Leaders } from "../backends/backend.ts";
import type { Similar, Tied } from "./similarity.ts";

/** Deviation 10: class of the strongest filter; several at the maximum: the class with most of them, then the lowest. */
export function voteByStrongest(top: Leaders, tied: Tied, filterClass: Uint32Array, classes: number): Uint32Array {
  const votes = new Uint32Array(classes);
  return Uint32Array.from({ length: top.rows }, (_, r) => {
    const filters = tied.get(r);
    if (!filters) return filterClass[top.filter[r]];
    votes.fill(0);
    for (const f of filters) votes[filterClass[f]]++;
    return indexOfLargest(votes, 0, classes);
  });
}

/**
 * Deviation 25: similar filters vote, each for its class and with its similarity. Equal sums go to the class with most of
 * the voters, then to the lowest. Where nothing responds all filters vote alike, as in `voteByStrongest`.
 */
export function voteBySimilarity(similar: Similar, filterClass: Uint32Array, classes: number): Uint32Array {
  const all = new Uint32Array(classes);
  for (const c of filterClass) all[c]++;
  const silent = indexOfLargest(all, 0, classes);
  const sums = new Float64Array(classes);
  const counts = new Uint32Array(classes);
  return Uint32Array.from({ length: similar.offsets.length - 1 }, (_, r) => {
    if (similar.offsets[r] === similar.offsets[r + 1]) return silent;
    sums.fill(0);
    counts.fill(0);
    for (let e = similar.offsets[r]; e < similar.offsets[r + 1]; e++) {
      const c = filterClass[similar.filter[e]];
      sums[c] += similar.similarity[e];
      counts[c]++;
    }
    let best = 0;
    for (let c = 1; c < classes; c++) {
      if (sums[c] > sums[best] || (sums[c] === sums[best] && counts[c] > counts[best])) best = c;
    }
    return best;
  });
}

/**
 * The classifier's probabilities, rows x classes: per class the largest similarity; where classes tie at the top each is
 * multiplied by 1 + the number of its filters there; L1-normalised. A row without response: uniform.
 */
export function classProbabilities(
  similar: Similar,
  filterClass: Uint32Array,
  classes: number,
  out: Float64Array, // out: rows x classes from `at`
  at: number,
): void {
  const top = new Uint32Array(classes);
  for (let r = 0; r + 1 < similar.offsets.length; r++) {
    const row = at + r * classes;
    top.fill(0);
    for (let e = similar.offsets[r]; e < similar.offsets[r + 1]; e++) {
      const c = filterClass[similar.filter[e]];
      if (similar.similarity[e] > out[row + c]) out[row + c] = similar.similarity[e];
      if (similar.similarity[e] === 1) top[c]++;
    }
    if (top.filter((count) => count > 0).length > 1) for (let c = 0; c < classes; c++) out[row + c] *= 1 + top[c];
    normalize(out, row, classes);
  }
}

/**
 * The probabilistic classifier's probabilities: per class the largest product of a filter's label share and similarity,
 * L1-normalised; no response: uniform. `labels` is filters x classes.
 */
export function labelProbabilities(
  similar: Similar,
  labels: Float64Array,
  classes: number,
  out: Float64Array, // out: rows x classes from `at`
  at: number,
): void {
  for (let r = 0; r + 1 < similar.offsets.length; r++) {
    const row = at + r * classes;
    for (let e = similar.offsets[r]; e < similar.offsets[r + 1]; e++) {
      const share = similar.filter[e] * classes;
      for (let c = 0; c < classes; c++) {
        const product = labels[share + c] * similar.similarity[e];
        if (product > out[row + c]) out[row + c] = product;
      }
    }
    normalize(out, row, classes);
  }
}

/**
 * The same for several outputs: `labels` (filters x outputs) is the share of a filter's rows that have the label, and
 * `out` (rows x outputs) becomes the probability that the label is present, against its absence.
 */
export function presenceProbabilities(
  similar: Similar,
  labels: Float64Array,
  outputs: number,
  out: Float64Array,
  at: number,
): void {
  const absent = new Float64Array(outputs);
  const present = new Float64Array(outputs);
  for (let r = 0; r + 1 < similar.offsets.length; r++) {
    absent.fill(0);
    present.fill(0);
    for (let e = similar.offsets[r]; e < similar.offsets[r + 1]; e++) {
      const share = similar.filter[e] * outputs;
      const similarity = similar.similarity[e];
      for (let o = 0; o < outputs; o++) {
        const has = labels[share + o] * similarity;
        const lacks = (1 - labels[share + o]) * similarity;
        if (has > present[o]) present[o] = has;
        if (lacks > absent[o]) absent[o] = lacks;
      }
    }
    for (let o = 0; o < outputs; o++) {
      const sum = absent[o] + present[o];
      out[at + r * outputs + o] = sum === 0 ? 0.5 : present[o] / sum;
    }
  }
}

/** How the label shares of similar filters become one. */
export type Combine = "max" | "mean";

/**
 * Deviation 28. The mean of the label shares of the similar filters, weighted by similarity, for classes and for several
 * labels alike. A row without response: the mean over all filters.
 */
export function meanShares(
  similar: Similar,
  labels: Float64Array, // filters x outputs
  outputs: number,
  out: Float64Array, // out: rows x outputs from `at`
  at: number,
): void {
  let silent: Float64Array | undefined;
  for (let r = 0; r + 1 < similar.offsets.length; r++) {
    const row = at + r * outputs;
    let weights = 0;
    for (let e = similar.offsets[r]; e < similar.offsets[r + 1]; e++) {
      const share = similar.filter[e] * outputs;
      const similarity = similar.similarity[e];
      weights += similarity;
      for (let o = 0; o < outputs; o++) out[row + o] += labels[share + o] * similarity;
    }
    if (weights > 0) for (let o = 0; o < outputs; o++) out[row + o] /= weights;
    else {
      silent ??= columnMeans(labels, outputs);
      out.set(silent, row);
    }
  }
}

function columnMeans(values: Float64Array, width: number): Float64Array {
  const means = new Float64Array(width);
  for (let e = 0; e < values.length; e++) means[e % width] += values[e];
  return means.map((sum) => sum / (values.length / width));
}

/** The first position of the largest value in `values[from .. from + count)`, counted from `from`. */
export function indexOfLargest(values: ArrayLike<number>, from: number, count: number): number {
  let best = 0;
  for (let c = 1; c < count; c++) if (values[from + c] > values[from + best]) best = c;
  return best;
}

/** Deviation 18: what sums to nothing becomes uniform. */
function normalize(values: Float64Array, from: number, count: number): void {
  let sum = 0;
  for (let c = 0; c < count; c++) sum += values[from + c];
  for (let c = 0; c < count; c++) values[from + c] = sum === 0 ? 1 / count : values[from + c] / sum;
}
