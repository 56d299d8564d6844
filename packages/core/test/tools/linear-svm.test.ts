/**
 * The linear support vector machine: planes known in closed form, and for any data the conditions of the optimum, stated
 * here on the primal problem ½ w·w + c Σ loss, which the dual solver never looks at.
 */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Progress } from "../../src/estimators/estimator.ts";
import { Csr } from "../../src/matrix/csr.ts";
import { Dense } from "../../src/matrix/dense.ts";
import type { Label } from "../../src/matrix/labels.ts";
import { type MatrixLike, toCsr } from "../../src/matrix/matrix.ts";
import type { Saved } from "../../src/model-file/saved.ts";
import { drawUnit, generatorOf } from "../../src/random.ts";
import { LinearSvm, LinearSvmModel, type LinearSvmParams, linearSvmReader } from "../../src/tools/linear-svm.ts";

const exact = { tolerance: 1e-10, maxIterations: 100_000 };

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

/** ½ w·w + c Σ loss of the plane between the rows of sign 1 and -1; the last weight belongs to the feature of value `bias`. */
function objective(
  w: readonly number[],
  x: number[][],
  sign: number[],
  { c, loss, interceptScaling: bias }: LinearSvmParams,
) {
  const margins = x.map((row, r) => 1 - sign[r] * [...row, bias].reduce((sum, value, i) => sum + value * w[i], 0));
  const costs = margins.map((margin) => Math.max(0, margin) ** (loss === "hinge" ? 1 : 2));
  return w.reduce((sum, value) => sum + value ** 2, 0) / 2 + c * costs.reduce((a, b) => a + b);
}

describe("planes in closed form", () => {
  const x = [[1], [-1]];
  const y = ["up", "down"];

  // ½w² + 2c(1−w)² is least at w = 4c / (1 + 4c); "up" is the second class, so its side is positive.
  test.each([0.1, 1, 10])("squared hinge, c = %s", async (c) => {
    const { weights, intercepts } = await new LinearSvm({ c, ...exact }).fit(x, y);
    expect(weights[0]).toBeCloseTo((4 * c) / (1 + 4 * c), 9);
    expect(intercepts[0]).toBeCloseTo(0, 9);
  });

  // ½w² + 2c·max(0, 1−w) is least at w = min(1, 2c).
  test.each([0.1, 0.4, 1, 10])("hinge, c = %s", async (c) => {
    const { weights } = await new LinearSvm({ c, loss: "hinge", intercept: false, ...exact }).fit(x, y);
    expect(weights[0]).toBeCloseTo(Math.min(1, 2 * c), 9);
  });

  // One point at 0 of sign 1 besides the intercept: ½v² + c(1 − s·v)², least at v = 2cs / (1 + 2cs²), intercept s·v.
  test.each([0.5, 1, 4])("the intercept is the weight of a feature of value %s", async (s) => {
    const { intercepts } = await new LinearSvm({ interceptScaling: s, ...exact }).fit([[0]], ["only"]);
    expect(intercepts[0]).toBeCloseTo((2 * s * s) / (1 + 2 * s * s), 9);
  });
});

