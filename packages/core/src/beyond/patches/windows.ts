/**
 * What surrounds the windows of images (deviation 33): the size of images, values as bytes, the sample of windows that patch filters
 * are trained on, and where in an image a decision was found.
 */

import { RanksimError } from "../../errors.ts";
import {
  cellOf,
  copyWindow,
  LARGEST_SIMILARITY,
  patchResponses,
  patchSimilarities,
  pooledFeatures,
  pooledValue,
  windowFeatures,
} from "../../kernels/patches.ts";
import { distinct, lowerBound, numbersBelow } from "../../kernels/rows.ts";
import type { PatchLayer, RowSource, Windows } from "../../kernels/shapes.ts";
import { Dense } from "../../matrix/dense.ts";
import type { ImageShape } from "../../matrix/image-shape.ts";
import { isMatrix } from "../../matrix/matrix.ts";
import { denseOf } from "../../matrix/source.ts";
import { areWhole, type Values } from "../../matrix/values.ts";
import { drawBelow, type RandomGenerator } from "../../random.ts";

/** Largest number of values in a window: their responses must fit 32 bits. */
const MOST_VALUES = 2048;

/** The kernels count windows and cells, and add up the similarities of a cell, in 32 bits. */
const MOST_COUNTED = 2 ** 32;

/** Bytes that are looked at at a time. */
const LOOK_BYTES = 2 ** 24;

/** Draws for each window asked for: most windows of an image may be blank. */
const MOST_DRAWS = 32;
/** Windows that are drawn before their images are read. */
const DRAWS = 4096;

/** The size of images with the given number of values: as given, or square where neither side is. */
export function imageShapeOf(
  features: number,
  given: { readonly width?: number | undefined; readonly height?: number | undefined; readonly channels: number },
): ImageShape {
  const { channels } = given;
  const pixels = features / channels;
  const side = Math.round(Math.sqrt(pixels));
  const width = given.width ?? (given.height ? pixels / given.height : side);
  const height = given.height ?? (given.width ? pixels / given.width : side);
  if (!Number.isInteger(pixels) || !Number.isInteger(width) || !Number.isInteger(height) || width * height !== pixels) {
    const asked = [given.width && `width ${given.width}`, given.height && `height ${given.height}`];
    const sizes = [...asked.filter(Boolean), `${channels} channel${channels === 1 ? "" : "s"}`].join(", ");
    throw new RanksimError(
      "bad-params",
      `images: ${features} values a row are no images of ${asked.some(Boolean) ? "" : "square size and "}${sizes}; give width, height and channels`,
    );
  }
  return { width, height, channels };
}

/** Refuses windows that the kernels cannot count. */
export function checkWindows(windows: Windows): void {
  const n = windowFeatures(windows);
  if (n < 2 || n > MOST_VALUES) {
    throw new RanksimError(
      "bad-params",
      `patch: expected windows of 2 to ${MOST_VALUES} values, found ${windows.patchWidth} x ${windows.patchHeight} x ${windows.channels} = ${n}`,
    );
  }
  checkSide("across", windows.across, windows.cellsAcross);
  checkSide("down", windows.down, windows.cellsDown);
  const inCell = Math.ceil(windows.across / windows.cellsAcross) * Math.ceil(windows.down / windows.cellsDown);
  if (inCell * LARGEST_SIMILARITY >= MOST_COUNTED) {
    throw new RanksimError(
      "bad-params",
      `grid: expected fewer than ${Math.ceil(MOST_COUNTED / LARGEST_SIMILARITY)} windows in a cell, found ${inCell}; a larger grid or stride leaves fewer`,
    );
  }
}

function checkSide(side: string, windows: number, cells: number): void {
  if ((windows + 1) * cells <= MOST_COUNTED) return;
  throw new RanksimError(
    "bad-params",
    `grid: expected a product of windows and cells ${side} below 2^32, found ${windows} x ${cells}; a smaller grid or a larger stride leaves fewer`,
  );
}

/** How values become bytes: those from `low` to `high` spread over 0 to 255. Absent: they are bytes already. */
export interface ByteScale {
  readonly low: number;
  readonly high: number;
}

/** The scale that training values need: none for whole numbers from 0 to 255, otherwise their range. */
export async function byteScaleOf(x: RowSource): Promise<ByteScale | undefined> {
  if (x.valueBytes === 1) return undefined;
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  let isWhole = true;
  for await (const block of x.blocks(LOOK_BYTES)) {
    const { values } = denseOf(block);
    isWhole &&= areWhole(values);
    for (let i = 0; i < values.length; i++) {
      if (values[i] < low) low = values[i];
      if (values[i] > high) high = values[i];
    }
  }
  return isWhole && low >= 0 && high <= 255 ? undefined : { low, high };
}

/** Images of bytes for a model of images from 0 to 1 are 255 ranges away; an unusual image is a few. */
const FAR_RANGES = 10;

/**
 * Rows as bytes. With a scale, values beyond its ends become 0 or 255, and values many ranges away, which no image on that scale
 * has, are refused; without, anything but bytes is.
 */
