import { Dense } from "@ranksim/core";
import { calibrationError, ReliabilityTally, reliability } from "@ranksim/learn";
import fc from "fast-check";
import { describe, expect, test } from "vitest";

describe("reliability", () => {
  test("of four rows, by hand", () => {
    const p = Dense.fromRows([[0.9, 0.1], [0.3, 0.7], [0.2, 0.8], [0.5, 0.5]]); // biome-ignore format: a matrix
    const y = ["a", "b", "a", "a"];
    const bins = reliability(y, p, ["a", "b"], { bins: 4 });
    expect(bins.map(({ from, to, count }) => [from, to, count])).toEqual([
      [0, 0.25, 0],
      [0.25, 0.5, 0],
      [0.5, 0.75, 2],
      [0.75, 1, 2],
    ]);
    expect(bins[2].probability).toBeCloseTo(0.6, 14); // 0.7 and 0.5, both right
    expect(bins[2].right).toBe(1);
    expect(bins[3].probability).toBeCloseTo(0.85, 14); // 0.9 right, 0.8 wrong
    expect(bins[3].right).toBe(0.5);
    expect(calibrationError(y, p, ["a", "b"], { bins: 4 })).toBeCloseTo(0.5 * 0.4 + 0.5 * 0.35, 14);
  });

  test("of rows that come in blocks is the same", () => {
    const values = Float64Array.from({ length: 300 }, (_, j) => ((j * 37) % 101) / 101);
    const labels = Array.from({ length: 100 }, (_, r) => ["a", "b", "c"][(r * 7) % 3]);
    const classes = ["a", "b", "c"];
    const tally = new ReliabilityTally(classes);
    for (let r = 0; r < 100; r += 10) {
      tally.add(labels.slice(r, r + 10), Dense.of(values.slice(3 * r, 3 * r + 30), 10, 3));
    }
    const whole = Dense.of(values, 100, 3);
    expect(tally.bins()).toEqual(reliability(labels, whole, classes));
    expect(tally.calibrationError()).toBe(calibrationError(labels, whole, classes));
  });

  test("of several labels counts every label of every row", () => {
    const p = Dense.fromRows([[1, 0.2], [0.4, 0.2]]); // biome-ignore format: a matrix
    const bins = reliability([["a"], ["a", "b"]], p, ["a", "b"], { bins: 2 });
    expect(bins.map(({ count, right }) => [count, right])).toEqual([
      [3, 2 / 3],
      [1, 1],
    ]);
    expect(calibrationError([["a"], ["a", "b"]], p, ["a", "b"], { bins: 2 })).toBeCloseTo((2 - 0.8) / 4, 14);
  });

  test("with one bin is the distance between mean probability and accuracy", () => {
    const row = fc.tuple(fc.double({ min: 0.5, max: 1, noNaN: true }), fc.boolean());
    fc.assert(
      fc.property(fc.array(row, { minLength: 1, maxLength: 30 }), (rows) => {
        const p = Dense.fromRows(rows.map(([q]) => [q, 1 - q]));
        const y = rows.map(([, right]) => (right ? 0 : 1));
        const mean = rows.reduce((sum, [q]) => sum + q, 0) / rows.length;
        const right = rows.filter(([, isRight]) => isRight).length / rows.length;
        expect(calibrationError(y, p, [0, 1], { bins: 1 })).toBeCloseTo(Math.abs(mean - right), 12);
      }),
    );
  });

  test("refuses what is no probability, other labels, other widths, nothing", () => {
    const p = Dense.fromRows([[1.5, 0]]);
    expect(() => reliability(["a"], p, ["a", "b"])).toThrow(/row 0, column 0/);
    expect(() => reliability(["c"], Dense.fromRows([[1, 0]]), ["a", "b"])).toThrow(/"c"/);
    expect(() => reliability(["a"], p, ["a"])).toThrow(/1 columns/);
    expect(() => reliability(["a"], p, ["a", "b"], { bins: 0 })).toThrow(/bins/);
    expect(() => calibrationError([], Dense.of(new Float64Array(0), 0, 2), ["a", "b"])).toThrow(/at least 1 row/);
  });
});
