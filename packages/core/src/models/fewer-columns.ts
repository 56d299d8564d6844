/**
 * A model for rows that have some of its columns alone, in their order: what the others weigh takes no part. Filters are ranked again among
 * the columns that are there, so they are what they would be had these columns been all; planes and scalers keep what they have for them.
 * Probabilities stay as they were fitted. It works on models as plain data, and their readers check what comes out.
 */

import { canonicalBank } from "../bank/bank.ts";
import { RanksimError } from "../errors.ts";
import { commonNorm, rankVector, weightsFor } from "../kernels/rank.ts";
import type { DenseBank, FilterBank } from "../kernels/shapes.ts";
import type { Saved, SavedArray } from "../model-file/saved.ts";
import { count } from "../model-file/stored/arrays.ts";
import { bankArrays, readBank } from "../model-file/stored/filters.ts";
import { savageScores } from "../paper/distribution.ts";

/** A part of a model for fewer columns, and which of the features that it makes are left; absent: all, or it makes none. */
interface Narrowed {
  readonly saved: Saved;
  readonly made?: Uint32Array;
}

type Narrow = (saved: Saved, columns: Uint32Array) => Narrowed;

/** How each kind of model takes fewer columns. */
const KINDS: { readonly [kind: string]: Narrow } = {
  classifier: filters,
  probabilistic: filters,
  transform: filters,
  linear: (saved, columns) => ({ saved: { ...saved, arrays: { ...saved.arrays, ...planes(saved, columns) } } }),
  "standard-scaler": scaler,
  "min-max-scaler": scaler,
  "max-abs-scaler": scaler,
  "row-scaler": ({ meta, ...saved }, columns) => ({
    saved: { ...saved, meta: { ...meta, features: columns.length } },
    made: columns,
  }),
  pairs,
  union,
  blend: (saved, columns) => ({ saved: withSteps(saved, (step) => narrow(step, columns).saved) }),
  conformal: (saved, columns) => ({ saved: withSteps(saved, (step) => narrow(step, columns).saved) }),
  pipeline(saved, columns) {
    let left: Uint32Array | undefined = columns;
    const narrowed = withSteps(saved, (step) => {
      if (left === undefined) return step;
      const { saved: own, made } = narrow(step, left);
      left = made;
      return own;
    });
    return { saved: narrowed };
  },
};

/** A model as plain data for rows that have only the listed columns, which are ascending numbers of its own. */
export function narrowed(saved: Saved, columns: Uint32Array): Saved {
  const isAscending = columns.every((column, j) => j === 0 || column > columns[j - 1]);
  if (columns.length === 0 || !isAscending || columns[columns.length - 1] >= widthOf(saved)) {
    throw new RanksimError("bad-params", `columns: expected ascending numbers of columns below ${widthOf(saved)}`);
  }
  return narrow(saved, columns).saved;
}

function narrow(saved: Saved, columns: Uint32Array): Narrowed {
  const own = Object.hasOwn(KINDS, saved.kind) ? KINDS[saved.kind] : undefined;
  if (own) return own(saved, columns);
  throw unsupported(saved.kind);
}

/** The error of a kind of model that needs all its columns. */
export const unsupported = (kind: string): RanksimError =>
  new RanksimError("unsupported", `a ${kind} model needs all its columns, found some of them`);

const withSteps = (saved: Saved, change: (step: Saved) => Saved): Saved => ({
  ...saved,
  steps: (saved.steps ?? []).map(change),
});

function filters(saved: Saved, columns: Uint32Array): Narrowed {
  const bank = readBank(saved);
  const { base: _b, filter_offsets: _o, filter_indices: _i, filter_weights: _w, ...rest } = saved.arrays;
  const others = Object.entries(rest).filter(([name]) => !/^sum|^seen$|^label_rows$/.test(name));
  const { distribution } = saved.arrays;
  const params = saved.meta.params as { readonly [name: string]: never };
  const drawn = distribution && narrowDistribution(distribution, params.distribution, columns.length);
  const classOf = saved.arrays.filter_class?.values;
  const own = canonicalBank(
    narrowBank(bank, columns, drawn, (f) => (drawn && drawn.shape[0] > 1 ? (classOf?.[f] ?? 0) : 0)),
  );
  return {
    saved: {
      ...saved,
      meta: { ...saved.meta, features: columns.length, params: { ...params, keepSums: false } },
      arrays: { ...Object.fromEntries(others), ...(drawn ? { distribution: drawn } : {}), ...bankArrays(own) },
    },
  };
}

/** The distribution of fewer ranks: Savage scores of as many, else the numbers at the same shares of the ranks. */
function narrowDistribution({ shape: [lists, n], values }: SavedArray, name: unknown, width: number): SavedArray {
  const out = new Float64Array(lists * width);
  for (let list = 0; list < lists; list++) {
    const own = name === "savage" ? savageScores(width) : undefined;
    for (let r = 0; r < width; r++)
      out[list * width + r] = own?.[r] ?? values[list * n + Math.floor(((r + 0.5) * n) / width)];
  }
  return { shape: [lists, width], values: out };
}

