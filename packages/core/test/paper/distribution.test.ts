import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RanksimError } from "../../src/errors.ts";
import { Csr } from "../../src/matrix/csr.ts";
import { Dense } from "../../src/matrix/dense.ts";
import { type Matrix, toCsr } from "../../src/matrix/matrix.ts";
import { type DistributionSpec, resolveDistribution } from "../../src/paper/distribution.ts";
import { drawWithoutReplacement, generatorOf } from "../../src/random.ts";
import { plainDistribution, plainHistogramConfusion, plainKdeConfusion } from "./plain-confusion.ts";

const AUTO = { density: "auto", confusionRows: 1000 } as const;
const resolve = (
  x: Matrix,
  spec: DistributionSpec,
  options: Parameters<typeof resolveDistribution>[2] = AUTO,
  seed = 0,
) => resolveDistribution(x, spec, options, generatorOf(seed));

const rowsOf = (value: fc.Arbitrary<number>) =>
  fc
    .tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 2, max: 7 }))
    .chain(([rows, n]) =>
      fc.array(fc.array(value, { minLength: n, maxLength: n }), { minLength: rows, maxLength: rows }),
    );

describe("Savage scores", () => {
  test("are the running sums of 1/n, 1/(n-1), ..., 1", async () => {
    const five = (await resolve(Dense.fromRows([[3, 1, 2, 9, 9]]), "savage")) as Float64Array;
    const sixtieths = [12, 27, 47, 77, 137]; // 1/5; + 1/4; + 1/3; + 1/2; + 1
    for (const [j, count] of sixtieths.entries()) expect(five[j]).toBeCloseTo(count / 60, 14);
  });

  test("rise, sum to n, and have gaps of 1/(n-r+1)", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 3000 }), async (n) => {
        const scores = (await resolve(Dense.of(new Uint8Array(n), 1, n), "savage")) as Float64Array;
        let sum = 0;
        for (let r = 0; r < n; r++) {
          expect(scores[r] - (scores[r - 1] ?? 0)).toBeCloseTo(1 / (n - r), 12);
          sum += scores[r];
        }
        expect(sum / n).toBeCloseTo(1, 10);
      }),
      { numRuns: 20 },
    );
  });

  test("depend on the number of features alone and draw nothing", async () => {
    const wide = Csr.fromRows([[[1, 3]], [[0, -2]]], 3);
    expect([...((await resolve(wide, "savage")) as Float64Array)]).toEqual([1 / 3, 1 / 3 + 1 / 2, 1 / 3 + 1 / 2 + 1]);
    const generator = generatorOf(1);
    await resolveDistribution(wide, "savage", AUTO, generator);
    expect(drawWithoutReplacement(generator, 3, 100)).toEqual(drawWithoutReplacement(generatorOf(1), 3, 100));
  });
});

