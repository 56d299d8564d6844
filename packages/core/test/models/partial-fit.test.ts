/** Rows added to trained models, against a plain statement: who wins a row, what the sums then are, how they rank. */

import {
  type Backend,
  Csr,
  Dense,
  expandFilter,
  type FilterBank,
  loadModel,
  type Matrix,
  MaxAbsScaler,
  Pipeline,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
  saveModel,
  toCsr,
} from "@ranksim/core";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { drawBelow, generatorOf } from "../../src/random.ts";
import { platforms } from "../platforms.ts";

const FEATURES = 30;

/** Rows of `kinds` kinds with mostly zeros; every third row has fractions if asked for. */
function makeRows(count: number, seed: number, kinds = 3, fractions = false): { x: number[][]; y: string[] } {
  const generator = generatorOf(seed);
  const x = Array.from({ length: count }, (_, r) =>
    Array.from({ length: FEATURES }, (_, i) => {
      const value = i % kinds === r % kinds ? 3 + drawBelow(generator, 9) : Math.max(0, drawBelow(generator, 12) - 8);
      return fractions && r % 3 === 0 ? value / 7 : value;
    }),
  );
  return { x, y: x.map((_, r) => "abcdef"[r % kinds]) };
}

const weightsOf = (bank: FilterBank): number[][] =>
  Array.from({ length: bank.filters }, (_, f) => {
    const out = new Float64Array(bank.features);
    expandFilter(bank, f, out);
    return [...out];
  });

/** Doubled ranks by counting: twice the values below, plus those that are equal, plus one. */
const plainRank = (sum: readonly number[]): number[] =>
  sum.map((v) => sum.reduce((rank, w) => rank + (w < v ? 2 : w === v ? 1 : 0), 1));

/** The filter of the largest product, the lowest of equals, among the allowed ones. */
function plainWinner(weights: readonly number[][], row: readonly number[], allowed: (f: number) => boolean): number {
  let best = -1;
  let most = Number.NEGATIVE_INFINITY;
  weights.forEach((w, f) => {
    const product = w.reduce((sum, weight, i) => sum + weight * row[i], 0);
    if (allowed(f) && product > most) [best, most] = [f, product];
  });
  return best;
}

const plainSum = (rows: readonly (readonly number[])[]): number[] =>
  rows.reduce<number[]>((sum, row) => sum.map((v, i) => v + row[i]), new Array(FEATURES).fill(0));

