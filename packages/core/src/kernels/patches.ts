/**
 * Rank filters on patches, as plain loops: every window of an image is a row of its own, its similarities to the filters
 * are whole numbers, and each cell of a grid adds up those of the windows that begin in it. These loops are the definition;
 * every faster one must give exactly the same numbers. All of them are whole, so any order of sums gives the same bits.
 *
 * Values of an image lie row by row, channels last. Beyond the paper: deviation 33.
 */

import type { DenseBank, DenseRows, PatchLayer, Windows } from "./shapes.ts";

/** Similarity of the strongest filter of a window. */
export const LARGEST_SIMILARITY = 255;

/** Bits of a pooled sum: signed 16-bit numbers hold it. */
const POOLED_BITS = 15;

/** The largest sum there can be. */
export const LARGEST_SUM = 2 ** POOLED_BITS - 1;

/** Bits after the point of the factor that makes sums bytes: with 24, no product exceeds 32 bits. */
export const FACTOR_BITS = 24;

/** Pooled values: sums, or bytes. */
export type Pooled = Uint16Array | Uint8Array;

/** What makes a layer of windows, next to the size of the images. */
export interface WindowChoice {
  readonly patch: number;
  readonly stride: number;
  readonly grid: number;
  readonly nBest: number;
}

/**
 * The windows of images: `patch` wide and high, or as wide or high as the image where that is less; as many cells across
 * and down as `grid`, or as there are windows where those are fewer.
 */
export function windowsOf(
  { width, height, channels }: { readonly width: number; readonly height: number; readonly channels: number },
  { patch, stride, grid, nBest }: WindowChoice,
  limit = 0,
): Windows {
  const patchWidth = Math.min(patch, width);
  const patchHeight = Math.min(patch, height);
  const across = Math.floor((width - patchWidth) / stride) + 1;
  const down = Math.floor((height - patchHeight) / stride) + 1;
  const cellsAcross = Math.min(grid, across);
  const cellsDown = Math.min(grid, down);
  const most = Math.ceil(across / cellsAcross) * Math.ceil(down / cellsDown) * LARGEST_SIMILARITY;
  const shift = Math.max(0, 32 - Math.clz32(most) - POOLED_BITS);
  return {
    ...{ width, height, channels, patchWidth, patchHeight, stride },
    ...{ across, down, cellsAcross, cellsDown, nBest, shift, limit },
  };
}

/** Values of one window. */
export function windowFeatures({ patchWidth, patchHeight, channels }: Windows): number {
  return patchWidth * patchHeight * channels;
}

/** Pooled values of an image. */
export function pooledFeatures({ cellsAcross, cellsDown }: Windows, filters: number): number {
  return cellsAcross * cellsDown * filters;
}

/** The cell of the window with its corner at column x and row y of windows. */
export function cellOf({ across, down, cellsAcross, cellsDown }: Windows, x: number, y: number): number {
  return Math.floor((y * cellsDown) / down) * cellsAcross + Math.floor((x * cellsAcross) / across);
}

/** Copies the values of a window to `out`; returns whether they differ. */
export function copyWindow(
  images: Uint8Array,
  at: number, // in: position of the image's first value
  windows: Windows,
  x: number, // in: column of windows
  y: number, // in: row of windows
  out: Uint8Array,
): boolean {
  const { width, channels, patchWidth, patchHeight, stride } = windows;
  let e = 0;
  let differ = false;
  for (let j = 0; j < patchHeight; j++) {
    const from = at + ((y * stride + j) * width + x * stride) * channels;
    for (let i = 0; i < patchWidth * channels; i++) {
      out[e] = images[from + i];
      if (out[e++] !== out[0]) differ = true;
    }
  }
  return differ;
}

/**
 * Similarities of a window from its responses x·w, which all filters give by the same norm: with d the distance of a response from the
 * k-th largest and D that of the largest, ⌊(255·d + ⌊D/2⌋) / D⌋; 0 where d < 0 or D = 0.
 */
