/** Questions to back ends for tests that hold plain rows and filters: handles are made for one question and released. */

import { expect } from "vitest";
import type {
  Assignment,
  Backend,
  HeldBank,
  HeldRows,
  Leaders,
  TopFilters,
  TopRows,
} from "../../src/backends/contract.ts";
import { meanFilter } from "../../src/bank/bank.ts";
import { sourceOf } from "../../src/kernels/rows.ts";
import type { FilterBank, Groups, Rows } from "../../src/kernels/shapes.ts";
import { topFilters } from "../../src/kernels/top.ts";
import { expectSame } from "./csr-data.ts";

/** Holds plain rows. */
export function hold(backend: Backend, x: Rows): Promise<HeldRows> {
  return backend.hold(sourceOf(x));
}

async function withBank<T>(held: HeldRows, bank: FilterBank, ask: (bank: HeldBank) => Promise<T>): Promise<T> {
  const loaded = held.load(bank);
  try {
    return await ask(loaded);
  } finally {
    loaded.release();
  }
}

export function topFiltersOn(held: HeldRows, bank: FilterBank, k: number, of?: Uint32Array): Promise<TopFilters> {
  return withBank(held, bank, (loaded) => held.topFilters(loaded, k, of));
}

export function leadersOn(held: HeldRows, bank: FilterBank): Promise<Leaders> {
  return withBank(held, bank, (loaded) => held.leaders(loaded));
}

export function topRowsOn(held: HeldRows, bank: FilterBank, filters: Uint32Array, k: number): Promise<TopRows> {
  return withBank(held, bank, (loaded) => held.topRows(loaded, filters, k));
}

/** One filter per group: the rank, or the draw from the distribution, of the sum of its rows. */
export async function rankSumsOn(held: HeldRows, groups: Groups, distribution?: Float64Array): Promise<FilterBank> {
  return readAndRelease(await held.rank(groups, distribution));
}

export async function readAndRelease(bank: HeldBank): Promise<FilterBank> {
  try {
    return await bank.read();
  } finally {
    bank.release();
  }
}

/** What `topRows` divides responses by: each row's response to all filters together, or 0 where it is negative. */
export function meanResponses(x: Rows, bank: FilterBank): Float64Array {
  return topFilters(x, meanFilter(bank), 1).response.map((response) => Math.max(0, response));
}

/** Assigns rows to a bank, beginning from an earlier assignment, and compares what is found with the plain loops. */
export async function expectAssigned(
  held: HeldRows,
  x: Rows,
  bank: HeldBank,
  before?: Assignment,
): Promise<Assignment> {
  const { filter } = topFilters(x, await bank.read(), 1);
  const earlier = before?.winners;
  const assigned = await held.assign(bank, before);
  expectSame(assigned.winners, filter);
  const moves = [...filter.keys()].filter((r) => filter[r] !== earlier?.[r]);
  expect(assigned.moved).toBe(moves.length);
  const touched = new Set(moves.flatMap((r) => (earlier ? [filter[r], earlier[r]] : [filter[r]])));
  for (let f = 0; f < bank.filters; f++) {
    if (earlier || touched.has(f)) expect(assigned.changed[f]).toBe(touched.has(f) ? 1 : 0);
    expect(assigned.wins[f]).toBe(filter.filter((winner) => winner === f).length);
  }
  return assigned;
}
