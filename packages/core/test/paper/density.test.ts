import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { smallExp, tailExp } from "../../src/kernels/exponential.ts";
import { columnOf, exactKernelSum, fifthRoot, histogramOf, kdeOf, kernelSum } from "../../src/paper/density.ts";
import { awkwardValues } from "./awkward-values.ts";
import { plainBandwidth } from "./plain-confusion.ts";

describe("histogram", () => {
  test("counts distinct values in ascending order, zeros of both signs among them", () => {
    const { rows, values, counts } = histogramOf(columnOf([3, 0, -2, 3, -0, 7, -2, 3]));
    expect(rows).toBe(8);
    expect([...values]).toEqual([-2, 0, 3, 7]);
    expect([...counts]).toEqual([2, 2, 3, 1]);
  });

  test.each([
    [[0, 0, 0], [0], [3]],
    [
      [-1, 0, -1],
      [-1, 0],
      [2, 1],
    ],
    [
      [2, 0],
      [0, 2],
      [1, 1],
    ],
    [[5], [5], [1]],
  ])("of %j", (numbers, values, counts) => {
    const histogram = histogramOf(columnOf(numbers));
    expect([...histogram.values]).toEqual(values);
    expect([...histogram.counts]).toEqual(counts);
  });
});

describe("kde", () => {
  test("the table is within 3e-10 of a kernel's height of the direct sum", () => {
    fc.assert(
      fc.property(awkwardValues(2, 60), fc.double({ min: -0.2, max: 1.2, noNaN: true }), (numbers, share) => {
        const density = kdeOf(columnOf(numbers));
        fc.pre(density.bandwidth > 0);
        const above = share * (density.high - density.low);
        const direct = numbers.reduce(
          (sum, v) => sum + Math.exp(-(((above - (v - density.low)) / density.bandwidth) ** 2) / 2),
          0,
        );
        expect(Math.abs(kernelSum(density, above) - direct)).toBeLessThanOrEqual(3e-10 * numbers.length);
      }),
      { numRuns: 2000 },
    );
  });

  test("the exact sum is right to 1e-10 of itself in the tails too", () => {
    fc.assert(
      fc.property(awkwardValues(2, 20), fc.double({ min: -39, max: 39, noNaN: true }), (numbers, z) => {
        const density = kdeOf(columnOf(numbers));
        fc.pre(density.bandwidth > 0);
        const above = (z < 0 ? 0 : density.high - density.low) + z * density.bandwidth;
        const direct = numbers.reduce(
          (sum, v) => sum + Math.exp(-(((above - (v - density.low)) / density.bandwidth) ** 2) / 2),
          0,
        );
        // Subnormal sums have fewer digits.
        expect(Math.abs(exactKernelSum(density, above) - direct)).toBeLessThanOrEqual(1e-10 * direct + 1e-307);
      }),
      { numRuns: 2000 },
    );
  });

  test("bandwidth is Scott's", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -50, max: 50 }), { minLength: 2, maxLength: 40 }), (numbers) => {
        const { bandwidth, low, high } = kdeOf(columnOf(numbers));
        expect(low).toBe(Math.min(...numbers) + 0);
        expect(high).toBe(Math.max(...numbers) + 0);
        expect(Math.abs(bandwidth - plainBandwidth(numbers))).toBeLessThanOrEqual(1e-13 * bandwidth);
      }),
    );
  });

  test("a kernel ends after 8 bandwidths", () => {
    const density = kdeOf(columnOf([0, 1]));
    expect(kernelSum(density, -8.2 * density.bandwidth)).toBe(0);
    expect(kernelSum(density, 1 + 8.2 * density.bandwidth)).toBe(0);
    expect(kernelSum(density, Number.POSITIVE_INFINITY)).toBe(0);
  });

  test("no data makes a long table: the worst has two extremes and all else in the middle", () => {
    const bound = (rows: number) => 8 * Math.SQRT2 * rows ** 0.7 + 2 * 69 + 2;
    for (const rows of [2, 3, 10, 1000, 20_000]) {
      const worst = kdeOf(columnOf(Array.from({ length: rows }, (_, j) => (j === 0 ? -1 : j === 1 ? 1 : 0))));
      expect(worst.table.length / 5).toBeLessThanOrEqual(bound(rows));
    }
    fc.assert(
      fc.property(awkwardValues(2, 100), (numbers) => {
        expect(kdeOf(columnOf(numbers)).table.length / 5).toBeLessThanOrEqual(bound(numbers.length));
      }),
    );
  });

  test.each([[[4]], [[0, 0]], [[-3, -3, -3]], [[1e-300, 2e-300]]])("%j counts as constant", (numbers) => {
    const density = kdeOf(columnOf(numbers));
    expect(density.bandwidth).toBe(0);
    expect(density.low).toBe(numbers[0]);
    expect(density.high).toBe(numbers[0]);
  });
});

describe("arithmetic that every engine rounds alike", () => {
  test("smallExp agrees with Math.exp", () => {
    for (let x = -0.01; x <= 0.01; x += 1e-5) expect(Math.abs(smallExp(x) / Math.exp(x) - 1)).toBeLessThan(4e-16);
  });

  test("tailExp agrees with Math.exp", () => {
    for (let x = 0; x >= -700; x -= 0.37) expect(Math.abs(tailExp(x) / Math.exp(x) - 1)).toBeLessThan(1e-10);
    expect(tailExp(-1000)).toBe(0);
  });

  test("fifthRoot agrees with the power", () => {
    for (const count of [1, 2, 3, 32, 243, 999, 1000, 100_000, 1e9]) {
      expect(Math.abs(fifthRoot(count) / count ** 0.2 - 1)).toBeLessThan(4e-16);
    }
  });

  test.each(["density", "confusion", "distribution"])(
    "%s.ts calls no function that engines round differently",
    (name) => {
      const source = readFileSync(new URL(`../../src/paper/${name}.ts`, import.meta.url), "utf8");
      const code = source.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
      const called = [...code.matchAll(/Math\.(\w+)\(/g)].map((match) => match[1]);
      expect(["abs", "ceil", "floor", "max", "min", "sqrt"]).toEqual(expect.arrayContaining([...new Set(called)]));
      expect(code).not.toContain("**");
    },
  );
});
