/** Sets with a promise: the rule by hand, the coverage that is promised, and the file. */

import {
  type Checkpoint,
  ConformalModel,
  conformalOf,
  Dense,
  type Label,
  loadModel,
  MaxAbsScaler,
  type Model,
  Pipeline,
  type PredictingModel,
  RankSimilarityClassifier,
  saveModel,
  toCsr,
} from "@ranksim/core";
import { ConformalClassifier } from "@ranksim/learn";
import { describe, expect, it } from "vitest";
import { conformalReader } from "../../core/src/models/conformal.ts";
import { drawBelow, generatorOf } from "../../core/src/random.ts";

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
  it("are trained with the checkpoint they are given", async () => {
    const x = Dense.fromRows(
      Array.from({ length: 60 }, (_, r) => Array.from({ length: 9 }, (_, i) => (r * i * 7) % 13)),
    );
    const y = Array.from({ length: 60 }, (_, r) => "ab"[r % 2]);
    const kept = new Map<string, Parameters<Checkpoint["keep"]>[1]>();
    let recalled = 0;
    const checkpoint: Checkpoint = {
      recall: async (name) => {
        if (kept.has(name)) recalled++;
        return kept.get(name);
      },
      isDue: async () => true,
      keep: async (name, state) => void kept.set(name, state),
    };
    const recipe = new ConformalClassifier(new RankSimilarityClassifier({ filters: 6 }));
    const model = await recipe.fit(x, y, { checkpoint });
    expect([...kept.keys()]).toEqual(["sets.bank-0", "sets.bank-1"]);
    expect(saveModel(await recipe.fit(x, y, { checkpoint }))).toEqual(saveModel(model));
    expect(recalled).toBe(2);
  });

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
    const { predictProbabilities: _, ...without } = told(["a"]);
    await expect(conformalOf(without as never, [[0, 1]], ["a"])).rejects.toMatchObject({ code: "unsupported" });
    await expect(conformalOf(told(["a"]), Dense.of(new Uint8Array(0), 0, 1), [])).rejects.toMatchObject({
      code: "empty-input",
    });
    for (const y of [["a"], ["a", "b", "a"]]) {
      await expect(conformalOf(told(["a", "b"]), rowsOf([1, 0], [0, 1]), y)).rejects.toThrow(
        `expected 2 labels, one for each row, found ${y.length}`,
      );
    }
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

/** Classes that are told apart at a glance. */
function clear(rows: number, seed: number): { x: Dense; y: string[] } {
  const { x, y } = noisy(rows, seed);
  const values = Uint8Array.from(
    x.values,
    (value, e) => value + (["ant", "bee", "cow"][e % 3] === y[Math.floor(e / 12)] ? 120 : 0),
  );
  return { x: Dense.of(values, rows, 12), y };
}

