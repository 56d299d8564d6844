/** ONNX files answer as the library does: every estimator, whole test sets, and rows that tie. */

import { existsSync } from "node:fs";
import {
  type ClassifierModel,
  type ClassifierParams,
  Dense,
  loadModel,
  type MatrixLike,
  type Model,
  type PatchParams,
  PatchTransform,
  Pipeline,
  type PipelineModel,
  type ProbabilisticParams,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
  StandardScaler,
  saveModel,
  toDense,
} from "@ranksim/core";
import { CountVectorizer, loadDigits } from "@ranksim/data";
import { loadData } from "@ranksim/data/node";
import { ConformalClassifier } from "@ranksim/learn";
import { describe, expect, it } from "vitest";
import { areResponsesExact, exportOnnx, type RowType } from "../src/index.ts";
import { LIMITS, withLimits } from "./limited.ts";
import { askOnnx, largestDifference } from "./onnx-session.ts";
import { tiedRows } from "./tied-rows.ts";

const digits = await loadDigits();
const names = ["zero", "one", "zwei", "trois", "four", "five", "six", "seven", "eight", "nine"];
const named = Array.from(digits.y as readonly number[], (y) => names[y]);

type ImageModel = PipelineModel<MatrixLike, ClassifierModel>;

/** Sums run in the library's order: a few roundings at most. */
const CLOSE = 1e-14;
/** The library's own exponentials are within 1e-10 of theirs, and an isotonic function may be steep. */
const CLOSE_IF_FITTED = 1e-8;

async function compareClasses(
  model: {
    predict(x: Dense): Promise<unknown[]>;
    predictProbabilities(x: Dense): Promise<Dense>;
  } & Model,
  x: Dense,
  rows: RowType = "uint8",
): Promise<void> {
  const answers = await askOnnx(exportOnnx(model, { rows }), x, rows);
  expect(answers.label).toEqual(await model.predict(x));
  const expected = (await model.predictProbabilities(x)).values;
  const close = isFitted(model) ? CLOSE_IF_FITTED : CLOSE;
  expect(largestDifference(expected, answers.probabilities as Float64Array)).toBeLessThanOrEqual(close);
}

const isFitted = (model: Model): boolean => Object.keys(model.save().arrays).some((name) => /^calibration/.test(name));

