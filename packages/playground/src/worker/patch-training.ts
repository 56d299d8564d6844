/** Training in two layers: patch filters on windows of the images, then filters of classes on what was found in each cell. */

import {
  type FilterBank,
  type Matrix,
  type Model,
  type PatchModel,
  type PatchTransform,
  type Pipeline,
  PipelineModel,
  type Progress,
  type RankSimilarityClassifier,
  RanksimError,
  type TransformingModel,
} from "@ranksim/core";
import type { MatrixData, RowLabels } from "@ranksim/data";
import { recipeFor } from "@ranksim/learn";
import { greyOf, pictureOf } from "ranksim/report";
import { type FilterView, PATCH_PRESET, type Recipe } from "../protocol.ts";
import { dataSetOf, imageSizeOf, type LoadedData } from "./data.ts";
import { PatchLook } from "./patch-look.ts";
import type { SubjectParts } from "./subject.ts";
import { preparingStep, SHOWN_FILTERS, TELL_MILLISECONDS, type TrainingRun, train } from "./training.ts";

/** Trains what `ranksim train --preset fast` trains on images. */
export async function trainOnPatches(
  data: LoadedData,
  rows: { readonly train: Uint32Array; readonly test: Uint32Array },
  { params }: Recipe,
  labels: (rows: Uint32Array) => { y?: RowLabels },
  run: TrainingRun,
): Promise<Pick<SubjectParts, "whole" | "model" | "history" | "prepare" | "takesText" | "inputs" | "patches">> {
  const { imageSize } = imageSizeOf(data);
  const set = { ...dataSetOf(data, rows.train), ...(imageSize ? { imageSize } : {}) } as MatrixData;
  const { seed = 0, ...others } = params;
  const recipe = recipeFor(set, { preset: PATCH_PRESET, seed: Number(seed), params: others });
  if (recipe.kind !== "images") {
    throw new RanksimError("unsupported", "Patches are found in pictures of one class each: these rows are none.");
  }
  const { estimators, names } = recipe.estimator as unknown as Pipeline<Matrix, Model>;
  const [transform, classify] = estimators as unknown as [PatchTransform, RankSimilarityClassifier];
  const images = data.x as Matrix;
  const pixels = set.x;
  const model = await transform.fit(pixels, undefined, {
    backend: run.backend,
    signal: run.signal,
    onProgress: new PatchWatcher(transform, pixels.rows, run).listener,
  });
  const look = new PatchLook(model);
  const part = async (picked: Uint32Array) => ({
    x: await findPatches(model, images.gather(picked), run),
    ...labels(picked),
  });
  const trained = await train(
    {
      recipe: { estimator: "classifier", heldOut: 0, params: classify.params as Recipe["params"] },
      train: { ...(await part(rows.train)), pixels, patches: look },
      test: rows.test.length > 0 ? await part(rows.test) : undefined,
      classes: data.classes,
    },
    run,
  );
  return {
    ...trained,
    whole: new PipelineModel([...names], [model as TransformingModel<unknown>, trained.model]),
    prepare: (x) => model.transform(x as Matrix, { backend: run.backend }),
    takesText: false,
    inputs: model.features,
    patches: look,
  };
}

/** What is found in the images, with the page told how far that is. */
function findPatches(model: PatchModel, images: Matrix, { backend, gate, signal, tell }: TrainingRun): Promise<Matrix> {
  return model.transform(images, {
    backend,
    signal,
    onProgress: ({ share }) => {
      tell({ ...preparingStep(share, images.rows), stage: "transform" });
      return gate.listen();
    },
  });
}

/** Shows patch filters while they are learned. */
class PatchWatcher {
  readonly listener: (progress: Progress) => Promise<void>;
  readonly #size: { readonly width: number; readonly height: number };
  readonly #channels: number;
  #before: readonly FilterView[] = [];
  #told = 0;

  constructor({ params }: PatchTransform, images: number, { gate, tell }: TrainingRun) {
    const side = [params.patch].flat()[0];
    this.#size = { width: Math.min(side, params.width ?? side), height: Math.min(side, params.height ?? side) };
    this.#channels = params.channels;
    this.listener = async ({ filters, share, iteration = 0, moved = 0, empty = 0 }) => {
      const now = performance.now();
      const isDue = gate.pace !== "full" || now - this.#told > TELL_MILLISECONDS;
      if (!filters || !isDue) return gate.listen();
      this.#told = now;
      const bank = await filters();
      const shown = this.#views(bank);
      const changed = shown.map(({ drawn }, j) => {
        const before = this.#before[j]?.drawn?.pixels;
        return before !== undefined && (drawn?.pixels.some((value, p) => value !== before[p]) ?? false);
      });
      this.#before = structuredClone(shown);
      const windows = Math.min(params.sample, images * (params.width ?? 1) * (params.height ?? 1));
      const waiting = gate.pace === "step";
      tell({
        ...preparingStep(share, windows),
        stage: "patches",
        iteration,
        moved,
        empty,
        filters: bank.filters,
        shown,
        changed,
        waiting,
      });
      await gate.pass();
    };
  }

  #views(bank: FilterBank): FilterView[] {
    const { width, height } = this.#size;
    return Array.from({ length: Math.min(bank.filters, SHOWN_FILTERS) }, (_, filter) => {
      const weights =
        bank.form === "dense" ? bank.weights.subarray(filter * bank.features, (filter + 1) * bank.features) : [];
      const { pixels } = pictureOf(greyOf(weights, this.#channels), width, height);
      return { filter, shares: [], rows: 0, top: [], drawn: { pixels, size: { width, height } } };
    });
  }
}
