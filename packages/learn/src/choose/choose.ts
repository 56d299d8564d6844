/**
 * Which recipe suits data, by rows held out: candidates are judged by the log loss of their probabilities on inner folds of the training rows,
 * all on a few rows, the better ones on more. Costs are counted and not timed, so that the choice is the same on every machine.
 */

import {
  Blend,
  type Estimator,
  type Label,
  type LabelSets,
  type Labels,
  type MatrixLike,
  type Model,
  type PredictingModel,
  RanksimError,
  type Run,
  type TriedRecipe,
} from "@ranksim/core";
import { advance } from "@ranksim/core/internal";
import { pickRows, type RowLabels, rowCount } from "@ranksim/data";
import type { SplitColumn } from "../judge/hold-out.ts";
import { inputFor } from "../model/passage.ts";
import type { Purpose } from "../plan/candidates/candidate.ts";
import type { Recipe, Trial } from "../plan/recipe.ts";
import type { Preset } from "../plan/task.ts";
import { gatherRows, sampleOrder } from "../select/split.ts";
import { divide } from "../select/validation.ts";
import { blendOf } from "./blend.ts";
import { inMemory, type OutOfFold, outOfFold, type Sample, type Score, scoreOf } from "./out-of-fold.ts";

/** The recipe that was chosen, and what was tried; nothing where one was trained without a choice. */
export interface Choice {
  readonly trial: Trial;
  readonly recipe: Recipe & { readonly tried?: readonly TriedRecipe[] };
}

/** What candidates are judged with. */
export interface ChooseOptions {
  readonly preset?: Preset;
  readonly seed?: number;
  readonly split?: SplitColumn;
  readonly weights?: Float64Array;
  /** What the model has to be good for: a blend is good for none. */
  readonly purpose?: Purpose;
  /** What decides the class. */
  readonly decide?: "probable" | "balanced" | undefined;
}

/** How much is tried: rows of a round at most, and multiply-adds of all rounds, about two seconds and half a minute. */
interface Effort {
  readonly rows: number;
  readonly multiplyAdds: number;
}
const EFFORTS: { readonly [preset in Preset]?: Effort } = {
  balanced: { rows: 4000, multiplyAdds: 6e8 },
  best: { rows: 6000, multiplyAdds: 6e9 },
};
/** With fewer rows nothing can be told apart. */
const LEAST_ROWS = 30;
/** Rows of the first round at least, where there are so many. */
const FIRST_ROWS = 600;
const FOLDS = { few: 5, many: 3, manyRows: 500 };
/** What a fold after the first one takes of the time of the first, about. */
const FOLD_SHARE = 0.5;
/** Candidates that go on to a round of more rows. */
const SURVIVORS = 3;
/** Rows of the next round, of those of the first, at least. */
const GROWTH = 1.5;
/** So many times the multiply-adds of an answer are too dear for so little. */
const DEAR = { times: 10, gain: 0.005 };
/** Rows of a class from which on a candidate has to name it, if another does in one of ten. */
const FLOOR = { rows: 10, recall: 0.1 };

interface Judged {
  readonly trial: Trial;
  readonly position: number;
  readonly rows: number;
  readonly found: OutOfFold;
  readonly score: Score;
}

/** Chooses among the recipes, the first of which is trained where nothing is to be tried. */
export async function choose(trials: readonly Trial[], options: ChooseOptions, run: Run): Promise<Choice> {
  const { preset = "balanced", purpose, decide } = options;
  if (purpose !== undefined && decide === "balanced") {
    throw new RanksimError(
      "unsupported",
      `decide: no model that decides as if all classes were as frequent is good for ${purpose}`,
    );
  }
  const effort = EFFORTS[preset];
  const [first] = trials;
  const y = first.data.y ?? [];
  const classes = classesOf(y);
  const wanted = preset === "balanced" ? trials.filter(({ isUsual }) => isUsual) : trials;
  if (!effort || wanted.length < 2 || y.length < LEAST_ROWS || classes.length < 2) return alone(first, options);
  const work = new Work(wanted, classes, options, run);
  const judged = await work.judge(effort);
  // What is wrong with the rows is said of all of them.
  if (judged.length === 0) return alone(first, options);
  const best = plainest(judged, preset);
  const blend =
    preset === "best" && purpose === undefined
      ? blendOf(
          judged.filter(({ trial }) => trial.takes === best.trial.takes),
          work.sample as Sample,
        )
      : undefined;
  const parts = blend ?? [{ judged: best, weight: 1 }];
  const weights = new Map(parts.map(({ judged: { trial }, weight }) => [trial.name, weight]));
  const tried = work.tried(weights);
  const recipe = { ...best.trial, ...chosen(best.trial, parts, options), tried };
  // What does not stream was only tried where rows fit in memory.
  const streams = parts.every(({ judged: { trial } }) => trial.streams);
  const trial = streams ? best.trial : { ...best.trial, data: await inMemory(best.trial.data) };
  return { trial, recipe };
}

