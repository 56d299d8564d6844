/** Probabilities fitted on the last rows of each class or on drawn ones, and filters that are trained on all rows. */

import {
  type Checkpoint,
  type ClassifierModel,
  Dense,
  loadModel,
  RankSimilarityClassifier,
  saveModel,
} from "@ranksim/core";
import { describe, expect, it } from "vitest";
import { drawBelow, generatorOf } from "../../src/random.ts";

const NAMES = ["ant", "bee", "cow"];

/** Rows of three classes that overlap. */
function sample(rows: number, seed: number): { x: Dense; y: string[] } {
  const generator = generatorOf(seed);
  const y = Array.from({ length: rows }, () => NAMES[drawBelow(generator, 3)]);
  const x = y.map((name) =>
    Array.from({ length: 15 }, (_, i) => drawBelow(generator, 12) + (i % 3 === NAMES.indexOf(name) ? 4 : 0)),
  );
  return { x: Dense.fromRows(x), y };
}

const train = sample(300, 1);
const test = sample(200, 2);

const calibrationIn = (model: ClassifierModel) =>
  Object.fromEntries(Object.entries(model.save().arrays).filter(([name]) => name.startsWith("calibration")));

describe("calibrateOn: drawn", () => {
  it("fits functions of each class on more rows than are left out without it", async () => {
    const params = { filters: 12, calibrate: "isotonic" } as const;
    const [leftOut, drawn] = [undefined, "drawn" as const].map((calibrateOn) =>
      new RankSimilarityClassifier({ ...params, calibrateOn }).fit(train.x, train.y),
    );
    expect(calibrationIn(await drawn)).not.toEqual(calibrationIn(await leftOut));
    expect((await drawn).report.rows).toBe(train.y.length);
  });
});

describe("calibrateOn: folds", () => {
  const few = sample(40, 3);
  const params = { filters: 9, seed: 1, committee: 3, calibrate: "temperature", decision: "probability" } as const;
  const lossOf = async (model: ClassifierModel) => {
    const { values } = await model.predictProbabilities(test.x);
    return (
      test.y.reduce((sum, name, r) => sum - Math.log(values[r * 3 + model.classes.indexOf(name)]), 0) / test.y.length
    );
  };

  it("trains on all rows, and fits to what was said of each row by filters that did not know it", async () => {
    const model = await new RankSimilarityClassifier({ ...params, calibrateOn: "folds" }).fit(few.x, few.y);
    const plain = await new RankSimilarityClassifier({ ...params, calibrate: "none" }).fit(few.x, few.y);
    expect({ ...model.save().arrays, ...calibrationIn(plain) }).toEqual({
      ...plain.save().arrays,
      ...calibrationIn(model),
    });
    expect(model.report.rows).toBe(40);
    // Fitted to the rows that were learned from, probabilities are too sure.
    const sure = await plain.calibrate(few.x, few.y);
    expect(await lossOf(model)).toBeLessThan(await lossOf(sure));
    expect(await lossOf(model)).toBeLessThan(await lossOf(plain));
  });

  it("leaves a class its only row, and does without where no row can be left out", async () => {
    const y = few.y.map((name, r) => (r === 0 ? "dog" : name));
    const enough = { ...params, filters: 12, calibrateOn: "folds" } as const;
    const model = await new RankSimilarityClassifier(enough).fit(few.x, y);
    expect(model.classes).toContain("dog");
    expect(Object.keys(calibrationIn(model))).toHaveLength(1);
    const alone = Dense.fromRows([[1, 2], [2, 1]]); // biome-ignore format: one line
    const two = await new RankSimilarityClassifier({ calibrate: "temperature", calibrateOn: "folds" }).fit(alone, [
      "a",
      "b",
    ]);
    expect(await (loadModel(saveModel(two)) as typeof two).predict(alone)).toEqual(["a", "b"]);
  });
});

