/** Sparse rows that are rather full meet filters that are written out as dense rows: the same answers on either side of what decides. */

import { afterAll, beforeAll, expect, it } from "vitest";
import type { Backend } from "../../src/backends/contract.ts";
import { openThreads } from "../../src/backends/threads/backend.ts";
import { backendOn, openWasm } from "../../src/backends/wasm/backend.ts";
import { openEngine } from "../../src/backends/wasm/engine/engine.ts";
import { rankSums } from "../../src/kernels/rank-sums.ts";
import type { CsrRows, FilterBank } from "../../src/kernels/shapes.ts";
import { topFilters, topRows } from "../../src/kernels/top.ts";
import { csrRows, draws, expectSame } from "./csr-data.ts";
import { denseRows } from "./dense-data.ts";
import { expectAssigned, hold, meanResponses } from "./handles.ts";

let backends: Backend[];

beforeAll(async () => {
  backends = [await openWasm(), await openThreads(2), await openWasm({ cut: { blockBytes: 900, parts: 2 } })];
});

afterAll(async () => {
  for (const backend of backends) await backend.close();
});

function bankOf(filters: number, features: number, drawn: boolean): FilterBank {
  const groups = {
    offsets: Uint32Array.from({ length: filters + 1 }, (_, f) => f),
    rows: Uint32Array.from({ length: filters }, (_, f) => f),
  };
  const distribution = drawn ? Float64Array.from({ length: features }, (_, i) => Math.sqrt(i) / 3) : undefined;
  return rankSums(denseRows("f32", filters, features, "noise", filters), groups, distribution);
}

/** Rows of which the first `entries` values in all are stored, about as many a row. */
function filled(rows: number, features: number, entries: number): CsrRows {
  const draw = draws(entries);
  const x = csrRows(rows, features, 1, "f32", "fractions", 5);
  const offsets = Uint32Array.from({ length: rows + 1 }, (_, r) => Math.round((entries * r) / rows));
  const indices = new Uint32Array(entries);
  const values = new Float32Array(entries);
  for (let r = 0; r < rows; r++) {
    for (let e = offsets[r]; e < offsets[r + 1]; e++) {
      indices[e] = e - offsets[r];
      values[e] = Math.fround(draw() - 0.5);
    }
  }
  return { ...x, offsets, indices, values };
}

async function expectAnswers(x: CsrRows, bank: FilterBank, k: number): Promise<void> {
  const expected = topFilters(x, bank, k);
  const some = Uint32Array.from({ length: Math.ceil(x.rows / 2) }, (_, j) => 2 * j);
  const filters = Uint32Array.of(0, bank.filters - 1);
  for (const backend of backends) {
    const held = await hold(backend, x);
    const loaded = held.load(bank);
    const found = await held.topFilters(loaded, k);
    expectSame(found.filter, expected.filter);
    expectSame(found.response, expected.response);
    const listed = await held.topFilters(loaded, k, some);
    expectSame(listed.filter.subarray(0, k), expected.filter.subarray(0, k));
    const best = Math.min(2, x.rows);
    const rows = await held.topRows(loaded, filters, best);
    const expectedRows = topRows(x, bank, filters, best, meanResponses(x, bank));
    expectSame(rows.row, expectedRows.row);
    expectSame(rows.value, expectedRows.value);
    const first = await expectAssigned(held, x, loaded);
    const next = await loaded.replace(Uint32Array.of(1), held.load(bankOf(1, x.features, false)));
    await expectAssigned(held, x, next, first);
    for (const each of [next, loaded, held]) each.release();
  }
}

it.each([
  ["u8", "small"],
  ["u16", "large"],
  ["i16", "signed"],
  ["f32", "fractions"],
  ["f64", "fractions"],
] as const)("%s, %s: any share of values, any number of rows and filters", async (type, numbers) => {
  for (const share of [0.05, 0.14, 0.16, 0.5, 1]) {
    for (const [rows, features, filters] of [
      [1, 9, 15],
      [3, 40, 16],
      [20, 33, 17],
      [60, 100, 40],
    ] as const) {
      const x = csrRows(rows, features, share, type, numbers, rows + features);
      for (const drawn of [false, true]) await expectAnswers(x, bankOf(filters, features, drawn), Math.min(3, filters));
    }
  }
});

it("decides by the share of values that are stored, and by the number of filters", async () => {
  const exactShare = async (entries: number, filters: number): Promise<number> => {
    const held = await hold(backends[0], filled(40, 100, entries));
    const loaded = held.load(bankOf(filters, 100, false));
    await held.topFilters(loaded, 1);
    const { exact, pairs } = held.work();
    loaded.release();
    held.release();
    return exact / pairs;
  };
  // Written out, all products are computed; for dense rows the few that scores leave in doubt.
  expect(await exactShare(599, 200)).toBe(1);
  expect(await exactShare(600, 200)).toBeLessThan(0.1);
  expect(await exactShare(600, 15)).toBe(1);
});

it("gives back what the dense rows took, and does without where there is no room", async () => {
  const x = csrRows(200, 120, 0.3, "f32", "fractions", 7);
  const bank = bankOf(50, 120, false);
  const expected = topFilters(x, bank, 2);
  for (let pages = 4; pages < 16; pages++) {
    const engine = await openEngine(pages * 65_536);
    const held = await hold(backendOn(engine, "wasm"), x);
    const loaded = held.load(bank);
    expectSame((await held.topFilters(loaded, 2)).response, expected.response);
    held.release();
    loaded.release();
    expect(engine.memory.used).toBe(0);
  }
});
