/**
 * Confusion: how hard two features are to distinguish, c = integral of f g / (f + g) over their distributions f and g,
 * from 0 (never mistaken) to 1/2 (alike); 1 - c is their discriminability d. The gaps between neighbouring features, and
 * from the gaps the distribution D (the paper's equations 1 to 3). Sampling and the order of the features are
 * `distribution.ts`'s, the densities `density.ts`'s.
 */

import { exactKernelSum, type Histogram, type Kde, kernelSum } from "./density.ts";

/** Points of the grid on which two kernel densities are compared. */
const GRID_POINTS = 200;

/**
 * A feature whose bandwidth is below this share of the grid's spacing is so much narrower than the other that even the far
 * tails of its kernels, scaled up to a density, rival the other's density. It is summed exactly, which is cheap: at 1,000
 * rows its kernels, 178 + 2 x 38.6 bandwidths from end to end, touch one grid point at most.
 */
const NARROW = 1e-3;

/** Features between two looks at the signal. */
const FEATURES_PER_CHECK = 256;

/** Confusion of two histograms: the sum of p q / (p + q) over the values they share. */
export function histogramConfusion(f: Histogram, g: Histogram): number {
  let sum = 0;
  for (let i = 0, j = 0; i < f.values.length && j < g.values.length; ) {
    const apart = f.values[i] - g.values[j];
    if (apart < 0) i++;
    else if (apart > 0) j++;
    else {
      const p = f.counts[i++] / f.rows;
      const q = g.counts[j++] / g.rows;
      sum += (p * q) / (p + q);
    }
  }
  return sum;
}

/**
 * Confusion of two kernel densities: trapezoid rule on 200 points over their joint range. Deviation 7: two constants are alike
 * (1/2) or never mistaken (0); a constant is never mistaken for a feature that varies.
 */
export function kdeConfusion(f: Kde, g: Kde): number {
  if (f.bandwidth === 0 && g.bandwidth === 0) return f.low === g.low ? 0.5 : 0;
  if (f.bandwidth === 0 || g.bandwidth === 0) return 0;
  const low = Math.min(f.low, g.low);
  const spacing = (Math.max(f.high, g.high) - low) / (GRID_POINTS - 1);
  // A density is kernelSum / (rows bandwidth sqrt(2 pi)). With the bandwidths in units of the spacing, and both sums in
  // the numerator, no product overflows however narrow one of the features is.
  const widthF = (f.bandwidth / spacing) * f.rows;
  const widthG = (g.bandwidth / spacing) * g.rows;
  const sumOfF = f.bandwidth < NARROW * spacing ? exactKernelSum : kernelSum;
  const sumOfG = g.bandwidth < NARROW * spacing ? exactKernelSum : kernelSum;
  let sum = 0;
  for (let point = 0; point < GRID_POINTS; point++) {
    // Distances from each feature's own lowest value keep their digits when all values share a large offset.
    const sumF = sumOfF(f, low - f.low + point * spacing);
    if (sumF === 0) continue;
    const sumG = sumOfG(g, low - g.low + point * spacing);
    if (sumG === 0) continue;
    const share = (sumF * sumG) / (widthF * sumG + widthG * sumF);
    sum += point === 0 || point === GRID_POINTS - 1 ? share / 2 : share;
  }
  return sum / Math.sqrt(2 * Math.PI);
}

/**
 * The distribution D of features in ascending order: the running sum of the gaps from 1/2. A gap is the mean of three
 * views of the step from feature i to i + 1, and 0 where that is negative: how well the two are distinguished, how much
 * further the step leads away from the first feature, and how much nearer to the last.
 *
 * Deviations 3 and 4: the paper's equation 3 has the second view's sign reversed, and takes off no 1/2 from the first, so that two
 * features that are alike would still lie apart.
 */
export function cumulateGaps<Density>(
  features: number, // at least 1
  densityOf: (position: number) => Density, // density of the feature at a position of the order, from 0
  confusion: (f: Density, g: Density) => number,
  signal?: AbortSignal,
): Float64Array {
  const distribution = new Float64Array(features);
  const first = densityOf(0);
  const last = densityOf(features - 1);
  let density = first;
  let toFirst = confusion(first, first);
  let toLast = confusion(last, first);
  distribution[0] = 0.5;
  for (let position = 1; position < features; position++) {
    if (position % FEATURES_PER_CHECK === 0) signal?.throwIfAborted();
    const next = position === features - 1 ? last : densityOf(position);
    const nextToFirst = confusion(first, next);
    const nextToLast = confusion(last, next);
    const gap = (0.5 - confusion(density, next) + (toFirst - nextToFirst) + (nextToLast - toLast)) / 3;
    distribution[position] = distribution[position - 1] + Math.max(gap, 0);
    density = next;
    toFirst = nextToFirst;
    toLast = nextToLast;
  }
  return distribution;
}
