/** Probabilities and thresholds fitted on held-out rows: what they change, what they leave, what is refused. */

import {
  type Backend,
  Dense,
  type Label,
  loadModel,
  type Model,
  openBackend,
  type ProbabilisticModel,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  saveModel,
  toCsr,
} from "@ranksim/core";
import { f1 } from "@ranksim/learn";
import { describe, expect, it } from "vitest";
import type { Saved } from "../../src/model-file/saved.ts";
import { classifierReader } from "../../src/models/classifier-model.ts";
import { drawBelow, generatorOf } from "../../src/random.ts";

const NAMES = ["ant", "bee", "cow"];
const FEATURES = 15;

/** Rows of three classes that overlap. */
function sample(rows: number, seed: number): { x: Dense; y: string[] } {
  const generator = generatorOf(seed);
  const y = Array.from({ length: rows }, () => NAMES[drawBelow(generator, 3)]);
  const x = y.map((name) =>
    Array.from({ length: FEATURES }, (_, i) => drawBelow(generator, 12) + (i % 3 === NAMES.indexOf(name) ? 4 : 0)),
  );
  return { x: Dense.fromRows(x), y };
}

const train = sample(300, 1);
const test = sample(200, 2);
const setsOf = (y: readonly string[]): Label[][] => y.map((name, r) => (r % 3 === 0 ? [name, "third"] : name === "ant" ? [] : [name])); // biome-ignore format: one rule

function lossOf(probabilities: Dense, y: readonly string[]): number {
  const losses = y.map((name, r) => -Math.log(Math.max(probabilities.row(r)[NAMES.indexOf(name)], 2 ** -52)));
  return losses.reduce((a, b) => a + b) / y.length;
}

/** Rows of few words out of 300, of which short ones tell little about their class. */
function fewWords(rows: number, seed: number): { x: Dense; y: string[] } {
  const generator = generatorOf(seed);
  const y = Array.from({ length: rows }, () => NAMES[drawBelow(generator, 3)]);
  const x = y.map((name) => {
    const row = new Array<number>(300).fill(0);
    for (let words = 1 + drawBelow(generator, 20); words > 0; words--) {
      const isOwn = drawBelow(generator, 10) < 3;
      row[isOwn ? 3 * drawBelow(generator, 100) + NAMES.indexOf(name) : drawBelow(generator, 300)]++;
    }
    return row;
  });
  return { x: Dense.fromRows(x), y };
}

describe("rows of few words", () => {
  const seen = fewWords(600, 4);
  const asked = fewWords(400, 5);

  it.each(["temperature", "isotonic"] as const)("are trusted by their length (%s)", async (method) => {
    const model = await new RankSimilarityClassifier({ filters: 3, calibrate: method }).fit(seen.x, seen.y);
    const { calibration_factor: factor, calibration_halfway: halfway } = model.save().arrays;
    expect(halfway.values[0]).toBeGreaterThan(0);
    const found = await model.predictProbabilities(asked.x);
    const loaded = loadModel(saveModel(model)) as typeof model;
    expect(await loaded.predictProbabilities(toCsr(asked.x))).toEqual(found);
    const same = await new RankSimilarityClassifier({ filters: 3, calibrate: method }).fit(toCsr(seen.x), seen.y);
    expect(saveModel(same)).toEqual(saveModel(model));
    if (method === "isotonic") return;
    // As FORMAT.md says, without the spread and with it.
    const { calibration_halfway: _, calibration_spread: __, ...arrays } = model.save().arrays;
    const read = (more: object) =>
      classifierReader.read({ ...model.save(), arrays: { ...arrays, ...more } }, () =>
        expect.fail("no steps"),
      ) as typeof model;
    const scores = await model.classScores(asked.x);
    for (const calibration_spread of [undefined, { shape: [1], values: Float64Array.of(0.5) }]) {
      const isRooted = calibration_spread !== undefined;
      const stated = read({ calibration_halfway: halfway, ...(isRooted ? { calibration_spread } : {}) });
      const [probabilities, again] = [await stated.predictProbabilities(asked.x), loadModel(saveModel(stated))];
      expect(await (again as typeof model).predictProbabilities(asked.x)).toEqual(probabilities);
      for (let r = 0; r < 20; r++) {
        const n = asked.x.row(r).filter((value) => value !== 0).length;
        const own = Array.from(scores.row(r));
        const size = own.reduce((sum, score) => sum + Math.abs(score), 0) / 3;
        const mean = own.reduce((sum, score) => sum + score / size, 0) / 3;
        const spread = Math.sqrt(own.reduce((sum, score) => sum + (score / size - mean) ** 2, 0) / 3);
        const apart = own.map((score) => (isRooted ? (score / size - mean) / Math.sqrt(spread) : score / size));
        const powers = apart.map((s) => Math.exp((factor.values[0] * s * n) / (n + halfway.values[0])));
        const sum = powers.reduce((a, b) => a + b);
        powers.forEach((power, c) => {
          expect(probabilities.row(r)[c]).toBeCloseTo(power / sum, 9);
        });
      }
    }
    const plain = read({});
    expect(lossOf(found, asked.y)).toBeLessThan(lossOf(await plain.predictProbabilities(asked.x), asked.y));
  });

  it("have a length that is a number above 0, and a spread whose power is one half", async () => {
    const saved = (
      await new RankSimilarityClassifier({ filters: 3, calibrate: "temperature" }).fit(seen.x, seen.y)
    ).save();
    const refused: [string, number[]][] = [
      ...[[0], [-1], [Number.NaN], [1e9], [1, 1]].map((values): [string, number[]] => ["calibration_halfway", values]),
      ...[[0], [1], [Number.NaN], [0.5, 0.5]].map((values): [string, number[]] => ["calibration_spread", values]),
    ];
    for (const [name, values] of refused) {
      const arrays = { ...saved.arrays, [name]: { shape: [values.length], values: Float64Array.from(values) } };
      expect(() => classifierReader.read({ ...saved, arrays }, () => expect.fail("no steps"))).toThrow(name);
    }
    const shares = new RankSimilarityProbabilisticClassifier({ filters: 9, calibrate: "temperature" });
    const other = (await shares.fit(seen.x, seen.y)).save();
    for (const [name, value] of [
      ["calibration_halfway", 1],
      ["calibration_spread", 0.5],
    ] as const) {
      // biome-ignore format: pairs
      const arrays = { ...other.arrays, [name]: { shape: [1], values: Float64Array.of(value) } };
      expect(() => readForged({ ...other, arrays })).toThrow(`unknown array ${name}`);
    }
  });
});

