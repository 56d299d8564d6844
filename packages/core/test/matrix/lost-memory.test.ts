/** Memory of rows that is resized during a call: an error, never a wrong model. */

import {
  Dense,
  LinearClassifier,
  PatchTransform,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
  type Run,
  StandardScaler,
} from "@ranksim/core";
import { describe, expect, it } from "vitest";

describe("is noticed where it is resized in the midst of a call", () => {
  const rows = 120;
  const y = Array.from({ length: rows }, (_, r) => r % 3);
  const values = Uint8Array.from({ length: rows * 16 }, (_, i) => (i * (2 + (Math.floor(i / 16) % 3))) % 17);
  /** Rows over memory that can be resized, in an array of a length of its own or of that of the buffer. */
  const resizable = (isTracking: boolean) => {
    const buffer = new (ArrayBuffer as unknown as ResizableConstructor)(values.length, { maxByteLength: 4096 });
    const view = isTracking ? new Uint8Array(buffer) : new Uint8Array(buffer, 0, values.length);
    view.set(values);
    return { x: Dense.of(view, rows, 16), halve: () => buffer.resize(values.length / 2) };
  };
  const CALLS: { readonly [name: string]: (x: Dense, run: Run) => Promise<unknown> } = {
    "fit of a classifier": (x, run) => new RankSimilarityClassifier({ filters: 9 }).fit(x, y, run),
    "fit with probabilities": (x, run) =>
      new RankSimilarityClassifier({ filters: 9, calibrate: "isotonic", calibrateOn: "last" }).fit(x, y, run),
    "fit with weights": (x, run) =>
      new RankSimilarityClassifier({ filters: 9 }).fit(x, y, { ...run, weights: y.map((label) => label + 1) }),
    "fit of a probabilistic classifier": (x, run) =>
      new RankSimilarityProbabilisticClassifier({ filters: 9 }).fit(x, y, run),
    "fit of a transform": (x, run) => new RankSimilarityTransform({ filters: 9 }).fit(x, undefined, run),
    "fit of patches": (x, run) => new PatchTransform({ filters: 4, patch: 2, grid: 1 }).fit(x, undefined, run),
    "fit of a scaler": (x, run) => new StandardScaler().fit(x, undefined, run),
    "fit of planes": (x, run) => new LinearClassifier().fit(x, y, run),
    predict: async (x, run) => (await classifier()).predict(x, run),
    predictProbabilities: async (x, run) => (await classifier()).predictProbabilities(x, run),
    "predict of labels": async (x, run) => (await labelled()).predict(x, run),
    refine: async (x, run) => (await new RankSimilarityClassifier({ filters: 9 }).fit(all, y)).refine(x, y, run),
    partialFit: async (x, run) => (await classifier()).partialFit(x, y, run),
    transform: async (x, run) => (await new StandardScaler().fit(all)).transform(x, run),
    "classScores of planes": async (x, run) => (await new LinearClassifier().fit(all, y)).classScores(x, run),
  };
  const all = Dense.of(values, rows, 16);
  const classifier = () => new RankSimilarityClassifier({ filters: 9, keepSums: true }).fit(all, y);
  const labelled = () => new RankSimilarityProbabilisticClassifier({ filters: 9 }).fit(all, y);
  const lostInUse = {
    code: "bad-matrix",
    message: expect.stringMatching(/stay until the call ends.*detached or resized during it/),
  };

  it.each(Object.keys(CALLS))("%s", async (name) => {
    for (const backend of ["reference", "wasm", "threads"] as const) {
      for (const isTracking of [false, true]) {
        const { x, halve } = resizable(isTracking);
        let told = 0;
        const onProgress = () => void (told++ === 0 && halve());
        await expect(CALLS[name](x, { backend, onProgress }), `${backend} ${isTracking}`).rejects.toMatchObject(
          lostInUse,
        );
      }
    }
  });

  it("but an abort stays an abort", async () => {
    const { x, halve } = resizable(true);
    const controller = new AbortController();
    const onProgress = () => {
      halve();
      controller.abort(new Error("enough"));
    };
    const fit = new RankSimilarityClassifier({ filters: 9 }).fit(x, y, { onProgress, signal: controller.signal });
    await expect(fit).rejects.toThrow("enough");
  });
});

interface ResizableConstructor {
  new (length: number, options: { maxByteLength: number }): ArrayBuffer & { resize(length: number): void };
}
