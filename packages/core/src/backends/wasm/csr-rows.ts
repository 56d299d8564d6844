/** Sparse rows in WebAssembly memory, as they are: offsets, features, values of any type. */

import type { CsrRows, Values } from "../../kernels/shapes.ts";
import {
  CSR_CONTEXT_BYTES,
  FEATURES,
  MOST_ENTRIES,
  ROW_INDICES,
  ROW_OFFSETS,
  ROW_TYPE,
  ROW_VALUES,
} from "./csr-context.ts";
import { typeOf } from "./dense-rows.ts";
import { Context, type Engine } from "./engine.ts";
import type { Memory } from "./memory.ts";

/** Rows a kernel takes at a time: enough to forget the call, few enough to share out evenly. */
export const ROW_PIECE = 64;

/** Some consecutive rows of a sparse matrix. */
export interface CsrBlock {
  /** Number of the first row in its matrix. */
  readonly first: number;
  readonly rows: number;
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

/** Bytes that rows [first, last) of x take. */
export function bytesOfCsr(x: CsrRows, first: number, last: number): number {
  return (last - first + 1) * 4 + (x.offsets[last] - x.offsets[first]) * (4 + x.values.BYTES_PER_ELEMENT);
}

/** Copies rows [first, last) into memory. The caller gives them back by `unloadCsr`. */
export async function loadCsr(engine: Engine, x: CsrRows, first: number, last: number): Promise<CsrBlock> {
  const { memory } = engine;
  const [from, to] = [x.offsets[first], x.offsets[last]];
  const offsets = x.offsets.slice(first, last + 1);
  let most = 0;
  for (let r = 0; r < offsets.length; r++) {
    offsets[r] -= from;
    if (r > 0) most = Math.max(most, offsets[r] - offsets[r - 1]);
  }
  const blocks: number[] = [];
  const put = (values: Uint32Array | Values): number => {
    blocks.push(memory.put(values));
    return blocks[blocks.length - 1];
  };
  try {
    const block = {
      first,
      rows: last - first,
      features: x.features,
      type: typeOf(x.values),
      offsets: put(offsets),
      indices: put(x.indices.subarray(from, to)),
      values: put(x.values.subarray(from, to) as Values),
      most,
      largest: 0,
    };
    return { ...block, largest: await measure(engine, block) };
  } catch (error) {
    for (const at of blocks) memory.give(at);
    throw error;
  }
}

export function unloadCsr(memory: Memory, block: CsrBlock): void {
  for (const at of [block.offsets, block.indices, block.values]) memory.give(at);
}

/** Rows [from, to) of a block, as a block. */
export function sliceCsr(block: CsrBlock, from: number, to: number): CsrBlock {
  return { ...block, first: block.first + from, rows: to - from, offsets: block.offsets + from * 4 };
}

/** Tells a context where the rows are. */
export function describeCsr(context: Context, block: CsrBlock): Context {
  return context
    .set([ROW_OFFSETS, block.offsets], [ROW_INDICES, block.indices], [ROW_VALUES, block.values])
    .set([ROW_TYPE, block.type], [FEATURES, block.features], [MOST_ENTRIES, block.most]);
}

async function measure(engine: Engine, block: CsrBlock): Promise<number> {
  const context = describeCsr(new Context(engine.memory, CSR_CONTEXT_BYTES), block);
  try {
    return (await engine.run("measure_csr", block.rows, ROW_PIECE, 0, context)).largest;
  } finally {
    context.release();
  }
}
