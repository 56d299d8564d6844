/**
 * The first layer of a patch model as spikes: a value x of the image spikes once, at the time 255 - x, into every window that holds
 * it, and by the time 255 has given w·x to the potential of each filter there. Then the filters of a window inhibit one another: the
 * similarities of the strongest remain, and are added up by the cells of a grid, to bytes where the model has limits. What comes out
 * is what spikes in the second layer. Nobody looks at a potential before its end, so a spike adds all that it will have given by
 * then at once. Whole numbers throughout.
 */

import type { PatchModel } from "@ranksim/core";
import { byteFactor, HALF, UNIT } from "../pooled-bytes.ts";

/** Similarity of the strongest filter of a window. */
const LARGEST = 255;

type Layer = PatchModel["layers"][number];

/** What the first layer makes of an image. */
interface FirstLayer {
  /** Values of the image above 0. */
  readonly spikes: number;
  /** Additions to a potential: one for each spike, window that holds it, and filter. */
  readonly events: number;
  /** Pooled similarities, all sizes of windows side by side: the row that `transform` of the patch model gives. */
  readonly pooled: Float64Array;
}

/** The first layer of a model, laid out for spikes. */
export class PatchNetwork {
  readonly features: number;
  readonly #layers: readonly { readonly layer: Layer; readonly byValue: Float64Array }[];
  readonly #pooled: number;

  constructor({ features, layers, pooledFeatures }: PatchModel) {
    this.features = features;
    this.#pooled = pooledFeatures;
    this.#layers = layers.map((layer) => ({ layer, byValue: byValueOf(layer) }));
  }

  /** Filters that a spike can reach, in all sizes of windows. */
  get filters(): number {
    return this.#layers.reduce((sum, { layer }) => sum + layer.bank.filters, 0);
  }

  /** Lets the values of one image spike. */
  run(image: ArrayLike<number>): FirstLayer {
    let spikes = 0;
    for (let i = 0; i < image.length; i++) if (image[i] > 0) spikes++;
    const pooled = new Float64Array(this.#pooled);
    let events = 0;
    let at = 0;
    for (const { layer, byValue } of this.#layers) {
      const { bank, windows } = layer;
      const potentials = new Float64Array(windows.across * windows.down * bank.filters);
      events += arriveAll(image, layer, byValue, potentials);
      const own = windows.cellsAcross * windows.cellsDown * bank.filters;
      pool(potentials, layer, pooled.subarray(at, at + own));
      at += own;
    }
    return { spikes, events, pooled };
  }
}

/** values of a window x filters: what one spike gives to all filters. */
function byValueOf({ bank: { filters: m, features: n, weights } }: Layer): Float64Array {
  const out = new Float64Array(m * n);
  for (let f = 0; f < m; f++) for (let i = 0; i < n; i++) out[i * m + f] = weights[f * n + i];
  return out;
}

/** All spikes of an image into all windows; the number of additions. */
function arriveAll(
  image: ArrayLike<number>,
  { bank: { filters: m }, windows }: Layer,
  byValue: Float64Array,
  potentials: Float64Array, // out: windows x filters
): number {
  const { width, channels, patchWidth, patchHeight, stride, across, down } = windows;
  let events = 0;
  for (let i = 0; i < image.length; i++) {
    const value = image[i];
    if (!(value > 0)) continue;
    const pixel = Math.floor(i / channels);
    const [px, py] = [pixel % width, Math.floor(pixel / width)];
    // Windows that begin at most a window's size before the pixel, and not after it.
    for (let y = firstOf(py, patchHeight, stride); y <= lastOf(py, stride, down); y++) {
      for (let x = firstOf(px, patchWidth, stride); x <= lastOf(px, stride, across); x++) {
        const place = ((py - y * stride) * patchWidth + (px - x * stride)) * channels + (i % channels);
        const [from, to] = [place * m, (y * across + x) * m];
        for (let f = 0; f < m; f++) potentials[to + f] += byValue[from + f] * value;
        events += m;
      }
    }
  }
  return events;
}

const firstOf = (pixel: number, size: number, stride: number): number =>
  Math.max(0, Math.ceil((pixel - size + 1) / stride));
const lastOf = (pixel: number, stride: number, count: number): number =>
  Math.min(count - 1, Math.floor(pixel / stride));

/** The strongest filters of each window, by how far they are above the k-th strongest, added up by cells. */
function pool(potentials: Float64Array, { bank: { filters: m }, windows }: Layer, out: Float64Array): void {
  const { across, down, cellsAcross, cellsDown, nBest, shift, limit } = windows;
  const sorted = new Float64Array(m);
  for (let y = 0; y < down; y++) {
    for (let x = 0; x < across; x++) {
      const from = (y * across + x) * m;
      sorted.set(potentials.subarray(from, from + m));
      sorted.sort();
      const kth = sorted[Math.max(0, m - nBest)];
      const distance = sorted[m - 1] - kth;
      if (distance === 0) continue;
      const half = Math.floor(distance / 2);
      const cell = Math.floor((y * cellsDown) / down) * cellsAcross + Math.floor((x * cellsAcross) / across);
      for (let f = 0; f < m; f++) {
        const above = potentials[from + f] - kth;
        if (above > 0) out[cell * m + f] += Math.floor((LARGEST * above + half) / distance);
      }
    }
  }
  const kept = 2 ** shift;
  for (let e = 0; e < out.length; e++) out[e] = Math.floor(out[e] / kept);
  if (limit === 0) return;
  const factor = byteFactor(limit);
  for (let e = 0; e < out.length; e++) out[e] = Math.floor((Math.min(out[e], limit) * factor + HALF) / UNIT);
}
