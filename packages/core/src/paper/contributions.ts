/** What each feature of a row adds to a decision. */

import type { Matrix } from "../matrix/matrix.ts";
import { toCsr } from "../matrix/matrix.ts";

/** A feature's part in a decision. */
export interface Contribution {
  readonly feature: number;
  /** What the feature is called, where it has a name: a column, a word, "colour = red". */
  readonly name?: string;
  readonly value: number;
  /** value x what the feature weighs for the decision: positive supports it. Weights of filters are normalised, those of the rival taken off. */
  readonly contribution: number;
}

/** The parts of the features of one row that are not zero, the largest first. */
export function contributionsOf(row: Matrix, weigh: (feature: number) => number): Contribution[] {
  const { indices, values, offsets } = toCsr(row);
  const parts: Contribution[] = [];
  for (let e = offsets[0]; e < offsets[1]; e++) {
    const [feature, value] = [indices[e], values[e]];
    parts.push({ feature, value, contribution: value * weigh(feature) });
  }
  return byPart(parts);
}

/** Parts that are not zero, the largest first, equal ones by lower feature. */
export function byPart(parts: readonly Contribution[]): Contribution[] {
  return parts
    .filter(({ contribution }) => contribution !== 0)
    .sort((a, b) => Math.abs(b.contribution) - Math.abs(a.contribution) || a.feature - b.feature);
}
