/** The gate of `fit` for tools that work on single features: they need one row and one feature, not two to rank. */

import { RanksimError } from "../errors.ts";
import { asMatrix, type Matrix, type MatrixLike } from "../matrix/matrix.ts";

/** A matrix with at least one row and one feature. */
export function fittingMatrix(x: MatrixLike): Matrix {
  const matrix = asMatrix(x);
  if (matrix.rows > 0 && matrix.features > 0) return matrix;
  throw new RanksimError(
    "empty-input",
    `expected at least 1 row and 1 feature, found ${matrix.rows} x ${matrix.features}`,
  );
}
