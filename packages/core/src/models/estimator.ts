/**
 * What all recipes and results have in common. A recipe (estimator) holds parameters and never changes; `fit` resolves to a
 * result (model) that never changes either. "Not fitted" cannot be written, and a loaded model is the same type as a
 * trained one.
 */

import type { Backend } from "../backends/contract.ts";
import type { BackendName } from "../backends/open.ts";
import type { CalibrationMethod } from "../beyond/probabilities/fitted.ts";
import type { ThresholdRule } from "../beyond/probabilities/thresholds.ts";
import type { FilterBank } from "../kernels/shapes.ts";
import type { Dense } from "../matrix/dense.ts";
import type { Label, LabelSets, Labels } from "../matrix/labels.ts";
import type { Matrix, MatrixLike } from "../matrix/matrix.ts";
import type { Saved } from "../model-file/saved.ts";
import type { Contribution } from "../paper/contributions.ts";
import type { StrongFilter } from "../paper/explain.ts";

/** Where long work stands. */
export interface Progress {
  readonly stage:
    | "distribution"
    | "initialize"
    | "spread"
    | "refine"
    | "label"
    | "predict"
    | "transform"
    | "fit"
    | "score";
  /** The class at work, where classes train separately. */
  readonly label?: Label;
  /** Iteration of spreading, from 1. */
  readonly iteration?: number;
  /** Epoch of refinement, from 1, of the bank at work. */
  readonly epoch?: number;
  /** Rows whose winner changed in this iteration. */
  readonly moved?: number;
  /** Filters that won no row in this iteration. */
  readonly empty?: number;
  /** Reads the filters as they now are, of the class at work where classes train separately. To be called before the listener returns. */
  readonly filters?: () => Promise<FilterBank>;
  /** The progress of `tune`: rounds and the candidates of this round, both from 1. */
  readonly trial?: {
    readonly round: number;
    readonly rounds: number;
    readonly candidate: number;
    readonly candidates: number;
  };
  /** Share of the whole call that is done, 0..1, never falling. */
  readonly share: number;
}

/** How a call runs; never what it returns. */
export interface Run {
  /** Where the kernels run: a back end that the caller opened and closes, or the name of one that calls share ("auto" when absent). */
  readonly backend?: Backend | BackendName;
  /** Stops the call at the next step: it rejects with the signal's reason and holds nothing. */
  readonly signal?: AbortSignal;
  /** Called with the progress of the work; if it returns a promise the work waits for it, so a caller can step or pause. */
  readonly onProgress?: (progress: Progress) => void | Promise<void>;
  /** Where training keeps what it needs to go on from if its process ends. It must be of the same data and parameters. */
  readonly checkpoint?: Checkpoint;
  /** Bytes that a fit may take for what it learns, beside the rows; what needs more is refused (code "bad-file"), as files are by a budget. */
  readonly memory?: number;
}

/** How probabilities are fitted. */
export interface CalibrateOptions extends Run {
  /** Default "temperature". */
  readonly method?: CalibrationMethod;
}

/** How thresholds of labels are chosen. */
export interface ThresholdOptions extends Run {
  /** Default "perLabel". */
  readonly rule?: ThresholdRule;
}

/** A place where training leaves what it has reached after each round, and finds it again. */
export interface Checkpoint {
  /** What was last kept under a name. */
  recall(name: string): Promise<Saved | undefined>;
  /** Whether it is time to keep something: making it ready takes time as well. */
  isDue(): Promise<boolean>;
  /**
   * Keeps it in place of what was kept under that name. Resolves once the state may change: it may be written while training goes on.
   * Rejects where it, or what was kept before it, cannot be written.
   */
  keep(name: string, state: Saved): Promise<void>;
  /** Resolves once all that was kept would outlive the process. Absent where `keep` waits for that itself. */
  settled?(): Promise<void>;
}

/** A result of `fit`. */
export interface Model {
  readonly kind: string;
  /** The model as plain data. Equal models give equal data. */
  save(): Saved;
}

/** Makes a model of one kind from plain data; refuses (code "bad-file") data that no such model can have. */
export interface ModelReader<M extends Model = Model> {
  readonly kind: string;
  read(saved: Saved, readStep: (step: Saved) => Model): M;
}

