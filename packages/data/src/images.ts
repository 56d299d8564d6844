/** Pixels that a program holds, such as the `ImageData` of a canvas, as rows of a matrix: what readers make of files of images. */

import { Dense, RanksimError } from "@ranksim/core";
import type { ImageSize } from "./data-set.ts";
import { type Picture, pixelsOf } from "./readers/picture.ts";
import { resized } from "./readers/resize.ts";

/** Pixels row by row from the top left, with 1 (grey), 2, 3 or 4 values each, the last of 2 and of 4 how opaque it is: an `ImageData` is one. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: ArrayLike<number>;
}

/** How pixels become rows. */
export interface ImageRowsOptions {
  /** The size that images are made; needed where theirs differ. */
  readonly imageSize?: ImageSize;
  /** Whether colours are kept, as three values a pixel. */
  readonly colour?: boolean;
  /** Whether dark becomes light: for dark ink on a light ground and a model of light ink on a dark one. */
  readonly invert?: boolean;
}

/**
 * Images as rows of bytes, with their size. What is not opaque is seen on white, as on a page.
 *
 * ```ts
 * const { x } = imageRows(canvas.getContext("2d").getImageData(0, 0, 280, 280), { imageSize, invert: true });
 * const [digit] = await model.predict(x);
 * ```
 */
export function imageRows(
  images: Pixels | readonly Pixels[],
  { imageSize, colour = false, invert = false }: ImageRowsOptions = {},
): { readonly x: Dense; readonly imageSize: ImageSize } {
  const all = "data" in images ? [images] : images;
  const { width, height } = imageSize ?? sizeOf(all);
  const features = width * height * (colour ? 3 : 1);
  const values = new Uint8Array(all.length * features);
  all.forEach((image, r) => {
    values.set(resized(pictureOf(image, r, colour), width, height).pixels, r * features);
  });
  if (invert) for (let e = 0; e < values.length; e++) values[e] = 255 - values[e];
  return { x: Dense.of(values, all.length, features), imageSize: { width, height } };
}

/** The size of images, refused where they have several. */
function sizeOf(images: readonly Pixels[]): ImageSize {
  if (images.length === 0) throw new RanksimError("empty-input", "imageRows: expected at least 1 image, found none");
  const [{ width, height }] = images;
  const other = images.findIndex((image) => image.width !== width || image.height !== height);
  if (other < 0) return { width, height };
  throw new RanksimError("bad-matrix", {
    row: other,
    expected: `an image of ${width} x ${height}, as the first`,
    found: `one of ${images[other].width} x ${images[other].height}`,
    cure: (called) => `give all one size with ${called("imageSize")}`,
  });
}

/** The pixels of one image, on white. */
function pictureOf({ width, height, data }: Pixels, row: number, colour: boolean): Picture {
  const pixels = width * height;
  const values = data?.length / pixels;
  if (![1, 2, 3, 4].includes(values)) {
    throw new RanksimError("bad-matrix", {
      row,
      expected: "an image: its width, its height and 1 to 4 values for each pixel, as ImageData has them",
      found: `${data?.length} values for ${width} x ${height} pixels`,
    });
  }
  const own = new Uint8Array(data.length);
  for (let e = 0; e < own.length; e++) {
    if (!(data[e] >= 0 && data[e] <= 255)) {
      const place = `value ${e}`;
      throw new RanksimError("bad-matrix", { row, where: place, expected: "0 to 255", found: String(data[e]) });
    }
    own[e] = data[e];
  }
  if (values % 2 === 0) {
    for (let e = 0; e < own.length; e++) {
      const opaque = own[e - (e % values) + values - 1];
      if (e % values !== values - 1) own[e] = 255 + Math.round((opaque * (own[e] - 255)) / 255);
    }
  }
  const channels = colour ? 3 : 1;
  return { width, height, largest: 255, channels, pixels: pixelsOf(own, values, colour) };
}
