/** Rows that are no bytes on the GPU: float32 proposes candidates, the host decides, and every answer is the plain loops', bit for bit. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type GpuBackend, openGpu } from "../../src/backends/gpu/backend.ts";
import { slackOf } from "../../src/backends/gpu/candidates.ts";
import { floatWeights } from "../../src/backends/gpu/float-bank.ts";
import { GPU_LIMITS } from "../../src/backends/gpu/house.ts";
import { openReference } from "../../src/backends/reference.ts";
import { openWasm } from "../../src/backends/wasm/backend.ts";
import { rankSums } from "../../src/kernels/rank-sums.ts";
import { listedRows, sourceOf } from "../../src/kernels/rows.ts";
import type { DenseRows, FilterBank, Rows } from "../../src/kernels/shapes.ts";
import { leadersOf, topFilters } from "../../src/kernels/top.ts";
import { gpuRefusal, onGpu, SLOW } from "../gpu.ts";
import { csrRows, denseBank, draws, expectSame, trainedBank, withNorms } from "./csr-data.ts";
import { denseRows, type Look, someGroups } from "./dense-data.ts";
import { hold } from "./handles.ts";
import { round, unread } from "./round.ts";

/** Small buffers: rows lie in several, products and answers come in blocks. */
const CRAMPED = { ...GPU_LIMITS, partBytes: 2 ** 15, productBytes: 2 ** 17, answerBytes: 2 ** 13 };
const TYPES = ["u16", "i16", "f32", "f64"] as const;
const LOOKS: readonly Look[] = ["noise", "few", "zeros", "near", "factors"];

describe("the bound of candidates", () => {
  /** A sum or product as WGSL may round it: up or down, and to zero where it is small. */
  function rounder(draw: () => number): (exact: number) => number {
    const bits = new DataView(new ArrayBuffer(4));
    return (exact) => {
      const near = Math.fround(exact);
      let found = near;
      if (near !== exact && draw() < 0.5) {
        // The neighbour on the other side of the exact value.
        bits.setFloat32(0, near);
        const step = near === 0 ? 1 : near > 0 === near < exact ? 1 : -1;
        bits.setInt32(0, bits.getInt32(0) + step);
        found = bits.getFloat32(0);
      }
      return Math.abs(found) < 2 ** -126 ? 0 : found;
    };
  }

  it("holds for any order and any rounding, with and without fused sums, and with small numbers taken for zero", () => {
    let closest = 0;
    for (let seed = 0; seed < 300; seed++) {
      const draw = draws(seed);
      const n = [1, 2, 9, 60, 300][seed % 5];
      const size = [1, 1e-38, 1e15, 255, 1e-20][Math.floor(seed / 5) % 5];
      const isSigned = seed % 2 === 0;
      const x = Float64Array.from({ length: n }, () => (draw() - (isSigned ? 0.5 : 0)) * size * 10 ** (3 * draw() - 1));
      const w = Float64Array.from({ length: n }, () => (seed % 3 === 0 ? Math.ceil(draw() * 2 * n) : draw() - 0.3));
      const bank: FilterBank = { form: "dense", filters: 1, features: n, weights: w, norm: Float64Array.of(3 * n) };
      const { weights, power } = floatWeights(bank, false) as NonNullable<ReturnType<typeof floatWeights>>;
      const floats = Float32Array.from(x);
      const slack = slackOf(floats, 0, n) as number;
      const largest =
        power === undefined ? w.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0) : 2 ** power;
      const scale = largest / (3 * n);
      const exact = topFilters({ form: "dense", rows: 1, features: n, values: x }, bank, 1).response[0] / scale;
      for (let time = 0; time < 5; time++) {
        const round = rounder(draw);
        const flush = (v: number): number => (Math.abs(v) < 2 ** -126 ? 0 : v);
        // Two halves of the terms at a time, in a random order: a tree of sums.
        const terms = Array.from({ length: n }, (_, i) => i).sort(() => draw() - 0.5);
        const sum = (from: number, to: number): number => {
          if (to - from === 1) return round(flush(floats[terms[from]]) * flush(weights[terms[from]]));
          const cut = draw() < 0.5 ? to - 1 : from + 1 + Math.floor(draw() * (to - from - 1));
          if (cut === to - 1 && draw() < 0.5) {
            return round(sum(from, cut) + flush(floats[terms[cut]]) * flush(weights[terms[cut]])); // fused
          }
          return round(sum(from, cut) + sum(cut, to));
        };
        const error = Math.abs(sum(0, n) - exact);
        expect(error).toBeLessThanOrEqual(slack / 2);
        closest = Math.max(closest, error / (slack / 2));
      }
    }
    expect(closest).toBeGreaterThan(0.05); // a bound that says something
  });

  it("refuses values that might overflow, and banks that cannot be scaled", () => {
    expect(slackOf(Float32Array.of(1, 2 ** 60), 0, 2)).toBeUndefined();
    expect(slackOf(Float32Array.of(1, Number.NaN), 0, 2)).toBeUndefined();
    const bank = {
      form: "dense",
      filters: 1,
      features: 2,
      weights: new Float64Array(2),
      norm: Float64Array.of(1),
    } as const;
    expect(floatWeights(bank, false)).toBeUndefined();
    expect(floatWeights({ ...bank, weights: Float64Array.of(1, 2), norm: Float64Array.of(0) }, false)).toBeUndefined();
  });
});

