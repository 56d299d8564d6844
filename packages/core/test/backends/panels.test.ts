/** Searches by packed panels answer as the plain loops do, on shapes either side of every threshold and where rounding is in doubt. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Backend } from "../../src/backends/contract.ts";
import { openThreads } from "../../src/backends/threads/backend.ts";
import { backendOn, openWasm } from "../../src/backends/wasm/backend.ts";
import { type Engine, openEngine } from "../../src/backends/wasm/engine/engine.ts";
import { rankSums } from "../../src/kernels/rank-sums.ts";
import type { DenseBank, DenseRows, FilterBank } from "../../src/kernels/shapes.ts";
import { topFilters } from "../../src/kernels/top.ts";
import { draws, expectSame } from "./csr-data.ts";
import { hold } from "./handles.ts";

let backends: Backend[];

beforeAll(async () => {
  backends = [await openWasm(), await openThreads(2)];
});

afterAll(async () => {
  for (const backend of backends) await backend.close();
});

type Kind = "u8" | "u16" | "i16" | "f32" | "f64";
const TYPES = { u8: Uint8Array, u16: Uint16Array, i16: Int16Array, f32: Float32Array, f64: Float64Array };

/** Numbers spread over the whole of their type, without structure that bounds could use. */
function rowsOf(kind: Kind, rows: number, features: number, seed: number, size = 1): DenseRows {
  const draw = draws(seed);
  const values = new TYPES[kind](rows * features);
  const number = { u8: 256, u16: 65_536, i16: 65_535, f32: 2, f64: 2 }[kind];
  const low = { u8: 0, u16: 0, i16: -32_767, f32: -1, f64: -1 }[kind];
  for (let e = 0; e < values.length; e++) values[e] = (low + draw() * number) * size;
  return { form: "dense", rows, features, values };
}

/** Filters that are the ranks of rows, or values drawn from a distribution by them. */
function bankOf(filters: number, features: number, seed: number, drawn = false): FilterBank {
  const x = rowsOf("f32", filters, features, seed);
  const groups = {
    offsets: Uint32Array.from({ length: filters + 1 }, (_, f) => f),
    rows: Uint32Array.from({ length: filters }, (_, f) => f),
  };
  return rankSums(
    x,
    groups,
    drawn ? Float64Array.from({ length: features }, (_, i) => Math.sqrt(i) / 3 - 1) : undefined,
  );
}

/** Asks often enough that panels pay, and compares with the plain loops, responses to the last bit. */
async function expectTop(x: DenseRows, bank: FilterBank, k: number): Promise<number> {
  const expected = topFilters(x, bank, k);
  let share = 1;
  for (const backend of backends) {
    const held = await hold(backend, x);
    const loaded = held.load(bank);
    for (let times = 0; times < 17; times += x.rows) await held.topFilters(loaded, k);
    const before = held.work();
    const { filter, response } = await held.topFilters(loaded, k);
    const after = held.work();
    expectSame(filter, expected.filter);
    expectSame(response, expected.response);
    const leaders = await held.leaders(loaded);
    expectSame(leaders.filter, topFilters(x, bank, 1).filter);
    share = (after.exact - before.exact) / (after.pairs - before.pairs);
    loaded.release();
    held.release();
  }
  return share;
}

describe.each(Object.keys(TYPES) as Kind[])("%s", (kind) => {
  it("any number of rows, features and filters, and any k", async () => {
    for (const [rows, features, filters, k] of [
      [1, 2, 16, 1],
      [1, 9, 17, 3],
      [2, 8, 15, 15],
      [3, 15, 16, 16],
      [5, 16, 31, 4],
      [15, 17, 32, 32],
      [16, 31, 33, 33],
      [17, 33, 64, 1],
      [33, 64, 130, 64],
      [20, 7, 130, 65],
      [40, 191, 80, 2],
      [300, 40, 700, 5],
    ] as const) {
      for (const drawn of [false, true]) {
        const bank = bankOf(filters, features, rows + features, drawn);
        await expectTop(rowsOf(kind, rows, features, filters + k), bank, k);
      }
    }
  });
});

