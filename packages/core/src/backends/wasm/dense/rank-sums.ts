/** The update step on dense rows: groups of rows become filters, in parts that fit memory and leave others their turn. */

import type { Groups, Weights } from "../../../kernels/shapes.ts";
import { Context, type Engine } from "../engine/engine.ts";
import { borrowed } from "../engine/memory.ts";
import { type DenseBlock, describeRows } from "./rows.ts";
import * as slot from "./slots.ts";

/** Bytes of filters in memory at a time. */
const OUT_LIMIT = 2 ** 26;
/** Groups a kernel takes at a time. */
const GROUP_PIECE = 16;

/** Fills `weights` with one filter per group. */
export function rankSumsDense(
  engine: Engine,
  block: DenseBlock,
  { offsets, rows, weight }: Groups,
  distribution: Float64Array | undefined,
  weights: Weights,
): Promise<void> {
  const { memory } = engine;
  const n = block.features;
  const bytes = weights.BYTES_PER_ELEMENT;
  return borrowed(memory, async (lease) => {
    const context = describeRows(new Context(memory, lease), block).set([slot.OUT_BYTES, bytes]);
    if (distribution) context.set([slot.DISTRIBUTION, lease.put(distribution)]);
    const filters = offsets.length - 1;
    const most = Math.max(1, Math.floor(OUT_LIMIT / (n * bytes)));
    for (let from = 0; from < filters; from += most) {
      const to = Math.min(filters, from + most);
      const [first, last] = [offsets[from], offsets[to]];
      await borrowed(memory, async (own) => {
        const out = own.take((to - from) * n * bytes);
        const starts = offsets.slice(from, to + 1).map((offset) => offset - first);
        context
          .set([slot.GROUP_OFFSETS, own.put(starts)], [slot.GROUP_ROWS, own.put(rows.subarray(first, last))])
          .set([slot.GROUP_WEIGHT, weight ? own.put(weight.subarray(first, last)) : 0], [slot.OUT_WEIGHTS, out]);
        await engine.run("rank_sums", to - from, GROUP_PIECE, engine.ask("scratch_sums", context.at), context);
        weights.set(memory.weights(out, (to - from) * n, bytes), from * n);
      });
    }
  });
}
