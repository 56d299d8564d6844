/**
 * The update step: each group of rows becomes the filter that is the rank (or D) of the sum of its rows. Never a
 * division: the rank of a mean is the rank of the sum.
 *
 * **Order of summation.** Rows are added in the order the group lists them, feature by feature, in float64. Sums of
 * integers are exact; sums of floats therefore do not depend on threads.
 */

import { commonNorm, rankDense, rankSparse, weightsFor } from "./rank.ts";
import type { CsrRows, DenseBank, DenseRows, FilterBank, Groups, Rows, SparseBank } from "./shapes.ts";

/** Adds up the rows of group g into `sum` (dense, length n). */
export function sumGroup(x: Rows, groups: Groups, g: number, sum: Float64Array): void {
  sum.fill(0);
  for (let e = groups.offsets[g]; e < groups.offsets[g + 1]; e++) {
    const r = groups.rows[e];
    const weight = groups.weight ? groups.weight[e] : 1;
    if (x.form === "dense") {
      const at = r * x.features;
      for (let i = 0; i < x.features; i++) sum[i] += weight * x.values[at + i];
    } else {
      for (let j = x.offsets[r]; j < x.offsets[r + 1]; j++) sum[x.indices[j]] += weight * x.values[j];
    }
  }
}

/** The bank with one filter per group: dense for dense rows, base plus exceptions for sparse rows. */
export function rankSums(x: Rows, groups: Groups, distribution: Float64Array | undefined): FilterBank {
  return x.form === "dense" ? rankSumsDense(x, groups, distribution) : rankSumsCsr(x, groups, distribution);
}

function rankSumsDense(x: DenseRows, groups: Groups, distribution: Float64Array | undefined): DenseBank {
  const n = x.features;
  const filters = groups.offsets.length - 1;
  const weights = weightsFor(filters * n, n, distribution);
  const sum = new Float64Array(n);
  for (let g = 0; g < filters; g++) {
    sumGroup(x, groups, g, sum);
    rankDense(sum, distribution, weights, g * n);
  }
  return { form: "dense", filters, features: n, weights, norm: equalNorms(filters, n, distribution) };
}

function rankSumsCsr(x: CsrRows, groups: Groups, distribution: Float64Array | undefined): SparseBank {
  const n = x.features;
  const filters = groups.offsets.length - 1;
  const offsets = new Uint32Array(filters + 1);
  const base = new Float64Array(filters);
  const indexParts: Uint32Array[] = [];
  const weightParts: Float64Array[] = [];
  const sum = new Float64Array(n);
  const touched = new Uint8Array(n);
  for (let g = 0; g < filters; g++) {
    sumGroup(x, groups, g, sum);
    const indices = touchedFeatures(x, groups, g, touched);
    const weights = new Float64Array(indices.length);
    base[g] = rankSparse(
      Float64Array.from(indices, (i) => sum[i]),
      n,
      distribution,
      weights,
    );
    offsets[g + 1] = offsets[g] + indices.length;
    indexParts.push(indices);
    weightParts.push(weights);
  }
  const indices = new Uint32Array(offsets[filters]);
  const weights = weightsFor(offsets[filters], n, distribution);
  for (let g = 0; g < filters; g++) {
    indices.set(indexParts[g], offsets[g]);
    weights.set(weightParts[g], offsets[g]);
  }
  return {
    form: "sparse",
    filters,
    features: n,
    base,
    offsets,
    indices,
    weights,
    norm: equalNorms(filters, n, distribution),
  };
}

/** Features that have an entry in some row of group g, ascending. `touched` (n zeros) is given back clean. */
function touchedFeatures(x: CsrRows, groups: Groups, g: number, touched: Uint8Array): Uint32Array {
  const found: number[] = [];
  for (let e = groups.offsets[g]; e < groups.offsets[g + 1]; e++) {
    const r = groups.rows[e];
    for (let j = x.offsets[r]; j < x.offsets[r + 1]; j++) {
      const i = x.indices[j];
      if (touched[i]) continue;
      touched[i] = 1;
      found.push(i);
    }
  }
  for (const i of found) touched[i] = 0;
  return Uint32Array.from(found).sort();
}

function equalNorms(filters: number, n: number, distribution: Float64Array | undefined): Float64Array {
  return new Float64Array(filters).fill(commonNorm(n, distribution));
}
