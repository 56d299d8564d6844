/** Rows that weigh more: the same as rows that are there more often, in sums and in label counts; draws stay as they are. */

import {
  type Backend,
  type ClassifierModel,
  Dense,
  MaxAbsScaler,
  Pipeline,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
  type RowSource,
  saveModel,
  toCsr,
  toDense,
  type Values,
} from "@ranksim/core";
import { ConformalClassifier, trainTestSplit } from "@ranksim/learn";
import { afterAll, describe, expect, it } from "vitest";
import { drawBelow, generatorOf } from "../../src/random.ts";
import { readRows } from "../backends/read-rows.ts";
import { platforms } from "../platforms.ts";

const ROWS = 60;
const FEATURES = 14;
const random = generatorOf(11);
const y = Array.from({ length: ROWS }, (_, r) => r % 3);
const x = Dense.of(
  Uint8Array.from({ length: ROWS * FEATURES }, (_, e) => {
    const kind = y[Math.floor(e / FEATURES)];
    return drawBelow(random, 90) + ((e % FEATURES) % 3 === kind ? 60 : 0);
  }),
  ROWS,
  FEATURES,
);
const weights = Array.from({ length: ROWS }, (_, r) => 1 + ((r * 7) % 4));
/** Every row as often as it weighs; those that come again come after all others, so that rows keep their numbers. */
const again = y.flatMap((_, r) => new Array<number>(weights[r] - 1).fill(r));
const repeated = Uint32Array.from([...y.keys(), ...again]);
const [xs, ys] = [toDense(x.gather(repeated)), Array.from(repeated, (r) => y[r])];

const byClass = [0, 1, 2].map((kind) => [...y.keys()].filter((r) => y[r] === kind).slice(0, 3));
const first = [0, 1, 2, 3, 4, 5, 6, 7];

describe("weights of rows", () => {
  it("make filters as repeated rows do, for each class", async () => {
    for (const params of [{}, { refine: false, nBest: 3 }]) {
      const recipe = new RankSimilarityClassifier({ initialRows: byClass, ...params });
      const [weighted, plain, twice] = [
        await recipe.fit(x, y, { weights }),
        await recipe.fit(x, y),
        await recipe.fit(xs, ys),
      ];
      expect(weighted.report.trainings.every(({ steps }) => steps.every(({ empty }) => empty === 0))).toBe(true);
      expect(weighted.bank).toEqual(twice.bank);
      expect(weighted.bank).not.toEqual(plain.bank);
      expect(weighted.report.rows).toBe(ROWS);
    }
  });

  it("make filters and shares of labels as repeated rows do", async () => {
    const recipe = new RankSimilarityProbabilisticClassifier({ initialRows: first, combine: "mean" });
    const sets = y.map((label) => (label === 2 ? [0, 1] : [label]));
    for (const [labels, more] of [
      [y, ys],
      [sets, Array.from(repeated, (r) => sets[r])],
    ] as const) {
      const weighted = await recipe.fit(x, labels as number[], { weights });
      const twice = await recipe.fit(xs, more as number[]);
      expect(weighted.bank).toEqual(twice.bank);
      expect(await weighted.predictProbabilities(x)).toEqual(await twice.predictProbabilities(x));
      const plain = await recipe.fit(x, labels as number[]);
      expect(await weighted.predictProbabilities(x)).not.toEqual(await plain.predictProbabilities(x));
    }
  });

  it("make filters without labels as repeated rows do, of sparse rows too", async () => {
    const recipe = new RankSimilarityTransform({ initialRows: first });
    const twice = await recipe.fit(xs);
    expect((await recipe.fit(x, undefined, { weights })).bank).toEqual(twice.bank);
    expect((await recipe.fit(toCsr(x), undefined, { weights })).bank).toEqual(twice.bank);
  });

  it("change nothing where they are all alike, nor what is drawn", async () => {
    const recipe = new RankSimilarityClassifier({ filters: 12, seed: 3, calibrate: "temperature" });
    const plain = await recipe.fit(x, y);
    for (const weight of [1, 4, 0.5]) {
      const alike = await recipe.fit(x, y, { weights: new Array(ROWS).fill(weight) });
      expect(saveModel(alike)).toEqual(saveModel(plain));
    }
    for (const initialize of ["random", "plusplus"] as const) {
      const start = recipe.with({ initialize, spreading: "none" });
      expect((await start.fit(x, y, { weights })).bank).toEqual((await start.fit(x, y)).bank);
    }
  });

  it("need not be whole, and reach the last step of a pipeline and refinement", async () => {
    const recipe = new Pipeline([
      ["scale", new MaxAbsScaler()],
      ["classify", new RankSimilarityClassifier({ filters: 9, refine: true, seed: 2 })],
    ]);
    const heavy = weights.map((weight) => weight / 3);
    const weighted = (await recipe.fit(x, y, { weights: heavy })).steps[1] as ClassifierModel;
    const plain = (await recipe.fit(x, y)).steps[1] as ClassifierModel;
    expect(weighted.bank).not.toEqual(plain.bank);
  });

  it("go with the rows that sets leave to train on", async () => {
    const recipe = new RankSimilarityClassifier({ filters: 6 });
    const { rows } = trainTestSplit(x, y, { testShare: 0.1, seed: 3 });
    const own = await recipe.fit(
      x.gather(rows.train),
      Array.from(rows.train, (r) => y[r]),
      { weights: Array.from(rows.train, (r) => weights[r]) },
    );
    const sets = new ConformalClassifier(recipe, { seed: 3 });
    expect(((await sets.fit(x, y, { weights })).model as ClassifierModel).bank).toEqual(own.bank);
    await expect(sets.fit(x, y, { weights: [...weights, 1] })).rejects.toThrow(/expected 60 numbers, .* found 61/);
  });

  it("are refused where they make no sense", async () => {
    const recipe = new RankSimilarityClassifier({ filters: 6 });
    await expect(recipe.fit(x, y, { weights: [1, 2] })).rejects.toThrow(/weights: expected 60 numbers, .* found 2/);
    for (const wrong of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      const given = weights.with(4, wrong);
      await expect(recipe.fit(x, y, { weights: given })).rejects.toThrow(/weights: row 4: expected a number above 0/);
    }
    const shares = new RankSimilarityProbabilisticClassifier({ filters: 6 });
    await expect(shares.fit(x, y, { weights: weights.with(7, 1.5) })).rejects.toThrow(/row 7: expected a whole number/);
    const other = recipe.with({ filterFunction: "medianRank" as never });
    await expect(other.fit(x, y, { weights })).rejects.toMatchObject({ code: "unsupported" });
    const scaled = new Pipeline([new RankSimilarityTransform({ filters: 6 }), new MaxAbsScaler()]);
    await expect(scaled.fit(x, y, { weights })).rejects.toThrow(/max-abs-scaler takes no weights of rows/);
  });
});

