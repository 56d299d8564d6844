/** The rows that the classifier is given to start from: checked, and as positions among the rows of their class. */

import { RanksimError } from "../errors.ts";
import type { Groups } from "../kernels/shapes.ts";
import type { Label } from "../matrix/labels.ts";
import { checkInitialRows } from "./whole.ts";

/** Rows of the whole matrix, per class, as positions among the class's rows. */
export function checkInitialRowsByClass(
  initialRows: readonly (readonly number[])[],
  classes: readonly Label[],
  codes: Uint32Array,
  groups: Groups,
): Uint32Array[] {
  if (initialRows.length !== classes.length || !initialRows.every((rows) => typeof rows === "object")) {
    throw new RanksimError("bad-params", `initialRows: expected a list of rows for each of ${classes.length} classes`);
  }
  const position = new Uint32Array(codes.length);
  for (let c = 0; c < classes.length; c++) {
    for (let e = groups.offsets[c]; e < groups.offsets[c + 1]; e++) position[groups.rows[e]] = e - groups.offsets[c];
  }
  return initialRows.map((rows, c) => {
    const checked = checkInitialRows(rows, codes.length);
    const stray = checked.find((row) => codes[row] !== c);
    if (stray !== undefined) {
      throw new RanksimError(
        "bad-params",
        `initialRows: expected rows of class ${JSON.stringify(classes[c])}, found row ${stray} of class ${JSON.stringify(classes[codes[stray]])}`,
      );
    }
    return checked.map((row) => position[row]);
  });
}
