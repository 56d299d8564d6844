/**
 * Filters in WebAssembly memory for sparse rows, in the form the bank has: base and exceptions, or all weights. And the
 * facts that decide which arithmetic is exact for them.
 */

import type { FilterBank, Weights } from "../../../kernels/shapes.ts";
import type { HostBank } from "../../host/bank.ts";
import type { Shared } from "../../host/counted.ts";
import { Context, copyIn, type Engine } from "../engine/engine.ts";
import { type Lease, sharing } from "../engine/memory.ts";
import * as slot from "./slots.ts";

/** The filters of a bank in memory. */
export interface CsrBank {
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

/** A bank in memory; the caller releases it. */
export function useCsrBank(engine: Engine, bank: HostBank): Promise<Shared<CsrBank>> {
  return bank.part<CsrBank>(
    "csr",
    () => true,
    () => sharing(engine.memory, (lease) => loadCsrBank(engine, lease, bank.host)),
  );
}

/** Copies the filters of a bank into memory of the lease. */
export async function loadCsrBank(engine: Engine, lease: Lease, bank: FilterBank): Promise<CsrBank> {
  const { filters, features, weights } = bank;
  const shared = { filters, features, weightBytes: weights.BYTES_PER_ELEMENT };
  const places = { weights: await copyIn(engine, lease, weights), norm: lease.put(bank.norm) };
  if (bank.form === "dense") {
    return { ...shared, ...places, sparse: false, offsets: 0, indices: 0, base: 0, facts: NO_FACTS };
  }
  return {
    ...shared,
    ...places,
    sparse: true,
    offsets: lease.put(bank.offsets),
    indices: await copyIn(engine, lease, bank.indices),
    base: lease.put(bank.base),
    facts: factsOf(engine, weights, places.weights, bank.base, bank.norm),
  };
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
    context.set([slot.FILTER_WEIGHTS, at], [slot.WEIGHT_BYTES, weights.BYTES_PER_ELEMENT]);
    return engine.ask("largest_weight_csr", weights.length, context.at);
  } finally {
    lease.release();
  }
}

/** Tells a context where the filters are. */
export function describeCsrBank(context: Context, bank: CsrBank): Context {
  return context
    .set([slot.FILTER_OFFSETS, bank.offsets], [slot.FILTER_INDICES, bank.indices], [slot.FILTER_WEIGHTS, bank.weights])
    .set([slot.WEIGHT_BYTES, bank.weightBytes], [slot.FILTER_BASE, bank.base], [slot.FILTER_NORM, bank.norm])
    .set([slot.FILTER_COUNT, bank.filters]);
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
