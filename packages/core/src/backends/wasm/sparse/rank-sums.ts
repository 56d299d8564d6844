/** The update step on sparse rows (`assembly/sparse/rank-sums.ts`): groups go in batches, each filter as base and exceptions. */

import { joinBanks } from "../../../bank/bank.ts";
import { sliceGroups } from "../../../bank/groups.ts";
import { commonNorm, weightsFor } from "../../../kernels/rank.ts";
import type { CsrRows, FilterBank, Groups, SparseBank } from "../../../kernels/shapes.ts";
import type { PlainBlock } from "../../host/block.ts";
import { Context, type Engine } from "../engine/engine.ts";
import { borrowed } from "../engine/memory.ts";
import { type CsrBlock, describeCsr } from "./rows.ts";
import * as slot from "./slots.ts";

/** Exceptions in memory at a time. */
const MOST_EXCEPTIONS = 2 ** 22;
/** Groups a kernel takes at a time. */
const GROUP_PIECE = 16;

/** The bank of one filter per group of rows that lie in memory and on the host; a group of too many entries goes through `plain`. */
export function rankSumsCsr(
  engine: Engine,
  x: CsrRows,
  block: CsrBlock,
  groups: Groups,
  distribution: Float64Array | undefined,
  plain: PlainBlock,
): Promise<FilterBank> {
  const filters = groups.offsets.length - 1;
  const entries = groupEntries(x, groups);
  return borrowed(engine.memory, async (lease) => {
    const parts: FilterBank[] = [];
    const drawn = distribution ? [lease.put(distribution), lease.put(sumsOf(distribution))] : [];
    for (let from = 0; from < filters || parts.length === 0; ) {
      let to = Math.min(filters, from + 1);
      let size = entries[from] ?? 0;
      while (to < filters && size + entries[to] <= MOST_EXCEPTIONS) size += entries[to++];
      const own = sliceGroups(groups, from, to);
      const isLarge = size > MOST_EXCEPTIONS;
      const ranked = isLarge
        ? plain.rankSums(own, distribution)
        : rankBatch(engine, block, own, entries.subarray(from, to), distribution, drawn);
      parts.push(await ranked);
      from = to;
    }
    return joinBanks(parts);
  });
}

/** Entries of all rows of each group. */
function groupEntries(x: CsrRows, { offsets, rows }: Groups): Float64Array {
  const entries = new Float64Array(offsets.length - 1);
  for (let g = 0; g < entries.length; g++) {
    for (let e = offsets[g]; e < offsets[g + 1]; e++) entries[g] += x.offsets[rows[e] + 1] - x.offsets[rows[e]];
  }
  return entries;
}

/** Sums of the first 0, 1, 2, ... values, each added to the sum before it. */
function sumsOf(distribution: Float64Array): Float64Array {
  const sums = new Float64Array(distribution.length + 1);
  for (let r = 0; r < distribution.length; r++) sums[r + 1] = sums[r] + distribution[r];
  return sums;
}

function rankBatch(
  engine: Engine,
  block: CsrBlock,
  groups: Groups,
  entries: Float64Array,
  distribution: Float64Array | undefined,
  [values, sums]: readonly number[],
): Promise<SparseBank> {
  const { memory } = engine;
  const count = entries.length;
  // A group touches at most as many features as its rows have entries.
  const places = new Uint32Array(count + 1);
  let touched = 0;
  for (let g = 0; g < count; g++) {
    const most = Math.min(block.features, entries[g]);
    touched = Math.max(touched, most);
    places[g + 1] = places[g] + most;
  }
  const bytes = weightsFor(0, block.features, distribution).BYTES_PER_ELEMENT;
  return borrowed(memory, async (lease) => {
    const indices = lease.take(places[count] * 4);
    const weights = lease.take(places[count] * bytes);
    const counts = lease.take(count * 4);
    const base = lease.take(count * 8);
    const context = describeCsr(new Context(memory, lease), block)
      .set([slot.GROUP_OFFSETS, lease.put(groups.offsets)], [slot.GROUP_ROWS, lease.put(groups.rows)])
      .set([slot.GROUP_WEIGHT, groups.weight ? lease.put(groups.weight) : 0], [slot.MOST_TOUCHED, touched])
      .set([slot.DISTRIBUTION, values ?? 0], [slot.DISTRIBUTION_SUMS, sums ?? 0], [slot.WEIGHT_BYTES, bytes])
      .set([slot.OUT_PLACES, lease.put(places)], [slot.OUT_INDICES, indices], [slot.OUT_WEIGHTS, weights])
      .set([slot.OUT_COUNT, counts], [slot.OUT_BASE, base]);
    await engine.run("rank_sums_csr", count, GROUP_PIECE, engine.ask("scratch_sums_csr", context.at), context);
    const found = memory.u32(counts, count).slice();
    const offsets = new Uint32Array(count + 1);
    for (let g = 0; g < count; g++) offsets[g + 1] = offsets[g] + found[g];
    const total = offsets[count];
    const batch = {
      form: "sparse" as const,
      filters: count,
      features: block.features,
      base: memory.f64(base, count).slice(),
      offsets,
      indices: new Uint32Array(total),
      weights: weightsFor(total, block.features, distribution),
      norm: new Float64Array(count).fill(commonNorm(block.features, distribution)),
    };
    const [madeIndices, madeWeights] = [
      memory.u32(indices, places[count]),
      memory.weights(weights, places[count], bytes),
    ];
    for (let g = 0; g < count; g++) {
      batch.indices.set(madeIndices.subarray(places[g], places[g] + found[g]), offsets[g]);
      batch.weights.set(madeWeights.subarray(places[g], places[g] + found[g]), offsets[g]);
    }
    return batch;
  });
}
