/**
 * IDX, the format of MNIST and its family: two zero bytes, a type, a number of axes, the sizes, then raw big-endian
 * values. Images have three axes, labels one.
 */

import { badFile } from "../bad-file.ts";
import type { Account } from "../budget.ts";
import { type Opened, readAll } from "../source.ts";
import type { NpyArray, Numbers } from "./npy.ts";

/** Types of values as .npy calls them, all in big-endian order. */
export const IDX_TYPES: { readonly [type: number]: string } = {
  8: "u1",
  9: "i1",
  11: "i2",
  12: "i4",
  13: "f4",
  14: "f8",
};
const ITEM_SIZES: { readonly [type: number]: number } = { 8: 1, 9: 1, 11: 2, 12: 4, 13: 4, 14: 8 };

/** Whether the bytes begin as an IDX file does. */
export function isIdx(head: Uint8Array): boolean {
  return head[0] === 0 && head[1] === 0 && ITEM_SIZES[head[2]] !== undefined && head[3] >= 1 && head[3] <= 4;
}

/** Reads one IDX file as an array. */
export async function readIdx(opened: Opened, account: Account): Promise<NpyArray> {
  const { name } = opened;
  if (!isIdx(opened.head)) throw badFile(name, "byte 0", "expected an IDX file: two zero bytes, a type, 1 to 4 axes");
  const [, , type, axes] = opened.head;
  const dataAt = 4 + 4 * axes;
  const bytes = await readAll(opened.stream, account, opened.byteLength);
  if (bytes.byteLength < dataAt) throw badFile(name, `byte ${bytes.byteLength}`, "expected sizes, found the end");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const shape = Array.from({ length: axes }, (_, axis) => view.getUint32(4 + 4 * axis));
  const count = shape.reduce((product, size) => product * size, 1);
  const expected = count * ITEM_SIZES[type];
  if (bytes.byteLength - dataAt !== expected) {
    throw badFile(
      name,
      `byte ${dataAt}`,
      `expected ${shape.join(" x ")} items = ${expected} bytes, found ${bytes.byteLength - dataAt}`,
    );
  }
  // Two bytes are decoded into four.
  account.take(type === 11 ? 2 * expected : expected);
  return { shape, values: decode(view, dataAt, type, count) };
}

function decode(view: DataView, dataAt: number, type: number, count: number): Numbers {
  if (type === 8) return new Uint8Array(view.buffer, view.byteOffset + dataAt, count).slice();
  const size = ITEM_SIZES[type];
  const out =
    type === 9
      ? new Int8Array(count)
      : type === 14
        ? new Float64Array(count)
        : type === 13
          ? new Float32Array(count)
          : new Int32Array(count);
  for (let i = 0; i < count; i++) {
    const at = dataAt + i * size;
    out[i] =
      type === 9
        ? view.getInt8(at)
        : type === 11
          ? view.getInt16(at)
          : type === 12
            ? view.getInt32(at)
            : type === 13
              ? view.getFloat32(at)
              : view.getFloat64(at);
  }
  return out;
}