describe("the optimum", () => {
  test.each([
    { c: 1, loss: "squaredHinge", interceptScaling: 1 },
    { c: 0.05, loss: "squaredHinge", interceptScaling: 3 },
    { c: 1, loss: "hinge", interceptScaling: 1 },
    { c: 0.05, loss: "hinge", interceptScaling: 3 },
  ] as const)("no step in any direction lowers the objective: %o", async (params) => {
    const { x, y } = lumps(40, 2);
    const model = await new LinearSvm({ ...params, ...exact }).fit(x, y);
    expect(model.report.converged).toEqual([true]);
    const sign = y.map((label) => (label === 1 ? 1 : -1));
    const w = [...model.weights, model.intercepts[0] / params.interceptScaling];
    const least = objective(w, x, sign, model.params as unknown as LinearSvmParams);
    const generator = generatorOf(3);
    for (let j = 0; j < 200; j++) {
      const size = 10 ** (-4 * drawUnit(generator));
      const nearby = w.map((value) => value + size * (drawUnit(generator) - 0.5));
      expect(objective(nearby, x, sign, model.params as unknown as LinearSvmParams)).toBeGreaterThan(least - 1e-9);
    }
  });

  test("squared hinge: the gradient of the primal problem is 0, class by class", async () => {
    const { x, y } = lumps(60, 4);
    const c = 0.7;
    const model = await new LinearSvm({ c, ...exact }).fit(x, y);
    expect(model.weights.length).toBe(4 * 3);
    for (const k of [0, 1, 2, 3]) {
      const w = [...model.weights.subarray(3 * k, 3 * k + 3), model.intercepts[k]];
      const gradient = [...w];
      for (const [r, row] of x.entries()) {
        const s = y[r] === k ? 1 : -1;
        const extended = [...row, 1];
        const margin = 1 - s * extended.reduce((sum, value, i) => sum + value * w[i], 0);
        for (let i = 0; i < 4; i++) gradient[i] -= 2 * c * s * extended[i] * Math.max(0, margin);
      }
      for (const slope of gradient) expect(slope).toBeCloseTo(0, 7);
    }
  });

  test("does not depend on the seed beyond the tolerance", async () => {
    const { x, y } = lumps(50, 3);
    const one = await new LinearSvm({ seed: 1, ...exact }).fit(x, y);
    const two = await new LinearSvm({ seed: 2, ...exact }).fit(x, y);
    expect(one.save().arrays).not.toEqual(two.save().arrays);
    for (const [i, value] of one.weights.entries()) expect(two.weights[i]).toBeCloseTo(value, 8);
  });

  test("is told from a halt", async () => {
    const { x, y } = lumps(50, 2);
    const halted = await new LinearSvm({ maxIterations: 1 }).fit(x, y);
    expect(halted.report).toEqual({ iterations: [1], converged: [false] });
  });
});

