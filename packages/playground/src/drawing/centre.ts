/**
 * A drawing as the training rows were written: in the middle, as large and with as broad a pen. The ink is thinned to lines one pixel wide
 * (Zhang and Suen, 1984), which are moved and drawn again, so that neither place, size nor brush tells one digit from another.
 */

import type { ImageSize } from "../protocol.ts";
import { type Point, stroke } from "./brush.ts";

/** Where the ink of training rows stands: the box that it fills, and half the breadth of the pen, as shares of the longer side. */
export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly radius: number;
}

/** Frame of the digits: their height was made that of the picture, and their lines are as broad as gives their ink. */
export const DIGITS_FRAME: Frame = { width: 0.9, height: 1, radius: 0.08 };

/** Lines shorter than this share of the picture's longer side are dots and keep their size. */
const SHORTEST = 0.1;

/** The drawing, of 0 and 1, moved and drawn again on a picture of size `to`. */
export function centred(drawing: Float64Array, size: ImageSize, to: ImageSize, frame: Frame): Float64Array {
  const out = new Float64Array(to.width * to.height);
  const lines = thinned(drawing, size);
  const points = pointsOf(lines, size);
  if (points.length === 0) return out;
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const radius = frame.radius * Math.max(to.width, to.height);
  const least = SHORTEST * Math.max(size.width, size.height);
  const scale = Math.min(
    (frame.width * to.width - 2 * radius) / Math.max(right - left, least),
    (frame.height * to.height - 2 * radius) / Math.max(bottom - top, least),
  );
  const moved = ({ x, y }: Point): Point => ({
    x: to.width / 2 + scale * (x - (left + right) / 2),
    y: to.height / 2 + scale * (y - (top + bottom) / 2),
  });
  const ink = { low: 0, high: 1, whole: true };
  for (const point of points) {
    // Each line of a pixel to its neighbours once: right, and the three below; alone it is a dot.
    const at = (dx: number, dy: number) => {
      const [x, y] = [point.x + dx, point.y + dy];
      const inside = x >= 0 && y >= 0 && x < size.width && y < size.height;
      return inside && lines[Math.floor(y) * size.width + Math.floor(x)] > 0;
    };
    stroke(out, to, moved(point), moved(point), radius, ink, false);
    for (const [dx, dy] of AFTER) {
      if (!at(dx, dy)) continue;
      stroke(out, to, moved(point), moved({ x: point.x + dx, y: point.y + dy }), radius, ink, false);
    }
  }
  return out;
}

const AFTER = [
  [1, 0],
  [-1, 1],
  [0, 1],
  [1, 1],
] as const;

/** The middles of the pixels that have ink. */
function pointsOf(lines: Float64Array, { width }: ImageSize): Point[] {
  const points: Point[] = [];
  lines.forEach((value, at) => {
    if (value > 0) points.push({ x: (at % width) + 0.5, y: Math.floor(at / width) + 0.5 });
  });
  return points;
}

/** Lines one pixel wide: pixels at the edge of ink go, in turns from two sides, unless that cuts a line or shortens its end. */
function thinned(drawing: Float64Array, { width, height }: ImageSize): Float64Array {
  const ink = Float64Array.from(drawing, (value) => (value > 0 ? 1 : 0));
  const at = (x: number, y: number) => (x < 0 || y < 0 || x >= width || y >= height ? 0 : ink[y * width + x]);
  for (let gone = 1; gone > 0; ) {
    gone = 0;
    for (const turn of [0, 1]) {
      const edge: number[] = [];
      for (let y = 0; y < height; y++) {
        for (let x = 0; x < width; x++) if (at(x, y) > 0 && isEdge(x, y, turn)) edge.push(y * width + x);
      }
      for (const pixel of edge) ink[pixel] = 0;
      gone += edge.length;
    }
  }
  return ink;

  function isEdge(x: number, y: number, turn: number): boolean {
    // Clockwise from above.
    const around = [at(x, y - 1), at(x + 1, y - 1), at(x + 1, y), at(x + 1, y + 1)];
    around.push(at(x, y + 1), at(x - 1, y + 1), at(x - 1, y), at(x - 1, y - 1));
    const count = around.reduce((sum, value) => sum + value, 0);
    const begins = around.filter((value, j) => value === 0 && around[(j + 1) % 8] > 0).length;
    if (count < 2 || count > 6 || begins !== 1) return false;
    const [up, , right, , down, , left] = around;
    return turn === 0
      ? up * right * down === 0 && right * down * left === 0
      : up * right * left === 0 && up * down * left === 0;
  }
}
