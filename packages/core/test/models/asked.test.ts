/** What all models that name classes can be asked alike: the best classes, what is sure, why; and what they refuse. */

import { expect, test } from "vitest";
import {
  Blend,
  type Classifier,
  conformalOf,
  LinearClassifier,
  loadModel,
  Pipeline,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  StandardScaler,
  saveModel,
  withSchema,
} from "../../src/index.ts";

const x = Array.from({ length: 60 }, (_, r) =>
  Array.from({ length: 5 }, (_, c) => ((c + r) % 3) * 3 + ((r * (c + 2)) % 2)),
);
const y = x.map((_, r) => "abc"[r % 3]);
const classifier = new RankSimilarityClassifier({ filters: 6, calibrate: "temperature" });

const MODELS: readonly [string, () => Promise<Classifier<string>>][] = [
  ["a classifier", async () => (await classifier.fit(x, y)) as unknown as Classifier<string>],
  ["a probabilistic one", async () => (await new RankSimilarityProbabilisticClassifier().fit(x, y)) as never],
  ["planes", async () => (await new LinearClassifier().fit(x, y)) as never],
  ["a pipeline", async () => (await new Pipeline([new StandardScaler(), new LinearClassifier()]).fit(x, y)) as never],
  ["a blend", async () => (await new Blend([classifier, new LinearClassifier()]).fit(x, y)) as never],
  ["sets", async () => (await conformalOf((await classifier.fit(x, y)) as never, x, y)) as never],
];

test.each(MODELS)("%s", async (_, make) => {
  const made = await make();
  for (const model of [made, loadModel(saveModel(made).buffer as ArrayBuffer) as unknown as Classifier<string>]) {
    const labels = await model.predict(x);
    const probabilities = await model.predictProbabilities(x);
    const place = (label: string) => model.classes.indexOf(label);
    const least = Array.from(labels, (label, r) => probabilities.row(r)[place(label)]);
    const threshold = Math.max(...least);
    const sure = labels.map((label, r) => (least[r] >= threshold ? label : null));
    expect(await model.predict(x, { threshold })).toEqual(sure);
    if (new Set(least).size > 1) expect(sure).toContain(null);
    const top = await model.predictTop(x, 9);
    for (const [r, ranked] of top.entries()) {
      expect(ranked.map(({ probability }) => probability)).toEqual([...probabilities.row(r)].sort((a, b) => b - a));
      for (const { label, probability } of ranked) expect(probabilities.row(r)[place(label)]).toBe(probability);
    }
    expect((await model.predictTop(x.slice(0, 1), 1))[0]).toEqual(top[0].slice(0, 1));
    expect(await model.predictTop([], 2)).toEqual([]);
    const why = await model.explain(x, 7);
    expect(why.label).toBe(labels[7]);
    expect(why.contributions.length).toBeGreaterThan(0);
    expect(await model.explain([x[7]])).toEqual(why);

    expect(() => JSON.stringify({ model })).toThrow(/expected saveModel\(model\), not JSON/);
    for (const wrong of [-1, 60, 0.5])
      await expect(model.explain(x, wrong)).rejects.toThrow(/expected a row from 0 below 60/);
    for (const wrong of [-0.1, 1.1, Number.NaN]) {
      await expect(model.predict(x, { threshold: wrong })).rejects.toThrow(/threshold: expected a number from 0 to 1/);
    }
    for (const wrong of [0, 1.5])
      await expect(model.predictTop(x, wrong)).rejects.toThrow(/k: expected a whole number/);
  }
});

test("of several labels a threshold gives those that are as probable", async () => {
  const sets = x.map((_, r) => [["a"], ["a", "b"], []][r % 3]);
  const model = await new RankSimilarityProbabilisticClassifier({ filters: 6 }).fit(x, sets);
  const { values } = await model.predictProbabilities(x.slice(0, 3));
  const expected = [0, 1, 2].map((r) => model.classes.filter((_, c) => values[2 * r + c] >= 0.3));
  expect(await model.predict(x.slice(0, 3), { threshold: 0.3 })).toEqual(expected);
});

test("features have the names of the model's columns, through the steps before", async () => {
  const columns = ["age", "size", "mass", "rate", "dose"].map((name) => ({ name, type: "number" as const }));
  const schema = { form: "numbers" as const, width: 5, columns };
  for (const estimator of [classifier, new Pipeline([new StandardScaler(), new LinearClassifier()])]) {
    const model = withSchema(await estimator.fit(x, y), schema) as unknown as Classifier<string>;
    const { contributions } = await model.explain(x, 2);
    for (const { feature, name } of contributions) expect(name).toBe(columns[feature].name);
  }
});
