/** Many predictions at once with a bank large enough for bounds: what a server does with one model. */

import {
  type Backend,
  type ClassifierModel,
  loadModel,
  openBackend,
  RankSimilarityClassifier,
  saveModel,
} from "@ranksim/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isFull } from "../tier.ts";
import { blends, classesOf } from "./blends.ts";

const FEATURES = 784;
const CLASSES = 10;
const FILTERS = 2000;
const PARTS = 8;
const PART_ROWS = 1000;

const platforms: readonly { title: string; open: () => Promise<Backend> }[] = [
  { title: "wasm", open: () => openBackend("wasm") },
  ...(isFull
    ? [
        { title: "threads", open: () => openBackend("threads", { threads: 2 }) },
        { title: "auto", open: () => openBackend("auto", { threads: 2 }) },
      ]
    : []),
];

let bytes: Uint8Array;
let expected: unknown[][];
const test = blends(PARTS * PART_ROWS, FEATURES, CLASSES, 2);
const parts = Array.from({ length: PARTS }, (_, p) => test.slice(p * PART_ROWS, (p + 1) * PART_ROWS));

beforeAll(async () => {
  const backend = await openBackend("wasm");
  const train = blends(2 * FILTERS, FEATURES, CLASSES, 1);
  const recipe = new RankSimilarityClassifier({ filters: FILTERS, iterations: 2 });
  const model = await recipe.fit(train, classesOf(train.rows, CLASSES), { backend });
  bytes = saveModel(model);
  // One call at a time, each in a back end of its own.
  expected = [];
  for (const part of parts) {
    const fresh = await openBackend("wasm");
    expected.push(await (loadModel(bytes) as ClassifierModel).predict(part, { backend: fresh }));
    await fresh.close();
  }
  const reference = await openBackend("reference");
  const few = parts[0].slice(0, 30);
  expect(await model.predict(few, { backend: reference })).toEqual(expected[0].slice(0, 30));
  await backend.close();
});

describe.each(platforms)("$title", ({ open }) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await open();
  });
  afterAll(() => backend.close());

  it("predicts eight parts at once as one after the other, after a first small call", async () => {
    const model = loadModel(bytes) as ClassifierModel;
    await model.predict(parts[0].slice(0, 3), { backend });
    const found = await Promise.all(parts.map((part) => model.predict(part, { backend })));
    for (const [p, labels] of found.entries()) expect(labels).toEqual(expected[p]);
  });

  it("does so with several copies of the model, small calls and probabilities in between", async () => {
    const models = [1, 2, 3].map(() => loadModel(bytes) as ClassifierModel);
    const work = parts.flatMap((part, p) => {
      const model = models[p % models.length];
      return [
        async () => expect(await model.predict(part, { backend })).toEqual(expected[p]),
        async () => expect(await model.predict(part.slice(0, 5), { backend })).toEqual(expected[p].slice(0, 5)),
        async () => expect((await model.predictProbabilities(part.slice(0, 200), { backend })).rows).toBe(200),
      ];
    });
    await Promise.all(work.map((call) => call()));
  });
});
