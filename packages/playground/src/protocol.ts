/**
 * What the page and its worker say to each other. The page asks and waits for one answer; while a model trains the worker
 * also tells, unasked, where it stands. Everything here is plain data that crosses between threads; large arrays are
 * handed over, not copied.
 */

import type { Json, TriedRecipe } from "@ranksim/core";
import type { Explanation, FeatureStudy, FilterView, Mistake, PatchView, SpikeSavings, SpikeView } from "./findings.ts";

export type * from "./findings.ts";

/** The paper's three kinds of filter models, by the names the command line uses. */
export type ModelKind = "classifier" | "probabilistic" | "transform";

/** What a recipe trains: what the data asks for, as the command chooses it, or one of the paper's estimators. */
export type EstimatorName = ModelKind | "chosen";

/** Everything a training run depends on besides the data. */
export interface Recipe {
  readonly estimator: EstimatorName;
  /** Share of the rows kept out of training to judge the model by; 0 trains on all rows. */
  readonly heldOut: number;
  /** Parameters that differ from their defaults. */
  readonly params: { readonly [name: string]: Json };
}

/** A file and its path inside the folder that was chosen, or just its name. */
export interface NamedFile {
  readonly path: string;
  readonly file: File;
}

/** What the user may say about a table whose columns do not explain themselves. */
export interface ReadChoices {
  /** Column of the labels, by name or by number from 0; absent: found by its name; null: none. */
  readonly labelColumn?: string | null;
  /** Column of texts, by name or number. */
  readonly textColumn?: string;
  /** Columns that are left out. */
  readonly ignoreColumns?: readonly string[];
  /** Columns that say something of each row and are no features: what is split together, when it was, how much it counts. */
  readonly groupColumn?: string;
  readonly timeColumn?: string;
  readonly weightColumn?: string;
  /** Whether a row may have several labels, with commas between. */
  readonly multilabel?: boolean;
  /** How bytes become characters in a folder of texts; absent: UTF-8. */
  readonly encoding?: "latin1";
}

/** What a column of a table is taken for. */
export type ColumnRole = "feature" | "label" | "text" | "ignore" | "group" | "time" | "weight";

/** The first rows of a table, column by column. */
export interface Preview {
  readonly columns: readonly {
    /** Name of the column, or its number where it has none. */
    readonly key: string;
    readonly role: ColumnRole;
    readonly cells: readonly string[];
  }[];
  /** Columns that are not shown. */
  readonly hidden: number;
}

export interface ImageSize {
  readonly width: number;
  readonly height: number;
}

/** A data set as the page sees it. The rows themselves stay with the worker. */
export interface DataSummary {
  readonly name: string;
  readonly form: "dense" | "sparse" | "text" | "table";
  readonly rows: number;
  /** Columns of a table; 0 for text, whose features arise in training. */
  readonly features: number;
  /** Class names in order; empty without labels. */
  readonly classes: readonly string[];
  readonly multilabel: boolean;
  readonly imageSize?: ImageSize;
  /** Names of the columns; absent for tables too wide to list them. */
  readonly featureNames?: readonly string[];
  /** How the files were read, where their names do not say it: for the lines that read them elsewhere. */
  readonly reading?: { readonly labels?: string; readonly format?: string };
  /** The columns of a table: the range of their numbers, or their most frequent words. */
  readonly columns?: readonly ColumnSummary[];
  /** What a person should know of the reading. */
  readonly notes?: readonly string[];
  /** Smallest and largest value, for drawing and for sliders. */
  readonly low: number;
  readonly high: number;
  /** Whether all values are whole numbers. */
  readonly whole: boolean;
  /** The first rows as they stand in the file, for a table. */
  readonly preview?: Preview;
  /** Rows that came as test data of their own: they are held out, whatever share was asked for. */
  readonly testRows?: number;
  /** The side of the blocks of pixels in which each number counts the ink, as in the digits. */
  readonly inkBlocks?: number;
  /** Whether large values are light and not ink. */
  readonly isPhoto?: boolean;
}

/** A column of a table as it is shown: numbers of a range, or words. */
export interface ColumnSummary {
  readonly name: string;
  readonly low?: number;
  readonly high?: number;
  readonly words?: readonly string[];
}