describe.each(platforms)("weighted rows on $title", ({ open }) => {
  const opened = open();
  afterAll(async () => (await opened).close());

  const values = x.values as Uint8Array;
  const cases: readonly (readonly [string, Values, (r: number) => number, number])[] = [
    ["small bytes", values.map((value) => value >> 2), (r) => 1 + (r % 4), 1],
    ["bytes", values, (r) => 1 + (r % 4), 2],
    ["sums of two bytes", Uint16Array.from(values, (value) => value * 60), (r) => 1 + (r % 7), 2],
    ["large sums", Uint16Array.from(values, (value) => value * 400), (r) => 1 + (r % 7), 4],
    ["numbers below 0", Int16Array.from(values, (value) => value - 90), (r) => 1 + (r % 7), 2],
    ["weights of halves", values, (r) => 0.5 + (r % 2), 4],
    ["other weights", values, (r) => (1 + (r % 4)) / 3, 8],
  ];

  it.each(cases)(
    "%s: take no more memory than they need, and give the same file",
    async (_, given, weightOf, width) => {
      const backend = await opened;
      const own = Dense.of(given, ROWS, FEATURES);
      const heavy = y.map((_, r) => weightOf(r));
      // All products in float64, which the back end is given as they are.
      const products = Float64Array.from(given, (value, e) => value * heavy[Math.floor(e / FEATURES)]);
      const recipe = new RankSimilarityTransform({ initialRows: first, keepSums: true });
      const expected = saveModel(await recipe.fit(Dense.of(products, ROWS, FEATURES), undefined, { backend }));
      const sources: readonly (readonly [string, RowSource, number])[] = [
        ["dense", own, width],
        ["sparse", toCsr(own), width],
        ["in room", readRows(own, 2 ** 20), Math.max(width, 2)],
        ["out of room", readRows(own, 16 * FEATURES * 12), Math.max(width, 2)],
      ];
      for (const [form, source, bytes] of sources) {
        const widths = new Set<number>();
        const watching: Backend = {
          name: backend.name,
          threads: backend.threads,
          estimate: (work) => backend.estimate(work),
          close: () => backend.close(),
          hold: (rows, plan) => {
            widths.add(rows.valueBytes);
            return backend.hold(rows, plan);
          },
        };
        const model = await recipe.fit(source, undefined, { weights: heavy, backend: watching });
        expect([...widths], form).toEqual([bytes]);
        expect(saveModel(model), form).toEqual(expected);
      }
    },
  );

  it("whose weights are all 1 are the rows themselves", async () => {
    const backend = await opened;
    const reads = { passes: 0, largest: 0 };
    const recipe = new RankSimilarityTransform({ initialRows: first });
    const ones = await recipe.fit(readRows(x, 2 ** 20, reads), undefined, {
      weights: new Array(ROWS).fill(1),
      backend,
    });
    const plain = { passes: 0, largest: 0 };
    expect(saveModel(ones)).toEqual(saveModel(await recipe.fit(readRows(x, 2 ** 20, plain), undefined, { backend })));
    expect(reads).toEqual(plain);
  });
});