describe("confusion distribution", () => {
  test("agrees with the plain statement for whole numbers", async () => {
    await fc.assert(
      fc.asyncProperty(rowsOf(fc.integer({ min: -3, max: 5 })), async (rows) => {
        const found = (await resolve(Dense.fromRows(rows), "confusion")) as Float64Array;
        const expected = plainDistribution(rows, plainHistogramConfusion);
        expect(found.length).toBe(expected.length);
        for (const [j, value] of expected.entries()) expect(found[j]).toBeCloseTo(value, 13);
      }),
    );
  });

  test("agrees with the plain statement for fractions", async () => {
    // Eighths add up without rounding, so both statements see the same ties of the means.
    const eighths = fc.integer({ min: -20, max: 20 }).map((v) => v / 8);
    await fc.assert(
      fc.asyncProperty(rowsOf(eighths), async (rows) => {
        fc.pre(rows.flat().some((v) => !Number.isInteger(v)));
        const found = (await resolve(Dense.fromRows(rows), "confusion")) as Float64Array;
        const expected = plainDistribution(rows, plainKdeConfusion);
        for (const [j, value] of expected.entries()) expect(Math.abs(found[j] - value)).toBeLessThanOrEqual(1e-8);
      }),
    );
  });

  test("dense and sparse data, with or without stored zeros, give the same bits", async () => {
    const value = fc.oneof(fc.constant(0), fc.constant(-0), fc.double({ min: -5, max: 5, noNaN: true }));
    await fc.assert(
      fc.asyncProperty(rowsOf(value), fc.constantFrom("histogram", "kde"), async (rows, density) => {
        const options = { density, confusionRows: 1000 } as const;
        const x = Dense.of(Float64Array.from(rows.flat()), rows.length, rows[0].length);
        const stored = Csr.fromRows(
          rows.map((row) => row.map((v, i) => [i, v] as const)),
          x.features,
        );
        const expected = await resolve(x, "confusion", options);
        expect(await resolve(toCsr(x), "confusion", options)).toEqual(expected);
        expect(await resolve(stored, "confusion", options)).toEqual(expected);
      }),
    );
  });

  test("a slice of a sparse matrix is read from where it begins", async () => {
    const x = toCsr(Dense.fromRows([[9, 9, 9], [0, 1, 2], [1, 0, 5], [0, 0, 4]])); // biome-ignore format: a matrix
    expect(await resolve(x.slice(1, 4), "confusion")).toEqual(await resolve(x.gather([1, 2, 3]), "confusion"));
  });

  test("the density is chosen by the numbers, not by their container", async () => {
    const numbers = [0, 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5];
    const bytes = await resolve(Dense.of(Uint8Array.from(numbers), 4, 3), "confusion");
    const floats = Dense.of(Float64Array.from(numbers), 4, 3);
    expect(await resolve(floats, "confusion")).toEqual(bytes);
    expect(await resolve(floats, "confusion", { ...AUTO, density: "histogram" })).toEqual(bytes);
    expect(await resolve(floats, "confusion", { ...AUTO, density: "kde" })).not.toEqual(bytes);
    const fractions = Dense.of(
      Float32Array.from(numbers, (v) => v / 2),
      4,
      3,
    );
    expect(await resolve(fractions, "confusion")).toEqual(
      await resolve(fractions, "confusion", { ...AUTO, density: "kde" }),
    );
  });

  test("a sample is drawn without replacement, seeded, and stands for all that is measured", async () => {
    const x = Dense.fromRows(Array.from({ length: 200 }, (_, r) => [r % 7, (r * r) % 11, r % 3, (r * 5) % 13]));
    const options = { density: "auto", confusionRows: 40 } as const;
    const drawn = drawWithoutReplacement(generatorOf(5), 40, 200).sort();
    const expected = await resolve(x.gather(drawn), "confusion");
    expect(await resolve(x, "confusion", options, 5)).toEqual(expected);
    expect(await resolve(toCsr(x), "confusion", options, 5)).toEqual(expected);
    expect(await resolve(x, "confusion", options, 6)).not.toEqual(expected);
  });

  test("draws nothing when all rows are used", async () => {
    const generator = generatorOf(1);
    await resolveDistribution(Dense.fromRows([[1, 2]]), "confusion", { density: "auto", confusionRows: 1 }, generator);
    expect(generator.next()).toBe(generatorOf(1).next());
  });

  test("constant and all-zero data", async () => {
    expect([...((await resolve(Dense.fromRows([[0, 0], [0, 0]]), "confusion")) as Float64Array)]).toEqual([0.5, 0.5]); // biome-ignore format: a matrix
    // Two constants that differ: d = 1 from each other, 1/2 from themselves; the gap is (1/2 + 1/2 + 1/2) / 3.
    for (const density of ["histogram", "kde"] as const) {
      const options = { ...AUTO, density };
      expect([...((await resolve(Dense.fromRows([[4, 1]]), "confusion", options)) as Float64Array)]).toEqual([0.5, 1]);
    }
  });

  test("a million sparse features take no dense memory", async () => {
    const features = 1_000_000;
    const x = Csr.fromRows(
      Array.from({ length: 300 }, (_, r) => [0, 1, 2].map((k) => [(r * 7919 * (k + 1)) % features, 0.5 + k] as const)),
      features,
    );
    for (const density of ["histogram", "kde"] as const) {
      const found = (await resolve(x, "confusion", { ...AUTO, density })) as Float64Array;
      expect(found.length).toBe(features);
      expect(found.every((value, r) => Number.isFinite(value) && (r === 0 || value >= found[r - 1]))).toBe(true);
      expect(found[features - 1]).toBeGreaterThan(0.5);
    }
  });

  test("the signal is heard before any work", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    const x = Dense.fromRows([[1, 2]]);
    await expect(resolveDistribution(x, "confusion", AUTO, generatorOf(0), signal)).rejects.toThrow("enough");
  });
});

describe("distributions of the caller", () => {
  const x = Dense.fromRows([[1, 2, 3]]);

  test("ranks need none", async () => {
    expect(await resolve(x, "rank")).toBeUndefined();
  });

  test("numbers are copied, a function sees the data", async () => {
    const given = [1, 1, 4];
    const found = (await resolve(x, given)) as Float64Array;
    given[0] = 9;
    expect([...found]).toEqual([1, 1, 4]);
    expect([...((await resolve(x, Uint8Array.of(0, 2, 2))) as Float64Array)]).toEqual([0, 2, 2]);
    expect([
      ...((await resolve(x, (data) => Array.from({ length: data.features }, (_, r) => r))) as Float64Array),
    ]).toEqual([0, 1, 2]);
  });

  test.each([
    [[1, 2], /expected 3 numbers.*found 2/],
    [[1, 2, Number.NaN], /position 2.*NaN/],
    [[1, 2, Number.POSITIVE_INFINITY], /position 2.*Infinity/],
    [[1, 2, 1e101], /position 2.*1e\+101/],
    [[1, "2", 3], /position 1.*found 2/],
    [[1, 3, 2], /position 2.*found 3 then 2/],
    ["ranks", /"rank", "savage", "confusion".*found "ranks"/],
    [null, /found null/],
    [undefined, /found undefined/],
    [7, /found 7/],
  ])("%j is refused", async (given, message) => {
    for (const spec of [given, () => given]) {
      let thrown: unknown;
      try {
        await resolve(x, spec as DistributionSpec);
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toBeInstanceOf(RanksimError);
      expect((thrown as RanksimError).code).toBe("bad-params");
      expect((thrown as RanksimError).message).toMatch(message);
    }
  });
});
