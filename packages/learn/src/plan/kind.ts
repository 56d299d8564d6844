/** What data is, as recipes see it: detected from its form, its labels and the size of images. Whether it is in memory or read makes no difference. */

import type { AnyRows, ImageSize, MatrixRows } from "@ranksim/data";

/** What data is, as recipes see it. */
export type DataKind = "table" | "images" | "text" | "several labels" | "sparse numbers" | "numbers" | "no labels";

/** Images with sides below this are too small for windows. */
const SMALLEST_SIDE = 5;

/** What the data is; whether it is in memory or read makes no difference. */
export function kindOf(data: AnyRows): DataKind {
  const takes = takesOf(data);
  if (takes !== "numbers") return takes;
  if (data.y === undefined) return "no labels";
  if (hasSeveralLabels(data)) return "several labels";
  if (isImages(data)) return "images";
  return isSparse(data) ? "sparse numbers" : "numbers";
}

/** Whether a recipe takes rows of numbers, texts or a table. */
export const takesOf = ({ form }: AnyRows): "numbers" | "text" | "table" => (form === "matrix" ? "numbers" : form);

/** Whether a row may have several labels. */
export const hasSeveralLabels = ({ y }: AnyRows): boolean => Array.isArray(y?.[0]);

/**
 * Share of values that are not zero below which sparse rows are as those of text. Above, few filters are not enough: training images of
 * KMNIST (0.33 of the pixels) were 0.74 right with the recipe for text and 0.92 with that for numbers, bright pixels of Fashion-MNIST
 * (0.025) 0.44 and 0.51, drawn counts (0.03) 0.84 and 1.00, counts of 1,000 words in training texts of 20 Newsgroups (0.05) 0.43 and 0.48.
 */
const SPARSE_SHARE = 0.02;

/** Whether rows of numbers are stored without their zeros, and are almost all zeros. */
export const isSparse = (data: AnyRows): boolean =>
  data.form === "matrix" && data.x.form === "csr" && data.x.entries < SPARSE_SHARE * data.x.rows * data.x.features;

/** The paper knows no images. */
export function paperKind(data: AnyRows): DataKind {
  const kind = kindOf(data);
  return kind === "images" ? "numbers" : kind;
}

/** Whether rows are images of enough pixels. */
export function isImages(data: AnyRows): data is MatrixRows & { readonly imageSize: ImageSize } {
  if (data.form !== "matrix" || !data.imageSize || data.x.form !== "dense") return false;
  return Math.min(data.imageSize.width, data.imageSize.height) >= SMALLEST_SIDE;
}
