/** Thousands of classes: defaults that work, memory that does not grow with rows x classes, and files that hold counts. */

import {
  Dense,
  type Label,
  loadModel,
  type Model,
  type ProbabilisticModel,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  saveModel,
} from "@ranksim/core";
import { afterEach, describe, expect, it, vi } from "vitest";
import { encodeSaved } from "../../src/model-file/container/encode.ts";
import type { Saved } from "../../src/model-file/saved.ts";
import { probabilisticReader } from "../../src/models/probabilistic-model.ts";
import { drawBelow, generatorOf } from "../../src/random.ts";

const FEATURES = 24;

/** Rows around a centre of their class; row r is of class r mod classes. */
function made(rows: number, classes: number): { x: Dense; y: Label[] } {
  const generator = generatorOf(5);
  const centres = Uint16Array.from({ length: classes * FEATURES }, () => drawBelow(generator, 1000));
  const values = Uint16Array.from({ length: rows * FEATURES }, (_, at) => {
    const c = Math.floor(at / FEATURES) % classes;
    return centres[c * FEATURES + (at % FEATURES)] + drawBelow(generator, 30);
  });
  return { x: Dense.of(values, rows, FEATURES), y: Array.from({ length: rows }, (_, r) => `class ${r % classes}`) };
}

/** `toEqual` takes seconds for a million numbers. */
const isSame = (a: ArrayBufferView, b: ArrayBufferView) =>
  Buffer.compare(
    Buffer.from(a.buffer, a.byteOffset, a.byteLength),
    Buffer.from(b.buffer, b.byteOffset, b.byteLength),
  ) === 0;

/** The most numbers that one Float64Array made during `work` holds. */
async function largestArray(work: () => Promise<unknown>): Promise<number> {
  let largest = 0;
  const watched = new Proxy(Float64Array, {
    construct(target, args, self) {
      const array = Reflect.construct(target, args, self) as Float64Array;
      largest = Math.max(largest, array.length);
      return array;
    },
  });
  vi.stubGlobal("Float64Array", watched);
  try {
    await work();
  } finally {
    vi.unstubAllGlobals();
  }
  return largest;
}

afterEach(() => vi.unstubAllGlobals());

describe("1,200 classes in 1,500 rows", () => {
  const { x, y } = made(1500, 1200);

  it("train by default, alone and as a committee", async () => {
    const model = await new RankSimilarityClassifier().fit(x, y);
    expect(model.bank.filters).toBe(1200);
    expect(new Set(model.filterClass).size).toBe(1200);
    expect(await model.score(x, y)).toBeGreaterThan(0.99);
    const committee = await new RankSimilarityClassifier({ committee: 2 }).fit(x, y);
    expect(committee.bank.filters).toBe(2400);
    expect(await committee.score(x, y)).toBeGreaterThan(0.99);
  });

  it("are refused where fewer filters are asked for", async () => {
    await expect(new RankSimilarityClassifier({ filters: 1199 }).fit(x, y)).rejects.toThrow(
      /at least as many filters as classes \(1200\), found 1199 filters; filters: "auto"/,
    );
    await expect(new RankSimilarityClassifier({ filters: 2399, committee: 2 }).fit(x, y)).rejects.toThrow(
      /\(1200\), found 1199 filters in each of 2 banks/,
    );
  });
});

describe("memory", () => {
  const [rows, classes] = [3000, 2000];
  const { x, y } = made(rows, classes);
  // Of the order of scores for some rows, filters x features and rows x nBest; rows x classes are 6 million.
  const BOUND = 2 ** 20;

  it("of the classifier does not grow with rows x classes", async () => {
    const fitted = await new RankSimilarityClassifier().fit(x, y);
    for (const model of [fitted, loadModel(saveModel(fitted)) as typeof fitted]) {
      expect(await largestArray(() => model.predict(x))).toBeLessThanOrEqual(BOUND);
    }
    expect(await largestArray(() => new RankSimilarityClassifier({ voters: 3 }).fit(x, y))).toBeLessThanOrEqual(BOUND);
    const voters = await new RankSimilarityClassifier({ voters: 3 }).fit(x, y);
    expect(await largestArray(() => voters.predict(x))).toBeLessThanOrEqual(BOUND);
  });

  it("of a committee does not either, and its votes are the largest scores", async () => {
    const model = await new RankSimilarityClassifier({ committee: 2 }).fit(x, y);
    let voted: Label[] = [];
    const few = x.slice(0, 1200);
    const work = async () => {
      voted = await model.predict(few);
    };
    expect(await largestArray(work)).toBeLessThanOrEqual(BOUND);
    const scores = await model.classScores(few);
    const best = Array.from({ length: few.rows }, (_, r) => {
      const row = Array.from(scores.row(r));
      return model.classes[row.indexOf(row.reduce((a, b) => Math.max(a, b)))];
    });
    expect(voted).toEqual(best);
  });

  it("of the probabilistic classifier does not, with one label or several", async () => {
    const recipe = new RankSimilarityProbabilisticClassifier();
    const sets = y.map((label, r) => [label, `other ${r % 7}`]);
    for (const truth of [y, sets]) {
      expect(await largestArray(() => recipe.fit(x, truth as Label[]))).toBeLessThanOrEqual(BOUND);
      const model = await recipe.fit(x, truth as Label[]);
      expect(await largestArray(() => model.predict(x))).toBeLessThanOrEqual(BOUND);
      expect(await largestArray(async () => saveModel(model))).toBeLessThanOrEqual(BOUND);
      expect(await largestArray(async () => loadModel(saveModel(model)))).toBeLessThanOrEqual(BOUND);
    }
  });
});