it("computes about one response a row where numbers are not whole", async () => {
  expect(await expectTop(rowsOf("f32", 60, 150, 3), bankOf(900, 150, 4), 1)).toBeLessThan(2 / 900);
});

it("whole numbers too large for 32 bits, by scores that are rounded", async () => {
  const features = 4200;
  const x = rowsOf("u8", 20, features, 5);
  x.values.fill(255, 0, 2 * features);
  expect(await expectTop(x, bankOf(40, features, 6), 3)).toBeLessThan(0.6);
});

describe("where scores leave doubt", () => {
  const features = 60;
  const alike = (step: number): DenseBank => {
    const one = bankOf(1, features, 7, true) as DenseBank;
    const weights = new Float64Array(40 * features);
    for (let f = 0; f < 40; f++) {
      weights.set(one.weights, f * features);
      weights[f * features + (f % features)] += step * (f % 7);
    }
    return { form: "dense", filters: 40, features, weights, norm: new Float64Array(40).fill(one.norm[0]) };
  };

  it.each([0, 2 ** -52, 1e-12, 1e-6, 1e-3])("filters that differ by %f", async (step) => {
    await expectTop(rowsOf("f64", 30, features, 8), alike(step), 4);
  });

  it.each([0, 1e-190, 1e-150, 1e-100, 1e100, 1e150, 1e190])("rows of size %f", async (size) => {
    await expectTop(rowsOf("f64", 20, features, 9, size), bankOf(50, features, 10), 3);
  });

  it("equal filters: the lower number first", async () => {
    const bank = bankOf(1, features, 11) as DenseBank;
    const weights = new Uint16Array(24 * features);
    for (let f = 0; f < 24; f++) weights.set(bank.weights, f * features);
    const norm = new Float64Array(24).fill(bank.norm[0]);
    const same: FilterBank = { form: "dense", filters: 24, features, weights, norm };
    for (const kind of ["u8", "f32"] as const) await expectTop(rowsOf(kind, 20, features, 12), same, 5);
  });

  it("scores that are as far off as they can be", async () => {
    // The first filter makes the scale of weights 1 and their centre 0. All weights of the second are rounded down by 0.49, of
    // the third up by as much, of which most have one more: its score is higher, its product lower.
    const features = 100; // of which the root is whole: rows and the first filter are not rounded
    const weights = new Float64Array(16 * features);
    const longest = 30_000 / Math.sqrt(features);
    for (let i = 0; i < features; i++) {
      weights[i] = i % 2 === 0 ? longest : -longest;
      weights[features + i] = 100.49;
      weights[2 * features + i] = (i < 0.9 * features ? 1 : 0) + 99.51;
    }
    const norm = new Float64Array(16).fill(7);
    const values = new Float32Array(20 * features).fill(1);
    const x: DenseRows = { form: "dense", rows: 20, features, values };
    const bank: FilterBank = { form: "dense", filters: 16, features, weights, norm };
    expect(topFilters(x, bank, 1).filter[0]).toBe(1);
    await expectTop(x, bank, 1);
  });

  it("a few large numbers among small ones", async () => {
    const x = rowsOf("f32", 20, features, 13, 1e-3);
    for (let r = 0; r < 20; r++) x.values[r * features + ((r * 7) % features)] = 3e4;
    await expectTop(x, bankOf(64, features, 14), 2);
    await expectTop(x, bankOf(64, features, 15, true), 2);
  });
});

it("goes without panels, or with less at a time, where memory is short", async () => {
  const x = rowsOf("f32", 200, 64, 16);
  const bank = bankOf(300, 64, 17);
  const expected = topFilters(x, bank, 2);
  for (let pages = 4; pages < 24; pages++) {
    const engine: Engine = await openEngine(pages * 65_536);
    const held = await hold(backendOn(engine, "wasm"), x);
    const loaded = held.load(bank);
    expectSame((await held.topFilters(loaded, 2)).filter, expected.filter);
    loaded.release();
    held.release();
    expect(engine.memory.used).toBe(0);
  }
});
