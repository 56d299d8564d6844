/** The patch transform: sizes of images, values as bytes, layers side by side, and where a decision was found. */

import {
  Dense,
  loadModel,
  type PatchModel,
  PatchTransform,
  Pipeline,
  RankSimilarityClassifier,
  RankSimilarityTransform,
  RanksimError,
  saveModel,
  type TransformModel,
  toCsr,
} from "@ranksim/core";
import { crossValidate, multiplyAdds } from "@ranksim/learn";
import { describe, expect, it } from "vitest";
import { poolLayers } from "../../src/kernels/patches.ts";
import { shiftedCopy } from "../../src/matrix/shifted.ts";
import { pooledRows } from "../../src/models/pooled-rows.ts";
import { drawBelow, generatorOf } from "../../src/random.ts";
import { platforms } from "../platforms.ts";
import { SIDE, strokes } from "./strokes.ts";

const small = { patch: 3, filters: 16, nBest: 4, grid: 2 } as const;
const train = strokes(120, 1);

describe("PatchTransform", () => {
  it("finds small pictures wherever they are", async () => {
    const test = strokes(100, 2);
    const recipe = new Pipeline([
      ["patches", new PatchTransform(small)],
      ["classify", new RankSimilarityClassifier({ filters: 20 })],
    ]);
    expect(await (await recipe.fit(train.x, train.y)).score(test.x, test.y)).toBeGreaterThan(0.9);
  });

  it("gives what the plain loops give, in whole numbers, on every back end, and the same file", async () => {
    const files: string[] = [];
    for (const { open } of platforms) {
      const backend = await open();
      const model = await new PatchTransform({ ...small, patch: [3, 4], filters: [16, 9] }).fit(train.x, undefined, {
        backend,
      });
      const pooled = await model.transform(train.x, { backend });
      expect(pooled.features).toBe(4 * (16 + 9));
      expect(model.pooledFeatures).toBe(pooled.features);
      expect(pooled.values).toEqual(poolLayers(train.x, model.layers));
      files.push(Buffer.from(saveModel(model)).toString("hex"));
      await backend.close();
    }
    expect(new Set(files).size).toBe(1);
  });

  it("lets a classifier learn from copies moved by a pixel, on every back end", async () => {
    const shiftedCopies = 2;
    const last = new RankSimilarityClassifier({ filters: 20, calibrate: "temperature", refine: true, refineEpochs: 2 });
    const recipe = new Pipeline([
      ["patches", new PatchTransform({ ...small, shiftedCopies })],
      ["classify", last],
    ]);
    const patches = await new PatchTransform({ ...small, shiftedCopies }).fit(train.x);
    const copies = [1, 2].map((copy) => shiftedCopy(train.x, { width: SIDE, channels: 1 }, copy));
    const rows = [train.x, ...copies].flatMap((images) => Array.from(images.values));
    const pooled = await patches.transform(Dense.of(Uint8Array.from(rows), 3 * 120, SIDE * SIDE));
    const wanted = saveModel(await last.fit(pooled, train.y, { copies: 3 }));
    for (const { open } of platforms) {
      const backend = await open();
      const model = await recipe.fit(train.x, train.y, { backend });
      expect(saveModel(model.steps[1])).toEqual(wanted);
      await backend.close();
    }
    const sparse = await recipe.fit(toCsr(train.x), train.y);
    expect(saveModel(sparse.steps[1])).toEqual(wanted);
    // What takes no copies gets the images as they are.
    const plain = new Pipeline([
      new PatchTransform({ ...small, shiftedCopies }),
      new RankSimilarityTransform({ filters: 5 }),
    ]);
    expect(((await plain.fit(train.x)).steps[1] as TransformModel).report.rows).toBe(120);
    const none = await new PatchTransform({ ...small, shiftedCopies: 0 }).fit(train.x);
    expect([none.copies, (await none.withCopies(train.x)).rows]).toEqual([1, 120]);
    expect((loadModel(saveModel(none)) as PatchModel).copies).toBe(1);
    expect(() => new PatchTransform({ shiftedCopies: -1 })).toThrow("expected a whole number from 0 to 4, found -1");
    expect(() => new PatchTransform({ shiftedCopies: 5 })).toThrow(
      "shiftedCopies: expected a whole number from 0 to 4, found 5",
    );
  });

  it("reads sparse rows and any element type of the same bytes alike", async () => {
    const expected = saveModel(await new PatchTransform(small).fit(train.x));
    for (const values of [Float64Array.from(train.x.values), Int16Array.from(train.x.values)]) {
      const same = Dense.of(values, train.x.rows, train.x.features);
      expect(saveModel(await new PatchTransform(small).fit(same))).toEqual(expected);
      expect(saveModel(await new PatchTransform(small).fit(toCsr(same)))).toEqual(expected);
    }
  });

  it("spreads other values over the bytes by the range of training, and cuts off what lies beyond", async () => {
    const scaled = Dense.of(
      Float64Array.from(train.x.values, (v) => v / 64 - 2),
      train.x.rows,
      train.x.features,
    );
    const model = await new PatchTransform(small).fit(scaled);
    expect(model.scale).toEqual({ low: -2, high: 1.125 });
    const whole = Dense.of(
      Uint8Array.from(train.x.values, (v) => Math.floor(255 * (v / 200) + 0.5)),
      train.x.rows,
      train.x.features,
    );
    const pooled = await model.transform(scaled);
    expect(pooled.values).toEqual(poolLayers(whole, model.layers));
    const beyond = Dense.of(
      Float64Array.from(scaled.values, (v) => (v === 1.125 ? 7 : v)),
      scaled.rows,
      scaled.features,
    );
    expect((await model.transform(beyond)).values).toEqual(pooled.values);
    // On another scale all would be cut off: images of bytes, for a model of images from -2 to 1.
    const bytes = Dense.of(
      Float64Array.from(scaled.values, (v) => Math.round((v + 2) * 81.6)),
      scaled.rows,
      scaled.features,
    );
    await expect(model.transform(bytes)).rejects.toThrow(
      /^row 0, column \d+: expected numbers from about -2 to 1.125 as in training, found \d+; bring images to the scale/,
    );
    expect((await (loadModel(saveModel(model)) as PatchModel).transform(scaled)).values).toEqual(pooled.values);
  });

  it("refuses values that are no bytes where training had bytes, saying where", async () => {
    const model = await new PatchTransform(small).fit(train.x);
    const values = Float64Array.from(train.x.values);
    values[105] = 0.5;
    await expect(model.transform(Dense.of(values, train.x.rows, train.x.features))).rejects.toThrow(
      "row 1, column 5: expected whole numbers from 0 to 255 as in training, found 0.5",
    );
  });

  it.each<[string, object, number, object | RegExp]>([
    ["square images", {}, 100, { width: 10, height: 10, channels: 1 }],
    ["a width", { width: 20 }, 100, { width: 20, height: 5, channels: 1 }],
    ["a height", { height: 1 }, 100, { width: 100, height: 1, channels: 1 }],
    ["colours", { channels: 3 }, 75, { width: 5, height: 5, channels: 3 }],
    [
      "no square",
      {},
      90,
      /90 values a row are no images of square size and 1 channel; give width, height and channels/,
    ],
    ["another width", { width: 7 }, 100, /100 values a row are no images of width 7, 1 channel/],
    ["both sides", { width: 7, height: 9 }, 100, /no images of width 7, height 9, 1 channel/],
    ["colours that do not fit", { channels: 3 }, 100, /3 channels/],
    ["windows of one value", { patch: 1 }, 100, /patch: expected windows of 2 to 2048 values, found 1 x 1 x 1 = 1/],
    ["huge windows", { patch: 60 }, 3600, /found 60 x 60 x 1 = 3600/],
  ])("knows the size of images: %s", async (_, params, features, expected) => {
    const random = generatorOf(4);
    const values = Uint8Array.from({ length: 4 * features }, () => drawBelow(random, 256));
    const fitted = new PatchTransform({ ...small, ...params }).fit(Dense.of(values, 4, features));
    if (!(expected instanceof RegExp)) expect((await fitted).shape).toEqual(expected);
    else await expect(fitted).rejects.toThrow(expected);
  });

  it("refuses windows that kernels could not count in 32 bits", async () => {
    // 100,000 x 60,000 exceeds 2^32: windows would be added to other cells.
    const wide = Dense.of(new Uint8Array(100_001), 1, 100_001);
    const signals = new PatchTransform({ ...small, patch: 2, height: 1 });
    await expect(signals.with({ grid: 60_000 }).fit(wide)).rejects.toThrow(
      "grid: expected a product of windows and cells across below 2^32, found 100000 x 60000",
    );
    const upright = new PatchTransform({ ...small, patch: 2, width: 1, grid: 60_000 });
    await expect(upright.fit(wide)).rejects.toThrow("windows and cells down below 2^32");
    const long = Dense.of(new Uint8Array(2 ** 24 + 100_000), 1, 2 ** 24 + 100_000);
    await expect(signals.with({ grid: 1 }).fit(long)).rejects.toThrow(
      /grid: expected fewer than 16843010 windows in a cell, found 16877215/,
    );
  });

  it.each<[object, RegExp]>([
    [{ patch: [3, 5], grid: [2, 3, 4] }, /patch: expected 3 values, one for each layer, found 2/],
    [{ patch: [] }, /patch: expected a whole number from 1 or a list of them, found \[\]/],
    [{ filters: [8, 0] }, /filters: expected a whole number from 2 or a list/],
    [{ nBest: 1 }, /nBest: expected a whole number from 2 or a list of them, found 1/],
    [{ filters: 1 }, /filters: expected a whole number from 2 or a list of them, found 1/],
    [{ size: 3 }, /unknown parameter size/],
  ])("refuses %j", (params, message) => {
    expect(() => new PatchTransform(params)).toThrow(message);
  });

  it("trains on as many windows as it is told, drawn with the seed, without those of one value", async () => {
    const { x } = strokes(40, 3);
    x.values.fill(7, 0, 35 * SIDE * SIDE);
    const model = await new PatchTransform({ ...small, sample: 200 }).fit(x);
    expect(model.report.trainings.map(({ rows }) => rows)).toEqual([200]);
    const all = await new PatchTransform(small).fit(x);
    expect(all.report.trainings.map(({ rows }) => rows)).toEqual([5 * 64]);
    const other = await new PatchTransform({ ...small, sample: 200, seed: 1 }).fit(x);
    expect(other.layers[0].bank.weights).not.toEqual(model.layers[0].bank.weights);
  });

  it("counts its multiply-adds", async () => {
    const recipe = new Pipeline([
      ["patches", new PatchTransform({ ...small, patch: [3, 5], stride: [1, 2] })],
      ["classify", new RankSimilarityClassifier({ filters: 6 })],
    ]);
    const model = await recipe.fit(train.x, train.y);
    expect(await multiplyAdds(model, train.x)).toBe(64 * 9 * 16 + 9 * 25 * 16 + 6 * (4 + 4) * 16);
  });

  it("goes into cross-validation, with colours too", async () => {
    const { x, y } = strokes(90, 5, 3);
    const recipe = new Pipeline([
      ["patches", new PatchTransform({ ...small, channels: 3 })],
      ["classify", new RankSimilarityClassifier({ filters: 20 })],
    ]);
    const { mean } = await crossValidate(recipe, x, y, { folds: 3 });
    expect(mean).toBeGreaterThan(0.8);
  });
});