describe.skipIf(gpuRefusal !== undefined)(onGpu("candidates on a gpu"), { timeout: SLOW }, () => {
  let backend: GpuBackend;
  let cramped: GpuBackend;

  beforeAll(async () => {
    backend = await openGpu(() => openWasm());
    cramped = await openGpu(() => openWasm(), CRAMPED);
  });

  afterAll(async () => {
    await backend.close();
    await cramped.close();
  });

  /** All searches against the plain loops. Returns the share of pairs whose exact response was computed. */
  async function expectAnswers(on: GpuBackend, x: Rows, bank: FilterBank, k: number): Promise<number> {
    const held = await hold(on, x);
    const loaded = held.load(bank);
    const expected = topFilters(x, bank, k);
    const found = await held.topFilters(loaded, k);
    expectSame(found.filter, expected.filter);
    expectSame(found.response, expected.response);
    const two = leadersOf(topFilters(x, bank, Math.min(2, bank.filters)));
    const leaders = await held.leaders(loaded);
    expectSame(leaders.filter, two.filter);
    expectSame(leaders.response, two.response);
    expect([...leaders.tied]).toEqual([...two.tied]);
    const some = Uint32Array.from({ length: x.rows }, (_, r) => r).filter((r) => r % 3 !== 1);
    const picked = await held.topFilters(loaded, k, some);
    expectSame(
      picked.response,
      expected.response.filter((_, e) => Math.floor(e / k) % 3 !== 1),
    );
    const { pairs, exact } = held.work();
    const assigned = await held.assign(loaded);
    expectSame(await assigned.winners(), two.filter);
    expect(held.work().notes).toEqual([]);
    expect(on.device.failure).toBeUndefined();
    loaded.release();
    held.release();
    return exact / pairs;
  }

  it.each(TYPES)("%s: sizes on both sides of every tile, ties, zeros", async (type) => {
    const sizes = [
      [1, 1, 1, 1],
      [5, 1, 3, 2],
      [17, 16, 9, 9],
      [129, 17, 127, 3],
      [40, 15, 129, 64],
      [260, 33, 20, 2],
    ];
    for (const [j, [rows, features, filters, k]] of sizes.entries()) {
      const x = denseRows(type, rows, features, LOOKS[(j + TYPES.indexOf(type)) % LOOKS.length], j);
      const bank = rankSums(x, someGroups(filters, rows, j), undefined);
      await expectAnswers(rows > 100 ? cramped : backend, x, bank, Math.min(k, filters));
    }
  });

  it("computes few responses where rows have something to find", async () => {
    const x = denseRows("f32", 200, 40, "factors", 3);
    const bank = rankSums(x, someGroups(100, 200, 3), undefined);
    expect(await expectAnswers(backend, x, bank, 2)).toBeLessThan(0.05);
  });

  it("bytes that are too wide, and filters whose products are not exact there", async () => {
    const wide = denseRows("u8", 3, 4104, "noise", 1);
    wide.values.fill(255, 0, 4104);
    await expectAnswers(backend, wide, rankSums(wide, someGroups(4, 3, 1), undefined), 2);
    const x = denseRows("u8", 60, 30, "noise", 3);
    const curve = Float64Array.from({ length: 30 }, (_, i) => 0.5 + i * i);
    const drawn = rankSums(x, someGroups(40, 60, 4), curve);
    await expectAnswers(backend, x, drawn, 2);
    await expectAnswers(
      backend,
      x,
      withNorms(drawn, (f) => 1 + (f % 7)),
      3,
    );
    await expectAnswers(backend, x, { ...drawn, weights: drawn.weights.map((weight) => -weight) } as FilterBank, 3);
  });

  it("values that are hard on float32: large, small, cancelling, all but equal", async () => {
    const draw = draws(5);
    const cases: ((i: number) => number)[] = [
      () => 1e30 * draw(),
      () => 3e38,
      () => 1e-40 * draw(),
      (i) => (i % 2 === 0 ? 1e8 : -1e8) + draw(),
      () => 1 + 1e-7 * draw(),
      (i) => (i === 3 ? 1e17 : draw()),
    ];
    for (const value of cases) {
      for (const Type of [Float32Array, Float64Array]) {
        const values = new Type(30 * 24).map((_, e) => value(e % 24));
        const x: DenseRows = { form: "dense", rows: 30, features: 24, values };
        const bank = rankSums(denseRows("u8", 30, 24, "noise", 1), someGroups(40, 30, 2), undefined);
        await expectAnswers(backend, x, bank, 3);
      }
    }
  });

  it("rounds on the device as float64 does: far exponents, halves, carries, cancelling, numbers below 2^-126", async () => {
    const draw = draws(11);
    const pick = (values: readonly number[]): number => values[Math.floor(draw() * values.length)];
    const cases: (() => number)[] = [
      () => (draw() - 0.5) * 2 ** (Math.floor(draw() * 190) - 135),
      () => pick([1, 2 ** -53, 2 ** -52, 3 * 2 ** -54, -1, 2 ** -60, -(2 ** -53)]),
      () => pick([2 ** 24 - 1, 2 ** 53, -(2 ** 53), 2 ** 52 - 2 ** 28, 1, -1]),
      () => pick([0, -0, 2 ** -149, -(2 ** -149), 2 ** -126]),
    ];
    for (const value of cases) {
      const dense = denseRows("f32", 150, 61, "zeros", 1);
      const x: DenseRows = { ...dense, values: dense.values.map(value) as Float32Array };
      // Fewer filters than a list has room for: none of it goes to the host.
      const bank = rankSums(denseRows("u8", 30, 61, "noise", 1), someGroups(9, 30, 2), undefined);
      await expectAnswers(backend, x, bank, 3);
      const indices = Uint32Array.from({ length: 150 * 20 }, (_, e) => 3 * (e % 20) + (e % 2));
      const offsets = Uint32Array.from({ length: 151 }, (_, r) => 20 * r);
      const values = x.values.subarray(0, 150 * 20) as Float32Array;
      await expectAnswers(backend, { form: "csr", rows: 150, features: 61, offsets, indices, values }, bank, 3);
    }
  });

  it("sparse rows: every type, empty rows, sparse and dense filters, other norms", async () => {
    for (const [j, type] of (["u8", ...TYPES] as const).entries()) {
      for (const flavour of ["small", "large", "signed", "fractions"] as const) {
        const x = csrRows(40 + 50 * j, 30 + 9 * j, 0.2, type, flavour, j);
        const bank = trainedBank(x, 20 + 30 * j, j);
        const on = j % 2 === 0 ? backend : cramped;
        await expectAnswers(on, x, j % 3 === 1 ? denseBank(bank) : bank, 1 + j);
      }
    }
    const x = csrRows(50, 40, 0.3, "f32", "signed", 9);
    await expectAnswers(
      backend,
      x,
      withNorms(trainedBank(x, 30, 2), (f) => 2 + f),
      4,
    );
  });

  it.each(TYPES)("%s: a round of everything is the reference's, from memory, files and lists", async (type) => {
    const reference = openReference();
    const dense = denseRows(type, 140, 21, "noise", 2);
    const sparse = csrRows(140, 40, 0.2, type, "small", 3);
    const list = Uint32Array.from({ length: 60 }, (_, j) => 2 * j + 1);
    for (const x of [dense, sparse]) {
      const expected = await round(reference, sourceOf(x), 12);
      expect(await round(backend, sourceOf(x), 12)).toEqual(expected);
      expect(await round(cramped, unread(x), 12)).toEqual(expected);
      const listed = listedRows(sourceOf(x), list);
      expect(await round(backend, listed, 12)).toEqual(await round(reference, listed, 12));
    }
  });

  it("gives all memory of the device back", async () => {
    const used: number[] = [];
    for (let j = 0; j < 3; j++) {
      await round(backend, sourceOf(denseRows("f32", 60, 20, "noise", 1)), 12);
      await round(backend, sourceOf(csrRows(60, 30, 0.2, "f32", "small", 1)), 12);
      used.push(backend.device.usedBytes);
    }
    expect(used[2]).toBe(used[1]);
  });
});
