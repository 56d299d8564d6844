/** The features that weigh most for a class, and against it. */

import type { LinearModel } from "@ranksim/core";

/** A feature and what it weighs. */
export interface Weighed {
  readonly feature: number;
  readonly weight: number;
}

/** The features that weigh most for a class of a linear model, by its number, the largest weight first; equal ones by lower feature. Weights of 0 are left out. */
export function strongestWeights(part: LinearModel, code: number, most: number): Weighed[] {
  const found: Weighed[] = [];
  // Texts have many features, of which few are wanted: those are not all sorted.
  for (let feature = 0; feature < part.features; feature++) {
    const weight = part.weightOf(code, feature);
    const isFull = found.length === most;
    if (weight === 0 || (isFull && Math.abs(weight) <= Math.abs(found[most - 1].weight))) continue;
    if (isFull) found.pop();
    const place = found.findIndex((one) => Math.abs(one.weight) < Math.abs(weight));
    found.splice(place < 0 ? found.length : place, 0, { feature, weight });
  }
  return found;
}
