/**
 * What the filters of a probabilistic classifier are called, as stored arrays and back: a table of shares, or where there are
 * many classes the counts that are not 0. Reading trusts nothing.
 */

import {
  countsOf,
  type LabelCounts,
  type LabelShares,
  sharesFromTable,
  sharesOf,
  tableOfShares,
} from "../../paper/filter-labels.ts";
import type { Combine } from "../../paper/vote.ts";
import type { Saved, SavedArray } from "../saved.ts";
import { array, bad, sparseEntries, stored, vector } from "./arrays.ts";

/** Tables of up to this many shares (8 MiB) are stored as tables, as all were once. */
const LARGEST_TABLE = 2 ** 20;

/** Whether counts take the place of the table: it is large, and they take less than half its bytes. */
function areStored({ classes, label, rows }: LabelCounts): boolean {
  const shares = rows.length * classes;
  return shares > LARGEST_TABLE && 8 * (label.length + rows.length) < 4 * shares;
}

/** The arrays of label shares. */
export function labelArrays(shares: LabelShares): { [name: string]: SavedArray } {
  const { counts, classes, unknown } = shares;
  if (!counts || !areStored(counts)) {
    return { filter_labels: { shape: [unknown.length, classes], values: tableOfShares(shares) } };
  }
  return {
    label_offsets: stored(counts.offsets),
    label_indices: stored(counts.label),
    label_counts: stored(counts.count),
    label_rows: stored(counts.rows),
  };
}

/** Reads what `labelArrays` wrote; `labelRows` are the rows of each filter where the model keeps its sums. */
export function readLabels(
  saved: Saved,
  filters: number,
  classes: number,
  several: boolean,
  combine: Combine,
  labelRows: Uint32Array | undefined,
): LabelShares {
  if (!saved.arrays.filter_labels && saved.arrays.label_counts) {
    return sharesOf(readCounts(saved, filters, classes, several), several, combine);
  }
  const { values } = array(saved, "filter_labels", [Float64Array], [filters, classes]);
  // A share of -0 would be stored as 0 again: a file of its own for the same model.
  if (!values.every((share) => share >= 0 && share <= 1 && !Object.is(share, -0))) {
    throw bad(saved, "filter_labels: expected shares from 0 to 1, and no -0");
  }
  const shares = sharesFromTable(values, classes);
  const counted = labelRows && tableOfShares(sharesOf(countsOf(shares, labelRows), several, combine));
  if (counted?.some((share, e) => share !== values[e])) {
    throw bad(saved, "filter_labels: expected shares of the rows that label_rows counts");
  }
  return shares;
}

function readCounts(saved: Saved, filters: number, classes: number, several: boolean): LabelCounts {
  const rows = vector(saved, "label_rows", Uint32Array, filters);
  const { offsets, indices: label } = sparseEntries(saved, "label", filters, classes);
  const count = vector(saved, "label_counts", Uint32Array, label.length);
  for (let f = 0; f < filters; f++) {
    let sum = 0;
    for (let e = offsets[f]; e < offsets[f + 1]; e++) {
      if (count[e] === 0 || count[e] > rows[f]) {
        throw bad(saved, `label_counts: filter ${f}: expected counts from 1 to its ${rows[f]} rows, found ${count[e]}`);
      }
      sum += count[e];
    }
    if (!several && sum !== rows[f]) {
      throw bad(saved, `label_counts: filter ${f}: expected one class for each of ${rows[f]} rows, found ${sum}`);
    }
  }
  const counts = { classes, offsets, label, count, rows };
  if (!areStored(counts)) throw bad(saved, "label_counts: expected a table of shares, which takes less");
  return counts;
}
