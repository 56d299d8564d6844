/** How many filters, and how many for each class (the paper's "Determining the number of filters"). */

import { RanksimError } from "../errors.ts";
import type { Label } from "../matrix/labels.ts";

/** Deviation 13. How a bank is shared out among classes: by rows, evenly, or by weights given for class names (1 where not given). */
export type ClassWeight = "proportional" | "uniform" | { readonly [label: string]: number };

/** Above this many rows per filter the automatic count stops growing with the rows. Source: the paper. */
const ROWS_PER_FILTER = 10;

/** The number of filters for N rows (deviation 23). An automatic one is at least `fewest`: classes that train separately need one each. */
export function countFilters(
  rows: number,
  filters: "auto" | number,
  fastFilters: number,
  maxFilters: number,
  fewest = 1,
): number {
  return filters === "auto" ? Math.max(fewest, countByRows(rows, fastFilters, maxFilters)) : filters;
}

function countByRows(rows: number, fastFilters: number, maxFilters: number): number {
  if (rows <= fastFilters) return rows;
  if (rows > ROWS_PER_FILTER * maxFilters) return maxFilters;
  return Math.max(fastFilters, roundHalfEven(rows / ROWS_PER_FILTER));
}

/** Filters per class: at least 1 each, and at most the class's rows unless `mayExceedRows` (deviation 14). */
export function allocateFilters(
  classes: readonly Label[],
  classRows: readonly number[],
  filters: number,
  classWeight: ClassWeight,
  mayExceedRows: boolean,
  banks = 1, // of a committee, for the refusal
): number[] {
  if (filters < classes.length) {
    throw new RanksimError(
      "bad-params",
      `expected at least as many filters as classes (${classes.length}), found ${filters} filters${
        banks > 1 ? ` in each of ${banks} banks` : ""
      }; filters: "auto" gives enough`,
    );
  }
  return share(classes, classRows, filters, classWeight).map((count, c) =>
    Math.max(1, mayExceedRows ? count : Math.min(count, classRows[c])),
  );
}

function share(
  classes: readonly Label[],
  classRows: readonly number[],
  filters: number,
  classWeight: ClassWeight,
): number[] {
  if (classWeight === "proportional") {
    const rows = classRows.reduce((sum, count) => sum + count, 0);
    return classRows.map((count) => Math.floor((filters * count) / rows));
  }
  if (classWeight === "uniform") return classes.map(() => roundHalfEven(filters / classes.length));
  const names = new Set(classes.map(String));
  for (const name of Object.keys(classWeight)) {
    if (!names.has(name)) {
      throw new RanksimError("bad-params", `classWeight names class ${JSON.stringify(name)}, which no row has`);
    }
  }
  const weights = classes.map((name) => classWeight[String(name)] ?? 1);
  const sum = weights.reduce((a, b) => a + b, 0);
  return weights.map((weight) => roundHalfEven((weight / sum) * filters));
}

/** Rounds to the nearest whole number, halves to the even one, as the reference's rounding does. */
function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  const part = value - floor;
  if (part !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}
