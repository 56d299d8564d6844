/** Filters as float32, for products that propose candidates (`candidates.ts`). */

import type { FilterBank } from "../../kernels/shapes.ts";
import { expandFilter } from "../../kernels/top.ts";
import type { Room } from "./device.ts";
import { padded, strideOf } from "./layout.ts";
import { MOST_WEIGHT } from "./respond.ts";

/** Filters in columns are written with a stride; beyond so many weights that takes longer than the host's search. */
const MOST_COLUMNS = 2 ** 26;
/** Scales that float64 divides by without a loss. */
const LEAST_SCALE = 2 ** -200;
const MOST_SCALE = 2 ** 200;

/** Filters on the device; `columns`: those of a feature lie side by side. */
export interface FloatFilters {
  readonly room: Room;
  readonly columns: boolean;
  /** Filters with those that are padding. */
  readonly filters: number;
  /** Where weights are whole numbers of one norm: each is what the device has, times two to this power. */
  readonly power: number | undefined;
}

/** Bytes of filters as they lie on the device. */
export function floatBytes({ filters, features }: FilterBank, columns: boolean): number {
  return padded(filters) * (columns ? 4 * features : strideOf(4 * features));
}

/**
 * The weights, each divided by the norm of its filter and by the largest quotient of all, or a little more, so that none exceeds 1: a filter
 * in a row, or a feature if they are wanted in columns. Whole weights of one norm are divided by a power of two, which loses
 * nothing. Undefined where it cannot be done: norms that are not positive, weights that are all zero, too many columns.
 */
export function floatWeights(
  bank: FilterBank,
  columns: boolean,
): { readonly weights: Float32Array; readonly power: number | undefined } | undefined {
  const { filters, features, norm } = bank;
  if (columns && filters * features > MOST_COLUMNS) return undefined;
  const { scale, most, isWhole } = measure(bank);
  if (!(scale > LEAST_SCALE && scale < MOST_SCALE)) return undefined;
  const power = isWhole && most < MOST_WEIGHT ? 32 - Math.clz32(most) : undefined;
  const weights = new Float32Array(floatBytes(bank, columns) / 4);
  const [ofFilter, ofFeature] = columns ? [1, padded(filters)] : [strideOf(4 * features) / 4, 1];
  const w = new Float64Array(features);
  for (let f = 0; f < filters; f++) {
    expandFilter(bank, f, w);
    const by = power === undefined ? norm[f] * scale : 2 ** power;
    for (let i = 0; i < features; i++) weights[f * ofFilter + i * ofFeature] = w[i] / by;
  }
  return { weights, power };
}

/** The largest |weight| / norm (NaN where a norm is not positive), the largest |weight|, and whether all are whole numbers from 0 of one norm. */
function measure(bank: FilterBank): { readonly scale: number; readonly most: number; readonly isWhole: boolean } {
  let scale = 0;
  let most = 0;
  let isWhole = true;
  const w = new Float64Array(bank.features);
  for (let f = 0; f < bank.filters; f++) {
    if (!(bank.norm[f] > 0)) return { scale: Number.NaN, most, isWhole };
    expandFilter(bank, f, w);
    let largest = 0;
    for (let i = 0; i < w.length; i++) {
      largest = Math.max(largest, Math.abs(w[i]));
      isWhole &&= w[i] >= 0 && w[i] === Math.floor(w[i]);
    }
    isWhole &&= bank.norm[f] === bank.norm[0];
    most = Math.max(most, largest);
    scale = Math.max(scale, largest / bank.norm[f]);
  }
  return { scale, most, isWhole };
}
