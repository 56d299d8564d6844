/** One row out of a matrix, for explanations. */

import { RanksimError } from "../errors.ts";
import type { Matrix } from "../matrix/matrix.ts";

/** Row `row` as a matrix of one; refused by name when it does not exist. */
export function oneRow(x: Matrix, row: number): Matrix {
  if (!Number.isSafeInteger(row) || row < 0 || row >= x.rows) {
    throw new RanksimError("bad-matrix", `expected a row from 0 below ${x.rows}, found ${row}`);
  }
  return x.slice(row, row + 1);
}
