/** Divisions of rows: every row in its place, shares kept, the same for the same seed. */

import { Csr, Dense, type Label } from "@ranksim/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Fold,
  folds,
  gatherRows,
  groupFolds,
  stratifiedFolds,
  timeFolds,
  trainTestRows,
  trainTestSplit,
} from "../../src/select/split.ts";

const sorted = (lists: readonly Uint32Array[]) => lists.flatMap((list) => [...list]).sort((a, b) => a - b);
const upTo = (rows: number) => Array.from({ length: rows }, (_, r) => r);
const labels = fc.array(fc.constantFrom<Label>("a", "b", 3), { minLength: 2, maxLength: 60 });
const seeds = fc.nat(1000);

function expectPartition(rows: number, found: readonly Fold[]): void {
  expect(sorted(found.map(({ test }) => test))).toEqual(upTo(rows));
  for (const { train, test } of found) {
    expect(sorted([train, test])).toEqual(upTo(rows));
    expect([...test]).toEqual([...test].sort((a, b) => a - b));
  }
}

describe("folds", () => {
  test("test parts hold each row once and are even", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 60 }), fc.integer({ min: 2, max: 10 }), seeds, (rows, count, seed) => {
        fc.pre(count <= rows);
        const found = folds(rows, { folds: count, seed });
        expect(found.length).toBe(count);
        expectPartition(rows, found);
        for (const { test } of found) expect(Math.abs(test.length - rows / count)).toBeLessThan(1);
      }),
    );
  });

  test("stratified folds are folds that share out each class evenly", () => {
    fc.assert(
      fc.property(labels, fc.integer({ min: 2, max: 8 }), seeds, (y, count, seed) => {
        fc.pre(count <= y.length);
        const found = stratifiedFolds(y, { folds: count, seed });
        expectPartition(y.length, found);
        for (const { test } of found) {
          expect(Math.abs(test.length - y.length / count)).toBeLessThan(1);
          for (const label of new Set(y)) {
            const all = y.filter((name) => name === label).length;
            const here = [...test].filter((r) => y[r] === label).length;
            expect(Math.abs(here - all / count)).toBeLessThan(1);
          }
        }
      }),
    );
  });

  test("the seed decides", () => {
    const y = upTo(40).map((r) => r % 3);
    expect(stratifiedFolds(y, { seed: 4 })).toEqual(stratifiedFolds(y, { seed: 4 }));
    expect(stratifiedFolds(y, { seed: 4 })).not.toEqual(stratifiedFolds(y, { seed: 5 }));
    expect(folds(40, { seed: 4 })).not.toEqual(folds(40, { seed: 5 }));
  });

  test.each([1, 2.5, 11, Number.NaN])("refuses %s folds of 10 rows", (count) => {
    expect(() => folds(10, { folds: count })).toThrow(/folds from 2 to the number of rows \(10\)/);
    expect(() => stratifiedFolds(upTo(10), { folds: count })).toThrow(/folds from 2/);
  });
});

describe("trainTestSplit", () => {
  const x = upTo(12).map((r) => [r, 10 * r]);
  const y = upTo(12).map((r) => (r < 8 ? "many" : "few"));

  test("rows keep their labels, and every row is on one side", () => {
    const { train, test: held, rows } = trainTestSplit(x, y, { testShare: 0.25, seed: 2 });
    expect(held.x.length).toBe(3);
    expect(sorted([rows.train, rows.test])).toEqual(upTo(12));
    expect(train.x.map(([r]) => r)).toEqual([...rows.train]);
    expect(train.y).toEqual([...rows.train].map((r) => y[r]));
    expect(held.y).toEqual([...rows.test].map((r) => y[r]));
  });

  test("stratified parts keep the share of each class within a row", () => {
    fc.assert(
      fc.property(labels, fc.double({ min: 0.05, max: 0.95, noNaN: true }), seeds, (names, testShare, seed) => {
        const data = names.map((_, r) => [r]);
        const { rows } = trainTestSplit(data, names, { testShare, seed, stratify: true });
        expect(trainTestRows(names, { testShare, seed, stratify: true })).toEqual(rows);
        expect(rows.test.length).toBeGreaterThan(0);
        expect(rows.train.length).toBeGreaterThan(0);
        expect(rows.train.length + rows.test.length).toBe(names.length);
        const share = rows.test.length / names.length;
        for (const label of new Set(names)) {
          const all = names.filter((name) => name === label).length;
          const here = [...rows.test].filter((r) => names[r] === label).length;
          expect(Math.abs(here - all * share)).toBeLessThan(1);
        }
      }),
    );
  });

  test("takes texts, matrices and label sets", () => {
    const texts = trainTestSplit(["p", "q", "r", "s"], [[1], [], [1, 2], [2]], { testShare: 0.5 });
    expect([...texts.train.x, ...texts.test.x].sort()).toEqual(["p", "q", "r", "s"]);
    expect(texts.train.y.length).toBe(2);
    const matrix = trainTestSplit(Dense.fromRows(x), Int16Array.from(upTo(12)), { testShare: 0.5 });
    expect(matrix.test.x).toBeInstanceOf(Dense);
    expect(Array.from(matrix.test.y)).toEqual([...matrix.rows.test]);
  });

  test.each([
    ["a share of 0", () => trainTestSplit(x, y, { testShare: 0 }), /testShare above 0 and below 1, found 0/],
    ["a share of 1", () => trainTestSplit(x, y, { testShare: 1 }), /found 1/],
    ["one row", () => trainTestSplit([[1]], ["a"]), /at least 2 rows/],
    ["missing labels", () => trainTestSplit(x, ["a"]), /expected 12 labels.*found 1/],
    ["a broken seed", () => trainTestSplit(x, y, { seed: -1 }), /seed as a whole number/],
    ["strata of label sets", () => trainTestSplit(["a", "b"], [["p"], ["q"]], { stratify: true }), /found label sets/],
  ])("refuses %s", (_, call, message) => expect(call).toThrow(message));
});

