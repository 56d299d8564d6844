/** Rows of points: every choice is made of rows that exist, train and test apart, classes in their shares. */

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chooseRows } from "../../src/runner/rows.ts";

/** 90 training rows and 30 test rows of three classes in turn. */
const laid = { rows: 120, trainRows: 90, y: Uint8Array.from({ length: 120 }, (_, r) => r % 3) };

describe("chooseRows", () => {
  it("gives the published parts where nothing else is said", () => {
    const { train, test } = chooseRows(laid, { seed: 0 });
    expect(Array.from(train)).toEqual(Array.from({ length: 90 }, (_, r) => r));
    expect(Array.from(test)).toEqual(Array.from({ length: 30 }, (_, r) => 90 + r));
  });

  it("tests every row once over the folds, and never on a row that was trained on", () => {
    const folds = Array.from({ length: 10 }, (_, at) => chooseRows(laid, { fold: { of: 10, at }, seed: at }));
    const tested = folds.flatMap(({ test }) => Array.from(test)).sort((a, b) => a - b);
    expect(tested).toEqual(Array.from({ length: 120 }, (_, r) => r));
    for (const { train, test } of folds) {
      expect(train.length + test.length).toBe(120);
      expect(Array.from(test).filter((r) => train.includes(r))).toEqual([]);
    }
  });

  it("draws one of so many parts with the seed, from the training rows alone, classes in their shares", () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 10 }), fc.nat(1000), (trainParts, seed) => {
        const { train } = chooseRows(laid, { trainParts, seed });
        const share = 90 / trainParts;
        expect(Math.abs(train.length - share)).toBeLessThan(1);
        expect(Math.max(...train)).toBeLessThan(90);
        for (let c = 0; c < 3; c++) {
          expect(Math.abs(train.filter((r) => laid.y[r] === c).length - share / 3)).toBeLessThan(1);
        }
        expect(chooseRows(laid, { trainParts, seed }).train).toEqual(train);
      }),
    );
  });

  it("draws small parts in two rounds, of the same size", () => {
    const many = { rows: 3000, trainRows: 3000, y: Uint8Array.from({ length: 3000 }, (_, r) => r % 3) };
    const { train } = chooseRows(many, { trainParts: 100, seed: 5 });
    expect(train.length).toBe(30);
    expect(new Set(train).size).toBe(30);
    expect([0, 1, 2].map((c) => train.filter((r) => many.y[r] === c).length)).toEqual([10, 10, 10]);
  });

  it("takes rows with several labels without shares", () => {
    const { train, test } = chooseRows({ rows: 120, trainRows: 90 }, { trainParts: 9, testParts: 3, seed: 1 });
    expect([train.length, test.length]).toEqual([10, 10]);
    expect(Math.min(...test)).toBeGreaterThanOrEqual(90);
  });
});
