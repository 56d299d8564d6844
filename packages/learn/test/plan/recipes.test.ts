/** Recipes by data: what is chosen for what, what a hand overrides, and that each trains, predicts and is kept in the model. */

import {
  type ClassifierModel,
  Csr,
  Dense,
  loadModel,
  PatchModel,
  type PipelineModel,
  type PredictingModel,
  RanksimError,
  type Run,
  saveModel,
  schemaOf,
} from "@ranksim/core";
import { type DataSet, loadDigits, Table, textReaders } from "@ranksim/data";
import { kindOf, PRESETS, type Preset, type RecipeOptions, recipeFor, train } from "@ranksim/learn";
import { describe, expect, it } from "vitest";

const digits = await loadDigits();
const images = (rows: number): DataSet => ({
  form: "matrix",
  x: digits.x.slice(0, rows),
  y: digits.y.slice(0, rows),
  imageSize: digits.imageSize,
});
const numbers = (rows: number): DataSet => ({ form: "matrix", x: digits.x.slice(0, rows), y: digits.y.slice(0, rows) });
const sentences = ["the cat sat on the mat", "a dog ran in the park", "fish swim in the sea"];
const text: DataSet = {
  form: "text",
  text: Array.from({ length: 60 }, (_, r) => `${sentences[r % 3]} ${["now", "then", "soon", "late"][r % 4]}`),
  y: Array.from({ length: 60 }, (_, r) => ["cat", "dog", "fish"][r % 3]),
};
/** Two values in each row. */
const sparseIn = (features: number): DataSet => ({
  form: "matrix",
  x: Csr.fromRows(
    Array.from({ length: 60 }, (_, r) => [
      [r % 3, 5],
      [3 + (r % 7), 1],
    ]),
    features,
  ),
  y: Array.from({ length: 60 }, (_, r) => r % 3),
});
const sparse = sparseIn(101);
const several: DataSet = { ...numbers(300), y: digits.y.slice(0, 300).map((d) => [d, d % 2 === 0 ? "even" : "odd"]) };
const unlabelled: DataSet = { form: "matrix", x: digits.x.slice(0, 50) };