describe("a classifier", () => {
  const recipes: [string, Partial<ClassifierParams>][] = [
    ["plain", {}],
    ["few filters", { filters: 10 }],
    ["refined", { refine: true }],
    ["three voters", { voters: 3 }],
    ["a committee", { committee: 3 }],
    ["a temperature", { calibrate: "temperature" }],
    ["isotonic probabilities", { calibrate: "isotonic" }],
    ["a committee with isotonic probabilities", { committee: 2, calibrate: "isotonic" }],
    ["a distribution", { distribution: "savage" }],
    ["a distribution of each class", { distribution: "confusion", distributionPerClass: true }],
    ["one best filter", { nBest: 1 }],
  ];
  it.each(recipes)("with %s gives the labels of predict on all digits", async (_, params) => {
    const model = await new RankSimilarityClassifier({ filters: 100, seed: 3, ...params }).fit(digits.x, named);
    await compareClasses(model, digits.x as Dense);
  });

  it.each(["uint8", "float32"] as const)(
    "of sparse rows that are trusted by their length, rows of %s",
    async (type) => {
      // Words of all classes, and in the long rows some of the own class.
      const rows = Array.from({ length: 400 }, (_, r) =>
        Array.from({ length: 600 }, (_, i) =>
          Number((r % 2 === 1 && i % 30 === r % 3 && (i * r) % 7 < 3) || (i * 31 + r * 17) % 151 === 0),
        ),
      );
      const x = Dense.fromRows(rows);
      const y = rows.map((_, r) => names[r % 3]);
      const model = await new RankSimilarityClassifier({ filters: 3, calibrate: "temperature" }).fit(x, y);
      expect(model.save().arrays).toHaveProperty("calibration_halfway");
      await compareClasses(model, x, type);
      const rooted = { ...model.save().arrays, calibration_spread: { shape: [1], values: Float64Array.of(0.5) } };
      const file = saveModel({ kind: model.kind, save: () => ({ ...model.save(), arrays: rooted }) });
      await compareClasses(loadModel(file) as typeof model, x, type);
    },
  );

  it("whose classes have unequal numbers of filters, and one none", async () => {
    const found = await new RankSimilarityClassifier({ filters: 40, calibrate: "temperature" }).fit(digits.x, named);
    const saved = found.save();
    const filterClass = saved.arrays.filter_class.values as Uint32Array;
    const lost = filterClass.map((c) => (c === 4 ? 5 : c));
    const bytes = saveModel({
      kind: found.kind,
      save: () => ({ ...saved, arrays: { ...saved.arrays, filter_class: { shape: [lost.length], values: lost } } }),
    });
    const model = loadModel(bytes) as ClassifierModel;
    await compareClasses(model, digits.x as Dense);
    await compareClasses(model.uncalibrated(), digits.x as Dense);
  });

  it.each(["uint8", "float32", "float64"] as const)("takes rows of %s", async (rows) => {
    const model = await new RankSimilarityClassifier({ filters: 60 }).fit(digits.x, digits.y as number[]);
    await compareClasses(model, digits.x as Dense, rows);
  });

  it.each([1, 2, 5])("breaks ties as predict does, seed %i", async (seed) => {
    const { x, y } = tiedRows(seed, 200, 5);
    for (const voters of [1, 2, 4]) {
      const model = await new RankSimilarityClassifier({ filters: 30, voters, seed }).fit(x, y);
      await compareClasses(model, x);
    }
    const committee = await new RankSimilarityClassifier({ filters: 12, committee: 3, seed }).fit(x, y);
    await compareClasses(committee, x);
  });

  it.each(["savage", "confusion"] as const)(
    "whose weights are fractions (%s) differs, if at all, where responses tie",
    async (distribution) => {
      const { x, y } = tiedRows(1, 2400, 12);
      const model = await new RankSimilarityClassifier({ filters: 60, distribution }).fit(x, y);
      expect(areResponsesExact(model)).toBe(false);
      const { label } = await askOnnx(exportOnnx(model, { rows: "uint8" }), x, "uint8");
      const expected = await model.predict(x);
      const scores = await model.classScores(x);
      for (let r = 0; r < x.rows; r++) {
        if (label?.[r] === expected[r]) continue;
        const [first, second] = [...scores.values.subarray(3 * r, 3 * r + 3)].sort((a, b) => b - a);
        expect(first - second, String(r)).toBeLessThanOrEqual(CLOSE * first);
      }
    },
  );

  it("has exact responses where weights are ranks and no scaler comes before them", async () => {
    const recipe = new RankSimilarityClassifier({ filters: 20 });
    expect(areResponsesExact(await recipe.fit(digits.x, named))).toBe(true);
    const scaled = new Pipeline([new StandardScaler(), recipe]);
    expect(areResponsesExact(await scaled.fit(digits.x, named))).toBe(false);
  });

  const decided: [string, Partial<ClassifierParams>][] = [
    ["one voter", {}],
    ["three voters", { voters: 3 }],
    ["more voters than filters", { filters: 12, voters: 50 }],
    ["a committee", { committee: 3 }],
  ];
  const calibrations = ["none", "temperature", "isotonic"] as const;
  it.each(decided.flatMap(([what, params]) => calibrations.map((calibrate) => [what, calibrate, params] as const)))(
    "names the most probable class where that decides: %s, probabilities %s",
    async (_, calibrate, params) => {
      const recipe = new RankSimilarityClassifier({
        filters: 30,
        seed: 3,
        ...params,
        calibrate,
        decision: "probability",
      });
      const { x, y } = tiedRows(7, 240, 6);
      for (const [model, rows] of [
        [await recipe.fit(x, y), x],
        [await recipe.fit(digits.x.slice(0, 900), named.slice(0, 900)), digits.x as Dense],
      ] as const) {
        await compareClasses(model, rows);
        const { label, probabilities } = await askOnnx(exportOnnx(model, { rows: "uint8" }), rows, "uint8");
        const c = model.classes.length;
        const most = Array.from({ length: rows.rows }, (_, r) => {
          const row = (probabilities as Float64Array).subarray(r * c, (r + 1) * c);
          return model.classes[row.indexOf(Math.max(...row))];
        });
        expect(label).toEqual(most);
        const alone = await askOnnx(exportOnnx(model, { rows: "uint8", probabilities: false }), rows, "uint8");
        expect(alone).toEqual({ label });
      }
    },
  );

  it("keeps the low and the high byte apart on either side of one byte", async () => {
    for (const features of [2, 127, 128, 129]) {
      const { x, y } = tiedRows(features, 60, features, 256);
      await compareClasses(await new RankSimilarityClassifier({ filters: 9 }).fit(x, y), x);
    }
  });

  it.each([2901, 2902, 32_767, 32_768])("is exact for bytes of %i features, all of them large", async (features) => {
    const values = new Uint8Array(6 * features).map((_, e) => 255 - ((e * 7919) % 23));
    const x = Dense.of(values, 6, features);
    await compareClasses(await new RankSimilarityClassifier({ filters: 4 }).fit(x, [0, 1, 0, 1, 0, 1]), x);
  });

  it("answers without probabilities where they are not wanted", async () => {
    const model = await new RankSimilarityClassifier({ filters: 20 }).fit(digits.x, named);
    const file = exportOnnx(model, { rows: "uint8", probabilities: false });
    expect(Object.keys(await askOnnx(file, digits.x.slice(0, 3), "uint8"))).toEqual(["label"]);
  });

  it("trained to give sets of classes answers without them", async () => {
    const recipe = new RankSimilarityClassifier({ filters: 60, seed: 1 });
    const model = await new ConformalClassifier(recipe, { seed: 1 }).fit(digits.x.slice(0, 900), named.slice(0, 900));
    await compareClasses(model, digits.x.slice(900, 1000));
  });

  it("behind a scaler takes raw rows", async () => {
    const pipeline = await new Pipeline([new StandardScaler(), new RankSimilarityClassifier({ filters: 50 })]).fit(
      digits.x,
      named,
    );
    const { label } = await askOnnx(exportOnnx(pipeline), digits.x, "float64");
    expect(label).toEqual(await pipeline.predict(digits.x));
  });
});

