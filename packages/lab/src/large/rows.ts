/** Many float32 rows from a seed, block by block: blends of a few patterns with noise, the same numbers on every machine. */

import { Draw } from "../differential/draw.ts";

const PATTERNS = 8;
const BLOCK_ROWS = 4096;

/** rows x features. Each block has a stream of its own, so any of them can be drawn again by itself. */
export function drawLarge(rows: number, features: number, seed: number): Float32Array {
  const values = new Float32Array(rows * features);
  const fixed = new Draw(seed, 0);
  const patterns = Float32Array.from({ length: PATTERNS * features }, () => fixed.share());
  const shares = new Float64Array(PATTERNS);
  for (let block = 0; block * BLOCK_ROWS < rows; block++) {
    const draw = new Draw(seed, block + 1);
    for (let r = block * BLOCK_ROWS; r < Math.min(rows, (block + 1) * BLOCK_ROWS); r++) {
      for (let p = 0; p < PATTERNS; p++) shares[p] = draw.share();
      const noise = draw.share();
      for (let i = 0; i < features; i++) {
        let sum = noise * ((i * 2654435761 + r) % 1021) * 1e-4;
        for (let p = 0; p < PATTERNS; p++) sum += shares[p] * patterns[p * features + i];
        values[r * features + i] = sum;
      }
    }
  }
  return values;
}
