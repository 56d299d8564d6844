/** Runs with different seeds as one point: their mean, with the range from the lowest to the highest. */

import type { LinePoint } from "./chart.ts";

/** Mean and sample standard deviation (n - 1) of some numbers. */
export interface Summary {
  readonly mean: number;
  readonly deviation: number;
  readonly count: number;
}

/** Mean and spread; undefined of nothing. */
export function summarize(values: readonly (number | undefined)[]): Summary | undefined {
  const known = values.filter((value) => value !== undefined);
  if (known.length === 0) return undefined;
  const mean = known.reduce((a, b) => a + b) / known.length;
  const squares = known.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return { mean, deviation: known.length > 1 ? Math.sqrt(squares / (known.length - 1)) : 0, count: known.length };
}

/** The point of a line at x; none where nothing was measured. */
export function pointOf(x: number, values: readonly (number | undefined)[]): LinePoint[] {
  const known = values.filter((value) => value !== undefined);
  const summary = summarize(known);
  if (!summary) return [];
  return [{ x, y: summary.mean, low: Math.min(...known), high: Math.max(...known) }];
}

/** "0.8612 ± 0.0031", or a dash. */
export function meanAndDeviation(summary: Summary | undefined, digits = 4): string {
  if (!summary) return "–";
  const mean = summary.mean.toFixed(digits);
  return summary.count > 1 ? `${mean} ± ${summary.deviation.toFixed(digits)}` : mean;
}

/** Seconds with three digits: "0.412 s", "13.2 s", "143 s". */
export function showSeconds(seconds: number | undefined): string {
  if (seconds === undefined) return "–";
  return `${seconds >= 100 ? seconds.toFixed(0) : seconds.toPrecision(3)} s`;
}
