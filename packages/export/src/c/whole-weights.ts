/** Filters as small whole numbers: exactly where they fit, else rounded, with a count of what rounding costs. */

import {
  asMatrix,
  type ClassifierModel,
  type Labels,
  type MatrixLike,
  type Model,
  RanksimError,
  type Run,
  toDense,
} from "@ranksim/core";
import { denseWeights, imageClassifierOf, isRanked, isScored } from "../parts.ts";

/** Bits of a weight. */
export type WeightBits = 8 | 16;

/** Weights as a header stores them. */
interface WholeWeights {
  readonly bits: WeightBits;
  /** filters x features. */
  readonly values: Uint8Array | Uint16Array;
  /** Whether the largest sum belongs to the same filter as the largest response, always. */
  readonly isExact: boolean;
}

/**
 * The weights as whole numbers of `bits` bits. Doubled ranks that fit are kept. Others are stretched over the range and rounded: a constant
 * added to all weights of all filters, and a common factor, change no winner.
 */
export function wholeWeights({ bank }: ClassifierModel, bits: WeightBits): WholeWeights {
  const weights = denseWeights(bank);
  const most = 2 ** bits - 1;
  const Type = bits === 8 ? Uint8Array : Uint16Array;
  const ranked = isRanked(bank);
  if (ranked && 2 * bank.features <= most) return { bits, values: Type.from(weights), isExact: true };
  const n = bank.features;
  const responseOf = (e: number): number => (ranked ? weights[e] : weights[e] / bank.norm[Math.floor(e / n)]);
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let e = 0; e < weights.length; e++) {
    low = Math.min(low, responseOf(e));
    high = Math.max(high, responseOf(e));
  }
  const step = high > low ? most / (high - low) : 0;
  const values = new Type(weights.length).map((_, e) => Math.round((responseOf(e) - low) * step));
  return { bits, values, isExact: false };
}

/** The fewest bits in which weights are exact; 16 where they are in none. */
export function exactBits(model: ClassifierModel): WeightBits {
  return wholeWeights(model, 8).isExact ? 8 : 16;
}

/** What fewer bits cost on rows that the model was not trained on. */
export interface BitsCheck {
  readonly rows: number;
  /** Rows given their own label by `predict`. */
  readonly right: number;
  /** The same by weights of 8 bits. */
  readonly rightIn8Bits: number;
  /** Rows that 8 bits give another label than `predict`. */
  readonly changed: number;
  /** 8 where no more rows are wrong than with all bits. */
  readonly bits: WeightBits;
}

/** Compares 8 bits with `predict` on held-out rows of bytes. */
export async function checkBits(given: Model, x: MatrixLike, y: Labels, run: Run = {}): Promise<BitsCheck> {
  const { classifier: model, patches } = imageClassifierOf(given, "c");
  const matrix = patches ? await patches.transform(x, run) : toDense(asMatrix(x));
  const expected = await model.predict(matrix, run);
  if (y.length !== matrix.rows) {
    throw new RanksimError("bad-labels", `expected ${matrix.rows} labels, one for each row, found ${y.length}`);
  }
  const found = predictWhole(model, wholeWeights(model, 8), matrix.values, matrix.rows);
  let right = 0;
  let rightIn8Bits = 0;
  let changed = 0;
  for (let r = 0; r < matrix.rows; r++) {
    const label = model.classes[found[r]];
    if (expected[r] === y[r]) right++;
    if (label === y[r]) rightIn8Bits++;
    if (label !== expected[r]) changed++;
  }
  return { rows: matrix.rows, right, rightIn8Bits, changed, bits: rightIn8Bits >= right ? 8 : 16 };
}

/** What a header answers, as a plain loop: the class number of each row. */
export function predictWhole(
  model: ClassifierModel,
  { values: weights }: WholeWeights,
  rows: ArrayLike<number>,
  count: number,
): Uint32Array {
  const { filterClass, classes, decision } = model;
  const m = filterClass.length;
  const filterBank = isScored(model) ? (model.filterBank ?? new Uint32Array(m)) : undefined;
  const n = weights.length / m;
  const c = classes.length;
  const scores = new Float64Array(c);
  return Uint32Array.from({ length: count }, (_, r) => {
    const sums = Float64Array.from({ length: m }, (_, f) => {
      let sum = 0;
      for (let i = 0; i < n; i++) sum += rows[r * n + i] * weights[f * n + i];
      return sum;
    });
    scores.fill(0);
    if (filterBank) {
      for (let from = 0, to = 0; from < m; from = to) {
        const best = new Float64Array(c);
        for (; to < m && filterBank[to] === filterBank[from]; to++) {
          best[filterClass[to]] = Math.max(best[filterClass[to]], sums[to]);
        }
        for (let j = 0; j < c; j++) scores[j] += best[j];
      }
    } else {
      const largest = sums.reduce((most, sum) => Math.max(most, sum));
      if (largest === 0 && decision === "probability") return 0;
      for (let f = 0; f < m; f++) if (sums[f] === largest) scores[filterClass[f]]++;
    }
    return scores.indexOf(scores.reduce((most, score) => Math.max(most, score)));
  });
}
