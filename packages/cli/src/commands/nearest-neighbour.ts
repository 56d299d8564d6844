/** One nearest neighbour, the method everyone knows, as plain loops: what the demo compares with. */

import type { Dense, Label } from "@ranksim/core";

/** The label of the training row nearest to each row (squared distance, the first of equals). */
export function nearestNeighbour(train: Dense, labels: readonly Label[], asked: Dense): Label[] {
  const n = train.features;
  const known = train.values;
  const values = asked.values;
  return Array.from({ length: asked.rows }, (_, r) => {
    let best = Number.POSITIVE_INFINITY;
    let nearest = 0;
    for (let t = 0; t < train.rows; t++) {
      let distance = 0;
      for (let i = 0; i < n; i++) {
        const difference = values[r * n + i] - known[t * n + i];
        distance += difference * difference;
      }
      if (distance < best) {
        best = distance;
        nearest = t;
      }
    }
    return labels[nearest];
  });
}
