/** The limits with which pooled sums become bytes: of each layer, the sum that nearly all sums of training images do not exceed. */

import { LARGEST_SUM, layersFeatures, pooledFeatures } from "../kernels/patches.ts";
import type { PatchLayer, RowSource } from "../kernels/shapes.ts";
import type { Dense } from "../matrix/dense.ts";
import { denseOf } from "../matrix/source.ts";

/** Images that are looked at, at most: they have some millions of sums, of which thousands are above the limit. */
const MOST_IMAGES = 2048;
/** Bytes of their sums in memory at a time. */
const PIECE_BYTES = 2 ** 24;

/** Of a thousand sums that are not zero, so many are at most the limit: the others are cut off, so that a few large sums do not make all others small. */
const OF_THOUSAND = 999;

/** The limit where all sums are zero: any would do, and with this one bytes are the sums. */
const NO_SUMS = 255;

/**
 * The limit of each layer: the least value that 99.9 % of the sums above zero of at most 2,048 images, evenly spaced, do not exceed. `pool`
 * gives the sums of images; `advance` is told how much is done.
 */
export async function byteLimits(
  x: RowSource,
  layers: readonly PatchLayer[],
  pool: (images: Dense) => Promise<Dense>,
  advance: (share: number) => Promise<void>,
): Promise<number[]> {
  const count = Math.min(x.rows, MOST_IMAGES);
  const listed = Uint32Array.from({ length: count }, (_, i) => Math.floor((i * x.rows) / count));
  const most = Math.max(1, Math.floor(PIECE_BYTES / (Uint16Array.BYTES_PER_ELEMENT * layersFeatures(layers))));
  const found = layers.map(() => new Float64Array(LARGEST_SUM + 1)); // how often each sum comes
  for (let from = 0; from < count; from += most) {
    await advance(from / count);
    const { values, rows, features } = await pool(denseOf(await x.gather(listed.subarray(from, from + most))));
    let at = 0;
    for (const [j, { bank, windows }] of layers.entries()) {
      const own = pooledFeatures(windows, bank.filters);
      for (let r = 0; r < rows; r++) {
        const begin = r * features + at;
        for (let e = begin; e < begin + own; e++) found[j][values[e]]++;
      }
      at += own;
    }
  }
  return found.map(limitOf);
}

/** The limit by how often each sum comes. */
export function limitOf(found: Float64Array): number {
  let all = 0;
  for (let sum = 1; sum < found.length; sum++) all += found[sum];
  if (all === 0) return NO_SUMS;
  let limit = 0;
  for (let upTo = 0; upTo * 1000 < all * OF_THOUSAND; ) upTo += found[++limit];
  return limit;
}