/** A model as the page sees it. */
export interface ModelSummary {
  /** The kind of the part that decides: filters, or "linear". */
  readonly kind: ModelKind | "linear";
  /** What was chosen for the data, in words, and what was tried. */
  readonly about?: string;
  readonly tried?: readonly TriedRecipe[];
  /** Of several models that answer together, the one that is explained. */
  readonly explained?: string;
  /** The size of the pictures that it takes, where it chose one. */
  readonly imageSize?: ImageSize;
  /** Where it comes from: a training run in this page, or a file. */
  readonly origin: "trained" | "file";
  readonly name: string;
  readonly classes: readonly string[];
  readonly multilabel: boolean;
  /** Features of the filters. */
  readonly features: number;
  /** Numbers a row that the model takes: other than its features where earlier steps make those. 0 for text. */
  readonly inputs: number;
  readonly filters: number;
  /** Filters whose rows are mostly of each class; empty for a transform. */
  readonly filtersPerClass: readonly number[];
  readonly params: { readonly [name: string]: Json };
  readonly converged: boolean;
  readonly notes: readonly string[];
  readonly byteLength: number;
  readonly digest: string;
  /** Whether the model takes text. */
  readonly text: boolean;
  /** Set where the filters look at patches that were found in the image: how many patch filters there are, and their sizes. */
  readonly patches?: { readonly filters: number; readonly sizes: readonly ImageSize[] };
  readonly trainingRows: number;
  readonly seconds?: number;
  readonly backend?: string;
  /** Share of products that the exact search did not need. */
  readonly pruned?: number;
  readonly steps: readonly StepSummary[];
  /** How the run went on; empty for a model from a file. */
  readonly history: readonly RunPoint[];
}

/** A point of a run. */
export interface RunPoint {
  /** Share of the run that was done, 0..1. */
  readonly share: number;
  /** Accuracy on held-out rows with the filters so far, where it was looked at. */
  readonly accuracy?: number;
  /** Share of the rows at work that changed their filter; absent before the second iteration, which all rows enter again. */
  readonly moved?: number;
}

/** One iteration of spreading. */
export interface StepSummary {
  readonly label?: string;
  readonly iteration: number;
  readonly moved: number;
  readonly empty: number;
  readonly rows: number;
}

/**
 * What rows a model was judged on: those held out of its training, rows it did not see, rows it was trained on, or rows of
 * which that is not known (a model from a file that says nothing of its training rows).
 */
export type Basis = "held-out" | "new" | "training" | "unknown";

/** How the model does on rows with known labels. */
export interface Evaluation {
  readonly rows: number;
  readonly basis: Basis;
  readonly accuracy: number;
  readonly macroF1: number;
  readonly classes: readonly ClassScore[];
  /** classes x classes, true class first; absent for several labels per row. */
  readonly confusion?: Uint32Array;
  readonly logLoss?: number;
}

interface ClassScore {
  readonly label: string;
  readonly precision: number;
  readonly recall: number;
  readonly f1: number;
  readonly support: number;
}

/** A cell of a table; null where nothing is known. */
export type Cell = number | string | null;

/** A row to be explained: numbers, the numbers that are not zero, the cells of a table, or text. */
export type Sample =
  | { readonly form: "dense"; readonly values: Float64Array }
  | { readonly form: "sparse"; readonly indices: Uint32Array; readonly values: Float64Array }
  | { readonly form: "table"; readonly cells: readonly Cell[] }
  | { readonly form: "text"; readonly text: string };

/** A row of the data set. */
export interface RowView {
  readonly row: number;
  readonly name?: string;
  readonly label?: string;
  readonly sample: Sample;
}

/** How a run moves on: at once, slowly enough to watch, or only when told to. */
export type Pace = "full" | "watch" | "step";

/** A row on its way to the filter that it goes to in an iteration. */
export interface Arrival {
  readonly picture: Uint8Array;
  /** Place of the filter among those shown. */
  readonly to: number;
}

/** Sent by the worker while a model trains. */
export interface TrainingStep {
  readonly stage: string;
  readonly share: number;
  /** Class at work, its number and their count, where classes train separately. */
  readonly label?: string;
  readonly classesDone: number;
  readonly iteration: number;
  /** 0 before the first iteration has ended. */
  readonly moved: number;
  readonly empty: number;
  /** Rows that take part in this iteration. */
  readonly rows: number;
  readonly filters: number;
  /** Accuracy on held-out rows of the classes that have filters so far; absent where nothing is held out. */
  readonly accuracy?: number;
  /** Some rows and where they go; none at full pace. */
  readonly arrivals: readonly Arrival[];
  /** What happened since the page was last told. */
  readonly points: readonly RunPoint[];
  /** Some of the filters at work, and which of them changed in this iteration. */
  readonly shown: readonly FilterView[];
  readonly changed: readonly boolean[];
  /** Whether the run now waits for a step. */
  readonly waiting: boolean;
}

