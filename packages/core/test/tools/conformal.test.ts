/** Sets with a promise: the rule by hand, the coverage that is promised, and the file. */

import {
  ConformalClassifier,
  ConformalModel,
  conformalOf,
  Dense,
  type Label,
  LinearSvm,
  loadModel,
  MaxAbsScaler,
  type Model,
  Pipeline,
  type PredictingModel,
  RankSimilarityClassifier,
  saveModel,
} from "@ranksim/core";
import { describe, expect, it } from "vitest";
import { drawBelow, generatorOf } from "../../src/random.ts";

/** A model that reads its probabilities off the rows. */
function told(classes: readonly Label[]): PredictingModel<Dense, Label> {
  return {
    kind: "told",
    classes,
    predict: async () => [],
    score: async () => 0,
    predictProbabilities: async (x) => x,
    save: () => ({ kind: "told", meta: {}, arrays: {} }),
  };
}

const rowsOf = (...rows: number[][]) => Dense.fromRows(rows);

describe("conformal sets", () => {
  it("follow the rule: the ⌈(n + 1) · coverage⌉-th smallest of 1 - p", async () => {
    const held = rowsOf([0.75, 0.25], [0.5, 0.5], [0.25, 0.75], [0.875, 0.125]);
    const model = await conformalOf(told(["a", "b"]), held, ["a", "b", "a", "a"]);
    expect([...model.scores]).toEqual([0.125, 0.25, 0.5, 0.75]);
    const ask = rowsOf([0.9, 0.1], [0.6, 0.4], [0.4, 0.6]);
    // Five times 0.6 is 3: the third smallest is 0.5, so classes of probability 0.5 or more.
    expect(await model.predictSets(ask, { coverage: 0.6 })).toEqual([["a"], ["a"], ["b"]]);
    // Five times 0.8 is 4: 0.75.
    expect(await model.predictSets(ask, { coverage: 0.8 })).toEqual([["a"], ["a", "b"], ["b", "a"]]);
    // Four rows cannot promise more than 4 / 5: every class may be true.
    expect(await model.predictSets(ask, { coverage: 0.81 })).toEqual([
      ["a", "b"],
      ["a", "b"],
      ["b", "a"],
    ]);
    // Five times 0.2 is 1: 0.125, and a set may be empty.
    expect(await model.predictSets(ask, { coverage: 0.2 })).toEqual([["a"], [], []]);
  });

  it("count rows of classes that the model does not know as missed", async () => {
    const model = await conformalOf(told(["a", "b"]), rowsOf([1, 0], [1, 0]), ["a", "z"]);
    expect([...model.scores]).toEqual([0, 1]);
  });

  it.each([0, 1, -1, Number.NaN])("refuse a coverage of %d", async (coverage) => {
    const model = await conformalOf(told(["a"]), rowsOf([1, 0]), ["a"]);
    await expect(model.predictSets(rowsOf([1, 0]), { coverage })).rejects.toMatchObject({ code: "bad-params" });
  });

  it("refuse models without probabilities, no rows and several labels", async () => {
    const svm = await new LinearSvm().fit(
      [
        [0, 1],
        [1, 0],
      ],
      ["a", "b"],
    );
    await expect(conformalOf(svm as never, [[0, 1]], ["a"])).rejects.toMatchObject({ code: "unsupported" });
    await expect(conformalOf(told(["a"]), Dense.of(new Uint8Array(0), 0, 1), [])).rejects.toMatchObject({
      code: "empty-input",
    });
    const estimator = new ConformalClassifier(new RankSimilarityClassifier());
    await expect(estimator.fit([[0, 1]], [["a"]])).rejects.toMatchObject({ code: "bad-labels" });
  });
});

/** Overlapping classes: each has its own high features, drowned in noise. */
function noisy(rows: number, seed: number): { x: Dense; y: string[] } {
  const random = generatorOf(seed);
  const values = new Uint8Array(rows * 12);
  const y = Array.from({ length: rows }, (_, r) => {
    const kind = drawBelow(random, 3);
    for (let i = 0; i < 12; i++) values[r * 12 + i] = drawBelow(random, 60) + (i % 3 === kind ? 14 : 0);
    return ["ant", "bee", "cow"][kind];
  });
  return { x: Dense.of(values, rows, 12), y };
}

describe("ConformalClassifier", () => {
  const inner = new Pipeline([
    ["scale", new MaxAbsScaler()],
    ["classify", new RankSimilarityClassifier({ filters: 30, calibrate: "temperature" })],
  ]);

  it("keeps its promise on rows like those held out, and larger sets where more is promised", async () => {
    const model = await new ConformalClassifier(inner as never, { heldOut: 0.4, seed: 2 }).fit(
      ...(Object.values(noisy(2000, 1)) as [Dense, string[]]),
    );
    const test = noisy(4000, 9);
    let before = 0;
    for (const coverage of [0.7, 0.9, 0.97]) {
      const sets = await model.predictSets(test.x, { coverage });
      const found = sets.filter((set, r) => set.includes(test.y[r])).length / test.y.length;
      // 800 rows held out and 4,000 asked: three standard deviations are 0.05 at most.
      expect(Math.abs(found - coverage)).toBeLessThan(0.05);
      const size = sets.reduce((sum, set) => sum + set.length, 0) / sets.length;
      expect(size).toBeGreaterThan(before);
      before = size;
    }
  });

  it("survives saving and loading, and refuses forged scores", async () => {
    const { x, y } = noisy(300, 4);
    const model = await new ConformalClassifier(inner as never).fit(x, y);
    const bytes = saveModel(model);
    const again = loadModel(bytes) as unknown as ConformalModel;
    expect(again).toBeInstanceOf(ConformalModel);
    expect(await again.predictSets(x)).toEqual(await model.predictSets(x));
    expect(await again.predict(x)).toEqual(await model.predict(x));
    expect(saveModel(again as Model)).toEqual(bytes);
  });

  it("hands parameters on to its recipe", () => {
    const estimator = new ConformalClassifier(new RankSimilarityClassifier()).with({ filters: 7, heldOut: 0.3 });
    expect(estimator.params).toMatchObject({ filters: 7, heldOut: 0.3 });
  });
});
