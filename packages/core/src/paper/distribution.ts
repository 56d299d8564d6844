/**
 * The distribution D that filters draw their weights from: none (ranks themselves), Savage scores, the caller's own, or the
 * confusion distribution of the data. This file checks the caller's, samples rows, puts the features in order and hands
 * their columns over; what a gap is, `confusion.ts` knows.
 */

import type { RowSource } from "../backends/contract.ts";
import { RanksimError } from "../errors.ts";
import type { Csr } from "../matrix/csr.ts";
import { type Matrix, toCsr } from "../matrix/matrix.ts";
import { areAllWhole, gatherMatrix, matrixFor } from "../matrix/source.ts";
import { drawWithoutReplacement, type RandomGenerator } from "../random.ts";
import { cumulateGaps, histogramConfusion, kdeConfusion } from "./confusion.ts";
import { type Column, histogramOf, kdeOf } from "./density.ts";

/** Ranks, Savage scores, the confusion distribution, or n non-decreasing numbers: given, or computed from the training rows. */
export type DistributionSpec = "rank" | "savage" | "confusion" | ArrayLike<number> | ((x: Matrix) => ArrayLike<number>);

/** How the confusion distribution is measured. */
interface ConfusionOptions {
  /** "auto": histogram when every number is whole, whatever its element type; otherwise kde. */
  readonly density: "auto" | "histogram" | "kde";
  /** The most rows that are looked at; more rows are sampled. At least 1. */
  readonly confusionRows: number;
}

/** With numbers of a distribution up to this size and of data up to 1e200, a response over 1e7 features stays finite. */
const LARGEST_MAGNITUDE = 1e100;

/**
 * The distribution of the training rows `x`, or undefined for ranks. Draws from the generator only for "confusion" with
 * more rows than `confusionRows`. Refuses (code "bad-params") a distribution that is not n finite non-decreasing numbers.
 */
export async function resolveDistribution(
  x: RowSource,
  spec: DistributionSpec,
  options: ConfusionOptions,
  generator: RandomGenerator,
  signal?: AbortSignal,
): Promise<Float64Array | undefined> {
  if (spec === "rank") return undefined;
  if (spec === "savage") return savageScores(x.features);
  if (spec === "confusion") return confusionDistribution(x, options, generator, signal);
  return checkedDistribution(typeof spec === "function" ? spec(matrixFor(x, "distribution")) : spec, x.features);
}

/**
 * Deviation 24: D[r] = 1/n + 1/(n-1) + ... + 1/(n-r+1), added in this order; the mean of the r-th smallest of n exponential
 * variables. Nearly flat for the low ranks and steep for the highest, as the weights of words should be.
 */
export function savageScores(features: number): Float64Array {
  const scores = new Float64Array(features);
  let sum = 0;
  for (let r = 0; r < features; r++) {
    sum += 1 / (features - r);
    scores[r] = sum;
  }
  return scores;
}

/** Copies a distribution of the caller's after checking it. */
function checkedDistribution(given: unknown, features: number): Float64Array {
  if (typeof given !== "object" || given === null || !("length" in given)) {
    throw new RanksimError(
      "bad-params",
      `distribution: expected "rank", "savage", "confusion", ${features} numbers or a function that returns them, found ${
        typeof given === "string" ? JSON.stringify(given.slice(0, 40)) : String(given)
      }`,
    );
  }
  const numbers = given as ArrayLike<unknown>;
  if (numbers.length !== features) {
    throw new RanksimError(
      "bad-params",
      `distribution: expected ${features} numbers, one for each feature, found ${numbers.length}`,
    );
  }
  const distribution = new Float64Array(features);
  for (let r = 0; r < features; r++) {
    const value = numbers[r];
    if (typeof value !== "number" || !(Math.abs(value) <= LARGEST_MAGNITUDE)) {
      throw new RanksimError(
        "bad-params",
        `distribution, position ${r}: expected a finite number of size at most ${LARGEST_MAGNITUDE}, found ${String(value)}`,
      );
    }
    if (r > 0 && value < distribution[r - 1]) {
      throw new RanksimError(
        "bad-params",
        `distribution, position ${r}: expected numbers that do not fall, found ${distribution[r - 1]} then ${value}`,
      );
    }
    distribution[r] = value;
  }
  return distribution;
}

async function confusionDistribution(
  x: RowSource,
  options: ConfusionOptions,
  generator: RandomGenerator,
  signal: AbortSignal | undefined,
): Promise<Float64Array> {
  signal?.throwIfAborted();
  // Deviations 5 and 6: rows drawn with the seed, and exact probabilities where numbers are whole.
  const histogram = options.density === "histogram" || (options.density === "auto" && (await areAllWhole(x)));
  const sample = toCsr(await gatherMatrix(x, sampledRows(x.rows, options.confusionRows, generator)));
  const columnAt = columnReader(sample);
  const order = ascendingFeatures(sample);
  return histogram
    ? cumulateGaps(x.features, (position) => histogramOf(columnAt(order[position])), histogramConfusion, signal)
    : cumulateGaps(x.features, (position) => kdeOf(columnAt(order[position])), kdeConfusion, signal);
}

/** At most `most` row numbers, ascending: all rows when there are not more, else a sample without replacement. */
function sampledRows(rows: number, most: number, generator: RandomGenerator): Uint32Array {
  if (rows <= most) return Uint32Array.from({ length: rows }, (_, row) => row);
  return drawWithoutReplacement(generator, most, rows).sort();
}

/**
 * Features by their mean over the sampled rows, equal means by lower feature. The sample decides the order too, not all
 * rows: gaps between neighbours make sense only if the order is that of the distributions they compare. Sums serve as
 * means, and run in row order, so they are the same for dense and sparse data.
 */
function ascendingFeatures(x: Csr): Uint32Array {
  const sums = new Float64Array(x.features);
  for (let e = x.offsets[0]; e < x.offsets[x.rows]; e++) sums[x.indices[e]] += x.values[e];
  return Uint32Array.from(sums.keys()).sort((a, b) => sums[a] - sums[b] || a - b);
}

/** Reads the column of a feature over the sampled rows, which are turned into compressed columns once. */
function columnReader(x: Csr): (feature: number) => Column {
  const { rows } = x;
  const offsets = new Uint32Array(x.features + 1);
  for (let e = x.offsets[0]; e < x.offsets[rows]; e++) if (x.values[e] !== 0) offsets[x.indices[e] + 1]++;
  for (let i = 0; i < x.features; i++) offsets[i + 1] += offsets[i];
  const values = new Float64Array(offsets[x.features]);
  const next = offsets.slice();
  for (let e = x.offsets[0]; e < x.offsets[rows]; e++) {
    if (x.values[e] !== 0) values[next[x.indices[e]]++] = x.values[e];
  }
  return (feature) => ({ rows, values: values.subarray(offsets[feature], offsets[feature + 1]) });
}
