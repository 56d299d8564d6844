/**
 * Filters as stored arrays and back. Reading trusts nothing: names, types, shapes and every index are checked before a
 * model is made, so that no later step can meet an impossible value.
 */

import { KeptBank } from "../../backends/kept-bank.ts";
import type { FilterBank, Groups, Weights } from "../../kernels/shapes.ts";
import { MOST_FEATURES } from "../../matrix/dense.ts";
import type { Saved, SavedArray } from "../saved.ts";
import { array, bad, checkOffsets, count, sparseEntries, stored, vector } from "./arrays.ts";
import { type KeptSums, keptSumsArrays, readKeptSums } from "./sums.ts";

/** What all three models consist of. */
export interface Filters {
  readonly bank: FilterBank;
  readonly members: Groups;
  /** n values, or classes x n where each class has its own; absent for ranks. */
  readonly distribution: Float64Array | undefined;
  /** What `partialFit` goes on from; absent unless trained with `keepSums`. */
  readonly keptSums?: KeptSums | undefined;
  /** The bank of each filter; absent unless the model is a committee. */
  readonly filterBank?: Uint32Array | undefined;
  /** The bank in the back ends that know it, shared by all models of these filters. */
  readonly loaded: KeptBank;
}

const WEIGHTS = [Uint16Array, Uint32Array, Float64Array] as const;

/** The arrays of a bank and of the rows that its filters were made from. */
export function bankArrays(bank: FilterBank, members?: Groups): { [name: string]: SavedArray } {
  const weights: { [name: string]: SavedArray } =
    bank.form === "dense"
      ? { filters: { shape: [bank.filters, bank.features], values: bank.weights } }
      : {
          base: stored(bank.base),
          filter_offsets: stored(bank.offsets),
          filter_indices: stored(bank.indices),
          filter_weights: stored(bank.weights),
        };
  const rows = members && { member_offsets: stored(members.offsets), member_rows: stored(members.rows) };
  return { ...weights, norm: stored(bank.norm), ...rows };
}

/** The arrays of a bank, its members, its distribution and what is kept of its rows. */
export function filterArrays({ bank, members, distribution, keptSums, filterBank }: Filters): {
  [name: string]: SavedArray;
} {
  return {
    ...bankArrays(bank, members),
    ...(distribution && {
      distribution: { shape: [distribution.length / bank.features, bank.features], values: distribution },
    }),
    ...(filterBank && { filter_bank: stored(filterBank) }),
    ...(keptSums && keptSumsArrays(keptSums)),
  };
}

/** Reads what `filterArrays` wrote. */
export function readFilters(saved: Saved): Filters {
  const bank = readBank(saved);
  const { features } = bank;
  const members = readMembers(saved, bank.filters);
  const drawn = saved.arrays.distribution && array(saved, "distribution", [Float64Array], [undefined, features]);
  if (drawn?.values.length === 0) throw bad(saved, "distribution: expected at least one, found none");
  const keptSums = readKeptSums(saved, features, members, drawn?.shape[0] ?? 0);
  return { bank, members, distribution: drawn?.values, keptSums, loaded: new KeptBank(bank) };
}

/** Reads the rows that filters were made from. */
export function readMembers(saved: Saved, filters: number): Groups {
  const offsets = vector(saved, "member_offsets", Uint32Array);
  const rows = vector(saved, "member_rows", Uint32Array);
  checkOffsets(saved, "member_offsets", offsets, filters, rows.length);
  return { offsets, rows };
}

/** Reads a bank, whose width is among the facts. */
export function readBank(saved: Saved): FilterBank {
  const features = count(saved, "features");
  if (features < 2 || features > MOST_FEATURES) {
    throw bad(saved, `expected 2 to ${MOST_FEATURES} features, found ${features}`);
  }
  const norm = vector(saved, "norm", Float64Array);
  const filters = norm.length;
  if (filters === 0) throw bad(saved, "expected at least 1 filter, found none");
  const shape = { filters, features, norm };
  if (saved.arrays.filters) {
    const weights: Weights = array<Weights>(saved, "filters", WEIGHTS, [filters, features]).values;
    return checkWeights(saved, { form: "dense", ...shape, weights });
  }
  const base = vector(saved, "base", Float64Array, filters);
  const { offsets, indices } = sparseEntries(saved, "filter", filters, features);
  const weights: Weights = array<Weights>(saved, "filter_weights", WEIGHTS, [indices.length]).values;
  return checkWeights(saved, { form: "sparse", ...shape, base, offsets, indices, weights });
}

/** The largest L1 norm of a filter: with it and the bound on data values, every response is finite. */
const LARGEST_NORM = 1e100;

/** Refuses weights that no L1-normalised filter can have; a response then can be neither infinite nor NaN. */
function checkWeights(saved: Saved, bank: FilterBank): FilterBank {
  if (!bank.norm.every((norm) => norm > 0 && norm <= LARGEST_NORM)) {
    throw bad(saved, `norm: expected positive numbers up to ${LARGEST_NORM}`);
  }
  for (let f = 0; f < bank.filters; f++) {
    const limit = bank.norm[f] * (1 + 1e-9);
    const isSparse = bank.form === "sparse";
    const from = isSparse ? bank.offsets[f] : f * bank.features;
    const to = isSparse ? bank.offsets[f + 1] : from + bank.features;
    if (!areWithin(bank.weights, from, to, limit) || (isSparse && !(Math.abs(bank.base[f]) <= limit))) {
      throw bad(saved, `filters: filter ${f}: expected weights up to its norm, ${bank.norm[f]}`);
    }
  }
  return bank;
}

/** A plain loop: with `every`, a model of five million weights takes 30 ms longer to load. */
function areWithin(weights: Weights, from: number, to: number, limit: number): boolean {
  for (let i = from; i < to; i++) if (!(Math.abs(weights[i]) <= limit)) return false;
  return true;
}