describe("calibrateOn: last", () => {
  const params = { filters: 12, seed: 2, refine: true, refineEpochs: 2 };
  const calibrated = { ...params, calibrate: "temperature", calibrateOn: "last" } as const;

  /** The rows but the last of each class, and those. */
  function parted(share: number) {
    const held = NAMES.flatMap((name) => {
      const own = train.y.flatMap((label, r) => (label === name ? [r] : []));
      return own.slice(own.length - Math.round(own.length * share));
    }).sort((a, b) => a - b);
    const left = train.y.flatMap((_, r) => (held.includes(r) ? [] : [r]));
    const rows = (list: readonly number[]) => ({
      x: train.x.gather(Uint32Array.from(list)),
      y: list.map((r) => train.y[r]),
    });
    return { left: rows(left), held: rows(held) };
  }

  it.each([
    ["temperature", 0.1],
    ["isotonic", 0.4],
  ] as const)("fits %s on the last %d of each class, and trains on all rows", async (calibrate, share) => {
    const { left, held } = parted(share);
    const plain = { ...params, refine: false };
    const before = await new RankSimilarityClassifier(plain).fit(left.x, left.y);
    const fitted = calibrationIn(await before.calibrate(held.x, held.y, { method: calibrate }));
    expect(Object.keys(fitted).length).toBeGreaterThan(0);
    const all = (await new RankSimilarityClassifier(plain).fit(train.x, train.y)).save().arrays;
    const model = await new RankSimilarityClassifier({ ...calibrated, ...plain, calibrate }).fit(train.x, train.y);
    expect(model.save().arrays).toEqual({ ...all, ...fitted });
    expect(model.report.rows).toBe(train.y.length);
    expect(model.params).toMatchObject({ calibrate, calibrateOn: "last" });
    const loaded = loadModel(saveModel(model)) as typeof model;
    expect(await loaded.predictProbabilities(test.x)).toEqual(await model.predictProbabilities(test.x));
  });

  it.each([
    [2, false],
    [5, true],
  ])(
    "with the last rows left out refines as with all rows, whatever it would choose (seed %d)",
    async (seed, refined) => {
      const { left, held } = parted(0.1);
      const alone = await new RankSimilarityClassifier({ ...params, seed }).fit(left.x, left.y);
      expect(alone.report.refinement?.refined).toBe(!refined);
      const epochs: number[] = [];
      const run = {
        onProgress: ({ stage, epoch, share }: { stage: string; epoch?: number; share: number }) =>
          void (stage === "refine" && share > 0.5 && epochs.push(epoch as number)),
      };
      const model = await new RankSimilarityClassifier({ ...calibrated, seed }).fit(train.x, train.y, run);
      const all = await new RankSimilarityClassifier({ ...params, seed }).fit(train.x, train.y);
      expect(model.report.refinement).toEqual(all.report.refinement);
      expect(all.report.refinement?.refined).toBe(refined);
      expect(epochs).toEqual(refined ? [1, 2] : []);
      const plain = await new RankSimilarityClassifier({ ...params, seed, refine: false }).fit(left.x, left.y);
      const fitted = calibrationIn(await plain.calibrate(held.x, held.y));
      if (refined) expect(calibrationIn(model)).not.toEqual(fitted);
      else expect(calibrationIn(model)).toEqual(fitted);
      expect(model.save().arrays).toEqual({ ...all.save().arrays, ...calibrationIn(model) });
    },
  );

  it("tells the progress of both fits as one, and keeps a checkpoint of each", async () => {
    const shares: number[] = [];
    const kept = new Map<string, Parameters<Checkpoint["keep"]>[1]>();
    const checkpoint: Checkpoint = {
      recall: async (name) => kept.get(name),
      isDue: async () => true,
      keep: async (name, state) => void kept.set(name, state),
    };
    const run = { onProgress: ({ share }: { share: number }) => void shares.push(share), checkpoint };
    const estimator = new RankSimilarityClassifier({ ...calibrated, seed: 5 });
    const model = await estimator.fit(train.x, train.y, run);
    expect(shares).toEqual(shares.toSorted((a, b) => a - b));
    expect(shares.at(-1)).toBe(1);
    const banks = ["bank-0", "bank-1", "bank-2"];
    const apart = ["refine-again-0", ...banks].map((name) => `calibrate.${name}`);
    expect([...kept.keys()].sort()).toEqual([...banks, "refine-again-0", "refine-first", ...apart].sort());
    const trainedAnew: string[] = [];
    const keep: Checkpoint["keep"] = async (name) => void trainedAnew.push(name);
    const again = await estimator.fit(train.x, train.y, { checkpoint: { ...checkpoint, keep } });
    expect(trainedAnew).toEqual([]); // all of it was recalled
    expect(again.save().arrays).toEqual(model.save().arrays);
  });

  it("says nothing where nothing is calibrated, and refuses other rows", async () => {
    const plain = await new RankSimilarityClassifier({ ...params, calibrateOn: "last" }).fit(train.x, train.y);
    const usual = await new RankSimilarityClassifier(params).fit(train.x, train.y);
    expect(plain.save().arrays).toEqual(usual.save().arrays);
    expect(() => new RankSimilarityClassifier({ calibrateOn: "first" as never })).toThrow(/calibrateOn/);
  });
});
