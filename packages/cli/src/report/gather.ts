/**
 * Gathers what a report says: runs the model over the data once, judges the answers, chooses the rows and filters worth
 * showing and puts them into a form that can be seen. Draws nothing.
 */

import {
  type Dense,
  isClassifier,
  type Label,
  LinearModel,
  type Model,
  type Run,
  schemaOf,
  toDense,
} from "@ranksim/core";
import { partOfRun } from "@ranksim/core/internal";
import { type DataSet, describeData, type ImageSize, pickRows, type RowLabels } from "@ranksim/data";
import {
  type Answers,
  answer,
  decidingPart,
  filterPart,
  inputOf,
  type Judgement,
  judgeAnswers,
  labelNamer,
  matchLabels,
  modelFor,
  type Passage,
  passThrough,
  renamed,
  SHARE_BEFORE,
  stepsOf,
  withBefore,
} from "@ranksim/learn";
import type { OpenedModel } from "../load-model.ts";
import { featureNamer, featureWord } from "../model/feature-names.ts";
import { neighboursOf } from "../model/neighbours.ts";
import { patchesOf, patchSheets } from "../model/patch-view.ts";
import { strongestWeights } from "../model/strongest-weights.ts";
import type { Provenance } from "../provenance.ts";
import { bytes, count, counted, score } from "../terminal/numbers.ts";
import { AnsweredRows, pictureLook, rowsOfPlanes } from "./answered-rows.ts";
import { scoreName } from "./card.ts";
import type { ClassWeights, Dot, Fact, ReportContent, RowView } from "./content.ts";
import { FilterGallery } from "./gallery.ts";
import { confidentMistakes, sampleRows } from "./row-choice.ts";
import { measure, workFacts } from "./work.ts";

/** What a report is about. */
export interface ReportSubject {
  readonly model: Model;
  readonly modelName: string;
  readonly byteLength: number;
  readonly digest: string;
  readonly data: DataSet;
  readonly dataName: string;
  readonly title?: string;
  readonly imageSize: ImageSize | undefined;
  /** Absent where the page is made by another program than the command. */
  readonly provenance?: Provenance;
  /** Rows to show at most, of samples and of mistakes. */
  readonly samples: number;
  /** The rows that the model keeps, of which those most like a row are shown. */
  readonly kept?: OpenedModel["kept"];
  /** Places for rows in a plane, rows x 2, where the report shall have a map. */
  readonly layOut?: (rows: DataSet, run: Run) => Promise<Dense>;
  /** Other notes about the rows or the model. */
  readonly notes?: readonly string[];
}

/** Filters beside each row, as in the paper's figure of filter weights. */
const STRONGEST = 8;

/** Rows on the map at most, and how many there have to be for one. */
const MOST_MAPPED = 1500;
const FEWEST_MAPPED = 20;

/** Classes of a linear model whose weights are shown at most, and features of each. */
const WEIGHED_CLASSES = 120;
const WEIGHTS_SHOWN = 16;

/** Runs the model over the data and gathers the report. */
export async function gatherReport(given: ReportSubject, run: Run): Promise<ReportContent> {
  const model = modelFor(given.model, given.data);
  // Rows that lack columns are like none of those that were kept.
  const subject: ReportSubject = model === given.model ? given : { ...given, model, kept: undefined };
  const { data } = subject;
  const before = stepsOf(model).length > 1 ? SHARE_BEFORE : 0;
  const passage = await passThrough(model, data, partOfRun(run, 0, before));
  const rest = partOfRun(run, before, 1);
  const predicted = isClassifier(model)
    ? await measure(passage.rows, rest, (counted) => answer(model, passage, counted))
    : undefined;
  const answers = predicted && (await withBefore(model, passage, predicted.value, run));
  const y = data.y === undefined || !answers ? data.y : matchLabels(data.y, answers.classes);
  const { judgement, notes } = answers && y ? judgeAnswers(model, answers, data) : { judgement: undefined, notes: [] };
  const nameOf = labelNamer(data);
  const found = filterPart(model);
  const patches = patchesOf(model);
  const gallery = found && new FilterGallery(found, model, data, subject.imageSize);
  // Rows do not go through the models of a blend one by one: it shows none.
  const deciding = decidingPart(model);
  const shown =
    deciding?.part instanceof LinearModel && !deciding.member
      ? rowsOfPlanes(deciding.part, featureNamer(deciding, model, data), new AnsweredRows(data, subject.imageSize))
      : gallery;
  const rows = shown ? await showRows(subject, passage, shown, answers, y, run) : { samples: [], mistakes: [] };
  return {
    title: subject.title ?? `${subject.modelName} on ${subject.dataName}`,
    subtitle: subtitle(subject, passage),
    judgement: judgement && renamed(judgement, nameOf),
    headline: headline(subject, judgement),
    curves: gallery?.curves() ?? [],
    filters: gallery?.classes() ?? [],
    weights: weightsOf(model, data),
    patches: patches ? patchSheets(patches) : [],
    filtersOf: gallery?.filtersOf() ?? new Map(),
    ...rows,
    map: await mapOf(subject, passage.rows, answers, y, run),
    work: workFacts(found?.part.report, predicted?.measured),
    params: paramsOf(model),
    digest: subject.digest,
    origin: originOf(subject),
    featuresAre: featureWord(model),
    notes: [...(subject.notes ?? []), ...notes, ...(found?.part.report.notes ?? [])],
  };
}

