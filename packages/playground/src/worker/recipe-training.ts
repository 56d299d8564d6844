/** Training as the command does it: the library plans, chooses, fits, and the model's file is the command's, byte for byte. */

import type { FilterBank, Progress } from "@ranksim/core";
import { pickRows } from "@ranksim/data";
import { FilterWords, type TrainOptions, train } from "@ranksim/learn";
import { greyOf, pictureOf } from "ranksim/report";
import type { FilterView, Recipe } from "../protocol.ts";
import { imageSizeOf, type LoadedData, namesOf, splitColumn } from "./data.ts";
import { viewFilter } from "./pictures.ts";
import { openPipeline } from "./pipeline.ts";
import type { SubjectParts } from "./subject.ts";
import { changedOf, preparingStep, SHOWN_FILTERS, TELL_MILLISECONDS, type TrainingRun } from "./training.ts";

/** Trains what the data asks for, or the estimator that was named. */
export async function trainRecipe(
  data: LoadedData,
  { estimator, heldOut, params }: Recipe,
  rows: { readonly train: Uint32Array; readonly test: Uint32Array },
  { backend, gate, signal, tell }: TrainingRun,
): Promise<SubjectParts> {
  const { seed = 0, preset, ...others } = params;
  const { read, options: reading, testRows } = data;
  const holds = rows.test.length > 0 && !testRows;
  const options: TrainOptions = {
    reading,
    seed: Number(seed),
    ...(read.weights ? { weights: read.weights } : {}),
    ...(estimator === "chosen" ? { preset: (preset ?? "balanced") as never } : { estimator, params: others }),
    ...(holds && estimator !== "transform" ? { testShare: heldOut } : {}),
  };
  const isWhole = options.testShare !== undefined || rows.test.length === 0;
  const given = isWhole ? read : await pickRows(read, rows.train);
  const own =
    isWhole || !read.weights
      ? {}
      : { weights: Float64Array.from(rows.train, (r) => (read.weights as Float64Array)[r]) };
  const show = shower(data);
  let [told, last] = [0, ""];
  const onProgress = async (progress: Progress) => {
    const { stage, share, filters, iteration = 0, moved = 0, empty = 0 } = progress;
    const isNews = stage !== last || performance.now() - told > TELL_MILLISECONDS;
    if (!isNews && (gate.pace === "full" || !filters)) return gate.listen();
    const bank = await filters?.();
    told = performance.now();
    last = stage;
    const step = {
      ...preparingStep(share, rows.train.length),
      stage,
      ...(progress.label === undefined ? {} : { label: String(progress.label) }),
    };
    if (!bank) {
      tell(step);
      return gate.listen();
    }
    const { isPatch, ...shown } = show(bank, progress.label);
    tell({
      ...step,
      ...(isPatch ? { stage: "patches" } : {}),
      iteration,
      moved,
      empty,
      filters: bank.filters,
      ...shown,
      waiting: gate.pace === "step",
    });
    await gate.pass();
  };
  const { model } = await train(given, { ...options, ...own, split: splitColumn(given), backend, signal, onProgress });
  return openPipeline(model, { name: data.name, origin: "trained", history: [], trainingRows: rows.train });
}

/** Shows filters while they are made: of patches as small pictures, of rows as the rows are shown, of coded rows by what they weigh. */
function shower({ set }: LoadedData) {
  const { featureNames } = namesOf(set);
  const size = imageSizeOf(set).imageSize;
  let before: readonly FilterView[] = [];
  let of: unknown;
  return (bank: FilterBank, label: unknown): { shown: FilterView[]; changed: boolean[]; isPatch: boolean } => {
    const names = featureNames?.length === bank.features ? featureNames : undefined;
    const words = names && new FilterWords(bank, (feature) => names[feature]);
    const side = Math.sqrt(bank.features);
    // Patches are filters of no class, of windows smaller than the picture.
    const isSmall = size !== undefined && bank.features < size.width * size.height;
    const isPatch = isSmall && label === undefined && bank.form === "dense" && Number.isInteger(side);
    const shares = label === undefined ? [] : [{ label: String(label), share: 1 }];
    const shown = Array.from({ length: Math.min(bank.filters, SHOWN_FILTERS) }, (_, filter): FilterView => {
      if (!isPatch) return viewFilter(bank, filter, { filter, shares, rows: 0 }, words);
      const weights = bank.weights.subarray(filter * bank.features, (filter + 1) * bank.features);
      const { pixels } = pictureOf(greyOf(weights, 1), side, side);
      return { filter, shares: [], rows: 0, top: [], drawn: { pixels, size: { width: side, height: side } } };
    });
    const changed = of === label ? changedOf(before, shown) : shown.map(() => false);
    // What is sent is transferred to the page.
    before = structuredClone(shown);
    of = label;
    return { shown, changed, isPatch };
  };
}