describe("a probabilistic classifier", () => {
  const recipes: [string, Partial<ProbabilisticParams>][] = [
    ["plain", {}],
    ["mean shares", { combine: "mean" }],
    ["a temperature", { calibrate: "temperature" }],
    ["isotonic probabilities", { calibrate: "isotonic" }],
    ["one best filter", { nBest: 1, combine: "mean" }],
  ];
  it.each(recipes)("with %s gives the labels of predict on all digits", async (_, params) => {
    const model = await new RankSimilarityProbabilisticClassifier({ filters: 80, seed: 2, ...params }).fit(
      digits.x,
      named,
    );
    await compareClasses(model, digits.x as Dense);
  });

  it.each([
    ["plain", {}],
    ["mean shares and thresholds", { combine: "mean", thresholds: "perLabel" }],
    ["curves", { calibrate: "temperature" }],
    ["isotonic probabilities", { calibrate: "isotonic", thresholds: "common" }],
  ] as [string, Partial<ProbabilisticParams>][])("with several labels and %s", async (_, params) => {
    const sets = named.map((name, r) => [name, ...(r % 3 === 0 ? ["third"] : [])]);
    const model = await new RankSimilarityProbabilisticClassifier({ filters: 60, ...params }).fit(digits.x, sets);
    const answers = await askOnnx(exportOnnx(model, { rows: "uint8" }), digits.x, "uint8");
    const c = model.classes.length;
    const present = answers.present as Uint8Array;
    const labels = Array.from({ length: digits.x.rows }, (_, r) =>
      model.classes.filter((_, o) => present[r * c + o] === 1),
    );
    expect(labels).toEqual(await model.predict(digits.x));
    const expected = (await model.predictProbabilities(digits.x)).values;
    const close = isFitted(model) ? CLOSE_IF_FITTED : CLOSE;
    expect(largestDifference(expected, answers.probabilities as Float64Array)).toBeLessThanOrEqual(close);
  });

  it.each([1, 2])("breaks ties as predict does, seed %i", async (seed) => {
    const { x, y } = tiedRows(seed, 200, 6);
    for (const combine of ["max", "mean"] as const) {
      const model = await new RankSimilarityProbabilisticClassifier({ filters: 20, combine, nBest: 3, seed }).fit(x, y);
      await compareClasses(model, x);
    }
  });
});

describe("a transform", () => {
  it("gives the same similarities, to the bit", async () => {
    const model = await new RankSimilarityTransform({ filters: 70, seed: 1 }).fit(digits.x);
    const { similarities } = await askOnnx(exportOnnx(model, { rows: "uint8" }), digits.x, "uint8");
    expect(similarities).toEqual(toDense(await model.transform(digits.x)).values);
  });

  it("gives the same similarities where rows tie", async () => {
    const { x } = tiedRows(4, 150, 4);
    const model = await new RankSimilarityTransform({ filters: 25, nBest: 2 }).fit(x);
    const { similarities } = await askOnnx(exportOnnx(model, { rows: "uint8" }), x, "uint8");
    expect(similarities).toEqual(toDense(await model.transform(x)).values);
  });
});