function alone(trial: Trial, options: ChooseOptions): Choice {
  return { trial, recipe: { ...trial, ...chosen(trial, undefined, options) } };
}

type Part = { readonly judged: Pick<Judged, "trial">; readonly weight: number };
type Classifying = Estimator<MatrixLike, PredictingModel<MatrixLike, Label>>;

/** The estimator of the parts, and what to say of it. */
function chosen(
  { estimator, about, name }: Trial,
  parts: readonly Part[] = [],
  { decide = "probable" }: ChooseOptions,
): { estimator: Estimator<never, Model>; about: string } {
  if (parts.length < 2 && decide === "probable") return { estimator, about };
  const all = parts.length < 2 ? [{ judged: { trial: { estimator, name } }, weight: 1 }] : parts;
  const steps = all.map(({ judged: { trial } }) => [trial.name, trial.estimator as unknown as Classifying] as const);
  const blend = new Blend(steps, { weights: all.map(({ weight }) => weight), decide });
  const told =
    parts.length < 2
      ? ""
      : `, blended with ${parts
          .slice(1)
          .map(({ judged }) => judged.trial.name)
          .join("; ")}`;
  const decided = decide === "balanced" ? ", deciding as if all classes were as frequent" : "";
  return { estimator: blend as unknown as Estimator<never, Model>, about: `${about}${told}${decided}` };
}

function classesOf(y: RowLabels): readonly Label[] {
  const names = new Set<Label>();
  for (const label of y) for (const one of [label].flat()) names.add(one as Label);
  return [...names].sort(byText);
}

const byText = (a: Label, b: Label): number => (String(a) < String(b) ? -1 : 1);

/** The work of one choice. */
class Work {
  readonly #trials: readonly Trial[];
  readonly #classes: readonly Label[];
  readonly #options: ChooseOptions;
  readonly #run: Run;
  readonly #reasons = new Map<string, string>();
  readonly #last = new Map<string, Judged>();
  /** The rows of the last round. */
  sample: Sample | undefined;

  constructor(trials: readonly Trial[], classes: readonly Label[], options: ChooseOptions, run: Run) {
    this.#trials = trials;
    this.#classes = classes;
    this.#options = options;
    const { backend, signal } = run;
    this.#run = { ...(backend ? { backend } : {}), ...(signal ? { signal } : {}) };
    this.#tell = (share) => advance(run, { stage: "score", share });
  }

  readonly #tell: (share: number) => Promise<void>;

