/** What a model with patches can show: its bank of small pictures, names for what it pools, and where in an image a decision was found. */

import { type BankExplanation, type Matrix, type Model, PatchModel } from "@ranksim/core";
import { stepsOf } from "@ranksim/learn";
import { type Picture, pictureOf } from "../pictures/picture.ts";

/** Strength of the lines between patch filters. */
const BETWEEN = 90;

/** The patch stage of a model that takes images. */
export function patchesOf(model: Model): PatchModel | undefined {
  const [first] = stepsOf(model);
  return first instanceof PatchModel ? first : undefined;
}

/** The patch filters of one size, side by side with a line between them. */
export interface PatchSheet {
  readonly filters: number;
  readonly width: number;
  readonly height: number;
  readonly picture: Picture;
}

/** All patch filters, in their order; those of several channels by their mean. Stronger is a higher rank. */
export function patchSheets({ layers }: PatchModel): PatchSheet[] {
  return layers.map(({ bank, windows: { patchWidth: width, patchHeight: height, channels } }) => {
    const columns = Math.ceil(Math.sqrt(2 * bank.filters));
    const lines = Math.ceil(bank.filters / columns);
    const [w, h] = [columns * (width + 1) + 1, lines * (height + 1) + 1];
    const pixels = new Uint8Array(w * h).fill(BETWEEN);
    for (let f = 0; f < bank.filters; f++) {
      const one = pictureOf(
        greyOf(bank.weights.subarray(f * bank.features, (f + 1) * bank.features), channels),
        width,
        height,
      );
      const [left, top] = [1 + (f % columns) * (width + 1), 1 + Math.floor(f / columns) * (height + 1)];
      for (let y = 0; y < height; y++) {
        pixels.set(one.pixels.subarray(y * width, (y + 1) * width), (top + y) * w + left);
      }
    }
    return { filters: bank.filters, width, height, picture: { width: w, height: h, pixels } };
  });
}

/** Values of pixels that have several channels, as one each. */
export function greyOf(values: ArrayLike<number>, channels: number): ArrayLike<number> {
  if (channels === 1) return values;
  return Float64Array.from({ length: values.length / channels }, (_, p) => {
    let sum = 0;
    for (let c = 0; c < channels; c++) sum += values[p * channels + c];
    return sum / channels;
  });
}

/** Where in an image a decision was found: above 0 for the class it was given, below 0 for the strongest rival. */
export interface Where {
  readonly width: number;
  readonly height: number;
  /** Pixel by pixel, row by row. They add up to what the windows contribute to the decision. */
  readonly values: Float64Array;
}

/** What each pixel's windows contributed to a decision, as its explanation has it; undefined without a rival. */
export function whereFound(patches: PatchModel, x: Matrix, row: number, found: BankExplanation): Where | undefined {
  if (found.rival === undefined) return undefined;
  const weights = new Float64Array(patches.pooledFeatures);
  for (const { feature, value, contribution } of found.contributions) weights[feature] = contribution / value;
  const { width, height } = patches.shape;
  const values = new Float64Array(width * height);
  for (const { windows, values: own } of patches.map(x, row, weights)) {
    const { across, down, stride, patchWidth, patchHeight } = windows;
    const pixels = patchWidth * patchHeight;
    for (let y = 0; y < down; y++) {
      for (let x = 0; x < across; x++) {
        const share = own[y * across + x] / pixels;
        for (let j = 0; j < patchHeight; j++) {
          for (let i = 0; i < patchWidth; i++) values[(y * stride + j) * width + x * stride + i] += share;
        }
      }
    }
  }
  return { width, height, values };
}

/** The map as two pictures of one scale: where the class it was given was found, and where the rival was. */
export function wherePictures({ width, height, values }: Where): { readonly given: Picture; readonly rival: Picture } {
  const most = values.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
  const shown = (sign: number): Picture => ({
    width,
    height,
    pixels: Uint8Array.from(values, (value) => (most === 0 ? 0 : Math.round((255 * Math.max(0, sign * value)) / most))),
  });
  return { given: shown(1), rival: shown(-1) };
}
