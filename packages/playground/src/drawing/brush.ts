/** The brush: soft round strokes on a grid of values, as wide as suits the size of the picture. */

import type { ImageSize } from "../protocol.ts";

/** A point on the picture, in pixels from its top left corner. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** What the brush lays down. */
export interface Ink {
  readonly low: number;
  readonly high: number;
  /** Whether values stay whole numbers. */
  readonly whole: boolean;
}

/** Radius of the middle brush in pixels: handwriting fills about a tenth of a picture's width. */
export function brushRadius({ width, height }: ImageSize, size: number): number {
  return Math.max(0.55, 0.05 * Math.max(width, height)) * size;
}

/** Draws (or erases) along a line, changing `values` in place. */
export function stroke(
  values: Float64Array,
  image: ImageSize,
  from: Point,
  to: Point,
  radius: number,
  ink: Ink,
  erase: boolean,
): void {
  const reach = radius + 0.5;
  const [left, right] = span(from.x, to.x, reach, image.width);
  const [top, bottom] = span(from.y, to.y, reach, image.height);
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) {
      // 1 well inside the stroke, falling to 0 over one pixel at its edge.
      const cover = Math.min(1, reach - distance({ x: x + 0.5, y: y + 0.5 }, from, to));
      if (cover <= 0) continue;
      const at = y * image.width + x;
      const full = ink.low + (ink.high - ink.low) * cover;
      const value = erase ? Math.min(values[at], ink.high + ink.low - full) : Math.max(values[at], full);
      values[at] = ink.whole ? Math.round(value) : value;
    }
  }
}

function span(a: number, b: number, reach: number, size: number): [from: number, to: number] {
  return [Math.max(0, Math.floor(Math.min(a, b) - reach)), Math.min(size, Math.ceil(Math.max(a, b) + reach))];
}

/** Distance of a point from a line segment. */
function distance(point: Point, from: Point, to: Point): number {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = dx * dx + dy * dy;
  const along = length === 0 ? 0 : ((point.x - from.x) * dx + (point.y - from.y) * dy) / length;
  const t = Math.min(1, Math.max(0, along));
  return Math.hypot(point.x - from.x - t * dx, point.y - from.y - t * dy);
}