describe("novelty", () => {
  const { x, y } = noisy(600, 5);
  const recipe = new RankSimilarityClassifier({ filters: 12, seed: 1, calibrate: "temperature" });

  it("comes from the correlation with the filter that a row is most like, by a plain statement", async () => {
    for (const params of [{}, { committee: 3, filters: 24 }, { distribution: "savage" as const }]) {
      const model = await recipe.with({ calibrate: "none", ...params }).fit(x, y);
      const rows = Dense.of(Uint8Array.from([...x.slice(0, 20).values, ...new Array(12).fill(7)]), 21, 12);
      const found = await model.familiarity(rows);
      const scores = await model.classScores(rows);
      const { bank } = model;
      let mean = 0;
      for (let f = 0; f < bank.filters; f++) {
        const own = Array.from({ length: 12 }, (_, i) => (bank as { weights: ArrayLike<number> }).weights[f * 12 + i]);
        mean += own.reduce((sum, w) => sum + w, 0) / 12 / bank.norm[f] / bank.filters;
      }
      for (let r = 0; r < 20; r++) {
        const row = Array.from(rows.row(r));
        const average = row.reduce((sum, v) => sum + v, 0) / 12;
        const spread = Math.sqrt(row.reduce((sum, v) => sum + (v - average) ** 2, 0));
        const best = Math.max(...scores.row(r)) / model.committee;
        expect(found[r]).toBeCloseTo((best - mean * 12 * average) / spread, 9);
      }
      expect(found[20]).toBe(0);
    }
  });

  it("does not depend on how bright a row is, and is the same for sparse rows", async () => {
    const model = await recipe.fit(x, y);
    const some = x.slice(0, 30);
    const brighter = Dense.of(
      Float64Array.from(some.values, (value) => 4 * value + 3),
      30,
      12,
    );
    const [plain, bright, sparse] = [
      await model.familiarity(some),
      await model.familiarity(brighter),
      await model.familiarity(toCsr(some)),
    ];
    for (let r = 0; r < 30; r++) {
      expect(bright[r]).toBeCloseTo(plain[r], 9);
      expect(sparse[r]).toBe(plain[r]);
    }
  });

  it("refuses at most the share of known rows that was said, and nearly all of another kind", async () => {
    const trained = clear(600, 5);
    const model = await new ConformalClassifier(recipe as never, { heldOut: 0.4, seed: 2 }).fit(trained.x, trained.y);
    const known = clear(3000, 8);
    const random = generatorOf(3);
    const novel = Dense.of(
      Uint8Array.from({ length: 200 * 12 }, () => drawBelow(random, 200)),
      200,
      12,
    );
    for (const reject of [0.05, 0.2]) {
      const labels: (Label | null)[] = await model.predict(known.x, { reject });
      const refused = labels.filter((label) => label === null).length / 3000;
      // 240 rows held out: three standard deviations of the share are 0.08 at most.
      expect(refused).toBeLessThan(reject + 0.08);
      const kept = await model.predict(known.x);
      for (const [r, label] of labels.entries()) if (label !== null) expect(label).toBe(kept[r]);
    }
    expect((await model.predict(novel, { reject: 0.05 })).filter((label) => label === null).length).toBeGreaterThan(
      180,
    );
    const again = loadModel(saveModel(model)) as unknown as ConformalModel;
    expect(await again.novelty(novel)).toEqual(await model.novelty(novel));
  });

  it("is the share of rows held out that are more like the filters", async () => {
    const familiar = {
      ...told(["a", "b"]),
      familiarity: async (rows: Dense) => Float64Array.from(rows.values).filter((_, e) => e % 2 === 0),
    };
    const model = await conformalOf(familiar as never, rowsOf([3, 0], [1, 0], [2, 0], [4, 0]), ["a", "b", "a", "a"]);
    expect([...(model.known as Float64Array)]).toEqual([1, 2, 3, 4]);
    expect(Array.from(await model.novelty(rowsOf([0, 0], [1, 0], [2.5, 0], [9, 0])))).toEqual(
      [0.8, 0.6, 0.4, 0].map((v) => expect.closeTo(v, 12)),
    );
  });

  it("is refused where a model cannot say, and where a share makes no sense", async () => {
    const model = await conformalOf(told(["a"]), rowsOf([1, 0]), ["a"]);
    await expect(model.novelty(rowsOf([1, 0]))).rejects.toMatchObject({ code: "unsupported" });
    for (const reject of [0, 1, Number.NaN]) {
      await expect(model.predict(rowsOf([1, 0]), { reject })).rejects.toMatchObject({ code: "bad-params" });
    }
    const trained = await new ConformalClassifier(recipe as never).fit(x, y);
    const saved = trained.save();
    const forged = (known: Float64Array) =>
      conformalReader.read(
        { ...saved, arrays: { ...saved.arrays, known: { shape: [known.length], values: known } } },
        () => trained.model,
      );
    const { length } = trained.scores;
    expect(() => forged(new Float64Array(length).fill(Number.NaN))).toThrow(/known: expected ascending/);
    expect(() => forged(new Float64Array(length + 1))).toThrow(/known: expected \d+ numbers/);
    expect(() => forged(Float64Array.from({ length }, (_, r) => -r))).toThrow(/known: expected ascending/);
  });
});

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
