/** A folder of PNG, JPEG and PGM images; an image's class is the folder it lies in. Rows come in the order of their paths. */

import { badFile } from "../bad-file.ts";
import { type Budget, budgetOf } from "../budget.ts";
import { denseFrom, type MatrixData } from "../data-set.ts";
import type { Folder } from "../source.ts";
import { collectFiles } from "./folder.ts";
import { decodeJpeg, isJpeg } from "./jpeg.ts";
import type { ReadOptions } from "./options.ts";
import { decodePgm, isPgm } from "./pgm.ts";
import { type Picture, pixelsOf } from "./picture.ts";
import { decodePng, isPng } from "./png.ts";
import { resized } from "./resize.ts";

/**
 * Reads a folder of images. Colours become grey (0.299 red + 0.587 green + 0.114 blue) unless they are asked for; depths must be
 * equal, and sizes too unless images are to be made one size.
 */
export async function readImageFolder(folder: Folder, options: ReadOptions): Promise<MatrixData> {
  const { name } = folder;
  const budget = budgetOf(options);
  let first: (Picture & { path: string }) | undefined;
  const { contents, y, paths } = await collectFiles(folder, options, (path, bytes) => {
    const file = `${name}/${path}`;
    const picture = readPicture(file, bytes, budget, options);
    first ??= { ...picture, path };
    if (picture.width !== first.width || picture.height !== first.height) {
      throw badFile(
        file,
        "",
        `expected ${first.width} x ${first.height} pixels as ${first.path}, found ${picture.width} x ${picture.height}; the option resize (--resize WIDTHxHEIGHT) makes images one size`,
      );
    }
    if (picture.largest !== first.largest) {
      throw badFile(
        file,
        "",
        `expected values up to ${first.largest} as ${first.path}, found up to ${picture.largest}`,
      );
    }
    return picture.pixels;
  });
  const { width, height, channels, largest } = first as Picture;
  const features = width * height * channels;
  budget.of(name).take(contents.length * features * (largest < 256 ? 1 : 2));
  const values =
    largest < 256 ? new Uint8Array(contents.length * features) : new Uint16Array(contents.length * features);
  contents.forEach((pixels, r) => {
    values.set(pixels, r * features);
  });
  const x = await denseFrom(name, values, contents.length, features);
  return { form: "matrix", x, imageSize: { width, height }, rowNames: paths, ...(y ? { y } : {}) };
}

/** Decodes a picture, and makes it the size that is asked for; memory that this takes on the way is given back. */
function readPicture(
  file: string,
  bytes: Uint8Array,
  budget: Budget,
  { colour = false, resize }: ReadOptions,
): Picture {
  const account = budget.of(file);
  const before = budget.taken;
  const decoded = decodePicture(file, bytes, budget, colour);
  if (!resize) return decoded;
  account.take(resize.width * resize.height * decoded.channels * decoded.pixels.BYTES_PER_ELEMENT);
  const picture = resized(decoded, resize.width, resize.height);
  account.give(Math.max(0, budget.taken - before - picture.pixels.byteLength));
  return picture;
}

function decodePicture(file: string, bytes: Uint8Array, budget: Budget, colour: boolean): Picture {
  const account = budget.of(file);
  if (isPng(bytes)) return decodePng(file, bytes, account, colour);
  if (isJpeg(bytes)) return decodeJpeg(file, bytes, account, colour);
  if (isPgm(bytes)) {
    const grey = decodePgm(file, bytes, account);
    return colour ? { ...grey, channels: 3, pixels: pixelsOf(grey.pixels, 1, true) } : grey;
  }
  throw badFile(file, "byte 0", "expected a PNG, JPEG or PGM image, found something else");
}
