/**
 * Pixels onto canvases. Ink is black with the value as its opacity; in the dark theme the style sheet turns it to white, so
 * nothing has to be drawn again when the theme changes. Parts of a decision are orange (for) and blue (against), a pair that
 * all common kinds of colour blindness tell apart.
 */

import type { ImageSize } from "../protocol.ts";

const FOR = [217, 95, 2] as const;
const AGAINST = [33, 102, 200] as const;

/** Draws bytes (0..255) as ink. */
export function drawInk(canvas: HTMLCanvasElement, pixels: ArrayLike<number>, { width, height }: ImageSize): void {
  const image = start(canvas, width, height);
  for (let p = 0; p < width * height; p++) image.data[4 * p + 3] = pixels[p] ?? 0;
  canvas.getContext("2d")?.putImageData(image, 0, 0);
}

/** Draws parts of a decision: the largest in full colour, the others by their share of it. */
export function drawParts(
  canvas: HTMLCanvasElement,
  features: Uint32Array,
  parts: Float64Array,
  { width, height }: ImageSize,
): void {
  const image = start(canvas, width, height);
  const largest = Math.abs(parts[0] ?? 0) || 1;
  features.forEach((feature, j) => {
    const colour = parts[j] > 0 ? FOR : AGAINST;
    image.data.set(colour, 4 * feature);
    image.data[4 * feature + 3] = faded(Math.abs(parts[j]) / largest);
  });
  canvas.getContext("2d")?.putImageData(image, 0, 0);
}

/** Draws strengths (0..255) in the colour of one side of a decision. */
export function drawTint(
  canvas: HTMLCanvasElement,
  strengths: Uint8Array,
  side: "for" | "against",
  { width, height }: ImageSize,
): void {
  const image = start(canvas, width, height);
  strengths.forEach((strength, p) => {
    image.data.set(side === "for" ? FOR : AGAINST, 4 * p);
    image.data[4 * p + 3] = faded(strength / 255);
  });
  canvas.getContext("2d")?.putImageData(image, 0, 0);
}

/** Below proportion the many small parts would vanish; the root keeps them visible and in order. */
const faded = (share: number): number => Math.round(255 * share ** 0.7);

/** Values as bytes of ink. */
export function inkOf(values: Float64Array, low: number, high: number): Uint8ClampedArray {
  const span = high > low ? high - low : 1;
  return Uint8ClampedArray.from(values, (value) => (255 * (value - low)) / span);
}

function start(canvas: HTMLCanvasElement, width: number, height: number): ImageData {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  return new ImageData(width, height);
}
