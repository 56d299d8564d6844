/** A GPU that is lost, full or missing: the same answers, from the processor, and a note that says so. */

import { openBackend, RankSimilarityClassifier, saveModel } from "@ranksim/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type GpuBackend, openGpu } from "../../src/backends/gpu/backend.ts";
import { Device, GpuFailure } from "../../src/backends/gpu/device.ts";
import { openReference } from "../../src/backends/reference.ts";
import { openWasm } from "../../src/backends/wasm/backend.ts";
import { singletons } from "../../src/bank/groups.ts";
import { rankSums } from "../../src/kernels/rank-sums.ts";
import { sourceOf } from "../../src/kernels/rows.ts";
import { topFilters } from "../../src/kernels/top.ts";
import { Dense } from "../../src/matrix/dense.ts";
import { gpuRefusal, onGpu, SLOW } from "../gpu.ts";
import { expectSame } from "./csr-data.ts";
import { denseRows, someGroups } from "./dense-data.ts";
import { hold, rankSumsOn, topFiltersOn } from "./handles.ts";
import { round } from "./round.ts";

const x = denseRows("u8", 60, 21, "noise", 1);
const expected = await round(openReference(), sourceOf(x), 12);

describe.skipIf(gpuRefusal !== undefined)(onGpu("a gpu that fails"), { timeout: SLOW }, () => {
  let backend: GpuBackend;
  const open = async (): Promise<GpuBackend> => {
    backend = await openGpu(() => openWasm());
    return backend;
  };

  afterEach(async () => {
    vi.restoreAllMocks();
    await backend?.close();
    await backend?.close();
  });

  /** Takes the device away, as a driver that is updated does. */
  const lose = async ({ device }: GpuBackend): Promise<void> => {
    device.opened.device.destroy();
    await device.opened.device.lost;
  };

  it("lost between two questions: rows and filters that were on it are made again", async () => {
    const on = await open();
    const held = await hold(on, x);
    const bank = await held.sum(someGroups(9, 60, 2)).rank();
    const before = await held.assign(bank);
    const fresh = await before.sums(Uint32Array.of(0, 1)).rank();
    await lose(on);
    const next = await bank.replace(Uint32Array.of(0, 1), fresh);
    const filters = await next.read();
    const found = await held.topFilters(next, 3);
    const reference = await hold(openReference(), x);
    const groups = someGroups(9, 60, 2);
    const start = await reference.sum(groups).rank();
    const assigned = await reference.assign(start);
    const plain = await start.replace(Uint32Array.of(0, 1), await assigned.sums(Uint32Array.of(0, 1)).rank());
    expectSame(filters.weights, (await plain.read()).weights);
    expectSame(found.filter, topFilters(x, filters, 3).filter);
    expectSame(await (await held.assign(next, before)).winners(), topFilters(x, filters, 1).filter);
    expect(held.work().notes.join()).toMatch(
      /the GPU failed and the work was done on the processor: the device was lost/,
    );
    for (const handle of [bank, fresh, next, held]) handle.release();
  });

  it("lost before rows are held, and while questions are under way", async () => {
    const on = await open();
    const held = await hold(on, x);
    const bank = await held.sum(singletons(Uint32Array.of(1, 5, 9))).rank();
    const asked = [held.topFilters(bank, 2), held.leaders(bank), held.topRows(bank, Uint32Array.of(0, 2), 3)] as const;
    on.device.opened.device.destroy();
    const [top] = await Promise.all(asked);
    expectSame(top.filter, topFilters(x, await bank.read(), 2).filter);
    bank.release();
    held.release();
    expect(await round(on, sourceOf(x), 12)).toEqual(expected);
    expect(on.estimate({ rows: 1, features: 1, values: 1, bytes: 1, filters: 1, searches: 1 })).toHaveProperty(
      "refused",
    );
  });

  it("filters whose rows are gone with the device are refused, not guessed", async () => {
    const on = await open();
    const held = await hold(on, x);
    const bank = await held.sum(someGroups(9, 60, 2)).rank();
    held.release();
    await lose(on);
    await expect(bank.read()).rejects.toMatchObject({ code: "no-backend" });
    bank.release();
  });

  it.each(["u8", "f32"] as const)("%s: out of memory at any allocation", async (type) => {
    const on = await open();
    const x = denseRows(type, 60, 21, "noise", 1);
    const expected = await round(openReference(), sourceOf(x), 12);
    const room = Device.prototype.room;
    for (let left = 0; ; left++) {
      let calls = 0;
      vi.spyOn(Device.prototype, "room").mockImplementation(function (this: Device, bytes: number) {
        if (calls++ >= left) throw new GpuFailure("out of memory: no more");
        return room.call(this, bytes);
      });
      expect(await round(on, sourceOf(x), 12)).toEqual(expected);
      vi.restoreAllMocks();
      if (calls <= left) break;
      expect(left).toBeLessThan(40);
    }
    expect(on.device.failure).toBeUndefined();
  });

  it("a kernel that does not compile: the answers come from the processor, with a note", async () => {
    const on = await open();
    const held = await hold(on, x);
    vi.spyOn(on.device, "pipeline").mockRejectedValue(new GpuFailure("select: no"));
    const bank = rankSums(x, someGroups(9, 60, 2), undefined);
    const { filter } = await topFiltersOn(held, bank, 2);
    expectSame(filter, topFilters(x, bank, 2).filter);
    expectSame((await rankSumsOn(held, someGroups(9, 60, 2))).weights, bank.weights);
    expect(held.work().notes).toEqual([expect.stringMatching(/the GPU failed/)]);
    held.release();
  });

  it("a training says in its report that it was done on the processor, and gives the same model file", async () => {
    const on = await open();
    const matrix = Dense.of(x.values as Uint8Array, x.rows, x.features);
    const y = Array.from({ length: x.rows }, (_, r) => r % 3);
    const recipe = new RankSimilarityClassifier({ seed: 1, filters: 12 });
    const wasm = await openBackend("wasm");
    const plain = await recipe.fit(matrix, y, { backend: wasm });
    const whole = await recipe.fit(matrix, y, { backend: on });
    const lost = await recipe.fit(matrix, y, {
      backend: on,
      onProgress: async ({ iteration }) => {
        if (iteration === 1) await lose(on);
      },
    });
    expect(saveModel(whole)).toEqual(saveModel(plain));
    expect(saveModel(lost)).toEqual(saveModel(plain));
    expect(await whole.predict(matrix, { backend: on })).toEqual(await plain.predict(matrix, { backend: wasm }));
    expect(lost.report.fallbacks?.join()).toMatch(/the GPU failed/);
    expect(whole.report.fallbacks).toEqual([]);
    await wasm.close();
  });

  it("closed: handles are unusable, and nothing is opened again", async () => {
    const on = await open();
    const held = await hold(on, x);
    await on.close();
    await on.close();
    await expect(held.sum(someGroups(9, 60, 2)).rank()).rejects.toThrow(/closed/);
    await expect(hold(on, x)).rejects.toThrow(/closed/);
  });
});

it("a missing package is named, and how to get it", async () => {
  vi.stubEnv("RANKSIM_WEBGPU", "no-such-package");
  await expect(openBackend("gpu")).rejects.toMatchObject({
    code: "no-backend",
    message: expect.stringMatching(/gpu: expected WebGPU, found no package no-such-package: npm install webgpu/),
  });
  vi.unstubAllEnvs();
});