describe.each(platforms)("partialFit on $title", ({ open }) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await open();
  });
  afterAll(() => backend.close());

  it.each([
    ["whole numbers", false],
    ["fractions", true],
  ])("gives each row (%s) to the filter of its class that wins it, and ranks the sums again", async (_, fractions) => {
    const old = makeRows(60, 1, 3, fractions);
    const added = makeRows(33, 2, 3, fractions);
    const estimator = new RankSimilarityClassifier({ filters: 12, keepSums: true });
    const before = await estimator.fit(old.x, old.y, { backend });
    const file = saveModel(before);
    const after = await before.partialFit(added.x, added.y, { backend });
    expect(saveModel(before)).toEqual(file);

    const weights = weightsOf(before.bank);
    const won = added.x.map((row, r) =>
      plainWinner(weights, row, (f) => before.classes[before.filterClass[f]] === added.y[r]),
    );
    const all = [...old.x, ...added.x];
    for (let f = 0; f < weights.length; f++) {
      const rows = [...before.filterRows(f), ...won.flatMap((winner, r) => (winner === f ? [60 + r] : []))];
      expect([...after.filterRows(f)]).toEqual(rows);
      expect(weightsOf(after.bank)[f]).toEqual(plainRank(plainSum(rows.map((r) => all[r]))));
    }
    expect(after.report.rows).toBe(93);
    expect(after.report.trainings.map(({ rows }) => rows)).toEqual([31, 31, 31]);

    const sparse = await estimator.fit(toCsr(Dense.fromRows(old.x)), old.y, { backend });
    const grown = await sparse.partialFit(toCsr(Dense.fromRows(added.x)), added.y, { backend });
    expect(saveModel(grown)).toEqual(saveModel(after));
  });

  it("counts the rows that were added, also where rows were held out to calibrate", async () => {
    const [old, added] = [makeRows(60, 1), makeRows(30, 2)];
    const estimator = new RankSimilarityClassifier({ filters: 12, keepSums: true, calibrate: "temperature" });
    const before = await estimator.fit(old.x, old.y, { backend });
    expect(before.report.rows).toBeLessThan(60);
    const { report } = await before.partialFit(added.x, added.y, { backend });
    expect(report.rows).toBe(before.report.rows + 30);
    expect(report.trainings.reduce((sum, { rows }) => sum + rows, 0)).toBe(report.rows);
  });

  it("goes on from a file as from the model that was saved, in as many calls as one likes", async () => {
    const old = makeRows(40, 3);
    const added = makeRows(60, 4);
    for (const estimator of [
      new RankSimilarityClassifier({ filters: 9, keepSums: true, distribution: "confusion" }),
      new RankSimilarityProbabilisticClassifier({ filters: 9, keepSums: true }),
      new RankSimilarityTransform({ filters: 9, keepSums: true, distribution: "savage" }),
    ]) {
      let kept = await estimator.fit(old.x, old.y, { backend });
      let loaded = kept;
      for (const from of [0, 20, 40]) {
        const [x, y] = [added.x.slice(from, from + 20), added.y.slice(from, from + 20)];
        kept = await kept.partialFit(x, y, { backend });
        const read = loadModel(saveModel(loaded)) as typeof kept;
        loaded = await read.partialFit(x, y, { backend });
        expect(saveModel(loaded)).toEqual(saveModel(kept));
      }
      expect(kept.report.rows).toBe(100);
    }
  });

  it("leaves every filter the rank of the sum of its rows, whatever the rows and however they come", async () => {
    const cell = fc.oneof(
      fc.constant(0),
      fc.integer({ min: -40, max: 300 }),
      fc.constantFrom(0.5, -2.25, 1e-3, 70_000),
    );
    const some = fc
      .record({ features: fc.integer({ min: 2, max: 12 }), rows: fc.integer({ min: 3, max: 16 }) })
      .chain(({ features, rows }) =>
        fc.record({
          x: fc.array(fc.array(cell, { minLength: features, maxLength: features }), {
            minLength: rows,
            maxLength: rows,
          }),
          y: fc.array(fc.constantFrom("p", "q", "r"), { minLength: rows, maxLength: rows }),
          cuts: fc.array(fc.integer({ min: 1, max: rows - 1 }), { minLength: 1, maxLength: 3 }),
        }),
      );
    await fc.assert(
      fc.asyncProperty(some, async ({ x, y, cuts }) => {
        const ends = [...new Set(cuts)].sort((a, b) => a - b);
        const all = Dense.fromRows(x);
        const grow = async (matrix: Matrix) => {
          const estimator = new RankSimilarityClassifier({ filters: 5, keepSums: true });
          let model = await estimator.fit(matrix.slice(0, ends[0]), y.slice(0, ends[0]), { backend });
          for (const [j, from] of ends.entries()) {
            const to = ends[j + 1] ?? x.length;
            model = await model.partialFit(matrix.slice(from, to), y.slice(from, to), { backend });
          }
          return model;
        };
        const model = await grow(all);
        weightsOf(model.bank).forEach((weights, f) => {
          const rows = Array.from(model.filterRows(f), (r) => x[r]);
          const zero = new Array<number>(all.features).fill(0);
          expect(weights).toEqual(plainRank(rows.reduce((sum, row) => sum.map((v, i) => v + row[i]), zero)));
          for (const r of model.filterRows(f)) expect(y[r]).toBe(model.classes[model.filterClass[f]]);
        });
        expect(saveModel(await grow(toCsr(all)))).toEqual(saveModel(model));
        expect(saveModel(loadModel(saveModel(model)))).toEqual(saveModel(model));
      }),
      { numRuns: 40 },
    );
  });

  it("trains filters for new classes as fit would on all rows, and puts classes in order", async () => {
    const all = makeRows(80, 5, 4);
    const isOld = (r: number) => all.y[r] === "a" || all.y[r] === "d";
    const pick = <T>(list: readonly T[], keep: (r: number) => boolean) => list.filter((_, r) => keep(r));
    const params = { filters: 16, seed: 7, keepSums: true };
    const old = await new RankSimilarityClassifier(params).fit(pick(all.x, isOld), pick(all.y, isOld), { backend });
    const isNew = (r: number) => !isOld(r);
    const grown = await old.partialFit(pick(all.x, isNew), pick(all.y, isNew), { backend });
    const whole = await new RankSimilarityClassifier(params).fit(all.x, all.y, { backend });
    expect(grown.classes).toEqual(["a", "b", "c", "d"]);
    const ofClass = (model: typeof whole, c: number) =>
      weightsOf(model.bank).filter((_, f) => model.filterClass[f] === c);
    for (const c of [1, 2]) expect(ofClass(grown, c)).toEqual(ofClass(whole, c));
    expect(ofClass(grown, 0)).toEqual(ofClass(old, 0));
    expect(ofClass(grown, 3)).toEqual(ofClass(old, 1));
    expect([...grown.filterClass]).toEqual([...grown.filterClass].sort());
    expect(grown.report.trainings.map(({ label, rows }) => [label, rows])).toEqual([
      ["a", 20],
      ["b", 20],
      ["c", 20],
      ["d", 20],
    ]);
    expect(await grown.score(all.x, all.y, { backend })).toBeGreaterThan(0.95);
  });

  it("gives a new class a distribution of its own where classes have one each", async () => {
    const old = makeRows(40, 6, 2);
    const added = makeRows(60, 7, 3);
    const params = { filters: 6, keepSums: true, distribution: "confusion", distributionPerClass: true } as const;
    const model = await new RankSimilarityClassifier(params).fit(old.x, old.y, { backend });
    const grown = await model.partialFit(added.x, added.y, { backend });
    expect(grown.distribution?.length).toBe(3 * FEATURES);
    expect(grown.distribution?.slice(0, 2 * FEATURES)).toEqual(model.distribution);
    expect(saveModel(loadModel(saveModel(grown)))).toEqual(saveModel(grown));
  });

  it("adds to the counts behind label shares, and gives rows with new labels filters of their own", async () => {
    const up = [0, 1, 2, 3, 4, 5, 6, 7, 8];
    const down = [...up].reverse();
    const tent = [0, 2, 4, 6, 8, 7, 5, 3, 1];
    const zero = up.map(() => 0);
    const estimator = new RankSimilarityProbabilisticClassifier({ initialRows: [0, 2], keepSums: true });
    const model = await estimator.fit([up, up, down], ["up", "up", "down"], { backend });
    const grown = await model.partialFit([up, tent, down, zero], ["down", "tent", "down", "tent"], { backend });
    expect(grown.classes).toEqual(["down", "tent", "up"]);
    // Filter 0 has won up, up and (called down) up; filter 1 down twice; filter 2 is new.
    expect([...grown.filterLabels]).toEqual([1 / 3, 0, 2 / 3, 1, 0, 0, 0, 1, 0]);
    expect([0, 1, 2].map((f) => [...grown.filterRows(f)])).toEqual([[0, 1, 3], [2, 5], [4]]);
    expect(await grown.predict([tent, up, down], { backend })).toEqual(["tent", "up", "down"]);
    const again = await grown.partialFit([up], ["up"], { backend });
    expect([...again.filterRows(0)]).toEqual([0, 1, 3, 7]);
    expect([...again.filterLabels.subarray(0, 3)]).toEqual([1 / 4, 0, 3 / 4]);

    const several = await estimator.fit([up, up, down], [["a"], ["a", "b"], []], { backend });
    const more = await several.partialFit([up, tent], [["b"], ["0", "b"]], { backend });
    expect(more.classes).toEqual(["0", "a", "b"]);
    expect([...more.filterLabels]).toEqual([0, 2 / 3, 2 / 3, 0, 0, 0, 1, 0, 1]);
    await expect(several.partialFit([up], ["a"], { backend })).rejects.toThrow(/expected label sets/);
    await expect(model.partialFit([up], [["a"]], { backend })).rejects.toThrow(/found label sets/);
  });
});

