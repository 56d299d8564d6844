/**
 * From similar filters to classes: the classifier's vote and probabilities (section 7 of the method) and the
 * probabilistic classifier's probabilities (the paper's algorithm 7, section 8).
 */

import type { Leaders } from "../backends/contract.ts";
import { indexOfLargest } from "../kernels/measure.ts";
import { expandShares, type LabelShares } from "./filter-labels.ts";
import type { Similar, Tied } from "./similarity.ts";

/** Deviation 10: class of the strongest filter; several at the maximum: the class with most of them, then the lowest. */
export function voteByStrongest(top: Leaders, tied: Tied, filterClass: Uint32Array, classes: number): Uint32Array {
  const votes = new Uint32Array(classes);
  return Uint32Array.from({ length: top.rows }, (_, r) => {
    const filters = tied.get(r);
    if (!filters) return filterClass[top.filter[r]];
    for (const f of filters) votes[filterClass[f]]++;
    let best = filterClass[filters[0]];
    for (const f of filters) {
      const c = filterClass[f];
      if (votes[c] > votes[best] || (votes[c] === votes[best] && c < best)) best = c;
    }
    for (const f of filters) votes[filterClass[f]] = 0;
    return best;
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
    const [from, to] = [similar.offsets[r], similar.offsets[r + 1]];
    if (from === to) return silent;
    for (let e = from; e < to; e++) {
      const c = filterClass[similar.filter[e]];
      sums[c] += similar.similarity[e];
      counts[c]++;
    }
    let best = filterClass[similar.filter[from]];
    for (let e = from + 1; e < to; e++) {
      const c = filterClass[similar.filter[e]];
      const lead = sums[c] - sums[best] || counts[c] - counts[best] || best - c;
      if (lead > 0) best = c;
    }
    for (let e = from; e < to; e++) {
      sums[filterClass[similar.filter[e]]] = 0;
      counts[filterClass[similar.filter[e]]] = 0;
    }
    return best;
  });
}

/**
 * Deviation 38: the class of the strongest filter where the largest probability decides and strongest responses make it. Several at the
 * maximum: the lowest of their classes.
 */
export function lowestOfStrongest(top: Leaders, tied: Tied, filterClass: Uint32Array): Uint32Array {
  return Uint32Array.from({ length: top.rows }, (_, r) => {
    const filters = tied.get(r);
    return filters
      ? filters.reduce((least, f) => Math.min(least, filterClass[f]), filterClass[filters[0]])
      : filterClass[top.filter[r]];
  });
}

/** Deviation 38: each class's share of the similarity of the similar filters, rows x classes. A row without response: uniform. */
export function voteShares(
  similar: Similar,
  filterClass: Uint32Array,
  classes: number,
  out: Float64Array, // out: rows x classes from `at`, all 0
  at: number,
): void {
  for (let r = 0; r + 1 < similar.offsets.length; r++) {
    const row = at + r * classes;
    for (let e = similar.offsets[r]; e < similar.offsets[r + 1]; e++) {
      out[row + filterClass[similar.filter[e]]] += similar.similarity[e];
    }
    normalize(out, row, classes);
  }
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
    let leading = 0;
    for (let e = similar.offsets[r]; e < similar.offsets[r + 1]; e++) {
      const c = filterClass[similar.filter[e]];
      if (similar.similarity[e] > out[row + c]) out[row + c] = similar.similarity[e];
      if (similar.similarity[e] === 1 && top[c]++ === 0) leading++;
    }
    for (let e = similar.offsets[r]; e < similar.offsets[r + 1]; e++) {
      const c = filterClass[similar.filter[e]];
      if (leading > 1) out[row + c] *= 1 + top[c];
      top[c] = 0;
    }
    normalize(out, row, classes);
  }
}

/** The probabilistic classifier's probabilities: per class the largest product of a filter's label share and similarity, L1-normalised; no response: uniform. */
export function labelProbabilities(
  similar: Similar,
  labels: LabelShares,
  out: Float64Array, // out: rows x classes from `at`, all 0
  at: number,
): void {
  const { classes, offsets, label, share, unknown, common } = labels;
  for (let r = 0; r + 1 < similar.offsets.length; r++) {
    const row = at + r * classes;
    for (let j = similar.offsets[r]; j < similar.offsets[r + 1]; j++) {
      const [f, similarity] = [similar.filter[j], similar.similarity[j]];
      if (unknown[f] === 1) {
        for (let c = 0; c < classes; c++) out[row + c] = Math.max(out[row + c], common[c] * similarity);
      } else {
        for (let e = offsets[f]; e < offsets[f + 1]; e++) {
          const product = share[e] * similarity;
          if (product > out[row + label[e]]) out[row + label[e]] = product;
        }
      }
    }
    normalize(out, row, classes);
  }
}

