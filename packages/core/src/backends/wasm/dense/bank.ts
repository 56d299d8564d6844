/**
 * Filters in WebAssembly memory, laid out for exact responses to dense rows, and the decision which arithmetic is exact
 * for them (`assembly/dense/respond.ts`). Dense and sparse banks alike; a sparse one is written out, a block of filters at a time.
 */

import type { DenseBank, FilterBank, SparseBank, Weights } from "../../../kernels/shapes.ts";
import { expandFilter } from "../../../kernels/top.ts";
import type { HostBank } from "../../host/bank.ts";
import type { Shared } from "../../host/counted.ts";
import { Context, type Engine } from "../engine/engine.ts";
import { MOST_32, MOST_F32, MOST_F64 } from "../engine/exact.ts";
import { borrowed, type Lease, sharing } from "../engine/memory.ts";
import { U16 } from "../engine/slots.ts";
import { isWholeType } from "../shared/rows.ts";
import { type DenseBlock, strideOf } from "./rows.ts";
import { ORDERED_F32, ORDERED_F64, WHOLE_NARROW, WHOLE_WIDE } from "./sizes.ts";
import * as slot from "./slots.ts";

/** Filters a kernel takes at a time. */
export const FILTER_PIECE = 64;

/** What is taken off unsigned 16-bit rows. */
const OFFSET_U16 = 32_768;

/** The filters of a bank in memory. */
export interface LoadedBank {
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

/** The filters of a bank, loaded for rows like those of `block`; the caller releases them. */
export async function useBank(engine: Engine, bank: HostBank, block: DenseBlock): Promise<Shared<LoadedBank>> {
  const { host } = bank;
  const load = (layout: "whole" | "wide") => () =>
    sharing(engine.memory, (lease) => {
      const weights = host.form === "dense" ? host.weights : writeOut(host);
      return lay(engine, lease, weights, host.norm, host.features, layoutOf(weights, layout));
    });
  if (isWholeType(block.type) && mayBeWhole(host)) {
    const whole = await bank.part<LoadedBank>("whole", () => true, load("whole"));
    if (isExact(whole.value, block)) return whole;
    whole.release();
  }
  return bank.part<LoadedBank>("wide", () => true, load("wide"));
}

/** A bank laid out for rows like those of `block` by itself, in memory of the lease, so that its weights can be written to. */
export async function layBank(engine: Engine, lease: Lease, bank: DenseBank, block: DenseBlock): Promise<LoadedBank> {
  const { weights, norm, features } = bank;
  if (isWholeType(block.type) && mayBeWhole(bank)) {
    const whole = await lay(engine, lease, weights, norm, features, "whole");
    if (isExact(whole, block)) return whole;
  }
  return lay(engine, lease, weights, norm, features, layoutOf(weights, "wide"));
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
  const { layout, largest, stride, features } = loaded;
  const shift = block.type === U16 ? OFFSET_U16 : 0;
  const value = shift || block.largest;
  // Where the whole product need not fit 32 bits, the longest part that surely fits decides.
  const steps = Math.max(1, Math.floor((MOST_32 - 1) / (2 * Math.max(1, value) * Math.max(1, largest))));
  const whole = isNarrow(loaded, block) ? WHOLE_NARROW : WHOLE_WIDE;
  const mode = layout === "f32" ? ORDERED_F32 : layout === "f64" ? ORDERED_F64 : whole;
  return context
    .set([slot.WEIGHTS, loaded.weights], [slot.MODE, mode], [slot.FILTERS, loaded.filters], [slot.NORM, loaded.norm])
    .set([slot.SHIFTED, shift ? loaded.shifted : 0], [slot.FLUSH, Math.min(steps * 16, stride * 2)])
    .setF64([slot.CENTRE_F64, features + 1]);
}

/** Whether products are whole and fit 32 bits: |y||v| < 2^31. */
export function isNarrow({ layout, features, longest }: LoadedBank, { type, largest }: DenseBlock): boolean {
  return layout === "whole" && (type === U16 ? OFFSET_U16 : largest) * Math.sqrt(features) * longest < MOST_32;
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
      .set([slot.WEIGHTS, at], [slot.STRIDE, stride], [slot.FEATURES, features], [slot.SHIFTED, shifted])
      .set([slot.MODE, layout === "whole" ? WHOLE_NARROW : layout === "f32" ? ORDERED_F32 : ORDERED_F64])
      .setF64([slot.CENTRE_F64, features + 1]);
    let largest = 0;
    if (layout === "whole" && features + 1 < OFFSET_U16) {
      const top = (await engine.run("centre_weights", filters, FILTER_PIECE, 0, context)).largest;
      largest = Math.max(features + 1, top - features - 1);
    } else if (layout === "whole") largest = OFFSET_U16;
    const { largest: longest } = await engine.run("measure_filters", filters, FILTER_PIECE, 0, context);
    const signs = { positive: arePositive(norms), equal: areEqual(norms) };
    return { filters, features, stride, layout, weights: at, norm, shifted, ...signs, largest, longest };
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

/** The filters of a sparse bank, written out; as whole numbers where they are. */
function writeOut(bank: SparseBank): Weights {
  const n = bank.features;
  const size = bank.filters * n;
  const whole =
    !(bank.weights instanceof Float64Array) && bank.base.every((base) => Number.isInteger(base) && base >= 0);
  const wide = !(bank.weights instanceof Uint16Array) || bank.base.some((base) => base > 65_535);
  const out = !whole ? new Float64Array(size) : wide ? new Uint32Array(size) : new Uint16Array(size);
  const filter = new Float64Array(n);
  for (let f = 0; f < bank.filters; f++) {
    expandFilter(bank, f, filter);
    out.set(filter, f * n);
  }
  return out;
}

function most(weights: Weights): number {
  let top = 0;
  for (let e = 0; e < weights.length; e++) if (weights[e] > top) top = weights[e];
  return top;
}
