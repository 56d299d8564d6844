/** Cross-validation and searches: every row judged once by a model that did not see it, results ranked, aborts heeded. */

import {
  Csr,
  Dense,
  type Estimator,
  type Label,
  type Labels,
  type Model,
  type PredictingModel,
  type Progress,
  RankSimilarityProbabilisticClassifier,
  type Run,
} from "@ranksim/core";
import { describe, expect, expectTypeOf, test } from "vitest";
import { crossValidate, gridSearch } from "../../src/select/validation.ts";
import { NearestMean, type NearestMeanModel } from "../nearest-mean.ts";

// Two lumps on a line; row 7 of class b lies among class a.
const x = [[0], [1], [2], [3], [100], [101], [102], [1.5], [103], [104]];
const y = ["a", "a", "a", "a", "b", "b", "b", "b", "b", "b"];

/** Counts the fits under way and keeps the rows it was trained on. */
class Watched implements Estimator<Dense, NearestMeanModel> {
  readonly kind = "watched";
  readonly params = {};
  readonly trained: number[][] = [];
  running = 0;
  with() {
    return this;
  }
  async fit(data: Dense, labels?: Labels, run?: Run) {
    this.running++;
    try {
      this.trained.push(Array.from(data.values));
      return await new NearestMean().fit(data, labels, run);
    } finally {
      this.running--;
    }
  }
}

describe("crossValidate", () => {
  test("judges each row once, by a model that has not seen it", async () => {
    const estimator = new Watched();
    const tested: number[] = [];
    const data = Dense.fromRows(x);
    const result = await crossValidate(estimator, data, y, {
      folds: 4,
      scoring: (_, part) => {
        const seen = estimator.trained.at(-1) as number[];
        for (const value of part.values) expect(seen).not.toContain(value);
        expect(seen.length + part.rows).toBe(10);
        tested.push(...part.values);
        return 1;
      },
    });
    expect(tested.sort((a, b) => a - b)).toEqual([...data.values].sort((a, b) => a - b));
    expect(result.scores).toEqual([1, 1, 1, 1]);
    expect(result.standardDeviation).toBe(0);
    expect(result.fitSeconds.length).toBe(4);
    expect(result.scoreSeconds.every((seconds) => seconds >= 0)).toBe(true);
  });

  test("gives mean and standard deviation of the scores", async () => {
    const scores = [0.5, 0.75, 1];
    const given = [...scores];
    const result = await crossValidate(new NearestMean(), x, y, { folds: 3, scoring: () => given.shift() as number });
    expect(result.scores).toEqual(scores);
    expect(result.mean).toBe(0.75);
    expect(result.standardDeviation).toBeCloseTo(Math.sqrt((0.0625 + 0 + 0.0625) / 3), 15);
  });

  test("one row of ten is wrong, whatever the folds", async () => {
    const { mean } = await crossValidate(new NearestMean(), x, y, { folds: 5, seed: 1 });
    expect(mean).toBeCloseTo(0.9, 12);
    const each = await crossValidate(new NearestMean(), x, y, { folds: 10, stratified: false });
    expect(each.scores.filter((score) => score === 0).length).toBe(1);
  });

  test("scores by name", async () => {
    const firstOnly = new NearestMean({ firstOnly: true });
    const by = async (scoring: Parameters<typeof crossValidate<typeof x, NearestMeanModel>>[3]) =>
      (await crossValidate(firstOnly, x, y, { folds: 2, ...scoring })).mean;
    // Each test part has 2 rows of a and 3 of b, all said to be a.
    expect(await by({})).toBeCloseTo(2 / 5, 12);
    expect(await by({ scoring: "balancedAccuracy" })).toBeCloseTo(1 / 2, 12);
    expect(await by({ scoring: "f1Macro" })).toBeCloseTo(4 / 7 / 2, 12);
    expect(await by({ scoring: "f1Weighted" })).toBeCloseTo((2 * (4 / 7)) / 5, 12);
    expect(await by({ scoring: "f1Micro" })).toBeCloseTo(2 / 5, 12);
    expect(await by({ scoring: "negativeLogLoss" })).toBeCloseTo((3 / 5) * -52 * Math.log(2), 6);
  });

  test("takes sparse rows and texts alike", async () => {
    const sparse = Csr.fromRows(
      x.map(([value]) => (value === 0 ? [] : [[0, value] as const])),
      1,
    );
    const expected = (await crossValidate(new NearestMean(), x, y, { seed: 3 })).scores;
    expect((await crossValidate(new NearestMean(), sparse, y, { seed: 3 })).scores).toEqual(expected);
    const texts = x.map(([value]) => String(value));
    const overText = (model: PredictingModel, numbers: readonly string[]) => model.predict(numbers.map((t) => [+t]));
    const reader: Estimator<readonly string[], PredictingModel<readonly string[]>> = {
      kind: "reader",
      params: {},
      with: () => reader,
      fit: async (data, labels, run) => {
        const model = await new NearestMean().fit(
          data.map((text) => [Number(text)]),
          labels,
          run,
        );
        return {
          kind: "reader",
          classes: model.classes,
          predict: (part) => overText(model, part),
          score: async (part, truth) => {
            const found = await overText(model, part);
            return found.filter((label, r) => label === (truth as readonly Label[])[r]).length / found.length;
          },
          save: () => model.save(),
        };
      },
    };
    expect((await crossValidate(reader, texts, y, { seed: 3 })).scores).toEqual(expected);
  });

  test("label sets are folded without strata and scored by exact sets", async () => {
    const rows = Array.from({ length: 12 }, (_, r) => (r % 2 === 0 ? [9, 1, 0] : [0, 1, 9]));
    const sets = rows.map((_, r) => (r % 2 === 0 ? ["p", "q"] : ["q"]));
    const estimator = new RankSimilarityProbabilisticClassifier({ filters: 2, initialize: "plusplus" });
    const { mean } = await crossValidate(estimator, rows, sets, { folds: 3 });
    expect(mean).toBe(1);
    await expect(crossValidate(estimator, rows, sets, { stratified: true })).rejects.toThrow(/found label sets/);
  });

  test("progress never falls and ends at 1", async () => {
    const shares: number[] = [];
    const run = { onProgress: ({ share }: Progress) => void shares.push(share) };
    await crossValidate(new NearestMean(), x, y, { folds: 2, ...run });
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect(shares[0]).toBe(0);
    expect(shares).toContain(0.45 / 2);
    expect(shares.at(-1)).toBe(1);
  });

  test("an abort stops before the next fit and leaves nothing running", async () => {
    const estimator = new Watched();
    const abort = new AbortController();
    const scoring = () => {
      abort.abort(new Error("enough"));
      return 1;
    };
    const call = crossValidate(estimator, Dense.fromRows(x), y, { folds: 5, scoring, signal: abort.signal });
    await expect(call).rejects.toThrow("enough");
    expect(estimator.trained.length).toBe(1);
    expect(estimator.running).toBe(0);
  });

  test("refuses wrong labels, scores and scorings", async () => {
    const estimator = new NearestMean();
    await expect(crossValidate(estimator, x, ["a"])).rejects.toMatchObject({ code: "bad-labels" });
    await expect(crossValidate(estimator, x, y, { folds: 2, scoring: () => Number.NaN })).rejects.toThrow(
      /fold 0: expected a finite score, found NaN/,
    );
    await expect(crossValidate(estimator, x, y, { scoring: "f2" as "f1Macro" })).rejects.toThrow(/found f2/);
    await expect(crossValidate(estimator, x, y, { folds: 11 })).rejects.toThrow(/folds from 2/);
  });
});

