/** Assignments of rows to filters, compared with each other. */

import type { Assignment, Groups } from "../kernels/shapes.ts";
import { countCodes, groupByCode } from "./groups.ts";

/** The assignment of rows to these filters, and what changed since the one before. */
export function assignmentOf(winners: Uint32Array, filters: number, before?: Uint32Array): Assignment {
  const wins = new Uint32Array(filters);
  countCodes(winners, wins);
  if (!before) return { winners, wins, moved: winners.length, changed: new Uint8Array(filters).fill(1) };
  const changed = new Uint8Array(filters);
  return { winners, wins, moved: markMoved(before, winners, changed), changed };
}

/** Marks the filters that lost or gained a row; returns how many rows there were. */
function markMoved(before: Uint32Array, now: Uint32Array, changed: Uint8Array): number {
  let moved = 0;
  for (let r = 0; r < now.length; r++) {
    if (before[r] === now[r]) continue;
    moved++;
    changed[before[r]] = 1;
    changed[now[r]] = 1;
  }
  return moved;
}

/** The rows of each filter, ascending. */
export function membersOf({ winners, wins }: Assignment): Groups {
  return groupByCode(winners, wins.length);
}