describe("images through patches", () => {
  const recipes: [string, Partial<PatchParams>, Partial<ClassifierParams>][] = [
    ["one layer", { patch: 3, filters: 20 }, { filters: 40 }],
    [
      "two layers, strides and a committee",
      { patch: [3, 5], filters: [12, 9], stride: 2 },
      { filters: 20, committee: 2 },
    ],
    ["more best filters than there are", { patch: 4, filters: 3, nBest: 8 }, { filters: 30, calibrate: "temperature" }],
    ["bytes", { patch: 3, filters: 20, bytes: true }, { filters: 40, calibrate: "temperature" }],
    ["bytes of two layers", { patch: [3, 5], filters: [12, 9], stride: 2, bytes: true }, { filters: 20, committee: 2 }],
    ["more bytes than responses of 32 bits take", { patch: 3, filters: 120, bytes: true }, { filters: 20 }],
  ];
  it.each(recipes)("give the labels of predict: %s", async (_, patches, params) => {
    const recipe = new Pipeline([
      ["patches", new PatchTransform({ ...patches, seed: 1 })],
      ["classify", new RankSimilarityClassifier({ ...params, seed: 1 })],
    ]);
    const model = await recipe.fit(digits.x.slice(0, 600), named.slice(0, 600));
    const some = digits.x.slice(600, 1000);
    const answers = await askOnnx(exportOnnx(model), some, "uint8");
    expect(answers.label).toEqual(await model.predict(some));
    const expected = (await model.predictProbabilities(some)).values;
    expect(largestDifference(expected, answers.probabilities as Float64Array)).toBeLessThanOrEqual(CLOSE_IF_FITTED);
  });

  it.each(LIMITS)("become bytes as in the library, whatever the limits: %i and %i", async (...limits) => {
    const recipe = new Pipeline([
      ["patches", new PatchTransform({ patch: [3, 8], filters: [20, 9], nBest: [8, 3], grid: [2, 1] })],
      ["classify", new RankSimilarityClassifier({ filters: 60 })],
    ]);
    const fitted = (await recipe.fit(digits.x.slice(0, 300), named.slice(0, 300))) as ImageModel;
    const model = withLimits(fitted, limits);
    const some = digits.x.slice(300, 500);
    expect((await askOnnx(exportOnnx(model), some, "uint8")).label).toEqual(await model.predict(some));
  });

  it.each([false, true])("are spread over bytes as in training where they are fractions: bytes %s", async (bytes) => {
    const values = Float64Array.from(digits.x.values as Uint8Array, (value) => value / 16 - 0.25);
    const x = Dense.of(values, digits.x.rows, 64);
    const recipe = new Pipeline([
      ["patches", new PatchTransform({ patch: 3, filters: 16, bytes })],
      ["classify", new RankSimilarityClassifier({ filters: 40 })],
    ]);
    const model = await recipe.fit(x.slice(0, 600), named.slice(0, 600));
    // Some values lie beyond those of training.
    const beyond = Dense.of(
      values.slice(600 * 64, 900 * 64).map((value, e) => (e % 7 === 0 ? 3 * value : value)),
      300,
      64,
    );
    expect((await askOnnx(exportOnnx(model), beyond, "float64")).label).toEqual(await model.predict(beyond));
  });

  it("are bytes or refused", async () => {
    const recipe = new Pipeline([
      ["patches", new PatchTransform({ patch: 3, filters: 8 })],
      ["classify", new RankSimilarityClassifier({ filters: 20 })],
    ]);
    const model = await recipe.fit(digits.x.slice(0, 300), named.slice(0, 300));
    expect(() => exportOnnx(model, { rows: "float32" })).toThrow(/expected rows of uint8, found float32/);
  });
});

describe("what cannot be said in ONNX", () => {
  it("is refused by name: text", async () => {
    const text = ["a good film", "a bad film", "good", "bad"];
    const model = await new Pipeline([new CountVectorizer(), new RankSimilarityClassifier({ filters: 2 })]).fit(text, [
      "+",
      "-",
      "+",
      "-",
    ]);
    expect(() => exportOnnx(model)).toThrow(
      /onnx: a count-vectorizer cannot be exported; it takes texts or cells of tables, the format only numbers/,
    );
  });

  it("is refused by name: classes 1 and “1”", async () => {
    const { x } = tiedRows(1, 20, 5);
    const y = Array.from({ length: 20 }, (_, r) => (r % 2 === 0 ? 1 : "1"));
    const model: ClassifierModel = await new RankSimilarityClassifier({ filters: 4 }).fit(x, y);
    expect(() => exportOnnx(model)).toThrow(/onnx: labels of an ONNX file .* have 1 as both/);
  });
});

const fashion = "/usr/share/datasets/fashion-mnist";
describe.skipIf(!existsSync(fashion))("Fashion-MNIST (needs dataset-fashion-mnist)", () => {
  it("gives the labels of predict on all 10,000 test images", async () => {
    const train = await loadData("fashion-mnist:train");
    const test = await loadData("fashion-mnist:test");
    if (train.form !== "matrix" || test.form !== "matrix") throw new Error("expected images");
    const few = train.x.slice(0, 6000);
    const y = Array.from(train.y as ArrayLike<number>).slice(0, 6000);
    for (const params of [{ filters: 300 }, { filters: 60, committee: 3 }]) {
      const model = await new RankSimilarityClassifier(params).fit(few, y);
      const { label } = await askOnnx(exportOnnx(model, { rows: "uint8", probabilities: false }), test.x, "uint8");
      expect(label).toEqual(await model.predict(test.x));
    }
  });
});