/**
 * The same for several outputs: shares are of a filter's rows that have the label, and `out` (rows x outputs) becomes the
 * probability that the label is present, against its absence.
 */
export function presenceProbabilities(
  similar: Similar,
  labels: LabelShares,
  out: Float64Array, // out: rows x outputs from `at`, all 0
  at: number,
): void {
  const { classes: outputs, offsets, label, unknown } = labels;
  const absent = new Float64Array(outputs);
  const present = new Float64Array(outputs);
  const shares = new Float64Array(outputs);
  const isListed = new Uint8Array(outputs);
  for (let r = 0; r + 1 < similar.offsets.length; r++) {
    const [from, to] = [similar.offsets[r], similar.offsets[r + 1]];
    const row = at + r * outputs;
    if (from === to) out.fill(0.5, row, row + outputs);
    // Labels that no similar filter has cannot be present: they stay at 0.
    const listed: number[] = [];
    const list = (o: number) => {
      if (isListed[o] === 0) listed.push(o);
      isListed[o] = 1;
    };
    for (let j = from; j < to; j++) {
      const f = similar.filter[j];
      if (unknown[f] === 1) for (let o = 0; o < outputs; o++) list(o);
      else for (let e = offsets[f]; e < offsets[f + 1]; e++) list(label[e]);
    }
    for (let j = from; j < to; j++) {
      const [f, similarity] = [similar.filter[j], similar.similarity[j]];
      expandShares(labels, f, shares);
      for (const o of listed) {
        const has = shares[o] * similarity;
        const lacks = (1 - shares[o]) * similarity;
        if (has > present[o]) present[o] = has;
        if (lacks > absent[o]) absent[o] = lacks;
        shares[o] = 0;
      }
    }
    for (const o of listed) {
      const sum = absent[o] + present[o];
      out[row + o] = sum === 0 ? 0.5 : present[o] / sum;
      absent[o] = 0;
      present[o] = 0;
      isListed[o] = 0;
    }
  }
}

/** What decides the class of a row: the filters, or the largest probability (deviation 38). */
export type Decision = "vote" | "probability";

/** How the label shares of similar filters become one. */
export type Combine = "max" | "mean";

/**
 * Deviation 28. The mean of the label shares of the similar filters, weighted by similarity, for classes and for several
 * labels alike. A row without response: the mean over all filters.
 */
export function meanShares(
  similar: Similar,
  labels: LabelShares,
  out: Float64Array, // out: rows x outputs from `at`, all 0
  at: number,
): void {
  const outputs = labels.classes;
  let silent: Float64Array | undefined;
  for (let r = 0; r + 1 < similar.offsets.length; r++) {
    const row = at + r * outputs;
    let weights = 0;
    for (let j = similar.offsets[r]; j < similar.offsets[r + 1]; j++) {
      weights += similar.similarity[j];
      addShares(labels, similar.filter[j], similar.similarity[j], out, row);
    }
    if (weights > 0) for (let o = 0; o < outputs; o++) out[row + o] /= weights;
    else {
      silent ??= meanOfAll(labels);
      out.set(silent, row);
    }
  }
}

function addShares(labels: LabelShares, f: number, factor: number, out: Float64Array, at: number): void {
  const { classes, offsets, label, share, unknown, common } = labels;
  if (unknown[f] === 1) for (let o = 0; o < classes; o++) out[at + o] += common[o] * factor;
  else for (let e = offsets[f]; e < offsets[f + 1]; e++) out[at + label[e]] += share[e] * factor;
}

function meanOfAll(labels: LabelShares): Float64Array {
  const means = new Float64Array(labels.classes);
  const filters = labels.unknown.length;
  for (let f = 0; f < filters; f++) addShares(labels, f, 1, means, 0);
  return means.map((sum) => sum / filters);
}

/** Deviation 18: what sums to nothing becomes uniform. */
function normalize(values: Float64Array, from: number, count: number): void {
  let sum = 0;
  for (let c = 0; c < count; c++) sum += values[from + c];
  for (let c = 0; c < count; c++) values[from + c] = sum === 0 ? 1 / count : values[from + c] / sum;
}
