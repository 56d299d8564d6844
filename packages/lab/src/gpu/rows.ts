/** Images for the benchmark of the GPU: a data set, or drawn from a seed in the same shape. */

import { Csr, Dense } from "@ranksim/core";
import { loadDataSet } from "@ranksim/data/node";
import { Draw } from "../differential/draw.ts";

/** Images and their classes. */
export interface Images {
  readonly title: string;
  readonly x: Dense;
  readonly y: readonly number[];
  readonly test: Dense;
}

const SIDE = 28;
const PATTERNS = 64;

/** The named data set, or 60,000 and 10,000 images of ten classes drawn from a seed ("drawn"). */
export async function loadRows(name: string): Promise<Images> {
  if (name === "drawn") {
    const y = Array.from({ length: 60_000 }, (_, r) => r % 10);
    return {
      title: "images from a seed",
      x: drawBytes(60_000, SIDE * SIDE, 1),
      y,
      test: drawBytes(10_000, SIDE * SIDE, 2),
    };
  }
  const [train, test] = await Promise.all([loadDataSet(`${name}:train`), loadDataSet(`${name}:test`)]);
  if (train.form !== "matrix" || test.form !== "matrix") throw new Error(`${name}: expected images`);
  return { title: name, x: train.x as Dense, y: train.y as number[], test: test.x as Dense };
}

/** Bytes: sums of a few of 64 smooth patterns, half of them cut off at zero as the dark of an image is. */
export function drawBytes(rows: number, features: number, seed: number): Dense {
  const values = new Uint8Array(rows * features);
  const fixed = new Draw(7, 0);
  const patterns = Array.from({ length: PATTERNS }, () => {
    const [a, b, c] = [fixed.share() * 20, fixed.share() * 0.2, fixed.share() * 7];
    return Float32Array.from({ length: features }, (_, i) => Math.sin(a + b * i) * Math.cos(c + i / SIDE));
  });
  const draw = new Draw(seed, 1);
  for (let r = 0; r < rows; r++) {
    const own = [0, 1, 2, 3].map(() => patterns[Math.floor(draw.share() * PATTERNS)]);
    const shift = draw.share() * 60;
    for (let i = 0; i < features; i++) {
      const value = 60 * (own[0][i] + own[1][i] + own[2][i] + own[3][i]) + shift + ((i * 2654435761 + r * 40503) % 23);
      values[r * features + i] = Math.min(255, Math.max(0, value));
    }
  }
  return Dense.of(values, rows, features);
}

/** Sparse rows as texts give them, with ten classes: words of a Zipf-like distribution, some of which a class prefers, weighed by float32. */
export function drawWords(rows: number, words: number, each: number, seed: number): { x: Csr; y: number[] } {
  const draw = new Draw(seed, 2);
  const offsets = new Uint32Array(rows + 1);
  const indices: number[] = [];
  const values: number[] = [];
  const y = Array.from({ length: rows }, (_, r) => r % 10);
  for (let r = 0; r < rows; r++) {
    const own = new Set<number>();
    while (own.size < each) {
      const word = Math.floor(words ** draw.share()) - 1;
      const isPreferred = draw.share() < 0.4;
      own.add(isPreferred ? (word * 10 + y[r]) % words : word);
    }
    for (const word of [...own].sort((a, b) => a - b)) {
      indices.push(word);
      values.push(0.1 + draw.share());
    }
    offsets[r + 1] = indices.length;
  }
  return { x: Csr.of(offsets, Uint32Array.from(indices), Float32Array.from(values), words), y };
}

/** The same rows as float32 from 0 to 1. */
export const asFloats = (x: Dense): Dense =>
  Dense.of(
    Float32Array.from(x.values, (value) => value / 255),
    x.rows,
    x.features,
  );

/** The same rows as 16-bit numbers. */
export const asWords = (x: Dense): Dense =>
  Dense.of(
    Uint16Array.from(x.values, (value) => 257 * value),
    x.rows,
    x.features,
  );
