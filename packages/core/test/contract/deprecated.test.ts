/** Forms of calls and names of 0.1 that go in 0.3: until then they do what the new ones do. */

import { describe, expect, it } from "vitest";
import {
  crossValidate,
  Dense,
  gridSearch,
  grows,
  isClassifier,
  isTransformer,
  isUpdatable,
  predicts,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  type Run,
  saveModel,
  transforms,
  tune,
} from "../../src/index.ts";

const x = Dense.fromRows(Array.from({ length: 60 }, (_, r) => [r % 7, (r * r) % 11, r % 3, (r * 5) % 13]));
const y = Array.from({ length: 60 }, (_, r) => ["a", "b", "c"][r % 3]);
const sets = y.map((label, r) => (r % 4 === 0 ? [label, "d"] : [label]));

/** A run that notes whether it was asked. */
function watched(): { run: Run; seen: () => number } {
  let seen = 0;
  return { run: { backend: "wasm", onProgress: () => void seen++ }, seen: () => seen };
}

describe("options in one object, or a Run apart as in 0.1", () => {
  it.each([undefined, "temperature", "isotonic"] as const)("calibrate(x, y, %s)", async (method) => {
    for (const Estimator of [RankSimilarityClassifier, RankSimilarityProbabilisticClassifier]) {
      const model = await new Estimator({ filters: 6 }).fit(x, y);
      const [one, two] = [watched(), watched()];
      const apart = await model.calibrate(x, y, method, one.run);
      const joined = await model.calibrate(x, y, { ...(method ? { method } : {}), ...two.run });
      expect(saveModel(apart)).toEqual(saveModel(joined));
      expect(apart.params.calibrate).toBe(method ?? "temperature");
      expect(one.seen()).toBeGreaterThan(0);
      expect(two.seen()).toBe(one.seen());
    }
  });

  it("chooseThresholds", async () => {
    const model = await new RankSimilarityProbabilisticClassifier({ filters: 6 }).fit(x, sets);
    const [one, two] = [watched(), watched()];
    const apart = await model.chooseThresholds(x, sets, "common", one.run);
    expect(saveModel(apart)).toEqual(saveModel(await model.chooseThresholds(x, sets, { rule: "common", ...two.run })));
    expect(saveModel(await model.chooseThresholds(x, sets, "perLabel"))).toEqual(
      saveModel(await model.chooseThresholds(x, sets)),
    );
    expect(two.seen()).toBe(one.seen());
  });

  it("crossValidate, gridSearch and tune", async () => {
    const estimator = new RankSimilarityClassifier({ filters: 6 });
    const how = { folds: 2, seed: 3 };
    const calls = [
      async (apart: Run | undefined, run: Run) =>
        (await crossValidate(estimator, x, y, { ...how, ...run }, apart)).scores,
      async (apart: Run | undefined, run: Run) =>
        (await gridSearch(estimator, { filters: [3, 6] }, x, y, { ...how, ...run }, apart)).results.map(
          ({ mean }) => mean,
        ),
      async (apart: Run | undefined, run: Run) =>
        (await tune([estimator], x, y, { ...how, ...run }, apart)).best.rounds.map(({ scores }) => scores),
    ];
    for (const call of calls) {
      const [one, two] = [watched(), watched()];
      expect(await call(one.run, {})).toEqual(await call(undefined, two.run));
      expect(one.seen()).toBeGreaterThan(0);
      expect(two.seen()).toBe(one.seen());
      await expect(call(undefined, { signal: AbortSignal.abort(new Error("enough")) })).rejects.toThrow("enough");
    }
  });
});

it("guards of models have their names of 0.1", () => {
  expect([predicts, transforms, grows]).toEqual([isClassifier, isTransformer, isUpdatable]);
});
