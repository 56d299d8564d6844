/** Searches by candidates: float32 products a block at a time on the device, exact responses of the few that may win. */

import type { FilterBank, RowSource, TopFilters } from "../../kernels/shapes.ts";
import type { Turn } from "../turn.ts";
import { listCandidates, listWords } from "./candidates.ts";
import { type Candidates, countOf, decide } from "./decide.ts";
import type { Room } from "./device.ts";
import type { FloatFilters } from "./float-bank.ts";
import type { FloatRows } from "./float-rows.ts";
import type { House } from "./house.ts";
import type { Job } from "./job.ts";
import { PAD_ITEMS, padded } from "./layout.ts";
import { multiplyFloats, multiplySparse } from "./multiply-floats.ts";
import { respondDense, respondSparse } from "./respond.ts";

/** Products of bytes that take the time of one multiply-add of floats, on an H200. */
export const FLOAT_COST = 32;
/** Seconds that a job may take. */
const JOB_SECONDS = 0.1;

/** A question about rows that are on the device and on the host, and a bank that is on both. */
export interface FloatQuestion {
  readonly house: House;
  readonly x: FloatRows;
  readonly weights: FloatFilters;
  readonly bank: FilterBank;
  readonly source: RowSource;
  /** Rows of the source that are asked about, if not all: x has those alone. */
  readonly of: Uint32Array | undefined;
  readonly turn: Turn;
  /** The same question to the host, about the listed rows of the source: ties without end are its business. */
  onHost(of: Uint32Array, k: number): Promise<TopFilters>;
}

/** The k strongest filters of each row, of which the first `places` have candidates; behind those that tie with them may be places without a filter, whose response is -Infinity. */
export async function strongestOf(
  question: FloatQuestion,
  places: number,
  k: number,
): Promise<{ top: TopFilters; exact: number }> {
  const { bank, source, of, turn } = question;
  const candidates = await propose(question, places, 1);
  const top = {
    rows: candidates.rows,
    k,
    filter: new Uint32Array(candidates.rows * k),
    response: new Float64Array(candidates.rows * k).fill(Number.NEGATIVE_INFINITY),
  };
  const isListed = (r: number): boolean => countOf(candidates, r) !== undefined;
  const exact = await decide(source, bank, candidates, of, isListed, top, turn);
  return { top, exact: exact + (await overflow(question, candidates, top)) };
}

/** The strongest filter of each row. Where there is one candidate alone, nothing has to be computed. */
export async function winnersOf(question: FloatQuestion): Promise<{ winners: Uint32Array; exact: number }> {
  const { bank, source, of, turn } = question;
  const candidates = await propose(question, 1, 2);
  const { rows, found, words } = candidates;
  const winners = new Uint32Array(rows);
  for (let r = 0; r < rows; r++) winners[r] = found[r * words + 1];
  const top = { rows, k: 1, filter: winners, response: new Float64Array(rows).fill(Number.NEGATIVE_INFINITY) };
  const isOpen = (r: number): boolean => (countOf(candidates, r) ?? 0) > 1;
  const exact = await decide(source, bank, candidates, of, isOpen, top, turn);
  return { winners, exact: exact + (await overflow(question, candidates, top)) };
}

/** Asks the host about rows with more candidates than are listed. Returns how many pairs that makes. */
async function overflow(question: FloatQuestion, candidates: Candidates, top: TopFilters): Promise<number> {
  const { of, bank } = question;
  const rows: number[] = [];
  for (let r = 0; r < candidates.rows; r++) if (countOf(candidates, r) === undefined) rows.push(r);
  if (rows.length === 0) return 0;
  const { k } = top;
  const found = await question.onHost(
    Uint32Array.from(rows, (r) => (of ? of[r] : r)),
    k,
  );
  for (let j = 0; j < rows.length; j++) {
    top.filter.set(found.filter.subarray(j * k, (j + 1) * k), rows[j] * k);
    top.response.set(found.response.subarray(j * k, (j + 1) * k), rows[j] * k);
  }
  return rows.length * bank.filters;
}

