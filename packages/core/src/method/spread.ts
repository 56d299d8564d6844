/**
 * Spreading (the paper's algorithm 3): filters and rows find each other. A generator that yields after every iteration,
 * so progress, cancellation and stepping come from one mechanism; its last value is what was reached.
 */

import type { Held, Since, TopFilters } from "../backends/backend.ts";
import type { FilterBank, Groups } from "../kernels/shapes.ts";
import { meanFilter, replaceFilters } from "./bank.ts";
import type { MakeFilters } from "./filter-function.ts";
import { groupByCode, pickGroups, replaceGroups } from "./groups.ts";
import { averageAround, type Initialize, type Start } from "./initialize.ts";

/** How filters move: to the rows they win, to the weighted average of the rows near them, or not at all. */
export type Spreading = "max" | "weightedAverage" | "none";

/** One iteration. */
export interface Step {
  /** From 1. */
  readonly iteration: number;
  /** Rows whose strongest filter changed; in the first iteration all rows. */
  readonly moved: number;
  /** Filters that won no row. */
  readonly empty: number;
}

/** Filters after an iteration, the rows each was made from, and whether spreading has come to rest. */
export interface Spread extends Start {
  readonly step: Step;
  readonly converged: boolean;
  /** What is known of the filters, for the next search; absent where none of it helps. */
  readonly since?: Since;
}

export interface SpreadOptions {
  readonly iterations: number;
  readonly tolerance: number;
  /** Whether somebody looks on, who may keep the bank of any round: then none takes the place of an earlier one. */
  readonly watched?: boolean;
}

/** Rows a filter without winners is rebuilt from. Source: the reference. */
const RELOCATION_ROWS = 5;

/** `max` spreading: at most `iterations` rounds of assign and update. */
export async function* spreadMax(
  start: Start,
  held: Held,
  rows: number,
  makeFilters: MakeFilters,
  { iterations, tolerance, watched = true }: SpreadOptions,
): AsyncGenerator<Spread> {
  let { bank, members } = start;
  let since: Since | undefined;
  let spent: FilterBank | undefined;
  for (let iteration = 1; iteration <= iterations; iteration++) {
    const winners = await held.topFilters(bank, 1, since);
    const groups = groupByCode(winners.filter, bank.filters);
    const { moved, touched } = compareWinners(since?.winners, winners, bank.filters);
    const empty = filtersWhere(bank.filters, (f) => groups.offsets[f] === groups.offsets[f + 1]);
    for (const f of empty) touched[f] = 0;

    // Rows do not change, so a filter whose rows are the same as before keeps its weights.
    const updated = filtersWhere(bank.filters, (f) => touched[f] === 1);
    const won = pickGroups(groups, updated);
    const { positions, fresh } = mergeByPosition(
      updated,
      won,
      empty,
      empty.length > 0 ? await relocate(bank, empty, held, rows) : undefined,
    );
    members = replaceGroups(members, positions, fresh);
    const replaced = replaceFilters(bank, positions, await makeFilters(fresh), spent);
    spent = watched ? undefined : bank;
    bank = replaced.bank;
    since = { winners, changed: replaced.changed };

    // Deviations 11 and 12: a share of the rows, and coming to rest is reported, not demanded.
    const converged = iteration > 1 && moved <= Math.floor(tolerance * rows);
    yield { bank, members, step: { iteration, moved, empty: empty.length }, converged, since };
    if (converged) return;
  }
}

/** `weightedAverage` spreading: always `iterations` rounds, as in the reference. */
export async function* spreadWeighted(
  start: Start,
  held: Held,
  rows: number,
  makeFilters: MakeFilters,
  initialized: Initialize | "rows",
  { iterations, tolerance }: SpreadOptions,
): AsyncGenerator<Spread> {
  let { bank, members } = start;
  // Source of both numbers: the reference.
  const nearest = Math.min(initialized === "random" ? Math.floor(bank.filters / 10) + 1 : 5, rows);
  let before: TopFilters | undefined;
  for (let iteration = 1; iteration <= iterations; iteration++) {
    const winners = await held.topFilters(bank, 1);
    const { moved } = compareWinners(before, winners, bank.filters);
    before = winners;
    ({ bank, members } = await averageAround({ bank, members }, held, nearest, makeFilters));
    const wins = new Uint8Array(bank.filters);
    for (const f of winners.filter) wins[f] = 1;
    const empty = wins.reduce((count, won) => count - won, bank.filters);
    const converged = iteration > 1 && moved <= Math.floor(tolerance * rows);
    yield { bank, members, step: { iteration, moved, empty }, converged };
  }
}

/** Counts the rows whose winner changed and marks (1) the filters that lost or gained one. */
function compareWinners(
  before: TopFilters | undefined,
  now: TopFilters,
  filters: number,
): { moved: number; touched: Uint8Array } {
  if (!before) return { moved: now.rows, touched: new Uint8Array(filters).fill(1) };
  const touched = new Uint8Array(filters);
  let moved = 0;
  for (let r = 0; r < now.rows; r++) {
    if (before.filter[r] === now.filter[r]) continue;
    moved++;
    touched[before.filter[r]] = 1;
    touched[now.filter[r]] = 1;
  }
  return { moved, touched };
}

/**
 * Deviation 9: new rows for filters that won none: those of the largest response relative to the row's mean response, so that a
 * filter moves to rows that like it better than they like the others. A row whose mean is not positive counts as 0: divided by a
 * negative mean, the row that likes the filter least would come first.
 */
async function relocate(bank: FilterBank, empty: Uint32Array, held: Held, rows: number): Promise<Groups> {
  const mean = await held.topFilters(meanFilter(bank), 1);
  const k = Math.min(RELOCATION_ROWS, rows);
  const { row } = await held.topRows(
    bank,
    empty,
    k,
    mean.response.map((response) => Math.max(response, 0)),
  );
  const offsets = Uint32Array.from({ length: empty.length + 1 }, (_, j) => j * k);
  const sorted = row.slice();
  for (let j = 0; j < empty.length; j++) sorted.subarray(j * k, (j + 1) * k).sort();
  return { offsets, rows: sorted };
}

/** Two lists of filters with their groups as one list in ascending order of filter. */
function mergeByPosition(
  a: Uint32Array,
  aGroups: Groups,
  b: Uint32Array,
  bGroups: Groups | undefined,
): { positions: Uint32Array; fresh: Groups } {
  if (!bGroups) return { positions: a, fresh: aGroups };
  const positions = new Uint32Array(a.length + b.length);
  positions.set(a);
  positions.set(b, a.length);
  const order = Uint32Array.from(positions.keys()).sort((p, q) => positions[p] - positions[q]);
  const shift = aGroups.rows.length;
  const rows = new Uint32Array(shift + bGroups.rows.length);
  rows.set(aGroups.rows);
  rows.set(bGroups.rows, shift);
  const offsets = new Uint32Array(positions.length + 1);
  offsets.set(aGroups.offsets);
  for (let j = 1; j <= b.length; j++) offsets[a.length + j] = shift + bGroups.offsets[j];
  return { positions: positions.sort(), fresh: pickGroups({ offsets, rows }, order) };
}

function filtersWhere(filters: number, holds: (f: number) => boolean): Uint32Array {
  const found: number[] = [];
  for (let f = 0; f < filters; f++) if (holds(f)) found.push(f);
  return Uint32Array.from(found);
}
