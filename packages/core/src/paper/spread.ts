/**
 * Spreading (the paper's algorithm 3): filters and rows find each other. A generator that yields after every iteration,
 * so progress, cancellation and stepping come from one mechanism; its last value is what was reached.
 */

import type { Assignment, HeldBank, HeldRows } from "../backends/contract.ts";
import { membersOf } from "../bank/assignment.ts";
import { placesOf, replaceGroups } from "../bank/groups.ts";
import type { Groups } from "../kernels/shapes.ts";
import type { FilterMaker } from "./filter-function.ts";
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

/** Filters after an iteration, valid until the next, and whether spreading has converged. */
export interface Spread {
  readonly bank: HeldBank;
  /** The rows each filter was made from. */
  readonly members: () => Groups;
  readonly step: Step;
  readonly converged: boolean;
  /** Which filter each row belonged to before the filters were recomputed. */
  readonly assignment: Assignment;
}

/** Where spreading goes on from: the iterations that were made, and which filter each row belonged to in the last. */
interface Resumed {
  readonly iterations: number;
  readonly before: Assignment | undefined;
}

const FROM_THE_START: Resumed = { iterations: 0, before: undefined };

interface SpreadOptions {
  readonly iterations: number;
  readonly tolerance: number;
}

/** Rows a filter without winners is rebuilt from. Source: the reference. */
const RELOCATION_ROWS = 5;

/**
 * `max` spreading: at most `iterations` rounds of assign and update. The bank of the last round is the caller's to release,
 * as is the one it began with; all others are released here.
 */
export async function* spreadMax(
  start: HeldBank,
  held: HeldRows,
  maker: FilterMaker,
  { iterations, tolerance }: SpreadOptions,
  resumed: Resumed = FROM_THE_START,
): AsyncGenerator<Spread> {
  let bank = start;
  let { before } = resumed;
  for (let iteration = resumed.iterations + 1; iteration <= iterations; iteration++) {
    const assignment = await held.assign(bank, before, { sums: true, rowsOfEmpty: RELOCATION_ROWS });
    const { moved, wins, changed } = assignment;
    const became = new Uint8Array(bank.filters);
    judge(wins, changed, became);
    const empty = placesOf(became, EMPTY);
    const relocated = empty.length > 0 ? await relocate(bank, empty, held) : undefined;

    // Rows do not change, so a filter whose rows are the same as before keeps its weights.
    const updated = placesOf(became, UPDATED);
    let next = await replaced(bank, updated, () => maker.fromAssignment(assignment, updated));
    if (relocated) {
      const moving = next;
      next = await replaced(moving, empty, () => maker.fromGroups(relocated)).finally(() => {
        if (moving !== bank) moving.release();
      });
    }
    if (bank !== start && bank !== next) bank.release();
    bank = next;
    before = assignment;

    // Deviations 11 and 12: a share of the rows, and converging is reported, not demanded.
    const converged = iteration > 1 && moved <= Math.floor(tolerance * held.rows);
    const members = (): Groups => {
      const won = membersOf(assignment);
      return relocated ? replaceGroups(won, empty, relocated) : won;
    };
    yield { bank, members, step: { iteration, moved, empty: empty.length }, converged, assignment };
    if (converged) return;
  }
}

/** A bank in which the filters at `positions` are those that `make` makes; the bank itself where there are none. */
async function replaced(bank: HeldBank, positions: Uint32Array, make: () => Promise<HeldBank>): Promise<HeldBank> {
  if (positions.length === 0) return bank;
  const fresh = await make();
  try {
    return await bank.replace(positions, fresh);
  } finally {
    fresh.release();
  }
}

/** `weightedAverage` spreading: always `iterations` rounds, as in the reference. Banks are released as by `spreadMax`. */
export async function* spreadWeighted(
  start: Start,
  held: HeldRows,
  maker: FilterMaker,
  initialized: Initialize | "rows",
  { iterations, tolerance }: SpreadOptions,
  resumed: Resumed = FROM_THE_START,
): AsyncGenerator<Spread> {
  let { bank, members } = start;
  // Source of both numbers: the reference.
  const nearest = Math.min(initialized === "random" ? Math.floor(bank.filters / 10) + 1 : 5, held.rows);
  let { before } = resumed;
  for (let iteration = resumed.iterations + 1; iteration <= iterations; iteration++) {
    const assignment = await held.assign(bank, before);
    const { moved, wins } = assignment;
    const next = await averageAround({ bank, members }, held, nearest, maker);
    if (bank !== start.bank && bank !== next.bank) bank.release();
    ({ bank, members } = next);
    before = assignment;
    const empty = wins.reduce((count, won) => count + (won === 0 ? 1 : 0), 0);
    const converged = iteration > 1 && moved <= Math.floor(tolerance * held.rows);
    const rows = members;
    yield { bank, members: () => rows, step: { iteration, moved, empty }, converged, assignment };
  }
}

/**
 * Deviation 9: new rows for filters that won none: those of the largest response relative to the row's mean response, so that a
 * filter moves to rows that respond to it more than to the others.
 */
async function relocate(bank: HeldBank, empty: Uint32Array, held: HeldRows): Promise<Groups> {
  const k = Math.min(RELOCATION_ROWS, held.rows);
  const { row } = await held.topRows(bank, empty, k);
  const offsets = Uint32Array.from({ length: empty.length + 1 }, (_, j) => j * k);
  const sorted = row.slice();
  for (let j = 0; j < empty.length; j++) sorted.subarray(j * k, (j + 1) * k).sort();
  return { offsets, rows: sorted };
}

/** What became of a filter: it won no row, or other rows than before. */
const EMPTY = 1;
const UPDATED = 2;

function judge(wins: Uint32Array, changed: Uint8Array, out: Uint8Array): void {
  for (let f = 0; f < wins.length; f++) out[f] = wins[f] === 0 ? EMPTY : changed[f] === 1 ? UPDATED : 0;
}
