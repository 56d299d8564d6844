/** Sparse rows and banks for the tests of back ends: of every type, shape and kind of difficulty, drawn from a seed. */

import { expect } from "vitest";
import { commonNorm, weightsFor } from "../../src/kernels/rank.ts";
import { rankSums } from "../../src/kernels/rank-sums.ts";
import type { CsrRows, DenseBank, FilterBank, Groups, SparseBank, Values, Weights } from "../../src/kernels/shapes.ts";

export type ValueType = "u8" | "u16" | "i16" | "f32" | "f64";

const TYPES = { u8: Uint8Array, u16: Uint16Array, i16: Int16Array, f32: Float32Array, f64: Float64Array };

/** Expects the same numbers, bit for bit. A plain loop: comparing long arrays takes vitest longer than all the rest. */
export function expectSame(found: ArrayLike<number>, expected: ArrayLike<number>): void {
  let same = found.length === expected.length;
  for (let j = 0; same && j < expected.length; j++) same = Object.is(found[j], expected[j]);
  if (!same) expect(found).toEqual(expected);
}

/** Numbers in [0, 1) from a seed. */
export function draws(seed: number): () => number {
  let state = (seed * 2654435761 + 12345) >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return ((state >>> 8) + 0.5) / 2 ** 24;
  };
}

/** How values are drawn. */
export type Flavour = "small" | "large" | "signed" | "fractions";

function drawValue(type: ValueType, flavour: Flavour, draw: () => number): number {
  const whole = type === "u8" || type === "u16" || type === "i16";
  const sign = flavour === "signed" && type !== "u8" && type !== "u16" && draw() < 0.5 ? -1 : 1;
  if (flavour === "large") {
    const most = { u8: 255, u16: 65_535, i16: 32_767, f32: 1e30, f64: 1e150 }[type];
    return sign * (whole ? Math.ceil(draw() * most) : draw() * most);
  }
  if (flavour === "fractions" && !whole) return sign * draw() * 10 ** Math.floor(draw() * 6 - 4);
  return sign * Math.ceil(draw() * draw() * 5);
}

/** Rows with entries at about `density` of the features, some rows empty, some stored zeros. */
export function csrRows(
  rows: number,
  features: number,
  density: number,
  type: ValueType,
  flavour: Flavour,
  seed: number,
): CsrRows {
  const draw = draws(seed);
  const offsets = [0];
  const indices: number[] = [];
  const values: number[] = [];
  for (let r = 0; r < rows; r++) {
    const own = draw() < 0.1 ? 0 : density * (0.5 + draw());
    for (let i = 0; i < features; i++) {
      // The first features are met far more often, as words are.
      if (draw() >= own * (i < features / 8 ? 4 : 0.6)) continue;
      indices.push(i);
      values.push(draw() < 0.03 ? 0 : drawValue(type, flavour, draw));
    }
    offsets.push(indices.length);
  }
  return csr(features, offsets, indices, TYPES[type].from(values));
}

export function csr(features: number, offsets: number[], indices: number[], values: Values): CsrRows {
  const rows = offsets.length - 1;
  return {
    form: "csr",
    rows,
    features,
    offsets: Uint32Array.from(offsets),
    indices: Uint32Array.from(indices),
    values,
  };
}

/** Every row in one of `count` groups, in order; some groups may stay empty. */
export function someGroups(rows: number, count: number, seed: number, weighted = false): Groups {
  const draw = draws(seed);
  const lists: number[][] = Array.from({ length: count }, () => []);
  for (let r = 0; r < rows; r++) {
    lists[Math.floor(draw() * count)].push(r);
    if (weighted) lists[Math.floor(draw() * count)].push(r);
  }
  const offsets = new Uint32Array(count + 1);
  lists.forEach((list, g) => {
    offsets[g + 1] = offsets[g] + list.length;
  });
  const groups = { offsets, rows: Uint32Array.from(lists.flat()) };
  return weighted ? { ...groups, weight: Float64Array.from(groups.rows, () => draw()) } : groups;
}

/** Ascending values to draw weights from. */
export function distribution(features: number, seed: number, lowest = 0): Float64Array {
  const draw = draws(seed);
  return Float64Array.from({ length: features }, () => lowest + draw() * draw()).sort();
}

/** Filters made from groups of the rows themselves. */
export function trainedBank(x: CsrRows, filters: number, seed: number, from?: Float64Array): SparseBank {
  return rankSums(x, someGroups(x.rows, filters, seed), from) as SparseBank;
}

/** The same bank, written out. */
export function denseBank(bank: SparseBank): DenseBank {
  const weights = roomLike(bank.weights, bank.filters * bank.features);
  for (let f = 0; f < bank.filters; f++) {
    weights.fill(bank.base[f], f * bank.features, (f + 1) * bank.features);
    for (let e = bank.offsets[f]; e < bank.offsets[f + 1]; e++) {
      weights[f * bank.features + bank.indices[e]] = bank.weights[e];
    }
  }
  return { form: "dense", filters: bank.filters, features: bank.features, weights, norm: bank.norm };
}

/** A bank with the given filters, each a base and pairs of feature and weight. */
export function sparseBank(
  features: number,
  filters: readonly { base: number; exceptions: readonly (readonly [number, number])[] }[],
  float = false,
  norm = filters.map(() => commonNorm(features, undefined)),
): SparseBank {
  const offsets = new Uint32Array(filters.length + 1);
  filters.forEach(({ exceptions }, f) => {
    offsets[f + 1] = offsets[f] + exceptions.length;
  });
  const all = filters.flatMap(({ exceptions }) => exceptions);
  const weights = float ? new Float64Array(all.length) : weightsFor(all.length, features, undefined);
  weights.set(all.map(([, weight]) => weight));
  return {
    form: "sparse",
    filters: filters.length,
    features,
    base: Float64Array.from(filters, ({ base }) => base),
    offsets,
    indices: Uint32Array.from(all, ([feature]) => feature),
    weights,
    norm: Float64Array.from(norm),
  };
}

/** The bank with other norms. */
export function withNorms<B extends FilterBank>(bank: B, norm: (f: number) => number): B {
  return { ...bank, norm: bank.norm.map((_, f) => norm(f)) };
}

function roomLike<T extends Weights>(weights: T, length: number): T {
  return new (weights.constructor as new (length: number) => T)(length);
}
