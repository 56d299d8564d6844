/** Sums of groups of dense rows, each on top of an earlier one: the next block of a file, the next process. */

import type { Groups, Sum } from "../../../kernels/shapes.ts";
import { Adder } from "../../../kernels/sums.ts";
import { Context, type Engine } from "../engine/engine.ts";
import { borrowed, type Memory } from "../engine/memory.ts";
import { type DenseBlock, describeRows } from "./rows.ts";
import * as slot from "./slots.ts";

/** Bytes of sums in memory at a time. */
const SUMS_LIMIT = 2 ** 24;
/** Groups a kernel takes at a time. */
const GROUP_PIECE = 16;
/** Values of a group that one call of a kernel adds up, and its rows: sums of as many 16-bit numbers fit 32 bits. */
const MOST_VALUES = 2 ** 24;
const MOST_ROWS = 32_768;

/** The sum of each group's rows, in the order listed, on top of what `onto` has for it. */
export async function addSumsDense(
  engine: Engine,
  resident: DenseBlock,
  { offsets, rows, weight }: Groups,
  onto: readonly Sum[] | undefined,
): Promise<Sum[]> {
  const { features, stride } = resident;
  const most = Math.max(1, Math.floor(SUMS_LIMIT / (8 * stride)));
  const rowsAtATime = Math.max(1, Math.min(MOST_ROWS, Math.floor(MOST_VALUES / stride)));
  const count = offsets.length - 1;
  const sums: Sum[] = [];
  const plain = new Adder(features);
  const isLarge = (g: number): boolean => offsets[g + 1] - offsets[g] > rowsAtATime;
  for (let from = 0; from < count; ) {
    let to = from + 1;
    while (to < count && to < from + most && !isLarge(from) && !isLarge(to)) to++;
    await borrowed(engine.memory, async (lease) => {
      const at = lease.take((to - from) * stride * 8);
      writeSums(engine.memory, at, stride, onto?.slice(from, to) ?? [], to - from);
      const context = describeRows(new Context(engine.memory, lease), resident).set([slot.OUT_VALUE, at]);
      const scratch = engine.ask("scratch_sums", context.at);
      // A large group goes by itself, some of its rows at a time.
      const step = isLarge(from) ? rowsAtATime : offsets[to] - offsets[from];
      for (let first = offsets[from]; first < offsets[to]; first += step) {
        const last = Math.min(offsets[to], first + step);
        await borrowed(engine.memory, async (own) => {
          const starts = isLarge(from) ? Uint32Array.of(0, last - first) : startsOf(offsets, from, to);
          context
            .set([slot.GROUP_OFFSETS, own.put(starts)], [slot.GROUP_ROWS, own.put(rows.subarray(first, last))])
            .set([slot.GROUP_WEIGHT, weight ? own.put(weight.subarray(first, last)) : 0]);
          await engine.run("add_sums", to - from, GROUP_PIECE, scratch, context);
        });
      }
      for (let g = from; g < to; g++) {
        const values = engine.memory.f64(at + (g - from) * stride * 8, features);
        sums.push(offsets[g + 1] > offsets[g] ? { values: values.slice() } : untouched(onto?.[g]));
      }
    });
    from = to;
  }
  return sums;

  /** A sum that no row went into. */
  function untouched(sum: Sum | undefined): Sum {
    if (sum) plain.addSum(sum);
    return plain.take();
  }
}

// Loops over groups and features are functions of their own: an engine that finds a loop busy compiles all of the function around it.

/** Where groups [from, to) begin, counted from the first row of the first. */
function startsOf(offsets: Uint32Array, from: number, to: number): Uint32Array {
  const starts = offsets.slice(from, to + 1);
  for (let g = 0; g < starts.length; g++) starts[g] -= offsets[from];
  return starts;
}

/** Writes what there is of `count` sums to memory; the rest is zero. */
function writeSums(memory: Memory, at: number, stride: number, sums: readonly Sum[], count: number): void {
  const room = memory.f64(at, count * stride);
  room.fill(0);
  for (let g = 0; g < sums.length; g++) {
    const { indices, values } = sums[g];
    if (!indices) room.set(values, g * stride);
    else for (let e = 0; e < indices.length; e++) room[g * stride + indices[e]] = values[e];
  }
}
