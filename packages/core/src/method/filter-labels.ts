/** The label matrix of the probabilistic classifier (the paper's algorithm 6): what the rows a filter wins are called. */

import type { TopFilters } from "../backends/backend.ts";
import type { Csr } from "../matrix/csr.ts";
import type { Combine } from "./vote.ts";

/** How often each class (or label) occurs among the rows that each filter wins. */
export interface LabelCounts {
  /** filters x classes. */
  readonly counts: Float64Array;
  /** Rows each filter wins. */
  readonly rows: Uint32Array;
}

/** Counts the class of each row for the filter that wins it. */
export function countLabels(
  winners: TopFilters, // k = 1
  codes: Uint32Array, // class of each row
  filters: number,
  classes: number,
): LabelCounts {
  const counts = new Float64Array(filters * classes);
  const rows = new Uint32Array(filters);
  for (let r = 0; r < winners.rows; r++) {
    counts[winners.filter[r] * classes + codes[r]]++;
    rows[winners.filter[r]]++;
  }
  return { counts, rows };
}

/** Deviation 21. Counts the labels that each row has for the filter that wins it. */
export function countPresence(winners: TopFilters, present: Csr, filters: number): LabelCounts {
  const outputs = present.features;
  const counts = new Float64Array(filters * outputs);
  const rows = new Uint32Array(filters);
  for (let r = 0; r < winners.rows; r++) {
    const f = winners.filter[r];
    rows[f]++;
    for (let e = present.offsets[r]; e < present.offsets[r + 1]; e++) counts[f * outputs + present.indices[e]]++;
  }
  return { counts, rows };
}

/**
 * filters x classes: the share of each class (deviation 20) or label among the rows a filter wins. Where it wins none:
 * uniform over classes, one half for each of several labels; for a mean over filters the share among all rows.
 */
export function sharesOf({ counts, rows }: LabelCounts, several: boolean, combine: Combine): Float64Array {
  const classes = counts.length / rows.length;
  const unknown = combine === "mean" ? sharesOfAll(counts, rows, classes) : undefined;
  const even = several ? 0.5 : 1 / classes;
  return counts.map((count, at) => {
    const won = rows[Math.floor(at / classes)];
    return won > 0 ? count / won : (unknown?.[at % classes] ?? even);
  });
}

/** The share of each class among all rows. */
function sharesOfAll(counts: Float64Array, rows: Uint32Array, classes: number): Float64Array {
  const all = rows.reduce((sum, won) => sum + won, 0);
  const sums = new Float64Array(classes);
  for (let at = 0; at < counts.length; at++) sums[at % classes] += counts[at];
  return sums.map((sum) => (all === 0 ? 0 : sum / all));
}

/** The counts that gave the shares: whole numbers, so nothing is lost. */
export function countsOf(shares: Float64Array, rows: Uint32Array): LabelCounts {
  const classes = shares.length / rows.length;
  return { counts: shares.map((share, at) => Math.round(share * rows[Math.floor(at / classes)])), rows };
}
