/** Whether rows of numbers are images that nobody said are some: squares of pixels, whose neighbours are alike in both directions. */

import type { RowSource } from "@ranksim/core";
import type { ImageSize } from "@ranksim/data";

/** Sides from which on pixels are told from columns. */
const SMALLEST_SIDE = 8;
/** Rows that are looked at, the first ones. */
const ROWS = 256;
/** How alike neighbours have to be, and by how much more than pixels half an image away in the same line. */
const ALIKE = 0.3;
const MORE_ALIKE = 0.1;
const LOOK_BYTES = 1 << 22;

/** The size of the images that the rows seem to be: squares of one channel, or of three. */
export async function flatImageSize(x: RowSource): Promise<ImageSize | undefined> {
  const channels = [1, 3].find((count) => Number.isInteger(Math.sqrt(x.features / count)));
  const side = Math.sqrt(x.features / (channels ?? 1));
  if (channels === undefined || x.form !== "dense" || side < SMALLEST_SIDE) return undefined;
  const lags = [channels, channels * side, channels * Math.round(side / 2)];
  const products = new Float64Array(lags.length);
  let squares = 0;
  let rows = 0;
  for await (const block of x.blocks(LOOK_BYTES)) {
    if (block.form !== "dense") return undefined;
    const { features: n, values } = block;
    for (let r = 0; r < block.rows && rows < ROWS; r++, rows++) {
      let mean = 0;
      for (let i = 0; i < n; i++) mean += values[r * n + i] / n;
      for (let i = r * n; i < (r + 1) * n; i++) {
        const own = values[i] - mean;
        squares += own * own;
        for (const [l, lag] of lags.entries()) if (i + lag < (r + 1) * n) products[l] += own * (values[i + lag] - mean);
      }
    }
    if (rows === ROWS) break;
  }
  const [beside, below, apart] = Array.from(products, (product) => product / squares);
  const isImage = beside > ALIKE && below > ALIKE && below > apart + MORE_ALIKE;
  return isImage ? { width: side, height: side } : undefined;
}
