/** Inverted indexes of sparse banks (`assembly/sparse/inverted-index.ts`), and the decision which arithmetic they hold. */

import { numbersBelow } from "../../../kernels/rows.ts";
import type { HostBank } from "../../host/bank.ts";
import type { Shared } from "../../host/counted.ts";
import { Context, type Engine } from "../engine/engine.ts";
import { MOST_32, MOST_F32, MOST_F64 } from "../engine/exact.ts";
import { borrowed, type Lease, sharing } from "../engine/memory.ts";
import { type CsrBank, describeCsrBank } from "./bank.ts";
import type { CsrBlock } from "./rows.ts";
import * as slot from "./slots.ts";

/** Exceptions a kernel takes at a time, about. */
const PIECE_EXCEPTIONS = 2 ** 20;
/** Norms outside these bounds could make a quotient or a threshold round in ways no allowance covers. */
const SMALLEST_NORM = 1e-100;
const LARGEST_NORM = 1e100;
/** A response smaller or larger than this could have met underflow or overflow. */
const SMALLEST_RESPONSE = 1e-200;
const LARGEST_RESPONSE = 1e200;

/** An index of some filters of a bank in memory: what a context must be told of it. */
export interface CsrIndex {
  readonly slots: readonly (readonly [slot: number, value: number])[];
  readonly slotsF64: readonly (readonly [slot: number, value: number])[];
}

/** The index of all filters, to compare them with each other; the caller releases it. */
export function useIndex(engine: Engine, bank: HostBank, loaded: CsrBank, whole: boolean): Promise<Shared<CsrIndex>> {
  return bank.part<CsrIndex>(
    whole ? "whole index" : "index",
    () => true,
    () =>
      sharing(engine.memory, (lease) =>
        makeIndex(engine, lease, loaded, numbersBelow(loaded.filters), { whole, byNorm: true }),
      ),
  );
}

/** Whether an index gives right answers for this bank at all. */
export function isIndexable(bank: CsrBank): boolean {
  const { sparse, facts } = bank;
  return sparse && facts.lowestNorm >= SMALLEST_NORM && facts.highestNorm <= LARGEST_NORM;
}

/** Whether products of these rows are exact in whole numbers. */
export function isExact(bank: CsrBank, block: CsrBlock): boolean {
  const { whole, spread, highest } = bank.facts;
  return whole && spread < MOST_32 && block.largest * Math.max(1, highest) < MOST_F64;
}

/** Whether all filters have one norm, without which an index cannot be whole where norms count. */
export function isOfOneNorm({ facts }: CsrBank): boolean {
  return facts.lowestNorm === facts.highestNorm;
}

/** How an index is made. */
interface IndexKind {
  readonly whole: boolean;
  /** Whether filters are compared with each other, by their responses; not by whole numbers unless they are of one norm. */
  readonly byNorm: boolean;
}

/** Makes the index of the listed filters (numbers within `bank`) in memory of the lease. */
export async function makeIndex(
  engine: Engine,
  lease: Lease,
  bank: CsrBank,
  filters: Uint32Array,
  kind: IndexKind,
): Promise<CsrIndex> {
  const { memory } = engine;
  const { whole, byNorm } = kind;
  const places = filters.length;
  const room = Math.ceil(places / 4) * 4;
  const { lowest, highest, lowestBase, highestBase, spread, lowestNorm, highestNorm } = bank.facts;
  const bases = memory.f64(bank.base, bank.filters);
  const norms = memory.f64(bank.norm, bank.filters);
  const common = byNorm ? norms[filters[0]] : 1;
  const largest = Math.max(Math.abs(lowest), Math.abs(highest)) * (byNorm ? common / lowestNorm : 1);
  const scale = largest > 0 ? 2 ** Math.max(-1000, Math.min(1000, -Math.ceil(Math.log2(largest)))) : 1;
  const factors = new Float64Array(room);
  const placeBase = new Float64Array(room);
  for (let p = 0; p < places; p++) {
    factors[p] = byNorm ? common / norms[filters[p]] : 1;
    placeBase[p] = whole ? bases[filters[p]] : bases[filters[p]] * factors[p] * scale;
  }
  const share = byNorm ? common / lowestNorm : 1; // the largest factor
  const isExactHere =
    whole || (bank.weightBytes < 8 && bank.facts.whole && spread < MOST_F32 && (!byNorm || isOfOneNorm(bank)));
  const slotsF64: CsrIndex["slotsF64"] = [
    [slot.SCALE_F64, scale],
    [slot.SPREAD_F64, (spread + Math.max(Math.abs(lowestBase), Math.abs(highestBase))) * share * scale],
    [slot.LARGEST_32_F64, MOST_32 / Math.max(1, highest)],
    [slot.COMMON_NORM_F64, common],
    [slot.TINY_ROW_F64, (SMALLEST_RESPONSE * Math.max(1, highestNorm)) / (largest || 1)],
    [slot.HUGE_ROW_F64, (LARGEST_RESPONSE * Math.min(1, lowestNorm)) / (largest || 1)],
  ];
  const slots: [slot: number, value: number][] = [
    [slot.WHOLE, whole ? 1 : 0],
    [slot.PLACES, places],
    [slot.ROOM, room],
    [slot.EXACT_DIFFERENCES, isExactHere ? 1 : 0],
  ];
  const keep = (slot: number, at: number): void => {
    slots.push([slot, at]);
  };
  keep(slot.PLACE_FILTER, lease.put(filters));
  keep(slot.PLACE_BASE_32S, lease.put(whole ? Int32Array.from(placeBase) : Float32Array.from(placeBase)));
  keep(slot.PLACE_BASE_F64S, lease.put(placeBase));
  keep(slot.PLACE_FACTOR_F64S, lease.put(factors));
  keep(slot.TABLE, lease.take(bank.features * 8));
  const index = { slots, slotsF64 };
  return borrowed(memory, async (own) => {
    const context = describeIndex(describeCsrBank(new Context(memory, own), bank), index);
    context.set([slot.FEATURES, bank.features]);
    const [exceptions] = memory.u32(bank.offsets + bank.filters * 4, 1);
    const piece = Math.max(1, Math.floor((PIECE_EXCEPTIONS * bank.filters) / Math.max(1, exceptions)));
    await engine.inOrder("plan_index_csr", places, piece, 0, context);
    const [columns] = memory.u32(context.at + slot.COLUMN_COUNT, 1);
    const [postings] = memory.u32(context.at + slot.POSTING_COUNT, 1);
    slots.push([slot.COLUMN_COUNT, columns]);
    keep(slot.COLUMNS, lease.take(columns * room * 4));
    keep(slot.COLUMN_BOUNDS, lease.take(columns * 8));
    keep(slot.POSTINGS, lease.take(postings * 8));
    if (!isExactHere) {
      keep(slot.COLUMN_EXCEPTIONS, lease.take(columns * room * 4));
      keep(slot.POSTING_EXCEPTIONS, lease.take(postings * 4));
    }
    describeIndex(context, index);
    await engine.run("clear_index_csr", columns, Math.max(1, Math.floor(PIECE_EXCEPTIONS / room)), 0, context);
    await engine.inOrder("fill_index_csr", places, piece, 0, context);
    return index;
  });
}

/** Tells a context about an index. */
export function describeIndex(context: Context, { slots, slotsF64 }: CsrIndex): Context {
  return context.set(...slots).setF64(...slotsF64);
}
