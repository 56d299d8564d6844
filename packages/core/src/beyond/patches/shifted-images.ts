/** Images together with copies moved by a pixel: of images in memory a matrix, of others a source that moves them as they are read. */

import type { RowSource } from "../../kernels/shapes.ts";
import { Dense } from "../../matrix/dense.ts";
import type { ImageShape } from "../../matrix/image-shape.ts";
import { isMatrix } from "../../matrix/matrix.ts";
import { shiftedCopy } from "../../matrix/shifted.ts";
import { denseOf, joinBlocks } from "../../matrix/source.ts";
import { sameType } from "../../matrix/values.ts";

/** The images, then `movedCopies` of all of them. */
export async function withShiftedImages(x: RowSource, shape: ImageShape, movedCopies: number): Promise<RowSource> {
  const rows = (1 + movedCopies) * x.rows;
  const { features } = x;
  /** Images of one copy, of which the first has the number `first` among them. */
  const moved = (images: Dense, copy: number, first: number): Dense =>
    copy === 0 ? images : shiftedCopy(images, shape, copy, first);
  async function* blocks(bytes: number, from: number, to: number): AsyncGenerator<Dense> {
    for (let copy = Math.floor(from / x.rows); copy * x.rows < to; copy++) {
      let first = Math.max(0, from - copy * x.rows);
      const end = Math.min(x.rows, to - copy * x.rows);
      for await (const block of x.slice(first, end).blocks(bytes)) {
        yield moved(denseOf(block), copy, first);
        first += block.rows;
      }
    }
  }
  if (isMatrix(x)) return joinBlocks(blocks(Number.POSITIVE_INFINITY, 0, rows), { rows, features, like: x.values });
  const part = (from: number, to: number): RowSource => ({
    ...{ form: "dense", rows: to - from, features, valueBytes: x.valueBytes },
    entries: (to - from) * features,
    ...(x.room === undefined ? {} : { room: x.room }),
    ...(x.keep && { keep: x.keep.bind(x) }),
    blocks: (bytes) => blocks(bytes, from, to),
    gather: async (listed) => {
      const images = denseOf(await x.gather(listed.map((r) => (from + r) % x.rows)));
      const out = sameType(images.values, images.values.length);
      for (const [at, r] of listed.entries()) {
        const copy = Math.floor((from + r) / x.rows);
        out.set(moved(images.slice(at, at + 1), copy, (from + r) % x.rows).values, at * features);
      }
      return Dense.of(out, images.rows, features);
    },
    slice: (first, last) => part(from + first, from + last),
  });
  return part(0, rows);
}
