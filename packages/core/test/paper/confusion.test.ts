import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cumulateGaps, histogramConfusion, kdeConfusion } from "../../src/paper/confusion.ts";
import { columnOf, histogramOf, kdeOf } from "../../src/paper/density.ts";
import { awkwardValues } from "./awkward-values.ts";
import { plainHistogramConfusion, plainKdeConfusion } from "./plain-confusion.ts";

const byHistogram = (a: readonly number[], b: readonly number[]) =>
  histogramConfusion(histogramOf(columnOf(a)), histogramOf(columnOf(b)));
const byKde = (a: readonly number[], b: readonly number[]) => kdeConfusion(kdeOf(columnOf(a)), kdeOf(columnOf(b)));

describe("histogram confusion", () => {
  test("by hand", () => {
    // Shares 1/4, 3/4 against 1/2, 1/2: (1/8) / (3/4) + (3/8) / (5/4) = 1/6 + 3/10.
    expect(byHistogram([0, 1, 1, 1], [1, 0])).toBeCloseTo(7 / 15, 15);
    expect(byHistogram([0, 1], [2, 3])).toBe(0);
    expect(byHistogram([5, 5], [5])).toBe(0.5);
    expect(byHistogram([-1, 0, 2], [-1, 0, 2])).toBeCloseTo(0.5, 15);
  });

  test("agrees with the plain statement", () => {
    const whole = fc.array(fc.integer({ min: -4, max: 4 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(whole, whole, (a, b) => {
        expect(byHistogram(a, b)).toBeCloseTo(plainHistogramConfusion(a, b), 14);
      }),
    );
  });
});

describe("kde confusion", () => {
  test("agrees with the plain statement within 1e-9", () => {
    fc.assert(
      fc.property(awkwardValues(2, 60), awkwardValues(2, 60), (a, b) => {
        expect(Math.abs(byKde(a, b) - plainKdeConfusion(a, b))).toBeLessThanOrEqual(1e-9);
      }),
      { numRuns: 1000 },
    );
  });

  test("agrees where one feature is far narrower and a grid point lies in its tails", () => {
    const unit = fc.double({ min: 0, max: 1, noNaN: true });
    const few = fc.array(unit, { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(
        few,
        few,
        fc.double({ min: -16, max: 0, noNaN: true }),
        fc.integer({ min: 0, max: 199 }),
        fc.double({ min: -15, max: 15, noNaN: true }),
        (shape, inner, exponent, point, distance) => {
          const wide = [0, 1, ...inner];
          const narrow = [0, 1, ...shape].map((v) => point / 199 + 10 ** exponent * (v + distance));
          expect(Math.abs(byKde(narrow, wide) - plainKdeConfusion(narrow, wide))).toBeLessThanOrEqual(1e-9);
        },
      ),
      { numRuns: 2000 },
    );
    // The first grid point lies 8 bandwidths from the narrow feature, whose density there is still that of the wide one.
    const narrow = [6.42548104e-8, 7.63318054e-8];
    expect(Math.abs(byKde(narrow, [0, 247, 0, 0]) - plainKdeConfusion(narrow, [0, 247, 0, 0]))).toBeLessThan(1e-10);
  });

  test("agrees for 1,000 rows", () => {
    const wave = (scale: number, shift: number) =>
      Array.from({ length: 1000 }, (_, j) => scale * Math.sin(j * j) + Math.tan(j) * 0.01 + shift);
    for (const [a, b] of [
      [wave(1, 0), wave(2, 0.3)],
      [wave(1, 1e6), wave(1, 1e6 + 1)],
      [wave(0.01, 0), wave(50, 1)],
    ]) {
      expect(Math.abs(byKde(a, b) - plainKdeConfusion(a, b))).toBeLessThanOrEqual(1e-9);
    }
  });

  test("is symmetric to the last bit and does not change with a power of two as unit", () => {
    fc.assert(
      fc.property(awkwardValues(2, 30), awkwardValues(2, 30), (a, b) => {
        const confusion = byKde(a, b);
        expect(byKde(b, a)).toBe(confusion);
        const scaled = (values: number[]) => values.map((v) => v * 2 ** 40);
        expect(byKde(scaled(a), scaled(b))).toBe(confusion);
      }),
    );
  });

  test("constants are alike or never mistaken", () => {
    expect(byKde([3, 3], [3, 3, 3])).toBe(0.5);
    expect(byKde([0], [0])).toBe(0.5);
    expect(byKde([3, 3], [0, 0])).toBe(0);
    expect(byKde([3, 3], [2, 3, 4])).toBe(0);
    expect(byKde([2, 3, 4], [3])).toBe(0);
  });

  test("stays between 0 and 1 for numbers of any size the gate lets in", () => {
    const extreme = fc.array(
      fc.oneof(
        fc.double({ min: -1e200, max: 1e200, noNaN: true }),
        fc.constantFrom(0, 1, -1, 5e-324, 1e-300, 1e-289, 3e-289, 1e200, -1e200, 1e200 * (1 - 2 ** -53)),
      ),
      { minLength: 1, maxLength: 8 },
    );
    fc.assert(
      fc.property(extreme, extreme, (a, b) => {
        const confusion = byKde(a, b);
        expect(confusion).toBeGreaterThanOrEqual(0);
        expect(confusion).toBeLessThanOrEqual(1);
      }),
      { numRuns: 3000 },
    );
  });
});

describe("gaps", () => {
  /** Discriminabilities of three features, above the diagonal. */
  const byTable = (d: readonly number[][]) =>
    cumulateGaps(
      d.length,
      (position) => position,
      (i, j) => 1 - d[Math.min(i, j)][Math.max(i, j)],
    );

  test("by hand", () => {
    const d = [
      [0.5, 0.6, 0.9],
      [0, 0.5, 0.7],
      [0, 0, 0.5],
    ];
    // Gap 1: (0.6 - 0.5) + (0.6 - 0.5) + (0.9 - 0.7) = 0.4; gap 2: (0.7 - 0.5) + (0.9 - 0.6) + (0.7 - 0.5) = 0.7.
    const found = byTable(d);
    for (const [j, value] of [0.5, 0.5 + 0.4 / 3, 0.5 + 1.1 / 3].entries()) expect(found[j]).toBeCloseTo(value, 14);
  });

  test("a negative gap counts as 0", () => {
    const d = [
      [0.5, 0.9, 0.5],
      [0, 0.5, 0.5],
      [0, 0, 0.5],
    ];
    // Gap 1: 0.4 + 0.4 + 0 = 0.8; gap 2: 0 + (0.5 - 0.9) + 0 = -0.4.
    const found = byTable(d);
    expect(found[1]).toBeCloseTo(0.5 + 0.8 / 3, 14);
    expect(found[2]).toBe(found[1]);
  });

  test("one feature", () => {
    expect([...byTable([[0.5]])]).toEqual([0.5]);
  });

  test("the signal stops the work within a few hundred features", () => {
    const controller = new AbortController();
    let made = 0;
    const densityOf = (position: number) => {
      if (++made === 1000) controller.abort(new Error("enough"));
      return position;
    };
    expect(() => cumulateGaps(100_000, densityOf, () => 0, controller.signal)).toThrow("enough");
    expect(made).toBeLessThan(1300);
  });
});
