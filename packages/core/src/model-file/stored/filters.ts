/**
 * Filters as stored arrays and back. Reading trusts nothing: names, types, shapes and every index are checked before a
 * model is made, so that no later step can meet an impossible value.
 */

import { KeptBank } from "../../backends/kept-bank.ts";
import { canonicalBank } from "../../bank/bank.ts";
import { RanksimError } from "../../errors.ts";
import type { FilterBank, Groups, Weights } from "../../kernels/shapes.ts";
import { MOST_FEATURES } from "../../matrix/dense.ts";
import type { Label } from "../../matrix/labels.ts";
import type { Json, Saved, SavedArray } from "../saved.ts";
import type { Report } from "./report.ts";
import { wrongInReport } from "./report.ts";
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
  readonly loaded?: KeptBank | undefined;
}

/** The arrays of a bank, its members, its distribution and what is kept of its rows. */
export function filterArrays({ bank, members, distribution, keptSums, filterBank }: Filters): {
  [name: string]: SavedArray;
} {
  const m = bank.filters;
  const vector = (values: SavedArray["values"]): SavedArray => ({ shape: [values.length], values });
  const arrays: { [name: string]: SavedArray } =
    bank.form === "dense"
      ? { filters: { shape: [m, bank.features], values: bank.weights } }
      : {
          base: vector(bank.base),
          filter_offsets: vector(bank.offsets),
          filter_indices: vector(bank.indices),
          filter_weights: vector(bank.weights),
        };
  arrays.norm = vector(bank.norm);
  arrays.member_offsets = vector(members.offsets);
  arrays.member_rows = vector(members.rows);
  if (distribution) {
    arrays.distribution = { shape: [distribution.length / bank.features, bank.features], values: distribution };
  }
  if (filterBank) arrays.filter_bank = vector(filterBank);
  return keptSums ? { ...arrays, ...keptSumsArrays(keptSums) } : arrays;
}

/** Reads what `filterArrays` wrote; `extra` names the arrays that the kind of model adds. */
export function readFilters(saved: Saved, extra: readonly string[]): Filters {
  const features = count(saved, "features");
  if (features < 2 || features > MOST_FEATURES) {
    throw bad(saved, `expected 2 to ${MOST_FEATURES} features, found ${features}`);
  }
  const norm = vector(saved, "norm", Float64Array);
  const m = norm.length;
  if (m === 0) throw bad(saved, "expected at least 1 filter, found none");
  const bank = saved.arrays.filters ? readDense(saved, features, norm) : readSparse(saved, features, norm);

  const offsets = vector(saved, "member_offsets", Uint32Array);
  const rows = vector(saved, "member_rows", Uint32Array);
  checkOffsets(saved, "member_offsets", offsets, m, rows.length);

  let distribution: Float64Array | undefined;
  if (saved.arrays.distribution) {
    const { shape, values } = saved.arrays.distribution;
    if (!(values instanceof Float64Array) || shape.length !== 2 || shape[1] !== features || shape[0] === 0) {
      throw bad(saved, `distribution: expected k x ${features} float64 values, found ${shape.join(" x ")}`);
    }
    distribution = values;
  }
  const members = { offsets, rows };
  const keptSums = readKeptSums(saved, features, members, (distribution?.length ?? 0) / features);
  const filters = { bank, members, distribution, keptSums };
  const allowed = new Set([...Object.keys(filterArrays(filters)), ...extra]);
  for (const name of Object.keys(saved.arrays)) if (!allowed.has(name)) throw bad(saved, `unknown array ${name}`);
  return filters;
}

function readDense(saved: Saved, features: number, norm: Float64Array): FilterBank {
  const { shape, values } = saved.arrays.filters;
  if (!isWeights(values) || shape.length !== 2 || shape[0] !== norm.length || shape[1] !== features) {
    throw bad(saved, `filters: expected ${norm.length} x ${features} weights, found ${shape.join(" x ")}`);
  }
  return checkWeights(saved, { form: "dense", filters: norm.length, features, weights: values, norm });
}

