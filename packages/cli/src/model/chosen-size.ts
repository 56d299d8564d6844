/** `train` on photographs: their size is chosen on training rows, and the model remembers it for rows to come. */

import type { Run } from "@ranksim/core";
import { atImageSize, type ChosenSize, chooseImageSize, type DataSet, type ImageSize } from "@ranksim/data";
import type { ComputeOptions, Session } from "../session.ts";

/** What was chosen, and all rows of that size. */
interface Sized {
  readonly resize: ImageSize;
  /** For people: the size, and what it was compared with. */
  readonly about: string;
  at(set: DataSet): DataSet;
}

/** The size for training rows that were read in several sizes; undefined where they were not. */
export async function sizeFor(
  train: DataSet,
  options: ComputeOptions & { readonly seed?: unknown },
  session: Session,
): Promise<Sized | undefined> {
  if (train.form !== "matrix" || !train.scaled) return undefined;
  const { from } = train.scaled;
  const seed = typeof options.seed === "number" ? { seed: options.seed } : {};
  const chosen = (await session.compute("choosing the size of images", options, ({ signal }: Run) =>
    // Each of several processes chooses by itself, and the same.
    chooseImageSize(train, { ...seed, ...(signal ? { signal } : {}) }),
  )) as ChosenSize;
  const { imageSize, compared } = chosen;
  const scores = compared?.map((one) => `${one.imageSize.width} x ${one.imageSize.height} ${one.accuracy.toFixed(3)}`);
  const why = scores
    ? `accuracy on held-out images: ${scores.join(", ")}`
    : "sizes not compared: too few labelled images";
  return {
    resize: imageSize,
    about: `images of ${from.width} x ${from.height} made ${imageSize.width} x ${imageSize.height} (${why})`,
    at: (set) => (set.form === "matrix" ? atImageSize(set, imageSize) : set),
  };
}

/** What is to be chosen, for those who only look. */
export function sizeNotes(set: DataSet): string[] {
  if (set.form !== "matrix" || !set.scaled) return [];
  const { width, height } = set.scaled.from;
  return [
    `images of ${width} x ${height} are made smaller; training chooses the size on held-out images, --resize says it`,
  ];
}
