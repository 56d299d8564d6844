/** Images together with copies moved by a pixel, in memory or as a source that moves them as they are read. */

import type { RowSource } from "../../kernels/shapes.ts";
import { Dense } from "../../matrix/dense.ts";
import type { ImageShape } from "../../matrix/image-shape.ts";
import { type Matrix, toDense } from "../../matrix/matrix.ts";
import { shiftedCopy } from "../../matrix/shifted.ts";
import { sameType } from "../../matrix/values.ts";
import { denseOf } from "./image-source.ts";

/** The images, then `movedCopies` of all of them. */
export function withShiftedImages(x: Matrix, shape: ImageShape, movedCopies: number): Dense {
  const images = toDense(x);
  const { rows, features, values } = images;
  const out = sameType(values, (1 + movedCopies) * rows * features);
  out.set(values);
  for (let copy = 1; copy <= movedCopies; copy++) {
    out.set(shiftedCopy(images, shape, copy).values, copy * rows * features);
  }
  return Dense.of(out, (1 + movedCopies) * rows, features);
}

/** The same of images that are read. */
export function withShiftedSource(x: RowSource, shape: ImageShape, movedCopies: number): RowSource {
  const all = (1 + movedCopies) * x.rows;
  /** Images of one copy, of which the first has the number `first` among them. */
  const moved = (images: Dense, copy: number, first: number): Dense =>
    copy === 0 ? images : shiftedCopy(images, shape, copy, first);
  const part = (from: number, to: number): RowSource => ({
    ...{ form: "dense", rows: to - from, features: x.features, valueBytes: x.valueBytes },
    entries: (to - from) * x.features,
    ...(x.room === undefined ? {} : { room: x.room }),
    ...(x.keep && { keep: x.keep.bind(x) }),
    async *blocks(bytes) {
      for (let copy = Math.floor(from / x.rows); copy * x.rows < to; copy++) {
        let first = Math.max(0, from - copy * x.rows);
        const end = Math.min(x.rows, to - copy * x.rows);
        for await (const block of x.slice(first, end).blocks(bytes)) {
          yield moved(denseOf(block), copy, first);
          first += block.rows;
        }
      }
    },
    gather: async (listed) => {
      const images = denseOf(await x.gather(listed.map((r) => (from + r) % x.rows)));
      const out = sameType(images.values, images.values.length);
      for (const [at, r] of listed.entries()) {
        const copy = Math.floor((from + r) / x.rows);
        out.set(moved(images.slice(at, at + 1), copy, (from + r) % x.rows).values, at * x.features);
      }
      return Dense.of(out, images.rows, x.features);
    },
    slice: (first, last) => part(from + first, from + last),
  });
  return part(0, all);
}
