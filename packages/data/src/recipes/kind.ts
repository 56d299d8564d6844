/** What data is, as recipes see it: detected from its form, its labels and the size of images. Whether it is in memory or read makes no difference. */

import type { AnyRows, ImageSize } from "../data-set.ts";

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
export function takesOf({ form }: AnyRows): "numbers" | "text" | "table" {
  if (form === "text" || form === "texts") return "text";
  return form === "table" || form === "tables" ? "table" : "numbers";
}

/** Whether a row may have several labels. */
export const hasSeveralLabels = ({ y }: AnyRows): boolean => Array.isArray(y?.[0]);

/** Whether rows of numbers are stored without their zeros. */
export const isSparse = (data: AnyRows): boolean =>
  (data.form === "matrix" || data.form === "source") && data.x.form === "csr";

/** The paper knows no images. */
export function paperKind(data: AnyRows): DataKind {
  const kind = kindOf(data);
  return kind === "images" ? "numbers" : kind;
}

/** Whether rows are images of enough pixels. */
export function isImages(data: AnyRows): data is AnyRows & { form: "matrix" | "source"; imageSize: ImageSize } {
  if ((data.form !== "matrix" && data.form !== "source") || !data.imageSize || data.x.form !== "dense") return false;
  return Math.min(data.imageSize.width, data.imageSize.height) >= SMALLEST_SIDE;
}