  /** Judges all on some rows, and the better ones on more. Those of the last round are returned, best first. */
  async judge({ rows: mostRows, multiplyAdds: usual }: Effort): Promise<readonly Judged[]> {
    const all = rowCount(this.#trials[0].data);
    // Choosing may take as long as the fit that follows.
    const fits = this.#trials.map(({ cost }) => cost(all)).sort((a, b) => a - b);
    const multiplyAdds = Math.max(usual, fits[(fits.length - 1) >> 1]);
    const order = sampleOrder(this.#trials[0].data.y as never, this.#options.seed);
    const most = Math.min(all, mostRows);
    const { trials, rows } = this.#affordable(this.#trials, most, multiplyAdds / 3);
    const first = await this.#round(trials, order.slice(0, rows).sort(), 0, 0.5);
    const alive = first.slice(0, SURVIVORS).map(({ trial }) => trial);
    if (alive.length < 2) return first;
    const left = Math.max((multiplyAdds * 2) / 3, Math.min(...alive.map(({ cost }) => cost(all))));
    const next = this.#rowsWithin(alive, most, left);
    if (next < rows * GROWTH) return first;
    return this.#round(alive, order.slice(0, next).sort(), 0.5, 1);
  }

  /** The candidates that can be judged within so many multiply-adds, and on how many rows: the dearest ones are left out first. */
  #affordable(
    trials: readonly Trial[],
    most: number,
    multiplyAdds: number,
  ): { trials: readonly Trial[]; rows: number } {
    let left = trials;
    while (left.length > 1 && this.#cost(left, Math.min(most, FIRST_ROWS)) > multiplyAdds) {
      const dearest = left.reduce((a, b) => (b.cost(FIRST_ROWS) > a.cost(FIRST_ROWS) ? b : a));
      this.#reasons.set(dearest.name, "too dear to be tried");
      left = left.filter((trial) => trial !== dearest);
    }
    return { trials: left, rows: this.#rowsWithin(left, most, multiplyAdds) };
  }

  #rowsWithin(trials: readonly Trial[], most: number, multiplyAdds: number): number {
    let rows = most;
    while (rows > FIRST_ROWS && this.#cost(trials, rows) > multiplyAdds)
      rows = Math.max(FIRST_ROWS, Math.floor(rows * 0.8));
    return rows;
  }

  #cost(trials: readonly Trial[], rows: number): number {
    const folds = foldsFor(rows);
    // What errors cost is looked for on the first fold alone.
    return trials.reduce(
      (sum, { cost }) => sum + (1 + FOLD_SHARE * (folds - 1)) * cost((rows * (folds - 1)) / folds),
      0,
    );
  }

  async #round(trials: readonly Trial[], rows: Uint32Array, from: number, to: number): Promise<readonly Judged[]> {
    const { seed = 0, split = {}, weights } = this.#options;
    const y = gatherRows(trials[0].data.y as Label[], rows) as RowLabels;
    const picked = <T>(list: ArrayLike<T>): T[] => Array.from(rows, (r) => list[r]);
    const folds = divide(rows.length, y as Labels | LabelSets, {
      folds: foldsFor(rows.length),
      seed,
      ...(split.groups ? { groups: picked(split.groups) } : {}),
      ...(split.times ? { times: picked(split.times) } : {}),
    });
    const sample: Sample = {
      y,
      classes: this.#classes,
      folds,
      ...(weights ? { weights: Float64Array.from(picked(weights)) } : {}),
    };
    this.sample = sample;
    const views = new Map<unknown, ReturnType<typeof inMemory>>();
    const judged: Judged[] = [];
    for (const [j, trial] of trials.entries()) {
      await this.#tell(from + ((to - from) * j) / trials.length);
      const view = views.get(trial.data) ?? pickRows(trial.data, rows).then(inMemory);
      views.set(trial.data, view);
      try {
        const input = inputFor(trial.takes, await view);
        const found = await outOfFold(trial.estimator as never, input, sample, this.#run);
        const position = this.#trials.indexOf(trial);
        judged.push({ trial, position, rows: rows.length, found, score: scoreOf(found.probabilities, sample) });
      } catch (error) {
        if (!(error instanceof RanksimError)) throw error;
        this.#reasons.set(trial.name, error.message);
      }
    }
    for (const one of judged) this.#last.set(one.trial.name, one);
    return ranked(judged, sample);
  }

  /** What became of each candidate. */
  tried(weights: ReadonlyMap<string, number>): readonly TriedRecipe[] {
    return this.#trials.map(({ name }) => {
      const last = this.#last.get(name);
      const reason = this.#reasons.get(name);
      const weight = weights.get(name);
      return {
        name,
        ...(reason === undefined ? {} : { reason }),
        ...(last
          ? {
              rows: last.rows,
              logLoss: last.score.logLoss,
              accuracy: last.score.accuracy,
              multiplyAdds: last.found.multiplyAdds,
            }
          : {}),
        ...(weight === undefined ? {} : { weight }),
      };
    });
  }
}

const foldsFor = (rows: number): number => (rows < FOLDS.manyRows ? FOLDS.few : FOLDS.many);

/** The smallest log loss first; those that never name a class which another names behind all others; equals by cost, then in their order. */
function ranked(judged: readonly Judged[], { y, classes }: Sample): readonly Judged[] {
  const rows = new Uint32Array(classes.length);
  const place = new Map(classes.map((label, j) => [label, j]));
  for (const label of y) if (!Array.isArray(label)) rows[place.get(label as Label) as number]++;
  const named = rows.map((count, c) => {
    const isWanted = count >= FLOOR.rows && judged.some(({ score }) => score.found[c] >= FLOOR.recall * count);
    return isWanted ? 1 : 0;
  });
  const lost = ({ score }: Judged) => named.reduce((sum, is, c) => sum + (is === 1 && score.found[c] === 0 ? 1 : 0), 0);
  return judged.toSorted(
    (a, b) =>
      lost(a) - lost(b) ||
      a.score.logLoss - b.score.logLoss ||
      a.found.multiplyAdds - b.found.multiplyAdds ||
      a.position - b.position,
  );
}

/**
 * The best. In `balanced` one that may be as good, as far as the rows tell, goes before it where it comes first among the candidates, which
 * begin with the simple ones; and one that is nearly as good where it answers for a tenth of the cost.
 */
function plainest(judged: readonly Judged[], preset: Preset): Judged {
  const [best] = judged;
  if (preset !== "balanced") return best;
  const isEnough = (one: Judged) => {
    const isDear = one.found.multiplyAdds * DEAR.times <= best.found.multiplyAdds;
    return (isDear && one.score.logLoss - best.score.logLoss < DEAR.gain) || mayEqual(one, best);
  };
  return judged.filter((one) => one === best || isEnough(one)).sort((a, b) => a.position - b.position)[0];
}

/** Whether the losses of rows differ by less than a standard error. */
function mayEqual({ score: a }: Judged, { score: b }: Judged): boolean {
  const n = a.losses.length;
  let [sum, squares] = [0, 0];
  for (let r = 0; r < n; r++) {
    const more = a.losses[r] - b.losses[r];
    sum += more;
    squares += more * more;
  }
  return sum * sum <= squares - (sum * sum) / n;
}
