/** Pooled rows of many images as a source: they are made when they are asked for, so that a back end takes them in without a second copy. */

import type { RowSource } from "../backends/contract.ts";
import type { Dense } from "../matrix/dense.ts";
import { asMatrix, type Matrix } from "../matrix/matrix.ts";

/** Images pooled at a time. */
const MOST_IMAGES = 2048;

/** Rows are taken in whole where a quarter of their room is enough. */
const ROOM = 4;

/** The rows that `pool` makes of images, `features` numbers of `valueBytes` bytes each. */
export function pooledRows(
  images: Matrix,
  features: number,
  valueBytes: number,
  pool: (images: Matrix) => Promise<Dense>,
): RowSource {
  const entries = images.rows * features;
  return {
    ...{ form: "dense", rows: images.rows, features, entries, valueBytes },
    made: true,
    room: ROOM * entries * valueBytes,
    async *blocks(bytes) {
      const most = Math.max(1, Math.min(MOST_IMAGES, Math.floor(bytes / (features * valueBytes))));
      for (let from = 0; from < images.rows; from += most) {
        yield pool(images.slice(from, Math.min(images.rows, from + most)));
      }
    },
    gather: (rows) => pool(asMatrix(images).gather(rows)),
    slice: (from, to) => pooledRows(images.slice(from, to), features, valueBytes, pool),
  };
}
