/** This project's estimators in a process of their own: fit on the train rows, applied to the test rows. */

import { createHash } from "node:crypto";
import type * as Core from "@ranksim/core";
import { openGpu } from "@ranksim/gpu";
import { f1 } from "@ranksim/learn";
import { type Places, testRows, trainRows } from "../runner/data.ts";
import type { Measured } from "../runner/results.ts";
import { peakBytes, timed } from "../runner/stopwatch.ts";

export interface FitJob {
  readonly estimator: "classifier" | "probabilistic" | "transform";
  readonly backend: Core.BackendName | "gpu";
  readonly threads?: number;
  readonly params: { readonly [name: string]: unknown };
  /** Address of the built core, where it is that of another commit. */
  readonly core?: string;
}

/** Seconds of each call, on the processor and for `fit` by the clock, memory, and a digest of the model. */
export async function measure(job: FitJob & Places): Promise<Measured> {
  const core = (await import(job.core ?? "@ranksim/core")) as typeof Core;
  const { backend: name, threads, params } = job;
  const openers = { gpu: openGpu };
  const backend = await core.openBackend(name, threads === undefined ? { openers } : { threads, openers });
  const run = { backend };
  const figures: { [name: string]: number } = {};
  const phase = async <T>(name: string, call: () => Promise<T>): Promise<T> => {
    const { value, cpu, wall } = await timed(call);
    figures[name] = cpu;
    if (name === "fit") Object.assign(figures, { fitClock: wall, peakFit: peakBytes() });
    return value;
  };
  const { x, y } = trainRows(job);
  let model: Core.Model;
  if (job.estimator === "transform") {
    const found = await phase("fit", () => new core.RankSimilarityTransform(params).fit(x, undefined, run));
    const test = testRows(job);
    await phase("transform", () => found.transform(test.x, run));
    model = found;
  } else {
    const Estimator =
      job.estimator === "classifier" ? core.RankSimilarityClassifier : core.RankSimilarityProbabilisticClassifier;
    const found = await phase<Core.ClassifierModel | Core.ProbabilisticModel>("fit", () =>
      new Estimator(params).fit(x, y as Uint8Array, run),
    );
    const test = testRows(job);
    const labels = await phase("predict", () => found.predict(test.x, run));
    await phase("probabilities", () => found.predictProbabilities(test.x, run));
    figures.macroF1 = f1(test.y as Uint8Array, labels as number[], { average: "macro" });
    model = found;
  }
  figures.peak = peakBytes();
  const digest = createHash("sha256").update(core.saveModel(model)).digest("hex").slice(0, 16);
  await backend.close();
  return { figures, facts: { model: digest } };
}
