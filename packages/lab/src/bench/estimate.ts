/** This project's estimators, measured: one back end, fit on the train part, applied to the test part. */

import { writeFileSync } from "node:fs";
import {
  type ClassifierModel,
  f1,
  openBackend,
  type ProbabilisticModel,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
  type Report,
  type Run,
  saveModel,
} from "@ranksim/core";
import { type Part, readPart } from "./data-files.ts";
import type { EstimateJob, GrowthJob } from "./job.ts";
import { Stopwatch } from "./measure.ts";
import type { RunResult } from "./results.ts";
import { syntheticPart } from "./synthetic.ts";

/** Classes of the synthetic rows, and rows that are predicted, in growth curves. */
const GROWTH_CLASSES = 10;
const GROWTH_TEST_ROWS = 1000;

/** Fits and applies one estimator. */
export async function estimate(job: EstimateJob): Promise<RunResult> {
  const backend = await openBackend(job.backend, job.backend === "threads" ? { threads: job.threads } : {});
  const run = { backend };
  const train = readPart(job.data, "train");
  const watch = new Stopwatch();
  const test = () => readPart(job.data, "test");
  try {
    if (job.estimator === "transform") return await transform(job, watch, train, test, run);
    return await classify(job, watch, train, test, run);
  } finally {
    await backend.close();
  }
}

async function classify(job: EstimateJob, watch: Stopwatch, train: Part, readTest: () => Part, run: Run) {
  const { seed } = job;
  const estimator =
    job.estimator === "classifier"
      ? new RankSimilarityClassifier({ ...job.params, seed })
      : new RankSimilarityProbabilisticClassifier({ seed });
  const model = await watch.phase<ClassifierModel | ProbabilisticModel>("fit", () =>
    estimator.fit(train.x, train.y, run),
  );
  const test = readTest();
  const predicted = await watch.phase("predict", () => model.predict(test.x, run));
  if (job.phases.includes("probabilities")) {
    await watch.phase("probabilities", () => model.predictProbabilities(test.x, run));
  }
  if (job.saveTo) writeFileSync(job.saveTo, saveModel(model));
  return watch.result({ macroF1: f1(test.y, predicted as number[], { average: "macro" }) }, factsOf(model.report));
}

async function transform(job: EstimateJob, watch: Stopwatch, train: Part, readTest: () => Part, run: Run) {
  const estimator = new RankSimilarityTransform({ seed: job.seed });
  const model = await watch.phase("fit", () => estimator.fit(train.x, undefined, run));
  const test = readTest();
  await watch.phase("transform", () => model.transform(test.x, run));
  return watch.result({}, factsOf(model.report));
}

/** Fits a classifier of the given size on synthetic rows; always the same number of iterations, so that sizes compare. */
export async function grow(job: GrowthJob): Promise<RunResult> {
  const backend = await openBackend(job.backend);
  const run = { backend };
  const train = syntheticPart(job.rows, job.features, GROWTH_CLASSES, 3);
  const test = syntheticPart(GROWTH_TEST_ROWS, job.features, GROWTH_CLASSES, 4);
  const watch = new Stopwatch();
  const estimator = new RankSimilarityClassifier({ filters: job.filters, iterations: 5, tolerance: 0 });
  const model = await watch.phase("fit", () => estimator.fit(train.x, train.y, run));
  const predicted = await watch.phase("predict", () => model.predict(test.x, run));
  await backend.close();
  return watch.result({ macroF1: f1(test.y, predicted, { average: "macro" }) }, factsOf(model.report));
}

function factsOf(report: Report): RunResult["facts"] {
  const { rows, features, filters, converged, pruned, backend } = report;
  const iterations = Math.max(...report.trainings.map(({ steps }) => steps.length));
  return {
    rows,
    features,
    filters,
    converged,
    iterations,
    ...(pruned === undefined ? {} : { pruned }),
    ...(backend === undefined ? {} : { backend }),
  };
}
