/**
 * Operations on filter banks that are not kernels: joining, replacing some filters, and the one canonical form in which a
 * bank is stored, so that equal filters are equal bytes whatever form the training data had.
 */

import type { DenseBank, FilterBank, SparseBank, Weights } from "../kernels/shapes.ts";
import { expandFilter } from "../kernels/top.ts";

export type { DenseBank, FilterBank, SparseBank } from "../kernels/shapes.ts";

/**
 * A copy of `bank` in which filter `positions[j]` is filter j of `fresh`, and which filters got other weights. Only the
 * weights that are copied whole go through `copy`.
 */
export function replaceFilters(
  bank: FilterBank,
  positions: Uint32Array, // ascending
  fresh: FilterBank,
  copy: (weights: Weights) => Weights = (weights) => weights.slice(),
): { bank: FilterBank; changed: Uint8Array } {
  const changed = new Uint8Array(bank.filters);
  if (bank.form === "dense" && fresh.form === "dense") {
    const n = bank.features;
    const whole = positions.length === bank.filters;
    const weights = whole ? fresh.weights : copy(bank.weights);
    for (let j = 0; j < positions.length; j++) {
      if (areSame(bank.weights, positions[j] * n, fresh.weights, j * n, n)) continue;
      changed[positions[j]] = 1;
      if (!whole) weights.set(fresh.weights.subarray(j * n, (j + 1) * n), positions[j] * n);
    }
    return { bank: { ...bank, weights }, changed };
  }
  const [old, made] = [bank as SparseBank, fresh as SparseBank];
  for (let j = 0; j < positions.length; j++) {
    if (!areEqual(old, positions[j], made, j)) changed[positions[j]] = 1;
  }
  if (positions.length === old.filters) return { bank: made, changed };
  const parts: SparseBank[] = [];
  let next = 0; // first filter of the old bank not yet taken
  for (let j = 0; j < positions.length; ) {
    if (positions[j] > next) parts.push(sliceSparse(old, next, positions[j]));
    let end = j + 1;
    while (end < positions.length && positions[end] === positions[end - 1] + 1) end++;
    parts.push(sliceSparse(made, j, end));
    next = positions[end - 1] + 1;
    j = end;
  }
  if (next < old.filters) parts.push(sliceSparse(old, next, old.filters));
  return { bank: joinSparse(parts), changed };
}

/** Whether `count` weights are the same from `at` and from `from`. */
function areSame(a: Weights, at: number, b: Weights, from: number, count: number): boolean {
  for (let i = 0; i < count; i++) if (a[at + i] !== b[from + i]) return false;
  return true;
}

/** Whether filter f of one bank and filter g of another have the same base and the same exceptions. */
function areEqual(a: SparseBank, f: number, b: SparseBank, g: number): boolean {
  const shift = b.offsets[g] - a.offsets[f];
  const end = a.offsets[f + 1];
  if (a.base[f] !== b.base[g] || end + shift !== b.offsets[g + 1]) return false;
  for (let e = a.offsets[f]; e < end; e++) {
    if (a.indices[e] !== b.indices[e + shift] || a.weights[e] !== b.weights[e + shift]) return false;
  }
  return true;
}

/** Banks of the same form and width, one after the other. */
export function joinBanks(banks: readonly FilterBank[]): FilterBank {
  if (banks.length === 1) return banks[0];
  if (banks[0].form === "sparse") return joinSparse(banks as SparseBank[]);
  const parts = banks as DenseBank[];
  return {
    form: "dense",
    filters: parts.reduce((sum, part) => sum + part.filters, 0),
    features: parts[0].features,
    weights: concatenate(parts.map((part) => part.weights)),
    norm: concatenate(parts.map((part) => part.norm)),
  };
}

function newWeights(count: number): Float64Array {
  return new Float64Array(count);
}

/** The sum of the normalised filters, as a bank of one: its response to a row is m times the row's mean response. `room`: where that goes. */
export function meanFilter(bank: FilterBank, room = newWeights): DenseBank {
  const weights = room(bank.features).fill(0);
  const mean = { form: "dense", filters: 1, features: bank.features, weights, norm: Float64Array.of(1) } as const;
  // Equal norms are left out: the sums of doubled ranks then stay whole numbers and ties between rows exact.
  const equal = bank.norm.every((norm) => norm === bank.norm[0]);
  if (equal && bank.form === "sparse" && !(bank.weights instanceof Float64Array)) {
    addExceptions(bank, weights);
    return mean;
  }
  const w = new Float64Array(bank.features);
  for (let f = 0; f < bank.filters; f++) {
    expandFilter(bank, f, w);
    const norm = equal ? 1 : bank.norm[f];
    for (let i = 0; i < weights.length; i++) weights[i] += w[i] / norm;
  }
  return mean;
}