describe("what partialFit needs and refuses", () => {
  const { x, y } = makeRows(30, 8);

  it("a model with sums", async () => {
    for (const estimator of [
      new RankSimilarityClassifier({ filters: 6 }),
      new RankSimilarityProbabilisticClassifier({ filters: 6 }),
      new RankSimilarityTransform({ filters: 6 }),
    ]) {
      const model = await estimator.fit(x, y);
      await expect(model.partialFit(x, y)).rejects.toMatchObject({
        code: "unsupported",
        message: expect.stringMatching(/model that kept its sums, found one that kept none/),
      });
    }
  });

  it("filters that are the rank of a sum", async () => {
    const make = (params: object) => new RankSimilarityClassifier({ filters: 6, keepSums: true, ...params });
    expect(() => make({ filterFunction: "medianRank" })).toThrow(/keepSums: .*"meanRank", found "medianRank"/);
    expect(() => make({ filterFunction: () => x[0] })).toThrow(/found a function/);
    expect(() => make({ spreading: "weightedAverage" })).toThrow(/keepSums: .*spreading "max" or "none"/);
    expect(() => make({ spreading: "none", initialize: "weightedAverage" })).toThrow(/keepSums: .*initialize/);
    const rows = { initialRows: [[0], [1]] };
    expect(make({ spreading: "none", initialize: "weightedAverage", ...rows }).params.keepSums).toBe(true);
    await expect(make({ initialize: "weightedAverage" }).fit(x, y)).resolves.toBeDefined();
  });

  it("rows of the model's width with as many labels", async () => {
    const model = await new RankSimilarityClassifier({ filters: 6, keepSums: true }).fit(x, y);
    await expect(model.partialFit([[1, 2]], ["a"])).rejects.toMatchObject({ code: "wrong-width" });
    await expect(model.partialFit(x, y.slice(1))).rejects.toMatchObject({ code: "bad-labels" });
    await expect(model.partialFit(x, [["a"]])).rejects.toMatchObject({ code: "bad-labels" });
    const none = Dense.of(new Uint8Array(0), 0, FEATURES);
    await expect(model.partialFit(none, [])).rejects.toMatchObject({ code: "empty-input" });
  });

  it("a rule for the distribution of a new class", async () => {
    const steps = Float64Array.from({ length: FEATURES }, (_, i) => i * i);
    const own = { filters: 6, keepSums: true, distribution: steps };
    const model = await new RankSimilarityClassifier({ ...own, distributionPerClass: true }).fit(x, y);
    await expect(model.partialFit(x, y)).resolves.toBeDefined();
    await expect(model.partialFit([x[0]], ["new"])).rejects.toThrow(/class "new" is new.*given by the caller/);
    const common = await new RankSimilarityClassifier(own).fit(x, y);
    expect((await common.partialFit([x[0]], ["new"])).classes).toContain("new");
  });
});

