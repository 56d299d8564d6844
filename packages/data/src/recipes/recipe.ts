/**
 * Which recipe suits data, by what the data is: images, text, several labels, dense or sparse numbers. Every choice here was made on
 * training rows (the lab's BEYOND.md has the figures); a parameter given by hand takes the place of its part.
 */

import {
  type ClassifierParams,
  type Estimator,
  type Label,
  type MatrixLike,
  type Model,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
  RanksimError,
} from "@ranksim/core";
import { type AnyRows, rowCount } from "../data-set.ts";
import { TableEncoder, type TableLike } from "../table/encoder.ts";
import { CountVectorizer } from "../text/count.ts";
import { TfidfVectorizer } from "../text/tfidf.ts";
import { images } from "./images.ts";
import { type DataKind, hasSeveralLabels, isImages, isSparse, kindOf, paperKind, takesOf } from "./kind.ts";
import {
  type Chosen,
  calibration,
  calibrationOfLabels,
  filtersFor,
  given,
  isUncalibrated,
  named,
  PRESETS,
  type Preset,
  type RecipeOptions,
  type Task,
  TRAINED_AGAIN,
} from "./task.ts";

/** A recipe for data, and why it was chosen. */
export interface Recipe {
  readonly preset: Preset;
  readonly kind: DataKind;
  /** Whether it takes rows of numbers, texts or a table. */
  readonly takes: Task["takes"];
  readonly estimator: Estimator<never, Model>;
  /** One line for people: what was chosen, for what. */
  readonly about: string;
}

/** The recipe that suits the data. Refuses (code "bad-params") a preset that does not exist, and patches of what is not images. */
export function recipeFor(data: AnyRows, options: RecipeOptions = {}): Recipe {
  const { preset = "balanced", seed = 0, params = {}, patches = {} } = options;
  if (!PRESETS.includes(preset)) {
    throw new RanksimError("bad-params", `preset: expected ${PRESETS.join(", ")}, found ${JSON.stringify(preset)}`);
  }
  const kind = preset === "paper" ? paperKind(data) : kindOf(data);
  const [windows] = Object.keys(patches);
  if (kind !== "images" && windows !== undefined) {
    throw new RanksimError(
      "bad-params",
      `patches.${windows}: expected labelled images and a preset other than paper, found ${preset}, for ${kind}`,
    );
  }
  const takes = takesOf(data);
  const task = { data, takes, preset, kind, seed, params, patches, ...labelsOf(data) };
  const { estimator, what } = chosen(task);
  const about = `${preset}, for ${describe(task)}: ${what}${isUncalibrated(task) ? "; too few rows to fit probabilities" : ""}`;
  return { preset, kind, takes, estimator, about };
}

function labelsOf(data: AnyRows): { rows: number; classes: number } {
  const names = new Set<Label>();
  for (const label of data.y ?? []) {
    if (Array.isArray(label)) for (const one of label) names.add(one as Label);
    else names.add(label as Label);
  }
  return { rows: rowCount(data), classes: Math.max(1, names.size) };
}

function chosen(task: Task): Chosen {
  if (task.preset === "paper") return paper(task);
  switch (task.kind) {
    case "images":
      return images(task);
    case "text":
      return text(task);
    case "several labels":
      return severalLabels(task, isSparse(task.data));
    case "table":
      return table(task);
    case "no labels":
      return { estimator: new RankSimilarityTransform(given(task, {})), what: "filters without labels" };
    default:
      return numbers(task);
  }
}

function paper(task: Task): Chosen {
  if (task.takes === "table") return table(task);
  const [last, what] = paperStep(task);
  if (task.takes !== "text") return { estimator: last, what };
  return { estimator: texts(new CountVectorizer(), last), what: `counts of words, ${what}` };
}

function paperStep(task: Task): [Estimator<never, Model>, string] {
  if (task.data.y === undefined) return [new RankSimilarityTransform(given(task, {})), "the paper's transform"];
  return hasSeveralLabels(task.data)
    ? [new RankSimilarityProbabilisticClassifier(given(task, {})), "the paper's probabilistic classifier"]
    : [new RankSimilarityClassifier(given(task, {})), "the paper's classifier"];
}

