/** A folder of PNG, JPEG and PGM images; an image's class is the folder it lies in. Rows come in the order of their paths. */

import { badFile } from "../bad-file.ts";
import { type Budget, budgetOf } from "../budget.ts";
import { denseFrom, type ImageSize, type MatrixData } from "../data-set.ts";
import type { Folder } from "../source.ts";
import { collectFiles } from "./folder.ts";
import { decodeJpeg, isJpeg } from "./jpeg.ts";
import type { ReadOptions } from "./options.ts";
import { decodePgm, isPgm } from "./pgm.ts";
import { type Picture, pixelsOf } from "./picture.ts";
import { decodePng, isPng } from "./png.ts";
import { resized } from "./resize.ts";

/** Images whose longer side is beyond this have more pixels than patches need. */
export const LARGE_SIDE = 64;

/** The sizes that one image is made: one as it is or as `resize` says, or several that `sizes` asks for. */
interface Read {
  readonly from: ImageSize;
  readonly pictures: readonly Picture[];
  readonly lostColours: boolean;
}

/**
 * Reads a folder of images. Colours become grey (0.299 red + 0.587 green + 0.114 blue) unless they are asked for; depths must be
 * equal, and sizes too unless images are to be made one size.
 */
export async function readImageFolder(folder: Folder, options: ReadOptions): Promise<MatrixData> {
  const { name } = folder;
  const budget = budgetOf(options);
  let first: (Read & { path: string }) | undefined;
  let grey = 0;
  const { contents, y, paths } = await collectFiles(folder, options, (path, bytes) => {
    const file = folder.isList ? path : `${name}/${path}`;
    const read = readPictures(file, bytes, budget, options);
    first ??= { ...read, path };
    refuseOther(file, read, first, options);
    if (read.lostColours) grey++;
    return read.pictures.map(({ pixels }) => pixels);
  });
  const { from, pictures } = first as Read;
  const sizes = [];
  for (const [j, { width, height, channels, largest }] of pictures.entries()) {
    const features = width * height * channels;
    budget.of(name).take(contents.length * features * (largest < 256 ? 1 : 2));
    const values =
      largest < 256 ? new Uint8Array(contents.length * features) : new Uint16Array(contents.length * features);
    contents.forEach((pixels, r) => {
      values.set(pixels[j], r * features);
    });
    sizes.push({ imageSize: { width, height }, x: await denseFrom(name, values, contents.length, features) });
  }
  const { imageSize, x } = sizes[sizes.length - 1];
  const scaled = sizes.length > 1 ? { scaled: { from, sizes } } : {};
  // A model knows already that it takes grey images.
  const notes =
    grey > 0 && !options.schema
      ? {
          notes: [
            `${name}: the colours of ${grey} of ${contents.length} images became grey; the option colour (--colour) keeps them`,
          ],
        }
      : {};
  return { form: "matrix", x, imageSize, ...scaled, rowNames: paths, ...(y ? { y } : {}), ...notes };
}

/** All images of a folder have one size, unless `resize` makes them so, and one depth. */
function refuseOther(file: string, read: Read, first: Read & { path: string }, { resize }: ReadOptions): void {
  const { width, height } = read.from;
  if (!resize && (width !== first.from.width || height !== first.from.height)) {
    throw badFile(
      file,
      "",
      `expected ${first.from.width} x ${first.from.height} pixels as ${first.path}, found ${width} x ${height}; the option resize (--resize WIDTHxHEIGHT) makes images one size`,
    );
  }
  const [{ largest }, { largest: expected }] = [read.pictures[0], first.pictures[0]];
  if (largest !== expected) {
    throw badFile(file, "", `expected values up to ${expected} as ${first.path}, found up to ${largest}`);
  }
}

/** Decodes a picture, and makes it the sizes that are asked for; memory that this takes on the way is given back. */
function readPictures(
  file: string,
  bytes: Uint8Array,
  budget: Budget,
  { colour = false, resize, sizes = [] }: ReadOptions,
): Read {
  const account = budget.of(file);
  const before = budget.taken;
  const decoded = decodePicture(file, bytes, budget, colour);
  const { width, height, channels, pixels, lostColours = false } = decoded;
  const from = { width, height };
  const longer = Math.max(width, height);
  const wanted = resize ? [resize] : longer > LARGE_SIDE ? sizes.map((side) => sizeWithin(from, side)) : [];
  if (wanted.length === 0) return { from, pictures: [decoded], lostColours };
  const pictures = wanted.map((size) => {
    account.take(size.width * size.height * channels * pixels.BYTES_PER_ELEMENT);
    return resized(decoded, size.width, size.height);
  });
  const kept = pictures.reduce((sum, picture) => sum + picture.pixels.byteLength, 0);
  account.give(Math.max(0, budget.taken - before - kept));
  return { from, pictures, lostColours };
}

/** The size with this longer side, in the same proportion. */
function sizeWithin({ width, height }: ImageSize, side: number): ImageSize {
  const share = side / Math.max(width, height);
  const of = (length: number) => Math.max(1, Math.round(length * share));
  return { width: of(width), height: of(height) };
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
