/**
 * Initial filters (the paper's algorithm 2): rows drawn at random and ranked; or spread out in the manner of k-means++;
 * or activation-weighted averages, which allow more filters than rows; or rows named by the caller.
 */

import type { HeldBank, HeldRows, RowSource } from "../backends/contract.ts";
import { joinBanks } from "../bank/bank.ts";
import { groupByActivation, joinGroups, pickGroups, replaceGroups, singletons } from "../bank/groups.ts";
import { absoluteSums } from "../kernels/measure.ts";
import { pickFilters } from "../kernels/pick-filters.ts";
import type { Groups } from "../kernels/shapes.ts";
import { drawBelow, drawUnit, drawWithoutReplacement, type RandomGenerator } from "../random.ts";
import type { FilterMaker } from "./filter-function.ts";

/** How the first filters are chosen. */
export type Initialize = "random" | "plusplus" | "weightedAverage";

/** Filters, the caller's to release, with the rows each one was made from. */
export interface Start {
  readonly bank: HeldBank;
  readonly members: Groups;
}

/** Rows per filter that `plusplus` looks at. Source: the reference. */
const CANDIDATES_PER_FILTER = 100;

/** Bytes of rows that are measured at a time. */
const SIZES_BYTES = 2 ** 22;

/** Share of the rows in one batch of `weightedAverage` when there are more filters than rows. Source: the reference. */
const BATCH_SHARE = 0.8;

/** The first `filters` filters. */
export async function initialize(
  how: Initialize | Uint32Array, // a list: the rows to start from
  x: RowSource,
  held: HeldRows,
  filters: number,
  maker: FilterMaker,
  generator: RandomGenerator,
): Promise<Start> {
  if (how === "weightedAverage") return weightedAverages(held, filters, maker, generator);
  let rows: Uint32Array;
  if (how === "random") rows = drawWithoutReplacement(generator, filters, x.rows);
  else if (how === "plusplus") rows = await plusplus(x, held, filters, maker, generator);
  else rows = how;
  const members = singletons(rows);
  return { bank: await maker.fromGroups(members), members };
}

/** Each next row is drawn with a probability that grows as the response of the filters so far falls. */
async function plusplus(
  x: RowSource,
  held: HeldRows,
  filters: number,
  maker: FilterMaker,
  generator: RandomGenerator,
): Promise<Uint32Array> {
  // Deviation 15: every row is taken in the end, so there is nothing to spread out.
  if (filters >= x.rows) return drawWithoutReplacement(generator, filters, x.rows);
  const most = filters * CANDIDATES_PER_FILTER;
  const candidates =
    x.rows <= most
      ? Uint32Array.from({ length: x.rows }, (_, r) => r)
      : drawWithoutReplacement(generator, most, x.rows).sort();
  const size = await rowSizes(x);
  const taken = new Uint8Array(candidates.length);
  const response = new Float64Array(candidates.length); // summed over the filters so far
  const chosen = new Uint32Array(filters);
  let next = drawBelow(generator, candidates.length);
  for (let f = 0; ; f++) {
    chosen[f] = candidates[next];
    taken[next] = 1;
    if (f === filters - 1) return chosen;
    const one = await maker.fromGroups(singletons(chosen.subarray(f, f + 1)));
    const { response: fresh } = await held.topFilters(one, 1).finally(() => one.release());
    for (let j = 0; j < candidates.length; j++) {
      const r = candidates[j];
      if (size[r] > 0) response[j] += fresh[r] / size[r]; // deviation 16: an all-zero row responds to nothing
    }
    next = drawWeak(response, taken, generator);
  }
}

/** A row not yet taken, with probability proportional to the largest response minus its own; evenly if all are equal. */
function drawWeak(response: Float64Array, taken: Uint8Array, generator: RandomGenerator): number {
  let strongest = Number.NEGATIVE_INFINITY;
  for (let j = 0; j < response.length; j++) if (!taken[j] && response[j] > strongest) strongest = response[j];
  let total = 0;
  let left = 0;
  for (let j = 0; j < response.length; j++) {
    if (taken[j]) continue;
    total += strongest - response[j];
    left++;
  }
  const even = !(total > 0);
  let draw = drawUnit(generator) * (even ? left : total);
  let last = 0;
  for (let j = 0; j < response.length; j++) {
    if (taken[j]) continue;
    const share = even ? 1 : strongest - response[j];
    if (share > 0) last = j;
    draw -= share;
    if (draw < 0) return j;
  }
  return last; // the weights add up to a little less than the draw, by rounding
}

/** L1 norm of each row. */
async function rowSizes(x: RowSource): Promise<Float64Array> {
  const sizes = new Float64Array(x.rows);
  let first = 0;
  for await (const block of x.blocks(SIZES_BYTES)) {
    absoluteSums(block, sizes.subarray(first, first + block.rows));
    first += block.rows;
  }
  return sizes;
}

/**
 * Batches of filters: the first are single rows, each later batch averages the rows around the filters of the batch
 * before, over growing neighbourhoods. Deviation 17: a filter that no row is near keeps the weights of its predecessor.
 */
async function weightedAverages(
  held: HeldRows,
  filters: number,
  maker: FilterMaker,
  generator: RandomGenerator,
): Promise<Start> {
  const { rows } = held;
  const batch = rows >= filters ? filters : Math.max(1, Math.floor(rows * BATCH_SHARE));
  const batches = Math.floor(filters / batch);
  const members = singletons(drawWithoutReplacement(generator, batch, rows));
  const first: Start = { bank: await maker.fromGroups(members), members };
  const parts: Start[] = [first];
  const made: HeldBank[] = [first.bank];
  const around = async (start: Start, nearest: number): Promise<Start> => {
    const next = await averageAround(start, held, nearest, maker);
    made.push(next.bank);
    return next;
  };
  try {
    if (batches === 1) parts[0] = await around(first, Math.min(2, batch));
    for (let b = 1; b < batches; b++) parts.push(await around(parts[b - 1], Math.min(b + 2, batch)));
    const left = filters - batch * batches;
    if (left > 0) {
      const previous = parts[batches - 1];
      const ending = Uint32Array.from({ length: left }, (_, j) => batch - left + j);
      const tail = {
        bank: held.load(pickFilters(await previous.bank.read(), ending)),
        members: pickGroups(previous.members, ending),
      };
      made.push(tail.bank);
      parts.push(await around(tail, Math.min(Math.ceil(left / 10) + 1, left)));
    }
    const same = Uint32Array.from({ length: rows }, (_, r) => r);
    const banks = await Promise.all(parts.map((part) => part.bank.read()));
    return {
      bank: held.load(joinBanks(banks)),
      members: joinGroups(parts.map((part) => ({ groups: part.members, rows: same }))),
    };
  } finally {
    for (const bank of made) bank.release();
  }
}

/** Every filter becomes the rank of the activation-weighted average of the rows that have it among their `nearest`. */
export async function averageAround(
  { bank, members }: Start,
  held: HeldRows,
  nearest: number,
  maker: FilterMaker,
): Promise<Start> {
  const groups = groupByActivation(await held.topFilters(bank, Math.min(nearest, bank.filters)), bank.filters);
  const near = Uint32Array.from({ length: bank.filters }, (_, f) => f).filter(
    (f) => groups.offsets[f + 1] > groups.offsets[f],
  );
  const picked = pickGroups(groups, near);
  const fresh = await maker.fromGroups(picked);
  const rows = replaceGroups(members, near, picked);
  if (near.length === bank.filters) return { bank: fresh, members: rows };
  return { bank: await bank.replace(near, fresh).finally(() => fresh.release()), members: rows };
}
