/** The lines the page hands out are run here: they must make the model that the page made. */

import * as ranksim from "ranksim";
import { describe, expect, it } from "vitest";
import type { DataSummary, ModelKind, Recipe } from "../src/protocol.ts";
import { commandLine, modelFileName, typescriptLines } from "../src/takeaway/lines.ts";

const digits: DataSummary = {
  name: "digits",
  form: "dense",
  rows: 1797,
  features: 64,
  classes: Array.from("0123456789"),
  multilabel: false,
  low: 0,
  high: 16,
  whole: true,
};

/** Runs lines whose only import is from "ranksim"; answers with what they saved. */
async function run(lines: string): Promise<Uint8Array> {
  const body = lines.replace(/^import (\{.*\}) from "ranksim";$/m, "const $1 = ranksim;");
  expect(body).not.toContain("import");
  const AsyncFunction = (async () => {}).constructor as new (
    ...parts: string[]
  ) => (library: object) => Promise<Uint8Array>;
  return new AsyncFunction("ranksim", `${body}\nreturn bytes;`)(ranksim);
}

describe("lines that reproduce a model", () => {
  it.each<[string, Recipe]>([
    ["a classifier", { estimator: "classifier", heldOut: 0.25, params: { filters: 40, seed: 3 } }],
    ["a probabilistic classifier on all rows", { estimator: "probabilistic", heldOut: 0, params: { filters: 40 } }],
    ["a transform", { estimator: "transform", heldOut: 0.5, params: { filters: 30, spreading: "none" } }],
  ])("make %s, byte for byte", async (_, recipe) => {
    const { x, y } = await ranksim.loadDigits();
    const seed = Number(recipe.params.seed ?? 0);
    const { train } =
      recipe.heldOut > 0
        ? ranksim.trainTestSplit(x, y, { testShare: recipe.heldOut, seed, stratify: true })
        : { train: { x, y } };
    const makers = {
      classifier: ranksim.RankSimilarityClassifier,
      probabilistic: ranksim.RankSimilarityProbabilisticClassifier,
      transform: ranksim.RankSimilarityTransform,
    };
    const own = await new makers[recipe.estimator as ModelKind](recipe.params).fit(train.x, train.y);
    const bytes = await run(typescriptLines(digits, recipe, {}));
    expect(Buffer.compare(bytes, ranksim.saveModel(own))).toBe(0);
  });

  it("make what suits the data, byte for byte", async () => {
    const options = { preset: "fast", seed: 2, testShare: 0.8 } as const;
    const { model } = await ranksim.train(await ranksim.loadDigits(), options);
    const recipe: Recipe = { estimator: "chosen", heldOut: 0.8, params: { preset: "fast", seed: 2 } };
    const bytes = await run(typescriptLines(digits, recipe, {}));
    expect(Buffer.compare(bytes, ranksim.saveModel(model))).toBe(0);
    expect(commandLine(digits, recipe, {})).toBe("ranksim train digits --preset fast --seed 2 --model digits.model");
  });

  it("read files as the page read them", () => {
    const data: DataSummary = { ...digits, name: "my rows.npy", reading: { labels: "my labels.npy" } };
    const recipe: Recipe = { estimator: "classifier", heldOut: 0.25, params: {} };
    expect(typescriptLines(data, recipe, {})).toContain(
      'const data = await loadData("my rows.npy", { labels: await fileSource("my labels.npy") });',
    );
    expect(commandLine(data, recipe, {})).toBe(
      "ranksim train 'my rows.npy' --labels 'my labels.npy' --estimator classifier --model my-rows.model",
    );
  });

  it("name columns, text and every parameter on the command line", () => {
    const recipe: Recipe = {
      estimator: "probabilistic",
      heldOut: 0,
      params: { filters: 20, initialize: "weightedAverage", nBest: 5 },
    };
    const data: DataSummary = { ...digits, name: "it's.csv", form: "text" };
    expect(commandLine(data, recipe, { labelColumn: "-1", textColumn: "a b" })).toBe(
      "ranksim train 'it'\\''s.csv' --label -1 --columns 'a b:text' --text --estimator probabilistic --filters 20 --set initialize=weightedAverage --set nBest=5 --model it-s.model",
    );
  });

  it("leave out the columns that the page leaves out", () => {
    const recipe: Recipe = { estimator: "transform", heldOut: 0, params: {} };
    const data: DataSummary = { ...digits, name: "t.csv", classes: [] };
    const choices = { labelColumn: null, ignoreColumns: ["id", "3"] };
    expect(typescriptLines(data, recipe, choices)).toContain(
      'const reading = { labelColumn: null, ignoreColumns: ["id", 3] };\nconst data = await loadData("t.csv", { ...reading });',
    );
    expect(commandLine(data, recipe, choices)).toBe(
      "ranksim train t.csv --columns id:ignore,3:ignore --estimator transform --model t.model",
    );
  });

  it("call the model after its data", () => {
    expect(["digits", "a/b c.csv.gz", "train.idx", ""].map(modelFileName)).toEqual([
      "digits.model",
      "a-b-c.model",
      "train.model",
      "model.model",
    ]);
  });
});
