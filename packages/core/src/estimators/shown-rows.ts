/** Rows as training sees them: as they are, or images together with copies moved by a pixel (deviation 32). */

import type { RowSource } from "../backends/contract.ts";
import { RanksimError } from "../errors.ts";
import { COPIES, copiesOf, withShifted } from "../matrix/shifted.ts";
import { matrixFor } from "../matrix/source.ts";
import type { ClassifierParams } from "./params.ts";

/** Rows with their class numbers; copy c of row r is row c * rows / copies + r. */
interface Shown {
  readonly matrix: RowSource;
  readonly codes: Uint32Array;
  readonly copies: number;
}

/** The rows to be seen. */
export function showRows(matrix: RowSource, codes: Uint32Array, { shiftImages, keepSums }: ClassifierParams): Shown {
  if (shiftImages === undefined) return { matrix, codes, copies: 1 };
  if (keepSums) {
    throw new RanksimError(
      "bad-params",
      "shiftImages: no rows can be added later: expected keepSums false, found true",
    );
  }
  const rows = Uint32Array.from(codes.keys());
  const all = copiesOf(rows, rows.length, COPIES).map((r) => codes[r % rows.length]);
  return { matrix: withShifted(matrixFor(matrix, "shiftImages"), shiftImages), codes: all, copies: COPIES };
}