/** The filters ranked again among the columns. */
function narrowBank(
  bank: FilterBank,
  columns: Uint32Array,
  drawn: SavedArray | undefined,
  listOf: (filter: number) => number,
): DenseBank {
  const { filters: m, features: n } = bank;
  const width = columns.length;
  const place = new Int32Array(n).fill(-1);
  for (const [c, column] of columns.entries()) place[column] = c;
  const weights = weightsFor(m * width, width, drawn?.values as Float64Array | undefined);
  const norm = new Float64Array(m);
  for (let f = 0; f < m; f++) {
    const list = listOf(f);
    const distribution = drawn && (drawn.values.subarray(list * width, (list + 1) * width) as Float64Array);
    norm[f] = commonNorm(width, distribution);
    if (bank.form === "dense") {
      const own = Float64Array.from(columns, (column) => bank.weights[f * n + column]);
      rankVector(own, width, distribution, weights, f * width);
      continue;
    }
    // Ranks depend on the order alone: what weighs the base is 0.
    const [at, own]: [number[], number[]] = [[], []];
    for (let e = bank.offsets[f]; e < bank.offsets[f + 1]; e++) {
      if (place[bank.indices[e]] < 0) continue;
      at.push(place[bank.indices[e]]);
      own.push(bank.weights[e] - bank.base[f]);
    }
    const ranked = weightsFor(own.length, width, distribution);
    weights.fill(rankVector(Float64Array.from(own), width, distribution, ranked), f * width, (f + 1) * width);
    for (const [j, c] of at.entries()) weights[f * width + c] = ranked[j];
  }
  return { form: "dense", filters: m, features: width, weights, norm };
}

function planes({ arrays }: Saved, columns: Uint32Array): { readonly weights: SavedArray } {
  const [rows, n] = arrays.weights.shape;
  const values = new Float64Array(rows * columns.length);
  for (let k = 0; k < rows; k++) {
    for (const [c, column] of columns.entries()) values[k * columns.length + c] = arrays.weights.values[k * n + column];
  }
  return { weights: { shape: [rows, columns.length], values } };
}

function scaler(saved: Saved, columns: Uint32Array): Narrowed {
  const pick = ({ values }: SavedArray): SavedArray => ({
    shape: [columns.length],
    values: Float64Array.from(columns, (column) => values[column]),
  });
  const { shift, scale } = saved.arrays;
  return { saved: { ...saved, arrays: { shift: pick(shift), scale: pick(scale) } }, made: columns };
}

function pairs(saved: Saved, columns: Uint32Array): Narrowed {
  const n = count(saved, "features");
  const width = columns.length;
  const place = new Map(Array.from(columns, (column, c) => [column, c]));
  const left: number[] = [];
  const made = [...columns];
  for (const [p, pair] of saved.arrays.pairs.values.entries()) {
    const [a, b] = [place.get(Math.floor(pair / n)), place.get(pair % n)];
    if (a === undefined || b === undefined) continue;
    left.push(a * width + b);
    made.push(n + p);
  }
  const meta = { ...saved.meta, features: width };
  const arrays = { pairs: { shape: [left.length], values: Uint32Array.from(left) } };
  return { saved: { ...saved, meta, arrays }, made: Uint32Array.from(made) };
}

function union(saved: Saved, columns: Uint32Array): Narrowed {
  const all = (saved.steps ?? []).map((step) => ({ step, ...narrow(step, columns) }));
  const made: number[] = [];
  let first = 0;
  const append = (width: number, kept: Uint32Array | undefined) => {
    for (const feature of kept ?? Array.from({ length: width }, (_, j) => j)) made.push(first + feature);
    first += width;
  };
  if (saved.meta.rows) append(widthOf(saved.steps?.[0] as Saved), columns);
  for (const { step, made: kept } of all) append(madeBy(step), kept);
  return { saved: { ...saved, steps: all.map(({ saved: own }) => own) }, made: Uint32Array.from(made) };
}

/** Columns that a part takes. */
function widthOf({ kind, meta, arrays, steps }: Saved): number {
  if (steps?.length) return widthOf(steps[0]);
  if (kind === "linear") return arrays.weights.shape[1];
  return arrays.shift?.shape[0] ?? (meta.features as number);
}

/** Features that a transform makes. */
function madeBy(saved: Saved): number {
  const { kind, arrays, steps = [] } = saved;
  if (kind === "transform") return arrays.norm.shape[0];
  if (kind === "pairs") return widthOf(saved) + arrays.pairs.shape[0];
  if (kind === "pipeline") return madeBy(steps[steps.length - 1]);
  if (kind === "union")
    return (saved.meta.rows ? widthOf(saved) : 0) + steps.reduce((sum, step) => sum + madeBy(step), 0);
  return widthOf(saved);
}
