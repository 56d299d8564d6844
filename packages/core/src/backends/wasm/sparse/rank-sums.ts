/** The update step on sparse rows (`assembly/sparse/rank-sums.ts`): groups go in batches, each filter as base and exceptions. */

import { commonNorm, weightsFor } from "../../../kernels/rank.ts";
import { gatherRows } from "../../../kernels/rows.ts";
import type { CsrRows, FilterBank, Groups, SparseBank, Weights } from "../../../kernels/shapes.ts";
import { Context, type Engine } from "../engine/engine.ts";
import { borrowed, type Memory } from "../engine/memory.ts";
import {
  DISTRIBUTION,
  DISTRIBUTION_SUMS,
  GROUP_OFFSETS,
  GROUP_ROWS,
  GROUP_WEIGHT,
  MOST_TOUCHED,
  OUT_BASE,
  OUT_COUNT,
  OUT_INDICES,
  OUT_PLACES,
  OUT_WEIGHTS,
  WEIGHT_BYTES,
} from "./context.ts";
import { type CsrBlock, describeCsr, placeCsr } from "./rows.ts";

/** Exceptions in memory at a time. */
const MOST_EXCEPTIONS = 2 ** 22;
/** Groups a kernel takes at a time. */
const GROUP_PIECE = 16;

/** The filters of a batch of groups, as the kernels leave them. */
interface Batch {
  readonly base: Float64Array;
  readonly counts: Uint32Array;
  readonly indices: Uint32Array;
  readonly weights: Weights;
}

/**
 * The bank of one filter per group of rows that lie in the memory of the host. Without a resident block the rows of each
 * batch are brought in as needed; a group that does not fit goes through `plainly`.
 */
export function rankSumsCsr(
  engine: Engine,
  x: CsrRows,
  resident: CsrBlock | undefined,
  groups: Groups,
  distribution: Float64Array | undefined,
  blockBytes: number,
  plainly: (groups: Groups) => Promise<FilterBank>,
): Promise<SparseBank> {
  const filters = groups.offsets.length - 1;
  const entries = groupEntries(x, groups);
  const most = Math.min(MOST_EXCEPTIONS, Math.floor(blockBytes / (4 + x.values.BYTES_PER_ELEMENT)));
  return borrowed(engine.memory, async (lease) => {
    const batches: Batch[] = [];
    const drawn = distribution ? [lease.put(distribution), lease.put(sumsOf(distribution))] : [];
    for (let from = 0; from < filters; ) {
      let to = from + 1;
      let size = entries[from];
      while (to < filters && size + entries[to] <= most) size += entries[to++];
      const batch = sliceGroups(groups, from, to);
      const own = entries.subarray(from, to);
      if (resident && size <= MOST_EXCEPTIONS) {
        batches.push(await rankBatch(engine, resident, batch, own, distribution, drawn));
      } else if (size <= most) {
        const rows = gatherRows(x, batch.rows);
        const local = { ...batch, rows: Uint32Array.from(batch.rows.keys()) };
        await borrowed(engine.memory, async (lease) => {
          const block = await placeCsr(engine, lease, rows, 0);
          batches.push(await rankBatch(engine, block, local, own, distribution, drawn));
        });
      } else batches.push(asBatch((await plainly(batch)) as SparseBank));
      from = to;
    }
    return join(batches, filters, x.features, distribution);
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

function sliceGroups({ offsets, rows, weight }: Groups, from: number, to: number): Groups {
  const [first, last] = [offsets[from], offsets[to]];
  const own = {
    offsets: offsets.slice(from, to + 1).map((offset) => offset - first),
    rows: rows.subarray(first, last),
  };
  return weight ? { ...own, weight: weight.subarray(first, last) } : own;
}

function rankBatch(
  engine: Engine,
  block: CsrBlock,
  groups: Groups,
  entries: Float64Array,
  distribution: Float64Array | undefined,
  [values, sums]: readonly number[],
): Promise<Batch> {
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
      .set([GROUP_OFFSETS, lease.put(groups.offsets)], [GROUP_ROWS, lease.put(groups.rows)])
      .set([GROUP_WEIGHT, groups.weight ? lease.put(groups.weight) : 0], [MOST_TOUCHED, touched])
      .set([DISTRIBUTION, values ?? 0], [DISTRIBUTION_SUMS, sums ?? 0], [WEIGHT_BYTES, bytes])
      .set([OUT_PLACES, lease.put(places)], [OUT_INDICES, indices], [OUT_WEIGHTS, weights])
      .set([OUT_COUNT, counts], [OUT_BASE, base]);
    await engine.run("rank_sums_csr", count, GROUP_PIECE, engine.ask("scratch_sums_csr", context.at), context);
    const found = memory.u32(counts, count).slice();
    const total = found.reduce((sum, one) => sum + one, 0);
    const batch = {
      base: memory.f64(base, count).slice(),
      counts: found,
      indices: new Uint32Array(total),
      weights: weightsFor(total, block.features, distribution),
    };
    const [madeIndices, madeWeights] = [
      memory.u32(indices, places[count]),
      weightsAt(memory, weights, places[count], bytes),
    ];
    for (let g = 0, at = 0; g < count; at += found[g++]) {
      batch.indices.set(madeIndices.subarray(places[g], places[g] + found[g]), at);
      batch.weights.set(madeWeights.subarray(places[g], places[g] + found[g]), at);
    }
    return batch;
  });
}

function weightsAt(memory: Memory, at: number, count: number, bytes: number): Weights {
  if (bytes === 2) return memory.u16(at, count);
  return bytes === 4 ? memory.u32(at, count) : memory.f64(at, count);
}

function asBatch({ base, offsets, indices, weights }: SparseBank): Batch {
  const counts = Uint32Array.from(base, (_, f) => offsets[f + 1] - offsets[f]);
  return { base, counts, indices, weights };
}

function join(
  batches: readonly Batch[],
  filters: number,
  features: number,
  distribution: Float64Array | undefined,
): SparseBank {
  const base = new Float64Array(filters);
  const offsets = new Uint32Array(filters + 1);
  let f = 0;
  for (const batch of batches) {
    base.set(batch.base, f);
    for (const count of batch.counts) {
      offsets[f + 1] = offsets[f] + count;
      f++;
    }
  }
  let { indices, weights } = batches.length === 1 ? batches[0] : { indices: undefined, weights: undefined };
  if (!indices || !weights) {
    indices = new Uint32Array(offsets[filters]);
    weights = weightsFor(offsets[filters], features, distribution);
    let at = 0;
    for (const batch of batches) {
      indices.set(batch.indices, at);
      weights.set(batch.weights, at);
      at += batch.indices.length;
    }
  }
  const norm = new Float64Array(filters).fill(commonNorm(features, distribution));
  return { form: "sparse", filters, features, base, offsets, indices, weights, norm };
}
