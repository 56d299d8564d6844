/** Five nearest neighbours on scaled columns, as plain loops: what encoded tables are compared with. */

import { type Dense, StandardScaler } from "@ranksim/core";

const NEIGHBOURS = 5;

/** The share of rows whose class most of their nearest rows have, of equal ones the one that came first. */
export async function neighbourAccuracy(
  x: Dense,
  y: readonly number[],
  asked: Dense,
  truth: readonly number[],
): Promise<number> {
  const scaler = await new StandardScaler().fit(x);
  const known = (await scaler.transform(x)) as Dense;
  const rows = (await scaler.transform(asked)) as Dense;
  const n = known.features;
  let right = 0;
  for (let r = 0; r < rows.rows; r++) {
    const near: { distance: number; label: number }[] = [];
    for (let t = 0; t < known.rows; t++) {
      let distance = 0;
      for (let i = 0; i < n; i++) distance += (known.values[t * n + i] - rows.values[r * n + i]) ** 2;
      if (near.length === NEIGHBOURS && distance >= near[NEIGHBOURS - 1].distance) continue;
      const at = near.findIndex((other) => other.distance > distance);
      near.splice(at < 0 ? near.length : at, 0, { distance, label: y[t] });
      near.length = Math.min(near.length, NEIGHBOURS);
    }
    const votes = new Map<number, number>();
    for (const { label } of near) votes.set(label, (votes.get(label) ?? 0) + 1);
    const [best] = [...votes].reduce((first, entry) => (entry[1] > first[1] ? entry : first));
    if (best === truth[r]) right++;
  }
  return right / rows.rows;
}
