/** Rows that weigh more: the same as rows that are there more often, in sums and in label counts; draws stay as they are. */

import {
  type ClassifierModel,
  ConformalClassifier,
  Dense,
  LinearSvm,
  MaxAbsScaler,
  Pipeline,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
  saveModel,
  toCsr,
  toDense,
  trainTestSplit,
} from "@ranksim/core";
import { describe, expect, it } from "vitest";
import { drawBelow, generatorOf } from "../../src/random.ts";

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
    const svm = new Pipeline([new MaxAbsScaler(), new LinearSvm()]);
    await expect(svm.fit(x, y, { weights })).rejects.toThrow(/linear-svm takes no weights of rows/);
  });
});