/** What weighs most for the classes of a linear model; of a blend in the model that counts most. */
function weightsOf(model: Model, data: DataSet): ClassWeights[] {
  const deciding = decidingPart(model);
  if (!(deciding?.part instanceof LinearModel)) return [];
  const { part } = deciding;
  const nameOf = featureNamer(deciding, model, data);
  const labelName = labelNamer(data);
  return part.classes.slice(0, WEIGHED_CLASSES).map((label, code) => ({
    label: labelName(label),
    words: strongestWeights(part, code, WEIGHTS_SHOWN).map(({ feature, weight }) => ({
      text: nameOf(feature),
      weight,
    })),
  }));
}

/** Date, version, command and digests. */
function originOf({ model, data, dataName, digest, provenance }: ReportSubject): Fact[] {
  const { training } = schemaOf(model) ?? {};
  const judged = describeData(data, { rows: false }).training?.digest ?? "";
  return [
    ...(provenance
      ? ([
          ["date", provenance.date],
          ["version", `ranksim ${provenance.version}`],
          ["command", provenance.command],
        ] as const)
      : []),
    ["data", `${dataName}, digest ${judged.slice(0, 16)}`],
    ...(training
      ? ([["trained on", `${count(training.rows)} rows, digest ${training.digest.slice(0, 16)}`]] as const)
      : []),
    ["model digest", digest],
  ];
}

async function showRows(
  subject: ReportSubject,
  passage: Passage,
  gallery: Pick<FilterGallery, "row">,
  answers: Answers | undefined,
  y: RowLabels | undefined,
  run: Run,
): Promise<{ samples: RowView[]; mistakes: RowView[] }> {
  const view = async (row: number) => {
    const shown = await gallery.row(passage, row, STRONGEST, run, {
      truth: y?.[row],
      predicted: answers?.predicted[row],
      probabilities: answers?.probabilities?.row(row),
      classes: answers?.classes ?? [],
    });
    return { ...shown, ...(await neighboursTo(subject, row, run)) };
  };
  const samples: RowView[] = [];
  for (const row of sampleRows(passage.rows, y, subject.samples)) samples.push(await view(row));
  const mistakes: RowView[] = [];
  if (answers?.probabilities && y) {
    for (const row of confidentMistakes(
      answers.predicted,
      y,
      answers.probabilities,
      answers.classes,
      subject.samples,
    )) {
      mistakes.push(await view(row));
    }
  }
  return { samples, mistakes };
}

/** The kept rows most like a row, as pictures where the model sees the pixels themselves. */
async function neighboursTo(
  { model, kept, data, imageSize }: ReportSubject,
  row: number,
  { backend, signal }: Run,
): Promise<Pick<RowView, "neighbours">> {
  if (!kept) return {};
  const one = await pickRows(data, Uint32Array.of(row));
  const run = { ...(backend ? { backend } : {}), ...(signal ? { signal } : {}) };
  const found = neighboursOf(await kept.nearest(inputOf(model, one), STRONGEST, run), 0);
  const nameOf = labelNamer(data);
  const isImage = imageSize !== undefined && imageSize.width * imageSize.height === kept.index.features;
  const neighbours = found.map(({ row: known, similarity, label }) => ({
    row: known,
    label: label === undefined ? undefined : nameOf(label as Label),
    similarity,
    look: isImage
      ? pictureLook(toDense(kept.index.rows.slice(known, known + 1)).values, imageSize)
      : ({ form: "words", words: [] } as const),
  }));
  return { neighbours };
}

