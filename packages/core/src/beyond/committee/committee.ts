/**
 * Committees (deviation 30): several banks, each with filters of every class, trained separately. A class scores the sum over the
 * banks of its strongest response; the class of a row is the one that scores most.
 */

import type { Backend, HeldRows, RowSource } from "../../backends/contract.ts";
import { KeptBank } from "../../backends/kept-bank.ts";
import { groupByCode } from "../../bank/groups.ts";
import { pickFilters } from "../../kernels/pick-filters.ts";
import type { FilterBank } from "../../kernels/shapes.ts";
import { chunksOf, type OnChunk } from "../../paper/similarity.ts";

/** One bank of a committee. */
export interface CommitteeBank {
  readonly bank: FilterBank;
  readonly filterClass: Uint32Array;
}

/** A bank that is used again and again, as a whole and class by class. */
export interface KeptCommitteeBank {
  readonly bank: KeptBank;
  readonly filterClass: Uint32Array;
  readonly byClass: readonly (KeptBank | undefined)[];
}

/** Strongest filters of each bank that are looked at before the scores of all classes are worked out. */
const STRONGEST = 8;

/** The banks that were joined; `filterBank` is the bank of each filter. */
export function banksOf(bank: FilterBank, filterClass: Uint32Array, filterBank: Uint32Array): CommitteeBank[] {
  const count = filterBank.reduce((most, b) => Math.max(most, b + 1), 1);
  const { offsets, rows: filters } = groupByCode(filterBank, count);
  return Array.from({ length: count }, (_, b) => {
    const own = filters.subarray(offsets[b], offsets[b + 1]);
    return { bank: pickFilters(bank, own), filterClass: own.map((f) => filterClass[f]) };
  });
}

/** Banks to use again and again, with their classes apart. */
export function keepBanks(banks: readonly CommitteeBank[], classes: number): KeptCommitteeBank[] {
  return banks.map(({ bank, filterClass }) => keptCommitteeBank(new KeptBank(bank), filterClass, classes));
}

/** A bank with its classes apart: the filters of each as a bank of their own; undefined for a class without filters. */
export function keptCommitteeBank(bank: KeptBank, filterClass: Uint32Array, classes: number): KeptCommitteeBank {
  const { offsets, rows: filters } = groupByCode(filterClass, classes);
  const byClass = Array.from({ length: classes }, (_, c) => {
    const own = filters.subarray(offsets[c], offsets[c + 1]);
    return own.length === 0 ? undefined : new KeptBank(pickFilters(bank.bank, own));
  });
  return { bank, filterClass, byClass };
}

/**
 * The class of each row. What the strongest filters of each bank show decides most rows: a class not among them scores at
 * most what the last of them does. Where that leaves a doubt all classes are scored. Memory is O(rows + classes).
 */
export async function voteOfCommittee(
  held: HeldRows,
  banks: readonly KeptCommitteeBank[],
  classes: number,
): Promise<Uint32Array> {
  const seen: Seen[] = [];
  for (const { bank, filterClass } of banks) {
    const { filters } = bank.bank;
    const { filter, response, k } = await held.topFilters(bank.on(held), Math.min(STRONGEST, filters));
    seen.push({ code: filter.map((f) => filterClass[f]), response, k, isAll: k === filters });
  }
  const voted = new Uint32Array(held.rows);
  const open: number[] = [];
  const count = counting(seen, classes);
  for (let r = 0; r < held.rows; r++) {
    const best = count(r);
    if (best === undefined) open.push(r);
    else voted[r] = best;
  }
  if (open.length === 0) return voted;
  const best = await bestOfAll(held, Uint32Array.from(open), banks, classes);
  open.forEach((r, j) => {
    voted[r] = best[j];
  });
  return voted;
}

/** The strongest filters that one bank shows for each row: their classes and responses, k a row. */
interface Seen {
  readonly code: Uint32Array;
  readonly response: Float64Array;
  readonly k: number;
  /** Whether the bank has no others. */
  readonly isAll: boolean;
}

