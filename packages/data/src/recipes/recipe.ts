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
  type PatchParams,
  PatchTransform,
  Pipeline,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
  RanksimError,
  type Steps,
} from "@ranksim/core";
import { type AnyRows, type ImageSize, rowCount } from "../data-set.ts";
import { TableEncoder, type TableLike } from "../table/encoder.ts";
import { CountVectorizer } from "../text/count.ts";
import { TfidfVectorizer } from "../text/tfidf.ts";
import { type DataKind, isImages, isSparse, kindOf, paperKind, takesOf } from "./kind.ts";

/** How much time is traded for accuracy; "paper" is the paper's plain method. */
export type Preset = "paper" | "fast" | "balanced" | "best";

export const PRESETS: readonly Preset[] = ["paper", "fast", "balanced", "best"];

/** A recipe for data, and why it was chosen. */
export interface Recipe {
  readonly preset: Preset;
  readonly kind: DataKind;
  /** Whether it takes rows of numbers, texts or a table. */
  readonly takes: "numbers" | "text" | "table";
  readonly estimator: Estimator<never, Model>;
  /** One line for people: what was chosen, for what. */
  readonly about: string;
}

/** How a recipe is chosen. */
export interface RecipeOptions {
  readonly preset?: Preset;
  readonly seed?: number;
  /** Parameters of the last step (filters, refine, calibrate, …) that take the place of the recipe's. */
  readonly params?: { readonly [name: string]: unknown };
  /** Images: parameters of the windows that take the place of the recipe's. */
  readonly patches?: Partial<
    Pick<PatchParams, "patch" | "filters" | "nBest" | "grid" | "shiftedCopies" | "bytes" | "sample">
  >;
}

/** Below this side windows are 3 pixels wide, not 5. */
const SMALL_SIDE = 16;
/** Windows across are kept near this number by a stride: photographs have more pixels than their content needs. */
const MOST_WINDOWS = 48;
/** Rows that are needed, in all and of each class on average, to hold some out for probabilities. */
const CALIBRATING_ROWS = 200;
const CALIBRATING_EACH = 20;

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
  return { preset, kind, takes, estimator, about: `${preset}, for ${describe(task)}: ${what}` };
}

interface Task {
  readonly data: AnyRows;
  readonly takes: Recipe["takes"];
  readonly preset: Preset;
  readonly kind: DataKind;
  readonly seed: number;
  readonly params: { readonly [name: string]: unknown };
  readonly patches: NonNullable<RecipeOptions["patches"]>;
  readonly rows: number;
  readonly classes: number;
}

