/**
 * One training run in the worker: the recipe becomes an estimator, the gate sets the pace, and after each iteration the page
 * is sent the progress of the run. Neither the pace nor the updates change the model.
 */

import {
  type Backend,
  type FilterBank,
  type Label,
  type Matrix,
  type Progress,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
} from "@ranksim/core";
import type { RowLabels } from "@ranksim/data";
import { FilterWords } from "@ranksim/learn";
import type { Arrival, FilterView, ModelKind, Recipe, RunPoint, TrainingStep } from "../protocol.ts";
import { Arrivals } from "./arrivals.ts";
import type { Gate } from "./gate.ts";
import { ClassLiveScore, LIVE_ROWS, WholeLiveScore } from "./live-score.ts";
import { viewFilter } from "./pictures.ts";
import type { FilterModel } from "./subject.ts";

/** Filters shown while a model trains. */
export const SHOWN_FILTERS = 24;

/** At full speed the page is sent updates at most this often. */
export const TELL_MILLISECONDS = 40;

/** At full pace scoring may take half a second, and beyond that a fifth of the time. */
const SCORING = { milliseconds: 500, share: 0.2 };

/** Rows with their labels, ready for the estimator. */
export interface Part {
  readonly x: Matrix;
  readonly y?: RowLabels;
  readonly featureNames?: readonly string[];
}

interface TrainingInput {
  readonly recipe: Recipe;
  readonly train: Part;
  /** Held-out rows; none: no accuracy is reported. */
  readonly test: Part | undefined;
  readonly classes: readonly Label[];
}

/** The estimator of a recipe of the paper's. */
export function estimatorOf({ estimator, params }: Recipe) {
  const makers = {
    classifier: () => new RankSimilarityClassifier(params),
    probabilistic: () => new RankSimilarityProbabilisticClassifier(params),
    transform: () => new RankSimilarityTransform(params),
  } satisfies { [name in ModelKind]: () => unknown };
  return makers[estimator as ModelKind]();
}

/** Which filters changed since they were last shown. */
export function changedOf(before: readonly FilterView[], now: readonly FilterView[]): boolean[] {
  const marks = ({ picture, drawn, top }: FilterView) => picture ?? drawn?.pixels ?? top.map(({ feature }) => feature);
  return now.map((view, j) => {
    const earlier = before[j] && marks(before[j]);
    return earlier !== undefined && marks(view).some((value, i) => value !== earlier[i]);
  });
}

/** What a run is made with: where it works, what sets its pace, what stops it, and where updates go. */
export interface TrainingRun {
  readonly backend: Backend;
  readonly gate: Gate;
  readonly signal: AbortSignal;
  readonly tell: (step: TrainingStep) => void;
}

/** Trains at the gate's pace. Rejects with the signal's reason when stopped. */
export async function train(
  input: TrainingInput,
  { backend, gate, signal, tell }: TrainingRun,
): Promise<{ model: FilterModel; history: readonly RunPoint[] }> {
  const watcher = new Watcher(input, backend, gate, tell);
  try {
    const onProgress = (progress: Progress) => watcher.advance(progress);
    const { x, y } = input.train;
    const model = await estimatorOf(input.recipe).fit(x, y as Label[] | undefined, { backend, signal, onProgress });
    return { model: model as FilterModel, history: watcher.history };
  } finally {
    watcher.release();
  }
}

/** What is sent to the page where there are no filters to show: the progress. */
export function preparingStep(share: number, rows: number): TrainingStep {
  const none = { classesDone: 0, iteration: 0, moved: 0, empty: 0, filters: 0, waiting: false };
  return { stage: "prepare", share, rows, ...none, points: [], shown: [], changed: [], arrivals: [] };
}

/** Turns the library's progress into what the page shows. */
class Watcher {
  readonly #input: TrainingInput;
  readonly #backend: Backend;
  readonly #gate: Gate;
  readonly #tell: (step: TrainingStep) => void;
  readonly #finished = new Set<Label>();
  readonly #rowsOfClass = new Map<Label, number>();
  readonly #began = performance.now();
  readonly history: RunPoint[] = [];
  #pointsTold = 0;
  #told = 0;
  #scoring = 0;
  #accuracy: number | undefined;
  #class: { label: Label | undefined; bank: FilterBank; scored: boolean } | undefined;
  #shown: readonly FilterView[] = [];
  #classScore: ClassLiveScore | undefined;
  #wholeScore: WholeLiveScore | undefined;
  readonly #arrivals: Arrivals;

  constructor(input: TrainingInput, backend: Backend, gate: Gate, tell: (step: TrainingStep) => void) {
    this.#input = input;
    this.#backend = backend;
    this.#gate = gate;
    this.#tell = tell;
    this.#arrivals = new Arrivals(backend, input.train);
    if (input.recipe.estimator === "classifier") {
      for (const label of (input.train.y ?? []) as Label[]) {
        this.#rowsOfClass.set(label, (this.#rowsOfClass.get(label) ?? 0) + 1);
      }
    }
  }