describe("PatchModel.map", () => {
  it("adds up to the weighted sum of the pooled row", async () => {
    const model = await new PatchTransform({ ...small, patch: [3, 4] }).fit(train.x);
    const random = generatorOf(6);
    const weights = Float64Array.from({ length: model.pooledFeatures }, () => drawBelow(random, 21) - 10);
    const maps = model.map(train.x, 7, weights);
    expect(maps.map(({ values }) => values.length)).toEqual([64, 49]);
    const pooled = (await model.transform(train.x)).row(7);
    const sum = weights.reduce((total, weight, e) => total + weight * pooled[e], 0);
    expect(maps.flatMap(({ values }) => [...values]).reduce((a, b) => a + b, 0)).toBe(sum);
  });

  it("shows where: only windows that meet what was looked for", async () => {
    const model = await new PatchTransform(small).fit(train.x);
    const blank = new Uint8Array(SIDE * SIDE).fill(10);
    for (let j = 0; j < 3; j++) blank[(6 + j) * SIDE + 7] = 250;
    const [{ values, windows }] = model.map([blank], 0, new Float64Array(model.pooledFeatures).fill(1));
    for (let y = 0; y < windows.down; y++) {
      for (let x = 0; x < windows.across; x++) {
        const meets = x >= 5 && x <= 7 && y >= 4;
        expect(values[y * windows.across + x] > 0, `${x}, ${y}`).toBe(meets);
      }
    }
  });

  it("refuses weights of another length", async () => {
    const model = await new PatchTransform(small).fit(train.x);
    expect(() => model.map(train.x, 0, new Float64Array(3))).toThrow(RanksimError);
  });
});

