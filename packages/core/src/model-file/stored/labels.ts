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
import { bad, checkOffsets, vector } from "./filters.ts";

/** The names of the arrays. */
export const LABEL_ARRAYS = ["filter_labels", "label_offsets", "label_indices", "label_counts", "label_rows"] as const;

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
  const vector = (values: Uint32Array): SavedArray => ({ shape: [values.length], values });
  return {
    label_offsets: vector(counts.offsets),
    label_indices: vector(counts.label),
    label_counts: vector(counts.count),
    label_rows: vector(counts.rows),
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
  const isTable = saved.arrays.filter_labels !== undefined;
  const strange = isTable ? ["label_offsets", "label_indices", "label_counts"] : [];
  if (isTable && !labelRows) strange.push("label_rows");
  for (const name of strange) if (saved.arrays[name]) throw bad(saved, `unknown array ${name}`);
  if (!isTable && saved.arrays.label_counts)
    return sharesOf(readCounts(saved, filters, classes, several), several, combine);
  const shares = readTable(saved, filters, classes);
  if (labelRows && !areSharesOf(shares, sharesOf(countsOf(shares, labelRows), several, combine))) {
    throw bad(saved, "filter_labels: expected shares of the rows that label_rows counts");
  }
  return shares;
}

function readTable(saved: Saved, filters: number, classes: number): LabelShares {
  const array = saved.arrays.filter_labels;
  const shape = [filters, classes];
  if (!(array?.values instanceof Float64Array) || array.shape.join() !== shape.join()) {
    throw bad(saved, `filter_labels: expected ${shape.join(" x ")} float64 shares`);
  }
  if (!array.values.every((share) => share >= 0 && share <= 1)) {
    throw bad(saved, "filter_labels: expected shares from 0 to 1");
  }
  return sharesFromTable(array.values, classes);
}

/** Whether stored shares are those that the counts give. */
function areSharesOf(stored: LabelShares, given: LabelShares): boolean {
  const { classes, offsets, label, share } = stored;
  for (let f = 0; f < stored.unknown.length; f++) {
    const own = {
      label: label.subarray(offsets[f], offsets[f + 1]),
      share: share.subarray(offsets[f], offsets[f + 1]),
    };
    const [from, to] = [given.offsets[f], given.offsets[f + 1]];
    const wanted =
      given.unknown[f] === 1
        ? sharesFromTable(given.common, classes)
        : { label: given.label.subarray(from, to), share: given.share.subarray(from, to) };
    if (!isEqual(own.label, wanted.label) || !isEqual(own.share, wanted.share)) return false;
  }
  return true;
}

function isEqual(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
  if (a.length !== b.length) return false;
  for (let j = 0; j < a.length; j++) if (a[j] !== b[j]) return false;
  return true;
}

function readCounts(saved: Saved, filters: number, classes: number, several: boolean): LabelCounts {
  const rows = vector(saved, "label_rows", Uint32Array);
  const offsets = vector(saved, "label_offsets", Uint32Array);
  const label = vector(saved, "label_indices", Uint32Array);
  const count = vector(saved, "label_counts", Uint32Array);
  if (rows.length !== filters) throw bad(saved, `label_rows: expected ${filters} counts, found ${rows.length}`);
  if (count.length !== label.length) {
    throw bad(saved, `label_counts: expected ${label.length} counts, found ${count.length}`);
  }
  checkOffsets(saved, "label_offsets", offsets, filters, label.length);
  for (let f = 0; f < filters; f++) {
    let sum = 0;
    for (let e = offsets[f]; e < offsets[f + 1]; e++) {
      if (label[e] >= classes || (e > offsets[f] && label[e] <= label[e - 1])) {
        throw bad(saved, `label_indices: filter ${f}: expected ascending classes below ${classes}`);
      }
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
