/** How filters that look at patches are shown: what they weigh as a picture, and what was found where in an image. */

import type { BankExplanation, Matrix, PatchModel } from "@ranksim/core";
import { greyOf, pictureOf, whereFound, wherePictures } from "ranksim/report";
import type { FoundPatch, PatchView, Pictured } from "../protocol.ts";

/** Patches shown of each side of a decision. */
const SHOWN_PATCHES = 8;

/**
 * Weights are raised to this power before patches are laid over each other: ranks lie close together, and only the highest say what a
 * filter looks for. Chosen by eye, on filters of Fashion-MNIST.
 */
const EMPHASIS = 6;

export class PatchLook {
  readonly patches: PatchModel;
  /** The patch filters of each layer, 0..255 a pixel. */
  readonly #pictures: readonly (readonly Uint8Array[])[];

  constructor(patches: PatchModel) {
    this.patches = patches;
    this.#pictures = patches.layers.map(({ bank, windows }) =>
      Array.from({ length: bank.filters }, (_, f) => {
        const own = bank.weights.subarray(f * bank.features, (f + 1) * bank.features);
        return pictureOf(greyOf(own, windows.channels), windows.patchWidth, windows.patchHeight).pixels;
      }),
    );
  }

  /** Patch filters and the sizes of their windows. */
  get summary(): { filters: number; sizes: { width: number; height: number }[] } {
    const { layers } = this.patches;
    return {
      filters: layers.reduce((sum, { bank }) => sum + bank.filters, 0),
      sizes: layers.map(({ windows }) => ({ width: windows.patchWidth, height: windows.patchHeight })),
    };
  }

  /** A number for each patch filter in each cell as a picture: at each window the mean of the patches, by their numbers. */
  draw(numbers: Float64Array): Pictured {
    const { shape, layers } = this.patches;
    const sum = new Float64Array(shape.width * shape.height);
    const weight = new Float64Array(sum.length);
    const most = numbers.reduce((largest, value) => Math.max(largest, value), 0) || 1;
    let from = 0;
    layers.forEach(({ bank, windows }, layer) => {
      const { across, down, stride, patchWidth, patchHeight, cellsAcross, cellsDown } = windows;
      const blends = Array.from({ length: cellsAcross * cellsDown }, (_, cell) => {
        const own = numbers.subarray(from + cell * bank.filters, from + (cell + 1) * bank.filters);
        return blend(this.#pictures[layer], own, most);
      });
      for (let y = 0; y < down; y++) {
        for (let x = 0; x < across; x++) {
          const cell = Math.floor((y * cellsDown) / down) * cellsAcross + Math.floor((x * cellsAcross) / across);
          const { pixels, total } = blends[cell];
          for (let p = 0; p < patchWidth * patchHeight; p++) {
            const at = (y * stride + Math.floor(p / patchWidth)) * shape.width + x * stride + (p % patchWidth);
            sum[at] += pixels[p];
            weight[at] += total;
          }
        }
      }
      from += cellsAcross * cellsDown * bank.filters;
    });
    for (let p = 0; p < sum.length; p++) sum[p] = weight[p] > 0 ? sum[p] / weight[p] : 0;
    const { pixels } = pictureOf(clipped(sum), shape.width, shape.height);
    return { pixels, size: { width: shape.width, height: shape.height } };
  }

  /** What each pixel's windows contributed to a decision; undefined without a rival. */
  where(x: Matrix, found: BankExplanation): Float64Array | undefined {
    return whereFound(this.patches, x, 0, found)?.values;
  }

  /** The patches behind a decision between two classes. */
  view(x: Matrix, found: BankExplanation, labels: { given: string; rival: string | undefined }): PatchView | null {
    const where = whereFound(this.patches, x, 0, found);
    if (!where) return null;
    const pictures = wherePictures(where);
    const side = (label: string, sign: 1 | -1) => ({
      label,
      where: (sign > 0 ? pictures.given : pictures.rival).pixels,
      found: found.contributions
        .filter(({ contribution }) => sign * contribution > 0)
        .slice(0, SHOWN_PATCHES)
        .map(({ feature, contribution }) => this.#found(feature, Math.abs(contribution))),
    });
    return {
      size: { width: where.width, height: where.height },
      given: side(labels.given, 1),
      ...(labels.rival === undefined ? {} : { rival: side(labels.rival, -1) }),
      banks: this.patches.layers.map(({ windows }, layer) => ({
        patch: { width: windows.patchWidth, height: windows.patchHeight },
        filters: this.#pictures[layer].map((pixels) => pixels.slice()),
      })),
    };
  }

  /** The patch filter and the cell that a pooled feature stands for. */
  #found(feature: number, part: number): FoundPatch {
    let layer = 0;
    let rest = feature;
    for (const { bank, windows } of this.patches.layers) {
      const own = windows.cellsAcross * windows.cellsDown * bank.filters;
      if (rest < own) break;
      rest -= own;
      layer++;
    }
    const { bank, windows } = this.patches.layers[layer];
    const { across, down, stride, patchWidth, patchHeight, cellsAcross, cellsDown } = windows;
    const cell = Math.floor(rest / bank.filters);
    const [column, line] = [cell % cellsAcross, Math.floor(cell / cellsAcross)];
    // The windows that begin in a cell: a window's cell is its number times the cells, divided by the windows, rounded down.
    const first = (at: number, cells: number, windowsThere: number) => Math.ceil((at * windowsThere) / cells);
    const [left, right] = [first(column, cellsAcross, across), first(column + 1, cellsAcross, across) - 1];
    const [top, bottom] = [first(line, cellsDown, down), first(line + 1, cellsDown, down) - 1];
    return {
      drawn: {
        pixels: this.#pictures[layer][rest % bank.filters].slice(),
        size: { width: patchWidth, height: patchHeight },
      },
      cell: {
        x: left * stride,
        y: top * stride,
        width: (right - left) * stride + patchWidth,
        height: (bottom - top) * stride + patchHeight,
      },
      part,
    };
  }
}

/** Pictures laid over each other by powers of their numbers, and the sum of those powers. */
function blend(
  pictures: readonly Uint8Array[],
  numbers: Float64Array,
  most: number,
): { pixels: Float64Array; total: number } {
  const pixels = new Float64Array(pictures[0].length);
  let total = 0;
  pictures.forEach((picture, f) => {
    const share = (numbers[f] / most) ** EMPHASIS;
    total += share;
    for (let p = 0; p < pixels.length; p++) pixels[p] += share * picture[p];
  });
  return { pixels, total };
}

/** Values without the few that lie far out, which would leave the others grey. */
function clipped(values: Float64Array): Float64Array {
  const sorted = values.toSorted();
  const [low, high] = [0.03, 0.97].map((share) => sorted[Math.floor(share * (sorted.length - 1))]);
  return values.map((value) => Math.min(high, Math.max(low, value)));
}
