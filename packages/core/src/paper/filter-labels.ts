/**
 * The label matrix of the probabilistic classifier (the paper's algorithm 6): what the rows a filter wins are called. A filter
 * wins few rows and these have few labels, so counts and shares are kept by their entries that are not 0: ten thousand
 * classes take no more room than ten. `label-counts.ts` counts.
 */

import type { Combine } from "./vote.ts";

/** Filter f has the entries `offsets[f]` to `offsets[f + 1] - 1`, by ascending class (or label) number. */
interface LabelEntries {
  readonly classes: number;
  readonly offsets: Uint32Array;
  readonly label: Uint32Array;
}

/** How often each class (or label) occurs among the rows that each filter wins; no count is 0. */
export interface LabelCounts extends LabelEntries {
  readonly count: Uint32Array;
  /** Rows each filter wins. */
  readonly rows: Uint32Array;
}

/** The share of each class (or label) among the rows that each filter wins; shares of 0 are left out. */
export interface LabelShares extends LabelEntries {
  readonly share: Float64Array;
  /** 1 for each filter that wins no row and has the shares `common` in place of entries. */
  readonly unknown: Uint8Array;
  /** One for each class; empty where no filter is unknown. */
  readonly common: Float64Array;
  /** What was counted; absent where only shares were stored. */
  readonly counts?: LabelCounts;
}

/**
 * The share of each class (deviation 20) or label among the rows a filter wins. Where it wins none: uniform over classes, one
 * half for each of several labels; for a mean over filters the share among all rows.
 */
export function sharesOf(counts: LabelCounts, several: boolean, combine: Combine): LabelShares {
  const { classes, offsets, label, count, rows } = counts;
  const share = new Float64Array(count.length);
  const unknown = new Uint8Array(rows.length);
  for (let f = 0; f < rows.length; f++) {
    unknown[f] = rows[f] === 0 ? 1 : 0;
    for (let e = offsets[f]; e < offsets[f + 1]; e++) share[e] = count[e] / rows[f];
  }
  let common = new Float64Array(0);
  if (unknown.includes(1)) {
    common = combine === "mean" ? sharesOfAll(counts) : new Float64Array(classes).fill(several ? 0.5 : 1 / classes);
  }
  return { classes, offsets, label, share, unknown, common, counts };
}

/** The share of each class among all rows. */
function sharesOfAll({ classes, label, count, rows }: LabelCounts): Float64Array<ArrayBuffer> {
  const all = rows.reduce((sum, won) => sum + won, 0);
  const sums = new Float64Array(classes);
  for (let e = 0; e < label.length; e++) sums[label[e]] += count[e];
  return sums.map((sum) => (all === 0 ? 0 : sum / all));
}

/** Shares from a table of them, filters x classes. */
export function sharesFromTable(table: Float64Array, classes: number): LabelShares {
  const filters = table.length / classes;
  const offsets = new Uint32Array(filters + 1);
  for (let at = 0; at < table.length; at++) if (table[at] !== 0) offsets[Math.floor(at / classes) + 1]++;
  for (let f = 0; f < filters; f++) offsets[f + 1] += offsets[f];
  const label = new Uint32Array(offsets[filters]);
  const share = new Float64Array(offsets[filters]);
  for (let at = 0, e = 0; at < table.length; at++) {
    if (table[at] === 0) continue;
    label[e] = at % classes;
    share[e++] = table[at];
  }
  return { classes, offsets, label, share, unknown: new Uint8Array(filters), common: new Float64Array(0) };
}

/** The table of shares, filters x classes. */
export function tableOfShares(shares: LabelShares): Float64Array {
  const { classes, unknown } = shares;
  const table = new Float64Array(unknown.length * classes);
  for (let f = 0; f < unknown.length; f++) expandShares(shares, f, table.subarray(f * classes, (f + 1) * classes));
  return table;
}

/** Writes the shares of filter f, one for each class, to `out`, which is all 0. */
export function expandShares({ offsets, label, share, unknown, common }: LabelShares, f: number, out: Float64Array) {
  if (unknown[f] === 1) out.set(common);
  else for (let e = offsets[f]; e < offsets[f + 1]; e++) out[label[e]] = share[e];
}

/** The counts that gave the shares: whole numbers, so nothing is lost. */
export function countsOf(shares: LabelShares, rows: Uint32Array): LabelCounts {
  const { classes, share, label } = shares;
  const offsets = new Uint32Array(rows.length + 1);
  const kept: number[] = [];
  const count: number[] = [];
  for (let f = 0; f < rows.length; f++) {
    for (let e = shares.offsets[f]; e < shares.offsets[f + 1]; e++) {
      const times = Math.round(share[e] * rows[f]);
      if (times === 0) continue;
      kept.push(label[e]);
      count.push(times);
    }
    offsets[f + 1] = kept.length;
  }
  return { classes, offsets, label: Uint32Array.from(kept), count: Uint32Array.from(count), rows };
}
