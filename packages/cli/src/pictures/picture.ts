/** Rows and filters as pictures: numbers become strength. The terminal draws it as brightness, the report as ink. */

/** Strength 0..255, row by row from the top left. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8Array;
}

/** Numbers as strength: the smallest 0, the largest 255; constant numbers are 0. */
export function pictureOf(values: ArrayLike<number>, width: number, height: number): Picture {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < width * height; i++) {
    low = Math.min(low, values[i]);
    high = Math.max(high, values[i]);
  }
  const scale = high > low ? 255 / (high - low) : 0;
  const pixels = Uint8Array.from({ length: width * height }, (_, i) => Math.round((values[i] - low) * scale));
  return { width, height, pixels };
}

/** The picture with neither side longer than `most`: pixels are averaged over whole squares. */
export function shrink(picture: Picture, most: number): Picture {
  const step = Math.ceil(Math.max(picture.width, picture.height) / most);
  if (step <= 1) return picture;
  const width = Math.ceil(picture.width / step);
  const height = Math.ceil(picture.height / step);
  const pixels = new Uint8Array(width * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) pixels[y * width + x] = meanOfSquare(picture, x * step, y * step, step);
  }
  return { width, height, pixels };
}

function meanOfSquare({ width, height, pixels }: Picture, left: number, top: number, side: number): number {
  let sum = 0;
  let seen = 0;
  for (let y = top; y < Math.min(top + side, height); y++) {
    for (let x = left; x < Math.min(left + side, width); x++) {
      sum += pixels[y * width + x];
      seen++;
    }
  }
  return Math.round(sum / seen);
}
