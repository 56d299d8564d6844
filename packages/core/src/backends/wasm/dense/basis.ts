/**
 * The directions on which rows and filters are projected for bounds (`assembly/dense/bound.ts`, `assembly/dense/directions.ts`), found
 * from a sample of both. They decide how much is pruned, never an answer.
 */

import type { Shared } from "../../host/counted.ts";
import { Context, type Engine } from "../engine/engine.ts";
import { MOST_16, MOST_32 } from "../engine/exact.ts";
import { borrowed, type Lease, type Memory, sharing } from "../engine/memory.ts";
import { describeFilters, type LoadedBank } from "./bank.ts";
import { type DenseBlock, describeRows } from "./rows.ts";
import { LEVEL_2, LEVEL_3, PARTS } from "./sizes.ts";
import * as slot from "./slots.ts";

/** Rows and filters in the sample, and from how many pairs of them on it is twice as large. Measured. */
const SAMPLE = 256;
const MANY_PAIRS = 2 ** 25;
/** A sample of wide rows is smaller, so that finding directions takes no longer than a slice of other work. */
const FEWEST_SAMPLED = 32;
const MOST_SAMPLED_VALUES = 2 ** 22;
/** Rounds of subspace iteration. */
const ROUNDS = 2;
/** Filters the middle one is the mean of. */
const MIDDLE_SAMPLE = 64;
/** Directions that a feature takes part in: those of its part. */
const OF_PART = LEVEL_3 / PARTS;
/** Bytes of the rotation and its scale. */
const ROTATION_BYTES = 2 * LEVEL_2 * LEVEL_3 + 8;

/** Directions with a middle filter, shared by rows and banks. */
export interface Basis {
  readonly features: number;
  readonly panels: number;
  readonly scale: number;
  readonly filter: Middle;
}

/** What is taken off the filters before they are projected. */
export interface Middle {
  /** As float64. */
  readonly wide: number;
  /** In 16 bits (a filter minus n + 1), 0 if it is not whole. */
  readonly whole: number;
  /** Largest absolute value in 16 bits. */
  readonly largest: number;
  readonly length: number;
}

/** Directions for rows like those of `block` and filters like those of `loaded`; the caller releases them. */
export function findBasis(engine: Engine, block: DenseBlock, loaded: LoadedBank): Promise<Shared<Basis>> {
  const { memory } = engine;
  return sharing(memory, (lease) =>
    borrowed(memory, async (own) => {
      const filter = putMiddle(lease, middleFilter(memory, loaded), loaded);
      const panels = lease.take(2 * OF_PART * loaded.stride + ROTATION_BYTES);
      const wanted = block.rows * loaded.filters < MANY_PAIRS ? SAMPLE : 2 * SAMPLE;
      const most = Math.max(FEWEST_SAMPLED, Math.min(wanted, Math.floor(MOST_SAMPLED_VALUES / loaded.features)));
      const rows = spreadEvenly(block.rows, most);
      const filters = spreadEvenly(loaded.filters, most);
      const context = new Context(memory, own);
      describeFilters(describeRows(context, block), loaded, block)
        .set([slot.DIRECTIONS, panels], [slot.FILTER_MIDDLE, filter.wide])
        .set([slot.SAMPLE_ROWS, own.put(rows)], [slot.SAMPLE_ROW_COUNT, rows.length])
        .set([slot.SAMPLE_FILTERS, own.put(filters)], [slot.SAMPLE_FILTER_COUNT, filters.length])
        .setF64([slot.COMMON_NORM_F64, memory.f64(loaded.norm, 1)[0]]);
      const area = engine.ask("scratch_directions", context.at);
      const { largest: scale } = await engine.once("find_directions", ROUNDS, area, context);
      return { features: loaded.features, panels, scale, filter };
    }),
  );
}

/** Tells a context about the directions. */
export function describeBasis(context: Context, basis: Basis, block: DenseBlock | undefined): Context {
  const { filter } = basis;
  return context
    .set([slot.DIRECTIONS, basis.panels], [slot.FILTER_MIDDLE, filter.wide], [slot.FILTER_MIDDLE_16, filter.whole])
    .set([slot.FILTER_MIDDLE_FLUSH, flush(filter, block?.largest ?? MOST_16)])
    .setF64([slot.DIRECTION_SCALE_F64, basis.scale]);
}

/** Bytes of a product with values up to `largest` whose 32-bit sums surely fit. */
function flush(middle: Middle, largest: number): number {
  const steps = Math.floor((MOST_32 - 1) / (2 * Math.max(1, largest) * Math.max(1, middle.largest)));
  return 16 * Math.max(1, Math.min(steps, 2 ** 20));
}

/** Operations of finding a basis and projecting on it, to weigh against a full search. */
export function basisCost(rows: number, filters: number, features: number): number {
  const sampled = Math.min(rows, SAMPLE) + Math.min(filters, SAMPLE);
  return (OF_PART * features + LEVEL_2 * LEVEL_3) * (2 * ROUNDS * sampled + rows + filters);
}

/** Fewest filters and features for which bounds are less work than the responses themselves. Measured. */
export const FEWEST_FILTERS = 64;
export const FEWEST_FEATURES = 192;

function spreadEvenly(of: number, most: number): Uint32Array {
  const picked = new Uint32Array(Math.min(of, most));
  for (let j = 0; j < picked.length; j++) picked[j] = Math.floor((j * of) / picked.length);
  return picked;
}

/** The mean of some filters at the common norm; weights stored minus (n + 1) stay so. */
function middleFilter(memory: Memory, loaded: LoadedBank): Float64Array {
  const { stride, features, layout } = loaded;
  const mean = new Float64Array(stride);
  const norm = memory.f64(loaded.norm, loaded.filters);
  const picked = spreadEvenly(loaded.filters, MIDDLE_SAMPLE);
  for (const f of picked) {
    const at = loaded.weights + f * stride * (layout === "whole" ? 2 : layout === "f32" ? 4 : 8);
    const words = layout === "whole" ? memory.i16(at, features) : undefined;
    const weights = words ?? (layout === "f32" ? memory.f32(at, features) : memory.f64(at, features));
    addTo(mean, weights, norm[0] / norm[f] / picked.length);
  }
  return mean;
}

function addTo(sums: Float64Array, values: Int16Array | Float32Array | Float64Array, factor: number): void {
  for (let i = 0; i < values.length; i++) sums[i] += values[i] * factor;
}

/** Puts the middle filter into memory; that of whole filters is rounded to whole numbers, minus (n + 1). */
function putMiddle(lease: Lease, mean: Float64Array, { layout, features }: LoadedBank): Middle {
  let whole = 0;
  let largest = 0;
  if (layout === "whole") {
    const words = new Int16Array(mean.length);
    largest = roundInto(words, mean, features);
    whole = lease.put(words);
  }
  return { wide: lease.put(mean), whole, largest, length: lengthOf(mean) };
}

/** Rounds the mean to whole numbers, stored minus (n + 1) in `words`; returns the largest of those. */
function roundInto(words: Int16Array, mean: Float64Array, features: number): number {
  let largest = 0;
  for (let i = 0; i < features; i++) {
    words[i] = Math.max(-MOST_16, Math.min(MOST_16, Math.round(mean[i])));
    mean[i] = words[i] + features + 1;
    largest = Math.max(largest, Math.abs(words[i]));
  }
  return largest;
}

function lengthOf(vector: Float64Array): number {
  let square = 0;
  for (let i = 0; i < vector.length; i++) square += vector[i] * vector[i];
  return Math.sqrt(square);
}