describe("gatherRows", () => {
  test("keeps the form of the data", () => {
    const rows = [2, 0];
    expect(gatherRows(["a", "b", "c"], rows)).toEqual(["c", "a"]);
    expect(gatherRows([[1], [2], [3]], rows)).toEqual([[3], [1]]);
    expect(gatherRows(Uint8Array.of(7, 8, 9), rows)).toEqual(Uint8Array.of(9, 7));
    expect([...gatherRows(Dense.fromRows([[1], [2], [3]]), rows).values]).toEqual([3, 1]);
    const sparse = gatherRows(Csr.fromRows([[[0, 1]], [], [[1, 5]]], 2), rows);
    expect([[...sparse.indices], [...sparse.values]]).toEqual([
      [1, 0],
      [5, 1],
    ]);
  });
});

describe("group folds", () => {
  test("keep every group on one side, hold each row once and differ by no more than the largest group", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 4, maxLength: 60 }),
        fc.integer({ min: 2, max: 4 }),
        fc.nat(99),
        (groups, count, seed) => {
          fc.pre(new Set(groups).size >= count);
          const folds = groupFolds(groups, { folds: count, seed });
          const seen = folds.flatMap(({ test }) => Array.from(test)).sort((a, b) => a - b);
          expect(seen).toEqual(groups.map((_, r) => r));
          for (const { train, test } of folds) {
            const inTest = new Set(Array.from(test, (r) => groups[r]));
            expect(Array.from(train).some((r) => inTest.has(groups[r]))).toBe(false);
            expect(train.length + test.length).toBe(groups.length);
          }
          const sizes = folds.map(({ test }) => test.length);
          const largest = Math.max(...[...new Set(groups)].map((g) => groups.filter((other) => other === g).length));
          expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(largest);
        },
      ),
    );
    expect(() => groupFolds([1, 1, 1], { folds: 2 })).toThrow("number of groups (1)");
  });
});

describe("folds by time", () => {
  test("train on earlier rows than they test on, rows of one moment on one side, and the last fold sees the latest", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 12, maxLength: 80 }),
        fc.integer({ min: 2, max: 4 }),
        (times, count) => {
          let folds: Fold[];
          try {
            folds = timeFolds(times, { folds: count });
          } catch (error) {
            // Only where one moment has more rows than a part does.
            const most = Math.max(...times.map((time) => times.filter((other) => other === time).length));
            expect((error as Error).message).toMatch(/too many rows of one/);
            expect(most).toBeGreaterThanOrEqual(Math.floor(times.length / (count + 1)));
            return;
          }
          for (const { train, test } of folds) {
            const latest = Math.max(...Array.from(train, (r) => times[r]));
            expect(Math.min(...Array.from(test, (r) => times[r]))).toBeGreaterThan(latest);
          }
          const last = folds[count - 1];
          expect(sorted([last.train, last.test])).toEqual(upTo(times.length));
        },
      ),
    );
    expect(timeFolds([5, 1, 4, 2, 3, 6], { folds: 2 }).map(({ train, test }) => [[...train], [...test]])).toEqual([
      [
        [1, 3],
        [2, 4],
      ],
      [
        [1, 2, 3, 4],
        [0, 5],
      ],
    ]);
    expect(() => timeFolds([1, Number.NaN, 2], { folds: 2 })).toThrow("found NaN at row 1");
  });
});
