/** Images that are read when they are needed: the scale of their values and the sample of their windows, as of images in memory. */

import { windowFeatures } from "../../kernels/patches.ts";
import type { RowSource, Rows, Windows } from "../../kernels/shapes.ts";
import { Csr } from "../../matrix/csr.ts";
import { Dense } from "../../matrix/dense.ts";
import { toDense } from "../../matrix/matrix.ts";
import { drawBelow, type RandomGenerator } from "../../random.ts";
import { type ByteScale, byteScaleOf, MOST_DRAWS, takeWindows, toBytes } from "./windows.ts";

/** Bytes that are looked at at a time. */
const LOOK_BYTES = 2 ** 24;
/** Windows that are drawn before their images are read. */
const DRAWS = 4096;

/** Rows of a source as a matrix of all values. */
export function denseOf(rows: Rows): Dense {
  if (rows instanceof Dense) return rows;
  if (rows.form === "dense") return Dense.of(rows.values, rows.rows, rows.features);
  return toDense(Csr.of(rows.offsets, rows.indices, rows.values, rows.features));
}

/** `byteScaleOf` for a source, which is read once unless it holds bytes. */
export async function byteScaleOfSource(x: RowSource): Promise<ByteScale | undefined> {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  let isBytes = true;
  for await (const block of x.blocks(LOOK_BYTES)) {
    const dense = denseOf(block);
    if (dense.values instanceof Uint8Array && x.valueBytes === 1) return undefined;
    if (byteScaleOf(dense)) isBytes = false;
    for (const value of dense.values) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return isBytes ? undefined : { low, high };
}

/**
 * `sampleWindows` for a source: the same windows. What is drawn does not depend on what is found, so that windows can be drawn ahead and
 * the images of many be read at once.
 */
export async function sampleFromSource(
  x: RowSource,
  windows: Windows,
  most: number,
  generator: RandomGenerator,
  scale: ByteScale | undefined,
): Promise<Dense> {
  const each = windows.across * windows.down;
  const all = x.rows * each;
  const values = new Uint8Array(Math.min(all, most) * windowFeatures(windows));
  let found = 0;
  if (all <= most) {
    for await (const block of x.blocks(LOOK_BYTES)) {
      const images = toBytes(denseOf(block), scale);
      const inOrder = Uint32Array.from({ length: images.rows * each }, (_, window) => window);
      found = takeWindows(images, windows, inOrder, values, found, most);
    }
  } else {
    for (let draws = 0; found < most && draws < MOST_DRAWS * most; ) {
      const count = Math.min(DRAWS, MOST_DRAWS * most - draws);
      const drawn = Array.from({ length: count }, () => [drawBelow(generator, x.rows), drawBelow(generator, each)]);
      const listed = Uint32Array.from(new Set(drawn.map(([image]) => image))).sort();
      const place = new Map(Array.from(listed, (image, j) => [image, j]));
      const images = toBytes(denseOf(await x.gather(listed)), scale);
      const wanted = Uint32Array.from(drawn, ([image, window]) => (place.get(image) as number) * each + window);
      found = takeWindows(images, windows, wanted, values, found, most);
      draws += count;
    }
  }
  const kept = Math.max(1, found);
  return Dense.of(values.slice(0, kept * windowFeatures(windows)), kept, windowFeatures(windows));
}
