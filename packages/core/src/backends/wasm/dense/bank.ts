/**
 * Filters in WebAssembly memory, laid out for exact responses to dense rows, and the decision which arithmetic is exact
 * for them (`assembly/dense/respond.ts`). Dense and sparse banks alike; a sparse one is written out, a block of filters at a time.
 */

import type { DenseBank, FilterBank, SparseBank, Weights } from "../../../kernels/shapes.ts";
import { expandFilter } from "../../../kernels/top.ts";
import { Context, type Engine } from "../engine/engine.ts";
import { MOST_32, MOST_F32, MOST_F64 } from "../engine/exact.ts";
import { borrowed, type Lease, leased, Shared } from "../engine/memory.ts";
import { U16 } from "../engine/slots.ts";
import type { WasmBank } from "../shared/bank.ts";
import { isWholeType } from "../shared/rows.ts";
import {
  CENTRE_F64,
  FEATURES,
  FILTERS,
  FIRST_FILTER,
  FLUSH,
  MODE,
  NORM,
  ORDERED_F32,
  ORDERED_F64,
  SHIFTED,
  STRIDE,
  WEIGHTS,
  WHOLE_NARROW,
  WHOLE_WIDE,
} from "./context.ts";
import { type DenseBlock, strideOf } from "./rows.ts";

/** Filters a kernel takes at a time. */
export const FILTER_PIECE = 64;

/** What is taken off unsigned 16-bit rows. */
const OFFSET_U16 = 32_768;

/** A range of filters of a bank in memory. */
export interface LoadedBank {
  /** Number of its first filter in the bank. */
  readonly first: number;
  readonly filters: number;
  readonly features: number;
  readonly stride: number;
  /** Weights as whole numbers minus (n + 1) in 16 bits, as float32, or as float64. */
  readonly layout: "whole" | "f32" | "f64";
  readonly weights: number;
  readonly norm: number;
  /** o·Σv per filter, for unsigned 16-bit rows; layout `whole` only. */
  readonly shifted: number;
  /** Whether all norms are positive, and whether they are one number. */
  readonly positive: boolean;
  readonly equal: boolean;
  /** Largest absolute weight and largest Euclidean norm, of the weights as they are stored. */
  readonly largest: number;
  readonly longest: number;
}

/** Bytes that filters take for rows of such a type, at most. */
export function bytesOfFilters(bank: FilterBank, filters: number): number {
  return filters * strideOf(bank.features) * (bank.weights instanceof Float64Array ? 8 : 4);
}

/** The filters of a bank, loaded for rows like those of `block`; the caller releases them. */
export async function useBank(engine: Engine, bank: WasmBank, block: DenseBlock): Promise<Shared<LoadedBank>> {
  const { host } = bank;
  const load = (layout: "whole" | "wide") => () =>
    leased(engine.memory, async (lease) => {
      const weights = host.form === "dense" ? host.weights : writeOut(host, 0, host.filters);
      return new Shared(
        await lay(engine, lease, weights, host.norm, host.features, 0, layoutOf(weights, layout)),
        lease,
      );
    });
  if (isWholeType(block.type) && mayBeWhole(host)) {
    const whole = await bank.part<LoadedBank>("whole", () => true, load("whole"));
    if (isExact(whole.value, block)) return whole;
    whole.release();
  }
  return bank.part<LoadedBank>("wide", () => true, load("wide"));
}

/** Loads filters [first, last) for rows like those of `block` into memory of the lease. */
export async function loadBank(
  engine: Engine,
  lease: Lease,
  bank: FilterBank,
  first: number,
  last: number,
  block: DenseBlock,
): Promise<LoadedBank> {
  const weights = bank.form === "dense" ? denseRange(bank, first, last) : writeOut(bank, first, last);
  const norm = bank.norm.subarray(first, last);
  if (isWholeType(block.type) && weights instanceof Uint16Array) {
    const whole = await lay(engine, lease, weights, norm, bank.features, first, "whole");
    if (isExact(whole, block)) return whole;
  }
  return lay(engine, lease, weights, norm, bank.features, first, layoutOf(weights, "wide"));
}

/** The layout of weights that are whole, or of any. */
function layoutOf(weights: Weights, kind: "whole" | "wide"): LoadedBank["layout"] {
  if (kind === "whole") return "whole";
  const narrow = !(weights instanceof Float64Array) && (weights instanceof Uint16Array || most(weights) <= MOST_F32);
  return narrow ? "f32" : "f64";
}

/** Whether the weights are whole numbers of 16 bits, written out if they have to be. */
function mayBeWhole(bank: FilterBank): boolean {
  if (!(bank.weights instanceof Uint16Array)) return false;
  return bank.form === "dense" || bank.base.every((base) => Number.isInteger(base) && base >= 0 && base <= 65_535);
}

