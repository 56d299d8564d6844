/** `score` and the other calls that compare labels with a model's classes: a label of another type is no wrong answer but a mistake. */

import {
  LinearClassifier,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  toDense,
} from "@ranksim/core";
import { reliability } from "@ranksim/learn";
import { describe, expect, it } from "vitest";

const rows = Array.from({ length: 12 }, (_, r) => Array.from({ length: 9 }, (_, i) => (r % 2 === 0 ? i : 8 - i) + r));
const numbers = rows.map((_, r) => r % 2);
const texts = numbers.map(String);

const estimators = [
  new RankSimilarityClassifier({ filters: 4 }),
  new RankSimilarityProbabilisticClassifier({ filters: 4 }),
  new LinearClassifier(),
];

describe.each(estimators.map((estimator) => ({ title: estimator.constructor.name, estimator })))(
  "$title",
  (subject) => {
    it("refuses to score labels of another type, and says how to convert them", async () => {
      const model = await subject.estimator.fit(rows, numbers);
      expect(await model.score(rows, numbers)).toBe(1);
      expect(await model.score(rows, Array.from(texts, Number))).toBe(1);
      await expect(model.score(rows, texts)).rejects.toThrow(
        /label "0" is a string where the model has the number 0; .*Array\.from\(y, Number\)/,
      );
      const named = await subject.estimator.fit(rows, texts);
      await expect(named.score(rows, Uint8Array.from(numbers))).rejects.toThrow(/Array\.from\(y, String\)/);
      await expect(named.score(rows, numbers)).rejects.toMatchObject({ code: "bad-labels" });
    });

    it("scores labels that the model does not know as wrong", async () => {
      const model = await subject.estimator.fit(rows, numbers);
      expect(
        await model.score(
          rows,
          rows.map(() => "strange"),
        ),
      ).toBe(0);
    });
  },
);

it("scores of several labels, fitted probabilities and reliability refuse them too", async () => {
  const sets = await new RankSimilarityProbabilisticClassifier({ filters: 4 }).fit(
    rows,
    numbers.map((label) => [label]),
  );
  await expect(
    sets.score(
      rows,
      texts.map((label) => [label]),
    ),
  ).rejects.toThrow(/is a string where the model has/);
  const model = await new RankSimilarityClassifier({ filters: 4 }).fit(rows, numbers);
  await expect(model.calibrate(rows, texts)).rejects.toThrow(/is a string where the model has the number/);
  const probabilities = toDense(await model.predictProbabilities(rows));
  expect(() => reliability(texts, probabilities, [0, 1])).toThrow(/is a string/);
});
