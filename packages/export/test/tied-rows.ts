/** Rows of few different values, so that responses tie often, some of them all zero; three classes of mixed names. */

import { Dense } from "@ranksim/core";

/** The same rows for the same seed. */
export function tiedRows(seed: number, rows: number, features: number, values = 3): { x: Dense; y: string[] } {
  let state = seed * 2654435761 + 1;
  const draw = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const x = new Uint8Array(rows * features).map(() => draw(values));
  // A row of zeros responds to nothing.
  x.fill(0, 0, features);
  const y = Array.from({ length: rows }, (_, r) => ["Zürich", "b", "c"][r % 3]);
  return { x: Dense.of(x, rows, features), y };
}