  async advance(progress: Progress): Promise<void> {
    const { label } = progress;
    if (!progress.filters) return this.#pass(progress);
    const bank = await progress.filters();
    let looked = false;
    if (this.#class && this.#class.label !== label) {
      if (!this.#class.scored) {
        await this.#score(this.#class.label, this.#class.bank);
        looked = true;
      }
      this.#finished.add(this.#class.label as Label);
      this.#shown = [];
    }
    this.#class = { label, bank, scored: false };
    const now = performance.now();
    const full = this.#gate.pace === "full";
    const affordable = !full || this.#scoring < Math.max(SCORING.milliseconds, SCORING.share * (now - this.#began));
    if (affordable) {
      await this.#score(label, bank);
      this.#class.scored = true;
      looked = true;
    }
    const { share, iteration = 0, moved = 0 } = progress;
    this.history.push({
      share,
      ...(looked && this.#accuracy !== undefined ? { accuracy: this.#accuracy } : {}),
      ...(iteration > 1 ? { moved: moved / this.#rowsOf(label) } : {}),
    });
    if (!full || now - this.#told > TELL_MILLISECONDS) {
      this.#told = now;
      const arrivals = full ? [] : await this.#arrivals.at(label, bank, Math.min(bank.filters, SHOWN_FILTERS));
      this.#tell(this.#stepOf(progress, bank, arrivals));
      this.#pointsTold = this.history.length;
    }
    await this.#gate.pass();
  }

  /** What has no filters to show is no step that could be looked at: the page is sent the progress. */
  #pass({ stage, share, label }: Progress): Promise<void> {
    const now = performance.now();
    if (now - this.#told > TELL_MILLISECONDS) {
      this.#told = now;
      const name = label === undefined ? {} : { label: String(label) };
      this.#tell({ ...preparingStep(share, this.#rowsOf(label)), stage, ...name });
    }
    return this.#gate.listen();
  }

  release(): void {
    this.#classScore?.release();
    this.#wholeScore?.release();
    this.#arrivals.release();
  }

  #rowsOf(label: Label | undefined): number {
    return label === undefined ? this.#input.train.x.rows : (this.#rowsOfClass.get(label) ?? 1);
  }

  #stepOf(progress: Progress, bank: FilterBank, arrivals: readonly Arrival[]): TrainingStep {
    const { label, iteration = 0, moved = 0, empty = 0, stage, share } = progress;
    const name = label === undefined ? undefined : String(label);
    const shares = name === undefined ? [] : [{ label: name, share: 1 }];
    const count = Math.min(bank.filters, SHOWN_FILTERS);
    const names = this.#input.train.featureNames;
    const words = names && new FilterWords(bank, (feature) => names[feature]);
    const shown = Array.from({ length: count }, (_, filter) =>
      viewFilter(bank, filter, { filter, shares, rows: 0 }, words),
    );
    const changed = changedOf(this.#shown, shown);
    // Copies, because what is sent is transferred to the page.
    this.#shown = structuredClone(shown);
    return {
      stage,
      share,
      ...(name === undefined ? {} : { label: name }),
      classesDone: this.#finished.size,
      iteration,
      moved,
      empty,
      rows: this.#rowsOf(label),
      filters: bank.filters,
      ...(this.#accuracy === undefined ? {} : { accuracy: this.#accuracy }),
      points: this.history.slice(this.#pointsTold),
      shown,
      changed,
      arrivals,
      waiting: this.#gate.pace === "step",
    };
  }

  async #score(label: Label | undefined, bank: FilterBank): Promise<void> {
    const { test, train, classes, recipe } = this.#input;
    if (!test?.y || recipe.estimator === "transform" || Array.isArray(test.y[0])) return;
    const began = performance.now();
    if (recipe.estimator === "classifier") {
      this.#classScore ??= await ClassLiveScore.open(this.#backend, ...live(test, classes), classes.length);
      await this.#classScore.update(classes.indexOf(label as Label), bank);
      this.#accuracy = this.#classScore.accuracy();
    } else {
      const [trainX, trainCodes] = live(train, classes);
      const [testX, testCodes] = live(test, classes);
      this.#wholeScore ??= await WholeLiveScore.open(
        this.#backend,
        { x: trainX, codes: trainCodes },
        { x: testX, codes: testCodes },
        classes.length,
      );
      this.#accuracy = await this.#wholeScore.accuracy(bank);
    }
    this.#scoring += performance.now() - began;
  }
}

/** Rows spread evenly over a part, as many as the indicator looks at, with their class numbers. */
function live({ x, y }: Part, classes: readonly Label[]): [Matrix, Uint32Array] {
  const count = Math.min(x.rows, LIVE_ROWS);
  const rows = Uint32Array.from({ length: count }, (_, j) => Math.floor((j * x.rows) / count));
  const code = new Map(classes.map((label, c) => [label, c]));
  return [x.gather(rows), rows.map((row) => code.get((y as Label[])[row]) as number)];
}