/** Tells a context where the filters are and how they respond to the rows of `block`. */
export function describeFilters(context: Context, loaded: LoadedBank, block: DenseBlock): Context {
  const { layout, largest, longest, features, stride } = loaded;
  const shift = block.type === U16 ? OFFSET_U16 : 0;
  const value = shift || block.largest;
  // |y||v| < 2^31 shows that the whole product fits 32 bits; otherwise the longest part that surely fits decides.
  const fits = value * Math.sqrt(features) * longest < MOST_32;
  const steps = Math.max(1, Math.floor((MOST_32 - 1) / (2 * Math.max(1, value) * Math.max(1, largest))));
  const mode = layout === "f32" ? ORDERED_F32 : layout === "f64" ? ORDERED_F64 : fits ? WHOLE_NARROW : WHOLE_WIDE;
  return context
    .set([WEIGHTS, loaded.weights], [MODE, mode], [FILTERS, loaded.filters], [NORM, loaded.norm])
    .set([SHIFTED, shift ? loaded.shifted : 0], [FLUSH, Math.min(steps * 16, stride * 2)], [FIRST_FILTER, loaded.first])
    .setF64([CENTRE_F64, features + 1]);
}

/** Whether whole rows and these whole weights give sums that are exact in float64 and weights that fit 16 bits. */
function isExact(loaded: LoadedBank, block: DenseBlock): boolean {
  const centre = loaded.features + 1;
  return (
    loaded.largest < OFFSET_U16 &&
    centre < OFFSET_U16 &&
    loaded.features * Math.max(block.largest, OFFSET_U16) * (loaded.largest + centre) < MOST_F64
  );
}

async function lay(
  engine: Engine,
  lease: Lease,
  weights: Weights,
  norms: Float64Array,
  features: number,
  first: number,
  layout: LoadedBank["layout"],
): Promise<LoadedBank> {
  const { memory } = engine;
  const stride = strideOf(features);
  const filters = norms.length;
  const size = filters * stride;
  const at = lease.take(size * (layout === "whole" ? 2 : layout === "f32" ? 4 : 8));
  const view =
    layout === "whole" ? memory.u16(at, size) : layout === "f32" ? memory.f32(at, size) : memory.f64(at, size);
  if (stride === features) view.set(weights);
  else {
    view.fill(0);
    for (let f = 0; f < filters; f++) view.set(weights.subarray(f * features, (f + 1) * features), f * stride);
  }
  const norm = lease.put(norms);
  const shifted = layout === "whole" ? lease.take(filters * 8) : 0;
  return borrowed(memory, async (own) => {
    const context = new Context(memory, own)
      .set([WEIGHTS, at], [STRIDE, stride], [FEATURES, features], [SHIFTED, shifted])
      .set([MODE, layout === "whole" ? WHOLE_NARROW : layout === "f32" ? ORDERED_F32 : ORDERED_F64])
      .setF64([CENTRE_F64, features + 1]);
    let largest = 0;
    if (layout === "whole" && features + 1 < OFFSET_U16) {
      const top = (await engine.run("centre_weights", filters, FILTER_PIECE, 0, context)).largest;
      largest = Math.max(features + 1, top - features - 1);
    } else if (layout === "whole") largest = OFFSET_U16;
    const { largest: longest } = await engine.run("measure_filters", filters, FILTER_PIECE, 0, context);
    const signs = { positive: arePositive(norms), equal: areEqual(norms) };
    return { first, filters, features, stride, layout, weights: at, norm, shifted, ...signs, largest, longest };
  });
}

// Loops over filters are functions of their own, here and in `bounds.ts`: an engine that finds a loop busy compiles all of
// the function around it.

function arePositive(norms: Float64Array): boolean {
  for (let f = 0; f < norms.length; f++) if (!(norms[f] > 0)) return false;
  return true;
}

function areEqual(norms: Float64Array): boolean {
  for (let f = 1; f < norms.length; f++) if (norms[f] !== norms[0]) return false;
  return true;
}

function denseRange(bank: DenseBank, first: number, last: number): Weights {
  return bank.weights.subarray(first * bank.features, last * bank.features) as Weights;
}

/** Filters [first, last) of a sparse bank, written out; as whole numbers where they are. */
function writeOut(bank: SparseBank, first: number, last: number): Weights {
  const n = bank.features;
  const size = (last - first) * n;
  const whole =
    !(bank.weights instanceof Float64Array) && bank.base.every((base) => Number.isInteger(base) && base >= 0);
  const wide = !(bank.weights instanceof Uint16Array) || bank.base.some((base) => base > 65_535);
  const out = !whole ? new Float64Array(size) : wide ? new Uint32Array(size) : new Uint16Array(size);
  const filter = new Float64Array(n);
  for (let f = first; f < last; f++) {
    expandFilter(bank, f, filter);
    out.set(filter, (f - first) * n);
  }
  return out;
}

function most(weights: Weights): number {
  let top = 0;
  for (let e = 0; e < weights.length; e++) if (weights[e] > top) top = weights[e];
  return top;
}
