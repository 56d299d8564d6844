/** The update step on dense rows: groups of rows become filters, in parts that fit memory. */

import type { DenseRows, Groups, Weights } from "../../kernels/shapes.ts";
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
import { bytesOfRows, type DenseBlock, describeRows, loadDense, strideOf } from "./dense-rows.ts";
import { Context, type Engine } from "./engine.ts";

/** Bytes of filters in memory at a time. */
const OUT_LIMIT = 2 ** 26;
/** Groups a kernel takes at a time. */
const GROUP_PIECE = 16;

/** Fills `weights` with one filter per group. Without a resident block the rows of a group are brought in as needed. */
export async function rankSumsDense(
  engine: Engine,
  x: DenseRows,
  resident: DenseBlock | undefined,
  groups: Groups,
  distribution: Float64Array | undefined,
  weights: Weights,
  blockBytes: number,
): Promise<void> {
  const { memory } = engine;
  const n = x.features;
  const blocks: number[] = [];
  const put = (values: ArrayBufferView & { readonly length: number }): number => {
    const at = memory.put(values);
    blocks.push(at);
    return at;
  };
  const context = new Context(memory);
  try {
    if (distribution) context.set([DISTRIBUTION, put(distribution)]);
    context.set([OUT_BYTES, weights.BYTES_PER_ELEMENT], [FEATURES, n], [STRIDE, strideOf(n)]);
    const filters = groups.offsets.length - 1;
    if (!resident) {
      for (let g = 0; g < filters; g++) await rankInBlocks(engine, context, x, groups, g, weights, blockBytes);
      return;
    }
    describeRows(context, resident).set([GROUP_OFFSETS, put(groups.offsets)], [GROUP_ROWS, put(groups.rows)]);
    if (groups.weight) context.set([GROUP_WEIGHT, put(groups.weight)]);
    const most = Math.max(1, Math.floor(OUT_LIMIT / (n * weights.BYTES_PER_ELEMENT)));
    const out = memory.take(Math.min(most, filters) * n * weights.BYTES_PER_ELEMENT);
    blocks.push(out);
    const scratch = engine.ask("scratch_sums", context.at);
    const offsets = blocks[distribution ? 1 : 0];
    for (let from = 0; from < filters; from += most) {
      const count = Math.min(most, filters - from);
      context.set([GROUP_OFFSETS, offsets + from * 4], [OUT_WEIGHTS, out]);
      await engine.run("rank_sums", count, GROUP_PIECE, scratch, context);
      copyWeights(engine, weights, from * n, out, count * n);
    }
  } finally {
    for (const at of blocks) memory.give(at);
    context.release();
  }
}

/** One group whose rows are not in memory: they come in blocks, in the order the group lists them. */
async function rankInBlocks(
  engine: Engine,
  context: Context,
  x: DenseRows,
  groups: Groups,
  g: number,
  weights: Weights,
  blockBytes: number,
): Promise<void> {
  const { memory } = engine;
  const n = x.features;
  const most = Math.max(1, Math.floor(blockBytes / bytesOfRows(x, 1)));
  const end = groups.offsets[g + 1];
  const sums = memory.take(strideOf(n) * 8);
  const out = memory.take(n * weights.BYTES_PER_ELEMENT);
  const blocks = [sums, out];
  try {
    for (let first = groups.offsets[g], known = 0; first < end || known === 0; first += most, known = 1) {
      const last = Math.min(end, first + most);
      const picked = groups.rows.subarray(first, last);
      const values = x.values.slice(0, picked.length * n) as typeof x.values;
      picked.forEach((r, j) => {
        values.set(x.values.subarray(r * n, (r + 1) * n), j * n);
      });
      const block = await loadDense(engine, { ...x, rows: picked.length, values }, 0, picked.length);
      const lists = [memory.put(Uint32Array.from(picked.keys()))];
      if (groups.weight) lists.push(memory.put(groups.weight.subarray(first, last)));
      try {
        describeRows(context, block)
          .set(
            [GROUP_ROWS, lists[0]],
            [GROUP_WEIGHT, lists[1] ?? 0],
            [FIRST_ROW, 0],
            [KNOWN, known],
            [PLACES, picked.length],
          )
          .set([OUT_VALUE, sums], [OUT_WEIGHTS, out], [LAST_BLOCK, last === end ? 1 : 0]);
        const scratch = engine.ask("scratch_sums", context.at);
        await engine.run("rank_sums_blocks", 1, 1, scratch, context);
      } finally {
        for (const at of lists) memory.give(at);
        memory.give(block.at);
      }
    }
    copyWeights(engine, weights, g * n, out, n);
  } finally {
    for (const at of blocks) memory.give(at);
  }
}

function copyWeights(engine: Engine, weights: Weights, at: number, from: number, count: number): void {
  const { memory } = engine;
  if (weights instanceof Uint16Array) weights.set(memory.u16(from, count), at);
  else if (weights instanceof Uint32Array) weights.set(memory.u32(from, count), at);
  else weights.set(memory.f64(from, count), at);
}