describe("recipeFor", () => {
  it.each<[string, DataSet, string, RegExp]>([
    ["images", images(100), "patches,classify", /^balanced, for 100 images of 8 x 8, 10 classes: 128 patch filters/],
    ["text", text, "words,classify", /^balanced, for 60 texts, 3 classes: weighted tf-idf, 3 filters of Savage scores/],
    ["sparse numbers", sparse, "", /^balanced, for 60 rows of 101 sparse features, 3 classes: 3 filters of Savage/],
    ["numbers", sparseIn(100), "", /^balanced, for 60 rows of 100 features, 3 classes: \d+ refined filters/],
    [
      "numbers",
      numbers(100),
      "",
      /^balanced, for 100 rows of 64 features, 10 classes: 250 refined filters in a committee/,
    ],
    ["numbers", { ...numbers(1), y: [7] }, "", /^balanced, for 1 row of 64 features, 1 class: /],
    ["several labels", several, "", /300 rows of 64 features, 12 labels: 75 filters with shares of labels/],
    ["no labels", unlabelled, "", /^balanced, for 50 rows of 64 features: filters without labels/],
  ])("knows %s", (kind, data, steps, about) => {
    const recipe = recipeFor(data);
    expect(recipe.kind).toBe(kind);
    expect(kindOf(data)).toBe(kind);
    expect(((recipe.estimator as unknown as { names?: string[] }).names ?? []).join()).toBe(steps);
    expect(recipe.about).toMatch(about);
  });

  it("fits probabilities of texts on the last of them, where there are enough", () => {
    const texts = (rows: number): DataSet => ({
      form: "text",
      text: Array.from({ length: rows }, (_, r) => `word ${r}`),
      y: Array.from({ length: rows }, (_, r) => r % 3),
    });
    const calibrated = (rows: number) => recipeFor(texts(rows)).estimator.params;
    for (const [rows, on] of [
      [199, "folds"],
      [200, "last"],
      [9000, "last"],
    ] as const) {
      expect(calibrated(rows)).toMatchObject({ "classify.calibrateOn": on, "classify.calibrate": "temperature" });
    }
  });

  it("is the paper's method for the preset of that name, whatever the data", () => {
    const { estimator, about } = recipeFor(images(100), { preset: "paper", seed: 3 });
    expect(estimator.kind).toBe("classifier");
    expect(estimator.params).toMatchObject({ seed: 3, refine: false, filters: "auto", calibrate: "none" });
    expect(about).toBe("paper, for 100 rows of 64 features, 10 classes: the paper's classifier");
  });

  it("lets a parameter given by hand take the place of its part", () => {
    const { estimator } = recipeFor(images(100), { params: { filters: 20, refine: false } });
    expect(estimator.params).toMatchObject({ "classify.filters": 20, "classify.refine": false, "patches.patch": 3 });
    expect(() => recipeFor(images(100), { params: { filterz: 3 } })).toThrow(/unknown parameter filterz/);
    const windows = recipeFor(images(100), { patches: { filters: [20, 30], patch: [2, 3] } });
    expect(windows.estimator.params).toMatchObject({ "patches.filters": [20, 30], "patches.patch": [2, 3] });
    expect(windows.about).toContain(": 50 patch filters");
    expect(recipeFor(images(100), { patches: { filters: 20, grid: [2, 3] } }).about).toContain(": 40 patch filters");
    expect(() => recipeFor(images(100), { preset: "paper", patches: { grid: 2 } })).toThrow(
      "patches.grid: expected labelled images and a preset other than paper, found paper, for numbers",
    );
    expect(() => recipeFor(images(100), { preset: "best", patches: { patch: [3, 4] } })).toThrow(
      "patches.patch: expected 3 values, one for each layer, found 2",
    );
  });

  it("fits probabilities in folds where there are too few rows to hold out", () => {
    expect(recipeFor(numbers(150), { params: { calibrate: "none" } }).estimator.params.calibrateOn).toBeUndefined();
    const on = (rows: number, classes: number) => {
      const x = Dense.of(new Uint8Array(rows * 12), rows, 12);
      const data: DataSet = { form: "matrix", x, y: Array.from({ length: rows }, (_, r) => r % classes) };
      const { calibrate, calibrateOn } = recipeFor(data).estimator.params;
      expect(calibrate).toBe("temperature");
      return calibrateOn;
    };
    expect([on(500, 100), on(499, 100), on(300, 10), on(150, 10)]).toEqual(["drawn", "folds", "drawn", "folds"]);
    expect([on(12_000, 600), on(11_999, 600)]).toEqual([undefined, "folds"]);
  });

  it("trains again on the rows that fit probabilities, where rows are few or a table", () => {
    const plain = (rows: number): DataSet => ({
      form: "matrix",
      x: Dense.of(new Uint8Array(rows * 20), rows, 20),
      y: Array.from({ length: rows }, (_, r) => r % 2),
    });
    const on = (data: DataSet, params = {}) => {
      const found = Object.entries(recipeFor(data, { params }).estimator.params);
      return found.find(([name]) => /(^|\.)calibrateOn$/.test(name))?.[1];
    };
    const tableOf = (rows: number): DataSet => {
      const { y, ...data } = plain(rows) as DataSet & { form: "matrix" };
      return { form: "table", table: Table.fromMatrix(data.x), y: y as number[] };
    };
    expect([on(plain(199)), on(plain(200)), on(plain(10_000)), on(plain(10_001))]).toEqual([
      "folds",
      "drawn",
      "drawn",
      undefined,
    ]);
    const votes = { voters: 9 };
    expect([on(tableOf(199), votes), on(tableOf(10_001), votes), on(images(300))]).toEqual(["folds", "drawn", "drawn"]);
    expect(on(plain(300), { calibrate: "none" })).toBeUndefined();
    expect(on(plain(150), { calibrate: "isotonic" })).toBe("folds");
    expect(on(plain(300), { calibrateOn: "last" })).toBe("last");
    expect(on(plain(300), { calibrateOn: undefined })).toBeUndefined();
  });

  it("is the paper's transform for texts without labels", async () => {
    const { y: _, ...texts } = text as DataSet & { form: "text" };
    const { model, recipe } = await train(texts, { preset: "paper" });
    expect(recipe.about).toBe("paper, for 60 texts: counts of words, the paper's transform");
    expect(model.kind).toBe("pipeline");
  });

  it("counts labels, not classes, where rows have several", () => {
    const y = Array.from({ length: 60 }, (_, r) => (r % 2 === 0 ? ["a"] : ["a", "b"]));
    expect(recipeFor({ ...text, y }).about).toContain("for 60 texts, 2 labels: ");
    const table = Table.fromMatrix(digits.x.slice(0, 60));
    expect(recipeFor({ form: "table", table, y }).about).toContain("60 rows and 64 columns, 2 labels: ");
  });

  it("gives many classes of few rows probabilities to believe in", async () => {
    const [classes, each] = [40, 6];
    const wave = (r: number, c: number) => Math.sin(7 * (r % classes) * (c + 1)) + 0.4 * Math.sin(31 * r + 17 * c * c);
    const rows = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => Array.from({ length: 24 }, (_, c) => wave(from + i, c)));
    const labels = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => (from + i) % classes);
    const known = classes * each;
    const data: DataSet = { form: "matrix", x: Dense.fromRows(rows(0, known)), y: labels(0, known) };
    const { model } = await train(data);
    const asked = Dense.fromRows(rows(known, 2 * known));
    const truth = labels(known, 2 * known);
    const accuracy = await (model as ClassifierModel).score(asked, truth);
    const { values } = await (model as ClassifierModel).predictProbabilities(asked);
    const sure = Array.from({ length: known }, (_, r) => Math.max(...values.slice(r * classes, (r + 1) * classes)));
    expect(accuracy).toBeGreaterThan(0.9);
    expect(Math.abs(sure.reduce((a, b) => a + b, 0) / known - accuracy)).toBeLessThan(0.15);
  });

  it("steps over pixels of large images, and leaves images too small for windows to filters of rows", () => {
    const large: DataSet = {
      form: "matrix",
      x: Dense.of(new Uint8Array(2 * 200 * 100), 2, 20_000),
      y: [0, 1],
      imageSize: { width: 200, height: 100 },
    };
    expect(recipeFor(large).estimator.params).toMatchObject({ "patches.stride": 5, "patches.patch": 5 });
    const tiny: DataSet = { ...large, x: Dense.of(new Uint8Array(2 * 16), 2, 16), imageSize: { width: 4, height: 4 } };
    expect(recipeFor(tiny).kind).toBe("numbers");
  });

  it("learns from moved images with best, where there is room for their rows", () => {
    const many = (rows: number): DataSet => ({
      form: "matrix",
      x: Dense.of(new Uint8Array(rows * 400), rows, 400),
      y: Array.from({ length: rows }, (_, r) => r % 2),
      imageSize: { width: 20, height: 20 },
    });
    const copies = (rows: number, options: RecipeOptions) => recipeFor(many(rows), options);
    expect(copies(65_000, { preset: "best" }).estimator.params["patches.shiftedCopies"]).toBe(1);
    expect(copies(65_000, { preset: "best" }).about).toMatch(/, images also moved by a pixel$/);
    expect(copies(65_001, { preset: "best" }).estimator.params["patches.shiftedCopies"]).toBeUndefined();
    expect(copies(65_001, { preset: "best" }).about).not.toContain("moved");
    const grows = { preset: "best" as const, params: { keepSums: true } };
    expect(copies(300, grows).estimator.params["patches.shiftedCopies"]).toBeUndefined();
    expect(copies(300, {}).estimator.params["patches.shiftedCopies"]).toBeUndefined();
    const byHand = { patches: { shiftedCopies: 2 } };
    expect(copies(65_001, byHand).estimator.params["patches.shiftedCopies"]).toBe(2);
  });

  it("lets banks vote on few rows of numbers, where filters are enough", () => {
    const chosen = (rows: number, params: RecipeOptions["params"] = {}, preset?: Preset) => {
      const x = Dense.of(new Uint8Array(rows * 12), rows, 12);
      const data: DataSet = { form: "matrix", x, y: Array.from({ length: rows }, (_, r) => r % 2) };
      const { filters, committee } = recipeFor(data, { params, ...(preset ? { preset } : {}) }).estimator.params;
      return [filters, committee];
    };
    expect(chosen(10_000)).toEqual([300, 5]);
    expect(chosen(300)).toEqual([180, 5]);
    expect(chosen(200)).toEqual([150, 5]);
    expect(chosen(10_001)).toEqual([60, 1]);
    expect(chosen(20)).toEqual([50, 5]);
    expect(chosen(1000, { filters: 13 })).toEqual([13, 2]);
    expect(chosen(1000, { filters: 2 })).toEqual([2, 1]);
    expect(chosen(1000, { keepSums: true })).toEqual([60, 1]);
    expect(chosen(1000, {}, "fast")).toEqual([20, 1]);
    expect(chosen(10_000, {}, "best")).toEqual([600, 10]);
    expect(chosen(10_001, {}, "best")).toEqual([800, 4]);
  });

  it("lets banks vote on small images, as many as there are filters for", () => {
    const chosen = (data: DataSet, preset: Preset = "balanced") => recipeFor(data, { preset }).estimator.params;
    expect(chosen(images(1000))).toMatchObject({ "classify.filters": 300, "classify.committee": 3 });
    expect(chosen(images(40))).toMatchObject({ "classify.filters": 20, "classify.committee": 2 });
    const byHand = (params: object) => recipeFor(images(1000), { params: { ...params } }).estimator.params;
    expect(byHand({ filters: 20 })).toMatchObject({ "classify.filters": 20, "classify.committee": 2 });
    for (const params of [{ voters: 5 }, { filters: 12 }, { keepSums: true }, { initialRows: [0] }]) {
      expect(byHand(params)).toMatchObject({ "classify.committee": 1 });
    }
    expect(chosen(images(1000), "fast")).toMatchObject({ "classify.filters": 100, "classify.committee": 1 });
  });

  it("refuses a preset that does not exist", () => {
    expect(() => recipeFor(text, { preset: "quick" as Preset })).toThrow(RanksimError);
  });
});

