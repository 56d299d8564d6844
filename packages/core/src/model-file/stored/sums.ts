/** What a model keeps so that rows can be added to it, as stored arrays and back. Reading trusts nothing. */

import { isStoredForm, type Sums } from "../../bank/sums.ts";
import type { Groups, Values } from "../../kernels/shapes.ts";
import type { Saved, SavedArray } from "../saved.ts";
import { array, bad, readClasses, readParams, sparseEntries, stored, vector } from "./arrays.ts";
import { readReport } from "./report.ts";

/** What `keepSums` keeps of the training rows. */
export interface KeptSums {
  /** The sum of each filter's rows: what its weights are the ranks of. */
  readonly sums: Sums;
  /** Rows so far, of each class where classes train separately: new rows are numbered after them. */
  readonly seen: Uint32Array;
  /** Rows that the label shares of each filter were counted over; the probabilistic classifier has them. */
  readonly labelRows?: Uint32Array;
}

/** Sums beyond this are refused: adding rows to them could become infinite. */
const LARGEST_SUM = 1e300;

/** The arrays of what is kept. */
export function keptSumsArrays({ sums, seen, labelRows }: KeptSums): { [name: string]: SavedArray } {
  return {
    seen_rows: stored(seen),
    ...(labelRows ? { label_rows: stored(labelRows) } : {}),
    ...(sums.form === "dense"
      ? { sums: { shape: [sums.rows, sums.features], values: sums.values } }
      : { sum_offsets: stored(sums.offsets), sum_indices: stored(sums.indices), sum_values: stored(sums.values) }),
  };
}

/** Row numbers are 32-bit. */
export const MOST_ROWS = 2 ** 32;

/** Reads what `keptSumsArrays` wrote; absent unless the model was trained with `keepSums`. */
export function readKeptSums(
  saved: Saved,
  features: number,
  members: Groups,
  distributions: number,
): KeptSums | undefined {
  const { keepSums, distributionPerClass } = readParams(saved);
  if (keepSums !== true) return undefined;
  const filters = members.offsets.length - 1;
  if (readReport(saved).trainings.length === 0) throw bad(saved, "report: expected the rows of every training");
  const parts = saved.kind === "classifier" ? readClasses(saved).length : 1;
  const seen = vector(saved, "seen_rows", Uint32Array, parts);
  if (distributions > 0 && distributions !== (distributionPerClass === true ? parts : 1)) {
    throw bad(saved, `distribution: expected one for all or one for each of ${parts} classes, found ${distributions}`);
  }
  const all = seen.reduce((sum, rows) => sum + rows, 0);
  if (all > MOST_ROWS) throw bad(saved, `seen_rows: expected at most ${MOST_ROWS} rows, found ${all}`);
  if (!members.rows.every((row) => row < all)) throw bad(saved, `member_rows: expected rows below ${all}`);
  const sums = readSums(saved, filters, features);
  if (!sums.values.every((value) => Math.abs(value) <= LARGEST_SUM)) {
    throw bad(saved, `sums: expected numbers of size at most ${LARGEST_SUM}`);
  }
  if (!isStoredForm(sums)) throw bad(saved, "sums: expected the smallest form that holds them");
  const labelRows = saved.kind === "probabilistic" && vector(saved, "label_rows", Uint32Array, filters);
  return labelRows ? { sums, seen, labelRows } : { sums, seen };
}

const VALUES = [Uint8Array, Uint16Array, Int16Array, Float32Array, Float64Array] as const;

function readSums(saved: Saved, rows: number, features: number): Sums {
  if (saved.arrays.sums) {
    const { values } = array<Values>(saved, "sums", VALUES, [rows, features]);
    return { form: "dense", rows, features, values };
  }
  const { offsets, indices } = sparseEntries(saved, "sum", rows, features);
  const { values } = array<Values>(saved, "sum_values", VALUES, [indices.length]);
  return { form: "csr", rows, features, offsets, indices, values };
}
