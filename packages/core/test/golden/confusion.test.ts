import { describe, expect, test } from "vitest";
import { Dense } from "../../src/matrix/dense.ts";
import { type Matrix, toCsr } from "../../src/matrix/matrix.ts";
import { histogramConfusion, kdeConfusion } from "../../src/paper/confusion.ts";
import { columnOf, histogramOf, kdeOf } from "../../src/paper/density.ts";
import { resolveDistribution } from "../../src/paper/distribution.ts";
import { generatorOf } from "../../src/random.ts";
import { readGolden } from "./read-golden.ts";

interface Measured {
  rows: number[][];
  order: number[];
  gaps: number[];
  distribution: number[];
}

const golden = readGolden<{
  histogram: Measured;
  kde: Measured;
  pair: { a: number[]; b: number[]; kde: number; histogram: number };
}>("confusion");
const digits = readGolden<{ train: number[][]; distribution: number[] }>("digits-confusion-transform");

const EXACT = 1e-9;
const KDE = 1e-6;

function expectClose(found: ArrayLike<number>, expected: readonly number[], relative: number): void {
  expect(found.length).toBe(expected.length);
  for (let j = 0; j < expected.length; j++) {
    expect(Math.abs(found[j] - expected[j]), `position ${j}`).toBeLessThanOrEqual(relative * Math.abs(expected[j]));
  }
}

/** D with all rows used, the density chosen by the data. */
async function distributionOf(x: Matrix): Promise<Float64Array> {
  const options = { density: "auto", confusionRows: x.rows } as const;
  return (await resolveDistribution(x, "confusion", options, generatorOf(0))) as Float64Array;
}

describe("golden: confusion", () => {
  test.each([
    ["histogram", EXACT],
    ["kde", KDE],
  ] as const)("distribution by %s, dense and sparse", async (density, tolerance) => {
    const { rows, distribution, gaps } = golden[density];
    const x = Dense.fromRows(rows);
    const found = await distributionOf(x);
    expectClose(found, distribution, tolerance);
    // A gap is a difference of two values of D: what D may be off by, a gap may be off by.
    for (const [j, gap] of gaps.entries()) {
      expect(Math.abs(found[j + 1] - found[j] - Math.max(gap, 0))).toBeLessThanOrEqual(tolerance * distribution[j + 1]);
    }
    expect(await distributionOf(toCsr(x))).toEqual(found);
  });

  test.each(["histogram", "kde"] as const)(
    "features of the %s sample in the golden order change nothing",
    async (density) => {
      const { rows, order } = golden[density];
      const ordered = Dense.fromRows(rows.map((row) => order.map((feature) => row[feature])));
      expect(await distributionOf(ordered)).toEqual(await distributionOf(Dense.fromRows(rows)));
    },
  );

  test("one pair of features", () => {
    const { a, b, kde, histogram } = golden.pair;
    expectClose([kdeConfusion(kdeOf(columnOf(a)), kdeOf(columnOf(b)))], [kde], KDE);
    const whole = (values: number[]) => histogramOf(columnOf(values.map(Math.round)));
    expectClose([histogramConfusion(whole(a), whole(b))], [histogram], EXACT);
  });

  test("distribution of the digits", async () => {
    expectClose(await distributionOf(Dense.fromRows(digits.train)), digits.distribution, EXACT);
  });
});
