/** The files of the real models: round trips, and forged files that are well-formed as containers. */

import { beforeAll, describe, expect, it } from "vitest";
import { RanksimError } from "../../src/errors.ts";
import { Dense } from "../../src/matrix/dense.ts";
import { toCsr } from "../../src/matrix/matrix.ts";
import { loadModel } from "../../src/model-file/load.ts";
import { builtInReaders } from "../../src/model-file/readers.ts";
import { saveModel } from "../../src/model-file/save.ts";
import { RankSimilarityClassifier } from "../../src/models/classifier.ts";
import type { GrowingModel, Model, PredictingModel, TransformingModel } from "../../src/models/estimator.ts";
import { LinearClassifier } from "../../src/models/linear.ts";
import { PatchModel, PatchTransform } from "../../src/models/patches.ts";
import { Pipeline } from "../../src/models/pipeline.ts";
import { RankSimilarityProbabilisticClassifier } from "../../src/models/probabilistic.ts";
import { MaxAbsScaler, MinMaxScaler, StandardScaler } from "../../src/models/scalers.ts";
import { RankSimilarityTransform } from "../../src/models/transform.ts";
import { drawBelow, generatorOf } from "../../src/random.ts";
import { dataStart, sign } from "./fake-models.ts";

const random = generatorOf(3);
const features = 40;
const dense = Dense.of(
  Uint8Array.from({ length: 30 * features }, () => drawBelow(random, 50)),
  30,
  features,
);
const few = Dense.of(
  Uint8Array.from({ length: 30 * features }, () => Math.max(0, drawBelow(random, 50) - 46)),
  30,
  features,
);
const y = Array.from({ length: 30 }, (_, r) => ["a", 2, "b"][r % 3]);
const sets = y.map((label, r) => (r % 4 === 0 ? [] : r % 5 === 0 ? [label, "extra"] : [label]));

const trained: Record<string, () => Promise<Model>> = {
  transform: () => new RankSimilarityTransform({ filters: 5 }).fit(dense),
  "transform of sparse rows": () => new RankSimilarityTransform({ filters: 5 }).fit(toCsr(few)),
  classifier: () => new RankSimilarityClassifier({ filters: 6 }).fit(dense, y),
  "classifier of sparse rows": () => new RankSimilarityClassifier({ filters: 6 }).fit(toCsr(few), y),
  "classifier with a distribution for each class": () =>
    new RankSimilarityClassifier({ filters: 6, distribution: "confusion", distributionPerClass: true }).fit(dense, y),
  "classifier that keeps sums": () =>
    new RankSimilarityClassifier({ filters: 6, keepSums: true, distribution: "confusion", distributionPerClass: true })
      .fit(dense, y)
      .then((model) => model.partialFit(few, y)),
  "transform of sparse rows that keeps sums": () =>
    new RankSimilarityTransform({ filters: 5, keepSums: true }).fit(toCsr(few)),
  "multilabel classifier that keeps sums": () =>
    new RankSimilarityProbabilisticClassifier({ filters: 7, keepSums: true })
      .fit(dense, sets)
      .then((model) => model.partialFit(dense, sets)),
  committee: () => new RankSimilarityClassifier({ filters: 12, committee: 3 }).fit(dense, y),
  "refined committee": () =>
    new RankSimilarityClassifier({ filters: 12, committee: 2, refine: true, refineEpochs: 2 }).fit(dense, y),
  "probabilistic classifier": () => new RankSimilarityProbabilisticClassifier({ filters: 7 }).fit(dense, y),
  "classifier with a fitted factor": () =>
    new RankSimilarityClassifier({ filters: 6 }).fit(dense, y).then((model) => model.calibrate(few, y)),
  "probabilistic classifier with fitted functions": () =>
    new RankSimilarityProbabilisticClassifier({ filters: 7, calibrate: "isotonic", combine: "mean" }).fit(dense, y),
  "multilabel classifier with thresholds and curves": () =>
    new RankSimilarityProbabilisticClassifier({ filters: 7, calibrate: "temperature", thresholds: "perLabel" }).fit(
      dense,
      sets,
    ),
  "linear classifier": () => new LinearClassifier().fit(dense, y),
  "patch transform": () =>
    new PatchTransform({ width: 8, patch: [2, 3], filters: [5, 4], nBest: 3, grid: 2 }).fit(dense),
  "patch transform to bytes": () =>
    new PatchTransform({ width: 8, patch: [2, 3], filters: [5, 4], nBest: 3, grid: 2, bytes: true }).fit(dense),
  "patch transform of fractions": () =>
    new PatchTransform({ height: 1, patch: 130, filters: 4, nBest: 3, grid: 2 }).fit(
      Dense.of(
        Float64Array.from({ length: 300 }, (_, i) => (i % 7) / 8),
        2,
        150,
      ),
    ),
  scaler: () => new StandardScaler().fit(dense),
  pipeline: () =>
    new Pipeline([new MinMaxScaler(), new RankSimilarityTransform({ filters: 5 }), new LinearClassifier()]).fit(
      dense,
      y,
    ),
  "pipeline within a pipeline": () =>
    new Pipeline([
      ["scale", new Pipeline([new MaxAbsScaler(), new RankSimilarityTransform({ filters: 5 })])],
      ["classify", new RankSimilarityClassifier({ filters: 6 })],
    ]).fit(dense, y),
  "multilabel classifier": () => new RankSimilarityProbabilisticClassifier({ filters: 7 }).fit(dense, sets),
};

