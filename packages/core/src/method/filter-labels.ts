/** The label matrix of the probabilistic classifier (the paper's algorithm 6): what the rows a filter wins are called. */

import type { TopFilters } from "../backends/backend.ts";
import type { Csr } from "../matrix/csr.ts";

/** filters x classes: the share of each class among the rows a filter wins (deviation 20); uniform where it wins none. */
export function filterLabels(
  winners: TopFilters, // k = 1
  codes: Uint32Array, // class of each row
  filters: number,
  classes: number,
): Float64Array {
  const labels = new Float64Array(filters * classes);
  const rows = new Float64Array(filters);
  for (let r = 0; r < winners.rows; r++) {
    labels[winners.filter[r] * classes + codes[r]]++;
    rows[winners.filter[r]]++;
  }
  for (let f = 0; f < filters; f++) {
    for (let c = 0; c < classes; c++) {
      labels[f * classes + c] = rows[f] === 0 ? 1 / classes : labels[f * classes + c] / rows[f];
    }
  }
  return labels;
}

/** Deviation 21. filters x outputs: the share of a filter's rows that have each label; one half where it wins none. */
export function filterPresence(winners: TopFilters, present: Csr, filters: number): Float64Array {
  const outputs = present.features;
  const labels = new Float64Array(filters * outputs);
  const rows = new Float64Array(filters);
  for (let r = 0; r < winners.rows; r++) {
    const f = winners.filter[r];
    rows[f]++;
    for (let e = present.offsets[r]; e < present.offsets[r + 1]; e++) labels[f * outputs + present.indices[e]]++;
  }
  for (let f = 0; f < filters; f++) {
    for (let o = 0; o < outputs; o++) labels[f * outputs + o] = rows[f] === 0 ? 0.5 : labels[f * outputs + o] / rows[f];
  }
  return labels;
}
