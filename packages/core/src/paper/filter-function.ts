/**
 * How a group of rows becomes a filter. The paper's rule, `meanRank`, runs in the back end; the others are for study and
 * run here, row by row.
 */

import type { Assignment, HeldBank, HeldRows, RowSource } from "../backends/contract.ts";
import { membersOf } from "../bank/assignment.ts";
import { emptyGroups, pickGroups } from "../bank/groups.ts";
import { RanksimError } from "../errors.ts";
import { commonNorm, rankVector, weightsFor } from "../kernels/rank.ts";
import type { DenseBank, Groups } from "../kernels/shapes.ts";
import { Adder } from "../kernels/sums.ts";
import { Dense } from "../matrix/dense.ts";
import { type Matrix, toDense } from "../matrix/matrix.ts";
import { matrixFor } from "../matrix/source.ts";

/**
 * The filter of a group of rows: the rank of their mean (the paper), the rank of their median, their mean itself, or a
 * function from the rows to one weight per feature.
 */
export type FilterFunction = "meanRank" | "medianRank" | "mean" | ((rows: Matrix) => ArrayLike<number>);

/** Makes filters of rows. A group with weights stands for its weighted average. */
export interface FilterMaker {
  /** One filter per group. */
  fromGroups(groups: Groups): Promise<HeldBank>;
  /** One filter for each of the listed ones, from the rows assigned to it. */
  fromAssignment(assignment: Assignment, filters: Uint32Array): Promise<HeldBank>;
}

/** The rule for some rows; all rules but the paper's need them in memory. */
export function filterMaker(
  x: RowSource,
  held: HeldRows,
  filterFunction: FilterFunction,
  distribution: Float64Array | undefined,
): FilterMaker {
  if (filterFunction === "meanRank") {
    return {
      fromGroups: (groups) => held.rank(groups, distribution),
      fromAssignment: (assignment, filters) => {
        const { sums } = assignment;
        if (!sums) return held.rank(pickGroups(membersOf(assignment), filters), distribution);
        const known = Array.from(filters, (f) => sums[f]);
        return held.rank(emptyGroups(filters.length), distribution, known);
      },
    };
  }
  const matrix = matrixFor(x, "filterFunction");
  const fromGroups = async (groups: Groups): Promise<HeldBank> =>
    held.load(makeFilters(matrix, groups, filterFunction, distribution));
  return {
    fromGroups,
    fromAssignment: (assignment, filters) => fromGroups(pickGroups(membersOf(assignment), filters)),
  };
}

function makeFilters(
  x: Matrix,
  groups: Groups,
  filterFunction: Exclude<FilterFunction, "meanRank">,
  distribution: Float64Array | undefined,
): DenseBank {
  const n = x.features;
  const filters = groups.offsets.length - 1;
  const ranked = filterFunction === "medianRank";
  const weights = ranked ? weightsFor(filters * n, n, distribution) : new Float64Array(filters * n);
  const norm = new Float64Array(filters).fill(ranked ? commonNorm(n, distribution) : 1);
  for (let g = 0; g < filters; g++) {
    const rows = rowsOf(x, groups, g);
    if (ranked) rankVector(medians(rows), n, distribution, weights, g * n);
    else weights.set(unitFilter(filterFunction === "mean" ? means(rows) : filterFunction(rows), n), g * n);
  }
  return { form: "dense", filters, features: n, weights, norm };
}

/** The rows of a group; a weighted group is the one row of its weighted sum. */
function rowsOf(x: Matrix, groups: Groups, g: number): Dense {
  if (!groups.weight) return toDense(x.gather(groups.rows.subarray(groups.offsets[g], groups.offsets[g + 1])));
  const adder = new Adder(x.features);
  for (let e = groups.offsets[g]; e < groups.offsets[g + 1]; e++) adder.addRow(x, groups.rows[e], groups.weight[e]);
  const { indices, values } = adder.take();
  const sum = indices ? new Float64Array(x.features) : (values as Float64Array);
  indices?.forEach((i, e) => {
    sum[i] = values[e];
  });
  return Dense.of(sum, 1, x.features);
}

function means(x: Dense): Float64Array {
  const out = new Float64Array(x.features);
  for (let r = 0; r < x.rows; r++) for (let i = 0; i < out.length; i++) out[i] += x.values[r * out.length + i];
  return out.map((sum) => sum / x.rows);
}

function medians(x: Dense): Float64Array {
  const column = new Float64Array(x.rows);
  return Float64Array.from({ length: x.features }, (_, i) => {
    for (let r = 0; r < x.rows; r++) column[r] = x.values[r * x.features + i];
    column.sort();
    const middle = x.rows >> 1;
    return x.rows % 2 === 1 ? column[middle] : (column[middle - 1] + column[middle]) / 2;
  });
}

/** L1-normalised; a filter of zeros stays zero and simply never responds. */
function unitFilter(weights: ArrayLike<number>, n: number): Float64Array {
  if (weights.length !== n) {
    throw new RanksimError(
      "bad-params",
      `filterFunction: expected ${n} weights, one a feature, found ${weights.length}`,
    );
  }
  let sum = 0;
  for (let i = 0; i < n; i++) {
    if (!Number.isFinite(weights[i])) {
      throw new RanksimError(
        "bad-params",
        `filterFunction: weight ${i}: expected a finite number, found ${weights[i]}`,
      );
    }
    sum += Math.abs(weights[i]);
  }
  return Float64Array.from(weights, (weight) => (sum === 0 ? 0 : weight / sum));
}