function readSparse(saved: Saved, features: number, norm: Float64Array): FilterBank {
  const m = norm.length;
  const base = vector(saved, "base", Float64Array);
  const offsets = vector(saved, "filter_offsets", Uint32Array);
  const indices = vector(saved, "filter_indices", Uint32Array);
  const weights = saved.arrays.filter_weights?.values;
  if (base.length !== m) throw bad(saved, `base: expected ${m} values, found ${base.length}`);
  if (!isWeights(weights) || weights.length !== indices.length) {
    throw bad(saved, `filter_weights: expected ${indices.length} weights, found ${weights?.length ?? "none"}`);
  }
  checkOffsets(saved, "filter_offsets", offsets, m, indices.length);
  for (let f = 0; f < m; f++) {
    for (let e = offsets[f]; e < offsets[f + 1]; e++) {
      if (indices[e] >= features || (e > offsets[f] && indices[e] <= indices[e - 1])) {
        throw bad(saved, `filter_indices: filter ${f}: expected ascending features below ${features}`);
      }
    }
  }
  return checkWeights(saved, { form: "sparse", filters: m, features, base, offsets, indices, weights, norm });
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

/** The bank as the models of these filters use it. */
export function keptBankOf({ bank, loaded }: Filters): KeptBank {
  return loaded?.bank === bank ? loaded : new KeptBank(bank);
}

/** The canonical form. A bank in a back end stays there if that is its form. */
export function storedFilters(filters: Filters): Filters {
  const bank = canonicalBank(filters.bank);
  if (filters.loaded?.bank === bank) return { ...filters, bank };
  filters.loaded?.release();
  return { ...filters, bank, loaded: new KeptBank(bank) };
}

function isWeights(values: SavedArray["values"] | undefined): values is Weights {
  return values instanceof Uint16Array || values instanceof Uint32Array || values instanceof Float64Array;
}

/** Refuses offsets that do not run from 0 to `total` in `groups` steps, none of them back. */
export function checkOffsets(saved: Saved, name: string, offsets: Uint32Array, groups: number, total: number): void {
  if (offsets.length !== groups + 1 || offsets[0] !== 0 || offsets[groups] !== total) {
    throw bad(saved, `${name}: expected ${groups + 1} offsets from 0 to ${total}`);
  }
  for (let g = 0; g < groups; g++) if (offsets[g] > offsets[g + 1]) throw bad(saved, `${name}: offset ${g + 1} falls`);
}

type VectorType = Uint32Array | Float64Array;

/** A stored vector of one element type. */
export function vector<T extends VectorType>(saved: Saved, name: string, type: new (length: number) => T): T {
  const array = saved.arrays[name];
  if (!array) throw bad(saved, `array ${name} is missing`);
  if (!(array.values instanceof type) || array.shape.length !== 1) {
    throw bad(saved, `${name}: expected a vector of ${type.name}, found ${array.values.constructor.name}`);
  }
  return array.values;
}

/** A stored count. */
export function count(saved: Saved, name: string): number {
  const value = saved.meta[name];
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    throw bad(saved, `${name}: expected a whole number from 0`);
  return value as number;
}

/** The stored parameters. */
export function readParams(saved: Saved): { readonly [name: string]: Json } {
  const { params } = saved.meta;
  if (!isObject(params)) throw bad(saved, "params: expected an object");
  return params;
}

/** nBest out of stored parameters. */
export function readNBest(saved: Saved): number {
  const { nBest } = readParams(saved);
  if (!Number.isSafeInteger(nBest) || (nBest as number) < 1) throw bad(saved, "nBest: expected a whole number from 1");
  return nBest as number;
}

/** Checks the number of voters among stored parameters; absent, it is 1. */
export function readVoters(saved: Saved): void {
  const { voters = 1 } = readParams(saved);
  if (!Number.isSafeInteger(voters) || (voters as number) < 1)
    throw bad(saved, "voters: expected a whole number from 1");
}

/** The stored class names: different, each a string or a number. */
export function readClasses(saved: Saved): readonly Label[] {
  const { classes } = saved.meta;
  if (!Array.isArray(classes) || classes.length === 0) throw bad(saved, "classes: expected a list of names");
  for (const name of classes) {
    if (typeof name !== "string" && typeof name !== "number") throw bad(saved, "classes: expected strings and numbers");
  }
  if (new Set(classes).size !== classes.length) throw bad(saved, "classes: a name occurs twice");
  return classes as Label[];
}

/** The stored report. */
export function readReport(saved: Saved): Report {
  const { report } = saved.meta;
  const wrong = isObject(report) ? wrongInReport(report) : "an object";
  if (wrong !== undefined) throw bad(saved, `report: expected ${wrong}`);
  return report as unknown as Report;
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The error for impossible stored data. */
export function bad(saved: Saved, what: string): RanksimError {
  return new RanksimError("bad-file", `${saved.kind} model: ${what}`);
}
