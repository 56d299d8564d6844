/** Rows scaled each by itself: what `RowScaler` makes of them, fetched by the first rows that are scaled. */

import { naturalLog } from "../kernels/exponential.ts";
import { rankVector, weightsFor } from "../kernels/rank.ts";
import { Csr } from "../matrix/csr.ts";
import { Dense } from "../matrix/dense.ts";
import { type Matrix, refuseLost } from "../matrix/matrix.ts";
import type { Run } from "./estimator.ts";
import type { RowScalerParams } from "./row-scaler.ts";
import { advance, turns } from "./run.ts";

/** What a row adds up to before logarithms of shares are taken, as is usual for cells. */
const SHARES_OF = 10_000;
/** Entries between two looks at the clock and the signal, about. */
const ENTRIES_PER_TURN = 1 << 14;

/** The scaled rows, dense as dense and sparse as sparse. */
export async function scaledRows(matrix: Matrix, by: RowScalerParams["by"], run: Run): Promise<Matrix> {
  const { rows, features } = matrix;
  const scale = by === "rank" ? ranked : by === "log" ? logarithms : logarithmsOfShares;
  const isExact = by !== "rank" || 2 * features < 2 ** 24;
  const entries = matrix.form === "dense" ? rows * features : matrix.offsets[rows] - matrix.offsets[0];
  const out = isExact ? new Float32Array(entries) : new Float64Array(entries);
  const turn = turns(run);
  let done = 0;
  for (let r = 0, at = 0; r < rows; r++) {
    if (at >= done + ENTRIES_PER_TURN) {
      done = at;
      await turn();
      refuseLost(matrix);
    }
    const from = matrix.form === "dense" ? r * features : matrix.offsets[r];
    const to = matrix.form === "dense" ? from + features : matrix.offsets[r + 1];
    scale(Float64Array.from(matrix.values.subarray(from, to)), features, out.subarray(at, at + to - from));
    at += to - from;
  }
  await advance(run, { stage: "transform", share: 1 });
  refuseLost(matrix);
  if (matrix.form === "dense") return Dense.of(out, rows, features);
  const [first] = matrix.offsets;
  const indices = matrix.indices.slice(first, first + entries);
  return Csr.of(
    matrix.offsets.map((offset) => offset - first),
    indices,
    out,
    features,
  );
}

/** Writes the scaled values of a row; `values` are all of its features or those that are not zero. */
type Scale = (values: Float64Array, features: number, out: Float32Array | Float64Array) => void;

/** All of one row shifted alike: by every filter its response shifts by the same, so that it is as if the row had its ranks. */
const ranked: Scale = (values, features, out) => {
  const ranks = weightsFor(values.length, features, undefined);
  const missing = rankVector(values, features, undefined, ranks);
  // A row without zeros has no rank of zeros; the place where they would come in has.
  const zeros = missing === 0 ? 1 + 2 * values.reduce((below, value) => below + (value < 0 ? 1 : 0), 0) : missing;
  for (let e = 0; e < values.length; e++) out[e] = ranks[e] - zeros;
};

const logarithms: Scale = (values, _, out) => {
  for (let e = 0; e < values.length; e++) {
    const log = naturalLog(1 + Math.abs(values[e]));
    out[e] = values[e] < 0 ? -log : log;
  }
};

const logarithmsOfShares: Scale = (values, features, out) => {
  let sum = 0;
  for (const value of values) sum += Math.abs(value);
  // Shares before the product: a sum near the largest number must not overflow.
  for (let e = 0; e < values.length; e++) values[e] = sum === 0 ? 0 : (values[e] / sum) * SHARES_OF;
  logarithms(values, features, out);
};