export function patchSimilarities(responses: Float64Array, nBest: number, out: Float64Array): void {
  const sorted = responses.slice().sort(); // ascending
  const largest = sorted[sorted.length - 1];
  const kth = sorted[Math.max(0, sorted.length - nBest)];
  const distance = largest - kth;
  for (let f = 0; f < responses.length; f++) {
    const d = responses[f] - kth;
    out[f] = d <= 0 ? 0 : Math.floor((LARGEST_SIMILARITY * d + Math.floor(distance / 2)) / distance);
  }
}

/** x·w of one window for every filter. */
export function patchResponses(window: Uint8Array, bank: DenseBank, out: Float64Array): void {
  const n = bank.features;
  for (let f = 0; f < bank.filters; f++) {
    let sum = 0;
    for (let i = 0; i < n; i++) sum += window[i] * bank.weights[f * n + i];
    out[f] = sum;
  }
}

/** The factor by which `byteOf` multiplies sums: ⌊255 · 2^24 / limit⌋. */
export function byteFactor(limit: number): number {
  return Math.floor((LARGEST_SIMILARITY * 2 ** FACTOR_BITS) / limit);
}

/**
 * A sum as a byte: ⌊min(sum, limit) · ⌊255 · 2^24 / limit⌋ / 2^24 + ½⌋. No product exceeds 255 · 2^24, so 32 bits hold it and the half; a sum
 * of `limit`, which is below 2^15, gives 255.
 */
export function byteOf(sum: number, limit: number): number {
  return Math.floor((Math.min(sum, limit) * byteFactor(limit) + 2 ** (FACTOR_BITS - 1)) / 2 ** FACTOR_BITS);
}

/** What a sum of similarities is in a pooled row. */
export function pooledValue(sum: number, { shift, limit }: Windows): number {
  const kept = sum >>> shift;
  return limit ? byteOf(kept, limit) : kept;
}

/** Pools images: row r of `out` has the values of image r at `r * outFeatures + outAt`, cell by cell, filters ascending. */
function poolPatches(
  images: Uint8Array,
  count: number, // in: images
  bank: DenseBank,
  windows: Windows,
  out: Pooled,
  outFeatures: number, // in: values of a row of `out`
  outAt: number, // in: where the values of this bank begin in a row
): void {
  const m = bank.filters;
  const { width, height, channels, across, down, nBest } = windows;
  const window = new Uint8Array(bank.features);
  const responses = new Float64Array(m);
  const similarities = new Float64Array(m);
  const sums = new Float64Array(pooledFeatures(windows, m));
  for (let r = 0; r < count; r++) {
    sums.fill(0);
    for (let y = 0; y < down; y++) {
      for (let x = 0; x < across; x++) {
        // A window whose values are all equal responds alike to all filters, whose ranks have one sum: it adds nothing.
        if (!copyWindow(images, r * width * height * channels, windows, x, y, window)) continue;
        patchResponses(window, bank, responses);
        patchSimilarities(responses, nBest, similarities);
        const cell = cellOf(windows, x, y) * m;
        for (let f = 0; f < m; f++) sums[cell + f] += similarities[f];
      }
    }
    for (let e = 0; e < sums.length; e++) out[r * outFeatures + outAt + e] = pooledValue(sums[e], windows);
  }
}

/** Values of a pooled row of all layers. */
export function layersFeatures(layers: readonly PatchLayer[]): number {
  return layers.reduce((sum, { bank, windows }) => sum + pooledFeatures(windows, bank.filters), 0);
}

/** The type of pooled values. */
export const pooledType = (isBytes: boolean): Uint8ArrayConstructor | Uint16ArrayConstructor =>
  isBytes ? Uint8Array : Uint16Array;

/** Room for pooled values: bytes where the layers have a limit, which all of them have or none. */
export function pooledValues(layers: readonly PatchLayer[], count: number): Pooled {
  return new (pooledType(layers[0].windows.limit > 0))(count);
}

/** Pools rows that are dense bytes by all layers, whose values lie side by side. */
export function poolLayers(x: DenseRows, layers: readonly PatchLayer[]): Pooled {
  const width = layersFeatures(layers);
  const out = pooledValues(layers, x.rows * width);
  let at = 0;
  for (const { bank, windows } of layers) {
    poolPatches(x.values as Uint8Array, x.rows, bank, windows, out, width, at);
    at += pooledFeatures(windows, bank.filters);
  }
  return out;
}
