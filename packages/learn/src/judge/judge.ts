/** A model's answers to labelled data, and how good they are. */

import {
  ClassifierModel,
  ConformalModel,
  type Dense,
  type Label,
  type LabelSets,
  type Labels,
  type Model,
  ProbabilisticModel,
  RanksimError,
  type Run,
} from "@ranksim/core";
import { partOfRun } from "@ranksim/core/internal";
import { type AnyRows, type DataSet, dataBlocks, isInMemory, type RowLabels } from "@ranksim/data";
import { asPredicting, isMultilabel, stepsOf } from "../model/parts.ts";
import { modelFor, type Passage, passThrough } from "../model/passage.ts";
import { LogLossTally } from "../select/log-loss.ts";
import {
  balancedAccuracy,
  type ClassificationReport,
  type ConfusionMatrix,
  classificationReport,
  confusionMatrix,
  hammingLoss,
} from "../select/metrics.ts";
import { type ReliabilityBin, ReliabilityTally } from "../select/reliability.ts";
import { intervalsOf } from "./intervals.ts";
import { isSets, matchLabels } from "./labels.ts";
import { type SetsJudged, SetsTally } from "./sets-tally.ts";

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
export async function predictAll(given: Model, data: DataSet, run: Run): Promise<Answers> {
  asPredicting(given);
  const model = modelFor(given, data);
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

/** Whether probabilities can be believed. */
export interface Reliability {
  readonly calibrationError: number;
  readonly bins: readonly ReliabilityBin[];
  /** Absent for several labels per row. */
  readonly logLoss?: number;
  /** The same for the probabilities before they were fitted to held-out rows, where they were. */
  readonly before?: Omit<Reliability, "before">;
}

/** How good the model is on the data. */
export interface Judgement {
  readonly report: ClassificationReport;
  /** Absent for several labels per row. */
  readonly confusion?: ConfusionMatrix;
  readonly balancedAccuracy?: number;
  /** The most frequent class, and the accuracy of always answering it. */
  readonly majority?: { readonly label: Label; readonly accuracy: number };
  readonly logLoss?: number;
  readonly hammingLoss?: number;
  /** Absent where the model has no probabilities, or does not know a class of the data. */
  readonly reliability?: Reliability;
  /** Of a model that answers with sets. */
  readonly sets?: SetsJudged;
}

/** A judgement, and what goes with it. */
export interface Judged {
  readonly judgement: Judgement;
  /** Rows that were judged. */
  readonly rows: number;
  /** Where the scores of other such rows lie in 95 of 100 cases; absent for several labels a row. */
  readonly intervals?: ReturnType<typeof intervalsOf>;
  readonly notes: readonly string[];
}

/** How rows are judged. */
export interface JudgeOptions extends Run {
  /** Called with every block of rows that was judged. */
  readonly onBlock?: (block: DataSet, rows: number) => void | Promise<void>;
}

/** Judges a model by labelled rows, in memory or not; they are answered block by block. */
export async function judge(
  model: Model,
  data: AnyRows | AsyncIterable<DataSet>,
  { onBlock, ...run }: JudgeOptions = {},
): Promise<Judged> {
  const tally = new JudgingTally(model, asPredicting(model).classes);
  const isWhole = "form" in data && isInMemory(data);
  const { onProgress: _, ...quiet } = run;
  for await (const block of "form" in data ? dataBlocks(data) : data) {
    tally.add(await predictAll(model, block, isWhole ? run : quiet), block.y);
    await onBlock?.(block, tally.rows);
  }
  return tally.judged();
}

/** Judges answers that are there already by the labels of the data, which must have some. */
export function judgeAnswers(model: Model, answers: Answers, data: AnyRows): Judged {
  const tally = new JudgingTally(model, answers.classes);
  tally.add(answers, data.y);
  return tally.judged();
}

/** Answers that come in blocks, judged at the end: labels are kept, 16 bytes a row, and of probabilities what they add up to. */
export class JudgingTally {
  readonly #model: Model;
  readonly #classes: readonly Label[];
  readonly #isMultilabel: boolean;
  readonly #truth: (Label | readonly Label[])[] = [];
  readonly #predicted: (Label | readonly Label[])[] = [];
  /** One copy of each text. */
  readonly #names: Map<Label, Label>;
  readonly #strange = new Set<Label>();
  #trust: Trust | undefined;
  #before: Trust | undefined;
  readonly #sets: SetsTally | undefined;

  constructor(model: Model, classes: readonly Label[]) {
    this.#model = model;
    this.#classes = classes;
    this.#isMultilabel = isMultilabel(model);
    this.#names = new Map(classes.map((name) => [name, name]));
    this.#sets = model instanceof ConformalModel ? new SetsTally(model as ConformalModel<never>) : undefined;
  }

  /** Rows so far. */
  get rows(): number {
    return this.#truth.length;
  }

  /** Takes in answers and the labels of the same rows. */
  add({ predicted, probabilities, before }: Answers, labels: RowLabels | undefined): void {
    if (labels === undefined) throw new RanksimError("bad-labels", "expected labels to judge by, found none");
    const several = this.#isMultilabel;
    const given = several && !isSets(labels) ? labels.map((label) => [label as Label]) : labels;
    const y = matchLabels(given, this.#classes);
    if (several !== isSets(y)) {
      throw new RanksimError("bad-labels", "the data has several labels per row, the model gives one");
    }
    for (const label of y)
      this.#truth.push(Array.isArray(label) ? label.map(this.#known) : this.#known(label as Label));
    for (const label of predicted) this.#predicted.push(label);
    if (probabilities) this.#sets?.add(y as readonly Label[], probabilities);
    if (this.#strange.size > 0) return;
    const trust = () => new Trust(this.#classes, several);
    if (probabilities) {
      this.#trust ??= trust();
      this.#trust.add(y, probabilities);
    }
    if (before) {
      this.#before ??= trust();
      this.#before.add(y, before);
    }
  }

  /** What all answers so far are worth. */
  judged(): Judged {
    const intervals = this.#intervals();
    return { ...this.#judged(), rows: this.rows, ...(intervals ? { intervals } : {}) };
  }

  #judged(): Pick<Judged, "judgement" | "notes"> {
    const [y, predicted] = [this.#truth, this.#predicted];
    const report = classificationReport(y as Labels | LabelSets, predicted as Labels | LabelSets);
    const strange = [...this.#strange];
    const trust =
      this.#trust && strange.length === 0
        ? { ...this.#trust.found(), ...(this.#before ? { before: this.#before.found() } : {}) }
        : undefined;
    if (isMultilabel(this.#model)) {
      const loss = hammingLoss(y as LabelSets, predicted as LabelSets);
      return { judgement: { report, hammingLoss: loss, ...(trust ? { reliability: trust } : {}) }, notes: [] };
    }
    const sets = this.#sets?.judged();
    const majority = majorityOf(report);
    const judgement = {
      report,
      majority,
      ...(sets ? { sets } : {}),
      confusion: confusionMatrix(y as Labels, predicted as Labels),
      balancedAccuracy: balancedAccuracy(y as Labels, predicted as Labels),
      ...(trust?.logLoss === undefined ? {} : { logLoss: trust.logLoss, reliability: trust }),
    };
    const named = strange.slice(0, 5).join(", ") + (strange.length > 5 ? ", …" : "");
    const isAll = strange.length === new Set(y).size; // all wrong: spelled in another way, perhaps
    const known = isAll
      ? `; its own are ${this.#classes.slice(0, 5).join(", ")}${this.#classes.length > 5 ? ", …" : ""}`
      : "";
    const note = `the model does not know ${strange.length} ${strange.length === 1 ? "class" : "classes"} of the data (${named})${known}; log loss is left out`;
    const answers = new Set(predicted as readonly Label[]);
    return { judgement, notes: [...(strange.length === 0 ? [] : [note]), ...warningsOf(report, majority, answers)] };
  }

  #intervals(): ReturnType<typeof intervalsOf> | undefined {
    if (this.#isMultilabel || this.rows === 0) return undefined;
    return intervalsOf(this.#truth as Labels, this.#predicted as Labels);
  }

  readonly #known = (label: Label): Label => {
    const known = this.#names.get(label);
    if (known !== undefined) return known;
    this.#names.set(label, label);
    this.#strange.add(label);
    return label;
  };
}

/** The most frequent class, the first of equals. */
function majorityOf({ classes }: ClassificationReport): NonNullable<Judgement["majority"]> {
  const rows = classes.reduce((sum, { support }) => sum + support, 0);
  const most = classes.reduce((one, other) => (other.support > one.support ? other : one));
  return { label: most.label, accuracy: most.support / rows };
}

/** What makes an accuracy worth nothing, where the rows have several classes. */
function warningsOf(
  { accuracy, classes }: ClassificationReport,
  majority: NonNullable<Judgement["majority"]>,
  answers: ReadonlySet<Label>,
): string[] {
  if (classes.filter(({ support }) => support > 0).length < 2) return [];
  const always = JSON.stringify(majority.label);
  if (answers.size === 1) {
    const cure = "look at the columns that are used, or train with --class-weight uniform";
    return [`all answers are ${JSON.stringify([...answers][0])}: the model tells no rows apart; ${cure}`];
  }
  if (accuracy > majority.accuracy) return [];
  const missed = classes.filter(({ support, recall }) => support > 0 && recall < 0.5).map(({ label }) => String(label));
  const found = missed.length === 0 ? "" : `; it finds less than half of ${missed.slice(0, 5).join(", ")}`;
  return [`the model is right no more often than always answering ${always} (${majority.accuracy.toFixed(4)})${found}`];
}

/** Whether probabilities can be believed. */
class Trust {
  readonly #reliability: ReliabilityTally;
  readonly #loss: LogLossTally | undefined;

  constructor(classes: readonly Label[], several: boolean) {
    this.#reliability = new ReliabilityTally(classes);
    this.#loss = several ? undefined : new LogLossTally(classes);
  }

  add(y: RowLabels, probabilities: Dense): void {
    this.#reliability.add(y as Labels | LabelSets, probabilities);
    this.#loss?.add(y as Labels, probabilities);
  }

  found(): Reliability {
    return {
      calibrationError: this.#reliability.calibrationError(),
      bins: this.#reliability.bins(),
      ...(this.#loss ? { logLoss: this.#loss.loss() } : {}),
    };
  }
}

/** The same judgement with its classes called by other names. */
export function renamed(
  { report, confusion, majority, ...rest }: Judgement,
  nameOf: (label: Label) => string,
): Judgement {
  return {
    ...rest,
    ...(majority ? { majority: { ...majority, label: nameOf(majority.label) } } : {}),
    report: { ...report, classes: report.classes.map((row) => ({ ...row, label: nameOf(row.label) })) },
    ...(confusion ? { confusion: { ...confusion, classes: confusion.classes.map(nameOf) } } : {}),
  };
}
