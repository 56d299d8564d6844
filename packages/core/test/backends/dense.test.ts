/** Dense rows on the WebAssembly back end: every answer is the reference's, bit for bit, whatever the bounds are worth. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Backend, HeldRows } from "../../src/backends/contract.ts";
import { backendOn, openWasm } from "../../src/backends/wasm/backend.ts";
import { openEngine } from "../../src/backends/wasm/engine/engine.ts";
import { pickFilters } from "../../src/kernels/pick-filters.ts";
import { rankSums } from "../../src/kernels/rank-sums.ts";
import type { DenseRows, FilterBank, Groups, TopFilters } from "../../src/kernels/shapes.ts";
import { topFilters, topRows } from "../../src/kernels/top.ts";
import { cases, isFull } from "../tier.ts";
import { draws, expectSame, type ValueType, withNorms } from "./csr-data.ts";
import { denseRows, type Look, someGroups } from "./dense-data.ts";
import { expectAssigned, hold, leadersOn, meanResponses, rankSumsOn, topFiltersOn } from "./handles.ts";

const TYPES: readonly ValueType[] = ["u8", "u16", "i16", "f32", "f64"];
const AWKWARD = [2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64];

let backend: Backend;
/** Everything goes in small blocks: rows, filters, answers. */
let cramped: Backend;

beforeAll(async () => {
  backend = await openWasm();
  cramped = await openWasm({ cut: { blockBytes: 3000, parts: 3 }, answerBytes: 100 });
});

afterAll(async () => {
  await backend.close();
  await cramped.close();
});

async function expectTopFilters(on: Backend, x: DenseRows, bank: FilterBank, k: number): Promise<number> {
  const held = await hold(on, x);
  const { filter, response } = await topFiltersOn(held, bank, k);
  const { pairs, exact } = held.work();
  const expected = topFilters(x, bank, k);
  expectSame(filter, expected.filter);
  expectSame(response, expected.response);
  if (k >= Math.min(2, bank.filters)) await expectLeaders(held, bank, expected);
  await expectSomeRows(held, bank, expected);
  held.release();
  return exact / pairs;
}

/** The strongest filters of two rows out of three, and of none. */
async function expectSomeRows(
  held: HeldRows,
  bank: FilterBank,
  { rows, k, filter, response }: TopFilters,
): Promise<void> {
  const some = Uint32Array.from({ length: rows }, (_, r) => r).filter((r) => r % 3 !== 1);
  const found = await topFiltersOn(held, bank, k, some);
  const isListed = (_: number, e: number): boolean => Math.floor(e / k) % 3 !== 1;
  expect(found.rows).toBe(some.length);
  expectSame(found.filter, filter.filter(isListed));
  expectSame(found.response, response.filter(isListed));
  expect((await topFiltersOn(held, bank, k, new Uint32Array(0))).filter).toHaveLength(0);
}

/** What `leaders` says against the strongest filters, of which there are two or more a row (or one filter in all). */
async function expectLeaders(
  held: HeldRows,
  bank: FilterBank,
  { rows, k, filter, response }: TopFilters,
): Promise<void> {
  const found = await leadersOn(held, bank);
  const first = (_: number, j: number): boolean => j % k === 0;
  expectSame(found.filter, filter.filter(first));
  expectSame(found.response, response.filter(first));
  const isShared = (r: number): boolean => k > 1 && response[r * k + 1] === response[r * k];
  expect([...found.tied]).toEqual(Array.from({ length: rows }, (_, r) => (isShared(r) ? 1 : 0)));
}

async function expectTopRows(on: Backend, x: DenseRows, bank: FilterBank, k: number, warm: boolean): Promise<void> {
  const draw = draws(k + x.rows);
  const filters = Uint32Array.from({ length: Math.min(6, bank.filters) }, () => Math.floor(draw() * bank.filters));
  const held = await hold(on, x);
  const loaded = held.load(bank);
  if (warm) await held.topFilters(loaded, 1); // makes bounds, which the search for rows then uses
  const { row, value } = await held.topRows(loaded, filters, k);
  loaded.release();
  held.release();
  const expected = topRows(x, bank, filters, k, meanResponses(x, bank));
  expectSame(row, expected.row);
  expectSame(value, expected.value);
}

async function expectRankSums(on: Backend, x: DenseRows, groups: Groups, distribution?: Float64Array): Promise<void> {
  const held = await hold(on, x);
  const found = await rankSumsOn(held, groups, distribution);
  held.release();
  const expected = rankSums(x, groups, distribution);
  expect(found.weights.constructor).toBe(expected.weights.constructor);
  expectSame(found.weights, expected.weights);
  expectSame(found.norm, expected.norm);
}

function curve(features: number): Float64Array {
  return Float64Array.from({ length: features }, (_, i) => 0.5 + 0.37 * i * i);
}

describe.each(TYPES)("%s, awkward sizes", (type) => {
  it("finds the strongest filters and rows", async () => {
    for (const features of AWKWARD) {
      for (const [rows, filters, k] of [
        [1, 1, 1],
        [5, 3, 2],
        [17, 9, 9],
        [40, 33, 5],
      ]) {
        const x = denseRows(type, rows, features, k === 9 ? "few" : "noise", features * rows);
        const groups = someGroups(filters, rows, features);
        for (const distribution of [undefined, curve(features)]) {
          const bank = rankSums(x, groups, distribution);
          for (const on of [backend, cramped]) {
            await expectTopFilters(on, x, bank, k);
            await expectTopRows(on, x, bank, Math.min(k, rows), false);
          }
        }
      }
    }
  });

  it("ranks sums: ties, empty groups, weights, distributions", async () => {
    for (const features of AWKWARD) {
      for (const look of ["noise", "few", "zeros"] as const) {
        const x = denseRows(type, 40, features, look, features);
        for (const weighted of [false, true]) {
          const groups = someGroups(20, 40, features, true, weighted);
          for (const on of [backend, cramped]) {
            await expectRankSums(on, x, groups);
            await expectRankSums(on, x, groups, curve(features));
          }
        }
      }
    }
  });
});

