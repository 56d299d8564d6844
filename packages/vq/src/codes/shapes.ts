/** Shapes of windows and levels of how much of one there is: how they are learned, chosen and taken away. */

import { type Backend, Dense, RankSimilarityTransform } from "@ranksim/core";
import { RankIndex, type RankIndexModel } from "../neighbours/rank-index.ts";

/** Rounds in which shapes become the sums of the rows that chose them, and in which the levels of gains settle. */
const ROUNDS = 6;
const LEVEL_ROUNDS = 20;
/** What 1 is in stored shapes and levels. */
const UNIT_SHAPE = 2 ** 14;
const UNIT_LEVEL = 2 ** 4;

/** A stage: shapes of length 1, and levels of how much of one there is. */
export interface Stage {
  readonly shapes: Int16Array;
  readonly levels: Uint32Array;
}

/** What a level of a shape adds to a value, rounded. */
export const part = (shape: number, level: number): number => Math.round((shape * level) / (UNIT_SHAPE * UNIT_LEVEL));

/** Shapes for rows: the sums of the rows of rank filters, then of the rows that are most like each shape. */
export async function shapesOf(
  x: Dense,
  { filters, seed }: { readonly filters: number; readonly seed: number },
  backend: Backend,
): Promise<Int16Array> {
  const count = Math.min(filters, x.rows);
  const model = await new RankSimilarityTransform({ filters: count, seed }).fit(x, undefined, { backend });
  const first = new Uint32Array(x.rows);
  for (let f = 0; f < count; f++) for (const r of model.filterRows(f)) first[r] = f;
  let shapes = sumsOf(x, first, count);
  for (let round = 0; round < ROUNDS; round++) {
    const index = await indexOf(shapes, x.features, backend);
    shapes = sumsOf(x, (await index.search(x, 1, { backend })).rows, count);
  }
  return shapes;
}

/** The sum of the rows of each shape, made as long as 1. One without rows becomes the row that is longest of those not taken. */
function sumsOf(x: Dense, shape: Uint32Array, count: number): Int16Array {
  const n = x.features;
  const sums = new Float64Array(count * n);
  const rows = new Uint32Array(count);
  for (let r = 0; r < x.rows; r++) {
    rows[shape[r]]++;
    for (let i = 0; i < n; i++) sums[shape[r] * n + i] += x.values[r * n + i];
  }
  const lengths = new Float64Array(x.rows);
  for (let e = 0; e < x.values.length; e++) lengths[Math.floor(e / n)] += x.values[e] * x.values[e];
  const longest = Array.from(lengths.keys()).sort((a, b) => lengths[b] - lengths[a] || a - b);
  const shapes = new Int16Array(count * n);
  let spare = 0;
  for (let f = 0; f < count; f++) {
    const own = sums.subarray(f * n, (f + 1) * n);
    if (rows[f] === 0) own.set(x.row(longest[spare++ % x.rows]));
    const length = Math.sqrt(own.reduce((sum, v) => sum + v * v, 0));
    if (length > 0) for (let i = 0; i < n; i++) shapes[f * n + i] = Math.round((own[i] / length) * UNIT_SHAPE);
  }
  return shapes;
}

export const indexOf = (shapes: Int16Array, size: number, backend: Backend): Promise<RankIndexModel> =>
  new RankIndex({ similarity: "cosine", lists: 1 }).fit(Dense.of(shapes, shapes.length / size, size), undefined, {
    backend,
  });

/** The shape that takes most away from each row, and how much of it. */
export async function choose(
  x: Dense,
  index: RankIndexModel,
  shapes: Int16Array,
  backend: Backend,
): Promise<{ shape: Uint32Array; gains: Float64Array }> {
  const n = x.features;
  const { rows } = await index.search(x, 1, { backend });
  const gains = new Float64Array(x.rows);
  for (let r = 0; r < x.rows; r++) {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += x.values[r * n + i] * shapes[rows[r] * n + i];
    gains[r] = Math.max(0, sum / UNIT_SHAPE);
  }
  return { shape: rows, gains };
}

/** Levels for gains: each the mean of those that are nearest to it. */
export function levelsOf(gains: Float64Array, count: number): Uint32Array {
  const sorted = gains.slice().sort();
  let levels = Float64Array.from({ length: count }, (_, l) => sorted[Math.floor(((l + 0.5) * sorted.length) / count)]);
  for (let round = 0; round < LEVEL_ROUNDS; round++) {
    const [sums, members] = [new Float64Array(count), new Uint32Array(count)];
    let l = 0;
    for (const gain of sorted) {
      while (l + 1 < count && levels[l + 1] - gain < gain - levels[l]) l++;
      sums[l] += gain;
      members[l]++;
    }
    levels = levels.map((level, each) => (members[each] === 0 ? level : sums[each] / members[each]));
  }
  return Uint32Array.from(levels, (level) => Math.round(level * UNIT_LEVEL));
}

/** The nearest level of each gain, the lower one of equals. */
export function gainCodes(gains: Float64Array, levels: Uint32Array): Uint8Array {
  return Uint8Array.from(gains, (gain) => {
    let best = 0;
    for (let l = 1; l < levels.length; l++) {
      if (Math.abs(levels[l] - gain * UNIT_LEVEL) < Math.abs(levels[best] - gain * UNIT_LEVEL)) best = l;
    }
    return best;
  });
}

/** Takes what a stage encodes away from the rows. */
export function takeAway(
  left: Int16Array,
  size: number,
  { shapes, levels }: Stage,
  shape: Uint32Array,
  gains: Uint8Array,
): void {
  for (let w = 0; w < shape.length; w++) {
    for (let i = 0; i < size; i++) left[w * size + i] -= part(shapes[shape[w] * size + i], levels[gains[w]]);
  }
}
