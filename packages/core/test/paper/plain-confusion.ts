/** Section "confusion" of the method stated as plainly as can be, for comparison: direct sums, nothing shared with the sources. */

/** Sum of p q / (p + q) over the distinct values. */
export function plainHistogramConfusion(a: readonly number[], b: readonly number[]): number {
  let sum = 0;
  for (const value of new Set([...a, ...b])) {
    const p = a.filter((other) => other === value).length / a.length;
    const q = b.filter((other) => other === value).length / b.length;
    sum += (p * q) / (p + q);
  }
  return sum;
}

/** Scott's bandwidth. */
export function plainBandwidth(values: readonly number[]): number {
  const mean = values.reduce((sum, v) => sum + v, 0) / values.length;
  const variance = values.reduce((sum, v) => sum + (v - mean) ** 2, 0) / (values.length - 1);
  return Math.sqrt(variance) * values.length ** (-1 / 5);
}

/**
 * Gaussian kernel density at the 200 points low + k spacing. A shift of the axis changes nothing, so the axis begins at the
 * feature's lowest value: a narrow feature far from 0 keeps its digits.
 */
function plainDensity(values: readonly number[], low: number, spacing: number): number[] {
  const origin = Math.min(...values);
  const own = values.map((v) => v - origin);
  const h = plainBandwidth(own);
  return Array.from({ length: 200 }, (_, k) => {
    const t = low - origin + k * spacing;
    const sum = own.reduce((total, v) => total + Math.exp(-(((t - v) / h) ** 2) / 2), 0);
    return sum / (own.length * h * Math.sqrt(2 * Math.PI));
  });
}

/** Trapezoid rule over 200 points of the joint range. */
export function plainKdeConfusion(a: readonly number[], b: readonly number[]): number {
  const constantA = a.every((v) => v === a[0]);
  const constantB = b.every((v) => v === b[0]);
  if (constantA && constantB) return a[0] === b[0] ? 0.5 : 0;
  if (constantA || constantB) return 0;
  const low = Math.min(...a, ...b);
  const spacing = (Math.max(...a, ...b) - low) / 199;
  const f = plainDensity(a, low, spacing);
  const g = plainDensity(b, low, spacing);
  const shares = f.map((p, k) => (p + g[k] === 0 ? 0 : (p * g[k]) / (p + g[k])));
  return spacing * shares.reduce((sum, share, k) => sum + (k === 0 || k === 199 ? share / 2 : share), 0);
}

/** D of a matrix given as rows. */
export function plainDistribution(
  rows: readonly (readonly number[])[],
  confusion: (a: readonly number[], b: readonly number[]) => number,
): number[] {
  const columns = rows[0].map((_, i) => rows.map((row) => row[i]));
  const sum = (column: number[]) => column.reduce((total, v) => total + v, 0);
  columns.sort((a, b) => sum(a) - sum(b));
  const d = (i: number, j: number) => 1 - confusion(columns[i], columns[j]);
  const n = columns.length;
  const distribution = [0.5];
  for (let i = 0; i + 1 < n; i++) {
    const gap = (d(i, i + 1) - 0.5 + (d(0, i + 1) - d(0, i)) + (d(n - 1, i) - d(n - 1, i + 1))) / 3;
    distribution.push(distribution[i] + Math.max(gap, 0));
  }
  return distribution;
}
