/** What was taught by hand, as a data set. */

import { Dense } from "@ranksim/core";
import type { Lesson } from "../protocol.ts";
import { type LoadedData, loadedData } from "./data.ts";

/** Rows of all examples; a class without any is none yet. */
export function taughtData({ classes, imageSize, inkBlocks }: Lesson): LoadedData {
  const features = imageSize.width * imageSize.height;
  const rows = classes.flatMap(({ name, examples }) => examples.map((picture) => ({ name, picture })));
  const values = new Uint8Array(rows.length * features);
  rows.forEach(({ picture }, r) => {
    values.set(picture, r * features);
  });
  const x = Dense.of(values, rows.length, features);
  const read = { form: "matrix", x, y: rows.map(({ name }) => name), imageSize } as const;
  return loadedData("taught", read, inkBlocks ? { inkBlocks } : { reading: { format: "image-folder" } });
}
