/** Pipelines: steps in order, parameters by path, abilities of the last step, stored and read, text first. */

import { crossValidate, gridSearch } from "@ranksim/learn";
import { describe, expect, expectTypeOf, test } from "vitest";
import { NearestMean } from "../../../learn/test/nearest-mean.ts";
import { Csr } from "../../src/matrix/csr.ts";
import type { Label } from "../../src/matrix/labels.ts";
import type { MatrixLike } from "../../src/matrix/matrix.ts";
import type { Saved } from "../../src/model-file/saved.ts";
import { RankSimilarityClassifier } from "../../src/models/classifier.ts";
import type { Estimator, Model, ModelReader, Progress, TransformingModel } from "../../src/models/estimator.ts";
import { LinearClassifier } from "../../src/models/linear.ts";
import { type LinearModel, linearReader } from "../../src/models/linear-model.ts";
import {
  isClassifier,
  isTransformer,
  Pipeline,
  type PipelineModel,
  pipelineReader,
  type Steps,
} from "../../src/models/pipeline.ts";
import {
  MaxAbsScaler,
  MinMaxScaler,
  type ScalerModel,
  StandardScaler,
  scalerReaders,
} from "../../src/models/scalers.ts";
import { RankSimilarityTransform, transformReader } from "../../src/models/transform.ts";

// The first feature decides; the second is noise in a unit that drowns it.
const x = Array.from({ length: 24 }, (_, r) => [r % 2 === 0 ? 1 : 2, 1000 * ((r * 7) % 11)]);
const y = x.map(([first]) => (first === 1 ? "one" : "two"));

const readers: readonly ModelReader[] = [pipelineReader, linearReader, transformReader, ...scalerReaders];
const read = (saved: Saved): Model => {
  const reader = readers.find(({ kind }) => kind === saved.kind);
  if (!reader) throw new Error(`no reader for ${saved.kind}`);
  return reader.read(saved, read);
};

/** Counts letters a to c: a transform of texts. */
const letters: Estimator<readonly string[], TransformingModel<readonly string[]>> = {
  kind: "letters",
  params: {},
  with: () => letters,
  fit: async () => ({
    kind: "letters",
    transform: async (texts) =>
      Csr.fromRows(
        texts.map((text) => [...text].map((letter) => ["abc".indexOf(letter), 1] as const)),
        3,
      ),
    save: () => ({ kind: "letters", meta: {}, arrays: {} }),
  }),
};

describe("fit", () => {
  test("scaling before the estimator makes the small feature count", async () => {
    const alone = await new NearestMean().fit(x, y);
    const scaled = await new Pipeline([new StandardScaler(), new NearestMean()]).fit(x, y);
    expect(await alone.score(x, y)).toBeLessThan(1);
    expect(await scaled.score(x, y)).toBe(1);
    expect(await scaled.predict([[2, 5000]])).toEqual(["two"]);
    expect((await scaled.predictProbabilities(x)).rows).toBe(24);
    expect(scaled.classes).toEqual(["one", "two"]);
  });

  test("equals the steps by hand", async () => {
    const model = await new Pipeline([new MinMaxScaler(), new MaxAbsScaler(), new LinearClassifier()]).fit(x, y);
    const first = await new MinMaxScaler().fit(x);
    const once = await first.transform(x);
    const second = await new MaxAbsScaler().fit(once);
    const head = await new LinearClassifier().fit(await second.transform(once), y);
    expect(model.steps.map((step) => step.save())).toEqual([first.save(), second.save(), head.save()]);
    expect(await model.predict(x)).toEqual(await head.predict(await second.transform(await first.transform(x))));
  });

  test("the first step may take texts", async () => {
    const texts = ["aab", "aac", "bbc", "bba"];
    const pipeline = new Pipeline([letters, ["nearest", new NearestMean()]]);
    const model = await pipeline.fit(texts, ["A", "A", "B", "B"]);
    expect(await model.predict(["aaaa", "bbbb"])).toEqual(["A", "B"]);
    const { mean } = await crossValidate(pipeline, texts, ["A", "A", "B", "B"], { folds: 2 });
    expect(mean).toBeGreaterThanOrEqual(0);
  });

  test("pipelines nest", async () => {
    const inner = new Pipeline([new MinMaxScaler(), ["maximum", new MaxAbsScaler()]]);
    const outer = new Pipeline([
      ["prepare", inner],
      ["head", new LinearClassifier()],
    ]);
    const flat = await new Pipeline([new MinMaxScaler(), new MaxAbsScaler(), new LinearClassifier()]).fit(x, y);
    const model = await outer.fit(x, y);
    expect(await model.predict(x)).toEqual(await flat.predict(x));
    expect(outer.with({ "head.c": 4 }).params).toEqual({ ...outer.params, "head.c": 4 });
  });

  test("the transform goes before the linear classifier, as in the paper", async () => {
    const pipeline = new Pipeline([
      ["scale", new MaxAbsScaler()],
      ["rst", new RankSimilarityTransform({ filters: 6 })],
      ["head", new LinearClassifier()],
    ]);
    const wide = x.map(([first, second]) => [first, 3 - first, second / 10_000]);
    const model = await pipeline.fit(wide, y);
    expect(await model.score(wide, y)).toBe(1);
    expect(read(model.save()).save()).toEqual(model.save());
  });

  test("refuses a step that does not transform, but for the last", async () => {
    const pipeline = new Pipeline([new NearestMean(), new LinearClassifier()]);
    await expect(pipeline.fit(x, y)).rejects.toThrow(/step nearest-mean: a nearest-mean does not transform/);
  });
});