export function toBytes(x: Dense, scale: ByteScale | undefined): Dense {
  const { values, rows, features } = x;
  if (!scale && values instanceof Uint8Array) return x;
  const bytes = new Uint8Array(values.length);
  if (!scale) {
    for (let i = 0; i < values.length; i++) {
      bytes[i] = values[i];
      if (bytes[i] !== values[i]) throw notBytes(values, i, features);
    }
    return Dense.of(bytes, rows, features);
  }
  const { low, high } = scale;
  const range = high - low;
  for (let i = 0; i < values.length; i++) {
    const share = range > 0 ? (values[i] - low) / range : 0;
    if (share > 1 + FAR_RANGES || share < -FAR_RANGES) throw notOnScale(values, i, features, scale);
    bytes[i] = Math.floor(255 * Math.min(1, Math.max(0, share)) + 0.5);
  }
  return Dense.of(bytes, rows, features);
}

const notBytes = (values: Values, i: number, features: number): RanksimError =>
  unlikeTraining(values, i, features, "whole numbers from 0 to 255");

const notOnScale = (values: Values, i: number, features: number, { low, high }: ByteScale): RanksimError =>
  unlikeTraining(values, i, features, `numbers from about ${low} to ${high}`);

function unlikeTraining(values: Values, i: number, features: number, expected: string): RanksimError {
  const where = `row ${Math.floor(i / features)}, column ${i % features}`;
  return new RanksimError(
    "bad-matrix",
    `${where}: expected ${expected} as in training, found ${values[i]}; bring images to the scale of training first`,
  );
}

/**
 * Windows of the images that have contrast, as rows: all of them where there are at most `most`, otherwise that many drawn with
 * replacement (after 32 times as many draws, those found by then). Where none has contrast, the first window alone. What is drawn does not
 * depend on what is found, so that windows can be drawn ahead and the images of many be read at once.
 */
export async function sampleWindows(
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
      found = takeWindows(images, windows, numbersBelow(images.rows * each), values, found, most);
    }
  } else {
    const whole = isMatrix(x) ? toBytes(denseOf(x), scale) : undefined;
    for (let draws = 0; found < most && draws < MOST_DRAWS * most; draws += DRAWS) {
      const count = Math.min(DRAWS, MOST_DRAWS * most - draws);
      const drawn = Array.from({ length: count }, () => [drawBelow(generator, x.rows), drawBelow(generator, each)]);
      const listed = distinct(Uint32Array.from(drawn, ([image]) => image));
      const images = whole ?? toBytes(denseOf(await x.gather(listed)), scale);
      const place = (image: number) => (whole ? image : lowerBound(listed, image));
      const wanted = drawn.map(([image, window]) => place(image) * each + window);
      found = takeWindows(images, windows, wanted, values, found, most);
    }
  }
  const kept = Math.max(1, found);
  return Dense.of(values.slice(0, kept * windowFeatures(windows)), kept, windowFeatures(windows));
}

/** Copies listed windows that have contrast behind the `found` that are there, up to `most`; answers with how many there are then. */
function takeWindows(
  images: Dense,
  windows: Windows,
  listed: ArrayLike<number>,
  values: Uint8Array,
  found: number,
  most: number,
): number {
  const n = windowFeatures(windows);
  const each = windows.across * windows.down;
  let taken = found;
  for (let j = 0; j < listed.length && taken < most; j++) {
    const at = Math.floor(listed[j] / each) * images.features;
    const place = listed[j] % each;
    const out = values.subarray(taken * n, (taken + 1) * n);
    const y = Math.floor(place / windows.across);
    if (copyWindow(images.values as Uint8Array, at, windows, place % windows.across, y, out)) taken++;
  }
  return taken;
}

/** Where in one image, by windows, something was found: a value for each window, row of windows by row of windows. */
export interface WindowMap {
  readonly windows: Windows;
  readonly values: Float64Array;
}

/**
 * For each window of one image, its part of the pooled values of its cell times `weights` of them: a value is divided among the windows of
 * the cell in proportion to their similarities, so that the parts add up to the whole.
 */
export function mapWindows(image: Uint8Array, layer: PatchLayer, weights: Float64Array): WindowMap {
  const { bank, windows } = layer;
  const m = bank.filters;
  const sums = new Float64Array(pooledFeatures(windows, m));
  visitWindows(image, layer, (similarities, cell) => {
    for (let f = 0; f < m; f++) sums[cell * m + f] += similarities[f];
  });
  const parts = sums.map((sum, e) => (sum === 0 ? 0 : (weights[e] * pooledValue(sum, windows)) / sum));
  const values = new Float64Array(windows.across * windows.down);
  visitWindows(image, layer, (similarities, cell, place) => {
    for (let f = 0; f < m; f++) values[place] += similarities[f] * parts[cell * m + f];
  });
  return { windows, values };
}

/** Calls `visit` with the similarities, the cell and the number of each window that has contrast. */
function visitWindows(
  image: Uint8Array,
  { bank, windows }: PatchLayer,
  visit: (similarities: Float64Array, cell: number, place: number) => void,
): void {
  const window = new Uint8Array(bank.features);
  const responses = new Float64Array(bank.filters);
  const similarities = new Float64Array(bank.filters);
  for (let y = 0; y < windows.down; y++) {
    for (let x = 0; x < windows.across; x++) {
      if (!copyWindow(image, 0, windows, x, y, window)) continue;
      patchResponses(window, bank, responses);
      patchSimilarities(responses, windows.nBest, similarities);
      visit(similarities, cellOf(windows, x, y), y * windows.across + x);
    }
  }
}

/** The part of weights for pooled rows that belongs to each layer. */
export function weightsByLayer(layers: readonly PatchLayer[], weights: Float64Array): Float64Array[] {
  let at = 0;
  return layers.map(({ bank, windows }) => {
    const own = weights.subarray(at, at + pooledFeatures(windows, bank.filters));
    at += own.length;
    return own;
  });
}
