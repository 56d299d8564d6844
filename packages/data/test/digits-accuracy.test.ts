/** What the estimators reach on the UCI digits (1,797 x 64), by cross-validation. */

import { LinearClassifier, Pipeline, RankSimilarityClassifier, RankSimilarityTransform } from "@ranksim/core";
import { loadDigits } from "@ranksim/data";
import { crossValidate } from "@ranksim/learn";
import { expect, it } from "vitest";

const digits = await loadDigits();
const options = { folds: 10, seed: 0, stratified: true } as const;

it("classifies at least 97 % of the digits with default parameters", async () => {
  const { mean } = await crossValidate(new RankSimilarityClassifier(), digits.x, digits.y, options);
  expect(mean).toBeGreaterThanOrEqual(0.97);
});

it("makes a linear classifier better: 150 filters before it against itself alone", async () => {
  const few = { ...options, folds: 3 };
  const alone = await crossValidate(new LinearClassifier(), digits.x, digits.y, few);
  const pipeline = new Pipeline([
    ["filters", new RankSimilarityTransform({ filters: 150 })],
    ["head", new LinearClassifier()],
  ]);
  const together = await crossValidate(pipeline, digits.x, digits.y, few);
  expect(together.mean).toBeGreaterThan(alone.mean);
});
