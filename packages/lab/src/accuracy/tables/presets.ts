/** What `train` reaches by itself: presets on published splits, with nothing said about the data. */

import { type Label, type LabelSets, type Labels, openBackend, type PredictingModel, saveModel } from "@ranksim/core";
import type { DataSet } from "@ranksim/data";
import { calibrationError, f1, multiplyAdds, type Preset, type RecipeOptions, train } from "@ranksim/learn";
import { peakBytes, timed } from "../../runner/stopwatch.ts";
import type { AccuracyRow, AccuracyTable, Bench } from "../table.ts";

interface Parts {
  readonly train: DataSet;
  readonly test: DataSet;
}

interface Plan extends Pick<AccuracyRow, "least" | "most"> {
  readonly preset: Preset;
  readonly parts: (bench: Bench) => Promise<Parts>;
  /** Parameters that take the place of the recipe's. */
  readonly params?: { readonly [name: string]: unknown };
  readonly patches?: RecipeOptions["patches"];
  /** Whether the file names the training rows of each filter. */
  readonly rows?: boolean;
}

/** Multiply-adds do not depend on the rows, if there are enough for all filters. */
const FEW_ROWS = 2000;

function presetRow(name: string, plan: Plan): AccuracyRow {
  const { preset, parts, params = {}, patches = {}, rows = true, ...goals } = plan;
  return {
    name,
    ...goals,
    measure: async (seed, bench) => {
      const { train: seen, test } = await parts(bench);
      // A back end of its own: memory that other rows took would count.
      const backend = await openBackend("wasm");
      const run = { backend };
      const fit = await timed(() => train(seen, { preset, seed, params, patches, ...run }));
      const model = fit.value.model as unknown as PredictingModel<unknown>;
      const x = test.form === "text" ? test.text : test.form === "table" ? test.table : test.x;
      const predict = await timed(() => model.predict(x, run));
      const probabilities = await model.predictProbabilities?.(x, run);
      const peak = Math.round(peakBytes() / 2 ** 20);
      const several = Array.isArray(test.y?.[0]);
      const truth = test.y as Labels & LabelSets;
      const found = predict.value as Label[] & Label[][];
      const few =
        test.form === "matrix" && test.imageSize ? test.x.slice(0, Math.min(FEW_ROWS, test.x.rows)) : undefined;
      const macs = few ? { macs: await multiplyAdds(fit.value.model, few, run) } : {};
      await backend.close();
      return {
        macro: f1(truth, found, { average: "macro" }),
        micro: f1(truth, found, { average: "micro" }),
        ...(several || !probabilities ? {} : { error: calibrationError(truth, probabilities, model.classes) }),
        fitCpu: fit.cpu,
        predictCpu: predict.cpu,
        bytes: saveModel(model, { rows }).byteLength,
        peak,
        ...macs,
      };
    },
  };
}

const images =
  (name: string) =>
  async ({ shelf, quick }: Bench): Promise<Parts> => {
    const open = async (part: string): Promise<DataSet> => {
      const { x, y } = await shelf.numbers(quick ? `digits:${part}` : `${name}:${part}`);
      const side = Math.sqrt(x.features);
      return { form: "matrix", x, y, imageSize: { width: side, height: side } };
    };
    return { train: await open("train"), test: await open("test") };
  };

const newsgroups = async ({ shelf, quick }: Bench): Promise<Parts> => {
  const open = async (part: string): Promise<DataSet> => {
    const { text, y } = await shelf.text(`20newsgroups:${part}`, { remove: ["headers", "footers", "quotes"] });
    const every = quick ? 25 : 1; // rows come class by class
    const some = <T>(list: readonly T[]) => list.filter((_, r) => r % every === 0);
    return { form: "text", text: some(text), y: some(y) };
  };
  return { train: await open("train"), test: await open("test") };
};

const rcv1 = async ({ shelf, quick }: Bench): Promise<Parts> => {
  const open = async (part: string): Promise<DataSet> => {
    const { x, y } = await shelf.sets(`rcv1:${part}`);
    const rows = quick ? 1000 : x.rows;
    return { form: "matrix", x: x.slice(0, rows), y: y.slice(0, rows) };
  };
  return { train: await open("train"), test: await open("test") };
};

const fashion = images("fashion-mnist");
const kmnist = images("kmnist");

/** A whole classifier of images in 64 KB. */
const SMALL = { params: { filters: 10, refineEpochs: 24 }, patches: { filters: 112 }, rows: false };

export const presets: AccuracyTable = {
  name: "presets",
  title: "Presets",
  columns: {
    macro: "test macro F1",
    micro: "micro F1",
    error: "calibration error",
    fitCpu: "fit, s",
    predictCpu: "predict, s",
    bytes: "model, bytes",
    peak: "peak memory, MiB",
  },
  rows: [
    presetRow("Fashion-MNIST, `balanced`", {
      preset: "balanced",
      parts: fashion,
      least: { macro: 0.925 },
      most: { error: 0.02, fitCpu: 60, predictCpu: 3, peak: 1500 },
    }),
    presetRow("Fashion-MNIST, `fast`", {
      preset: "fast",
      parts: fashion,
      least: { macro: 0.91 },
      most: { error: 0.02, predictCpu: 1 },
    }),
    presetRow("Fashion-MNIST in 64 KB", {
      preset: "fast",
      parts: fashion,
      ...SMALL,
      least: { macro: 0.905 },
      most: { bytes: 65_536 },
    }),
    presetRow("Fashion-MNIST, `best`", {
      preset: "best",
      parts: fashion,
      least: { macro: 0.932 },
      most: { error: 0.02 },
    }),
    presetRow("KMNIST, `balanced`", {
      preset: "balanced",
      parts: kmnist,
      least: { macro: 0.968 },
      most: { error: 0.02 },
    }),
    presetRow("KMNIST, `best`", { preset: "best", parts: kmnist, least: { macro: 0.976 }, most: { error: 0.02 } }),
    presetRow("20 Newsgroups, `balanced`", {
      preset: "balanced",
      parts: newsgroups,
      least: { macro: 0.68 },
      most: { error: 0.02 },
    }),
    presetRow("RCV1, `balanced`", { preset: "balanced", parts: rcv1, least: { micro: 0.755, macro: 0.51 } }),
  ],
};
