/** Fits RSC once and judges its probabilities (the paper's algorithm 7) for several nBest by log loss. */

import { RankSimilarityClassifier, type Run } from "@ranksim/core";
import { logLoss } from "@ranksim/learn";
import { type Places, testRows, trainRows } from "../../runner/data.ts";
import type { Measured } from "../../runner/results.ts";
import type { LogLossTask } from "../spec.ts";

/** Log loss for each nBest, in their order. */
export async function measureLogLoss(places: Places, task: LogLossTask, run: Run): Promise<Partial<Measured>> {
  const train = trainRows(places);
  const model = await new RankSimilarityClassifier(task.params).fit(train.x, train.y as Uint8Array, run);
  const test = testRows(places);
  const losses: number[] = [];
  for (const nBest of task.nBest) {
    const probabilities = await model.withNBest(nBest).predictProbabilities(test.x, run);
    losses.push(logLoss(test.y as Uint8Array, probabilities, model.classes));
  }
  return {
    curves: { logLoss: losses },
    facts: { filters: model.report.filters, classes: model.classes.length },
  };
}
