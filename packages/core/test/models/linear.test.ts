/**
 * The linear classifier: planes known in closed form, and for any data the conditions of the optimum, stated here on the primal problem
 * ½ w·w + Σ c · max(0, margin)², which the dual solver never looks at.
 */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { listedRows } from "../../src/kernels/rows.ts";
import { Csr } from "../../src/matrix/csr.ts";
import { Dense } from "../../src/matrix/dense.ts";
import type { Label } from "../../src/matrix/labels.ts";
import { asMatrix, type MatrixLike, toCsr } from "../../src/matrix/matrix.ts";
import type { Saved } from "../../src/model-file/saved.ts";
import type { Progress } from "../../src/models/estimator.ts";
import { LinearClassifier } from "../../src/models/linear.ts";
import { type LinearModel, linearReader, linearSvmReader } from "../../src/models/linear-model.ts";
import type { LinearParams } from "../../src/models/linear-params.ts";

import { Pipeline } from "../../src/models/pipeline.ts";
import { RankSimilarityTransform } from "../../src/models/transform.ts";
import { drawUnit, generatorOf } from "../../src/random.ts";

/** A fit to the optimum, without what is done for probabilities. */
const exact = { c: 1, tolerance: 1e-10, maxIterations: 100_000, calibrate: "none" } as const;

/** Lumps around the corners of a square, one class each, that overlap; some values are 0. */
function lumps(rows: number, classes: number, seed = 1): { x: number[][]; y: number[] } {
  const generator = generatorOf(seed);
  const y = Array.from({ length: rows }, (_, r) => r % classes);
  const x = y.map((c) =>
    [c & 1, c >> 1, 0].map((centre) => {
      const value = centre + 1.2 * (drawUnit(generator) - 0.5);
      return Math.abs(value) < 0.1 ? 0 : value;
    }),
  );
  return { x, y };
}

/** What all features are scaled by, squared: 1 / the mean of x·x. */
const scaleOf = (x: readonly (readonly number[])[]) => x.length / x.flat().reduce((sum, value) => sum + value ** 2, 0);

/** Slopes of the primal problem in the scaled features and the intercept, which are 0 at the optimum. */
function slopes(model: LinearModel, plane: number, x: number[][], sign: number[], costs: number[]): number[] {
  const unit = Math.sqrt(scaleOf(x));
  const n = model.features;
  const own = model.weights.subarray(plane * n, (plane + 1) * n);
  const w = [...own].map((weight) => weight / unit);
  w.push(model.intercepts[plane]);
  const found = [...w];
  for (const [r, row] of x.entries()) {
    const scaled = [...row.map((value) => value * unit), 1];
    const margin = 1 - sign[r] * scaled.reduce((sum, value, i) => sum + value * w[i], 0);
    for (const [i, value] of scaled.entries()) found[i] -= 2 * costs[r] * sign[r] * value * Math.max(0, margin);
  }
  return found;
}

