/** What is released is given back at once, even within one turn of the event loop, which a whole training may be. */

import { memoryUsage } from "node:process";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { backendOn } from "../../src/backends/wasm/backend.ts";
import { openEngine } from "../../src/backends/wasm/engine/engine.ts";
import { rankSums } from "../../src/kernels/rank-sums.ts";
import type { Rows } from "../../src/kernels/shapes.ts";
import { topFilters } from "../../src/kernels/top.ts";
import { csrRows, expectSame } from "./csr-data.ts";
import { denseRows } from "./dense-data.ts";
import { hold } from "./handles.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const FILTERS = 200;
const BANKS = 60;

const groups = {
  offsets: Uint32Array.from({ length: FILTERS + 1 }, (_, f) => f),
  rows: Uint32Array.from({ length: FILTERS }, (_, f) => f % 8),
};

describe.each<[string, Rows]>([
  ["dense", denseRows("u8", 8, 2000, "noise", 1)],
  ["sparse", csrRows(8, 20_000, 0.1, "u8", "small", 1)],
])("with %s rows", (_, x) => {
  const bank = rankSums(x, groups, undefined);

  it("a released bank leaves nothing in either memory", async () => {
    const engine = await openEngine();
    const held = await hold(backendOn(engine, "wasm"), x);
    let before = 0;
    const used: number[] = [];
    for (let j = 0; j < BANKS; j++) {
      const loaded = held.load({ ...bank, weights: bank.weights.slice() });
      await held.topFilters(loaded, 1);
      loaded.release();
      used.push(engine.memory.used);
      collect();
      if (j === 4) before = memoryUsage().arrayBuffers;
    }
    expect(memoryUsage().arrayBuffers - before).toBeLessThan(10 * bank.weights.byteLength);
    // What is left are the rows, and what is known of them after the first search.
    expect(new Set(used.slice(1)).size).toBe(1);
    held.release();
    expect(engine.memory.used).toBe(0);
  });

  it("banks that are never released stay within bounds, and are made ready again", async () => {
    const engine = await openEngine();
    const held = await hold(backendOn(engine, "wasm"), x);
    const loaded = Array.from({ length: BANKS }, () => held.load(bank));
    const expected = topFilters(x, bank, 1);
    const bytes = bank.weights.byteLength;
    for (const each of [...loaded, loaded[0]]) {
      expectSame((await held.topFilters(each, 1)).filter, expected.filter);
      // Half a mebibyte and more for each bank; idle ones have 256 MiB together.
      expect(engine.memory.used).toBeLessThan(2 ** 28 + 20 * bytes + 2 ** 24);
    }
    held.release();
    for (const each of loaded) each.release();
    expect(engine.memory.used).toBe(0);
  });

  it("rows and banks can be released while they are searched, and not used afterwards", async () => {
    const engine = await openEngine();
    const held = await hold(backendOn(engine, "wasm"), x);
    const loaded = held.load(bank);
    const searches = Promise.all([
      held.topFilters(loaded, 2),
      held.leaders(loaded),
      held.topRows(loaded, Uint32Array.of(3), 2),
    ]);
    held.release();
    loaded.release();
    expectSame((await searches)[0].filter, topFilters(x, bank, 2).filter);
    expect(engine.memory.used).toBe(0);
    await expect(held.topFilters(loaded, 1)).rejects.toThrow(/released/);
    const other = await hold(held.backend, x);
    await expect(other.topFilters(loaded, 1)).rejects.toThrow(/released/);
    other.release();
    expect(engine.memory.used).toBe(0);
  });
});

it("a bank made from another shares no weights that are written to later", async () => {
  const x = denseRows("u8", 12, 40, "noise", 2);
  const one = (first: number) => ({
    offsets: Uint32Array.of(0, 1, 2, 3),
    rows: Uint32Array.of(first, first + 1, first + 2),
  });
  const given = rankSums(x, one(0), undefined);
  const copy = given.weights.slice();
  const held = await hold(backendOn(await openEngine(), "wasm"), x);
  const mine = held.load(given);
  const start = await held.rank(one(3));
  const whole = await start.replace(Uint32Array.of(0, 1, 2), mine);
  whole.release();
  const other = await held.rank(one(6));
  const single = held.load(rankSums(x, { offsets: Uint32Array.of(0, 1), rows: Uint32Array.of(9) }, undefined));
  const next = await other.replace(Uint32Array.of(1), single);
  expectSame(given.weights, copy);
  expectSame((await mine.read()).weights, copy);
  for (const handle of [mine, start, other, single, next, held]) handle.release();
});