describe("forms of data", () => {
  test("dense, sparse, views and plain rows of any type give the same bits", async () => {
    const numbers = fc.array(fc.array(fc.constantFrom(0, 0, 1, 2, 7, 200), { minLength: 9, maxLength: 9 }), {
      minLength: 2,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(numbers, fc.nat(3), async (rows, seed) => {
        const y = rows.map((_, r) => r % 3);
        const flat = rows.flat();
        const svm = new LinearSvm({ seed, maxIterations: 20 });
        const expected = (await svm.fit(rows, y)).save();
        const forms: MatrixLike[] = [Uint8Array, Uint16Array, Int16Array, Float32Array, Float64Array].map((Type) =>
          Dense.of(Type.from(flat), rows.length, 9),
        );
        forms.push(toCsr(forms[0] as Dense), toCsr(forms[4] as Dense));
        const offsets = Uint32Array.from({ length: rows.length + 1 }, (_, r) => 9 * r);
        const everyFeature = Uint32Array.from(flat, (_, e) => e % 9);
        forms.push(Csr.of(offsets, everyFeature, Float64Array.from(flat), 9));
        const withLead = toCsr(Dense.fromRows([[1, 2, 3, 4, 5, 6, 7, 8, 9], ...rows]));
        forms.push(withLead.slice(1, rows.length + 1));
        for (const form of forms) expect((await svm.fit(form, y)).save()).toEqual(expected);
        const model = await svm.fit(rows, y);
        const values = await model.decisionValues(rows);
        for (const form of forms) expect(await model.decisionValues(form)).toEqual(values);
      }),
      { numRuns: 30 },
    );
  });

  test("rows without zeros take the same way as others", async () => {
    // A last feature of 0 keeps the loops for full rows from being used, and its weight stays 0.
    const generator = generatorOf(8);
    const full = Array.from({ length: 20 }, () => Array.from({ length: 7 }, () => 0.5 + drawUnit(generator)));
    const y = full.map((_, r) => r % 2);
    const one = await new LinearSvm().fit(full, y);
    const two = await new LinearSvm().fit(
      full.map((row) => [...row, 0]),
      y,
    );
    expect([...two.weights]).toEqual([...one.weights, 0]);
  });

  test("data is never changed", async () => {
    const values = Float64Array.of(1, 0, 2, 3);
    await new LinearSvm().fit(Dense.of(values, 2, 2), [0, 1]);
    expect([...values]).toEqual([1, 0, 2, 3]);
  });
});

describe("predict", () => {
  test("two classes have one plane, the second class above it", async () => {
    const model = await new LinearSvm().fit([[-2], [-1], [1], [2]], ["low", "low", "up", "up"]);
    expect(model.classes).toEqual(["low", "up"]);
    const values = await model.decisionValues([[-3], [3]]);
    expect([values.rows, values.features]).toEqual([2, 1]);
    expect(values.values[1]).toBeCloseTo(3 * model.weights[0] + model.intercepts[0], 12);
    expect(await model.predict([[-3], [3]])).toEqual(["low", "up"]);
    expect(await model.score([[-3], [3]], ["low", "low"])).toBe(0.5);
  });

  test("several classes: the largest decision value, equal ones by the lower class", async () => {
    const { x, y } = lumps(80, 4);
    const model = await new LinearSvm().fit(x, y);
    expect((await model.decisionValues(x)).features).toBe(4);
    expect(
      await model.score(
        [
          [0, 0, 0],
          [1, 0, 0],
          [0, 1, 0],
          [1, 1, 0],
        ],
        [0, 1, 2, 3],
      ),
    ).toBe(1);
    const report = { iterations: [1, 1, 1], converged: [true, true, true] };
    const planes = { weights: new Float64Array(3), intercepts: Float64Array.of(1, 2, 2) };
    expect(await new LinearSvmModel(["a", "b", "c"], {}, planes, report).predict([[5]])).toEqual(["b"]);
  });

  test.each<[string, number[][], Label[]]>([
    ["one row", [[1, 2]], ["a"]],
    ["one class", [[1], [2]], ["a", "a"]],
    ["zero rows of features", [[0], [0], [0]], [1, 2, 3]],
    ["equal rows of two classes", [[3], [3]], ["a", "b"]],
    ["huge values", [[1e150], [-1e150]], ["a", "b"]],
    ["tiny values", [[1e-200], [-1e-200]], ["a", "b"]],
    ["labels of both types", [[1], [2], [3]], ["1", 1, 0.5]],
  ])("copes with %s", async (_, x, y) => {
    for (const loss of ["hinge", "squaredHinge"] as const) {
      for (const intercept of [true, false]) {
        const model = await new LinearSvm({ loss, intercept }).fit(x, y);
        expect([...model.weights, ...model.intercepts].every(Number.isFinite)).toBe(true);
        for (const label of await model.predict(x)) expect(y).toContain(label);
      }
    }
  });

  test("no rows have no answers", async () => {
    const model = await new LinearSvm().fit([[1], [2]], [1, 2]);
    expect(await model.predict([])).toEqual([]);
    await expect(model.score([], [])).rejects.toMatchObject({ code: "empty-input" });
  });
});

describe("refusals", () => {
  const svm = new LinearSvm();
  test.each<[string, () => unknown, object]>([
    ["no rows", () => svm.fit([], []), { code: "empty-input" }],
    ["no labels", () => svm.fit([[1]]), { code: "bad-labels" }],
    ["label sets", () => svm.fit([[1]], [["a"]]), { code: "bad-labels" }],
    ["too few labels", () => svm.fit([[1], [2]], ["a"]), { code: "bad-labels" }],
    ["NaN", () => svm.fit([[Number.NaN]], ["a"]), { code: "bad-matrix" }],
    ["squares beyond float64", () => svm.fit([[1e180]], ["a"]), { code: "bad-matrix" }],
    ["another width", async () => (await svm.fit([[1]], ["a"])).predict([[1, 2]]), { code: "wrong-width" }],
  ])("%s", (_, call, error) => expect((async () => call())()).rejects.toMatchObject(error));

  test.each([
    { c: 0 },
    { c: Number.POSITIVE_INFINITY },
    { loss: "squared" },
    { tolerance: 0 },
    { maxIterations: 0 },
    { interceptScaling: -1 },
    { seed: 0.5 },
    { C: 1 },
  ])("parameters %o", (params) => {
    expect(() => new LinearSvm(params as Partial<LinearSvmParams>)).toThrow(
      expect.objectContaining({ code: "bad-params" }),
    );
  });
});

describe("run", () => {
  const { x, y } = lumps(2000, 4);
  const svm = new LinearSvm({ maxIterations: 300, tolerance: 1e-12, loss: "hinge", c: 100 });

  test("progress rises from 0 to 1 and names the class", async () => {
    const seen: Progress[] = [];
    await svm.with({ maxIterations: 5 }).fit(x, y, { onProgress: (progress) => void seen.push(progress) });
    const shares = seen.map(({ share }) => share);
    expect(shares).toEqual([...shares].sort((a, b) => a - b));
    expect([shares[0], shares.at(-1)]).toEqual([0, 1]);
    expect(new Set(seen.map(({ label }) => label))).toEqual(new Set([undefined, 0, 1, 2, 3]));
  });

  test("timers run during a long fit, and an abort from one stops it", async () => {
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(new Error("enough")), 20);
    await expect(svm.with({ maxIterations: 1_000_000 }).fit(x, y, { signal: abort.signal })).rejects.toThrow("enough");
    clearTimeout(timer);
  });

  test("an abort before the start stops fit and predict", async () => {
    const signal = AbortSignal.abort(new Error("before"));
    await expect(svm.fit(x, y, { signal })).rejects.toThrow("before");
    const model = await new LinearSvm().fit(x, y);
    await expect(model.predict(x, { signal })).rejects.toThrow("before");
  });
});

