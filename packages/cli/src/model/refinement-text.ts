/** What refinement did, in a line for people. */

import type { Refinement } from "@ranksim/core";
import { count, counted, percent } from "../terminal/numbers.ts";

/** Says whether filters were refined, and by which held-out rows that was judged. */
export function refinementText({ refined, heldOutRows, before, after, window, epochs }: Refinement): string {
  if (heldOutRows === 0) return "no, there were too few rows to hold some out";
  const judged = `of ${count(heldOutRows)} held-out rows`;
  if (!refined) return `no, nothing was gained over ${percent(before)} right ${judged}`;
  const how = [
    ...(window === undefined ? [] : [`window ${Number(window.toPrecision(3))}`]),
    ...(epochs === undefined ? [] : [counted(epochs, "epoch")]),
  ];
  return [`yes, from ${percent(before)} to ${percent(after)} right ${judged}`, ...how].join(", ");
}
