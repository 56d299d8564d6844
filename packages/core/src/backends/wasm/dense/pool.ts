/** Pooled similarities of windows on an engine: a block of images, one fused kernel, threads by image. */

import { byteFactor, type Pooled, pooledFeatures, windowFeatures } from "../../../kernels/patches.ts";
import type { DenseBank, PatchLayer, Windows } from "../../../kernels/shapes.ts";
import { Context, type Engine } from "../engine/engine.ts";
import { borrowed } from "../engine/memory.ts";
import * as slot from "./pool-slots.ts";
import { type DenseBlock, sliceBlock } from "./rows.ts";

/** Images a kernel takes at a time: each is some hundred thousand products and more. */
const IMAGE_PIECE = 4;

/** Bytes of pooled values in memory at a time. */
const POOLED_LIMIT = 2 ** 25;

/** Largest distance of a value from 128. */
const MOST_VALUE = 128;

/** Writes the pooled values of a block of images of bytes to `out`, all layers side by side, from image `block.first` on. */
export function poolImages(
  engine: Engine,
  block: DenseBlock,
  layers: readonly PatchLayer[],
  width: number,
  out: Pooled,
): Promise<void> {
  const { memory } = engine;
  const bytes = out.BYTES_PER_ELEMENT;
  const most = Math.max(1, Math.min(block.rows, Math.floor(POOLED_LIMIT / (bytes * width))));
  return borrowed(memory, async (lease) => {
    const pooled = lease.take(most * width * bytes);
    const contexts = layers.map(({ bank, windows }) => {
      const context = new Context(memory, lease);
      describeWindows(context, windows, bank, lease.put(packFilters(bank)));
      return context;
    });
    for (let from = 0; from < block.rows; from += most) {
      const part = sliceBlock(block, from, Math.min(block.rows, from + most));
      let at = 0;
      for (const [j, context] of contexts.entries()) {
        context.set([slot.IMAGES, part.at], [slot.IMAGE_BYTES, part.rowBytes]);
        context.set([slot.POOLED, pooled + at * bytes], [slot.POOLED_BYTES, width * bytes]);
        const scratch = engine.ask("scratch_patches", context.at);
        await engine.run("pool_patches", part.rows, IMAGE_PIECE, scratch, context);
        at += pooledFeatures(layers[j].windows, layers[j].bank.filters);
      }
      const count = part.rows * width;
      out.set(bytes === 1 ? memory.u8(pooled, count) : memory.u16(pooled, count), part.first * width);
    }
  });
}

function describeWindows(context: Context, windows: Windows, bank: DenseBank, panel: number): void {
  const { width, height, channels, patchWidth, patchHeight, stride } = windows;
  context.set([slot.IMAGE_VALUES, width * height * channels], [slot.LINE_VALUES, width * channels]);
  context.set([slot.PATCH_LINE, patchWidth * channels], [slot.PATCH_LINES, patchHeight]);
  context.set([slot.STEP_RIGHT, stride * channels], [slot.STEP_DOWN, stride * width * channels]);
  context.set([slot.ACROSS, windows.across], [slot.DOWN, windows.down]);
  context.set([slot.CELLS_ACROSS, windows.cellsAcross], [slot.CELLS_DOWN, windows.cellsDown]);
  context.set(
    [slot.PATCH_PANEL, panel],
    [slot.PATCH_FILTERS, bank.filters],
    [slot.ID_BITS, idBits(windows, bank.filters)],
  );
  context.set([slot.WINDOW_VALUES, Math.ceil(windowFeatures(windows) / 8) * 8]);
  context.set([slot.BEST, Math.min(windows.nBest, bank.filters)], [slot.POOLED_SHIFT, windows.shift]);
  if (windows.limit) context.set([slot.BYTE_LIMIT, windows.limit], [slot.BYTE_FACTOR, byteFactor(windows.limit)]);
}

/** Bits that the number of a filter takes below its response, or 0 where 32 bits do not hold both. */
function idBits(windows: Windows, filters: number): number {
  const bits = Math.max(3, Math.ceil(Math.log2(filters)));
  const n = windowFeatures(windows);
  return MOST_VALUE * n * n * 2 ** bits < 2 ** 31 ? bits : 0;
}

/** Ranks minus (n + 1) in blocks of eight filters: two neighbouring values of one filter lie together, then those of the next. */
function packFilters({ filters, features, weights }: DenseBank): Int16Array {
  const pairs = Math.ceil(features / 2);
  const packed = new Int16Array(Math.ceil(filters / 8) * 8 * pairs * 2);
  for (let f = 0; f < filters; f++) {
    const block = Math.floor(f / 8) * 16 * pairs + (f % 8) * 2;
    for (let i = 0; i < features; i++) {
      packed[block + (i >> 1) * 16 + (i & 1)] = weights[f * features + i] - (features + 1);
    }
  }
  return packed;
}