describe("planes", () => {
  // ½w² + 2c(1−w)² is least at w = 4c / (1 + 4c); "up" is the second class, so its side is positive.
  test.each([0.1, 1, 10])("are known for two rows, c = %s", async (c) => {
    const { weights, intercepts } = await new LinearClassifier({ ...exact, c }).fit([[1], [-1]], ["up", "down"]);
    expect(weights[0]).toBeCloseTo((4 * c) / (1 + 4 * c), 9);
    expect(intercepts[0]).toBeCloseTo(0, 9);
  });

  // One row at 0 of sign 1: ½v² + (1 − v)², least at v = 2/3.
  test("have an intercept that is the weight of a feature of value 1", async () => {
    const { intercepts } = await new LinearClassifier(exact).fit([[0]], ["only"]);
    expect(intercepts[0]).toBeCloseTo(2 / 3, 9);
  });

  test.each([0.05, 0.7, 20])("are at the optimum: the primal problem has no slope there, c = %s", async (c) => {
    const { x, y } = lumps(60, 4);
    const model = await new LinearClassifier({ ...exact, c }).fit(x, y);
    expect(model.report.converged).toEqual([true, true, true, true]);
    for (const k of [0, 1, 2, 3]) {
      const sign = y.map((label) => (label === k ? 1 : -1));
      for (const slope of slopes(model, k, x, sign, y.map(() => c))) expect(slope).toBeCloseTo(0, 7); // biome-ignore format: one line
    }
  });

  test("are at the optimum of weighted rows, and of classes that count the same", async () => {
    const { x, y } = lumps(40, 2);
    const skewed = y.map((label, r) => (r < 30 ? 0 : label));
    const weights = y.map((_, r) => 1 + (r % 3));
    const sign = skewed.map((label) => (label === 1 ? 1 : -1));
    const weighted = await new LinearClassifier(exact).fit(x, skewed, { weights });
    const all = weights.reduce((sum, weight) => sum + weight);
    const total = (label: number) => weights.reduce((sum, weight, r) => (skewed[r] === label ? sum + weight : sum), 0);
    // Weights count in the mean square as well: the rows as often as they weigh.
    const repeated = x.flatMap((row, r) => new Array<number[]>(weights[r]).fill(row));
    const signs = sign.flatMap((s, r) => new Array<number>(weights[r]).fill(s));
    for (const slope of slopes(weighted, 0, repeated, signs, signs.map(() => 1))) expect(slope).toBeCloseTo(0, 7); // biome-ignore format: one line
    const even = await new LinearClassifier({ ...exact, classWeight: "uniform" }).fit(x, skewed, { weights });
    const costs = signs.map((s) => all / (2 * total(s === 1 ? 1 : 0)));
    for (const slope of slopes(even, 0, repeated, signs, costs)) expect(slope).toBeCloseTo(0, 7);
  });

  test("of several labels are each that of a label against its absence", async () => {
    const { x, y } = lumps(50, 3);
    const sets = y.map((label, r) => (r % 5 === 0 ? [] : r % 2 === 0 ? [label, "even"] : [label]));
    const model = await new LinearClassifier(exact).fit(x, sets);
    expect(model.classes).toEqual([0, 1, 2, "even"]);
    for (const [k, label] of model.classes.entries()) {
      const sign = sets.map((set) => (set.includes(label as never) ? 1 : -1));
      for (const slope of slopes(model, k, x, sign, y.map(() => 1))) expect(slope).toBeCloseTo(0, 7); // biome-ignore format: one line
    }
  });

  test("do not depend on the seed beyond the tolerance", async () => {
    const { x, y } = lumps(50, 3);
    const one = await new LinearClassifier({ ...exact, seed: 1 }).fit(x, y);
    const two = await new LinearClassifier({ ...exact, seed: 2 }).fit(x, y);
    expect(one.save().arrays).not.toEqual(two.save().arrays);
    for (const [i, value] of one.weights.entries()) expect(two.weights[i]).toBeCloseTo(value, 8);
  });

  test("say whether they converged", async () => {
    const { x, y } = lumps(50, 2);
    const halted = await new LinearClassifier({ ...exact, maxIterations: 1 }).fit(x, y);
    expect(halted.report).toMatchObject({ iterations: [1], converged: [false] });
  });
});

describe("the unit of the rows", () => {
  test("does not matter: powers of two change no bit, other factors nothing beyond the tolerance", async () => {
    const { x, y } = lumps(60, 3);
    const times = (factor: number) => x.map((row) => row.map((value) => value * factor));
    const model = await new LinearClassifier().fit(x, y);
    const { values } = await model.predictProbabilities(x);
    for (const factor of [2 ** -40, 0.5, 2 ** 30]) {
      const other = await new LinearClassifier().fit(times(factor), y);
      expect(other.report).toEqual(model.report);
      expect([...other.weights].map((weight) => weight * factor)).toEqual([...model.weights]);
      expect((await other.predictProbabilities(times(factor))).values).toEqual(values);
    }
    const strict = new LinearClassifier(exact);
    const plain = await strict.fit(x, y);
    const bytes = await strict.fit(times(255 / 7), y);
    for (const [i, weight] of bytes.weights.entries()) expect((weight * 255) / 7).toBeCloseTo(plain.weights[i], 6);
  });
});

