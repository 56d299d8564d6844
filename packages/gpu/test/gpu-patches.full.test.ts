/** Pooled patches on the GPU: the numbers of the plain loops, and on the processor where they must be. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { UNINTERRUPTED } from "../../core/src/backends/turn.ts";
import { poolLayers, windowFeatures, windowsOf } from "../../core/src/kernels/patches.ts";
import { rankSums } from "../../core/src/kernels/rank-sums.ts";
import { sourceOf } from "../../core/src/kernels/rows.ts";
import type { DenseBank, PatchLayer } from "../../core/src/kernels/shapes.ts";
import { denseRows, type Look, someGroups } from "../../core/test/backends/dense-data.ts";
import { type GpuBackend, openGpu } from "../src/backend.ts";
import { GPU_LIMITS, GpuContext } from "../src/context.ts";
import { bringRows } from "../src/resident.ts";
import { GpuRows } from "../src/rows.ts";
import { countedHost, gpuRefusal, onGpu } from "./gpu.ts";

describe.skipIf(gpuRefusal !== undefined)(onGpu("patches on a gpu"), () => {
  let backend: GpuBackend;
  /** Little memory at a time, on the same device: a program that plays one takes seconds to compile a kernel. */
  let cramped: GpuContext;
  const host = countedHost();
  beforeAll(async () => {
    backend = await openGpu(host.open);
    const limits = { ...GPU_LIMITS, partBytes: 2 ** 15, productBytes: 2 ** 16, answerBytes: 2 ** 11 };
    cramped = new GpuContext(backend.device, host.open, limits);
  });
  afterAll(async () => {
    await cramped.close();
    await backend.close();
  });

  function layerOf(
    shape: { width: number; height: number; channels: number },
    [patch, stride, grid, nBest, filters]: readonly number[],
    limit = 0,
  ): PatchLayer {
    const windows = windowsOf(shape, { patch, stride, grid, nBest }, limit);
    const n = windowFeatures(windows);
    const bank = rankSums(denseRows("u8", 50, n, "few", n), someGroups(filters, 50, filters), undefined) as DenseBank;
    return { windows, bank };
  }

  /** Pools and compares; says whether the processor was asked. */
  async function pooledOnHost(
    on: GpuBackend | GpuContext,
    images: ReturnType<typeof denseRows>,
    layers: readonly PatchLayer[],
  ): Promise<boolean> {
    const source = sourceOf(images);
    const before = host.holds();
    const held =
      on instanceof GpuContext
        ? new GpuRows(source, await bringRows(on, source, UNINTERRUPTED), backend, on, UNINTERRUPTED)
        : await on.hold(source);
    const found = await held.pool(layers);
    expect(held.work().notes).toEqual([]);
    held.release();
    expect(found.values).toEqual(poolLayers(images, layers));
    return host.holds() > before;
  }

  it("gives the numbers of the plain loops", async () => {
    const cases = [
      [{ width: 6, height: 5, channels: 1 }, "noise", [3, 1, 2, 2, 4]],
      [{ width: 7, height: 7, channels: 3 }, "few", [3, 2, 3, 4, 6]],
      [{ width: 9, height: 1, channels: 1 }, "zeros", [4, 1, 5, 3, 2]],
      // More windows than the kernel lays out at a time, lanes that have eight and sixteen filters.
      [{ width: 11, height: 9, channels: 1 }, "noise", [3, 1, 1, 4, 30]],
      [{ width: 8, height: 6, channels: 3 }, "few", [3, 1, 2, 2, 62]],
    ] as const;
    for (const [shape, look, choice] of cases) {
      const images = denseRows("u8", 9, shape.width * shape.height * shape.channels, look as Look, 3);
      for (const on of [backend, cramped]) expect(await pooledOnHost(on, images, [layerOf(shape, choice)])).toBe(false);
    }
  });

  it("gives the bytes of the plain loops", async () => {
    const cases = [
      [{ width: 6, height: 5, channels: 1 }, "noise", [3, 1, 2, 2, 4], [1, 255, 700, 32_767]],
      [{ width: 7, height: 7, channels: 3 }, "few", [3, 2, 3, 4, 8], [300]],
      [{ width: 9, height: 1, channels: 1 }, "zeros", [4, 1, 5, 3, 4], [255]],
      [{ width: 11, height: 9, channels: 1 }, "noise", [3, 1, 1, 4, 28], [2000]],
      [{ width: 8, height: 6, channels: 3 }, "few", [3, 1, 2, 2, 64], [1000]],
      // Bits left out before.
      [{ width: 20, height: 20, channels: 1 }, "noise", [3, 1, 1, 4, 12], [9000]],
    ] as const;
    for (const [shape, look, choice, limits] of cases) {
      const images = denseRows("u8", 9, shape.width * shape.height * shape.channels, look as Look, 3);
      for (const limit of limits) {
        const layers = [layerOf(shape, choice, limit)];
        for (const on of [backend, cramped]) expect(await pooledOnHost(on, images, layers)).toBe(false);
      }
    }
  });

  it("lays layers of bytes side by side, each with its limit, and many calls at once keep apart", async () => {
    const shape = { width: 6, height: 6, channels: 1 };
    const images = denseRows("u8", 7, 36, "noise", 4);
    const layers = [layerOf(shape, [3, 1, 2, 2, 4], 400), layerOf(shape, [2, 1, 3, 3, 8], 7)];
    for (const on of [backend, cramped]) {
      const both = [layers, layers.map(({ bank, windows }) => ({ bank, windows: { ...windows, limit: 0 } }))];
      const asked = await Promise.all([...both, ...both].map((some) => pooledOnHost(on, images, some)));
      expect(asked).toEqual([false, false, false, false]);
    }
  });

  it("lays layers side by side", async () => {
    const shape = { width: 6, height: 6, channels: 1 };
    const images = denseRows("u8", 7, 36, "noise", 4);
    const layers = [layerOf(shape, [3, 1, 2, 2, 4]), layerOf(shape, [2, 1, 3, 3, 6])];
    for (const on of [backend, cramped]) expect(await pooledOnHost(on, images, layers)).toBe(false);
  });

  it("leaves large windows, odd numbers of filters and many strongest filters to the processor", async () => {
    const shape = { width: 17, height: 17, channels: 1 };
    const images = denseRows("u8", 3, 289, "noise", 5);
    expect(await pooledOnHost(backend, images, [layerOf(shape, [16, 1, 1, 2, 4])])).toBe(true);
    expect(await pooledOnHost(backend, images, [layerOf(shape, [3, 1, 1, 2, 5])])).toBe(true);
    const manyBest = layerOf({ width: 12, height: 12, channels: 1 }, [8, 1, 1, 130, 140]);
    expect(await pooledOnHost(backend, denseRows("u8", 3, 144, "same", 5), [manyBest])).toBe(true);
    // Bytes come four in a word.
    expect(await pooledOnHost(backend, images, [layerOf(shape, [3, 1, 1, 2, 6])])).toBe(false);
    expect(await pooledOnHost(backend, images, [layerOf(shape, [3, 1, 1, 2, 6], 300)])).toBe(true);
  });
});
