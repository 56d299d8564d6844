/** All that a case asks of a back end, through the public interface: each answer as a digest of its bits. */

import { createHash } from "node:crypto";
import {
  type Backend,
  type ClassifierModel,
  type Label,
  loadModel,
  type Model,
  type ProbabilisticModel,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
  RanksimError,
  saveModel,
  type TransformModel,
  toCsr,
} from "@ranksim/core";
import type { Case } from "./case.ts";

/** What was asked, and a digest of the answer or the words of the refusal. */
export type Answer = readonly [question: string, answer: string];

/** Asks everything. A refusal is an answer, and the last one; any other error is thrown. */
export async function answersOf(one: Case, backend: Backend): Promise<Answer[]> {
  const answers: Answer[] = [];
  try {
    await ask(one, backend, (question, ...data) => answers.push([question, digest(data)]));
  } catch (error) {
    if (!(error instanceof RanksimError)) throw error;
    answers.push(["refused", `${error.code}: ${error.message}`]);
  }
  return answers;
}

type Note = (question: string, ...data: (ArrayBufferView | string)[]) => void;

async function ask(one: Case, backend: Backend, note: Note): Promise<void> {
  const run = { backend };
  const { train, y, later, laterY, params, estimator } = one;
  const model = await (estimator === "transform"
    ? new RankSimilarityTransform(params).fit(train, undefined, run)
    : estimator === "classifier"
      ? new RankSimilarityClassifier(params).fit(train, y, run)
      : new RankSimilarityProbabilisticClassifier(params).fit(train, y, run));
  note("fit", saveModel(model));
  await apply("", loadModel(saveModel(model)), one, backend, note);
  if (params.keepSums) {
    const grown = await (estimator === "transform"
      ? (model as TransformModel).partialFit(later, undefined, run)
      : (model as ClassifierModel | ProbabilisticModel).partialFit(later, laterY as Label[], run));
    note("partialFit", saveModel(grown));
    await apply("after partialFit: ", grown, one, backend, note);
  }
  if (one.refine) {
    const refined = await (model as ClassifierModel).refine(train, y, run);
    note("refine", saveModel(refined));
    await apply("after refine: ", refined, one, backend, note);
  }
}

async function apply(when: string, model: Model, { test, number }: Case, backend: Backend, note: Note): Promise<void> {
  const run = { backend };
  if (model.kind === "transform") {
    const { offsets, indices, values } = toCsr(await (model as TransformModel).transform(test, run));
    note(`${when}transform`, offsets, indices, values);
    return;
  }
  const classifier = model as ClassifierModel | ProbabilisticModel;
  note(`${when}predict`, JSON.stringify(await classifier.predict(test, run)));
  note(`${when}probabilities`, (await classifier.predictProbabilities(test, run)).values);
  note(`${when}classScores`, (await classifier.classScores(test, run)).values);
  if (test.rows > 0 && number % 4 === 0) {
    note(`${when}explain`, JSON.stringify(await classifier.explain(test, number % test.rows, run)));
  }
}

function digest(data: readonly (ArrayBufferView | string)[]): string {
  const hash = createHash("sha256");
  for (const part of data) hash.update(part as string);
  return hash.digest("hex").slice(0, 16);
}
