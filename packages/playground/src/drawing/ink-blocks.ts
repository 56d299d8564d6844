/**
 * Drawing for data that counts ink: the digits were drawn on 32 × 32 pixels, and each of their 8 × 8 numbers is how many of
 * 4 × 4 pixels have ink. Drawings here are twice as fine, and hold 0 or 1 for each pixel.
 */

import type { ImageSize } from "../protocol.ts";

/** The size of the drawing behind a picture, whose numbers count blocks of `side` × `side` pixels. */
export const drawingSize = ({ width, height }: ImageSize, side: number): ImageSize => ({
  width: width * drawnSide(side),
  height: height * drawnSide(side),
});

/** Pixels of a drawing along each side of one that is counted: thin lines and small loops keep apart. */
const FINER = 2;

/** The side of the blocks of a drawing, of data whose numbers count blocks of `side` × `side` pixels. */
export const drawnSide = (side: number): number => FINER * side;

/** Counts the ink in each block of a drawing, as pixels of the data's own size. */
export function countInk(drawing: Float64Array, { width, height }: ImageSize, side: number): Float64Array {
  const counts = new Float64Array(width * height);
  const fine = drawnSide(side);
  for (let y = 0; y < height * fine; y++) {
    for (let x = 0; x < width * fine; x++) {
      counts[Math.floor(y / fine) * width + Math.floor(x / fine)] += drawing[y * width * fine + x];
    }
  }
  return counts.map((count) => Math.round(count / FINER ** 2));
}

/** Rounds in which ink moves to where there is most ink around it. */
const ROUNDS = 4;

/**
 * A drawing that counts back to the given numbers. Each block gives its ink to the pixels where the picture, smoothed
 * between the centres of the blocks, is darkest, and then to those with most ink around them; so lines come out as lines.
 */
export function spreadInk(counts: Float64Array, size: ImageSize, side: number): Float64Array {
  const blocks = drawnSide(side);
  const ink = counts.map((count) => count * FINER ** 2);
  const fine = drawingSize(size, side);
  const coarse = new Float64Array(fine.width * fine.height);
  for (let y = 0; y < fine.height; y++) {
    for (let x = 0; x < fine.width; x++) {
      coarse[y * fine.width + x] = smoothed(counts, size, (x + 0.5) / blocks - 0.5, (y + 0.5) / blocks - 0.5);
    }
  }
  let drawing = inkDarkest(ink, size, blocks, coarse);
  for (let round = 0; round < ROUNDS; round++) {
    drawing = inkDarkest(ink, size, blocks, surroundings(drawing, fine, coarse));
  }
  return drawing;
}

/** Gives the ink of each block to its darkest pixels. */
function inkDarkest(
  counts: Float64Array,
  { width, height }: ImageSize,
  side: number,
  dark: Float64Array,
): Float64Array {
  const drawing = new Float64Array(dark.length);
  for (let by = 0; by < height; by++) {
    for (let bx = 0; bx < width; bx++) {
      const pixels = Array.from(
        { length: side * side },
        (_, j) => (by * side + Math.floor(j / side)) * width * side + bx * side + (j % side),
      );
      pixels.sort((a, b) => dark[b] - dark[a] || a - b);
      for (const pixel of pixels.slice(0, counts[by * width + bx])) drawing[pixel] = 1;
    }
  }
  return drawing;
}

/** How much ink is around each pixel, and a little of what the smoothed picture says. */
function surroundings(drawing: Float64Array, { width, height }: ImageSize, coarse: Float64Array): Float64Array {
  return coarse.map((smooth, at) => {
    const [x, y] = [at % width, Math.floor(at / width)];
    let ink = 0;
    for (let dy = -2; dy <= 2; dy++) {
      for (let dx = -2; dx <= 2; dx++) {
        const [column, row] = [clamped(x + dx, width), clamped(y + dy, height)];
        ink += drawing[row * width + column];
      }
    }
    return ink + smooth / 8;
  });
}

/** The picture between its pixels: the four nearest, each by how near it is. */
function smoothed(values: Float64Array, { width, height }: ImageSize, x: number, y: number): number {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  const at = (column: number, row: number) => values[clamped(row, height) * width + clamped(column, width)];
  const [right, down] = [x - left, y - top];
  return (
    (1 - down) * ((1 - right) * at(left, top) + right * at(left + 1, top)) +
    down * ((1 - right) * at(left, top + 1) + right * at(left + 1, top + 1))
  );
}

/** The nearest place inside: beyond its edges the picture goes on as it ends. */
const clamped = (place: number, size: number): number => Math.min(size - 1, Math.max(0, place));