const estimators = { RankSimilarityClassifier, RankSimilarityProbabilisticClassifier };

describe.each(Object.entries(estimators))("%s", (_, Estimator) => {
  it.each(["temperature", "isotonic"] as const)(
    "fits probabilities and leaves predictions alone (%s)",
    async (method) => {
      const plain = await new Estimator({ filters: 30 }).fit(train.x, train.y);
      const { x, y } = sample(300, 3);
      const fitted = await plain.calibrate(x, y, { method });
      expect(await fitted.predict(test.x)).toEqual(await plain.predict(test.x));
      expect(await fitted.classScores(test.x)).toEqual(await plain.classScores(test.x));
      const before = await plain.predictProbabilities(test.x);
      const after = await fitted.predictProbabilities(test.x);
      for (let r = 0; r < test.y.length; r++)
        expect(Array.from(after.row(r)).reduce((a, b) => a + b)).toBeCloseTo(1, 12);
      expect(lossOf(after, test.y)).toBeLessThan(lossOf(before, test.y));
      expect(fitted.params.calibrate).toBe(method);
      expect(plain.params.calibrate).toBe("none");
      const loaded = loadModel(saveModel(fitted)) as typeof fitted;
      expect(await loaded.predictProbabilities(test.x)).toEqual(after);
      expect(saveModel(fitted.uncalibrated())).toEqual(saveModel(plain));
    },
  );

  it("holds out a tenth of each class in fit, and gives the same bits everywhere", async () => {
    const recipe = new Estimator({ filters: 30, calibrate: "isotonic", keepSums: true });
    const files = [];
    for (const name of ["reference", "wasm", "threads"] as const) {
      const backend: Backend = await openBackend(name);
      const model = await recipe.fit(train.x, train.y, { backend });
      files.push(saveModel(model));
      const used = new Set(Array.from({ length: model.bank.filters }, (_, f) => [...model.filterRows(f)]).flat());
      const counts = NAMES.map((label) => train.y.filter((other) => other === label).length);
      const kept = counts.map((count) => count - Math.round(count / 10));
      NAMES.forEach((label, c) => {
        expect([...used].filter((r) => train.y[r] === label).length).toBeLessThanOrEqual(kept[c]);
      });
      expect(model.report.rows).toBe(kept.reduce((a, b) => a + b));
      expect(model.report.notes).toContain(`${300 - model.report.rows} of 300 rows were held out of training to fit probabilities`); // biome-ignore format: one text
      // Rows that are added count on after all that were seen, and end what was fitted.
      const grown = await model.partialFit(test.x, test.y, { backend });
      expect(grown.params.calibrate).toBe("none");
      const added = Array.from({ length: grown.bank.filters }, (_, f) => [...grown.filterRows(f)]).flat();
      expect(Math.max(...added)).toBe(499);
      await backend.close();
    }
    expect(files[1]).toEqual(files[0]);
    expect(files[2]).toEqual(files[0]);
  });

  it("refuses too few rows, unknown labels and methods, and empty data", async () => {
    const four = [0, 1, 2, 3];
    const few = new Estimator({ filters: 3, fastFilters: 3, calibrate: "temperature" });
    await expect(few.fit(train.x.gather(four), ["a", "b", "c", "a"])).rejects.toThrow(
      /calibrate: expected enough rows/,
    );
    const model = await new Estimator({ filters: 9 }).fit(train.x, train.y);
    await expect(model.calibrate(test.x, test.y.map(() => "dog"))).rejects.toMatchObject({ code: "bad-labels" }); // biome-ignore format: a call
    await expect(model.calibrate(test.x, test.y, { method: "platt" as never })).rejects.toMatchObject({
      code: "bad-params",
    });
    await expect(model.calibrate(test.x.slice(0, 0), [])).rejects.toMatchObject({ code: "empty-input" });
  });

  it("never holds out rows to start from", async () => {
    const rows = NAMES.map((name) => train.y.flatMap((other, r) => (other === name ? [r] : [])).slice(0, 20));
    const initialRows = (Estimator === RankSimilarityClassifier ? rows : rows.flat()) as never;
    const model = await new Estimator({ initialRows, spreading: "none", calibrate: "temperature" }).fit(
      train.x,
      train.y,
    );
    expect(Array.from({ length: 60 }, (_, f) => [...model.filterRows(f)])).toEqual(rows.flat().map((r) => [r]));
  });
});

