/** Whether the features of data are pixels, and of which width and height. */

import type { DataSet, ImageSize } from "@ranksim/data";
import { InvalidArgumentError } from "commander";
import { usageError } from "../flags/usage-error.ts";
import { imageSize } from "../flags/values.ts";

/** What --image takes: a size, or "none". */
export function parseImageSize(text: string): ImageSize | "none" {
  const found = text === "none" ? text : imageSize(text);
  if (found) return found;
  throw new InvalidArgumentError("Expected WIDTHxHEIGHT in pixels, such as 28x28, or none.");
}

/** Pictures below this side say little; fewer features are taken for a table. */
const SMALLEST_SIDE = 5;

/**
 * The size of the images that rows and filters are: as asked, as the data says, or a square guessed where columns have no
 * names. Undefined where filters have other features than the rows.
 */
export function imageSizeOf(
  data: DataSet,
  filterFeatures: number | undefined,
  asked: ImageSize | "none" | undefined,
): ImageSize | undefined {
  if (asked === "none" || data.form !== "matrix") return undefined;
  const { features } = data.x;
  if (asked && asked.width * asked.height !== features) {
    const { width, height } = asked;
    throw usageError(`--image: ${width}x${height} has ${width * height} pixels, the data has ${features} features`);
  }
  if (filterFeatures !== features) return undefined;
  return asked ?? data.imageSize ?? guess(features, data.featureNames, data.x.form === "csr");
}

function guess(features: number, names: readonly string[] | undefined, sparse: boolean): ImageSize | undefined {
  const side = Math.round(Math.sqrt(features));
  if (side * side !== features || side < SMALLEST_SIDE || sparse) return undefined;
  // Columns called pixel0, pixel1 ... or 0, 1 ... are pixels; columns with names of their own are not.
  if (names !== undefined && !names.every((name) => /^[a-z]{0,6}[ _-]?\d+([x_]\d+)?$/i.test(name))) return undefined;
  return { width: side, height: side };
}
