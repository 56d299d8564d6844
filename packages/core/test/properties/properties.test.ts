/** Invariants of the method, on random data and every back end. */

import {
  type Backend,
  Dense,
  expandFilter,
  type FilterBank,
  RankSimilarityTransform,
  toCsr,
  toDense,
} from "@ranksim/core";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rankSumsOn, topFiltersOn } from "../backends/handles.ts";
import { platforms } from "../platforms.ts";

const cell = fc.oneof(
  fc.integer({ min: 0, max: 9 }),
  fc.integer({ min: -300, max: 300 }),
  fc.constantFrom(0, 0.5, -2.25),
);

const data = fc
  .record({ rows: fc.integer({ min: 2, max: 14 }), features: fc.integer({ min: 2, max: 19 }) })
  .chain(({ rows, features }) =>
    fc.array(fc.array(cell, { minLength: features, maxLength: features }), { minLength: rows, maxLength: rows }),
  );

const weightsOf = (bank: FilterBank): number[][] =>
  Array.from({ length: bank.filters }, (_, f) => {
    const w = new Float64Array(bank.features);
    expandFilter(bank, f, w);
    return [...w];
  });

describe.each(platforms)("properties on $title", ({ open }) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await open();
  });
  afterAll(() => backend.close());

  const bankOf = async (rows: number[][], picked: number[]): Promise<FilterBank> => {
    const held = await backend.hold(Dense.fromRows(rows));
    const offsets = Uint32Array.from({ length: picked.length + 1 }, (_, j) => j);
    const bank = await rankSumsOn(held, { offsets, rows: Uint32Array.from(picked) });
    held.release();
    return bank;
  };
  const everyOther = (rows: number[][]) => rows.map((_, r) => r).filter((r) => r % 2 === 0);
  const search = async (rows: number[][], bank: FilterBank, k: number) => {
    const held = await backend.hold(Dense.fromRows(rows));
    const top = await topFiltersOn(held, bank, k);
    held.release();
    return top;
  };

  it("doubled ranks sum to n(n+1) and keep the order of the values", async () => {
    await fc.assert(
      fc.asyncProperty(data, async (rows) => {
        const n = rows[0].length;
        const bank = await bankOf(rows, [...rows.keys()]);
        weightsOf(bank).forEach((weights, r) => {
          expect(weights.reduce((a, b) => a + b)).toBe(n * (n + 1));
          for (let i = 0; i < n; i++) {
            const lower = rows[r].filter((v) => v < rows[r][i]).length;
            const equal = rows[r].filter((v) => v === rows[r][i]).length;
            expect(weights[i]).toBe(2 * lower + equal + 1); // twice the mean of lower+1 .. lower+equal
          }
        });
      }),
    );
  });

  it("scaling a row by a positive number changes no winner", async () => {
    await fc.assert(
      fc.asyncProperty(data, fc.constantFrom(0.25, 2, 16), async (rows, factor) => {
        const bank = await bankOf(rows, everyOther(rows));
        const scaled = rows.map((row) => row.map((v) => v * factor));
        const before = await search(rows, bank, bank.filters);
        const after = await search(scaled, bank, bank.filters);
        expect([...after.filter]).toEqual([...before.filter]);
      }),
    );
  });

  it("permuting features permutes filters, for any order of the features", async () => {
    await fc.assert(
      fc.asyncProperty(data, fc.integer({ min: 1, max: 1000 }), async (rows, salt) => {
        // Whole numbers: their sums do not depend on the order of the features.
        const whole = rows.map((row) => row.map((v) => Math.trunc(v)));
        const order = [...whole[0].keys()].sort((a, b) => ((a * 7919 + salt) % 31) - ((b * 7919 + salt) % 31) || a - b);
        const shuffled = whole.map((row) => order.map((i) => row[i]));
        const params = { filters: Math.ceil(rows.length / 2), seed: 4 };
        const plain = weightsOf((await new RankSimilarityTransform(params).fit(whole, undefined, { backend })).bank);
        const moved = weightsOf((await new RankSimilarityTransform(params).fit(shuffled, undefined, { backend })).bank);
        expect(moved).toEqual(plain.map((weights) => order.map((i) => weights[i])));
      }),
    );
  });

  it("similarity lies within 0..1 with a maximum of 1 wherever a row responds", async () => {
    await fc.assert(
      fc.asyncProperty(data, fc.integer({ min: 1, max: 9 }), async (rows, nBest) => {
        const model = await new RankSimilarityTransform({ nBest, seed: 2 }).fit(rows, undefined, { backend });
        const similar = toDense(await model.transform(rows, { backend }));
        const top = await search(rows, model.bank, model.bank.filters);
        for (let r = 0; r < rows.length; r++) {
          const values = [...similar.row(r)];
          const silent = top.response.subarray(r * top.k, (r + 1) * top.k).every((response) => response === 0);
          expect(Math.max(...values)).toBe(silent ? 0 : 1);
          expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
          const kept = values.filter((v) => v > 0 && v < 1).length;
          expect(kept).toBeLessThan(nBest);
        }
      }),
    );
  });

  it("growing the bank never lowers the best response", async () => {
    await fc.assert(
      fc.asyncProperty(data, async (rows) => {
        let best: number[] | undefined;
        for (let filters = 1; filters <= rows.length; filters++) {
          const { response } = await search(rows, await bankOf(rows, [...rows.keys()].slice(0, filters)), 1);
          for (let r = 0; best && r < rows.length; r++) expect(response[r]).toBeGreaterThanOrEqual(best[r]);
          best = [...response];
        }
      }),
      { numRuns: 30 },
    );
  });

  it("dense and sparse rows have the same winners, bit for bit", async () => {
    await fc.assert(
      fc.asyncProperty(data, async (rows) => {
        const fractions = Dense.fromRows(rows.map((row) => row.map((v) => v / 3)));
        const bank = await bankOf(rows, everyOther(rows));
        const dense = await backend.hold(fractions);
        const sparse = await backend.hold(toCsr(fractions));
        const expected = await topFiltersOn(dense, bank, bank.filters);
        const found = await topFiltersOn(sparse, bank, bank.filters);
        expect(found.filter).toEqual(expected.filter);
        expect(found.response).toEqual(expected.response);
        dense.release();
        sparse.release();
      }),
    );
  });
});