describe("several labels", () => {
  const recipe = new RankSimilarityProbabilisticClassifier({ filters: 40, combine: "mean", nBest: 15 });
  const y = setsOf(train.y);
  const truth = setsOf(test.y);

  it("of similar filters are weighted means of their shares", async () => {
    const model = await recipe.fit(train.x, y);
    const scores = await model.classScores(test.x);
    const c = model.classes.length;
    for (const row of [0, 3, 77]) {
      const { filters } = await model.explain(test.x, row);
      const weight = filters.reduce((sum, { similarity }) => sum + similarity, 0);
      for (let o = 0; o < c; o++) {
        const sum = filters.reduce((total, { similarity, shares }) => total + similarity * shares[o], 0);
        expect(scores.row(row)[o]).toBeCloseTo(sum / weight, 12);
      }
    }
    // A row without response: the mean over all filters.
    const silent = await model.classScores([new Array<number>(FEATURES).fill(0)]);
    for (let o = 0; o < c; o++) {
      const shares = Array.from({ length: model.bank.filters }, (_, f) => model.filterLabels[f * c + o]);
      expect(silent.values[o]).toBeCloseTo(shares.reduce((a, b) => a + b) / shares.length, 12);
    }
  });

  it.each(["common", "perLabel"] as const)("have thresholds that decide (%s)", async (thresholds) => {
    const model = (await recipe.with({ thresholds, calibrate: "isotonic" }).fit(train.x, y)) as ProbabilisticModel<
      Label[]
    >;
    expect(model.report.rows).toBe(240);
    const chosen = model.thresholds as Float64Array;
    expect(new Set(chosen).size === 1).toBe(thresholds === "common");
    const scores = await model.classScores(test.x);
    const expected = truth.map((_, r) => model.classes.filter((_, o) => scores.row(r)[o] > chosen[o]));
    expect(await model.predict(test.x)).toEqual(expected);
    const plain = await recipe.fit(train.x, y);
    expect(f1(truth, expected)).toBeGreaterThan(f1(truth, await plain.predict(test.x)));
    expect(await (loadModel(saveModel(model)) as typeof model).predict(test.x)).toEqual(expected);
    const other = model.withNBest(9);
    expect([other.thresholds, other.params.thresholds, other.params.calibrate]).toEqual([undefined, "none", "none"]);
  });

  it.each(["temperature", "isotonic"] as const)("have fitted probabilities (%s)", async (method) => {
    const plain = await recipe.fit(train.x, y);
    const fitted = await plain.calibrate(test.x, truth, { method });
    expect(await fitted.predict(test.x)).toEqual(await plain.predict(test.x));
    const after = await fitted.predictProbabilities(test.x);
    // On the rows it was fitted on, a label is as probable on average as it is frequent.
    fitted.classes.forEach((label, o) => {
      const mean = truth.reduce((sum, _, r) => sum + after.row(r)[o], 0) / truth.length;
      const share = truth.filter((set) => set.includes(label)).length / truth.length;
      expect(Math.abs(mean - share)).toBeLessThan(0.02);
    });
    expect(loadModel(saveModel(fitted)).save()).toEqual(fitted.save());
  });

  it("refuse labels of the other form, and thresholds where there is one label", async () => {
    const model = await recipe.fit(train.x, y);
    await expect(model.calibrate(test.x, test.y)).rejects.toThrow(/label sets/);
    const one = recipe.with({ thresholds: "common" });
    await expect(one.fit(train.x, train.y)).rejects.toThrow(/thresholds: expected "none"/);
    const single = await recipe.fit(train.x, train.y);
    await expect(single.chooseThresholds(test.x, truth)).rejects.toThrow(/several labels/);
    await expect(single.calibrate(test.x, truth)).rejects.toThrow(/one label/);
  });
});

