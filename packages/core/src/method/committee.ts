/**
 * Committees (deviation 30): several banks, each with filters of every class, trained apart. A class scores the sum over the
 * banks of its strongest response; the class of a row is the one that scores most.
 */

import type { Backend, Held } from "../backends/backend.ts";
import { pickFilters } from "../kernels/pick-filters.ts";
import type { FilterBank } from "../kernels/shapes.ts";
import type { Matrix } from "../matrix/matrix.ts";
import { classBanks } from "./class-scores.ts";
import { groupByCode } from "./groups.ts";
import { chunksOf, type OnChunk } from "./similarity.ts";
import { indexOfLargest } from "./vote.ts";

/** One bank of a committee. */
export interface Member {
  readonly bank: FilterBank;
  readonly filterClass: Uint32Array;
}

/** A member with its filters class by class; made once, because the banks are kept by the back end. */
export interface Seated extends Member {
  readonly byClass: readonly (FilterBank | undefined)[];
}

/** Strongest filters of each bank that are looked at before the scores of all classes are worked out. */
const STRONGEST = 8;

/** The members of a joined bank; `filterBank` is the member of each filter. */
export function membersOf(bank: FilterBank, filterClass: Uint32Array, filterBank: Uint32Array): Member[] {
  const count = filterBank.reduce((most, b) => Math.max(most, b + 1), 1);
  const { offsets, rows: filters } = groupByCode(filterBank, count);
  return Array.from({ length: count }, (_, b) => {
    const own = filters.subarray(offsets[b], offsets[b + 1]);
    return { bank: pickFilters(bank, own), filterClass: own.map((f) => filterClass[f]) };
  });
}

/** Members with their classes apart. */
export function seat(members: readonly Member[], classes: number): Seated[] {
  return members.map((member) => ({ ...member, byClass: classBanks(member.bank, member.filterClass, classes) }));
}

/**
 * The class of each row. What the strongest filters of each bank show decides most rows: a class not among them scores at
 * most what the last of them does. Where that leaves a doubt all classes are scored.
 */
export async function voteOfCommittee(
  x: Matrix,
  held: Held, // holds x
  members: readonly Seated[],
  classes: number,
  backend: Backend,
): Promise<Uint32Array> {
  const known = new Float64Array(x.rows * classes);
  const most = new Float64Array(x.rows * classes);
  for (const { bank, filterClass } of members) {
    const k = Math.min(STRONGEST, bank.filters);
    const { filter, response } = await held.topFilters(bank, k);
    const own = new Float64Array(classes);
    for (let r = 0; r < x.rows; r++) {
      own.fill(Number.NEGATIVE_INFINITY);
      for (let e = (r + 1) * k - 1; e >= r * k; e--) own[filterClass[filter[e]]] = response[e];
      const last = k < bank.filters ? response[(r + 1) * k - 1] : Number.NEGATIVE_INFINITY;
      for (let c = 0; c < classes; c++) {
        known[r * classes + c] += own[c];
        most[r * classes + c] += Math.max(own[c], last);
      }
    }
  }
  const voted = new Uint32Array(x.rows);
  const open: number[] = [];
  for (let r = 0; r < x.rows; r++) {
    const best = indexOfLargest(known, r * classes, classes);
    voted[r] = best;
    for (let c = 0; c < classes; c++) {
      if (c === best || most[r * classes + c] < known[r * classes + best]) continue;
      open.push(r);
      break;
    }
  }
  if (open.length === 0) return voted;
  const scores = await scoresOfCommittee(x.gather(open), members, classes, backend);
  open.forEach((r, j) => {
    voted[r] = indexOfLargest(scores, j * classes, classes);
  });
  return voted;
}

async function scoresOfCommittee(
  x: Matrix,
  members: readonly Seated[],
  classes: number,
  backend: Backend,
): Promise<Float64Array> {
  const held = await backend.hold(x);
  try {
    return await scoresOf(held, x.rows, members, classes);
  } finally {
    held.release();
  }
}

/** The score of each class, rows x classes; banks are added in their order. A class that a bank has no filter of cannot win. */
export async function scoresOf(
  held: Held,
  rows: number,
  members: readonly Seated[],
  classes: number,
): Promise<Float64Array> {
  const scores = new Float64Array(rows * classes);
  for (const { byClass } of members) {
    for (const [c, bank] of byClass.entries()) {
      if (!bank) {
        for (let r = 0; r < rows; r++) scores[r * classes + c] = Number.NEGATIVE_INFINITY;
        continue;
      }
      const { response } = await held.topFilters(bank, 1);
      for (let r = 0; r < rows; r++) scores[r * classes + c] += response[r];
    }
  }
  return scores;
}

/** The classes of all rows, chunk by chunk. */
export async function* committeeVotes(
  x: Matrix,
  members: readonly Seated[],
  classes: number,
  backend: Backend,
  onChunk: OnChunk,
): AsyncGenerator<{ from: number; voted: Uint32Array }> {
  for await (const { from, chunk, held } of chunksOf(x, backend, onChunk)) {
    yield { from, voted: await voteOfCommittee(chunk, held, members, classes, backend) };
  }
}

/** The scores of all rows, chunk by chunk. */
export async function* committeeScores(
  x: Matrix,
  members: readonly Seated[],
  classes: number,
  backend: Backend,
  onChunk: OnChunk,
): AsyncGenerator<{ from: number; scores: Float64Array }> {
  for await (const { from, chunk, held } of chunksOf(x, backend, onChunk)) {
    yield { from, scores: await scoresOf(held, chunk.rows, members, classes) };
  }
}

/** Scores to probabilities in place, row by row: from 0 for the lowest to the highest in proportion; equal scores: uniform. */
export function scoresToProbabilities(scores: Float64Array, classes: number): void {
  for (let at = 0; at < scores.length; at += classes) {
    const row = scores.subarray(at, at + classes);
    const lowest = row.reduce((least, score) => Math.min(least, score));
    let sum = 0;
    for (let c = 0; c < classes; c++) {
      row[c] -= lowest;
      sum += row[c];
    }
    for (let c = 0; c < classes; c++) row[c] = sum > 0 ? row[c] / sum : 1 / classes;
  }
}
