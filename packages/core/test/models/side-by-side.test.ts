/** Parts side by side, pairs of features and blends: what they make by a plain loop, stored and read. */

import { describe, expect, test } from "vitest";
import { Csr } from "../../src/matrix/csr.ts";
import { toDense } from "../../src/matrix/matrix.ts";
import { loadModel } from "../../src/model-file/load.ts";
import { saveModel } from "../../src/model-file/save.ts";
import type { Saved } from "../../src/model-file/saved.ts";
import { Blend, type BlendModel, blendReader } from "../../src/models/blend.ts";
import { RankSimilarityClassifier } from "../../src/models/classifier.ts";
import type { Model } from "../../src/models/estimator.ts";
import { LinearClassifier } from "../../src/models/linear.ts";
import { type PairModel, PairTransform, pairReader } from "../../src/models/pairs.ts";
import { Pipeline } from "../../src/models/pipeline.ts";
import { MaxAbsScaler, MinMaxScaler } from "../../src/models/scalers.ts";
import { Union, type UnionModel, unionReader } from "../../src/models/union.ts";

const draw = (r: number, c: number) => ((r * 7919 + c * 104729 + r * r * 31) % 17) - 4;
const x = Array.from({ length: 30 }, (_, r) => [0, 1, 2, 3].map((c) => ((r + c) % 3 === 0 ? 0 : draw(r, c))));
const y = x.map(([first, second]) => (first * second > 0 ? "same" : "other"));
const again = <M extends Model>(model: M): M => loadModel(saveModel(model)) as unknown as M;
const rowsOf = (matrix: Parameters<typeof toDense>[0]) => {
  const dense = toDense(matrix);
  return Array.from({ length: dense.rows }, (_, r) => Array.from(dense.row(r)));
};

describe("Union", () => {
  const both = new Union([["least", new MinMaxScaler()], ["most", new MaxAbsScaler()]], { rows: true }); // biome-ignore format: one line

  test("puts the rows and what is made of them side by side, each part as long as the others", async () => {
    const model = await both.fit(x, y);
    const parts = [x, rowsOf(await (await new MinMaxScaler().fit(x)).transform(x)), rowsOf(await (await new MaxAbsScaler().fit(x)).transform(x))]; // biome-ignore format: one line
    const expected = x.map((_, r) =>
      parts.flatMap((part) => {
        const squares = part.flat().reduce((sum, value) => sum + value * value, 0);
        return part[r].map((value) => Math.fround(value * Math.sqrt(part.length / squares)));
      }),
    );
    const made = await model.transform(x);
    expect(made).toBeInstanceOf(Csr);
    expect(rowsOf(made)).toEqual(expected);
    expect(rowsOf(await again(model).transform(x))).toEqual(expected);
    // A view of some rows is not all of them.
    const whole = Csr.fromRows(x.map((row) => row.map((value, c) => [c, value] as const)), 4); // biome-ignore format: one line
    const sparse = new Union([["most", new MaxAbsScaler()]], { rows: true });
    expect((await sparse.fit(whole.slice(5, 20))).scales).toEqual((await sparse.fit(x.slice(5, 20))).scales);
  });

  test("changes parameters of parts by path, and refuses what does not transform", async () => {
    const pair = new Union([["pairs", new PairTransform()]]);
    expect(pair.with({ "pairs.least": 9 }).params).toEqual({ "pairs.least": 9 });
    expect(() => pair.with({ least: 9 })).toThrow('expected "step.parameter"');
    await expect(new Union([["head", new LinearClassifier()]]).fit(x, y)).rejects.toThrow(
      "a linear does not transform",
    );
  });
});

describe("PairTransform", () => {
  test("adds the products of pairs that occur often enough", async () => {
    const model = await new PairTransform({ least: 5 }).fit(x);
    const largest = Math.max(...x.flat().map(Math.abs));
    const pairs = [0, 1, 2, 3].flatMap((i) =>
      [0, 1, 2, 3]
        .filter((j) => j > i && x.filter((row) => row[i] !== 0 && row[j] !== 0).length >= 5)
        .map((j) => [i, j]),
    );
    expect(pairs.length).toBeGreaterThan(2);
    expect(model.made.slice(4)).toEqual(pairs);
    const expected = x.map((row) => [
      ...row.map((value) => Math.fround(value / largest)),
      ...pairs.map(([i, j]) => Math.fround((row[i] / largest) * (row[j] / largest))),
    ]);
    expect(rowsOf(await model.transform(x)).map((row) => row.map((value) => value + 0))).toEqual(
      expected.map((row) => row.map((value) => value + 0)),
    );
    expect(rowsOf(await again(model).transform(x))).toEqual(rowsOf(await model.transform(x)));
  });

  test("lets planes tell apart what no single feature does", async () => {
    const signs = Array.from({ length: 40 }, (_, r) => [r % 2 === 0 ? 1 : -1, r % 4 < 2 ? 1 : -1]);
    const alike = signs.map(([a, b]) => (a === b ? "alike" : "apart"));
    const head = new LinearClassifier({ c: 1 });
    expect(await (await head.fit(signs, alike)).score(signs, alike)).toBeLessThan(0.8);
    const paired = await new Pipeline([new PairTransform(), head]).fit(signs, alike);
    expect(await paired.score(signs, alike)).toBe(1);
  });

  test("refuses more features than can be counted in pairs", async () => {
    await expect(new PairTransform().fit([new Float64Array(2049)])).rejects.toThrow("at most 2048 features");
  });
});