/**
 * Filters of a table that vote. Chosen on drawn tables (the lab's TABLES.md), where of 1, 3, 5 and 9 nine did best with any number of rows.
 * Iris, wine and breast cancer were looked at afterwards, in ten folds: 0.953, 0.972 and 0.965 right, scaled nearest neighbours 0.947,
 * 0.972 and 0.967. Five, which had been settled on these three before, gave 0.953, 0.978 and 0.970.
 */
export const TABLE_VOTERS = 9;

/** Columns of several kinds and units go through an encoder, and several filters vote. */
function table(task: Task): Chosen {
  // Banks of a committee add up their scores: no filters vote there.
  const votes = task.params.committee === undefined ? { voters: TABLE_VOTERS } : {};
  const last = hasSeveralLabels(task.data)
    ? new RankSimilarityProbabilisticClassifier(given(task, calibrationOfLabels(task)))
    : new RankSimilarityClassifier(given(task, { ...votes, ...calibration(task) }));
  const { voters = 1 } = last.params as { readonly voters?: number };
  const alike = task.preset === "fast" || task.preset === "best" ? "; fast, balanced and best train tables alike" : "";
  return {
    estimator: named<TableLike>(["encode", new TableEncoder()], ["classify", last]),
    what: `columns encoded, ${voters > 1 ? `${voters} filters that vote` : "filters"}${alike}`,
  };
}

/**
 * Texts come in the order of time, and what a model will be asked about comes later: probabilities are fitted on the last texts of each
 * class. Chosen on the training texts of 20 Newsgroups, trained on earlier ones and judged by later ones, six ways to part them and three
 * seeds: mean calibration error 0.020, where perfect probabilities would show 0.018 by chance; with a function of each class 0.027.
 */
const NEWEST: Partial<ClassifierParams> = { calibrateOn: "last" };

function text(task: Task): Chosen {
  const words = new TfidfVectorizer({
    maxFeatures: task.preset === "best" ? 30_000 : 10_000,
    logTf: true,
    idfPower: 2,
  });
  if (task.data.y === undefined) {
    const transform = new RankSimilarityTransform(given(task, { distribution: "savage" as const }));
    return { estimator: texts(words, transform), what: "tf-idf, filters of Savage scores without labels" };
  }
  const last = hasSeveralLabels(task.data)
    ? severalLabels(task, true)
    : fewFilters(task, task.preset === "best" ? 8 : 4, NEWEST);
  return { estimator: texts(words, last.estimator as never), what: `weighted tf-idf, ${last.what}` };
}

/** Few filters of Savage scores are enough for sparse rows. */
function fewFilters(task: Task, refineEpochs: number, more: Partial<ClassifierParams> = {}): Chosen {
  const classify = new RankSimilarityClassifier(
    given(task, {
      filters: task.classes,
      classWeight: "uniform" as const,
      distribution: "savage" as const,
      refine: task.preset !== "fast",
      refineEpochs,
      ...calibration(task),
      ...more,
    }),
  );
  return {
    estimator: classify as Estimator<never, Model>,
    what: `${classify.params.filters} filters of Savage scores${classify.params.refine ? ", refined" : ""}`,
  };
}

/**
 * Banks that vote, filters of each class in one of several, and in one alone. Where rows are few, five banks are better than one of 30
 * filters a class, for three to five times the time: with 15, or one for 8 rows up to 30. Chosen on drawn rows of 2 to 6 classes in 16 to
 * 100 features, nine draws, 100, 300, 1,000 and 3,000 rows, the rarest class 0.4 or 0.05 of them, and on training rows of KMNIST: one bank
 * was 0.62, 0.73, 0.95 and 0.99 right, five of 15 were 0.65, 0.77, 0.93 and 0.98, of one for 8 rows 0.67, 0.77, 0.95 and 0.99; of 300
 * images one bank 0.80, five of 15 0.82, of one for 8 rows 0.77. Ten banks, for `best`, were 0.57, 0.67 and 0.68 right on six other draws of
 * 200, 1,000 and 3,000 rows, five 0.56, 0.66 and 0.67, and four of 100 filters a class 0.55, 0.59 and 0.62.
 */
