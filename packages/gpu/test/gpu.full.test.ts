/** The GPU back end: every answer is the plain loops', bit for bit, on the device where it should be, and on the host where it must be. */

import { Dense, RankSimilarityClassifier, saveModel } from "@ranksim/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openReference } from "../../core/src/backends/reference.ts";
import { openWasm } from "../../core/src/backends/wasm/backend.ts";
import { rankSums } from "../../core/src/kernels/rank-sums.ts";
import { sourceOf } from "../../core/src/kernels/rows.ts";
import type { DenseRows, FilterBank } from "../../core/src/kernels/shapes.ts";
import { leadersOf, topFilters, topRows } from "../../core/src/kernels/top.ts";
import { csrRows, expectSame } from "../../core/test/backends/csr-data.ts";
import { denseRows, type Look, someGroups } from "../../core/test/backends/dense-data.ts";
import {
  hold,
  leadersOn,
  meanResponses,
  rankSumsOn,
  topFiltersOn,
  topRowsOn,
} from "../../core/test/backends/handles.ts";
import { round, unread } from "../../core/test/backends/round.ts";
import { type GpuBackend, openGpu } from "../src/backend.ts";
import { GPU_LIMITS } from "../src/context.ts";
import { countedHost, gpuRefusal, onGpu } from "./gpu.ts";

/** Small buffers: rows lie in several, products and answers come in blocks. */
const CRAMPED = { ...GPU_LIMITS, partBytes: 2 ** 15, productBytes: 2 ** 19, answerBytes: 2 ** 13 };