/** The sum of sparse filters of whole weights, without a look at the features that weigh the base: exact in any order. */
function addExceptions(bank: SparseBank, sum: Float64Array): void {
  let bases = 0;
  for (let f = 0; f < bank.filters; f++) bases += bank.base[f];
  sum.fill(bases);
  for (let f = 0; f < bank.filters; f++) {
    const base = bank.base[f];
    const end = bank.offsets[f + 1];
    for (let e = bank.offsets[f]; e < end; e++) sum[bank.indices[e]] += bank.weights[e] - base;
  }
}

/**
 * The stored form. Sparse (base = the filter's most frequent weight, the lower one of equals) when that takes less than
 * half the bytes, dense otherwise: a function of the weights alone.
 */
export function canonicalBank(bank: FilterBank): FilterBank {
  const sparse = bank.form === "sparse" ? rebase(bank) : fewExceptions(bank) ? toSparse(bank) : undefined;
  return sparse && isSmall(sparse.indices.length, bank) ? sparse : bank.form === "dense" ? bank : expandBank(bank);
}

/** The same filters in the given form. */
export function inForm(bank: FilterBank, form: FilterBank["form"]): FilterBank {
  if (bank.form === form) return bank;
  return bank.form === "sparse" ? expandBank(bank) : toSparse(bank);
}

/** The bank as m x n weights. */
export function expandBank(bank: FilterBank): DenseBank {
  if (bank.form === "dense") return bank;
  const n = bank.features;
  const weights = roomLike(bank.weights, bank.filters * n);
  for (let f = 0; f < bank.filters; f++) {
    weights.fill(bank.base[f], f * n, (f + 1) * n);
    for (let e = bank.offsets[f]; e < bank.offsets[f + 1]; e++) weights[f * n + bank.indices[e]] = bank.weights[e];
  }
  return { form: "dense", filters: bank.filters, features: n, weights, norm: bank.norm };
}

/** Whether `exceptions` in all make the sparse form worth it. */
function isSmall(exceptions: number, bank: FilterBank): boolean {
  const size = bank.weights.BYTES_PER_ELEMENT;
  return 2 * (exceptions * (4 + size) + 12 * bank.filters) < bank.filters * bank.features * size;
}

function fewExceptions(bank: DenseBank): boolean {
  if (surelyMany(bank)) return false;
  const n = bank.features;
  const mostFrequent = frequencies(n);
  let exceptions = 0;
  for (let f = 0; f < bank.filters; f++) {
    exceptions += n - mostFrequent(bank.weights.subarray(f * n, (f + 1) * n)).times;
    if (!isSmall(exceptions, bank)) return false;
  }
  return true;
}

/** Whether there are too many exceptions at a glance, which takes a fraction of counting them: of two weights that differ one is an exception. */
function surelyMany(bank: DenseBank): boolean {
  const { features, filters, weights } = bank;
  let found = 0;
  for (let f = 0; f < filters; f++) {
    const end = (f + 1) * features - 1;
    for (let at = f * features; at < end; at += 2) found += weights[at] === weights[at + 1] ? 0 : 1;
    if (!isSmall(found, bank)) return true;
  }
  return false;
}

function toSparse(bank: DenseBank): SparseBank {
  const n = bank.features;
  const mostFrequent = frequencies(n);
  return build(bank, bank.filters, (f) => {
    const weights = bank.weights.subarray(f * n, (f + 1) * n);
    const base = mostFrequent(weights).weight;
    const indices: number[] = [];
    for (let i = 0; i < n; i++) if (weights[i] !== base) indices.push(i);
    return { base, indices, weights: indices.map((i) => weights[i]) };
  });
}

/** The same filters with the most frequent weight as base. Touches exceptions only, unless another weight is more frequent. */
function rebase(bank: SparseBank): SparseBank {
  if (isCanonical(bank)) return bank;
  const mostFrequent = frequencies(bank.features);
  return build(bank, bank.filters, (f) => {
    const from = bank.offsets[f];
    const to = bank.offsets[f + 1];
    const given = bank.weights.subarray(from, to);
    let atBase = bank.features - (to - from);
    for (const weight of given) if (weight === bank.base[f]) atBase++;
    const rival = mostFrequent(given);
    const isBase = atBase > rival.times || (atBase === rival.times && bank.base[f] <= rival.weight);
    if (isBase && atBase > 0) {
      const indices: number[] = [];
      const weights: number[] = [];
      for (let e = from; e < to; e++) {
        if (bank.weights[e] === bank.base[f]) continue;
        indices.push(bank.indices[e]);
        weights.push(bank.weights[e]);
      }
      return { base: bank.base[f], indices, weights };
    }
    const all = new Float64Array(bank.features);
    expandFilter(bank, f, all);
    const indices: number[] = [];
    for (let i = 0; i < all.length; i++) if (all[i] !== rival.weight) indices.push(i);
    return { base: rival.weight, indices, weights: indices.map((i) => all[i]) };
  });
}

