/** Dense rows in WebAssembly memory: values keep their type, rows are padded with zeros to a multiple of 8 features. */

import type { DenseRows, RowSource, Values } from "../../kernels/shapes.ts";
import { isDue } from "../turn.ts";
import { F32, F64, FEATURES, I16, ROWS, STRIDE, TYPE, U8, U16 } from "./context.ts";
import { COPY_BYTES, Context, type Engine } from "./engine.ts";
import { borrowed, type Lease } from "./memory.ts";

/** Largest values a signed 16-bit number holds. */
const MOST_16 = 32_767;

/** Rows a kernel takes at a time: enough to forget the call, few enough to share out evenly. */
export const ROW_PIECE = 256;

/** Some consecutive rows of a dense matrix, laid out for the kernels. */
export interface DenseBlock {
  /** Number of the first row in its matrix. */
  readonly first: number;
  readonly rows: number;
  readonly features: number;
  readonly stride: number;
  readonly type: number;
  /** Where row 0 begins. */
  readonly at: number;
  readonly rowBytes: number;
  /** Largest absolute value. */
  readonly largest: number;
}

/** Features from one row to the next. */
export function strideOf(features: number): number {
  return Math.ceil(features / 8) * 8;
}

/** Bytes that one row takes. */
export function bytesOfRow({ features, valueBytes }: RowSource): number {
  return strideOf(features) * valueBytes;
}

/** Copies rows into memory of the lease; row 0 has the number `first` in its matrix. */
export async function placeDense(engine: Engine, lease: Lease, x: DenseRows, first: number): Promise<DenseBlock> {
  const { memory } = engine;
  const { features, values, rows } = x;
  const stride = strideOf(features);
  const rowBytes = stride * values.BYTES_PER_ELEMENT;
  const at = lease.take(rows * rowBytes);
  const packedBytes = features * values.BYTES_PER_ELEMENT;
  const most = Math.max(1, Math.floor(COPY_BYTES / rowBytes));
  for (let from = 0; from < rows; from += most) {
    const count = Math.min(most, rows - from);
    // Packed at the end of their room, then moved to their places from the first row on: no row overwrites a later one.
    const begin = at + from * rowBytes;
    const packed = begin + count * (rowBytes - packedBytes);
    const source = new Uint8Array(values.buffer, values.byteOffset + from * packedBytes, count * packedBytes);
    memory.u8(packed, source.length).set(source);
    if (packed !== begin) engine.ask("spread_rows", packed, begin, count, packedBytes, rowBytes);
    if (isDue()) await engine.turn.pause();
  }
  const block = { first, rows, features, stride, type: typeOf(values), at, rowBytes, largest: 255 };
  if (block.type === U8) return block;
  const largest = await measure(engine, block);
  // The same bits: unsigned values that fit signed ones are treated as signed, which saves an offset.
  const type = block.type === U16 && largest <= MOST_16 ? I16 : block.type;
  return { ...block, type, largest };
}

/** A block without rows that stands for all rows of the type of `x`: no value of that type is larger than its `largest`. */
export function blockLike({ features, values }: DenseRows): DenseBlock {
  const type = typeOf(values);
  const largest = type === U8 ? 255 : type === U16 ? 65_535 : type === I16 ? 32_768 : Number.POSITIVE_INFINITY;
  const stride = strideOf(features);
  return { first: 0, rows: 0, features, stride, type, at: 0, rowBytes: stride * values.BYTES_PER_ELEMENT, largest };
}

/** Rows [from, to) of a block, as a block. */
export function sliceBlock(block: DenseBlock, from: number, to: number): DenseBlock {
  return { ...block, first: block.first + from, rows: to - from, at: block.at + from * block.rowBytes };
}

/** Whether the values are whole numbers by type. */
export function isWholeType(type: number): boolean {
  return type === U8 || type === U16 || type === I16;
}

/** Tells a context where the rows are. */
export function describeRows(context: Context, block: DenseBlock): Context {
  return context.set([ROWS, block.at], [TYPE, block.type], [FEATURES, block.features], [STRIDE, block.stride]);
}

function measure(engine: Engine, block: DenseBlock): Promise<number> {
  return borrowed(engine.memory, async (lease) => {
    const context = describeRows(new Context(engine.memory, lease), block);
    const scratch = engine.ask("scratch_measure", context.at);
    return (await engine.run("measure_rows", block.rows, ROW_PIECE, scratch, context)).largest;
  });
}

/** The kernels' code of an element type. */
export function typeOf(values: Values): number {
  if (values instanceof Uint8Array) return U8;
  if (values instanceof Uint16Array) return U16;
  if (values instanceof Int16Array) return I16;
  return values instanceof Float32Array ? F32 : F64;
}
