/** The counts behind the label matrix: how often each class or label occurs among the rows that each filter wins. */

import { countCodes, groupByCode, pickNumbers } from "../bank/groups.ts";
import { numbersBelow } from "../kernels/rows.ts";
import type { Csr } from "../matrix/csr.ts";
import type { LabelCounts } from "./filter-labels.ts";

/** Counts the class of each row for the filter that wins it. */
export function countLabels(
  winners: Uint32Array, // filter of each row
  codes: Uint32Array, // class of each row
  filters: number,
  classes: number,
  weights?: ArrayLike<number>, // how often each row counts; once where absent
): LabelCounts {
  return tally(winners, codes, numbersBelow(codes.length), filters, classes, weights);
}

/** Deviation 21. Counts the labels that each row has for the filter that wins it. */
export function countPresence(
  winners: Uint32Array,
  present: Csr,
  filters: number,
  weights?: ArrayLike<number>,
): LabelCounts {
  const { offsets, indices, rows, features } = present;
  const given = indices.subarray(offsets[0], offsets[rows]);
  const rowOf = new Uint32Array(given.length);
  for (let r = 0; r < rows; r++) rowOf.fill(r, offsets[r] - offsets[0], offsets[r + 1] - offsets[0]);
  return tally(winners, given, rowOf, filters, features, weights);
}

/** Counts labels, of which each is given with its row. */
function tally(
  winners: Uint32Array,
  given: Uint32Array,
  rowOf: Uint32Array,
  filters: number,
  classes: number,
  weights: ArrayLike<number> | undefined,
): LabelCounts {
  // In the order of the classes, then in that of the filters: the labels of a filter are by ascending class.
  const byClass = groupByCode(given, classes).rows;
  const won = groupByCode(pickNumbers(winners, pickNumbers(rowOf, byClass)), filters);
  const offsets = new Uint32Array(filters + 1);
  const label = new Uint32Array(given.length);
  const count = new Uint32Array(given.length);
  const found = countRuns(pickNumbers(byClass, won.rows), won.offsets, given, rowOf, weights, {
    offsets,
    label,
    count,
  });
  const rows = new Uint32Array(filters);
  if (weights) for (let r = 0; r < winners.length; r++) rows[winners[r]] += weights[r];
  else countCodes(winners, rows);
  return { classes, offsets, label: label.slice(0, found), count: count.slice(0, found), rows };
}

/** Counts labels that are listed by filter, equal ones next to each other; returns how many are different. */
function countRuns(
  listed: Uint32Array,
  starts: Uint32Array, // of each filter in the list
  given: Uint32Array,
  rowOf: Uint32Array,
  weights: ArrayLike<number> | undefined,
  out: Pick<LabelCounts, "offsets" | "label" | "count">,
): number {
  let found = 0;
  for (let f = 0; f + 1 < starts.length; f++) {
    for (let j = starts[f]; j < starts[f + 1]; j++) {
      const e = listed[j];
      if (j === starts[f] || given[e] !== out.label[found - 1]) out.label[found++] = given[e];
      out.count[found - 1] += weights ? weights[rowOf[e]] : 1;
    }
    out.offsets[f + 1] = found;
  }
  return found;
}

/** Counts of some filters: `from` is the number of the first of them among all, `classOf` the ascending numbers of their classes. */
interface CountsOfSome {
  readonly counts: LabelCounts;
  readonly from?: number;
  readonly classOf?: ArrayLike<number>;
}

/** The counts of all filters; those of one filter that are given more than once are added up. */
export function joinCounts(parts: readonly CountsOfSome[], filters: number, classes: number): LabelCounts {
  const entries = parts.reduce((sum, { counts }) => sum + counts.label.length, 0);
  const [filterOf, given, times] = [0, 0, 0].map(() => new Uint32Array(entries));
  const rows = new Uint32Array(filters);
  let at = 0;
  for (const { counts, from = 0, classOf } of parts) {
    const { offsets, label, count } = counts;
    for (const [f, won] of counts.rows.entries()) {
      rows[from + f] += won;
      filterOf.fill(from + f, at + offsets[f], at + offsets[f + 1]);
    }
    given.set(classOf ? label.map((c) => classOf[c]) : label, at);
    times.set(count, at);
    at += label.length;
  }
  return { ...tally(filterOf, given, numbersBelow(entries), filters, classes, times), rows };
}
