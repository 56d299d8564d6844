/** Rows as training sees them: as they are, or images together with copies moved by a pixel (deviation 32). */

import type { RowSource } from "../backends/contract.ts";
import { RanksimError } from "../errors.ts";
import { COPIES, withShifted } from "../matrix/shifted.ts";
import { matrixFor } from "../matrix/source.ts";
import type { ClassifierParams } from "./params.ts";

/** Rows with their class numbers; copy c of row r is row c * rows / copies + r. */
interface Shown {
  readonly matrix: RowSource;
  readonly codes: Uint32Array;
  readonly copies: number;
}

/** The rows to be seen: those of `matrix`, of which there may be copies for each class number, or copies made here. */
export function showRows(matrix: RowSource, codes: Uint32Array, { shiftImages, keepSums }: ClassifierParams): Shown {
  const given = matrix.rows / codes.length;
  if (keepSums && (given > 1 || shiftImages !== undefined)) {
    const name = given > 1 ? "copies" : "shiftImages";
    throw new RanksimError("bad-params", `${name}: no rows can be added later: expected keepSums false, found true`);
  }
  if (given === 1 && shiftImages === undefined) return { matrix, codes, copies: 1 };
  if (given > 1 && shiftImages !== undefined) {
    throw new RanksimError("bad-params", `shiftImages: expected rows that come once, found ${given} copies of each`);
  }
  const copies = given > 1 ? given : COPIES;
  const all = new Uint32Array(copies * codes.length);
  for (let copy = 0; copy < copies; copy++) all.set(codes, copy * codes.length);
  const seen = given > 1 ? matrix : withShifted(matrixFor(matrix, "shiftImages"), shiftImages as number);
  return { matrix: seen, codes: all, copies };
}