it("keeps sums of sparse rows sparse, and of small numbers small", async () => {
  const rows = Array.from({ length: 12 }, (_, r) => [[r * 700, 1 + r] as const, [9000 + (r % 2), 5] as const]);
  const x = Csr.fromRows(rows, 10_000);
  const y = rows.map((_, r) => r % 2);
  const model = await new RankSimilarityClassifier({ filters: 4, keepSums: true }).fit(x, y);
  const { sum_indices, sum_values, sums } = model.save().arrays;
  expect(sums).toBeUndefined();
  expect(sum_values.values).toBeInstanceOf(Uint8Array);
  expect(sum_indices.values.length).toBeLessThan(30);
  const grown = await model.partialFit(x, y);
  const total = Array.from(grown.save().arrays.sum_values.values).reduce((a, b) => a + b, 0);
  expect(total).toBe(2 * (78 + 60));
});

it("adds rows to the last step of a pipeline and leaves the others as they are", async () => {
  const old = makeRows(40, 9);
  const added = makeRows(30, 10);
  const pipeline = new Pipeline([
    ["scale", new MaxAbsScaler()],
    ["classify", new RankSimilarityClassifier({ filters: 9, keepSums: true })],
  ]);
  const model = await pipeline.fit(old.x, old.y);
  const grown = await model.partialFit(added.x, added.y);
  const [scaler, classifier] = model.steps as [
    Awaited<ReturnType<MaxAbsScaler["fit"]>>,
    Awaited<ReturnType<RankSimilarityClassifier["fit"]>>,
  ];
  const expected = await classifier.partialFit(await scaler.transform(added.x), added.y);
  expect(grown.steps[0]).toBe(scaler);
  expect(saveModel(grown.steps[1])).toEqual(saveModel(expected));
  expect(await grown.predict(added.x)).toEqual(await expected.predict(await scaler.transform(added.x)));
});
