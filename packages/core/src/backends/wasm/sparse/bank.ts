/**
 * Filters in WebAssembly memory for sparse rows, in the form the bank has: base and exceptions, or all weights. And the
 * facts that decide which arithmetic is exact for them.
 */

import type { FilterBank, Weights } from "../../../kernels/shapes.ts";
import { Context, copyIn, type Engine } from "../engine/engine.ts";
import type { Lease } from "../engine/memory.ts";
import {
  FILTER_BASE,
  FILTER_COUNT,
  FILTER_INDICES,
  FILTER_NORM,
  FILTER_OFFSETS,
  FILTER_WEIGHTS,
  FIRST_FILTER,
  WEIGHT_BYTES,
} from "./context.ts";

/** Filters [first, first + filters) of a bank in memory. */
export interface CsrBank {
  readonly first: number;
  readonly filters: number;
  readonly features: number;
  readonly sparse: boolean;
  /** 0 for dense banks, as are `indices` and `base`. */
  readonly offsets: number;
  readonly indices: number;
  readonly weights: number;
  readonly weightBytes: number;
  readonly base: number;
  readonly norm: number;
  readonly facts: Facts;
}

/** What decides whether and how filters can be indexed. */
interface Facts {
  /** Whether all weights and bases are whole and not negative. */
  readonly whole: boolean;
  /** No weight or base lies outside these. */
  readonly lowest: number;
  readonly highest: number;
  readonly lowestBase: number;
  readonly highestBase: number;
  /** No weight differs more from its base. */
  readonly spread: number;
  readonly lowestNorm: number;
  readonly highestNorm: number;
}

/** Dense banks are not indexed: these are never read. */
const NO_FACTS: Facts = {
  whole: false,
  lowest: 0,
  highest: 0,
  lowestBase: 0,
  highestBase: 0,
  spread: 0,
  lowestNorm: 0,
  highestNorm: 0,
};

/** Bytes that filters [first, last) take. */
export function bytesOfBank(bank: FilterBank, first: number, last: number): number {
  const size = bank.weights.BYTES_PER_ELEMENT;
  if (bank.form === "dense") return (last - first) * (bank.features * size + 8);
  return (bank.offsets[last] - bank.offsets[first]) * (4 + size) + (last - first) * 20;
}

/** Copies filters [first, last) into memory of the lease. */
export async function loadCsrBank(
  engine: Engine,
  lease: Lease,
  bank: FilterBank,
  first: number,
  last: number,
): Promise<CsrBank> {
  const { features } = bank;
  const norms = bank.norm.subarray(first, last);
  const weightBytes = bank.weights.BYTES_PER_ELEMENT;
  const shared = { first, filters: last - first, features, weightBytes };
  if (bank.form === "dense") {
    const weights = await copyIn(engine, lease, bank.weights.subarray(first * features, last * features));
    const norm = lease.put(norms);
    return { ...shared, sparse: false, offsets: 0, indices: 0, base: 0, weights, norm, facts: NO_FACTS };
  }
  const [from, to] = [bank.offsets[first], bank.offsets[last]];
  const bases = bank.base.subarray(first, last);
  const weights = bank.weights.subarray(from, to) as Weights;
  const places = {
    offsets: lease.put(bank.offsets.subarray(first, last + 1).map((offset) => offset - from)),
    indices: await copyIn(engine, lease, bank.indices.subarray(from, to)),
    weights: await copyIn(engine, lease, weights),
    base: lease.put(bases),
    norm: lease.put(norms),
  };
  return { ...shared, ...places, sparse: true, facts: factsOf(engine, weights, places.weights, bases, norms) };
}

function factsOf(engine: Engine, weights: Weights, at: number, bases: Float64Array, norms: Float64Array): Facts {
  const [norm, base] = [bounds(norms), bounds(bases)];
  const float = weights instanceof Float64Array;
  const weight = float ? bounds(weights) : { lowest: 0, highest: largestInteger(engine, weights, at) };
  return {
    whole: !float && base.lowest >= 0 && bases.every(Number.isInteger),
    lowest: Math.min(base.lowest, weight.lowest),
    highest: Math.max(base.highest, weight.highest),
    lowestBase: base.lowest,
    highestBase: base.highest,
    spread: Math.max(weight.highest - base.lowest, base.highest - weight.lowest, 0),
    lowestNorm: norm.lowest,
    highestNorm: norm.highest,
  };
}

/** Ten times faster than here. */
function largestInteger(engine: Engine, weights: Weights, at: number): number {
  const lease = engine.memory.lease();
  try {
    const context = new Context(engine.memory, lease);
    context.set([FILTER_WEIGHTS, at], [WEIGHT_BYTES, weights.BYTES_PER_ELEMENT]);
    return engine.ask("largest_weight_csr", weights.length, context.at);
  } finally {
    lease.release();
  }
}

/** Tells a context where the filters are. */
export function describeCsrBank(context: Context, bank: CsrBank): Context {
  return context
    .set([FILTER_OFFSETS, bank.offsets], [FILTER_INDICES, bank.indices], [FILTER_WEIGHTS, bank.weights])
    .set([WEIGHT_BYTES, bank.weightBytes], [FILTER_BASE, bank.base], [FILTER_NORM, bank.norm])
    .set([FILTER_COUNT, bank.filters], [FIRST_FILTER, bank.first]);
}

/** Lowest and highest of some numbers; a NaN makes both NaN. Of no numbers: Infinity and -Infinity, so that any others replace them. */
function bounds(values: Float64Array): { lowest: number; highest: number } {
  let lowest = Number.POSITIVE_INFINITY;
  let highest = Number.NEGATIVE_INFINITY;
  for (let e = 0; e < values.length; e++) {
    lowest = Math.min(lowest, values[e]);
    highest = Math.max(highest, values[e]);
  }
  return { lowest, highest };
}