function banksOfNumbers({ preset, rows, classes, params }: Task): { banks: number; each: number; alone: number } {
  if (preset === "fast") return { banks: 1, each: 10, alone: 10 };
  const alone = preset === "best" ? 400 : 30;
  if (rows > TRAINED_AGAIN) return preset === "best" ? { banks: 4, each: 100, alone } : { banks: 1, each: 30, alone };
  const most = preset === "best" ? 10 : 5;
  const enough = typeof params.filters === "number" ? Math.floor(params.filters / (LEAST_IN_BANK * classes)) : most;
  const each = Math.max(15, Math.min(30, Math.floor(rows / (8 * classes))));
  return { banks: Math.max(1, Math.min(most, enough)), each, alone };
}

/** Filters of each class that a bank has at least, where their number is given by hand: on the drawn rows, banks of one or two did worse. */
const LEAST_IN_BANK = 3;

function numbers(task: Task): Chosen {
  const { preset, kind } = task;
  if (kind === "sparse numbers") return fewFilters(task, preset === "best" ? 8 : 4);
  const { banks, each, alone } = banksOfNumbers(task);
  const { committee } = given(task, { committee: banks, refine: true });
  const classify = new RankSimilarityClassifier(
    given(task, {
      filters: committee === 1 ? filtersFor(task, alone) : filtersFor(task, each) * banks,
      committee: banks,
      refine: true,
      refineEpochs: preset === "fast" ? 6 : 24,
      ...calibration(task),
    }),
  );
  return {
    estimator: classify as Estimator<never, Model>,
    what: `${classify.params.filters} ${classify.params.refine ? "refined " : ""}filters${classify.params.committee > 1 ? " in a committee" : ""}`,
  };
}

/** Means of label shares and a threshold for each label; of sparse rows filters stay single rows. */
function severalLabels(task: Task, isSparse: boolean): Chosen {
  const most = { fast: 1000, balanced: 5000, best: 10_000, paper: 0 }[task.preset];
  const filters = Math.max(1, Math.min(most, Math.floor(task.rows * (isSparse ? 0.8 : 0.25))));
  const classify = new RankSimilarityProbabilisticClassifier(
    given(task, {
      filters,
      ...(isSparse ? { distribution: "savage" as const, spreading: "none" as const } : {}),
      nBest: 50,
      combine: "mean" as const,
      thresholds: "perLabel" as const,
      ...calibrationOfLabels(task),
    }),
  );
  return {
    estimator: classify as Estimator<never, Model>,
    what: `${classify.params.filters} filters with shares of labels, a threshold for each label`,
  };
}

function texts(words: Estimator<readonly string[]>, last: Estimator<never, Model>): Estimator<never, Model> {
  return named<readonly string[]>(["words", words], ["classify", last as unknown as Estimator<MatrixLike, Model>]);
}

function describe({ data, kind, takes, rows, classes }: Task): string {
  const [one, many] = hasSeveralLabels(data) ? ["label", "labels"] : ["class", "classes"];
  const labelled = data.y === undefined ? "" : `, ${counted(classes, one, many)}`;
  if (data.form === "text" || data.form === "texts") return `${counted(rows, "text")}${labelled}`;
  if (takes === "table") {
    return `a table of ${counted(rows, "row")} and ${counted(columnsIn(data), "column")}${labelled}`;
  }
  if (isImages(data)) {
    const { width, height } = data.imageSize;
    if (kind === "images") return `${counted(rows, "image")} of ${width} x ${height}${labelled}`;
  }
  const { features } = (data as AnyRows & { form: "matrix" | "source" }).x;
  return `${counted(rows, "row")} of ${counted(features, `${isSparse(data) ? "sparse " : ""}feature`)}${labelled}`;
}

const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

function columnsIn(data: AnyRows): number {
  return data.form === "table" ? data.table.columns.length : data.form === "tables" ? data.x.columns.length : 0;
}