describe("forms of data", () => {
  test("dense, sparse, views, sources and plain rows of any type give the same bits", async () => {
    const numbers = fc.array(fc.array(fc.constantFrom(0, 0, 1, 2, 7, 200), { minLength: 9, maxLength: 9 }), {
      minLength: 2,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(numbers, fc.nat(3), async (rows, seed) => {
        const y = rows.map((_, r) => r % 3);
        const flat = rows.flat();
        const head = new LinearClassifier({ seed, maxIterations: 20 });
        const expected = (await head.fit(rows, y)).save();
        const dense = [Uint8Array, Uint16Array, Int16Array, Float32Array, Float64Array].map((Type) =>
          Dense.of(Type.from(flat), rows.length, 9),
        );
        const offsets = Uint32Array.from({ length: rows.length + 1 }, (_, r) => 9 * r);
        const everyFeature = Uint32Array.from(flat, (_, e) => e % 9);
        const withLead = toCsr(Dense.fromRows([[1, 2, 3, 4, 5, 6, 7, 8, 9], ...rows]));
        const forms: MatrixLike[] = [
          ...dense,
          toCsr(dense[0]),
          toCsr(dense[4]),
          Csr.of(offsets, everyFeature, Float64Array.from(flat), 9),
          withLead.slice(1, rows.length + 1),
        ];
        const model = await head.fit(rows, y);
        const scores = await model.classScores(rows);
        for (const form of forms) {
          const source = listedRows(asMatrix(form), Uint32Array.from(rows.keys()));
          for (const given of [form, source] as MatrixLike[]) {
            expect((await head.fit(given, y)).save()).toEqual(expected);
            expect(await model.classScores(given)).toEqual(scores);
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  test("rows without zeros take the same way as others", async () => {
    // A last feature of 0 keeps the loops for full rows from being used, and its weight stays 0.
    const generator = generatorOf(8);
    const full = Array.from({ length: 20 }, () => Array.from({ length: 17 }, () => 0.5 + drawUnit(generator)));
    const y = full.map((_, r) => r % 2);
    const one = await new LinearClassifier().fit(full, y);
    const two = await new LinearClassifier().fit(
      full.map((row) => [...row, 0]),
      y,
    );
    expect([...two.weights]).toEqual([...one.weights, 0]);
  });

  test("data is never changed", async () => {
    const values = Float64Array.of(1, 0, 2, 3);
    await new LinearClassifier().fit(Dense.of(values, 2, 2), [0, 1]);
    expect([...values]).toEqual([1, 0, 2, 3]);
  });
});

describe("what errors cost", () => {
  test("is chosen by the log loss of rows held out, the smallest of equals", async () => {
    const { x, y } = lumps(300, 3);
    const { report, params } = await new LinearClassifier().fit(x, y);
    expect(params.c).toBe("auto");
    const least = Math.min(...report.tried.map(({ logLoss }) => logLoss));
    expect(report.c).toBe(Math.min(...report.tried.filter(({ logLoss }) => logLoss === least).map(({ c }) => c)));
    expect(report.tried.length).toBeGreaterThan(2);
    // Labels that mean nothing: the less is believed, the better.
    const generator = generatorOf(4);
    const noise = y.map(() => Math.floor(2 * drawUnit(generator)));
    expect((await new LinearClassifier().fit(x, noise)).report.c).toBeLessThan(1);
  });

  test("is as given where it is given, and 1 where there are too few rows", async () => {
    const { x, y } = lumps(30, 2);
    expect((await new LinearClassifier({ c: 3 }).fit(x, y)).report).toMatchObject({ c: 3, tried: [] });
    expect((await new LinearClassifier().fit([[1], [2]], [1, 2])).report).toMatchObject({ c: 1, tried: [] });
  });
});

describe("probabilities", () => {
  /** Rows whose classes are drawn with known odds: ln(p1 / p0) = 3 x. */
  function drawn(rows: number, seed: number) {
    const generator = generatorOf(seed);
    const x = Array.from({ length: rows }, () => [4 * drawUnit(generator) - 2, drawUnit(generator)]);
    const p = x.map(([value]) => 1 / (1 + Math.exp(-3 * value)));
    return { x, p, y: p.map((share) => (drawUnit(generator) < share ? "b" : "a")) };
  }

  test.each(["temperature", "isotonic"] as const)(
    "are near to the odds that classes were drawn with, %s",
    async (calibrate) => {
      const { x, y } = drawn(3000, 1);
      const other = drawn(500, 2);
      const model = await new LinearClassifier({ calibrate }).fit(x, y);
      const { values } = await model.predictProbabilities(other.x);
      const off = other.p.map((share, r) => Math.abs(share - values[2 * r + 1]));
      expect(off.reduce((sum, one) => sum + one) / off.length).toBeLessThan(0.04);
    },
  );

  test("name the class that is predicted, whatever they were fitted by", async () => {
    const { x, y } = lumps(90, 3);
    for (const calibrate of ["none", "temperature", "isotonic"] as const) {
      const model = await new LinearClassifier({ calibrate }).fit(x, y);
      const { values } = await model.predictProbabilities(x);
      const likely = x.map((_, r) => {
        const own = [...values.subarray(3 * r, 3 * r + 3)];
        expect(own.reduce((sum, share) => sum + share)).toBeCloseTo(1, 9);
        return own.indexOf(Math.max(...own));
      });
      expect(await model.predict(x)).toEqual(likely);
    }
  });

  test("can be fitted to other rows, and left out", async () => {
    const { x, y } = lumps(90, 3);
    const model = await new LinearClassifier({ calibrate: "none" }).fit(x, y);
    const fitted = await model.calibrate(x, y, { method: "isotonic" });
    expect(fitted.params.calibrate).toBe("isotonic");
    expect((await fitted.predictProbabilities(x)).values).not.toEqual((await model.predictProbabilities(x)).values);
    expect(fitted.uncalibrated().save()).toEqual(model.save());
    await expect(model.calibrate(x, x.map(() => ["a"]))).rejects.toMatchObject({ code: "bad-labels" }); // biome-ignore format: one line
    await expect(model.calibrate([], [])).rejects.toMatchObject({ code: "empty-input" });
  });

  test("of several labels decide, above their thresholds", async () => {
    const { x, y } = lumps(200, 3);
    const sets = y.map((label) => (label === 0 ? [] : label === 1 ? ["a"] : ["a", "b"]));
    for (const calibrate of ["none", "temperature", "isotonic"] as const) {
      const model = await new LinearClassifier({ calibrate, thresholds: "perLabel" }).fit(x, sets);
      const thresholds = model.thresholds as Float64Array;
      const { values } = await model.predictProbabilities(x);
      expect(await model.predict(x)).toEqual(
        x.map((_, r) => ["a", "b"].filter((_, o) => values[2 * r + o] > thresholds[o])),
      );
      expect(linearReader.read(model.save(), (() => model) as never).save()).toEqual(model.save());
      const common = await model.chooseThresholds(x, sets, { rule: "common" });
      expect(new Set(common.thresholds).size).toBe(1);
      expect(common.uncalibrated().thresholds).toBeUndefined();
    }
  });
});

describe("predict", () => {
  test("two classes have one plane, the second class above it", async () => {
    const model = await new LinearClassifier().fit([[-2], [-1], [1], [2]], ["low", "low", "up", "up"]);
    expect(model.classes).toEqual(["low", "up"]);
    const { values, rows, features } = await model.classScores([[-3], [3]]);
    expect([rows, features]).toEqual([2, 2]);
    expect(values[3]).toBeCloseTo(3 * model.weights[0] + model.intercepts[0], 12);
    expect(values[2]).toBe(-values[3]);
    expect(await model.predict([[-3], [3]])).toEqual(["low", "up"]);
    expect(await model.score([[-3], [3]], ["low", "low"])).toBe(0.5);
  });

  test.each<[string, number[][], Label[]]>([
    ["one row", [[1, 2]], ["a"]],
    ["one class", [[1], [2], [3], [4]], ["a", "a", "a", "a"]],
    ["zero rows of features", [[0], [0], [0]], [1, 2, 3]],
    ["equal rows of two classes", [[3], [3]], ["a", "b"]],
    ["huge values", [[1e150], [-1e150]], ["a", "b"]],
    ["tiny values", [[1e-200], [-1e-200]], ["a", "b"]],
    ["labels of both types", [[1], [2], [3]], ["1", 1, 0.5]],
  ])("copes with %s", async (_, x, y) => {
    for (const calibrate of ["none", "temperature", "isotonic"] as const) {
      const model = await new LinearClassifier({ calibrate }).fit(x, y);
      expect([...model.weights, ...model.intercepts].every(Number.isFinite)).toBe(true);
      for (const label of await model.predict(x)) expect(y).toContain(label);
      expect(linearReader.read(model.save(), (() => model) as never).save()).toEqual(model.save());
    }
  });

  test("no rows have no answers", async () => {
    const model = await new LinearClassifier().fit([[1], [2]], [1, 2]);
    expect(await model.predict([])).toEqual([]);
    await expect(model.score([], [])).rejects.toMatchObject({ code: "empty-input" });
  });

  test("behind the transform it is the paper's own pipeline", async () => {
    // Each class has rows like a pattern and rows like its opposite: the classes have the same mean, so that no plane parts them.
    const generator = generatorOf(6);
    const patterns = [0, 1].map(() => Array.from({ length: 12 }, () => drawUnit(generator)));
    const x = Array.from({ length: 300 }, (_, r) =>
      patterns[r % 2].map((value) => (r % 4 < 2 ? value : 1 - value) + 0.3 * drawUnit(generator)),
    );
    const y = x.map((_, r) => r % 2);
    const paper = new Pipeline([
      ["rst", new RankSimilarityTransform({ filters: 40 })],
      ["head", new LinearClassifier()],
    ]);
    const model = await paper.fit(x, y);
    expect(await model.score(x, y)).toBeGreaterThan(0.95);
    expect(await (await new LinearClassifier().fit(x, y)).score(x, y)).toBeLessThan(0.7);
  });
});

describe("explanations", () => {
  test("add up to the lead of the class over its rival", async () => {
    const { x, y } = lumps(60, 4);
    const model = await new LinearClassifier().fit(x, y);
    for (const [r, row] of x.slice(0, 8).entries()) {
      const { label, rivalLabel, classes, contributions } = await model.explain(x, r);
      expect([label, rivalLabel]).toEqual([classes[0].label, classes[1].label]);
      const [first, second] = [label, rivalLabel].map((name) => model.classes.indexOf(name as Label));
      const lead = contributions.reduce((sum, { contribution }) => sum + contribution, 0);
      const intercepts = model.intercepts[first] - model.intercepts[second];
      expect(lead + intercepts).toBeCloseTo(classes[0].distance - classes[1].distance, 9);
      const sizes = contributions.map(({ contribution }) => Math.abs(contribution));
      expect(sizes).toEqual([...sizes].sort((a, b) => b - a));
      for (const { feature, value } of contributions) expect(value).toBe(row[feature]);
      const own = model.contributions(x, r, label as Label).reduce((sum, { contribution }) => sum + contribution, 0);
      expect(own + model.intercepts[first]).toBeCloseTo(classes[0].distance, 9);
    }
  });

  test("of two classes are those of one plane, from both sides", async () => {
    const { x, y } = lumps(40, 2);
    const model = await new LinearClassifier().fit(x, y);
    const [above, below] = [model.contributions(x, 3, 1), model.contributions(x, 3, 0)];
    expect(below).toEqual(above.map((part) => ({ ...part, contribution: -part.contribution })));
    expect(() => model.contributions(x, 3, "none")).toThrow(expect.objectContaining({ code: "bad-labels" }));
  });
});

describe("refusals", () => {
  const head = new LinearClassifier();
  test.each<[string, () => unknown, object]>([
    ["no rows", () => head.fit([], []), { code: "empty-input" }],
    ["no labels", () => head.fit([[1]]), { code: "bad-labels" }],
    ["empty label sets", () => head.fit([[1]], [[]]), { code: "bad-labels" }],
    ["too few labels", () => head.fit([[1], [2]], ["a"]), { code: "bad-labels" }],
    ["NaN", () => head.fit([[Number.NaN]], ["a"]), { code: "bad-matrix" }],
    ["squares beyond float64", () => head.fit([[1e180]], ["a"]), { code: "bad-matrix" }],
    ["wrong weights", () => head.fit([[1]], ["a"], { weights: [0] }), { code: "bad-params" }],
    ["thresholds of one label", () => head.with({ thresholds: "common" }).fit([[1]], ["a"]), { code: "bad-params" }],
    ["even label sets", () => head.with({ classWeight: "uniform" }).fit([[1]], [["a"]]), { code: "bad-params" }],
    ["another width", async () => (await head.fit([[1]], ["a"])).predict([[1, 2]]), { code: "wrong-width" }],
  ])("%s", (_, call, error) => expect((async () => call())()).rejects.toMatchObject(error));

  test.each([
    { c: 0 },
    { c: Number.POSITIVE_INFINITY },
    { c: "some" },
    { tolerance: 0 },
    { maxIterations: 0 },
    { classWeight: "even" },
    { seed: 0.5 },
    { C: 1 },
  ])("parameters %o", (params) => {
    expect(() => new LinearClassifier(params as Partial<LinearParams>)).toThrow(
      expect.objectContaining({ code: "bad-params" }),
    );
  });
});

describe("run", () => {
  const { x, y } = lumps(2000, 4);
  const head = new LinearClassifier({ maxIterations: 300, tolerance: 1e-12, c: 1000 });

  test("progress rises from 0 to 1 and names the class", async () => {
    for (const c of ["auto", 1] as const) {
      const seen: Progress[] = [];
      await head.with({ c, maxIterations: 5 }).fit(x, y, { onProgress: (progress) => void seen.push(progress) });
      const shares = seen.map(({ share }) => share);
      expect(shares).toEqual([...shares].sort((a, b) => a - b));
      expect([shares[0], shares.at(-1)]).toEqual([0, 1]);
      expect(new Set(seen.map(({ label }) => label))).toEqual(new Set([undefined, 0, 1, 2, 3]));
    }
  });

  test("timers run during a long fit, and an abort from one stops it", async () => {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(new Error("enough")), 20);
    const endless = head.with({ maxIterations: 1_000_000, tolerance: 1e-300 });
    await expect(endless.fit(x, y, { signal: abort.signal })).rejects.toThrow("enough");
    clearTimeout(timer);
  });

  test("an abort before the start stops fit and predict", async () => {
    const signal = AbortSignal.abort(new Error("before"));
    await expect(head.fit(x, y, { signal })).rejects.toThrow("before");
    const model = await new LinearClassifier({ c: 1 }).fit(x, y);
    await expect(model.predict(x, { signal })).rejects.toThrow("before");
  });
});

describe("stored", () => {
  const array = (shape: number[], ...values: number[]) => ({ shape, values: Float64Array.from(values) });
  const report = { c: 1, tried: [], iterations: [3], converged: [true] };
  const good: Saved = {
    kind: "linear",
    meta: { classes: ["a", "b"], multilabel: false, params: { c: 1, calibrate: "none" }, report },
    arrays: { weights: array([1, 2], 1, 2), intercepts: array([1], 0) },
  };
  const { arrays, meta } = good;
  const fitted = { params: { calibrate: "temperature" } };

  test("read back, it is the same model", async () => {
    const { x, y } = lumps(30, 3);
    const model = await new LinearClassifier({ c: 2 }).fit(x, y);
    const saved = model.save();
    expect(saved.arrays.weights.shape).toEqual([3, 3]);
    const again = linearReader.read(saved, () => model) as LinearModel;
    expect(again.save()).toEqual(saved);
    expect(await again.predictProbabilities(x)).toEqual(await model.predictProbabilities(x));
  });

  test.each<[string, Partial<Saved>]>([
    ["no classes", { meta: { ...meta, classes: [] } }],
    ["classes for more planes", { meta: { ...meta, classes: ["a", "b", "c"] } }],
    ["labels for more planes", { meta: { ...meta, multilabel: true } }],
    ["no word about labels", { meta: { ...meta, multilabel: 1 } }],
    ["wrong parameters", { meta: { ...meta, params: { c: -1 } } }],
    ["probabilities that are not there", { meta: { ...meta, ...fitted } }],
    ["thresholds of one label", { meta: { ...meta, params: { calibrate: "none", thresholds: "common" } } }],
    ["no report", { meta: { ...meta, report: null } }],
    ["a report of other planes", { meta: { ...meta, report: { ...report, iterations: [3, 3] } } }],
    ["a report of other things", { meta: { ...meta, report: { ...report, converged: [1] } } }],
    ["a report of no cost", { meta: { ...meta, report: { ...report, c: 0 } } }],
    ["no weights", { arrays: { intercepts: arrays.intercepts } }],
    ["no intercepts", { arrays: { weights: arrays.weights } }],
    ["no features", { arrays: { ...arrays, weights: array([1, 0]) } }],
    ["a false shape", { arrays: { ...arrays, weights: array([2], 1, 2) } }],
    ["weights of another type", { arrays: { ...arrays, weights: { shape: [1, 2], values: Uint8Array.of(1, 2) } } }],
    ["NaN", { arrays: { ...arrays, weights: array([1, 2], 1, Number.NaN) } }],
    ["an infinite intercept", { arrays: { ...arrays, intercepts: array([1], Number.POSITIVE_INFINITY) } }],
  ])("a reader refuses %s", (_, change) => {
    const read = (saved: Saved) => linearReader.read(saved, read as never);
    expect(read(good).save()).toEqual(good);
    expect(() => read({ ...good, ...change })).toThrow(expect.objectContaining({ code: "bad-file" }));
  });

  test("the support vector machine of version 0.2 is read as a linear model that answers as it did", async () => {
    const params = { c: 1, loss: "hinge", intercept: true, interceptScaling: 1, tolerance: 1e-4, seed: 0 };
    const told = { iterations: [3], converged: [true] };
    const old = { ...good, kind: "linear-svm", meta: { classes: ["a", "b"], params, report: told } };
    const model = linearSvmReader.read(old, (() => {}) as never) as LinearModel;
    // x·w is 1, 0 and -1: a row on the plane has the first class.
    expect(await model.predict([[1, 0], [2, -1], [-1, 0]])).toEqual(["b", "a", "a"]); // biome-ignore format: one line
    expect(model.report).toEqual({ c: 1, tried: [], ...told });
    expect(model.save()).toEqual(old);
    const fitted = await model.calibrate([[1, 0], [-1, 0]], ["b", "a"]); // biome-ignore format: one line
    expect(fitted.save()).toMatchObject({ kind: "linear", arrays, meta: { params: { calibrate: "temperature" } } });
    expect(linearReader.read(fitted.save(), (() => {}) as never).save()).toEqual(fitted.save());
    const read = () => linearSvmReader.read({ ...old, meta: { ...old.meta, report: {} } }, (() => {}) as never);
    expect(read).toThrow(expect.objectContaining({ code: "bad-file" }));
  });
});
