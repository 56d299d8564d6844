/** Fits RSC once and judges its probabilities (the paper's algorithm 7) for several nBest by log loss. */

import { logLoss, RankSimilarityClassifier } from "@ranksim/core";
import { oneThread, type Places, testRows, trainRows } from "../job.ts";
import type { LogLossTask, Measured } from "../spec.ts";

/** Log loss for each nBest, in their order. */
export async function measureLogLoss(places: Places, task: LogLossTask): Promise<Omit<Measured, "cpu">> {
  const backend = await oneThread();
  const run = { backend };
  const train = trainRows(places);
  const model = await new RankSimilarityClassifier(task.params).fit(train.x, train.y as Uint8Array, run);
  const test = testRows(places);
  const losses: number[] = [];
  for (const nBest of task.nBest) {
    const probabilities = await model.withNBest(nBest).predictProbabilities(test.x, run);
    losses.push(logLoss(test.y as Uint8Array, probabilities, model.classes));
  }
  await backend.close();
  return {
    curves: { logLoss: losses },
    facts: { filters: model.report.filters, classes: model.classes.length, backend: backend.name },
  };
}
