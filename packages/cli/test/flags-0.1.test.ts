/** Every flag of every command of 0.1 is still there, and those of training still mean what they did. */

import { readFileSync } from "node:fs";
import { type ClassifierModel, loadModel, RankSimilarityClassifier } from "@ranksim/core";
import { loadDigits } from "@ranksim/data";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeWorld, type World } from "./world.ts";

let world: World;
beforeAll(() => {
  world = makeWorld();
});
afterAll(() => world.remove());

const COMMON = "json quiet";
const COMPUTE = "backend threads";
const READING =
  "labels label-column text-column ignore-columns format header no-header delimiter missing multilabel arrays features first-feature encoding remove under";
const ESTIMATOR =
  "estimator filters fast-filters max-filters initialize spreading iterations tolerance distribution density confusion-rows filter-function n-best keep-sums seed initial-rows class-weight distribution-per-class calibrate committee refine refine-epochs shift-images voters combine thresholds";
const TEXT =
  "text vectorizer no-lowercase token-pattern ngram-range stop-words min-df max-df max-features vocabulary binary norm no-use-idf no-smooth-idf sublinear-tf log-tf idf-power n-features no-alternate-sign";

/** The commands of 0.1 and their flags, as its source declared them. */
const FLAGS: { readonly [command: string]: readonly string[] } = {
  train: ["model", ESTIMATOR, TEXT, READING, COMPUTE, COMMON],
  update: ["out", READING, COMPUTE, COMMON],
  predict: ["probabilities out", READING, COMPUTE, COMMON],
  transform: ["out", READING, COMPUTE, COMMON],
  evaluate: [READING, COMPUTE, COMMON],
  "cross-validate": ["folds", ESTIMATOR, TEXT, READING, COMPUTE, COMMON],
  tune: ["folds seconds scoring try out plot model", ESTIMATOR, TEXT, READING, COMPUTE, COMMON],
  inspect: [COMMON],
  explain: ["row top image", READING, COMPUTE, COMMON],
  report: ["out png title image samples", READING, COMPUTE, COMMON],
  "data list": [COMMON],
  "data fetch": [COMMON],
  "data path": [COMMON],
  "data info": [COMMON],
  play: ["port", COMMON],
  demo: ["folder", COMPUTE, COMMON],
};

describe("flags of 0.1", () => {
  test.each(Object.entries(FLAGS))("%s", async (command, flags) => {
    const { code, stdout } = await world.ranksim(`${command} --help`);
    expect(code).toBe(0);
    const listed = new Set(Array.from(stdout.matchAll(/^ {2}(?:-\w, )?--([a-z-]+)/gm), ([, name]) => name));
    expect(flags.flatMap((names) => names.split(" ")).filter((name) => !listed.has(name))).toEqual([]);
  });

  test("train and ask models as they did", async () => {
    const line =
      "train digits --estimator classifier --filters 30 --n-best 7 --iterations 3 --tolerance 0.02 --initialize plusplus --distribution savage --class-weight uniform --voters 3 --seed 4 -q";
    expect(await world.ranksim(`${line} -m old.ranksim`)).toMatchObject({ code: 0, stderr: "" });
    const { x, y } = await loadDigits();
    const params = { filters: 30, nBest: 7, iterations: 3, tolerance: 0.02, voters: 3, seed: 4 } as const;
    const shape = { initialize: "plusplus", distribution: "savage", classWeight: "uniform" } as const;
    const expected = await new RankSimilarityClassifier({ ...params, ...shape }).fit(x, y);
    const model = loadModel(readFileSync(world.path("old.ranksim"))) as ClassifierModel;
    expect(model.bank).toEqual(expected.bank);
    expect(await model.predict(x)).toEqual(await expected.predict(x));
    expect((await world.ranksim("predict old.ranksim digits:test --probabilities -o - --backend wasm")).code).toBe(0);
    expect((await world.ranksim("evaluate old.ranksim digits:test --json --threads 1")).code).toBe(0);
    expect((await world.ranksim("explain old.ranksim digits:test --row 3 --top 2 --image 8x8")).code).toBe(0);
  });
});