describe("Blend", () => {
  const parts = [
    ["linear", new LinearClassifier()],
    ["filters", new RankSimilarityClassifier()],
  ] as const;

  test("adds up probabilities by weight, and the largest decides", async () => {
    const model = await new Blend(parts, { weights: [3, 1] }).fit(x, y);
    const [linear, filters] = await Promise.all(
      parts.map(async ([, part]) => (await part.fit(x, y)).predictProbabilities(x)),
    );
    const expected = Array.from(linear.values, (value, e) => 0.75 * value + 0.25 * filters.values[e]);
    const found = await model.predictProbabilities(x);
    expect(Array.from(found.values)).toEqual(expected);
    const largest = rowsOf(found).map((row) => model.classes[row[1] > row[0] ? 1 : 0]);
    expect(await model.predict(x)).toEqual(largest);
    expect(await again(model).predict(x)).toEqual(largest);
  });

  test("may decide as if all classes were as frequent", async () => {
    const rare = x.map((_, r) => (r % 6 === 0 ? "rare" : "usual"));
    const of = async (decide: "probable" | "balanced") => {
      const model = await new Blend([["linear", new LinearClassifier({ c: 0.01 })]], { decide }).fit(x, rare);
      return (await again(model).predict(x)).filter((label) => label === "rare").length;
    };
    expect(await of("balanced")).toBeGreaterThan(await of("probable"));
    const { odds } = await new Blend([parts[0]], { decide: "balanced" }).fit(x, rare);
    expect(Array.from(odds as Float64Array)).toEqual([3, 0.6]);
  });

  test("refuses weights that are none, and parts without probabilities", async () => {
    expect(() => new Blend(parts, { weights: [1, 0] })).toThrow("expected 2 weights above 0");
    await expect(new Blend(parts).fit(x, y.map((label) => [label]) as never)).rejects.toThrow("found none or several");
  });
});

test.each([
  [
    "scales that are none",
    async () => [unionReader, (await new Union([["a", new MaxAbsScaler()]]).fit(x)).save()],
    { arrays: { scales: { shape: [1], values: Float64Array.of(0) } } },
  ],
  [
    "parts without names",
    async () => [unionReader, (await new Union([["a", new MaxAbsScaler()]]).fit(x)).save()],
    { meta: { names: [], rows: false } },
  ],
  [
    "a part that does not transform",
    async () => [unionReader, (await new Union([["a", new MaxAbsScaler()]]).fit(x)).save()],
    { steps: [{ kind: "linear", meta: {}, arrays: {} }] },
  ],
  [
    "pairs beyond the features",
    async () => [pairReader, (await new PairTransform().fit(x)).save()],
    { arrays: { pairs: { shape: [1], values: Uint32Array.of(17) } } },
  ],
  [
    "pairs of one feature",
    async () => [pairReader, (await new PairTransform().fit(x)).save()],
    { arrays: { pairs: { shape: [1], values: Uint32Array.of(5) } } },
  ],
  [
    "a largest value that is none",
    async () => [pairReader, (await new PairTransform().fit(x)).save()],
    { meta: { features: 4, largest: 0, params: { least: 3 } } },
  ],
  [
    "weights that are none",
    async () => [blendReader, (await new Blend([["a", new LinearClassifier()]]).fit(x, y)).save()],
    { arrays: { weights: { shape: [1], values: Float64Array.of(-1) } } },
  ],
  [
    "odds for other classes",
    async () => [blendReader, (await new Blend([["a", new LinearClassifier()]]).fit(x, y)).save()],
    {
      arrays: { weights: { shape: [1], values: Float64Array.of(1) }, odds: { shape: [1], values: Float64Array.of(1) } },
    },
  ],
] as const)("refuses a file with %s", async (_, make, change) => {
  const [reader, saved] = (await make()) as unknown as [typeof unionReader, Saved];
  const readStep = (step: Saved) => loadModel(saveModel({ kind: step.kind, save: () => step })) as Model;
  const model = reader.read(saved, readStep) as UnionModel | PairModel | BlendModel;
  expect(model.save()).toEqual(saved);
  const isOdd = (change as { steps?: unknown }).steps !== undefined;
  const step = isOdd ? async () => (await new LinearClassifier().fit(x, y)) as Model : undefined;
  const linear = await step?.();
  expect(() => reader.read({ ...saved, ...change } as Saved, linear ? () => linear : readStep)).toThrow(
    expect.objectContaining({ code: "bad-file" }),
  );
});
