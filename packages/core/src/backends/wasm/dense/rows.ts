/** Dense rows in WebAssembly memory: values keep their type, rows are padded with zeros to a multiple of 8 features. */

import { RanksimError } from "../../../errors.ts";
import { inMemory } from "../../../kernels/rows.ts";
import type { DenseRows, RowSource, Values } from "../../../kernels/shapes.ts";
import { isDue } from "../../turn.ts";
import { COPY_BYTES, Context, type Engine } from "../engine/engine.ts";
import { MOST_16 } from "../engine/exact.ts";
import { borrowed, type Lease } from "../engine/memory.ts";
import { I16, U8, U16 } from "../engine/slots.ts";
import { type Block, typeOf } from "../shared/rows.ts";
import * as slot from "./slots.ts";

/** Rows a kernel takes at a time: enough to hide the cost of the call, few enough to share out evenly. */
export const ROW_PIECE = 256;

/** Consecutive dense rows, laid out for the kernels. */
export interface DenseBlock extends Block {
  readonly features: number;
  readonly stride: number;
  readonly type: number;
  /** Where row 0 begins. */
  readonly at: number;
  readonly rowBytes: number;
  /** Largest absolute value. */
  readonly largest: number;
  /** The type of the numbers as they came. */
  readonly came: new (
    length: number,
  ) => Values;
}

/** Features from one row to the next. */
export function strideOf(features: number): number {
  return Math.ceil(features / 8) * 8;
}

/** Bytes that one row takes. */
export function bytesOfRow({ features, valueBytes }: RowSource): number {
  return strideOf(features) * valueBytes;
}

/** Copies all rows of a source into memory of the lease, a block at a time as they come: they need not be anywhere else as a whole. */
export async function placeDense(engine: Engine, lease: Lease, source: RowSource): Promise<DenseBlock> {
  const rowBytes = bytesOfRow(source);
  const at = lease.take(source.rows * rowBytes);
  const all = inMemory(source);
  let last = (all ?? (await source.gather(new Uint32Array(0)))) as DenseRows; // tells the type where there are no rows
  let first = 0;
  for await (const rows of all ? [all] : source.blocks(COPY_BYTES)) {
    last = rows as DenseRows;
    await putRows(engine, at + first * rowBytes, last);
    first += rows.rows;
  }
  if (first !== source.rows) {
    throw new RanksimError("bad-file", `expected ${source.rows} rows from their source, found ${first}`);
  }
  return blockAt(engine, at, last, source.rows);
}

/** The listed rows of a block, as numbers of the type they came in: unsigned ones that were taken for signed ones have the same bits. */
export function copyRows({ memory }: Engine, block: DenseBlock, listed: Uint32Array): DenseRows {
  const { features, at, rowBytes, came } = block;
  const values = new came(listed.length * features);
  const bytes = new Uint8Array(values.buffer);
  const packedBytes = features * values.BYTES_PER_ELEMENT;
  for (let j = 0; j < listed.length; j++) {
    bytes.set(memory.u8(at + listed[j] * rowBytes, packedBytes), j * packedBytes);
  }
  return { form: "dense", rows: listed.length, features, values };
}

/** Copies rows to `at` and pads them. */
async function putRows(engine: Engine, at: number, { features, values, rows }: DenseRows): Promise<void> {
  const { memory } = engine;
  const rowBytes = strideOf(features) * values.BYTES_PER_ELEMENT;
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
}

/** The rows at the address `at`. */
async function blockAt(engine: Engine, at: number, { features, values }: DenseRows, rows: number): Promise<DenseBlock> {
  const stride = strideOf(features);
  const rowBytes = stride * values.BYTES_PER_ELEMENT;
  const came = values.constructor as DenseBlock["came"];
  const block = { first: 0, rows, features, stride, type: typeOf(values), at, rowBytes, largest: 255, came };
  if (block.type === U8) return block;
  const largest = await measure(engine, block);
  // The same bits: unsigned values that fit signed ones are treated as signed, which saves an offset.
  const type = block.type === U16 && largest <= MOST_16 ? I16 : block.type;
  return { ...block, type, largest };
}

/** A block without rows that stands for all rows of the type of `x`: no value of that type is larger than its `largest`. */
export function typicalBlock({ features, values }: DenseRows): DenseBlock {
  const type = typeOf(values);
  const largest = type === U8 ? 255 : type === U16 ? 65_535 : type === I16 ? 32_768 : Number.POSITIVE_INFINITY;
  const stride = strideOf(features);
  const rowBytes = stride * values.BYTES_PER_ELEMENT;
  const came = values.constructor as DenseBlock["came"];
  return { first: 0, rows: 0, features, stride, type, at: 0, rowBytes, largest, came };
}

/** Rows [from, to) of a block, as a block. */
export function sliceBlock(block: DenseBlock, from: number, to: number): DenseBlock {
  return { ...block, first: block.first + from, rows: to - from, at: block.at + from * block.rowBytes };
}

/** Tells a context where the rows are. */
export function describeRows(context: Context, block: DenseBlock): Context {
  return context.set(
    [slot.ROWS, block.at],
    [slot.TYPE, block.type],
    [slot.FEATURES, block.features],
    [slot.STRIDE, block.stride],
  );
}

function measure(engine: Engine, block: DenseBlock): Promise<number> {
  return borrowed(engine.memory, async (lease) => {
    const context = describeRows(new Context(engine.memory, lease), block);
    const scratch = engine.ask("scratch_measure", context.at);
    return (await engine.run("measure_rows", block.rows, ROW_PIECE, scratch, context)).largest;
  });
}