/** Rows laid out, spread evenly over all. */
async function mapOf(
  { data, layOut }: ReportSubject,
  rows: number,
  answers: Answers | undefined,
  y: RowLabels | undefined,
  { backend, signal }: Run,
): Promise<Dot[]> {
  if (!layOut || rows < FEWEST_MAPPED) return [];
  const count = Math.min(rows, MOST_MAPPED);
  const drawn = Uint32Array.from({ length: count }, (_, j) => Math.floor((j * rows) / count));
  const run = { ...(backend ? { backend } : {}), ...(signal ? { signal } : {}) };
  const places = await layOut(await pickRows(data, drawn), run);
  const nameOf = labelNamer(data);
  const named = (label: Label | readonly Label[] | null | undefined) =>
    label === undefined || label === null
      ? undefined
      : [label]
          .flat()
          .map((one) => nameOf(one as Label))
          .join(", ");
  return Array.from(drawn, (row, j) => {
    const [x, y_] = places.row(j);
    const probabilities = answers?.probabilities?.row(row);
    return {
      ...{ row, x, y: y_, label: named(y?.[row]), given: named(answers?.predicted[row]) },
      ...(probabilities ? { sureness: Math.max(...probabilities) } : {}),
      ...(data.rowNames ? { name: data.rowNames[row] } : {}),
    };
  });
}

function subtitle({ model, data }: ReportSubject, passage: Passage): string {
  const kind = stepsOf(model)
    .map((step) => step.kind)
    .join(" + ");
  const what =
    data.form === "text"
      ? counted(passage.rows, "text")
      : data.form === "table"
        ? `${counted(passage.rows, "row")} of ${counted(data.table.columns.length, "column")}`
        : `${counted(passage.rows, "row")} of ${counted(data.x.features, "feature")}`;
  const filters = filterPart(model)?.part.bank.filters;
  return `${kind}${filters === undefined ? "" : ` with ${counted(filters, "filter")}`}, judged on ${what}`;
}

function headline({ model, byteLength }: ReportSubject, judgement: Judgement | undefined): ReportContent["headline"] {
  const tiles: { name: string; value: string; about?: string }[] = [];
  const { heldOut } = schemaOf(model) ?? {};
  for (const [name, value] of Object.entries(heldOut?.scores ?? {})) {
    const about = `on ${counted(heldOut?.rows ?? 0, "row")} held out of training`;
    tiles.push({ name: `Held-out ${scoreName(name)}`, value: score(value), about });
  }
  if (judgement) {
    const { report } = judgement;
    const exact = judgement.confusion === undefined;
    tiles.push({
      name: exact ? "Exact match" : "Accuracy",
      value: score(report.accuracy),
      about: exact ? "rows with exactly the right labels" : "rows that are right",
    });
    tiles.push({ name: "Macro F1", value: score(report.macro.f1), about: "mean over classes" });
    if (exact) tiles.push({ name: "Micro F1", value: score(report.micro.f1), about: "over all decisions" });
    if (judgement.logLoss !== undefined) {
      tiles.push({ name: "Log loss", value: score(judgement.logLoss), about: "smaller is better" });
    }
    if (judgement.reliability) {
      const value = score(judgement.reliability.calibrationError);
      tiles.push({ name: "Calibration error", value, about: "of probabilities, smaller is better" });
    }
    if (judgement.sets) {
      const { coverage, held, meanSize } = judgement.sets;
      const about = `of rows have their class in sets of ${coverage}, ${meanSize.toFixed(2)} classes each`;
      tiles.push({ name: "Coverage", value: score(held), about });
    }
    if (judgement.hammingLoss !== undefined) {
      tiles.push({ name: "Hamming loss", value: score(judgement.hammingLoss), about: "smaller is better" });
    }
  }
  const filters = filterPart(model)?.part.bank.filters;
  if (filters !== undefined) tiles.push({ name: "Filters", value: count(filters) });
  tiles.push({ name: "Model", value: bytes(byteLength), about: "as a file" });
  return tiles;
}

/** The parameters of all steps, named by the step where there are several. */
function paramsOf(model: Model): ReportContent["params"] {
  const steps = stepsOf(model);
  const out: Record<string, ReportContent["params"][string]> = {};
  for (const step of steps) {
    const params = (step as { params?: ReportContent["params"] }).params ?? {};
    for (const [name, value] of Object.entries(params)) out[steps.length > 1 ? `${step.kind}: ${name}` : name] = value;
  }
  return out;
}
