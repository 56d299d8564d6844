/** A folder of PNG, JPEG and PGM images; an image's class is the folder it lies in. Rows come in the order of their paths. */

import { badCell, badFile } from "../bad-file.ts";
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
 * equal. Images of several sizes become the most usual one, or a small one of its proportions where that is large, with a note; a model that
 * was trained on images of one size takes no others.
 */
export async function readImageFolder(folder: Folder, options: ReadOptions): Promise<MatrixData> {
  const { name } = folder;
  const budget = budgetOf(options);
  let first: (Read & { path: string }) | undefined;
  let grey = 0;
  const read = await collectFiles(folder, options, (path, bytes) => {
    const file = folder.isList ? path : `${name}/${path}`;
    const read = readPictures(file, bytes, budget, options);
    first ??= { ...read, path };
    refuseOther(file, read, first, options);
    if (read.lostColours) grey++;
    return read;
  });
  const { y, paths } = read;
  const usual = usualSize(read.contents);
  const mixed = options.resize ? 0 : read.contents.filter(({ from }) => !isSame(from, usual)).length;
  const target = mixed > 0 && Math.max(usual.width, usual.height) > LARGE_SIDE ? sizeWithin(usual, MIXED_SIDE) : usual;
  const made = mixed === 0 ? read.contents : read.contents.map((one) => remade(one, target));
  const contents = made.map(({ pictures }) => pictures.map(({ pixels }) => pixels));
  const { from, pictures } = made[0];
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
  const notes: string[] = [];
  if (grey > 0 && !options.schema)
    notes.push(
      `${name}: the colours of ${grey} of ${contents.length} images became grey; the option colour keeps them`,
    );
  if (mixed > 0)
    notes.push(
      `${name}: ${mixed} of ${contents.length} images are not of ${usual.width} x ${usual.height} as most are; all were made ${target.width} x ${target.height}, the option resize takes another size`,
    );
  const facts = {
    ...(y ? { y } : {}),
    ...(notes.length > 0 ? { notes } : {}),
    ...(mixed > 0 ? { found: { resize: target } } : {}),
  };
  return { form: "matrix", x, imageSize, ...scaled, rowNames: paths, ...facts };
}

/** The longer side that images of several sizes are made, where most are large. */
const MIXED_SIDE = 32;

const isSame = (one: ImageSize, other: ImageSize): boolean => one.width === other.width && one.height === other.height;

/** The size that most images have; of equals the one of fewest pixels, then the narrowest. */
function usualSize(images: readonly Read[]): ImageSize {
  const counts = new Map<string, { size: ImageSize; count: number }>();
  for (const { from } of images) {
    const key = `${from.width} x ${from.height}`;
    counts.set(key, { size: from, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  const pixels = ({ width, height }: ImageSize) => width * height;
  const [most] = [...counts.values()].sort(
    (a, b) => b.count - a.count || pixels(a.size) - pixels(b.size) || a.size.width - b.size.width,
  );
  return most.size;
}

/** An image in one size, made of the largest there is of it. */
function remade(image: Read, { width, height }: ImageSize): Read {
  const largest = image.pictures.reduce((most, picture) => (picture.width > most.width ? picture : most));
  return { ...image, from: { width, height }, pictures: [resized(largest, width, height)] };
}

/** All images of a folder have one depth, and those for a model that was trained on images of one size have one size. */
function refuseOther(file: string, read: Read, first: Read & { path: string }, { resize, schema }: ReadOptions): void {
  const { width, height } = read.from;
  if (!resize && schema && (width !== first.from.width || height !== first.from.height)) {
    throw badCell(file, "", {
      expected: `${first.from.width} x ${first.from.height} pixels as ${first.path}`,
      found: `${width} x ${height}`,
      cure: (called) => `${called("resize")} makes images one size, such as 32x32`,
    });
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
