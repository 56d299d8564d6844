/**
 * The confusion of features, as the paper's figure 1 shows it: how the values of features are distributed, how well pairs of
 * features are told apart, and what the gaps between neighbours add up to, against plain ranks.
 */

import { type Matrix, toDense } from "@ranksim/core";
import {
  type Column,
  columnOf,
  cumulateGaps,
  histogramConfusion,
  histogramOf,
  kdeConfusion,
  kdeOf,
  kernelSum,
} from "@ranksim/core/research";
import type { FeatureStudy } from "../protocol.ts";

/** Rows looked at: the default of the parameter `confusionRows`. */
const STUDY_ROWS = 1000;

/** Points at which a density is drawn. */
const GRID_POINTS = 96;

/** Cells of the sample, at most; wider data is studied on fewer rows. */
const MOST_CELLS = 20_000_000;

/** Studies `count` features spread evenly over the order of means. `whole`: whether all values are whole numbers. */
export function studyFeatures(x: Matrix, rows: ArrayLike<number>, count: number, whole: boolean): FeatureStudy {
  const most = Math.max(2, Math.min(STUDY_ROWS, Math.floor(MOST_CELLS / x.features)));
  const used = Math.min(rows.length, most);
  const picked = Uint32Array.from({ length: used }, (_, j) => rows[Math.floor((j * rows.length) / used)]);
  const { values } = toDense(x.gather(picked));
  const n = x.features;
  const column = (feature: number): Column =>
    columnOf(Float64Array.from({ length: used }, (_, r) => values[r * n + feature]));

  const sums = new Float64Array(n);
  for (let r = 0; r < used; r++) for (let i = 0; i < n; i++) sums[i] += values[r * n + i];
  const order = Uint32Array.from(sums.keys()).sort((a, b) => sums[a] - sums[b] || a - b);
  const shown = Math.min(count, n);
  const positions = Uint32Array.from({ length: shown }, (_, j) =>
    shown === 1 ? 0 : Math.round((j * (n - 1)) / (shown - 1)),
  );
  const features = positions.map((position) => order[position]);

  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const feature of features) {
    for (let r = 0; r < used; r++) {
      const value = values[r * n + feature];
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  // Whole numbers in a small range are drawn at each value, all else on an even grid.
  const exact = whole && high - low < GRID_POINTS;
  const points = exact ? high - low + 1 : GRID_POINTS;
  const grid = Float64Array.from({ length: points }, (_, g) =>
    points === 1 ? low : low + ((high - low) * g) / (points - 1),
  );
  const measure = whole ? byHistogram : byKde;
  const { densities, discriminability, cumulated } = measure(column, features, order, grid, exact);
  const end = cumulated[n - 1] - cumulated[0] || 1;
  return {
    rows: used,
    density: whole ? "histogram" : "kde",
    features,
    positions,
    means: Float64Array.from(features, (feature) => sums[feature] / used),
    grid,
    densities,
    discriminability,
    cumulated: cumulated.map((value) => (value - cumulated[0]) / end),
  };
}

interface Measured {
  readonly densities: Float32Array;
  readonly discriminability: Float64Array;
  readonly cumulated: Float64Array;
}

function byHistogram(
  column: (feature: number) => Column,
  features: Uint32Array,
  order: Uint32Array,
  grid: Float64Array,
  exact: boolean,
): Measured {
  const histograms = Array.from(features, (feature) => histogramOf(column(feature)));
  const width = grid.length > 1 && !exact ? grid[1] - grid[0] : 1;
  const curves = histograms.map(({ values, counts }) => {
    const curve = new Float64Array(grid.length);
    values.forEach((value, j) => {
      curve[Math.min(grid.length - 1, Math.round((value - grid[0]) / width))] += counts[j];
    });
    return curve;
  });
  return {
    densities: peakOne(curves),
    discriminability: pairwise(histograms, histogramConfusion),
    cumulated: cumulateGaps(order.length, (position) => histogramOf(column(order[position])), histogramConfusion),
  };
}

function byKde(
  column: (feature: number) => Column,
  features: Uint32Array,
  order: Uint32Array,
  grid: Float64Array,
): Measured {
  const kdes = Array.from(features, (feature) => kdeOf(column(feature)));
  const curves = kdes.map((kde) =>
    grid.map((value) => (kde.bandwidth === 0 ? (value === kde.low ? 1 : 0) : kernelSum(kde, value - kde.low))),
  );
  return {
    densities: peakOne(curves),
    discriminability: pairwise(kdes, kdeConfusion),
    cumulated: cumulateGaps(order.length, (position) => kdeOf(column(order[position])), kdeConfusion),
  };
}

function pairwise<Density>(densities: readonly Density[], confusion: (f: Density, g: Density) => number): Float64Array {
  const count = densities.length;
  const out = new Float64Array(count * count);
  for (let a = 0; a < count; a++) {
    for (let b = 0; b <= a; b++) {
      out[a * count + b] = 1 - confusion(densities[a], densities[b]);
      out[b * count + a] = out[a * count + b];
    }
  }
  return out;
}

/** Curves one after the other, each scaled so that its largest value is 1. */
function peakOne(curves: readonly Float64Array[]): Float32Array {
  const out = new Float32Array(curves.length * (curves[0]?.length ?? 0));
  curves.forEach((curve, j) => {
    const peak = Math.max(...curve) || 1;
    for (let g = 0; g < curve.length; g++) out[j * curve.length + g] = curve[g] / peak;
  });
  return out;
}
