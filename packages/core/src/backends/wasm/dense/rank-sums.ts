/** The update step on dense rows: groups of rows become filters, in parts that fit memory and leave others their turn. */

import type { DenseRows, Groups, RowSource, Weights } from "../../../kernels/shapes.ts";
import { Context, type Engine } from "../engine/engine.ts";
import type { Limits } from "../engine/limits.ts";
import { borrowed } from "../engine/memory.ts";
import {
  DISTRIBUTION,
  FEATURES,
  FIRST_ROW,
  GROUP_OFFSETS,
  GROUP_ROWS,
  GROUP_WEIGHT,
  KNOWN,
  LAST_BLOCK,
  OUT_BYTES,
  OUT_VALUE,
  OUT_WEIGHTS,
  PLACES,
  STRIDE,
} from "./context.ts";
import { bytesOfRow, type DenseBlock, describeRows, placeDense, strideOf } from "./rows.ts";

/** Bytes of filters in memory at a time. */
const OUT_LIMIT = 2 ** 26;
/** Groups a kernel takes at a time. */
const GROUP_PIECE = 16;
/** Values of a group that one call of a kernel adds up; a larger group is added up in several. */
const MOST_VALUES = 2 ** 27;
/** Values added up in one such call, where sums are float64 whatever the rows are. */
const SLICE_VALUES = 2 ** 23;

/** Fills `weights` with one filter per group. Without a resident block the rows of a group are brought in as needed. */
export function rankSumsDense(
  engine: Engine,
  source: RowSource,
  resident: DenseBlock | undefined,
  groups: Groups,
  distribution: Float64Array | undefined,
  weights: Weights,
  limits: Limits,
): Promise<void> {
  const { memory } = engine;
  const n = source.features;
  return borrowed(memory, async (lease) => {
    const context = new Context(memory, lease);
    if (distribution) context.set([DISTRIBUTION, lease.put(distribution)]);
    context.set([OUT_BYTES, weights.BYTES_PER_ELEMENT], [FEATURES, n], [STRIDE, strideOf(n)]);
    const filters = groups.offsets.length - 1;
    const mostRows = MOST_VALUES / n;
    const most = Math.max(1, Math.floor(Math.min(OUT_LIMIT, limits.bankBytes) / (n * weights.BYTES_PER_ELEMENT)));
    for (let from = 0; from < filters; ) {
      if (!resident || groups.offsets[from + 1] - groups.offsets[from] > mostRows) {
        await rankInBlocks(engine, context, source, resident, groups, from, weights, limits);
        from++;
        continue;
      }
      const to = endOfSmall(groups.offsets, from, Math.min(filters, from + most), mostRows);
      await rankRange(engine, context, resident, groups, from, to, weights);
      from = to;
    }
  });
}

/** The first group from `from` on that has more rows than `mostRows`, or `end`. */
function endOfSmall(offsets: Uint32Array, from: number, end: number, mostRows: number): number {
  let to = from;
  while (to < end && offsets[to + 1] - offsets[to] <= mostRows) to++;
  return to;
}

/** Groups [from, to) of resident rows. */
function rankRange(
  engine: Engine,
  context: Context,
  resident: DenseBlock,
  { offsets, rows, weight }: Groups,
  from: number,
  to: number,
  weights: Weights,
): Promise<void> {
  const n = resident.features;
  return borrowed(engine.memory, async (lease) => {
    const [first, last] = [offsets[from], offsets[to]];
    const out = lease.take((to - from) * n * weights.BYTES_PER_ELEMENT);
    const starts = offsets.slice(from, to + 1).map((offset) => offset - first);
    describeRows(context, resident)
      .set([GROUP_OFFSETS, lease.put(starts)], [GROUP_ROWS, lease.put(rows.subarray(first, last))], [FIRST_ROW, 0])
      .set([GROUP_WEIGHT, weight ? lease.put(weight.subarray(first, last)) : 0], [OUT_WEIGHTS, out]);
    await engine.run("rank_sums", to - from, GROUP_PIECE, engine.ask("scratch_sums", context.at), context);
    copyWeights(engine, weights, from * n, out, (to - from) * n);
  });
}

/** One group, some of its rows at a time, in the order the group lists them. */
function rankInBlocks(
  engine: Engine,
  context: Context,
  source: RowSource,
  resident: DenseBlock | undefined,
  groups: Groups,
  g: number,
  weights: Weights,
  { blockBytes }: Limits,
): Promise<void> {
  const { memory } = engine;
  const n = source.features;
  const rowsAtATime = resident ? SLICE_VALUES / n : Math.min(blockBytes / bytesOfRow(source), SLICE_VALUES / n);
  const most = Math.max(1, Math.floor(rowsAtATime));
  const end = groups.offsets[g + 1];
  return borrowed(memory, async (lease) => {
    const sums = lease.take(strideOf(n) * 8);
    const out = lease.take(n * weights.BYTES_PER_ELEMENT);
    context.set([OUT_VALUE, sums], [OUT_WEIGHTS, out], [FIRST_ROW, 0]);
    for (let first = groups.offsets[g], known = 0; first < end || known === 0; first += most, known = 1) {
      const last = Math.min(end, first + most);
      await borrowed(memory, async (own) => {
        const picked = groups.rows.slice(first, last);
        const block = resident ?? (await placeDense(engine, own, (await source.gather(picked)) as DenseRows, 0));
        const list = resident ? picked : Uint32Array.from(picked.keys());
        describeRows(context, block)
          .set([GROUP_ROWS, own.put(list)], [KNOWN, known], [PLACES, list.length])
          .set([GROUP_WEIGHT, groups.weight ? own.put(groups.weight.subarray(first, last)) : 0])
          .set([LAST_BLOCK, last >= end ? 1 : 0]);
        await engine.once("rank_sums_blocks", 1, engine.ask("scratch_sums", context.at), context);
      });
    }
    copyWeights(engine, weights, g * n, out, n);
  });
}

function copyWeights(engine: Engine, weights: Weights, at: number, from: number, count: number): void {
  const { memory } = engine;
  if (weights instanceof Uint16Array) weights.set(memory.u16(from, count), at);
  else if (weights instanceof Uint32Array) weights.set(memory.u32(from, count), at);
  else weights.set(memory.f64(from, count), at);
}
