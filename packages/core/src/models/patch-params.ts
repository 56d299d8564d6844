/** The parameters of the patch transform: types, defaults and descriptions, and the layers that lists of them make. */

import type { WindowChoice } from "../kernels/patches.ts";
import { MOST_COPIES } from "../matrix/shifted.ts";
import { type ParameterInfo, refuse } from "./parameter.ts";

/** One value for all layers, or a list of one for each. */
export type PerLayer = number | readonly number[];

/** Parameters of the patch transform. Lists make several layers side by side. */
export interface PatchParams {
  /** Pixels of a row of the images; absent: as many as `height` leaves, or the images are square. */
  readonly width: number | undefined;
  /** Rows of pixels; 1 for signals. */
  readonly height: number | undefined;
  /** Values of a pixel, which lie together. */
  readonly channels: number;
  /** Width and height of a window; where the image is smaller, its own. */
  readonly patch: PerLayer;
  /** Pixels from one window to the next. */
  readonly stride: PerLayer;
  /** Filters that windows are compared with. */
  readonly filters: PerLayer;
  /** Filters per window whose similarity counts. */
  readonly nBest: PerLayer;
  /** Cells across and down in which similarities are added up. */
  readonly grid: PerLayer;
  /** Copies of each training image, moved by a pixel, that a `RankSimilarityClassifier` right after this transform learns from as well: none if 0 or absent, 4 at most. */
  readonly shiftedCopies: number | undefined;
  /** Whether pooled sums are given as bytes, which take half the memory: sums above a limit, chosen on the training images, count as much as it. */
  readonly bytes: boolean;
  /** Windows, drawn with the seed, that filters are trained on. */
  readonly sample: number;
  /** Maximum number of spreading iterations. */
  readonly iterations: number;
  /** Seed for all random choices. */
  readonly seed: number;
}

export const PATCH_PARAMETERS: readonly ParameterInfo[] = [
  { name: "width", form: "count", default: null, about: "width of the images in pixels; square if not given" },
  { name: "height", form: "count", default: null, about: "height of the images in pixels; 1 for signals" },
  { name: "channels", form: "count", default: 1, about: "values of a pixel" },
  { name: "patch", form: "counts", default: 5, about: "width and height of a window" },
  { name: "stride", form: "counts", default: 1, about: "pixels from one window to the next" },
  { name: "filters", form: "counts", least: 2, default: 256, about: "filters that windows are compared with" },
  { name: "nBest", form: "counts", least: 2, default: 8, about: "filters per window whose similarity counts" },
  { name: "grid", form: "counts", default: 5, about: "cells across and down in which similarities are added up" },
  {
    name: "shiftedCopies",
    form: "count",
    least: 0,
    most: MOST_COPIES,
    default: null,
    about: "copies of each training image, shifted by one pixel, that a classifier learns from as well; 0 to 4",
  },
  { name: "bytes", form: "flag", default: false, isRare: true, about: "pooled sums as bytes: half the memory" },
  { name: "sample", form: "count", default: 200_000, about: "windows that filters are trained on" },
  { name: "iterations", form: "count", default: 8, about: "maximum number of spreading iterations" },
  { name: "seed", form: "seed", default: 0, about: "seed for all random choices" },
];

/** What one layer is made with. */
export interface LayerChoice extends WindowChoice {
  readonly filters: number;
}

const LAYERED = ["patch", "stride", "filters", "nBest", "grid"] as const;

/** The layers: as many as the longest list has values; single values hold for all. */
export function layerChoices(params: PatchParams): LayerChoice[] {
  const lists = LAYERED.map((name) => [name, params[name]] as const);
  const longest = Math.max(...lists.map(([, value]) => (typeof value === "number" ? 1 : value.length)));
  for (const [name, value] of lists) {
    if (typeof value === "number" || value.length === longest) continue;
    throw refuse(name, `${longest} values, one for each layer`, value.length);
  }
  return Array.from({ length: longest }, (_, j) => {
    const one = (value: PerLayer): number => (typeof value === "number" ? value : value[j]);
    const { patch, stride, filters, nBest, grid } = params;
    return { patch: one(patch), stride: one(stride), filters: one(filters), nBest: one(nBest), grid: one(grid) };
  });
}
