/** One nearest neighbour, the method everyone knows, for small whole numbers: what the demo compares with. */

import type { Dense, Label } from "@ranksim/core";

/** The label of the training row nearest to each row (squared distance, the first of equals). */
export function nearestNeighbour(train: Dense, labels: readonly Label[], asked: Dense): Label[] {
  // One element type lets the engine compile the loop to whole numbers.
  const known = Int32Array.from(train.values);
  const values = Int32Array.from(asked.values);
  const found: Label[] = [];
  for (let r = 0; r < asked.rows; r++)
    found.push(labels[nearestRow(known, train.features, values, r * train.features)]);
  return found;
}

function nearestRow(known: Int32Array, features: number, values: Int32Array, at: number): number {
  let best = 0x7fffffff;
  let nearest = 0;
  for (let from = 0, row = 0; from < known.length; from += features, row++) {
    let distance = 0;
    // A row that is already further away than the nearest so far need not be looked at to its end.
    for (let i = 0; i < features && distance < best; i++) {
      const difference = (values[at + i] - known[from + i]) | 0;
      distance = (distance + Math.imul(difference, difference)) | 0;
    }
    if (distance < best) {
      best = distance;
      nearest = row;
    }
  }
  return nearest;
}
