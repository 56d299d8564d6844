/** A folder of PNG and PGM images of one size; an image's class is the folder it lies in. Rows come in the order of their paths. */

import { badFile } from "../bad-file.ts";
import { type Account, budgetOf } from "../budget.ts";
import { denseFrom, type MatrixData } from "../data-set.ts";
import type { Folder } from "../source.ts";
import { collectFiles } from "./folder.ts";
import type { ReadOptions } from "./options.ts";
import { decodePgm, isPgm } from "./pgm.ts";
import type { Picture } from "./picture.ts";
import { decodePng, isPng } from "./png.ts";

/** Reads a folder of images. Colours become grey (0.299 red + 0.587 green + 0.114 blue); sizes and depths must be equal. */
export async function readImageFolder(folder: Folder, options: ReadOptions): Promise<MatrixData> {
  const { name } = folder;
  const budget = budgetOf(options);
  let first: (Picture & { path: string }) | undefined;
  const { contents, y, paths } = await collectFiles(folder, options, (path, bytes) => {
    const file = `${name}/${path}`;
    const picture = decodePicture(file, bytes, budget.of(file));
    first ??= { ...picture, path };
    if (picture.width !== first.width || picture.height !== first.height) {
      throw badFile(
        file,
        "",
        `expected ${first.width} x ${first.height} pixels as ${first.path}, found ${picture.width} x ${picture.height}`,
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
  const { width, height } = first as Picture;
  const features = width * height;
  budget.of(name).take(contents.length * features * ((first as Picture).largest < 256 ? 1 : 2));
  const values =
    (first as Picture).largest < 256
      ? new Uint8Array(contents.length * features)
      : new Uint16Array(contents.length * features);
  contents.forEach((pixels, r) => {
    values.set(pixels, r * features);
  });
  const x = await denseFrom(name, values, contents.length, features);
  return { form: "matrix", x, imageSize: { width, height }, rowNames: paths, ...(y ? { y } : {}) };
}

function decodePicture(file: string, bytes: Uint8Array, account: Account): Picture {
  if (isPng(bytes)) return decodePng(file, bytes, account);
  if (isPgm(bytes)) return decodePgm(file, bytes, account);
  throw badFile(file, "byte 0", "expected a PNG or PGM image, found something else");
}