describe("train", () => {
  it.each(PRESETS)("trains text by the preset %s, and the model remembers it", async (preset) => {
    const { model, recipe } = await train(text, { preset });
    const again = loadModel(saveModel(model), { readers: textReaders }) as unknown as PredictingModel<
      readonly string[]
    >;
    expect(schemaOf(again)?.recipe).toEqual({
      preset,
      about: recipe.about,
      ...(recipe.tried ? { tried: recipe.tried } : {}),
    });
    expect(await again.predict(["the cat sat", "the dog ran"])).toEqual(["cat", "dog"]);
  });

  it("trains images with patches, better than the plain method", async () => {
    const test = { x: digits.x.slice(900, 1200), y: digits.y.slice(900, 1200) };
    const score = async (preset: Preset) => {
      const { model } = await train(images(600), { preset });
      return [model, await (model as unknown as PredictingModel).score(test.x, test.y)] as const;
    };
    const [model, good] = await score("balanced");
    const steps = (model as unknown as PipelineModel).steps;
    expect(steps[0]).toBeInstanceOf(PatchModel);
    expect((steps[1] as ClassifierModel).report.refinement).toBeDefined();
    expect(schemaOf(model)?.image).toEqual({ width: 8, height: 8, channels: 1 });
    expect(good).toBeGreaterThan((await score("paper"))[1]);
  });

  it("trains again on few images and their moved copies, and tells of both fits as one", async () => {
    const [rows, side] = [210, 16];
    const y = Array.from({ length: rows }, (_, r) => (r % 2 === 0 ? "level" : "upright"));
    // A line across or down the image, on a texture.
    const values = Uint8Array.from({ length: rows * side * side }, (_, e) => {
      const [r, i] = [Math.floor(e / (side * side)), e % (side * side)];
      const place = r % 2 === 0 ? Math.floor(i / side) : i % side;
      return (place === 2 + (r % 12) ? 150 : 0) + ((e * 7919) % 101);
    });
    const data = { form: "matrix" as const, x: Dense.of(values, rows, side * side), y };
    const small = { preset: "best" as const, patches: { filters: [6, 6, 6] } };
    const shares: number[] = [];
    const best = (params: RecipeOptions["params"], run: Run = {}) =>
      train({ ...data, imageSize: { width: side, height: side } }, { ...small, params: { ...params }, ...run });
    const filters = { filters: 10, committee: 2, refineEpochs: 2 };
    const { model, recipe } = await best(filters, { onProgress: ({ share }) => void shares.push(share) });
    expect(recipe.about).toMatch(/images also moved by a pixel$/);
    const classify = (model as unknown as PipelineModel).steps[1] as ClassifierModel;
    expect(classify.params).toMatchObject({ calibrate: "temperature", calibrateOn: "drawn" });
    expect(classify.report.rows).toBe(rows);
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect(shares.at(-1)).toBe(1);
    const { model: plain } = await best({ ...filters, calibrate: "none" });
    const last = (plain as unknown as PipelineModel).steps[1] as ClassifierModel;
    expect(classify.bank).toEqual(last.bank);
    expect(await model.predict(data.x)).toEqual(await plain.predict(data.x));
  });

  it("gives data with labels a classifier that needs no cast", async () => {
    const { model } = await train({ form: "text", text: ["the cat sat", "the dog ran"], y: ["cat", "dog"] });
    expect(await model.predict(["a cat sat"])).toEqual(["cat"]);
    expect(await model.score(["a dog ran"], ["dog"])).toBe(1);
  });

  it("trains sparse numbers, several labels and rows without labels", async () => {
    for (const data of [sparse, several, unlabelled]) {
      const { model, recipe } = await train(data);
      expect(saveModel(loadModel(saveModel(model)))).toEqual(saveModel(model));
      expect(recipe.preset).toBe("balanced");
    }
  });
});