interface Chosen {
  readonly estimator: Estimator<never, Model>;
  readonly what: string;
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

/** The recipe's parameters, then those given by hand; these leave no room for refinement where they need filters as they are trained. */
function given<P extends object>({ seed, params, classes }: Task, recipe: P): P {
  const { keepSums, distributionPerClass, filterFunction = "meanRank" } = params;
  const isPlain = keepSums === true || distributionPerClass === true || filterFunction !== "meanRank";
  const plain = isPlain && "refine" in recipe ? { refine: false } : {};
  const { committee } = recipe as { committee?: number };
  const banks = committee === undefined ? {} : { committee: isPlain ? 1 : banksFor(committee, params, classes) };
  return { seed, ...recipe, ...plain, ...banks, ...params } as P;
}

/** Banks that vote, where filters given by hand are enough for all of them and nothing given asks for a single one. */
function banksFor(committee: number, { filters, voters, initialRows }: Task["params"], classes: number): number {
  if ((typeof voters === "number" && voters > 1) || initialRows !== undefined) return 1;
  return typeof filters === "number" ? Math.max(1, Math.min(committee, Math.floor(filters / classes))) : committee;
}

function paper(task: Task): Chosen {
  const { data, kind, takes } = task;
  if (kind === "no labels")
    return { estimator: new RankSimilarityTransform(given(task, {})), what: "the paper's transform" };
  const several = Array.isArray(data.y?.[0]);
  const last = several
    ? new RankSimilarityProbabilisticClassifier(given(task, {}))
    : new RankSimilarityClassifier(given(task, {}));
  const what = several ? "the paper's probabilistic classifier" : "the paper's classifier";
  if (takes === "table") return table(task);
  if (takes !== "text") return { estimator: last as Estimator<never, Model>, what };
  return { estimator: texts(new CountVectorizer(), last), what: `counts of words, ${what}` };
}

/**
 * Filters of a table that vote. Chosen on drawn tables (the lab's TABLES.md), where of 1, 3, 5 and 9 nine did best with any number of rows.
 * Iris, wine and breast cancer were looked at afterwards, in ten folds: 0.953, 0.972 and 0.965 right, scaled nearest neighbours 0.947,
 * 0.972 and 0.967. Five, which had been settled on these three before, gave 0.953, 0.978 and 0.970.
 */
export const TABLE_VOTERS = 9;

/** Columns of several kinds and units go through an encoder, and several filters vote. */
function table(task: Task): Chosen {
  const several = Array.isArray(task.data.y?.[0]);
  // Banks of a committee add up their scores: no filters vote there.
  const votes = task.params.committee === undefined ? { voters: TABLE_VOTERS } : {};
  const last = several
    ? new RankSimilarityProbabilisticClassifier(given(task, calibration(task)))
    : new RankSimilarityClassifier(given(task, { ...votes, ...calibration(task) }));
  const steps: Steps<TableLike, Model> = [
    ["encode", new TableEncoder()],
    ["classify", last as unknown as Estimator<MatrixLike, Model>],
  ];
  return {
    estimator: new Pipeline<TableLike, Model>(steps) as unknown as Estimator<never, Model>,
    what: "columns encoded, filters that vote",
  };
}

/**
 * Sizes of the layers of windows. `best` was chosen on training images of Fashion-MNIST and KMNIST, 4,000 of each to train on and 12,000
 * others, seed 0: 1,218 and 277 wrong with finer grids (6, 5, 4) and no copies, 1,208 and 248 with finer grids and a copy, 1,217 and 253 with
 * a copy and grids (5, 4, 3), which take two thirds of the memory and the time. Pooled values of `fast` and `best` are
 * bytes: in half the memory and less time as many answers are right (the lab's BEYOND.md).
 */
const IMAGE_LAYERS: { readonly [preset in Exclude<Preset, "paper">]: Partial<PatchParams> } = {
  fast: { patch: 5, filters: 64, nBest: 5, grid: 5, bytes: true },
  balanced: { patch: 5, filters: 256, nBest: 8, grid: 5 },
  best: { patch: [3, 5, 8], filters: [128, 256, 256], nBest: 8, grid: [5, 4, 3], shiftedCopies: 1, bytes: true },
};
/**
 * The same for images of few pixels. Chosen in ten folds of 1,348 digits, three seeds: 0.9876 right with three banks of classes that vote,
 * 0.9852 with one, as one nearest neighbour. Windows of 4, grids of 2 and 4, and several sizes side by side did worse.
 */
const SMALL_LAYERS: typeof IMAGE_LAYERS = {
  fast: { patch: 3, filters: 64, nBest: 5, grid: 3, bytes: true },
  balanced: { patch: 3, filters: 128, nBest: 8, grid: 3 },
  best: { patch: [3, 4, 5], filters: [128, 128, 128], nBest: 8, grid: [3, 3, 2], bytes: true },
};

/**
 * Images up to which copies moved by a pixel are learned from as well: with more, copies matter less, and time more.
 */
const MOST_COPIED = 65_000;

/**
 * Filters of each class, of all banks together, banks that vote, and epochs. Chosen for `best` on the last 10,000 training images of
 * Fashion-MNIST, trained on the first 20,000 with seed 0: one bank of 300, 24 epochs, 0.9200; three of 100, 24 epochs, 0.9286; five of
 * 100, 12 epochs, as many seconds, 0.9298.
 */
const IMAGE_BANKS: {
  readonly [preset in Exclude<Preset, "paper">]: { each: number; committee: number; refineEpochs: number };
} = {
  fast: { each: 10, committee: 1, refineEpochs: 12 },
  balanced: { each: 10, committee: 1, refineEpochs: 12 },
  best: { each: 50, committee: 5, refineEpochs: 12 },
};
const SMALL_BANKS: typeof IMAGE_BANKS = {
  fast: { each: 10, committee: 1, refineEpochs: 12 },
  balanced: { each: 30, committee: 3, refineEpochs: 12 },
  best: { each: 30, committee: 3, refineEpochs: 24 },
};

/** So many filters for each class, but not more than half as many as there are rows: a filter of one row knows that row alone. */
function filtersFor({ classes, rows }: Task, each: number): number {
  return Math.min(each * classes, Math.max(classes, Math.floor(rows / 2)));
}

function images(task: Task): Chosen {
  const { data, seed } = task;
  const preset = task.preset as Exclude<Preset, "paper">;
  const { x, imageSize } = data as AnyRows & { form: "matrix" | "source"; imageSize: ImageSize };
  const { width, height } = imageSize;
  const channels = x.features / (width * height);
  const isSmall = Math.min(width, height) < SMALL_SIDE;
  const own = (isSmall ? SMALL_LAYERS : IMAGE_LAYERS)[preset];
  // Where rows may be added later there are no copies of the first ones.
  const hasCopies = x.rows <= MOST_COPIED && task.params.keepSums !== true;
  const layers = { ...own, ...(hasCopies ? {} : { shiftedCopies: undefined }), ...task.patches };
  const stride = Math.max(1, Math.ceil(Math.max(width, height) / MOST_WINDOWS));
  const patches = patchesWith({ width, height, channels, ...layers, stride, seed });
  const { each, committee, refineEpochs } = (isSmall ? SMALL_BANKS : IMAGE_BANKS)[preset];
  const filters = filtersFor(task, each);
  const classify = new RankSimilarityClassifier(
    given(task, {
      filters,
      committee: Math.min(committee, Math.floor(filters / task.classes)),
      refine: true,
      refineEpochs,
      refineWindow: 0.04,
      ...calibration(task),
    }),
  );
  const counts = [layers.filters ?? 0].flat();
  const sizes = Math.max(...Object.values(layers).map((value) => [value].flat().length));
  const count = counts.length === 1 ? counts[0] * sizes : counts.reduce((a, b) => a + b, 0);
  return {
    estimator: named<MatrixLike>(["patches", patches], ["classify", classify]),
    what: `${count} patch filters, ${classify.params.filters} refined filters of classes${classify.params.committee > 1 ? ` in ${classify.params.committee} banks` : ""}${patches.params.shiftedCopies ? ", images also moved by a pixel" : ""}`,
  };
}

/** The transform; a refusal names the parameter as one of the patches. */
function patchesWith(params: Partial<PatchParams>): PatchTransform {
  try {
    return new PatchTransform(params);
  } catch (error) {
    if (!(error instanceof RanksimError)) throw error;
    throw new RanksimError(error.code, error.message.replace(/^parameter /, "patches."));
  }
}

/**
 * Texts come in the order of time, and what a model will be asked about comes later: probabilities are fitted on the last texts of each
 * class. Chosen on the training texts of 20 Newsgroups, trained on earlier ones and judged by later ones, six ways to part them and three
 * seeds: mean calibration error 0.020, where perfect probabilities would show 0.018 by chance; with a function of each class 0.027.
 */
const NEWEST: Partial<ClassifierParams> = { calibrateOn: "last" };

function text(task: Task): Chosen {
  const several = Array.isArray(task.data.y?.[0]);
  const words = new TfidfVectorizer({
    maxFeatures: task.preset === "best" ? 30_000 : 10_000,
    logTf: true,
    idfPower: 2,
  });
  if (task.data.y === undefined) {
    const transform = new RankSimilarityTransform(given(task, { distribution: "savage" as const }));
    return { estimator: texts(words, transform), what: "tf-idf, filters of Savage scores without labels" };
  }
  const last = several ? severalLabels(task, true) : fewFilters(task, task.preset === "best" ? 8 : 4, NEWEST);
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

function numbers(task: Task): Chosen {
  const { preset, kind } = task;
  if (kind === "sparse numbers") return fewFilters(task, preset === "best" ? 8 : 4);
  const each = { fast: 10, balanced: 30, best: 100, paper: 0 }[preset];
  const classify = new RankSimilarityClassifier(
    given(task, {
      filters: filtersFor(task, each) * (preset === "best" ? 4 : 1),
      committee: preset === "best" ? 4 : 1,
      refine: true,
      refineEpochs: preset === "fast" ? 6 : 24,
      ...calibration(task),
    }),
  );
  return {
    estimator: classify as Estimator<never, Model>,
    what: `${classify.params.filters} refined filters${preset === "best" ? " in a committee" : ""}`,
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
      ...calibration(task),
    }),
  );
  return {
    estimator: classify as Estimator<never, Model>,
    what: `${classify.params.filters} filters with shares of labels, a threshold for each label`,
  };
}

function calibration({ rows, classes, kind, data }: Task): { calibrate?: "temperature" } {
  const several = kind === "several labels" || Array.isArray(data.y?.[0]);
  const enough = rows >= CALIBRATING_ROWS && (several || rows >= CALIBRATING_EACH * classes);
  return enough ? { calibrate: "temperature" } : {};
}

function texts(words: Estimator<readonly string[]>, last: Estimator<never, Model>): Estimator<never, Model> {
  return named<readonly string[]>(["words", words], ["classify", last as unknown as Estimator<MatrixLike, Model>]);
}

function named<X>(
  first: readonly [string, Estimator<X>],
  last: readonly [string, Estimator<MatrixLike, Model>],
): Estimator<never, Model> {
  return new Pipeline<X, Model>([first, last]) as unknown as Estimator<never, Model>;
}

function describe({ data, kind, takes, rows, classes }: Task): string {
  const [one, many] = kind === "several labels" ? ["label", "labels"] : ["class", "classes"];
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
