/** Rows of bytes on the device, in as few buffers as it allows. */

import { type DenseRows, type RowSource, type Turn, UNINTERRUPTED } from "@ranksim/core/backend";
import type { GpuContext } from "./context.ts";
import type { DeviceBuffer } from "./device.ts";
import { moveItems, PAD_ITEMS, padded, spreadRows, strideOf } from "./layout.ts";

/** Products are exact in u32 up to this many features: 255 n (n + 1) < 2^32. */
export const MOST_FEATURES = 4103;
/** A source is brought as a whole for the sake of one row in so many. */
const SHARE = 32;
/** Bytes that are copied between two looks at the clock. */
const COPY_BYTES = 2 ** 22;

/** Consecutive rows in one buffer. */
export interface Part {
  readonly buffer: DeviceBuffer;
  readonly first: number;
  readonly rows: number;
}

export interface Resident {
  readonly parts: readonly Part[];
  readonly rows: number;
  readonly features: number;
  /** Bytes from one row to the next. */
  readonly stride: number;
}

/** Whether the device can hold such rows. */
export function canHold({ form, valueBytes, features, rows }: RowSource): boolean {
  return form === "dense" && valueBytes === 1 && features <= MOST_FEATURES && rows > 0;
}

/** Brings rows to the device; the caller frees them. Rows of a larger source are picked there, if much of it is wanted. */
export async function bringRows(context: GpuContext, source: RowSource, turn: Turn): Promise<Resident> {
  const { listed } = source;
  if (!listed || listed.rows.length * SHARE < listed.source.rows || !canHold(listed.source)) {
    return copyRows(context, source, turn);
  }
  const whole = context.whole(listed.source, () => copyRows(context, listed.source, UNINTERRUPTED));
  try {
    return await gatherRows(context, await whole.value, listed.rows);
  } finally {
    whole.release();
  }
}

/** Copies rows to the device. */
async function copyRows(context: GpuContext, source: RowSource, turn: Turn): Promise<Resident> {
  const resident = emptyRows(context, source.rows, source.features);
  try {
    let first = 0;
    for await (const block of source.blocks(Math.min(COPY_BYTES, context.limits.partBytes / 2))) {
      await place(context, resident, block as DenseRows, first);
      first += block.rows;
      await turn.pause();
    }
    return resident;
  } catch (error) {
    freeRows(resident);
    throw error;
  }
}

/** A copy of the listed rows; the caller frees it. */
export async function gatherRows(context: GpuContext, from: Resident, list: Uint32Array): Promise<Resident> {
  const { device } = context;
  const resident = emptyRows(context, list.length, from.features, from.stride);
  try {
    for (const source of from.parts) {
      for (const target of resident.parts) {
        const pairs = new Uint32Array(2 * target.rows);
        let count = 0;
        for (let j = target.first; j < target.first + target.rows; j++) {
          const r = list[j] - source.first;
          if (r < 0 || r >= source.rows) continue;
          pairs[2 * count] = r;
          pairs[2 * count++ + 1] = j - target.first;
        }
        if (count === 0) continue;
        await device.borrowing(async (borrow) => {
          const buffer = borrow(8 * count);
          device.write(buffer, 0, pairs.subarray(0, 2 * count));
          const job = device.job();
          const places = [source, target].map((part) => ({ buffer: part.buffer, first: 0 }));
          await moveItems(job, buffer, count, from.stride, places[0], places[1]);
          job.send();
        });
      }
    }
    return resident;
  } catch (error) {
    freeRows(resident);
    throw error;
  }
}

export function freeRows({ parts }: Resident): void {
  for (const { buffer } of parts) buffer.free();
}

/** DeviceBuffer for rows, of any content; the caller frees it. */
export function emptyRows(context: GpuContext, rows: number, features: number, stride = strideOf(features)): Resident {
  const most = Math.max(1, Math.floor(context.limits.partBytes / (stride * PAD_ITEMS))) * PAD_ITEMS;
  const parts: Part[] = [];
  const resident = { parts, rows, features, stride };
  try {
    for (let first = 0; first < rows; first += most) {
      const count = Math.min(most, rows - first);
      parts.push({ buffer: context.device.allocate(padded(count) * stride), first, rows: count });
    }
    return resident;
  } catch (error) {
    freeRows(resident);
    throw error;
  }
}

/** Where rows `first` (included) to `last` (not included) belong: those from `from` to `to` in that part. */
export function* placesOf(
  parts: readonly Part[],
  first: number,
  last: number,
): Generator<{ readonly part: Part; readonly from: number; readonly to: number }> {
  for (const part of parts) {
    const from = Math.max(first, part.first);
    const to = Math.min(last, part.first + part.rows);
    if (from < to) yield { part, from, to };
  }
}

/** Copies a block of rows to its place. */
async function place(
  { device }: GpuContext,
  { parts, features }: Resident,
  block: DenseRows,
  first: number,
): Promise<void> {
  for (const { part, from, to } of placesOf(parts, first, first + block.rows)) {
    const values = (block.values as Uint8Array).subarray((from - first) * features, (to - first) * features);
    await device.borrowing(async (borrow) => {
      const packed = borrow(values.byteLength + 8);
      const job = device.job();
      job.bring(packed, values);
      await spreadRows(job, packed, features, to - from, from - part.first, part.buffer);
      job.send();
    });
  }
}