describe("a file of many classes", () => {
  const { x, y } = made(1700, 1650);
  const several = y.map((label, r) => (r % 3 === 0 ? [] : [label, `other ${r % 5}`]));
  const cases = [
    { title: "one label", labels: y as readonly (Label | Label[])[], params: {} },
    { title: "one label, mean", labels: y, params: { combine: "mean" as const } },
    { title: "several labels", labels: several, params: {} },
    { title: "kept sums", labels: y, params: { keepSums: true } },
    { title: "several labels, kept sums, mean", labels: several, params: { keepSums: true, combine: "mean" as const } },
  ];

  /** The same model as files had it before counts were stored. */
  const asTable = (model: ProbabilisticModel): Saved => {
    const saved = model.save();
    const { label_offsets, label_indices, label_counts, label_rows, ...arrays } = saved.arrays;
    const shape = [model.bank.filters, model.classes.length];
    const kept = model.params.keepSums === true ? { label_rows } : {};
    return { ...saved, arrays: { ...arrays, ...kept, filter_labels: { shape, values: model.filterLabels } } };
  };
  const read = (saved: Saved) => probabilisticReader.read(saved, () => expect.fail("no steps")) as ProbabilisticModel;

  describe.each(cases)("$title", ({ labels, params }) => {
    const fit = () => new RankSimilarityProbabilisticClassifier(params).fit(x, labels as Label[]);

    it("holds counts, comes back as it was and answers as the table does", async () => {
      const model = await fit();
      const bytes = saveModel(model);
      expect(bytes.length).toBeLessThan(model.bank.filters * model.classes.length);
      const again = loadModel(bytes) as typeof model;
      expect(isSame(saveModel(again), bytes)).toBe(true);
      const table = read(asTable(model));
      expect(isSame(encodeSaved(table.save()), encodeSaved(asTable(model)))).toBe(true);
      const few = x.slice(0, 200);
      const expected = await model.predictProbabilities(few);
      for (const other of [again, table]) {
        expect(await other.predict(few)).toEqual(await model.predict(few));
        expect(isSame((await other.predictProbabilities(few)).values, expected.values)).toBe(true);
        expect(isSame(other.filterLabels, model.filterLabels)).toBe(true);
        expect(other.filterShares(7)).toEqual(
          model.filterLabels.slice(7 * model.classes.length, 8 * model.classes.length),
        );
      }
      if (!("keepSums" in params)) return;
      const more = labels.slice(0, 50).map((label, r) => (Array.isArray(label) ? [...label, `new ${r % 2}`] : label));
      const grown = await model.partialFit(x.slice(0, 50), more as Label[]);
      for (const other of [again, table]) {
        const alike = await other.partialFit(x.slice(0, 50), more as Label[]);
        expect(isSame(saveModel(alike), saveModel(grown))).toBe(true);
      }
    });
  });

  it("is refused where no model has such counts", async () => {
    const saved = (await new RankSimilarityProbabilisticClassifier().fit(x, y)).save();
    const { label_offsets, label_indices, label_counts, label_rows, ...rest } = saved.arrays;
    const arrays = { label_offsets, label_indices, label_counts, label_rows };
    const changed = (name: keyof typeof arrays, change: (values: Uint32Array) => Uint32Array) => {
      const values = change((arrays[name].values as Uint32Array).slice());
      return read({ ...saved, arrays: { ...rest, ...arrays, [name]: { shape: [values.length], values } } });
    };
    const at = (place: number, value: number) => (values: Uint32Array) => {
      values[place] = value;
      return values;
    };
    expect(() => changed("label_indices", at(0, 1650))).toThrow(/filter 0: expected ascending numbers below 1650/);
    expect(() => changed("label_counts", at(0, 0))).toThrow(/filter 0: expected counts from 1/);
    expect(() => changed("label_counts", at(0, 9999))).toThrow(/filter 0: expected counts from 1/);
    expect(() => changed("label_rows", at(0, 9999))).toThrow(/filter 0: expected one class for each of 9999 rows/);
    expect(() => changed("label_offsets", at(1, 9999))).toThrow(/label_offsets: offset 2 falls/);
    expect(() => changed("label_rows", (values) => values.slice(1))).toThrow(/label_rows: expected \d+ of Uint32Array/);
    expect(() => changed("label_counts", (values) => values.slice(1))).toThrow(
      /label_counts: expected \d+ of Uint32Array/,
    );
    const table = asTable(await new RankSimilarityProbabilisticClassifier().fit(x, y));
    for (const name of ["label_rows", "label_counts", "label_offsets", "label_indices"] as const) {
      const both = { ...table, arrays: { ...table.arrays, [name]: arrays[name] } };
      const forged = { kind: both.kind, save: () => both } as Model;
      expect(() => loadModel(saveModel(forged))).toThrow(`unknown array ${name}`);
    }
    const shares = table.arrays.filter_labels.values as Float64Array;
    const negative = shares.map((share) => (share === 0 ? -0 : share));
    const again = {
      ...table,
      arrays: { ...table.arrays, filter_labels: { ...table.arrays.filter_labels, values: negative } },
    };
    expect(() => read(again)).toThrow("filter_labels: expected shares from 0 to 1, and no -0");
    const { label_counts: _, ...without } = saved.arrays;
    expect(() => read({ ...saved, arrays: without })).toThrow(
      /filter_labels (is missing|: expected)|label_counts is missing/,
    );
  });
});
