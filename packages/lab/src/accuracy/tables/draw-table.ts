/** Tables drawn from a seed: clusters of each class in a few columns, seen through columns of different units, and columns of noise. */

import { Dense } from "@ranksim/core";
import { Draw } from "../../differential/draw.ts";

/** Rows with their classes. */
interface DrawnTable {
  readonly x: Dense;
  readonly y: readonly number[];
}

/** The first `rows` rows of the table of this number; more rows go on from there. `columns` of them all tell something, where given. */
export function drawTable(number: number, rows: number, columns?: number): DrawnTable {
  const plan = new Draw(number, 0);
  const normal = (draw: Draw) => Math.sqrt(-2 * Math.log(1 - draw.share())) * Math.cos(2 * Math.PI * draw.share());
  const classes = plan.from(2, 5);
  const [telling, noise] = columns === undefined ? [plan.from(3, 14), plan.from(0, 6)] : [columns, 0];
  const hidden = columns ?? plan.from(2, telling);
  const clusters = Array.from({ length: classes * plan.from(1, 3) }, () =>
    Array.from({ length: hidden }, () => 1.6 * normal(plan)),
  );
  // Each column is a mixture of what is hidden, in a unit of its own, some of them skewed.
  const mixtures = Array.from({ length: telling }, () => Array.from({ length: hidden }, () => normal(plan)));
  const units = Array.from({ length: telling + noise }, () => ({
    scale: 10 ** (6 * plan.share() - 3),
    shift: 10 * normal(plan),
    skewed: plan.chance(0.3),
  }));
  const blur = 0.5 + plan.share();
  const features = telling + noise;
  const values = new Float64Array(rows * features);
  const y: number[] = [];
  for (let r = 0; r < rows; r++) {
    const draw = new Draw(number, r + 1);
    const cluster = draw.below(clusters.length);
    y.push(cluster % classes);
    const point = clusters[cluster].map((center) => center + blur * normal(draw));
    for (let c = 0; c < features; c++) {
      const plain =
        c < telling
          ? mixtures[c].reduce((sum, weight, h) => sum + weight * point[h], 0) + 0.1 * normal(draw)
          : normal(draw);
      const { scale, shift, skewed } = units[c];
      values[r * features + c] = scale * ((skewed ? Math.exp(plain / 2) : plain) + shift);
    }
  }
  return { x: Dense.of(values, rows, features), y };
}
