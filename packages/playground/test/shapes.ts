/** Digits as people write them, as strokes in shares of a square: thirteen shapes, and the ways in which they are laid on the canvas. */

import { brushRadius, type Point, stroke } from "../src/drawing/brush.ts";
import type { ImageSize } from "../src/protocol.ts";

type Stroke = readonly (readonly [x: number, y: number])[];

/** Points around an ellipse. */
const round = (x: number, y: number, rx: number, ry: number, from = 0, to = 1): Stroke =>
  Array.from({ length: 25 }, (_, j) => {
    const t = 2 * Math.PI * (from + ((to - from) * j) / 24);
    return [x + rx * Math.sin(t), y - ry * Math.cos(t)];
  });

export const SHAPES: readonly { readonly digit: string; readonly name: string; readonly strokes: readonly Stroke[] }[] =
  [
    { digit: "0", name: "0", strokes: [round(0.5, 0.5, 0.28, 0.42)] },
    {
      digit: "1",
      name: "1, a line",
      strokes: [
        [
          [0.5, 0.06],
          [0.5, 0.94],
        ],
      ],
    },
    {
      digit: "1",
      name: "1 with a flag",
      strokes: [
        [
          [0.34, 0.26],
          [0.54, 0.06],
          [0.54, 0.94],
        ],
      ],
    },
    {
      digit: "2",
      name: "2",
      strokes: [
        [
          [0.26, 0.28],
          [0.34, 0.12],
          [0.52, 0.07],
          [0.68, 0.16],
          [0.7, 0.32],
          [0.58, 0.54],
          [0.28, 0.92],
          [0.76, 0.92],
        ],
      ],
    },
    {
      digit: "3",
      name: "3",
      strokes: [
        [
          [0.28, 0.16],
          [0.44, 0.07],
          [0.64, 0.12],
          [0.68, 0.3],
          [0.46, 0.46],
          [0.68, 0.58],
          [0.7, 0.78],
          [0.5, 0.93],
          [0.27, 0.85],
        ],
      ],
    },
    {
      digit: "4",
      name: "4, open",
      strokes: [
        [
          [0.32, 0.08],
          [0.24, 0.56],
          [0.78, 0.56],
        ],
        [
          [0.62, 0.3],
          [0.6, 0.94],
        ],
      ],
    },
    {
      digit: "4",
      name: "4, closed",
      strokes: [
        [
          [0.6, 0.94],
          [0.6, 0.06],
          [0.22, 0.64],
          [0.8, 0.64],
        ],
      ],
    },
    {
      digit: "5",
      name: "5",
      strokes: [
        [
          [0.7, 0.08],
          [0.34, 0.08],
          [0.3, 0.44],
          [0.5, 0.4],
          [0.7, 0.52],
          [0.71, 0.76],
          [0.54, 0.92],
          [0.28, 0.86],
        ],
      ],
    },
    {
      digit: "6",
      name: "6",
      strokes: [
        [
          [0.62, 0.07],
          [0.42, 0.26],
          [0.31, 0.54],
          [0.33, 0.8],
          [0.5, 0.93],
          [0.68, 0.82],
          [0.68, 0.62],
          [0.52, 0.52],
          [0.34, 0.66],
        ],
      ],
    },
    {
      digit: "7",
      name: "7",
      strokes: [
        [
          [0.26, 0.1],
          [0.74, 0.1],
          [0.6, 0.42],
          [0.48, 0.92],
        ],
      ],
    },
    {
      digit: "7",
      name: "7 with a bar",
      strokes: [
        [
          [0.26, 0.1],
          [0.74, 0.1],
          [0.6, 0.42],
          [0.46, 0.92],
        ],
        [
          [0.36, 0.5],
          [0.72, 0.5],
        ],
      ],
    },
    { digit: "8", name: "8", strokes: [round(0.5, 0.28, 0.18, 0.2), round(0.5, 0.71, 0.22, 0.22)] },
    {
      digit: "9",
      name: "9",
      strokes: [
        round(0.49, 0.3, 0.2, 0.22),
        [
          [0.69, 0.28],
          [0.66, 0.6],
          [0.54, 0.93],
        ],
      ],
    },
  ];

/** Each a size, a place of the middle, and a tilt in degrees. */
export const PLACES = [
  { name: "filling the canvas", size: 1, x: 0.5, y: 0.5, tilt: 0 },
  { name: "tilted", size: 0.9, x: 0.5, y: 0.5, tilt: 15 },
  { name: "at 60 % in the middle", size: 0.6, x: 0.5, y: 0.5, tilt: 0 },
  { name: "small at the top left", size: 0.45, x: 0.28, y: 0.28, tilt: 0 },
] as const;

/** A stroke as it lies on the canvas, in shares of its sides. */
export function placed(strokes: readonly Stroke[], { size, x, y, tilt }: (typeof PLACES)[number]): readonly Stroke[] {
  const [sin, cos] = [Math.sin((tilt * Math.PI) / 180), Math.cos((tilt * Math.PI) / 180)];
  return strokes.map((points) =>
    points.map(([px, py]) => {
      const [dx, dy] = [size * (px - 0.5), size * (py - 0.5)];
      return [x + cos * dx - sin * dy, y + sin * dx + cos * dy] as const;
    }),
  );
}

/** The strokes as the painter draws them with the middle brush. */
export function drawn(strokes: readonly Stroke[], size: ImageSize): Float64Array {
  const values = new Float64Array(size.width * size.height);
  const point = ([x, y]: readonly [number, number]): Point => ({ x: x * size.width, y: y * size.height });
  for (const points of strokes) {
    points.forEach((at, j) => {
      const from = point(points[Math.max(0, j - 1)]);
      stroke(values, size, from, point(at), brushRadius(size, 1), { low: 0, high: 1, whole: true }, false);
    });
  }
  return values;
}
