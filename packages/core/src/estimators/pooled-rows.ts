/** Pooled rows of many images as a source: they are made when they are asked for, so that a back end takes them in without a second copy. */

import type { RowSource } from "../backends/contract.ts";
import type { Dense } from "../matrix/dense.ts";
import type { Matrix } from "../matrix/matrix.ts";

/** Bytes of a pooled sum. */
export const SUM_BYTES = Uint16Array.BYTES_PER_ELEMENT;

/** Images pooled at a time. */
const MOST_IMAGES = 2048;

/** Rows are taken in whole where a quarter of their room is enough. */
const ROOM = 4;

/** The rows that `pool` makes of images, `features` numbers each. */
export function pooledRows(images: Matrix, features: number, pool: (images: Matrix) => Promise<Dense>): RowSource {
  const entries = images.rows * features;
  return {
    ...{ form: "dense", rows: images.rows, features, entries, valueBytes: SUM_BYTES },
    made: true,
    room: ROOM * entries * SUM_BYTES,
    async *blocks(bytes) {
      const most = Math.max(1, Math.min(MOST_IMAGES, Math.floor(bytes / (features * SUM_BYTES))));
      for (let from = 0; from < images.rows; from += most) {
        yield pool(images.slice(from, Math.min(images.rows, from + most)));
      }
    },
    gather: (rows) => pool(images.gather(rows)),
    slice: (from, to) => pooledRows(images.slice(from, to), features, pool),
  };
}