describe("gridSearch", () => {
  test("ranks every combination and fits the best on all rows", async () => {
    const grid = { firstOnly: [true, false], seed: [7, 8] };
    const found = await gridSearch(new NearestMean(), grid, x, y, { folds: 5 });
    expect(found.results.map(({ params }) => params)).toEqual([
      { firstOnly: false, seed: 7 },
      { firstOnly: false, seed: 8 },
      { firstOnly: true, seed: 7 },
      { firstOnly: true, seed: 8 },
    ]);
    expect(found.bestParams).toEqual({ firstOnly: false, seed: 7 });
    expect(found.bestScore).toBeCloseTo(0.9, 12);
    expect(found.bestEstimator.params).toEqual({ firstOnly: false, seed: 7 });
    expect(found.results[2].mean).toBeCloseTo(0.4, 12);
    expect(found.model.means[0]).toEqual([1.5]);
    expectTypeOf(found.model).toEqualTypeOf<NearestMeanModel>();
  });

  test("an empty grid judges the estimator as it is", async () => {
    const { results } = await gridSearch(new NearestMean(), {}, x, y, { folds: 2 });
    expect(results.map(({ params }) => params)).toEqual([{}]);
  });

  test("refuses a wrong parameter before the first fit", async () => {
    let fits = 0;
    const run = { onProgress: () => void fits++ };
    const call = gridSearch(new NearestMean(), { firstOnly: [true], depth: [1] }, x, y, run);
    await expect(call).rejects.toThrow(/unknown parameter depth/);
    await expect(gridSearch(new NearestMean(), { seed: [] }, x, y, run)).rejects.toThrow(/at least 1 value for seed/);
    expect(fits).toBe(0);
  });

  test("progress covers all fits and the last one, an abort stops it at any step", async () => {
    const grid = { seed: [1, 2, 3] };
    const seen: number[] = [];
    await gridSearch(new NearestMean(), grid, x, y, { folds: 2, onProgress: ({ share }) => void seen.push(share) });
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
    expect(seen.at(-1)).toBe(1);
    for (let step = 0; step < seen.length; step++) {
      const abort = new AbortController();
      let steps = 0;
      const onProgress = () => {
        if (steps++ === step) abort.abort(new Error("enough"));
      };
      const call: Promise<{ model: Model }> = gridSearch(new NearestMean(), grid, x, y, {
        folds: 2,
        signal: abort.signal,
        onProgress,
      });
      await expect(call).rejects.toThrow("enough");
    }
  });
});
