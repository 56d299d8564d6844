/**
 * The distribution D of a data set in three forms, features ascending by their mean and each form adding up to 1: the
 * confusion distribution as the estimators compute it, the means themselves, and ranks.
 */

import { type Matrix, RankSimilarityTransform, type Run } from "@ranksim/core";
import { type Places, trainRows } from "../../runner/data.ts";
import type { Measured } from "../../runner/results.ts";
import type { DistributionTask } from "../spec.ts";

/** Points that a curve is kept at. */
const CURVE_POINTS = 400;

/** Curves "position" (0..1), "confusion", "mean" and "rank". */
export async function measureDistributions(
  places: Places,
  task: DistributionTask,
  run: Run,
): Promise<Partial<Measured>> {
  const { x } = trainRows(places);
  // Two filters and one round: the transform is only asked for its distribution.
  const smallest = { filters: 2, iterations: 1, distribution: "confusion" } as const;
  const model = await new RankSimilarityTransform({ ...smallest, ...task.params }).fit(x, undefined, run);
  // D begins at 1/2, and a constant added to it changes no result; it is drawn from 0, as means and ranks are.
  const confusion = model.distribution?.map((value, _i, all) => value - all[0]) ?? new Float64Array(x.features);
  const means = sums(x).sort();
  const ranks = Float64Array.from({ length: x.features }, (_, i) => i + 1);
  const at = positions(x.features);
  return {
    curves: {
      position: at.map((i) => i / (x.features - 1)),
      confusion: shares(confusion, at),
      mean: shares(means, at),
      rank: shares(ranks, at),
    },
    facts: {
      features: x.features,
      toRanks: furthest(confusion, ranks),
      toMeans: furthest(confusion, means),
      ranksToMeans: furthest(ranks, means),
    },
  };
}

/** Largest difference of the cumulated shares of two distributions. */
function furthest(a: Float64Array, b: Float64Array): number {
  const [sumA, sumB] = [total(a), total(b)];
  let [cumulatedA, cumulatedB, largest] = [0, 0, 0];
  for (let i = 0; i < a.length; i++) {
    cumulatedA += a[i] / sumA;
    cumulatedB += b[i] / sumB;
    largest = Math.max(largest, Math.abs(cumulatedA - cumulatedB));
  }
  return largest;
}

function positions(features: number): number[] {
  const points = Math.min(features, CURVE_POINTS);
  return Array.from({ length: points }, (_, j) => Math.round((j * (features - 1)) / (points - 1)));
}

function shares(values: Float64Array, at: readonly number[]): number[] {
  const sum = total(values);
  return at.map((i) => (sum === 0 ? 0 : values[i] / sum));
}

function total(values: Float64Array): number {
  return values.reduce((a, b) => a + b, 0);
}

function sums(x: Matrix): Float64Array {
  const sum = new Float64Array(x.features);
  if (x.form === "dense") for (let e = 0; e < x.values.length; e++) sum[e % x.features] += x.values[e];
  else for (let e = 0; e < x.offsets[x.rows]; e++) sum[x.indices[e]] += x.values[e];
  return sum;
}