/** Consecutive rows whose products are computed at once: `first` of all, `from` of their part, a multiple of `PAD_ITEMS`. */
interface Block {
  readonly room: Room | undefined;
  readonly first: number;
  readonly from: number;
  readonly rows: number;
}

/** The candidates for the k strongest of each row; exact products of rows with at least so many, where the device computes them. */
async function propose(question: FloatQuestion, k: number, least: number): Promise<Candidates> {
  const { house, x, weights, bank, source, turn } = question;
  const { device } = house;
  const words = listWords(k);
  const found = new Uint32Array(x.rows * words);
  // Values that are float32 already, and weights that are whole numbers.
  const power = source.valueBytes <= 4 ? weights.power : undefined;
  const exact = power === undefined ? undefined : new Float64Array(x.rows * (words - 1));
  for (const block of await blocksOf(house, x, weights, words)) {
    const { rows, first } = block;
    // One call after the other: each brings its products, and none of those that wait needs room for its own.
    const { reads } = await house.line.run(() =>
      device.borrowing(async (borrow) => {
        const products = borrow(4 * padded(rows) * weights.filters);
        const lists = borrow(4 * rows * words);
        const job = device.job();
        await addProducts(job, x, block, weights, products);
        const on = { products, filters: bank.filters, stride: weights.filters, k };
        await listCandidates(job, { ...on, rows, slack: x.slack, first }, 0, lists);
        const reads = [
          job.take(lists, 4 * rows * words, (there) =>
            found.set(new Uint32Array(there, 0, rows * words), first * words),
          ),
        ];
        if (exact && power !== undefined) {
          const bytes = 8 * rows * (words - 1);
          const numbers = borrow(bytes);
          const asked = { rows, found: lists, words, exact: numbers, least, power };
          if (x.form === "csr") await respondSparse(job, x.rooms, first, weights, asked);
          else {
            const own = {
              room: block.room as Room,
              first: block.from,
              stride: x.resident.stride,
              features: x.features,
            };
            await respondDense(job, own, weights.room, asked);
          }
          const take = (there: ArrayBuffer): void =>
            exact.set(new Float64Array(there, 0, bytes / 8), first * (words - 1));
          reads.push(job.take(numbers, bytes, take));
        }
        job.send();
        return { reads };
      }),
    );
    await Promise.all(reads);
    await turn.pause();
  }
  return { rows: x.rows, words, found, exact };
}

async function addProducts(job: Job, x: FloatRows, block: Block, weights: FloatFilters, products: Room): Promise<void> {
  if (x.form === "csr") return multiplySparse(job, x.rooms, block.first, block.rows, weights, products);
  const rows = { first: block.from, count: padded(block.rows), stride: x.resident.stride };
  return multiplyFloats(job, { ...rows, room: block.room as Room }, weights, products);
}

/** Cuts rows into blocks by the memory of products and answers, and by time. */
async function blocksOf(house: House, x: FloatRows, { filters }: FloatFilters, words: number): Promise<Block[]> {
  const { rate } = await house.choice();
  const { productBytes, answerBytes } = house.limits;
  const perRow = x.form === "dense" ? x.resident.stride / 4 : x.spans.length === 0 ? 1 : termsOf(x.spans);
  const byTime = (JOB_SECONDS * rate) / (FLOAT_COST * filters * perRow);
  const most = Math.min(productBytes / (4 * filters), answerBytes / (12 * words), byTime);
  const step = Math.max(1, Math.floor(most / PAD_ITEMS)) * PAD_ITEMS;
  const parts = x.form === "dense" ? x.resident.parts : [{ room: undefined, first: 0, rows: x.rows }];
  const blocks: Block[] = [];
  for (const { room, first, rows } of parts) {
    for (let from = 0; from < rows; from += step)
      blocks.push({ room, first: first + from, from, rows: Math.min(step, rows - from) });
  }
  return blocks;
}

/** Mean number of entries of sparse rows. */
function termsOf(spans: Uint32Array): number {
  let entries = 0;
  for (let e = 0; e < spans.length; e += 2) entries += spans[e + 1] - spans[e];
  return Math.max(1, (2 * entries) / spans.length);
}
