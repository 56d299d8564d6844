/** What a model keeps so that rows can be added to it, as stored arrays and back. Reading trusts nothing. */

import { isStoredForm, type Sums } from "../../bank/sums.ts";
import type { Groups } from "../../kernels/shapes.ts";
import { isValues } from "../../matrix/values.ts";
import type { Saved, SavedArray } from "../saved.ts";
import { bad, checkOffsets, readClasses, readParams, readReport, vector } from "./filters.ts";

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
  const vector = (values: SavedArray["values"]): SavedArray => ({ shape: [values.length], values });
  return {
    seen_rows: vector(seen),
    ...(labelRows ? { label_rows: vector(labelRows) } : {}),
    ...(sums.form === "dense"
      ? { sums: { shape: [sums.rows, sums.features], values: sums.values } }
      : { sum_offsets: vector(sums.offsets), sum_indices: vector(sums.indices), sum_values: vector(sums.values) }),
  };
}

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
  const { rows, filters: made, trainings } = readReport(saved);
  if (!(isCount(rows) && isCount(made) && trainings.length > 0 && trainings.every((one) => isCount(one?.rows)))) {
    throw bad(saved, "report: expected the rows of every training");
  }
  const seen = vector(saved, "seen_rows", Uint32Array);
  const parts = saved.kind === "classifier" ? readClasses(saved).length : 1;
  if (seen.length !== parts) throw bad(saved, `seen_rows: expected ${parts} counts, found ${seen.length}`);
  if (distributions > 0 && distributions !== (distributionPerClass === true ? parts : 1)) {
    throw bad(saved, `distribution: expected one for all or one for each of ${parts} classes, found ${distributions}`);
  }
  const all = seen.reduce((sum, rows) => sum + rows, 0);
  if (all > MOST_ROWS) throw bad(saved, `seen_rows: expected at most ${MOST_ROWS} rows, found ${all}`);
  if (!members.rows.every((row) => row < all)) throw bad(saved, `member_rows: expected rows below ${all}`);
  const sums = saved.arrays.sums ? readDense(saved, filters, features) : readSparse(saved, filters, features);
  if (!sums.values.every((value) => Math.abs(value) <= LARGEST_SUM)) {
    throw bad(saved, `sums: expected numbers of size at most ${LARGEST_SUM}`);
  }
  if (!isStoredForm(sums)) throw bad(saved, "sums: expected the smallest form that holds them");
  if (saved.kind !== "probabilistic") return { sums, seen };
  const labelRows = vector(saved, "label_rows", Uint32Array);
  if (labelRows.length !== filters) {
    throw bad(saved, `label_rows: expected ${filters} counts, found ${labelRows.length}`);
  }
  return { sums, seen, labelRows };
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

/** Row numbers are 32-bit. */
export const MOST_ROWS = 2 ** 32;

function readDense(saved: Saved, filters: number, features: number): Sums {
  const { shape, values } = saved.arrays.sums;
  if (!isValues(values) || shape.join() !== [filters, features].join()) {
    throw bad(saved, `sums: expected ${filters} x ${features} numbers, found ${shape.join(" x ")}`);
  }
  return { form: "dense", rows: filters, features, values };
}

function readSparse(saved: Saved, filters: number, features: number): Sums {
  const offsets = vector(saved, "sum_offsets", Uint32Array);
  const indices = vector(saved, "sum_indices", Uint32Array);
  const values = saved.arrays.sum_values?.values;
  if (!isValues(values) || values.length !== indices.length) {
    throw bad(saved, `sum_values: expected ${indices.length} numbers, found ${values?.length ?? "none"}`);
  }
  checkOffsets(saved, "sum_offsets", offsets, filters, indices.length);
  for (let f = 0; f < filters; f++) {
    for (let e = offsets[f]; e < offsets[f + 1]; e++) {
      if (indices[e] >= features || (e > offsets[f] && indices[e] <= indices[e - 1])) {
        throw bad(saved, `sum_indices: filter ${f}: expected ascending features below ${features}`);
      }
    }
  }
  return { form: "csr", rows: filters, features, offsets, indices, values };
}
