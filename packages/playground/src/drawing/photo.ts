/** Photos as small grey pictures: the middle square of an image, of a film, or of a file. */

import type { ImageSize } from "../protocol.ts";

/** The middle square in grey, a byte a pixel. */
export function greyOf(source: CanvasImageSource, from: ImageSize, { width, height }: ImageSize): Uint8Array {
  const canvas = new OffscreenCanvas(width, height);
  const pen = canvas.getContext("2d", { willReadFrequently: true }) as OffscreenCanvasRenderingContext2D;
  const side = Math.min(from.width, from.height);
  pen.imageSmoothingQuality = "high";
  pen.drawImage(source, (from.width - side) / 2, (from.height - side) / 2, side, side, 0, 0, width, height);
  const { data } = pen.getImageData(0, 0, width, height);
  // Weights of red, green and blue as the eye has them (Rec. 601).
  return Uint8Array.from({ length: width * height }, (_, p) =>
    Math.round(0.299 * data[4 * p] + 0.587 * data[4 * p + 1] + 0.114 * data[4 * p + 2]),
  );
}

/** A file as a grey picture; undefined where it is no picture that this browser opens. */
export async function greyOfFile(file: File, size: ImageSize): Promise<Uint8Array | undefined> {
  try {
    const bitmap = await createImageBitmap(file);
    const grey = greyOf(bitmap, bitmap, size);
    bitmap.close();
    return grey;
  } catch {
    return undefined;
  }
}