describe("pooled rows that are made when they are asked for", () => {
  it("are those of transform, in blocks, in any order and in part", async () => {
    const model = await new PatchTransform(small).fit(train.x);
    const all = await model.transform(train.x);
    const source = pooledRows(train.x, model.pooledFeatures, 2, (images) => model.transform(images));
    const blocks: number[] = [];
    for await (const { values } of source.blocks(7 * 2 * model.pooledFeatures)) blocks.push(...values);
    expect(blocks).toEqual(Array.from(all.values));
    const listed = Uint32Array.of(5, 0, 119);
    expect((await source.gather(listed)).values).toEqual(all.gather(listed).values);
    expect((await source.slice(3, 9).gather(Uint32Array.of(2))).values).toEqual(all.slice(5, 6).values);
  });

  it("train the classifier of rows in memory, on every back end, and each is made once where all fit", async () => {
    const recipe = new RankSimilarityClassifier({
      filters: 12,
      refine: true,
      refineEpochs: 3,
      calibrate: "temperature",
    });
    for (const { open } of platforms) {
      const backend = await open();
      const model = await new PatchTransform(small).fit(train.x, undefined, { backend });
      let made = 0;
      const source = pooledRows(train.x, model.pooledFeatures, 2, (images) => {
        made += images.rows;
        return model.transform(images, { backend });
      });
      const kept = await recipe.fit(await model.transform(train.x, { backend }), train.y, { backend });
      const read = await recipe.fit(source, train.y, { backend });
      expect(read.bank).toEqual(kept.bank);
      expect(await read.predictProbabilities(source, { backend })).toEqual(
        await kept.predictProbabilities(await model.transform(train.x), { backend }),
      );
      if (backend.name === "wasm") expect(made).toBe(2 * train.x.rows); // once to train, once to predict
      await backend.close();
    }
  });

  it("are given where they are many, and rows in memory where they are few", async () => {
    const model = await new PatchTransform({ ...small, filters: 128, grid: 8 }).fit(train.x);
    const most = Math.floor(2 ** 28 / (2 * model.pooledFeatures));
    const images = (rows: number) => Dense.of(new Uint8Array(rows * SIDE * SIDE).fill(7), rows, SIDE * SIDE);
    expect(await model.rowsFor(train.x)).toEqual(await model.transform(train.x));
    const many = await model.rowsFor(images(most + 1));
    expect(many).not.toBeInstanceOf(Dense);
    expect(many).toMatchObject({ rows: most + 1, features: model.pooledFeatures, form: "dense" });
  });
});
