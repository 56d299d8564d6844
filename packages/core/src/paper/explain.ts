/**
 * Why a row was decided as it was: the strongest filters with the training rows they stand for, and the features that
 * carried the decision, as contributions to the difference between the strongest filter and the strongest of another class.
 */

import type { Backend } from "../backends/contract.ts";
import type { KeptBank } from "../backends/kept-bank.ts";
import { dotCsr } from "../kernels/dot.ts";
import type { FilterBank, Groups } from "../kernels/shapes.ts";
import { weightOf } from "../kernels/top.ts";
import type { Matrix } from "../matrix/matrix.ts";
import { toCsr } from "../matrix/matrix.ts";
import { type Contribution, contributionsOf } from "./contributions.ts";
import { similarities } from "./similarity.ts";

/** A filter that responds to the row. */
export interface StrongFilter {
  readonly filter: number;
  /** x·w / norm. */
  readonly response: number;
  /** 0..1, the row's strongest filter has 1. */
  readonly similarity: number;
  /** Training rows the filter was made from. */
  readonly rows: Uint32Array;
}

/** What a bank alone can say about a row. */
export interface BankExplanation {
  /** The similar filters, strongest first. */
  readonly filters: readonly StrongFilter[];
  /** The strongest filter of another class, if there is one. */
  readonly rival: number | undefined;
  /** Features that are not zero in the row and weigh differently, largest part first. Empty without a rival. */
  readonly contributions: readonly Contribution[];
}

/** Explains one row. `classOf` tells which filters count as one class; each filter its own class for a transform. */
export async function explainRow(
  row: Matrix, // one row
  keptBank: KeptBank,
  members: Groups,
  nBest: number,
  classOf: (filter: number) => number,
  backend: Backend,
  given?: number, // in: the class that the row was given, where filters vote; that of the strongest filter if absent
): Promise<BankExplanation> {
  const { bank } = keptBank;
  const filters: StrongFilter[] = [];
  for await (const { similar } of similarities(row, keptBank, nBest, backend, async () => {})) {
    for (let e = 0; e < similar.filter.length; e++) {
      const filter = similar.filter[e];
      filters.push({
        filter,
        response: respond(row, bank, filter),
        similarity: similar.similarity[e],
        rows: members.rows.slice(members.offsets[filter], members.offsets[filter + 1]),
      });
    }
  }
  if (filters.length === 0) return { filters, rival: undefined, contributions: [] };
  const chosen = given ?? classOf(filters[0].filter);
  const first = await strongestWhere(row, keptBank, (f) => classOf(f) === chosen, backend);
  const rival = await strongestWhere(row, keptBank, (f) => classOf(f) !== chosen, backend);
  if (first === undefined || rival === undefined) return { filters, rival, contributions: [] };
  return { filters, rival, contributions: partsOfLead(row, bank, first, rival) };
}

/** The strongest filter for which `holds`. */
async function strongestWhere(
  row: Matrix,
  bank: KeptBank,
  holds: (filter: number) => boolean,
  backend: Backend,
): Promise<number | undefined> {
  const { filters } = bank.bank;
  const held = await backend.hold(row, { filters });
  try {
    for (let k = 2; ; k = Math.min(filters, k * 8)) {
      const { filter } = await held.topFilters(bank.on(held), Math.min(k, filters));
      const found = filter.find(holds);
      if (found !== undefined || k >= filters) return found;
    }
  } finally {
    held.release();
  }
}

/** The parts of features in the difference between the responses of two filters. */
export function partsOfLead(row: Matrix, bank: FilterBank, first: number, rival: number): Contribution[] {
  const normalised = (f: number, feature: number) => weightOf(bank, f, feature) / bank.norm[f];
  return contributionsOf(row, (feature) => normalised(first, feature) - normalised(rival, feature));
}

/** The response of a filter to the row: its weights where the row has something, however wide it is. */
function respond(row: Matrix, bank: FilterBank, filter: number): number {
  const { indices, values, offsets } = toCsr(row);
  const weights = new Float64Array(8 * (offsets[1] - offsets[0]));
  // Each entry is moved to a place of the same lane.
  const places = new Uint32Array(offsets[1] - offsets[0]);
  for (let e = offsets[0]; e < offsets[1]; e++) {
    places[e - offsets[0]] = 8 * (e - offsets[0]) + (indices[e] % 8);
    weights[places[e - offsets[0]]] = weightOf(bank, filter, indices[e]);
  }
  const given = values.subarray(offsets[0], offsets[1]) as typeof values;
  return dotCsr(places, given, 0, places.length, weights) / bank.norm[filter];
}
