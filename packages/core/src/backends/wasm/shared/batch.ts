/** How the rows of a batch are put in order for the kernels: by the filters they meet first, and by those they move. */

import type { Compared, Listed, RefineBatch } from "../../../kernels/shapes.ts";

/** For each filter that moves: its number (see TOUCHED), and its rows in order with the step they make. */
export interface Moves {
  readonly touched: Uint32Array;
  readonly offsets: Uint32Array;
  readonly rows: Uint32Array;
  readonly steps: Float64Array;
}

export function sortByFilter(
  { step, patience }: RefineBatch,
  { own, rival }: Compared,
  learning: Uint32Array, // in: positions in the batch
  rows: Uint32Array, // in: the row at each
  moves: Uint32Array, // in and out: of each filter since it was ranked
  isLast: boolean, // in: whether filters are to be ranked
): Moves {
  const filters = moves.length;
  const now = new Uint32Array(filters);
  for (let p = 0; p < learning.length; p++) {
    now[own[learning[p]]]++;
    now[rival[learning[p]]]++;
  }
  const touched = new Uint32Array(filters);
  const offsets = new Uint32Array(filters + 1);
  let count = 0;
  let total = 0;
  for (let f = 0; f < filters; f++) {
    moves[f] += now[f];
    const isRanked = isLast && moves[f] > 0 && moves[f] >= patience;
    if (isRanked) moves[f] = 0;
    if (now[f] === 0 && !isRanked) continue;
    touched[count] = 2 * f + (isRanked ? 1 : 0);
    total += now[f];
    now[f] = total - now[f]; // from here on the place of its next row
    offsets[++count] = total;
  }
  const rowOf = new Uint32Array(total);
  const steps = new Float64Array(total);
  for (let p = 0; p < learning.length; p++) {
    const j = learning[p];
    const nearer = now[own[j]]++;
    const farther = now[rival[j]]++;
    rowOf[nearer] = rows[p];
    steps[nearer] = step;
    rowOf[farther] = rows[p];
    steps[farther] = -step;
  }
  return { touched: touched.subarray(0, count), offsets: offsets.subarray(0, count + 1), rows: rowOf, steps };
}

/** The largest absolute value of whole numbers; infinite if one is not. */
export function largestWhole(values: Float64Array): number {
  let largest = 0;
  for (const value of values) {
    if (!Number.isInteger(value)) return Number.POSITIVE_INFINITY;
    if (Math.abs(value) > largest) largest = Math.abs(value);
  }
  return largest;
}

/** Positions of the rows by the first filter listed for them: neighbours then find the weights they need in the cache. */
export function byFirstListed({ filters: lists, k }: Listed, rows: Uint32Array, filters: number): Uint32Array {
  const next = new Uint32Array(filters + 1);
  for (let j = 0; j < rows.length; j++) next[lists[rows[j] * k] + 1]++;
  for (let f = 0; f < filters; f++) next[f + 1] += next[f];
  const order = new Uint32Array(rows.length);
  for (let j = 0; j < rows.length; j++) order[next[lists[rows[j] * k]]++] = j;
  return order;
}