describe("stored", () => {
  test("read back, it is the same model", async () => {
    const { x, y } = lumps(30, 3);
    const model = await new LinearSvm({ c: 2 }).fit(x, y);
    const saved = model.save();
    expect(saved.arrays.weights.shape).toEqual([3, 3]);
    const again = linearSvmReader.read(saved, () => model) as LinearSvmModel;
    expect(again.save()).toEqual(saved);
    expect(await again.decisionValues(x)).toEqual(await model.decisionValues(x));
  });

  const array = (shape: number[], ...values: number[]) => ({ shape, values: Float64Array.from(values) });
  const good: Saved = {
    kind: "linear-svm",
    meta: { classes: ["a", "b"], params: { c: 1 }, report: { iterations: [3], converged: [true] } },
    arrays: { weights: array([1, 2], 1, 2), intercepts: array([1], 0) },
  };
  const { arrays, meta } = good;
  test.each<[string, Partial<Saved>]>([
    ["no classes", { meta: { ...meta, classes: [] } }],
    ["classes for more planes", { meta: { ...meta, classes: ["a", "b", "c"] } }],
    ["wrong parameters", { meta: { ...meta, params: { c: -1 } } }],
    ["no report", { meta: { classes: ["a", "b"], params: {} } }],
    ["a report of other planes", { meta: { ...meta, report: { iterations: [3, 3], converged: [true, true] } } }],
    ["a report of other things", { meta: { ...meta, report: { iterations: ["3"], converged: [1] } } }],
    ["no weights", { arrays: { intercepts: arrays.intercepts } }],
    ["no intercepts", { arrays: { weights: arrays.weights } }],
    ["no features", { arrays: { ...arrays, weights: array([1, 0]) } }],
    ["a false shape", { arrays: { ...arrays, weights: array([1, 3], 1, 2) } }],
    ["a flat shape", { arrays: { ...arrays, weights: array([2], 1, 2) } }],
    ["weights of another type", { arrays: { ...arrays, weights: { shape: [1, 2], values: Uint8Array.of(1, 2) } } }],
    ["NaN", { arrays: { ...arrays, weights: array([1, 2], 1, Number.NaN) } }],
    ["an infinite intercept", { arrays: { ...arrays, intercepts: array([1], Number.POSITIVE_INFINITY) } }],
    ["one array more", { arrays: { ...arrays, more: array([1], 1) } }],
  ])("a reader refuses %s", (_, change) => {
    const read = (saved: Saved) => linearSvmReader.read(saved, read as never);
    expect(read(good).save()).toEqual(good);
    expect(() => read({ ...good, ...change })).toThrow(expect.objectContaining({ code: "bad-file" }));
  });
});
