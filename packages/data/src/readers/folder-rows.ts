/** A folder of images or texts: images where the first file is one, else texts. */

import { guarded } from "../bad-file.ts";
import type { DataSet } from "../data-set.ts";
import type { Folder } from "../source.ts";
import { isHidden } from "./folder.ts";
import type { ReadOptions } from "./options.ts";
import { readTextFolder } from "./text-folder.ts";

/** Reads a folder. */
export async function readFolder(folder: Folder, options: ReadOptions): Promise<DataSet> {
  if (options.format === "text-folder") return readTextFolder(folder, options);
  if (options.format === "image-folder") return readImages(folder, options);
  const entries = folder.entries()[Symbol.asyncIterator]();
  let first = await guarded(folder.name, "a folder", () => entries.next());
  while (!first.done && !folder.isList && isHidden(first.value.path)) first = await entries.next();
  const rest: Folder = {
    ...folder,
    async *entries() {
      if (!first.done) yield first.value;
      for (let next = await entries.next(); !next.done; next = await entries.next()) yield next.value;
    },
  };
  return !first.done && isImageName(first.value.path) ? readImages(rest, options) : readTextFolder(rest, options);
}

/** Whether a file is an image, by the ending of its name. */
export const isImageName = (name: string): boolean => /\.(png|pgm|jpe?g)$/i.test(name);

/** The decoder of images is fetched only by those who have some. */
async function readImages(folder: Folder, options: ReadOptions): Promise<DataSet> {
  const { readImageFolder } = await import("./image-folder.ts");
  return readImageFolder(folder, options);
}
