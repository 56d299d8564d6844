/** Filters as float32, for products that propose candidates (`candidates.ts`). */

import type { FilterBank } from "../../kernels/shapes.ts";
import { expandFilter } from "../../kernels/top.ts";
import type { Room } from "./device.ts";
import { padded, strideOf } from "./layout.ts";

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
}

/** Bytes of filters as they lie on the device. */
export function floatBytes({ filters, features }: FilterBank, columns: boolean): number {
  return padded(filters) * (columns ? 4 * features : strideOf(4 * features));
}

/**
 * The weights, each divided by the norm of its filter and by the largest quotient of all, so that none exceeds 1: a filter in a row, or
 * a feature if they are wanted in columns. Undefined where that cannot be done: norms that are not positive, weights that are all zero, too many columns.
 */
export function floatWeights(bank: FilterBank, columns: boolean): Float32Array | undefined {
  const { filters, features, norm } = bank;
  if (columns && filters * features > MOST_COLUMNS) return undefined;
  const scale = scaleOf(bank);
  if (!(scale > LEAST_SCALE && scale < MOST_SCALE)) return undefined;
  const weights = new Float32Array(floatBytes(bank, columns) / 4);
  const [ofFilter, ofFeature] = columns ? [1, padded(filters)] : [strideOf(4 * features) / 4, 1];
  const w = new Float64Array(features);
  for (let f = 0; f < filters; f++) {
    expandFilter(bank, f, w);
    for (let i = 0; i < features; i++) weights[f * ofFilter + i * ofFeature] = w[i] / norm[f] / scale;
  }
  return weights;
}

/** The largest |weight| / norm; NaN where a norm is not positive. */
function scaleOf(bank: FilterBank): number {
  let scale = 0;
  const w = new Float64Array(bank.features);
  for (let f = 0; f < bank.filters; f++) {
    if (!(bank.norm[f] > 0)) return Number.NaN;
    expandFilter(bank, f, w);
    let most = 0;
    for (let i = 0; i < w.length; i++) most = Math.max(most, Math.abs(w[i]));
    scale = Math.max(scale, most / bank.norm[f]);
  }
  return scale;
}
