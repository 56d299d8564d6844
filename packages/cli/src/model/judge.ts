/** A model's answers to labelled data, and how good they are. Used by `evaluate` and the report. */

import {
  balancedAccuracy,
  ClassifierModel,
  calibrationError,
  classificationReport,
  confusionMatrix,
  type Dense,
  hammingLoss,
  type Label,
  type LabelSets,
  type Labels,
  logLoss,
  type Model,
  ProbabilisticModel,
  RanksimError,
  type Run,
  reliability,
} from "@ranksim/core";
import type { DataSet, RowLabels } from "@ranksim/data";
import { isSets, matchLabels } from "../files/labels.ts";
import type { Judgement, Reliability } from "../report/content.ts";
import { counted } from "../terminal/numbers.ts";
import { partOfRun } from "./part-of-run.ts";
import { asPredicting, isMultilabel, stepsOf } from "./parts.ts";
import { type Passage, passThrough } from "./passage.ts";

/** The answers of a model that predicts. */
export interface Answers {
  readonly predicted: readonly (Label | readonly Label[])[];
  readonly probabilities: Dense | undefined;
  readonly classes: readonly Label[];
  /** Probabilities before they were fitted to held-out rows, where they were. */
  readonly before?: Dense;
}

/** Share of the work that goes into the steps before the last, for progress alone. */
export const SHARE_BEFORE = 0.4;

/** What the model says about all rows. */
export async function predictAll(model: Model, data: DataSet, run: Run): Promise<Answers> {
  asPredicting(model);
  const before = stepsOf(model).length > 1 ? SHARE_BEFORE : 0;
  const passage = await passThrough(model, data, partOfRun(run, 0, before));
  const answers = await answer(model, passage, partOfRun(run, before, 0.8));
  return withBefore(model, passage, answers, partOfRun(run, 0.8, 1));
}

/** What the model's last step says about data that went through the steps before. */
export async function answer(model: Model, { last }: Passage, run: Run): Promise<Answers> {
  const part = asPredicting<Passage["last"]>(stepsOf(model).at(-1) as Model);
  const predicted = await part.predict(last, partOfRun(run, 0, 0.5));
  const probabilities = await part.predictProbabilities?.(last, partOfRun(run, 0.5, 1));
  return { predicted, probabilities, classes: part.classes };
}

/** The answers with the probabilities before they were fitted, where they were. */
export async function withBefore(model: Model, { last }: Passage, answers: Answers, run: Run): Promise<Answers> {
  const part = stepsOf(model).at(-1);
  if (!(part instanceof ClassifierModel || part instanceof ProbabilisticModel)) return answers;
  const plain = part.uncalibrated();
  if (plain === part) return answers;
  return { ...answers, before: await plain.predictProbabilities(last, run) };
}

/** Judges answers by the labels of the data, which must have some. */
export function judge(
  model: Model,
  { predicted, probabilities, classes, before }: Answers,
  data: DataSet,
): { readonly judgement: Judgement; readonly notes: readonly string[] } {
  if (data.y === undefined) throw new RanksimError("bad-labels", "expected labels to judge by, found none");
  const several = isMultilabel(model);
  const y = matchLabels(several && !isSets(data.y) ? data.y.map((label) => [label as Label]) : data.y, classes);
  if (several !== isSets(y)) {
    throw new RanksimError("bad-labels", "the data has several labels per row, the model gives one");
  }
  const report = classificationReport(y as Labels | LabelSets, predicted as Labels | LabelSets);
  const known = new Set(classes);
  const strange = [...new Set((y as readonly (Label | readonly Label[])[]).flat())].filter((name) => !known.has(name));
  const trust =
    probabilities && strange.length === 0
      ? {
          ...reliabilityOf(y as Labels | LabelSets, probabilities, classes),
          ...(before ? { before: reliabilityOf(y as Labels | LabelSets, before, classes) } : {}),
        }
      : undefined;
  if (several) {
    const loss = hammingLoss(y as LabelSets, predicted as LabelSets);
    return { judgement: { report, hammingLoss: loss, ...(trust ? { reliability: trust } : {}) }, notes: [] };
  }
  const truth = y as readonly Label[];
  const named = strange.slice(0, 5).join(", ") + (strange.length > 5 ? ", …" : "");
  const judgement = {
    report,
    confusion: confusionMatrix(truth, predicted as Labels),
    balancedAccuracy: balancedAccuracy(truth, predicted as Labels),
    ...(trust?.logLoss === undefined ? {} : { logLoss: trust.logLoss, reliability: trust }),
  };
  const note = `the model does not know ${counted(strange.length, "class", "classes")} of the data (${named}); log loss is left out`;
  return { judgement, notes: strange.length === 0 ? [] : [note] };
}

function reliabilityOf(y: Labels | LabelSets, probabilities: Dense, classes: readonly Label[]): Reliability {
  return {
    calibrationError: calibrationError(y, probabilities, classes),
    bins: reliability(y, probabilities, classes),
    ...(isSets(y as RowLabels) ? {} : { logLoss: logLoss(y as Labels, probabilities, classes) }),
  };
}

/** The same judgement with its classes called by other names. */
export function renamed({ report, confusion, ...rest }: Judgement, nameOf: (label: Label) => string): Judgement {
  return {
    ...rest,
    report: { ...report, classes: report.classes.map((row) => ({ ...row, label: nameOf(row.label) })) },
    ...(confusion ? { confusion: { ...confusion, classes: confusion.classes.map(nameOf) } } : {}),
  };
}