describe("what train takes", () => {
  const rows = Array.from({ length: 40 }, (_, r) => Array.from({ length: 12 }, (_, c) => Math.sin(r * 3 + c * c)));
  const y = rows.map((row) => (row[0] > 0 ? "high" : "low"));

  it("plain arrays, which give the model that a matrix gives", async () => {
    const { model } = await train({ form: "matrix", x: rows, y });
    const { model: same } = await train({ form: "matrix", x: Dense.fromRows(rows), y });
    expect(saveModel(model)).toEqual(saveModel(same));
    expect(await model.predict(rows.slice(0, 2))).toHaveLength(2);
  });

  it("rows of unequal scales, which are encoded as a table, with names or without", async () => {
    const x = rows.map((row) => row.map((value, c) => value * 10 ** (c % 4)));
    const featureNames = [..."abcdefghijkl"];
    for (const names of [{}, { featureNames }]) {
      const { model, recipe } = await train({ form: "matrix", x, y, ...names });
      expect(recipe.kind).toBe("table");
      expect(await model.predict(x.slice(0, 2))).toHaveLength(2);
    }
    const { model } = await train({ form: "matrix", x, y }, { params: { committee: 2 } });
    expect(await model.predict(x)).toHaveLength(40);
    expect((await train({ form: "matrix", x })).recipe.kind).toBe("table");
    const images = { form: "matrix" as const, x, y, imageSize: { width: 4, height: 3 } };
    expect((await train(images)).recipe.kind).toBe("numbers");
  });

  it.each<[string, unknown, RegExp]>([
    ["labels alone", { y }, /expected \{ x, y \}, \{ text, y \}, \{ table, y \}.*found an object without rows$/],
    ["rows alone", rows, /found rows alone$/],
    ["a matrix alone", Dense.fromRows(rows), /found rows alone$/],
    ["a form of another name", { form: "rows", x: rows }, /found one of form "rows"/],
    ["a promise", Promise.resolve(), /did you forget await/],
    ["nothing", undefined, /found a value of type undefined$/],
  ])("and refuses with the cure: %s", async (_, given, message) => {
    const refused = train(given as DataSet);
    await expect(refused).rejects.toMatchObject({ code: "bad-params", message: expect.stringMatching(message) });
  });
});