describe.skipIf(gpuRefusal !== undefined)(onGpu("gpu"), () => {
  let backend: GpuBackend;
  let cramped: GpuBackend;
  const host = countedHost();

  beforeAll(async () => {
    backend = await openGpu(host.open);
    cramped = await openGpu(host.open, CRAMPED);
  });

  afterAll(async () => {
    await backend.close();
    await cramped.close();
  });

  /** All searches against the plain loops, on the device or, where its products would not be exact, on the host. */
  async function expectAnswers(
    on: GpuBackend,
    x: DenseRows,
    bank: FilterBank,
    k: number,
    where: "device" | "host" = "device",
  ): Promise<void> {
    expect(on.device.failure).toBeUndefined();
    const held = await hold(on, x);
    const before = host.holds();
    const expected = topFilters(x, bank, k);
    const found = await topFiltersOn(held, bank, k);
    expectSame(found.filter, expected.filter);
    expectSame(found.response, expected.response);
    const two = leadersOf(topFilters(x, bank, Math.min(2, bank.filters)));
    const leaders = await leadersOn(held, bank);
    expectSame(leaders.filter, two.filter);
    expectSame(leaders.response, two.response);
    expect([...leaders.tied]).toEqual([...two.tied]);
    const some = Uint32Array.from({ length: x.rows }, (_, r) => r).filter((r) => r % 3 !== 1);
    const picked = await topFiltersOn(held, bank, k, some);
    expectSame(
      picked.filter,
      expected.filter.filter((_, e) => Math.floor(e / k) % 3 !== 1),
    );
    expect(host.holds() - before).toBe(where === "device" ? 0 : 1);
    if (where === "device") expect(held.work().exact).toBe(held.work().pairs);
    expect(held.work().notes).toEqual([]);
    held.release();
  }

  async function expectTopRows(
    on: GpuBackend,
    x: DenseRows,
    bank: FilterBank,
    filters: Uint32Array,
    k: number,
  ): Promise<number> {
    const held = await hold(on, x);
    const before = host.holds();
    const { row, value } = await topRowsOn(held, bank, filters, k);
    const expected = topRows(x, bank, filters, k, meanResponses(x, bank));
    expectSame(row, expected.row);
    expectSame(value, expected.value);
    held.release();
    return host.holds() - before;
  }

  it("finds the strongest filters of bytes: sizes on both sides of every tile, ties, zeros", async () => {
    const sizes = [
      [1, 1, 1, 1],
      [5, 1, 3, 2],
      [17, 2, 9, 9],
      [40, 63, 33, 5],
      [129, 64, 127, 3],
      [127, 65, 129, 1],
      [257, 128, 40, 2],
      [40, 127, 257, 64],
      [300, 260, 70, 4],
    ];
    const looks: readonly Look[] = ["noise", "few", "zeros", "same", "near"];
    for (const [j, [rows, features, filters, k]] of sizes.entries()) {
      const x = denseRows("u8", rows, features, looks[j % looks.length], j);
      const bank = rankSums(x, someGroups(filters, rows, j), undefined);
      await expectAnswers(rows > 100 ? cramped : backend, x, bank, Math.min(k, filters));
    }
  });

  it("the widest rows that u32 holds are exact there, wider ones go to the processor", async () => {
    for (const features of [4103, 4104]) {
      const x = denseRows("u8", 3, features, "noise", features);
      for (let i = 0; i < features; i++) x.values[i] = 255; // the largest product there is
      const bank = rankSums(x, someGroups(4, 3, 1), undefined);
      if (features === 4103) await expectAnswers(backend, x, bank, 2);
      else expectSame((await topFiltersOn(await hold(backend, x), bank, 2)).response, topFilters(x, bank, 2).response);
    }
  });

  it("rows of other kinds are searched on the processor, which their notes say", async () => {
    const reference = openReference();
    const dense = (["u16", "i16", "f32", "f64"] as const).map((type) => denseRows(type, 60, 21, "noise", 2));
    const rows = [...dense, csrRows(60, 40, 0.2, "u8", "small", 3), denseRows("u8", 60, 4104, "few", 2)];
    for (const x of rows) {
      expect(await round(backend, sourceOf(x), 9)).toEqual(await round(reference, sourceOf(x), 9));
      const held = await hold(backend, x);
      expect(held.backend.name).toBe("wasm");
      expect(held.work().notes).toEqual([expect.stringMatching(/work on other rows was done on the processor/)]);
      held.release();
      const { rows, features, entries: values, valueBytes } = sourceOf(x);
      const work = { rows, features, values, bytes: values * valueBytes, filters: 9, searches: 1 };
      expect(backend.estimate(work)).toEqual({ refused: "expected dense rows of bytes with at most 4103 features" });
    }
    expect(backend.device.failure).toBeUndefined();
    const x = Dense.of(dense[2].values as Float32Array, 60, 21);
    const y = Array.from({ length: 60 }, (_, r) => r % 3);
    const { report } = await new RankSimilarityClassifier({ filters: 9 }).fit(x, y, { backend });
    expect(report.fallbacks).toEqual([
      expect.stringMatching(/^the GPU takes dense rows of bytes .* on the processor$/),
    ]);
  });

  it("weights that are not ranks: small ones are exact there, others go to the processor", async () => {
    const x = denseRows("u8", 20, 30, "noise", 3);
    const whole = Uint16Array.from({ length: 12 * 30 }, (_, j) => (j * 7919) % 65_536);
    const norm = new Float64Array(12).fill(3);
    const bank: FilterBank = { form: "dense", filters: 12, features: 30, weights: whole, norm };
    await expectAnswers(backend, x, bank, 3);
    await expectAnswers(backend, x, { ...bank, norm: norm.map((value, f) => value + f) }, 3, "host");
    await expectAnswers(backend, x, { ...bank, weights: Float64Array.from(whole, (weight) => weight / 3) }, 3, "host");
    const curve = Float64Array.from({ length: 30 }, (_, i) => 0.5 + i * i);
    await expectAnswers(backend, x, rankSums(x, someGroups(6, 20, 4), curve), 2, "host");
    const heavy = Uint16Array.from({ length: 12 * 300 }, (_, j) => 65_535 - ((j * 31) % 10_000));
    const wide = denseRows("u8", 5, 300, "noise", 4);
    await expectAnswers(backend, wide, { form: "dense", filters: 12, features: 300, weights: heavy, norm }, 2, "host");
  });

  it("finds the strongest rows, and leaves ties without end to the host", async () => {
    for (const [rows, features, filters, k] of [
      [1, 1, 1, 1],
      [30, 17, 9, 5],
      [300, 64, 40, 5],
      [600, 33, 20, 40],
    ]) {
      const x = denseRows("u8", rows, features, "noise", rows);
      const bank = rankSums(x, someGroups(filters, rows, 5), undefined);
      const listed = Uint32Array.from({ length: Math.min(7, filters) }, (_, j) => (j * 5) % filters);
      for (const on of [backend, cramped]) expect(await expectTopRows(on, x, bank, listed, k)).toBe(0);
    }
    const same = denseRows("u8", 700, 12, "same", 6);
    const bank = rankSums(same, someGroups(5, 700, 7), undefined);
    expect(await expectTopRows(backend, same, bank, Uint32Array.of(0, 3), 4)).toBe(1);
    const zeros = denseRows("u8", 100, 12, "zeros", 8);
    await expectTopRows(backend, zeros, rankSums(zeros, someGroups(5, 100, 7), undefined), Uint32Array.of(1, 2), 30);
  });

  it("ranks sums: ties, empty groups, one feature, wide rows; weights and distributions on the host", async () => {
    for (const [rows, features, look] of [
      [40, 1, "noise"],
      [40, 7, "few"],
      [300, 64, "noise"],
      [40, 130, "zeros"],
      [6, 1025, "noise"], // one filter: an odd number of weights
      [4, 4103, "few"],
    ] as const) {
      const x = denseRows("u8", rows, features, look, features);
      const count = features > 1000 ? 1 : 9;
      const groups = someGroups(count, rows, features, true);
      for (const on of features > 1000 ? [backend] : [backend, cramped]) {
        const held = await hold(on, x);
        const before = host.holds();
        const found = await rankSumsOn(held, groups);
        const expected = rankSums(x, groups, undefined);
        expect(found.weights.constructor).toBe(expected.weights.constructor);
        expectSame(found.weights, expected.weights);
        expectSame(found.norm, expected.norm);
        expect(held.work().notes).toEqual([]);
        expect(host.holds()).toBe(before);
        const curve = Float64Array.from({ length: features }, (_, i) => 0.5 + i * i);
        expectSame((await rankSumsOn(held, groups, curve)).weights, rankSums(x, groups, curve).weights);
        const weighted = someGroups(count, rows, features, true, true);
        expectSame((await rankSumsOn(held, weighted)).weights, rankSums(x, weighted, undefined).weights);
        held.release();
      }
    }
  });

  it("adds up a group of many rows in pieces", async () => {
    const x = denseRows("u8", 400, 20, "noise", 9);
    const all = Uint32Array.from({ length: 400 }, (_, r) => r);
    const groups = { offsets: Uint32Array.of(0, 0, 399, 400), rows: all };
    for (const on of [backend, cramped]) {
      const held = await hold(on, x);
      expectSame((await rankSumsOn(held, groups)).weights, rankSums(x, groups, undefined).weights);
      held.release();
    }
  });

  it("a round of everything is the reference's", async () => {
    const reference = openReference();
    for (const [rows, features, filters] of [
      [60, 21, 12],
      [140, 70, 30],
    ]) {
      const x = denseRows("u8", rows, features, "noise", rows);
      const expected = await round(reference, sourceOf(x), filters);
      for (const on of [backend, cramped]) {
        expect(await round(on, sourceOf(x), filters)).toEqual(expected);
        expect(await round(on, unread(x), filters)).toEqual(expected);
      }
    }
  });

  it("answers questions that overlap as it answers them alone", async () => {
    const sources = [3, 4, 5].map((seed) => sourceOf(denseRows("u8", 60 + seed, 20, "noise", seed)));
    const alone = [];
    for (const source of sources) alone.push(await round(backend, source, 9));
    const together = await Promise.all([...sources, ...sources].map((source) => round(backend, source, 9)));
    expect(together).toEqual([...alone, ...alone]);
  });

  it("trains classes that overlap to the bytes of one after the other, from rows it brings once", async () => {
    const { rows, features, values } = denseRows("u8", 120, 25, "factors", 6);
    const x = Dense.of(values as Uint8Array, rows, features);
    const y = Array.from({ length: rows }, (_, r) => r % 12);
    const wasm = await openWasm();
    for (const params of [
      { filters: 30, seed: 2 },
      { filters: 24, committee: 2, calibrate: "isotonic" as const },
    ]) {
      const recipe = new RankSimilarityClassifier(params);
      const [plain, first, second] = await Promise.all([
        recipe.fit(x, y, { backend: wasm }),
        recipe.fit(x, y, { backend }),
        recipe.fit(x, y, { backend }),
      ]);
      expect(first.report.fallbacks).toEqual([]);
      expect(saveModel(first)).toEqual(saveModel(plain));
      expect(saveModel(second)).toEqual(saveModel(plain));
    }
    const shares: number[] = [];
    const onProgress = ({ share }: { share: number }) => void shares.push(share);
    await new RankSimilarityClassifier({ filters: 24 }).fit(x, y, { backend, onProgress });
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(shares.at(-1)).toBe(1);
    const aborted = new AbortController();
    const stop = () => aborted.abort(new Error("enough"));
    const fit = new RankSimilarityClassifier({ filters: 24 }).fit(x, y, {
      backend,
      signal: aborted.signal,
      onProgress: stop,
    });
    await expect(fit).rejects.toThrow("enough");
    await wasm.close();
  });

  it("gives all memory of the device back", async () => {
    const x = denseRows("u8", 100, 40, "noise", 10);
    const used: number[] = [];
    for (let j = 0; j < 3; j++) {
      await round(backend, sourceOf(x), 12);
      used.push(backend.device.usedBytes);
    }
    expect(used[2]).toBe(used[1]);
  });

  it("says what it runs on", async () => {
    const { adapter, variant, limits } = await backend.describe();
    expect(adapter).not.toBe("");
    expect(["plain", "packed", "matrices"]).toContain(variant);
    expect(limits.bufferBytes).toBeGreaterThanOrEqual(2 ** 27);
  });
});