test("weights of rows are for the last step alone", async () => {
  const rows = Array.from({ length: 30 }, (_, r) => Array.from({ length: 9 }, (_, i) => (r * i * 5) % 11));
  const labels = rows.map((_, r) => "ab"[r % 2]);
  const weights = rows.map((_, r) => 1 + (r % 4));
  const first = new RankSimilarityTransform({ filters: 5 });
  const pipeline = new Pipeline([first, new RankSimilarityClassifier({ filters: 4 })]);
  const [filters, classifier] = (await pipeline.fit(rows, labels, { weights })).steps;
  const alone = await first.fit(rows);
  expect(filters.save().arrays).toEqual(alone.save().arrays);
  const weighed = await new RankSimilarityClassifier({ filters: 4 }).fit(await alone.transform(rows), labels, {
    weights,
  });
  expect(classifier.save().arrays).toEqual(weighed.save().arrays);
});

describe("abilities are those of the last step", () => {
  test("a pipeline of transforms transforms", async () => {
    const model = await new Pipeline([new MinMaxScaler(), new MaxAbsScaler()]).fit(x);
    expect((await model.transform(x)).rows).toBe(24);
    expect([isTransformer(model), isClassifier(model), "score" in model, "classes" in model]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expectTypeOf(model.predict).toEqualTypeOf<never>();
  });

  test("one that ends in an estimator predicts", async () => {
    const model = await new Pipeline([new MinMaxScaler(), new LinearClassifier()]).fit(x, y);
    expect([isTransformer(model), isClassifier(model), "predictProbabilities" in model]).toEqual([false, true, true]);
    expectTypeOf(model).toEqualTypeOf<PipelineModel<MatrixLike, LinearModel>>();
    expectTypeOf(await model.predict(x)).toEqualTypeOf<(Label | Label[])[]>();
  });
});

describe("parameters", () => {
  const pipeline = new Pipeline([
    ["scale", new StandardScaler()],
    ["head", new LinearClassifier({ c: 2 })],
  ]);

  test("are those of the steps, by path", () => {
    expect(pipeline.params).toMatchObject({ "scale.center": true, "head.c": 2, "head.seed": 0 });
    const changed = pipeline.with({ "head.c": 3, "head.seed": 1, "scale.center": false });
    expect(changed.params).toMatchObject({ "scale.center": false, "head.c": 3, "head.seed": 1 });
    expect(pipeline.params["head.c"]).toBe(2);
  });

  test("can be searched", async () => {
    // Under so small a cost all rows are of one class, or none.
    const grid = { "head.classWeight": ["proportional"], "head.c": [1e-9, 100] };
    const found = await gridSearch(pipeline.with({ "scale.center": false }), grid, x, y, { folds: 3 });
    expect(found.bestParams).toEqual({ "head.classWeight": "proportional", "head.c": 100 });
    expect(found.bestScore).toBe(1);
    expect(found.results[1].mean).toBeLessThan(1);
    expect(await found.model.predict([[1, 0]])).toEqual(["one"]);
    expectTypeOf(found.model.steps).toEqualTypeOf<readonly Model[]>();
  });

  test.each([
    ["an unknown step", () => pipeline.with({ "sum.c": 1 }), /unknown parameter sum\.c; .* scale, head/],
    ["no step", () => pipeline.with({ c: 1 }), /unknown parameter c;/],
    ["an unknown parameter", () => pipeline.with({ "head.d": 1 }), /unknown parameter d/],
    ["a wrong value", () => pipeline.with({ "head.c": -1 }), /c: expected a number above 0 or "auto", found -1/],
    ["no steps", () => new Pipeline([] as unknown as Steps<MatrixLike, Model>), /at least 1 step/],
    ["equal names", () => new Pipeline([new MaxAbsScaler(), new MaxAbsScaler()]), /found max-abs-scaler twice/],
    ["dots in names", () => new Pipeline([["a.b", new MaxAbsScaler()]]), /without dots, found "a\.b"/],
  ])("%s is refused", (_, call, message) => expect(call).toThrow(message));
});

describe("run", () => {
  const pipeline = new Pipeline([new MinMaxScaler(), new MaxAbsScaler(), new NearestMean()]);

  test("progress rises from 0 to 1 in fit and predict", async () => {
    for (const call of ["fit", "predict"] as const) {
      const shares: number[] = [];
      const run = { onProgress: ({ share }: Progress) => void shares.push(share) };
      const model = await pipeline.fit(x, y, call === "fit" ? run : {});
      if (call === "predict") await model.predict(x, run);
      expect(shares.length).toBeGreaterThan(3);
      expect(shares).toEqual([...shares].sort((a, b) => a - b));
      expect(shares[0]).toBe(0);
      if (call === "fit") expect(shares.at(-1)).toBe(1);
    }
  });

  test("an abort between steps stops it", async () => {
    const abort = new AbortController();
    const stages: string[] = [];
    const onProgress = ({ stage, share }: Progress) => {
      stages.push(stage);
      if (share > 0.4) abort.abort(new Error("enough"));
    };
    await expect(pipeline.fit(x, y, { signal: abort.signal, onProgress })).rejects.toThrow("enough");
    expect(stages.length).toBeLessThan(8);
  });
});

describe("stored", () => {
  test("a pipeline is its steps and their names", async () => {
    const model = await new Pipeline([["scale", new MinMaxScaler()], new LinearClassifier()]).fit(x, y);
    const saved = model.save();
    expect(saved).toMatchObject({ kind: "pipeline", meta: { names: ["scale", "linear"] }, arrays: {} });
    const again = read(saved) as typeof model;
    expect(again.save()).toEqual(saved);
    expect(await again.predict(x)).toEqual(await model.predict(x));
  });

  test("a reader refuses what no pipeline has", async () => {
    const scaler = ((await new MinMaxScaler().fit(x)) as ScalerModel).save();
    const head = (await new LinearClassifier().fit(x, y)).save();
    const good: Saved = { kind: "pipeline", meta: { names: ["a", "b"] }, arrays: {}, steps: [scaler, head] };
    expect(read(good).kind).toBe("pipeline");
    const { steps: _, ...stepless } = good;
    const extra = { shift: { shape: [1], values: Float64Array.of(1) } };
    for (const [wrong, message] of [
      [{ ...good, meta: {} }, /names/],
      [{ ...good, meta: { names: ["a", 1] } }, /names/],
      [{ ...good, meta: { names: [] }, steps: [] }, /names/],
      [{ ...good, meta: { names: ["a", "a"] } }, /found a twice/],
      [{ ...good, meta: { names: ["a", "b.c"] } }, /without dots/],
      [{ ...good, meta: { names: ["a"] } }, /expected 1 steps.*found 2/],
      [stepless, /found none/],
      [{ ...good, steps: [head, scaler] }, /step a: a linear does not transform/],
      [{ ...good, arrays: extra }, /no arrays/],
    ] as const) {
      expect(() => read(wrong)).toThrow(message);
      expect(() => read(wrong)).toThrow(expect.objectContaining({ code: "bad-file" }));
    }
  });
});