/** Everything the model says about the rows. */
async function answers(model: Model): Promise<unknown> {
  if ("params" in model && (model.params as { keepSums?: unknown }).keepSums === true) {
    const labels = "multilabel" in model && model.multilabel === true ? sets : y;
    const grown = await (model as unknown as GrowingModel).partialFit(dense, labels);
    return [await answersAsIs(model), await answersAsIs(grown)];
  }
  return answersAsIs(model);
}

async function answersAsIs(model: Model): Promise<unknown> {
  const predicting = model as PredictingModel;
  if (model instanceof PatchModel) return model.transform(patchRows(model));
  if ("transform" in model) return await (model as TransformingModel).transform(dense);
  const probabilities = (await predicting.predictProbabilities?.(dense)) ?? "none";
  return [await predicting.predict(dense), probabilities, predicting.classes];
}

/** Rows as wide as a patch transform takes them, on the scale it was trained on. */
function patchRows({ features, scale }: PatchModel): Dense {
  const rows = Math.max(1, Math.min(8, Math.floor(1e5 / features)));
  const bytes = Uint8Array.from({ length: rows * features }, (_, i) => (i * 37) % 256);
  if (!scale) return Dense.of(bytes, rows, features);
  return Dense.of(
    Float64Array.from(bytes, (byte) => scale.low + (byte / 255) * (scale.high - scale.low)),
    rows,
    features,
  );
}

describe.each(Object.entries(trained))("the file of a %s", (_, train) => {
  let model: Model;
  let bytes: Uint8Array;
  beforeAll(async () => {
    model = await train();
    bytes = saveModel(model);
  });

  it("gives back a model of the same type that answers alike and has the same bytes", async () => {
    const loaded = loadModel(bytes);
    expect(loaded.constructor).toBe(model.constructor);
    expect(await answers(loaded)).toEqual(await answers(model));
    expect(saveModel(loaded)).toEqual(bytes);
  });

  it("when forged, is refused, or gives a model that answers with finite numbers or refuses", async () => {
    const change = generatorOf(8);
    for (let round = 0; round < 600; round++) {
      const forged = Uint8Array.from(bytes);
      // Half of the changes hit the arrays, where the container has nothing to object to.
      const from = round % 2 === 0 ? 8 : dataStart(bytes);
      forged[from + drawBelow(change, bytes.length - from)] = drawBelow(change, 256);
      let loaded: Model;
      try {
        loaded = loadModel(sign(forged));
      } catch (error) {
        if (error instanceof RanksimError && error.code === "bad-file") continue;
        throw error;
      }
      expect(Buffer.compare(saveModel(loaded), sign(forged))).toBe(0);
      if (round % 10 > 1) continue;
      const found = await answers(loaded).catch((error) => {
        if (!(error instanceof RanksimError)) throw error;
      });
      expect(JSON.stringify(found ?? "")).not.toMatch(/null|NaN/);
    }
  });
});

describe("a committee", () => {
  it.each<[string, (banks: Uint32Array) => void, RegExp]>([
    ["banks out of order", (banks) => banks.reverse(), /filter_bank: filter 0: expected banks in ascending order/],
    ["a bank left out", (banks) => banks.set(banks.map((b) => b * 2)), /filter_bank: filter \d+: expected banks/],
    [
      "a bank without a class",
      (banks) => banks.fill(1, 1),
      /filter_bank: filter 1: .* each with filters of every class/,
    ],
    ["one bank", (banks) => banks.fill(0), /filter_bank: expected at least 2 banks/],
  ])("with %s is refused", async (_, change, message) => {
    const saved = (await trained.committee()).save();
    const banks = saved.arrays.filter_bank.values.slice() as Uint32Array;
    change(banks);
    const arrays = { ...saved.arrays, filter_bank: { shape: [banks.length], values: banks } };
    const reader = builtInReaders.find(({ kind }) => kind === "classifier");
    expect(() => reader?.read({ ...saved, arrays }, () => expect.fail())).toThrow(message);
  });

  it("and a record of refinement that none could have are refused", async () => {
    const saved = (await trained["refined committee"]()).save();
    const reader = builtInReaders.find(({ kind }) => kind === "classifier");
    const { report } = saved.meta as { report: { refinement: object } };
    for (const wrong of [{ before: 2 }, { after: "much" }, { refined: 1 }, { heldOutRows: -1 }, { window: null }]) {
      const forged = { ...report, refinement: { ...report.refinement, ...wrong } };
      const read = () => reader?.read({ ...saved, meta: { ...saved.meta, report: forged } }, () => expect.fail());
      expect(read).toThrow(/refinement/);
    }
  });
});

describe("the built-in readers", () => {
  it("have one reader for each kind", () => {
    const kinds = builtInReaders.map((reader) => reader.kind);
    expect(new Set(kinds).size).toBe(kinds.length);
    expect(kinds).toEqual(expect.arrayContaining(["transform", "classifier", "probabilistic"]));
  });
});