/** A model that turns data into a matrix. `X` is what it takes: numbers, or text for a vectoriser. */
export interface TransformingModel<X = MatrixLike> extends Model {
  transform(x: X, run?: Run): Promise<Matrix>;
}

/** A model that names a class (`Y` = a label) or several (`Y` = a list of labels) for each row. */
export interface PredictingModel<X = MatrixLike, Y = Label | readonly Label[]> extends Model {
  readonly classes: readonly Label[];
  predict(x: X, run?: Run): Promise<Y[]>;
  /** Share of rows whose prediction is right: accuracy, or for several labels the share of rows with exactly the right set. */
  score(x: X, y: Labels | LabelSets, run?: Run): Promise<number>;
  /** rows x classes (for several labels: the probability that each is present). Absent where the model has no probabilities. */
  predictProbabilities?(x: X, run?: Run): Promise<Dense>;
}

/** What a model gives a row: a label, or of several labels the list of them. */
export type Given = Label | readonly Label[];

/** The labels that a row may be given. */
export type LabelOf<Y extends Given> = Y extends readonly (infer L extends Label)[] ? L : Extract<Y, Label>;

/** From which probability on a class is named; of several labels, from which on a row has each. */
export interface SureOptions {
  readonly threshold: number;
}

/** A class, or a label, and how probable it is. */
export interface Ranked<L extends Label = Label> {
  readonly label: L;
  readonly probability: number;
}

/** Why a row is given its class or labels. */
export interface Explanation<Y extends Given = Label> {
  readonly label: Y;
  /** The class that was nearest to being named instead; absent of several labels, and where there is one class. */
  readonly rivalLabel?: LabelOf<Y> | undefined;
  /** What features that are not zero add to the decision, the largest part first, with their names where they have any. */
  readonly contributions: readonly Contribution[];
  /** Of a model of filters: those that respond to the row, strongest first. */
  readonly filters?: readonly (StrongFilter & { readonly label?: Label })[];
  /** Of planes: the classes, the largest distance first. */
  readonly classes?: readonly (Ranked & { readonly distance: number })[];
  /** Of a blend: which of its parts this explains, and what it counts. */
  readonly part?: { readonly name: string; readonly weight: number };
}

/** A model that names a class for each row (`Y` a label) or several (`Y` a list), says how sure it is, and why. */
export interface Classifier<Y extends Given = Label, X = MatrixLike> extends Model {
  readonly classes: readonly LabelOf<Y>[];
  /** With a `threshold` null for rows whose class is less probable; of several labels, those that are as probable. */
  predict(x: X, options: Run & SureOptions): Promise<(Y | null)[]>;
  predict(x: X, run?: Run): Promise<Y[]>;
  /** The `k` most probable classes of each row, the most probable first. */
  predictTop(x: X, k: number, run?: Run): Promise<Ranked<LabelOf<Y>>[][]>;
  /** rows x classes; of several labels, the probability that each is present. */
  predictProbabilities(x: X, run?: Run): Promise<Dense>;
  /** Share of rows whose prediction is right: accuracy, or for several labels the share of rows with exactly the right set. */
  score(x: X, y: Labels | LabelSets, run?: Run): Promise<number>;
  /** Why one row of `x` is given what it is. */
  explain(x: X, row?: number, run?: Run): Promise<Explanation<Y>>;
  /** For each row the classes that cannot be ruled out; of a model that was trained with sets. */
  predictSets?(x: X, options?: Run & { readonly coverage?: number }): Promise<LabelOf<Y>[][]>;
  /** How unlike what was trained on each row is, from 0 to 1; of a model that was trained with sets. */
  novelty?(x: X, run?: Run): Promise<Float64Array>;
}

/** A model that takes in new rows. */
export interface GrowingModel<X = MatrixLike> extends Model {
  /** A model with the rows added; this one stays as it is. Refuses (code "unsupported") where what it needs was not kept. */
  partialFit(x: X, y?: Labels | LabelSets, run?: Run): Promise<Model>;
}

/** A recipe. `M` is the kind of model it makes. */
export interface Estimator<X = MatrixLike, M extends Model = Model> {
  readonly kind: string;
  readonly params: { readonly [name: string]: unknown };
  /** A copy with some parameters changed. */
  with(changes: { readonly [name: string]: unknown }): Estimator<X, M>;
  fit(x: X, y?: Labels | LabelSets, run?: Run): Promise<M>;
}
