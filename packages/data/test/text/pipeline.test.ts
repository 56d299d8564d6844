import { type Estimator, loadModel, openBackend, Pipeline, RankSimilarityClassifier, saveModel } from "@ranksim/core";
import { expect, test } from "vitest";
import { CountVectorizer, HashingVectorizer, TfidfVectorizer, textReaders } from "../../src/index.ts";

const texts = [
  "the moon and the stars orbit in space",
  "a rocket flew to the moon, into orbit",
  "stars shine far out in space",
  "the puck hit the ice near the goal",
  "a late goal won the hockey game",
  "skates on ice, a puck and a game",
];
const labels = ["space", "space", "space", "hockey", "hockey", "hockey"];

test.each([
  ["counts", new CountVectorizer()],
  ["tf-idf", new TfidfVectorizer({ ngramRange: [1, 2] })],
  ["hashes", new HashingVectorizer({ nFeatures: 512, alternateSign: false })],
])("a saved pipeline of %s and a classifier takes raw text", async (_, vectorizer: Estimator<readonly string[]>) => {
  const run = { backend: await openBackend("reference") };
  const model = await new Pipeline([vectorizer, new RankSimilarityClassifier({ seed: 1 })]).fit(texts, labels, run);
  const bytes = saveModel(model);
  const loaded = loadModel(bytes, { readers: textReaders }) as typeof model;
  expect(await loaded.predict(["the rocket is in orbit", "ice hockey puck"], run)).toEqual(["space", "hockey"]);
  expect(saveModel(loaded)).toEqual(bytes);
});
