/** Small images whose class is a stroke. */

import { Dense } from "@ranksim/core";
import { drawBelow, generatorOf } from "../../src/random.ts";

export const SIDE = 10;

/** Pictures of a small stroke, upright or level by class, anywhere in the image, on noise; bytes. */
export function strokes(rows: number, seed: number, channels = 1): { x: Dense; y: string[] } {
  const random = generatorOf(seed);
  const values = new Uint8Array(rows * SIDE * SIDE * channels);
  const y: string[] = [];
  for (let r = 0; r < rows; r++) {
    const level = r % 2 === 0;
    y.push(level ? "level" : "upright");
    for (let i = 0; i < SIDE * SIDE * channels; i++) {
      values[r * SIDE * SIDE * channels + i] = drawBelow(random, 30);
    }
    const [a, b] = [drawBelow(random, SIDE - 5), drawBelow(random, SIDE)];
    for (let j = a; j < a + 5; j++) {
      const pixel = level ? b * SIDE + j : j * SIDE + b;
      values.fill(200, (r * SIDE * SIDE + pixel) * channels, (r * SIDE * SIDE + pixel + 1) * channels);
    }
  }
  return { x: Dense.of(values, rows, SIDE * SIDE * channels), y };
}