/** Counts the votes of a row: its class, or undefined where what was seen leaves a doubt. */
function counting(seen: readonly Seen[], classes: number): (row: number) => number | undefined {
  const own = new Float64Array(classes).fill(Number.NEGATIVE_INFINITY);
  const known = new Float64Array(classes);
  const most = new Float64Array(classes);
  const isListed = new Uint8Array(classes);
  return (r) => {
    const listed: number[] = [];
    for (const { code, k } of seen) {
      for (let e = r * k; e < (r + 1) * k; e++) {
        if (isListed[code[e]] === 1) continue;
        isListed[code[e]] = 1;
        listed.push(code[e]);
      }
    }
    let others = 0; // what a class that is not listed scores at most
    for (const { code, response, k, isAll } of seen) {
      for (let e = (r + 1) * k - 1; e >= r * k; e--) own[code[e]] = response[e];
      const last = isAll ? Number.NEGATIVE_INFINITY : response[(r + 1) * k - 1];
      others += last;
      for (const c of listed) {
        known[c] += own[c];
        most[c] += Math.max(own[c], last);
        own[c] = Number.NEGATIVE_INFINITY;
      }
    }
    let best = listed[0];
    for (const c of listed) if (known[c] > known[best] || (known[c] === known[best] && c < best)) best = c;
    const score = known[best];
    let isOpen = listed.length < classes && others >= score;
    for (const c of listed) {
      if (c !== best && most[c] >= score) isOpen = true;
      known[c] = 0;
      most[c] = 0;
      isListed[c] = 0;
    }
    return isOpen ? undefined : best;
  };
}

/** The class that scores most for each listed row, the lowest of equals, one class after the other. */
async function bestOfAll(
  held: HeldRows,
  rows: Uint32Array,
  banks: readonly KeptCommitteeBank[],
  classes: number,
): Promise<Uint32Array> {
  const best = new Uint32Array(rows.length);
  const highest = new Float64Array(rows.length).fill(Number.NEGATIVE_INFINITY);
  const scores = new Float64Array(rows.length);
  for (let c = 0; c < classes; c++) {
    await scoreClass(held, banks, c, scores, 1, 0, rows);
    for (let j = 0; j < rows.length; j++) {
      if (scores[j] <= highest[j]) continue;
      highest[j] = scores[j];
      best[j] = c;
    }
  }
  return best;
}

/** Writes the score of class c for row r to `out[r * step + at]`; banks are added in their order. A class that a bank has no filter of cannot win. */
async function scoreClass(
  held: HeldRows,
  banks: readonly KeptCommitteeBank[],
  c: number,
  out: Float64Array,
  step: number,
  at: number,
  rows?: Uint32Array, // those asked about; absent: all
): Promise<void> {
  for (const [b, { byClass }] of banks.entries()) {
    const bank = byClass[c];
    if (!bank) {
      for (let e = at; e < out.length; e += step) out[e] = Number.NEGATIVE_INFINITY;
      return;
    }
    const { response } = await held.topFilters(bank.on(held), 1, rows);
    for (let e = at, r = 0; e < out.length; e += step, r++) out[e] = (b === 0 ? 0 : out[e]) + response[r];
  }
}

/** Writes the score of each class to `out`, rows x classes. */
export async function scoresOf(
  held: HeldRows,
  banks: readonly KeptCommitteeBank[],
  classes: number,
  out: Float64Array,
) {
  for (let c = 0; c < classes; c++) await scoreClass(held, banks, c, out, classes, c);
}

/** The classes of all rows, chunk by chunk. */
export async function* committeeVotes(
  x: RowSource,
  banks: readonly KeptCommitteeBank[],
  classes: number,
  backend: Backend,
  onChunk: OnChunk,
): AsyncGenerator<{ from: number; voted: Uint32Array }> {
  for await (const { from, held } of chunksOf(x, filtersOf(banks), backend, onChunk)) {
    yield { from, voted: await voteOfCommittee(held, banks, classes) };
  }
}

/**
 * Writes the score of each class to `out`, rows x classes, chunk by chunk: the largest response, added up over the banks. A class without
 * filters, which a single bank may have, has the lowest score of the row.
 */
export async function committeeScores(
  x: RowSource,
  banks: readonly KeptCommitteeBank[],
  classes: number,
  backend: Backend,
  onChunk: OnChunk,
  out: Float64Array,
): Promise<void> {
  for await (const { from, rows, held } of chunksOf(x, filtersOf(banks), backend, onChunk)) {
    const scores = out.subarray(from * classes, (from + rows) * classes);
    await scoresOf(held, banks, classes, scores);
    if (banks.some(({ byClass }) => byClass.includes(undefined))) fillMissing(scores, classes);
  }
}

/** Gives classes without filters, which score nothing yet, the lowest score of their row. */
function fillMissing(scores: Float64Array, classes: number): void {
  for (let at = 0; at < scores.length; at += classes) {
    const row = scores.subarray(at, at + classes);
    const lowest = row.reduce(
      (least, score) => (score > Number.NEGATIVE_INFINITY && score < least ? score : least),
      Number.POSITIVE_INFINITY,
    );
    for (let c = 0; c < classes; c++) if (row[c] === Number.NEGATIVE_INFINITY) row[c] = lowest;
  }
}

/** Filters of all banks. */
function filtersOf(banks: readonly KeptCommitteeBank[]): number {
  return banks.reduce((sum, { bank }) => sum + bank.bank.filters, 0);
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
