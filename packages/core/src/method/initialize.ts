/**
 * Initial filters (the paper's algorithm 2): rows drawn at random and ranked; or spread out in the manner of k-means++;
 * or activation-weighted averages, which allow more filters than rows; or rows named by the caller.
 */

import type { Held } from "../backends/backend.ts";
import { pickFilters } from "../kernels/pick-filters.ts";
import type { FilterBank, Groups } from "../kernels/shapes.ts";
import type { Matrix } from "../matrix/matrix.ts";
import { drawBelow, drawUnit, drawWithoutReplacement, type RandomGenerator } from "../random.ts";
import { joinBanks, replaceFilters } from "./bank.ts";
import type { MakeFilters } from "./filter-function.ts";
import { groupByActivation, joinGroups, pickGroups, replaceGroups, singletons } from "./groups.ts";

/** How the first filters are chosen. */
export type Initialize = "random" | "plusplus" | "weightedAverage";

/** Filters with the rows each one was made from. */
export interface Start {
  readonly bank: FilterBank;
  readonly members: Groups;
}

/** Rows per filter that `plusplus` looks at. Source: the reference. */
const CANDIDATES_PER_FILTER = 100;

/** Share of the rows in one batch of `weightedAverage` when there are more filters than rows. Source: the reference. */
const BATCH_SHARE = 0.8;

/** The first `filters` filters. */
export async function initialize(
  how: Initialize | Uint32Array, // a list: the rows to start from
  x: Matrix,
  held: Held,
  filters: number,
  makeFilters: MakeFilters,
  generator: RandomGenerator,
): Promise<Start> {
  if (how === "weightedAverage") return weightedAverages(held, x.rows, filters, makeFilters, generator);
  let rows: Uint32Array;
  if (how === "random") rows = drawWithoutReplacement(generator, filters, x.rows);
  else if (how === "plusplus") rows = await plusplus(x, held, filters, makeFilters, generator);
  else rows = how;
  const members = singletons(rows);
  return { bank: await makeFilters(members), members };
}

/** Each next row is drawn with a probability that grows as the response of the filters so far falls. */
async function plusplus(
  x: Matrix,
  held: Held,
  filters: number,
  makeFilters: MakeFilters,
  generator: RandomGenerator,
): Promise<Uint32Array> {
  // Deviation 15: every row is taken in the end, so there is nothing to spread out.
  if (filters >= x.rows) return drawWithoutReplacement(generator, filters, x.rows);
  const most = filters * CANDIDATES_PER_FILTER;
  const candidates =
    x.rows <= most
      ? Uint32Array.from({ length: x.rows }, (_, r) => r)
      : drawWithoutReplacement(generator, most, x.rows).sort();
  const size = rowSizes(x);
  const taken = new Uint8Array(candidates.length);
  const response = new Float64Array(candidates.length); // summed over the filters so far
  const chosen = new Uint32Array(filters);
  let next = drawBelow(generator, candidates.length);
  for (let f = 0; ; f++) {
    chosen[f] = candidates[next];
    taken[next] = 1;
    if (f === filters - 1) return chosen;
    const one = await makeFilters(singletons(chosen.subarray(f, f + 1)));
    const { response: fresh } = await held.topFilters(one, 1);
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
  return last; // rounding left a crumb of the draw
}

/** L1 norm of each row. */
function rowSizes(x: Matrix): Float64Array {
  return Float64Array.from({ length: x.rows }, (_, r) => {
    const from = x.form === "dense" ? r * x.features : x.offsets[r];
    const to = x.form === "dense" ? from + x.features : x.offsets[r + 1];
    let sum = 0;
    for (let e = from; e < to; e++) sum += Math.abs(x.values[e]);
    return sum;
  });
}

/**
 * Batches of filters: the first are single rows, each later batch averages the rows around the filters of the batch
 * before, over growing neighbourhoods. Deviation 17: a filter that no row is near keeps the weights of its predecessor.
 */
async function weightedAverages(
  held: Held,
  rows: number,
  filters: number,
  makeFilters: MakeFilters,
  generator: RandomGenerator,
): Promise<Start> {
  const batch = rows >= filters ? filters : Math.max(1, Math.floor(rows * BATCH_SHARE));
  const batches = Math.floor(filters / batch);
  const members = singletons(drawWithoutReplacement(generator, batch, rows));
  const parts: Start[] = [{ bank: await makeFilters(members), members }];
  if (batches === 1) parts[0] = await averageAround(parts[0], held, Math.min(2, batch), makeFilters);
  for (let b = 1; b < batches; b++) {
    parts.push(await averageAround(parts[b - 1], held, Math.min(b + 2, batch), makeFilters));
  }
  const left = filters - batch * batches;
  if (left > 0) {
    const previous = parts[batches - 1];
    const ending = Uint32Array.from({ length: left }, (_, j) => batch - left + j);
    const tail = { bank: pickFilters(previous.bank, ending), members: pickGroups(previous.members, ending) };
    parts.push(await averageAround(tail, held, Math.min(Math.ceil(left / 10) + 1, left), makeFilters));
  }
  const same = Uint32Array.from({ length: rows }, (_, r) => r);
  return {
    bank: joinBanks(parts.map((part) => part.bank)),
    members: joinGroups(parts.map((part) => ({ groups: part.members, rows: same }))),
  };
}

/** Every filter becomes the rank of the activation-weighted average of the rows that have it among their `nearest`. */
export async function averageAround(
  { bank, members }: Start,
  held: Held,
  nearest: number,
  makeFilters: MakeFilters,
): Promise<Start> {
  const groups = groupByActivation(await held.topFilters(bank, Math.min(nearest, bank.filters)), bank.filters);
  const near = Uint32Array.from({ length: bank.filters }, (_, f) => f).filter(
    (f) => groups.offsets[f + 1] > groups.offsets[f],
  );
  const picked = pickGroups(groups, near);
  const fresh = await makeFilters(picked);
  return {
    bank: near.length === bank.filters ? fresh : replaceFilters(bank, near, fresh).bank,
    members: replaceGroups(members, near, picked),
  };
}
