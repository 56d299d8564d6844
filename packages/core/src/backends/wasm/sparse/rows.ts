/** Sparse rows in WebAssembly memory, as they are: offsets, features, values of any type. */

import type { CsrRows } from "../../../kernels/shapes.ts";
import { Context, copyIn, type Engine } from "../engine/engine.ts";
import { borrowed, type Lease } from "../engine/memory.ts";
import { type Block, typeOf } from "../shared/rows.ts";
import * as slot from "./slots.ts";

/** Rows a kernel takes at a time: enough to hide the cost of the call, few enough to share out evenly. */
export const ROW_PIECE = 64;

/** Consecutive sparse rows. */
export interface CsrBlock extends Block {
  readonly features: number;
  readonly type: number;
  readonly offsets: number;
  readonly indices: number;
  readonly values: number;
  /** Entries of the longest row. */
  readonly most: number;
  /** Largest sum of absolute values of a row; infinite if not all values are whole. */
  readonly largest: number;
}

/** Copies rows into memory of the lease. */
export async function placeCsr(engine: Engine, lease: Lease, x: CsrRows): Promise<CsrBlock> {
  const [from, to] = [x.offsets[0], x.offsets[x.rows]];
  const offsets = x.offsets.slice(0, x.rows + 1);
  const most = countFrom(offsets, from);
  const block = {
    first: 0,
    rows: x.rows,
    features: x.features,
    type: typeOf(x.values),
    offsets: lease.put(offsets),
    indices: await copyIn(engine, lease, x.indices.subarray(from, to)),
    values: await copyIn(engine, lease, x.values.subarray(from, to)),
    most,
    largest: 0,
  };
  return { ...block, largest: await measure(engine, block) };
}

/** Lets offsets count from `from`. Returns the most entries of a row. A function of its own, as all loops over rows: see `wasm/dense/bank.ts`. */
function countFrom(offsets: Uint32Array, from: number): number {
  let most = 0;
  for (let r = 0; r < offsets.length; r++) {
    offsets[r] -= from;
    if (r > 0 && offsets[r] - offsets[r - 1] > most) most = offsets[r] - offsets[r - 1];
  }
  return most;
}

/** Rows [from, to) of a block, as a block. */
export function sliceCsr(block: CsrBlock, from: number, to: number): CsrBlock {
  return { ...block, first: block.first + from, rows: to - from, offsets: block.offsets + from * 4 };
}

/** Tells a context where the rows are. */
export function describeCsr(context: Context, block: CsrBlock): Context {
  return context
    .set([slot.ROW_OFFSETS, block.offsets], [slot.ROW_INDICES, block.indices], [slot.ROW_VALUES, block.values])
    .set([slot.ROW_TYPE, block.type], [slot.FEATURES, block.features], [slot.MOST_ENTRIES, block.most]);
}

function measure(engine: Engine, block: CsrBlock): Promise<number> {
  return borrowed(engine.memory, async (lease) => {
    const context = describeCsr(new Context(engine.memory, lease), block);
    return (await engine.run("measure_csr", block.rows, ROW_PIECE, 0, context)).largest;
  });
}
