/**
 * What rows weigh (deviation 36). A row that counts w times in every sum is the same as the row times w: which filter responds most to
 * it does not change, and neither does its rank order, so training on such rows is training with weights.
 */

import { RanksimError } from "../errors.ts";
import { Csr } from "./csr.ts";
import { Dense } from "./dense.ts";
import type { Matrix } from "./matrix.ts";
import { areWhole, type Values } from "./values.ts";

/** What a fit is given about its rows besides their labels. */
export interface Weighted {
  /** One number above 0 for each row: how often it counts in sums and label counts. Draws do not depend on it. */
  readonly weights?: ArrayLike<number>;
}

/** Beyond this a sum of many rows would no longer be exact, or finite. */
const LARGEST_WEIGHT = 1e9;

/** The weights, checked; undefined where none were given. */
export function checkWeights({ weights }: Weighted, rows: number, filterFunction: unknown): Float64Array | undefined {
  if (weights === undefined) return undefined;
  if (filterFunction !== "meanRank") {
    throw new RanksimError("unsupported", `weights: expected filterFunction "meanRank", which adds rows up`);
  }
  if (weights.length !== rows) {
    throw new RanksimError(
      "bad-params",
      `weights: expected ${rows} numbers, one for each row, found ${weights.length}`,
    );
  }
  const checked = Float64Array.from(weights);
  const wrong = checked.findIndex((weight) => !(weight > 0 && weight <= LARGEST_WEIGHT));
  if (wrong >= 0) {
    throw new RanksimError(
      "bad-params",
      `weights: row ${wrong}: expected a number above 0 and up to ${LARGEST_WEIGHT}, found ${checked[wrong]}; leave out rows that do not count`,
    );
  }
  return checked;
}

/** Every row times its weight: whole where both are. */
export function weightRows(x: Matrix, weights: Float64Array): Matrix {
  const { values, rows, features } = x;
  const out = new Float64Array(values.length);
  for (let r = 0; r < rows; r++) {
    const [from, to] = x.form === "dense" ? [r * features, (r + 1) * features] : [x.offsets[r], x.offsets[r + 1]];
    for (let e = from; e < to; e++) out[e] = values[e] * weights[r];
  }
  const kept = narrowest(out);
  return x.form === "dense" ? Dense.of(kept, rows, features) : Csr.of(x.offsets, x.indices, kept, features);
}

/** The same numbers in two bytes each, where they fit. */
function narrowest(values: Float64Array): Values {
  const fits = areWhole(values) && values.every((value) => value >= 0 && value <= 65_535);
  return fits ? Uint16Array.from(values) : values;
}