/** Whether, at a glance, every base is the most frequent weight (more features than not have it) and no exception has it. */
function isCanonical({ filters, features, base, offsets, weights }: SparseBank): boolean {
  for (let f = 0; f < filters; f++) {
    const end = offsets[f + 1];
    if (2 * (end - offsets[f]) >= features) return false;
    for (let e = offsets[f]; e < end; e++) if (weights[e] === base[f]) return false;
  }
  return true;
}

/** The weight that occurs most often, the lower one of equals, and how often. */
interface Frequent {
  readonly weight: number;
  readonly times: number;
}

/** Finds the most frequent weight of filters. Doubled ranks are at most 2n: unless they are few, counting takes less time than sorting. */
function frequencies(features: number): (weights: Weights) => Frequent {
  let counts: Uint32Array | undefined;
  return (weights) => {
    if (weights instanceof Float64Array || weights.length * 16 < features) return longestRun(weights.slice().sort());
    counts ??= new Uint32Array(2 * features + 1);
    return highestCount(weights, counts);
  };
}

/** `counts` are zero before and after. */
function highestCount(ranks: Uint16Array | Uint32Array, counts: Uint32Array): Frequent {
  let weight = 0;
  let times = 0;
  for (let i = 0; i < ranks.length; i++) {
    const rank = ranks[i];
    const count = ++counts[rank];
    if (count < times || (count === times && rank > weight)) continue;
    weight = rank;
    times = count;
  }
  for (let i = 0; i < ranks.length; i++) counts[ranks[i]] = 0;
  return { weight, times };
}

function longestRun(sorted: Weights): Frequent {
  let weight = 0;
  let times = 0;
  for (let first = 0; first < sorted.length; ) {
    let last = first + 1;
    while (last < sorted.length && sorted[last] === sorted[first]) last++;
    if (last - first > times) {
      times = last - first;
      weight = sorted[first];
    }
    first = last;
  }
  return { weight, times };
}

interface SparseFilter {
  readonly base: number;
  readonly indices: readonly number[];
  readonly weights: readonly number[];
}

function build(like: FilterBank, filters: number, make: (f: number) => SparseFilter): SparseBank {
  const made = Array.from({ length: filters }, (_, f) => make(f));
  const offsets = new Uint32Array(filters + 1);
  for (let f = 0; f < filters; f++) offsets[f + 1] = offsets[f] + made[f].indices.length;
  const indices = new Uint32Array(offsets[filters]);
  const weights = roomLike(like.weights, offsets[filters]);
  for (let f = 0; f < filters; f++) {
    indices.set(made[f].indices, offsets[f]);
    weights.set(made[f].weights, offsets[f]);
  }
  const base = Float64Array.from(made, (filter) => filter.base);
  return { form: "sparse", filters, features: like.features, base, offsets, indices, weights, norm: like.norm };
}

function sliceSparse(bank: SparseBank, from: number, to: number): SparseBank {
  const first = bank.offsets[from];
  const last = bank.offsets[to];
  return {
    form: "sparse",
    filters: to - from,
    features: bank.features,
    base: bank.base.subarray(from, to),
    offsets: bank.offsets.slice(from, to + 1).map((offset) => offset - first),
    indices: bank.indices.subarray(first, last),
    weights: bank.weights.subarray(first, last) as Weights,
    norm: bank.norm.subarray(from, to),
  };
}

function joinSparse(parts: readonly SparseBank[]): SparseBank {
  const filters = parts.reduce((sum, part) => sum + part.filters, 0);
  const offsets = new Uint32Array(filters + 1);
  let f = 0;
  for (const part of parts) {
    for (let j = 0; j < part.filters; j++, f++) offsets[f + 1] = offsets[f] + part.offsets[j + 1] - part.offsets[j];
  }
  return {
    form: "sparse",
    filters,
    features: parts[0].features,
    base: concatenate(parts.map((part) => part.base)),
    offsets,
    indices: concatenate(parts.map((part) => part.indices)),
    weights: concatenate(parts.map((part) => part.weights)),
    norm: concatenate(parts.map((part) => part.norm)),
  };
}

function roomLike<T extends Weights>(weights: T, length: number): T {
  return new (weights.constructor as new (length: number) => T)(length);
}

function concatenate<T extends Weights>(parts: readonly T[]): T {
  const all = roomLike(
    parts[0],
    parts.reduce((sum, part) => sum + part.length, 0),
  );
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