/** What a file with this content is read as. */
function readForged(saved: Saved): Model {
  return loadModel(saveModel({ kind: saved.kind, save: () => saved } as Model));
}

describe("stored", () => {
  it("factors, points and thresholds that no model has are refused", async () => {
    const classifier = new RankSimilarityClassifier({ filters: 9, calibrate: "isotonic" });
    const saved = (await classifier.fit(train.x, train.y)).save();
    const { calibration_factor: factor, calibration_points: points, calibration_offsets: offsets } = saved.arrays;
    const array = (values: Float64Array | Uint32Array, shape = [values.length]) => ({ shape, values });
    const changed = (values: Float64Array, at: number, value: number) => {
      const copy = values.slice();
      copy[at] = value;
      return array(copy, [values.length / 2, 2]);
    };
    const numbers = points.values as Float64Array;
    const { calibration_points: _, ...withoutPoints } = saved.arrays;
    for (const arrays of [
      { ...saved.arrays, calibration_factor: array(Float64Array.of(-1)) },
      { ...saved.arrays, calibration_factor: array(Float64Array.of(1, 1)) },
      { ...saved.arrays, calibration_factor: array(Float64Array.of(1e9)) },
      { ...saved.arrays, calibration_points: changed(numbers, 0, -0.5) },
      { ...saved.arrays, calibration_points: changed(numbers, 1, 1) },
      { ...saved.arrays, calibration_points: changed(numbers, 0, 1) },
      { ...saved.arrays, calibration_points: array(numbers) },
      { ...saved.arrays, calibration_offsets: array(Uint32Array.from(offsets.values).map((o, c) => (c === 1 ? 0 : o))) }, // biome-ignore format: one array
      { ...saved.arrays, calibration_curves: changed(numbers, 0, 0) },
      { ...saved.arrays, thresholds: array(Float64Array.of(1, 1, 1)) },
      withoutPoints,
    ]) {
      expect(() => readForged({ ...saved, arrays })).toThrow(/classifier model/);
    }
    const params = { ...(saved.meta.params as object), calibrate: "temperature" };
    expect(() => readForged({ ...saved, meta: { ...saved.meta, params } })).toThrow(/calibration_/);
    expect(factor.values.length).toBe(1);
  });

  it("thresholds and rules that do not fit are refused", async () => {
    const recipe = new RankSimilarityProbabilisticClassifier({ filters: 9, thresholds: "common" });
    const saved = (await recipe.fit(train.x, setsOf(train.y))).save();
    const { thresholds, ...without } = saved.arrays;
    const values = Float64Array.from(thresholds.values);
    for (const arrays of [
      without,
      { ...without, thresholds: { shape: [1], values: values.slice(0, 1) } },
      { ...without, thresholds: { ...thresholds, values: values.map(() => 2) } },
      { ...without, thresholds: { ...thresholds, values: values.map((value, o) => (o === 0 ? value / 2 : value)) } },
    ]) {
      expect(() => readForged({ ...saved, arrays })).toThrow(/thresholds/);
    }
    for (const change of [{ thresholds: "none" }, { thresholds: "each" }, { combine: "sum" }, { calibrate: 1 }]) {
      const params = { ...(saved.meta.params as object), ...change };
      expect(() => readForged({ ...saved, meta: { ...saved.meta, params } })).toThrow(/probabilistic model/);
    }
  });
});

describe("a factor", () => {
  it("holds out no more rows than a single factor needs", async () => {
    const rows = 26_000;
    const x = Dense.of(
      Uint8Array.from({ length: rows * 2 }, (_, e) => (e * 7919) % 251),
      rows,
      2,
    );
    const y = Array.from({ length: rows }, (_, r) => r % 2);
    const held = async (calibrate: "temperature" | "isotonic") =>
      rows - (await new RankSimilarityClassifier({ filters: 2, calibrate }).fit(x, y)).report.rows;
    expect(await held("temperature")).toBe(2500);
    expect(await held("isotonic")).toBe(2600);
  });
});
