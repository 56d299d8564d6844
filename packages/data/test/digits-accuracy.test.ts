/** What the estimators reach on the UCI digits (1,797 x 64), by ten-fold cross-validation. */

import { crossValidate, LinearSvm, Pipeline, RankSimilarityClassifier, RankSimilarityTransform } from "@ranksim/core";
import { loadDigits } from "@ranksim/data";
import { expect, it } from "vitest";

const digits = await loadDigits();
const options = { folds: 10, seed: 0, stratified: true } as const;

it("classifies at least 97 % of the digits with default parameters", async () => {
  const { mean } = await crossValidate(new RankSimilarityClassifier(), digits.x, digits.y, options);
  expect(mean).toBeGreaterThanOrEqual(0.97);
});

it("makes a linear classifier better: 150 filters before the SVM against the SVM alone", async () => {
  const alone = await crossValidate(new LinearSvm(), digits.x, digits.y, options);
  const pipeline = new Pipeline([
    ["filters", new RankSimilarityTransform({ filters: 150 })],
    ["svm", new LinearSvm()],
  ]);
  const together = await crossValidate(pipeline, digits.x, digits.y, options);
  expect(together.mean).toBeGreaterThan(alone.mean);
});