/** Enough rows and filters that bounds are tried. */
const ROWS = 1400;
const FEATURES = 261;
const FILTERS = 320;

/** Every search by bounds is one of whole numbers or one of floats; the short tier has one of each. */
const SEARCHED = isFull ? TYPES : TYPES.filter((type) => type === "u8" || type === "f32");

describe.each(SEARCHED)("%s, searched by bounds", (type) => {
  const looks: readonly Look[] =
    type === "u8" || type === "f64" ? ["noise", "factors", "same", "near", "few", "zeros"] : ["factors", "near"];

  it.each(looks)("%s: same answers", async (look) => {
    const x = denseRows(type, ROWS, FEATURES, look, 11);
    const distribution = look === "near" || look === "zeros" ? curve(FEATURES) : undefined;
    const bank = rankSums(x, someGroups(FILTERS, ROWS, 12), distribution);
    const expected = topFilters(x, bank, 25);
    const held = await hold(backend, x);
    for (const k of [1, 2, 25]) {
      const { filter, response } = await topFiltersOn(held, bank, k);
      const first = (_: number, j: number): boolean => j % 25 < k;
      expectSame(filter, expected.filter.filter(first));
      expectSame(response, expected.response.filter(first));
      if (look === "factors" && k === 1) expect(held.work().exact / held.work().pairs).toBeLessThan(0.1);
    }
    await expectLeaders(held, bank, expected);
    held.release();
    await expectTopRows(backend, x, bank, 5, true);
  });

  it("filters of different norms", async () => {
    const x = denseRows(type, ROWS, FEATURES, "factors", 21);
    const trained = rankSums(x, someGroups(FILTERS, ROWS, 22), curve(FEATURES));
    const bank = withNorms(trained, (f) => trained.norm[f] * (0.8 + (f % 5) / 10));
    await expectTopFilters(backend, x, bank, 3);
  });

  it("winners of an earlier bank save work and change nothing", async () => {
    const x = denseRows(type, ROWS, FEATURES, "factors", 31);
    const held = await hold(backend, x);
    let bank = held.load(rankSums(x, someGroups(FILTERS, ROWS, 32), undefined));
    let before = await expectAssigned(held, x, bank);
    const first = before;
    for (let round = 0; round < cases(1, 3); round++) {
      const fresh = rankSums(x, someGroups(FILTERS, ROWS, 33 + round), undefined);
      const at = Uint32Array.from({ length: FILTERS }, (_, f) => f).filter((f) => f % 3 === round);
      const by = held.load(pickFilters(fresh, at));
      const next = await bank.replace(at, by);
      by.release();
      bank.release();
      bank = next;
      before = await expectAssigned(held, x, bank, before);
    }
    // The first bank is generations back; one that has nothing to do with it is as good a place to begin.
    await expectAssigned(held, x, bank, first);
    const other = held.load(rankSums(x, someGroups(FILTERS, ROWS, 40), undefined));
    await expectAssigned(held, x, other, before);
    other.release();
    bank.release();
    held.release();
  });
});

describe("dense rows", () => {
  it("every k up to the number of filters", async () => {
    const x = denseRows("u8", 30, 20, "few", 5);
    const bank = rankSums(x, someGroups(70, 30, 6), undefined);
    for (let k = 1; k <= 70; k++) await expectTopFilters(backend, x, bank, k);
  });

  it("values at the ends of their type, where narrow sums would overflow", async () => {
    for (const type of ["u8", "u16", "i16"] as const) {
      const x = denseRows(type, 300, 260, "noise", 41);
      const [low, high] = type === "u8" ? [0, 255] : type === "u16" ? [0, 65_535] : [-32_768, 32_767];
      for (let j = 0; j < x.values.length; j++) x.values[j] = j % 3 === 0 ? low : high;
      const bank = rankSums(x, someGroups(150, 300, 42), undefined);
      await expectTopFilters(backend, x, bank, 1);
      await expectTopFilters(backend, x, bank, 3);
    }
  });

  it("one row, and no rows", async () => {
    const x = denseRows("u8", 1, 300, "noise", 51);
    const bank = rankSums(x, someGroups(100, 1, 52), undefined);
    await expectTopFilters(backend, x, bank, 1);
    await expectTopFilters(backend, { ...x, rows: 0, values: new Uint8Array(0) }, bank, 2);
  });

  it("gives all memory back", async () => {
    const x = denseRows("u8", ROWS, FEATURES, "factors", 61);
    const engine = await openEngine();
    const used: number[] = [];
    for (let round = 0; round < 3; round++) {
      const own = backendOn(engine, "wasm");
      const held = await hold(own, x);
      const bank = await held.rank(someGroups(FILTERS, ROWS, 62));
      await held.topFilters(bank, 1);
      await held.topRows(bank, Uint32Array.of(3, 5), 4);
      bank.release();
      bank.release();
      held.release();
      held.release();
      await own.close();
      await own.close();
      used.push(engine.memory.used);
    }
    // The first round leaves the scratch of the kernels, the others nothing more.
    expect(used[2]).toBe(used[0]);
    expect(used[0]).toBeLessThan(2 ** 22);
  });
});
