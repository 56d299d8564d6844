/** Options come in one object. Where a program without types passes them as 0.1 took them, it is told so: none is passed over. */

import { crossValidate, gridSearch, tune } from "@ranksim/learn";
import { describe, expect, it } from "vitest";
import { Dense, RankSimilarityClassifier, RankSimilarityProbabilisticClassifier, saveModel } from "../../src/index.ts";

const x = Dense.fromRows(Array.from({ length: 60 }, (_, r) => [r % 7, (r * r) % 11, r % 3, (r * 5) % 13]));
const y = Array.from({ length: 60 }, (_, r) => ["a", "b", "c"][r % 3]);
const sets = y.map((label, r) => (r % 4 === 0 ? [label, "d"] : [label]));
const estimator = new RankSimilarityClassifier({ filters: 6 });
const run = { backend: "wasm" };

/** The call of every method that takes options, with arguments as a program without types may pass them. */
const calls: readonly (readonly [string, (...rest: unknown[]) => Promise<unknown>])[] = [
  ["calibrate", async (...rest) => (await estimator.fit(x, y)).calibrate(x, y, ...(rest as []))],
  [
    "calibrate",
    async (...rest) =>
      (await new RankSimilarityProbabilisticClassifier({ filters: 6 }).fit(x, y)).calibrate(x, y, ...(rest as [])),
  ],
  [
    "chooseThresholds",
    async (...rest) =>
      (await new RankSimilarityProbabilisticClassifier({ filters: 6 }).fit(x, sets)).chooseThresholds(
        x,
        sets,
        ...(rest as []),
      ),
  ],
  ["crossValidate", (...rest) => crossValidate(estimator, x, y, ...(rest as []))],
  ["gridSearch", (...rest) => gridSearch(estimator, { filters: [3, 6] }, x, y, ...(rest as []))],
  ["tune", (...rest) => tune([estimator], x, y, ...(rest as []))],
];

describe.each(calls)("%s", (name, call) => {
  it.each([
    ["an option by itself", ["isotonic"], "the string isotonic"],
    ["an option by itself and a run after it", ["isotonic", run], "an object after it"],
    ["a run after options", [{ seed: 3 }, run], "an object after it"],
    ["a run after no options", [undefined, run], "an object after it"],
    ["null", [null], "null"],
  ])("refuses %s", async (_, rest, found) => {
    await expect(call(...rest)).rejects.toThrow(
      `${name}: expected all options in one object, the last argument, found ${found}`,
    );
    await expect(call(...rest)).rejects.toMatchObject({ code: "bad-params" });
  });

  it("takes options in one object, and none", async () => {
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(call({ signal })).rejects.toThrow("enough");
    await expect(call()).resolves.toBeDefined();
  });
});

it("calibrates by the method that is asked for", async () => {
  const model = await estimator.fit(x, y);
  expect(saveModel(await model.calibrate(x, y))).toEqual(
    saveModel(await model.calibrate(x, y, { method: "temperature" })),
  );
  expect((await model.calibrate(x, y, { method: "isotonic" })).params.calibrate).toBe("isotonic");
});