/** Pictures that were taught by hand, class by class. */
export interface Lesson {
  readonly classes: readonly { readonly name: string; readonly examples: readonly Uint8Array[] }[];
  readonly imageSize: ImageSize;
  /** Of drawings: as in `DataSummary`. */
  readonly inkBlocks?: number;
}

/** Filters for a page that stands on its own: divided by their norms, one after the other, with the class of each. */
export interface PlainFilters {
  readonly weights: Float32Array;
  readonly classes: readonly string[];
}

/** The calls of the worker: what each takes and what it answers. */
export interface Calls {
  /** `fits`: whether the current model takes the rows of the current data. Where not, only what was opened last is kept. */
  openDigits: { in: object; out: { data: DataSummary; fits: boolean } };
  openFiles: {
    in: { files: readonly NamedFile[]; choices: ReadChoices };
    out: {
      data?: DataSummary;
      model?: ModelSummary;
      fits: boolean;
      /** How the files were read: what was said, else what was guessed. */
      choices: ReadChoices;
      /** Why a table could not be read with these choices; its first rows are sent, so that other choices can be made. */
      refused?: { readonly message: string; readonly preview: Preview };
    };
  };
  /** Which rows a recipe holds out. */
  heldOutRows: { in: { recipe: Recipe }; out: Uint32Array };
  train: { in: { recipe: Recipe; pace: Pace }; out: ModelSummary };
  /** Changes the pace of the run, or lets a waiting run take one step. */
  go: { in: { pace: Pace }; out: null };
  stop: { in: object; out: null };
  rows: { in: { rows: readonly number[] }; out: RowView[] };
  explain: { in: { sample: Sample }; out: Explanation };
  evaluate: { in: object; out: Evaluation | null };
  mistakes: {
    in: { truth: number; answer: number; from: number; count: number };
    out: { total: number; shown: Mistake[] };
  };
  /** The filters to show all at once, class by class: all of a small bank, those of most rows of a large one. */
  wall: { in: { most: number }; out: FilterView[] };
  gallery: { in: { group: number; from: number; count: number }; out: FilterView[] };
  filter: { in: { filter: number; rows: number }; out: { view: FilterView; rows: RowView[] } };
  study: { in: { group: number; features: number }; out: FeatureStudy };
  /** The patches behind the answer for a sample; null for a model without patches, and where nothing was found. */
  patches: { in: { sample: Sample }; out: PatchView | null };
  spikes: { in: { sample: Sample }; out: SpikeView };
  /** How soon the class is certain on the current rows. */
  spikeSavings: { in: object; out: SpikeSavings };
  /** The report that the command makes too, as a page. `imageSize`: how rows are drawn. */
  report: {
    in: {
      imageSize?: ImageSize | undefined;
      provenance: { date: string; version: string; command: string };
    };
    out: string;
  };
  /** Trains on what was taught, once two classes have an example. */
  teach: {
    in: { lesson: Lesson; recipe: Recipe };
    out: { data: DataSummary; model?: ModelSummary; milliseconds: number };
  };
  /** The paper's filters of the current rows. */
  plainFilters: { in: object; out: PlainFilters };
  onnx: { in: object; out: Uint8Array<ArrayBuffer> };
  save: { in: object; out: Uint8Array<ArrayBuffer> };
  /** Trains the recipe once more on all rows and saves that model. */
  saveOnAll: { in: { recipe: Recipe }; out: Uint8Array<ArrayBuffer> };
}

export type CallName = keyof Calls;

/** An error as it crosses threads. */
export interface Failure {
  /** A code of the library's errors, "stopped" for a run that was stopped, or "internal". */
  readonly code: string;
  readonly message: string;
}

export interface Request {
  readonly id: number;
  readonly call: CallName;
  readonly argument: unknown;
}

export type Reply =
  | { readonly id: number; readonly answer: unknown }
  | { readonly id: number; readonly failure: Failure }
  | { readonly step: TrainingStep };
