/** Models of several steps: text (or rows that want scaling) goes through the first ones, filters are the last. */

import {
  ClassifierModel,
  ConformalModel,
  type Matrix,
  type Model,
  PatchModel,
  PipelineModel,
  ProbabilisticModel,
  RanksimError,
  type Run,
  schemaOf,
  type TransformingModel,
  TransformModel,
} from "@ranksim/core";
import {
  CountModel,
  CountVectorizer,
  HashingModel,
  type RowLabels,
  seenRows,
  TableModel,
  TfidfModel,
} from "@ranksim/data";
import { allRows, dataSetOf, type LoadedData } from "./data.ts";
import { PatchLook } from "./patch-look.ts";
import type { FilterModel, SubjectParts } from "./subject.ts";
import { type Part, preparingStep, type TrainingRun } from "./training.ts";

/** The page is sent the progress of the words this often. */
const TELL_MILLISECONDS = 100;

/** The parts of a model, in the order rows go through them. */
export function stepsOf(model: Model): readonly Model[] {
  if (model instanceof ConformalModel) return stepsOf(model.model);
  return model instanceof PipelineModel ? model.steps : [model];
}

/** A model from a file, ready to be looked at. */
export function openPipeline(whole: Model, name: string): SubjectParts {
  const steps = stepsOf(whole);
  const model = steps[steps.length - 1];
  if (!isFilterModel(model)) {
    const kinds = steps.map(({ kind }) => kind).join(", then ");
    throw new RanksimError(
      "unsupported",
      `${name}: expected a model whose last step has filters, found ${kinds} (ranksim train --for update makes one with filters)`,
    );
  }
  const [first] = steps;
  // Rows of a table come coded: its features are what there is to look at.
  const before = steps.slice(first instanceof TableModel ? 1 : 0, -1) as TransformingModel<unknown>[];
  const words = first instanceof CountModel || first instanceof TfidfModel;
  const names = words || first instanceof TableModel ? first.featureNames : columnsOf(whole);
  return {
    whole,
    model,
    name,
    origin: "file",
    history: [],
    isCoded: first instanceof TableModel,
    takesText: words || first instanceof HashingModel,
    inputs: words || first instanceof HashingModel ? 0 : inputsOf(before[0] ?? model),
    prepare: (x) => pass(before, x),
    ...(first instanceof PatchModel ? { patches: new PatchLook(first) } : {}),
    ...(names?.length === model.features ? { featureNames: names } : {}),
  };
}

/** Numbers a row that a step takes. */
const inputsOf = (step: object): number => ("features" in step ? Number(step.features) : 0);

/** The names that the columns had at training. */
const columnsOf = (model: Model): readonly string[] | undefined => schemaOf(model)?.columns?.map(({ name }) => name);

/** How many of the rows the model was trained on, as far as it kept what tells them; undefined where it did not. */
export function seenAmong(whole: Model, data: LoadedData): number | undefined {
  const schema = schemaOf(whole);
  return schema && seenRows(schema, dataSetOf(data, allRows(data)));
}

/** Learns the words of the training texts, then trains on their counts: what `ranksim train --text` does. */
export async function trainOnText(
  texts: readonly string[],
  rows: { readonly train: Uint32Array; readonly test: Uint32Array },
  labels: (rows: Uint32Array) => { y?: RowLabels },
  train: (training: Part, test: Part | undefined) => Promise<Pick<SubjectParts, "model" | "history">>,
  { signal, gate, tell }: TrainingRun,
): Promise<Pick<SubjectParts, "whole" | "model" | "history" | "prepare" | "takesText" | "inputs" | "featureNames">> {
  const pick = (picked: Uint32Array) => Array.from(picked, (row) => texts[row]);
  const vectorizer = new CountVectorizer();
  let told = 0;
  const run: Run = {
    signal,
    onProgress: ({ share }) => {
      if (performance.now() - told > TELL_MILLISECONDS) {
        told = performance.now();
        tell(preparingStep(share, texts.length));
      }
      return gate.listen();
    },
  };
  const words = await vectorizer.fit(pick(rows.train), undefined, run);
  const part = async (picked: Uint32Array): Promise<Part> => ({
    x: await words.transform(pick(picked), run),
    featureNames: words.featureNames,
    ...labels(picked),
  });
  const { model, history } = await train(
    await part(rows.train),
    rows.test.length > 0 ? await part(rows.test) : undefined,
  );
  const whole = new PipelineModel([vectorizer.kind, model.kind], [words, model]);
  return {
    whole,
    model,
    history,
    prepare: (x) => pass([words as TransformingModel<unknown>], x),
    takesText: true,
    inputs: 0,
    featureNames: words.featureNames,
  };
}

async function pass(steps: readonly TransformingModel<unknown>[], x: unknown): Promise<Matrix> {
  let data = x;
  for (const step of steps) data = await step.transform(data);
  return data as Matrix;
}

function isFilterModel(model: Model): model is FilterModel {
  return model instanceof ClassifierModel || model instanceof ProbabilisticModel || model instanceof TransformModel;
}
