/** A GPU that is lost, full or missing: a call that it fails during is done again on the processor, with the same answer and a note. */

import {
  type ClassifierModel,
  openBackend,
  PatchTransform,
  RankSimilarityClassifier,
  saveModel,
  toDense,
} from "@ranksim/core";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { Backend } from "../../core/src/backends/contract.ts";
import { openReference } from "../../core/src/backends/reference.ts";
import { openWasm } from "../../core/src/backends/wasm/backend.ts";
import { sourceOf } from "../../core/src/kernels/rows.ts";
import { Dense } from "../../core/src/matrix/dense.ts";
import { denseRows, someGroups } from "../../core/test/backends/dense-data.ts";
import { hold } from "../../core/test/backends/handles.ts";
import { round } from "../../core/test/backends/round.ts";
import { type GpuBackend, openGpu } from "../src/backend.ts";
import { Device, GpuFailure } from "../src/device.ts";
import { gpuRefusal, onGpu } from "./gpu.ts";

const x = denseRows("u8", 60, 36, "noise", 1);
const matrix = Dense.of(x.values as Uint8Array, x.rows, x.features);
const y = Array.from({ length: x.rows }, (_, r) => r % 3);
const recipe = new RankSimilarityClassifier({ seed: 1, filters: 12 });

describe.skipIf(gpuRefusal !== undefined)(onGpu("a gpu that fails"), () => {
  let wasm: Backend;
  let plain: ClassifierModel;
  let backend: GpuBackend | undefined;
  beforeAll(async () => {
    wasm = await openWasm();
    plain = await recipe.fit(matrix, y, { backend: wasm });
  });
  afterAll(() => wasm.close());
  afterEach(async () => {
    vi.restoreAllMocks();
    await backend?.close();
    await backend?.close();
  });

  const open = async (): Promise<GpuBackend> => {
    backend = await openGpu(() => openWasm());
    return backend;
  };

  /** Takes the device away, as a driver that is updated does. */
  const lose = async ({ device }: GpuBackend): Promise<void> => {
    device.opened.device.destroy();
    await device.opened.device.lost;
  };

  const FAILED = expect.stringMatching(/^the GPU failed and the work was done on the processor: gpu: /);

  it("during a training: the model file is the same, and the report says where the work was done", async () => {
    const on = await open();
    const whole = await recipe.fit(matrix, y, { backend: on });
    const lost = await recipe.fit(matrix, y, {
      backend: on,
      onProgress: async ({ iteration }) => {
        if (iteration === 1) await lose(on);
      },
    });
    expect(saveModel(whole)).toEqual(saveModel(plain));
    expect(saveModel(lost)).toEqual(saveModel(plain));
    expect(whole.report.fallbacks).toEqual([]);
    expect(lost.report.fallbacks).toEqual([FAILED]);
  });

  it("between two calls, and while others are under way: filters that lay on it are loaded on the processor", async () => {
    const on = await open();
    const model = await recipe.fit(matrix, y, { backend: on });
    const expected = await plain.predict(matrix, { backend: wasm });
    const asked = Array.from({ length: 4 }, () => model.predict(matrix, { backend: on }));
    on.device.opened.device.destroy();
    expect(await Promise.all(asked)).toEqual([expected, expected, expected, expected]);
    expect(await model.predict(matrix, { backend: on })).toEqual(expected);
  });

  it("pools patches on the processor", async () => {
    const on = await open();
    const patches = await new PatchTransform({ width: 6, patch: 3, filters: 8, nBest: 3 }).fit(matrix, undefined, {
      backend: wasm,
    });
    const expected = toDense(await patches.transform(matrix, { backend: wasm })).values;
    const asked = patches.transform(matrix, { backend: on });
    on.device.opened.device.destroy();
    expect(toDense(await asked).values).toEqual(expected);
  });

  it("handles of a device that is lost fail, saying so and that the call may be done again; new rows are held elsewhere", async () => {
    const on = await open();
    const held = await hold(on, x);
    const bank = await held.rank(someGroups(9, 60, 2));
    await lose(on);
    const failure = {
      code: "no-backend",
      isRetryable: true,
      message: expect.stringMatching(/gpu: the device was lost/),
    };
    await expect(bank.read()).rejects.toMatchObject(failure);
    await expect(held.topFilters(bank, 1)).rejects.toMatchObject(failure);
    await expect(held.rank(someGroups(9, 60, 2))).rejects.toMatchObject(failure);
    bank.release();
    held.release();
    const other = await hold(on, x);
    expect(other.work().notes).toEqual([FAILED]);
    other.release();
    expect(await round(on, sourceOf(x), 12)).toEqual(await round(openReference(), sourceOf(x), 12));
    const work = { rows: 1, features: 1, values: 1, bytes: 1, filters: 1, searches: 1 };
    expect(on.estimate(work)).toEqual({ refused: expect.stringMatching(/the device was lost/) });
  });

  it("out of memory at any allocation of a training", async () => {
    const allocate = Device.prototype.allocate;
    for (let left = 0; ; left = left < 8 ? left + 1 : 2 * left) {
      const on = await open();
      let calls = 0;
      vi.spyOn(Device.prototype, "allocate").mockImplementation(function (this: Device, bytes: number) {
        if (calls++ >= left) throw new GpuFailure("out of memory: no more");
        return allocate.call(this, bytes);
      });
      const model = await recipe.fit(matrix, y, { backend: on });
      expect(saveModel(model)).toEqual(saveModel(plain));
      vi.restoreAllMocks();
      if (calls <= left) {
        expect(model.report.fallbacks).toEqual([]);
        break;
      }
      expect(model.report.fallbacks).toEqual([FAILED]);
      await on.close();
      expect(left).toBeLessThan(1000);
    }
  });

  it("a kernel that does not compile: the work is done on the processor, with a note", async () => {
    const on = await open();
    vi.spyOn(on.device, "pipeline").mockRejectedValue(new GpuFailure("select: no"));
    const model = await recipe.fit(matrix, y, { backend: on });
    expect(saveModel(model)).toEqual(saveModel(plain));
    expect(model.report.fallbacks).toEqual([FAILED]);
  });

  it("an error that is not the device's is told, and the device goes on", async () => {
    const on = await open();
    const stop = () => Promise.reject(new Error("enough"));
    await expect(recipe.fit(matrix, y, { backend: on, onProgress: stop })).rejects.toThrow("enough");
    expect(on.device.failure).toBeUndefined();
    expect(saveModel(await recipe.fit(matrix, y, { backend: on }))).toEqual(saveModel(plain));
  });

  it("closed: handles are unusable, and nothing is opened again", async () => {
    const on = await open();
    const held = await hold(on, x);
    await on.close();
    await on.close();
    await expect(held.rank(someGroups(9, 60, 2))).rejects.toThrow(/closed/);
    await expect(hold(on, x)).rejects.toThrow(/closed/);
    await expect(recipe.fit(matrix, y, { backend: on })).rejects.toThrow(/closed/);
  });
});

it("a missing package is named, and how to get it", async () => {
  vi.stubEnv("RANKSIM_WEBGPU", "no-such-package");
  await expect(openBackend("gpu", { openers: { gpu: openGpu } })).rejects.toMatchObject({
    code: "no-backend",
    message: expect.stringMatching(/gpu: expected WebGPU, found no package no-such-package: npm install webgpu/),
  });
  vi.unstubAllEnvs();
});
