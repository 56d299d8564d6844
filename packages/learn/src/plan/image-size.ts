/** How large images have to be: photographs have more pixels than their content needs, and windows cost by the pixel. */

import type { Estimator, Labels, MatrixLike, PredictingModel, Run } from "@ranksim/core";
import type { ImageSize, MatrixData } from "@ranksim/data";
import { trainTestRows } from "../select/split.ts";
import { crossValidate } from "../select/validation.ts";
import { isImages, kindOf } from "./kind.ts";
import { recipeFor } from "./recipe.ts";

/** Pixels of the longer side that are compared. */
export const IMAGE_SIZES: readonly number[] = [16, 24, 32, 48];
/** Images by which sizes are compared, most; more would not make the choice much surer. */
const MOST_IMAGES = 900;
const FOLDS = 3;
/** Recipes are compared before they are polished: epochs, and windows that patch filters are trained on. */
const EPOCHS = 4;
const WINDOWS = 20_000;
/** Where nothing can be compared, the size of this place. */
const USUAL = 2;

/** A size, and the accuracy on held-out images with each size that was compared. */
export interface ChosenSize {
  readonly imageSize: ImageSize;
  /** Ascending by size; absent where images have no class each, or too few for folds. */
  readonly compared?: readonly { readonly imageSize: ImageSize; readonly accuracy: number }[];
}

/**
 * The size with the highest accuracy on held-out images, the smaller of equals: images drawn by the seed, in three folds,
 * with the recipe of the preset `fast`. Only the rows given are used; pass training rows. Sizes too narrow for windows are left out.
 */
export async function chooseImageSize(
  data: MatrixData,
  { seed = 0, ...run }: Run & { readonly seed?: number } = {},
): Promise<ChosenSize | undefined> {
  const { scaled } = data;
  if (!scaled) return undefined;
  const wide = scaled.sizes.filter(({ imageSize }) => isImages({ ...data, imageSize }));
  const sizes = wide.length > 0 ? wide : scaled.sizes.slice(-1);
  const rows = sizes.length > 1 ? comparable(data, seed) : undefined;
  if (!rows) return { imageSize: sizes[Math.min(USUAL, sizes.length - 1)].imageSize };
  const labels = data.y as Labels;
  const y = Array.from(rows, (r) => labels[r]);
  const compared = [];
  for (const { x, imageSize } of sizes) {
    const some: MatrixData = { form: "matrix", x: x.gather(rows), y, imageSize };
    const params = { refineEpochs: EPOCHS, calibrate: "none" };
    const { estimator } = recipeFor(some, { preset: "fast", seed, params, patches: { sample: WINDOWS } });
    const judged = estimator as unknown as Estimator<MatrixLike, PredictingModel<MatrixLike>>;
    compared.push({
      imageSize,
      accuracy: (await crossValidate(judged, some.x, y, { folds: FOLDS, seed, ...run })).mean,
    });
  }
  const best = compared.reduce((one, other) => (other.accuracy > one.accuracy ? other : one));
  return { imageSize: best.imageSize, compared };
}

/** The images of one of the sizes. */
export function atImageSize(data: MatrixData, { width, height }: ImageSize): MatrixData {
  const { scaled, ...rest } = data;
  const found = scaled?.sizes.find(({ imageSize }) => imageSize.width === width && imageSize.height === height);
  return found ? { ...rest, ...found } : data;
}

/** Images to compare sizes with; undefined where they have no class each, or some class has too few for folds. */
function comparable(data: MatrixData, seed: number): Uint32Array | undefined {
  if (kindOf(data) !== "images") return undefined;
  const y = data.y as Labels;
  const all = data.x.rows;
  const rows =
    all <= MOST_IMAGES
      ? Uint32Array.from({ length: all }, (_, r) => r)
      : trainTestRows(y, { testShare: MOST_IMAGES / all, seed, stratify: true }).test;
  const counts = new Map<unknown, number>();
  for (const r of rows) counts.set(y[r], (counts.get(y[r]) ?? 0) + 1);
  return counts.size > 1 && Math.min(...counts.values()) >= FOLDS ? rows : undefined;
}
