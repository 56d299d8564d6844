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

/** How much is tried: rows of a round at most, and what all rounds may cost, about two seconds and half a minute. */
interface Effort {
  readonly rows: number;
  readonly cost: number;
}
const EFFORTS: { readonly [preset in Preset]?: Effort } = {
  balanced: { rows: 4000, cost: 2e9 },
  best: { rows: 6000, cost: 3e10 },
};
/** With fewer rows nothing can be told apart. */
const LEAST_ROWS = 30;
/** The first round: its rows where they can be afforded, the fewest by which anything is judged, and its share of the cost. */
const FIRST = { rows: 600, least: 200, share: 0.5 };
const FOLDS = { few: 5, many: 3, manyRows: 500 };
/** Candidates that go on to a round of more rows. */
const SURVIVORS = 3;
/** Rows that the next round asks about, of those of the first, at least. */
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
    const { backend, signal, memory } = run;
    this.#run = { ...(backend ? { backend } : {}), ...(signal ? { signal } : {}), ...(memory ? { memory } : {}) };
    this.#tell = (share) => advance(run, { stage: "score", share });
  }

  readonly #tell: (share: number) => Promise<void>;

  /** Judges all on some rows, and the better ones on more. Those of the last round are returned, best first. */
  async judge(effort: Effort): Promise<readonly Judged[]> {
    const all = rowCount(this.#trials[0].data);
    // Choosing may take as long as the fit that follows.
    const fits = this.#trials
      .map((trial) => costOf([trial], { rows: all, folds: Number.POSITIVE_INFINITY, asked: 1 }))
      .sort((a, b) => a - b);
    const affordable = Math.max(effort.cost, fits[(fits.length - 1) >> 1]);
    const order = sampleOrder(this.#trials[0].data.y as never, this.#options.seed);
    const most = Math.min(all, effort.rows);
    const { trials, size } = this.#first(most, FIRST.share * affordable);
    const first = await this.#round(trials, order, size, 0);
    const left = affordable - costOf(trials, size);
    for (let count = Math.min(SURVIVORS, first.length); count > 1; count--) {
      const alive = first.slice(0, count).map(({ trial }) => trial);
      const next = wholeSizes(most).find((one) => costOf(alive, one) <= left);
      if (next && next.rows >= GROWTH * askedRows(size)) return this.#round(alive, order, next, 0.5);
    }
    return first;
  }

  /** What can be judged at this cost, and on how many rows: where there are too few of them for all, the dearest are left out, but the first. */
  #first(most: number, cost: number): { trials: readonly Trial[]; size: Size } {
    const few = Math.min(most, FIRST.rows);
    const sizes = wholeSizes(most).filter(({ rows }) => rows >= few);
    const folds = FOLDS.many;
    for (let asked = folds; asked > 0; asked--) sizes.push({ rows: few, folds, asked });
    for (let rows = few * SHRINK; rows > FIRST.least; rows *= SHRINK) {
      sizes.push({ rows: Math.floor(rows), folds, asked: 1 });
    }
    const least = sizes[sizes.length - 1];
    let trials = this.#trials;
    while (trials.length > 1 && costOf(trials, least) > cost) {
      const dearest = trials.slice(1).reduce((a, b) => (costOf([b], least) > costOf([a], least) ? b : a));
      this.#reasons.set(dearest.name, "too dear to be tried");
      trials = trials.filter((trial) => trial !== dearest);
    }
    return { trials, size: sizes.find((one) => costOf(trials, one) <= cost) ?? least };
  }

  /** Judges candidates on the first rows of the order. */
  async #round(trials: readonly Trial[], order: Uint32Array, size: Size, from: number): Promise<readonly Judged[]> {
    const { seed = 0, split = {}, weights } = this.#options;
    const rows = order.slice(0, size.rows).sort();
    const y = gatherRows(trials[0].data.y as Label[], rows) as RowLabels;
    const picked = <T>(list: ArrayLike<T>): T[] => Array.from(rows, (r) => list[r]);
    const folds = divide(rows.length, y as Labels | LabelSets, {
      folds: size.folds,
      seed,
      ...(split.groups ? { groups: picked(split.groups) } : {}),
      ...(split.times ? { times: picked(split.times) } : {}),
    }).slice(0, size.asked);
    const sample: Sample = {
      y,
      classes: this.#classes,
      folds,
      asked: Uint32Array.from(folds.flatMap(({ test }) => Array.from(test))).sort(),
      ...(weights ? { weights: Float64Array.from(picked(weights)) } : {}),
    };
    this.sample = sample;
    const views = new Map<unknown, ReturnType<typeof inMemory>>();
    const judged: Judged[] = [];
    for (const [j, trial] of trials.entries()) {
      await this.#tell(from + j / (2 * trials.length));
      const view = views.get(trial.data) ?? pickRows(trial.data, rows).then(inMemory);
      views.set(trial.data, view);
      try {
        const input = inputFor(trial.takes, await view);
        const found = await outOfFold(trial.estimator as never, input, sample, this.#run);
        const position = this.#trials.indexOf(trial);
        judged.push({ trial, position, rows: sample.asked.length, found, score: scoreOf(found.probabilities, sample) });
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

/** How many rows a round has, and of how many folds so many are asked about. */
interface Size {
  readonly rows: number;
  readonly folds: number;
  readonly asked: number;
}

const askedRows = ({ rows, folds, asked }: Size): number => (rows * asked) / folds;

/** Sizes that are tried follow each other like this. */
const SHRINK = 0.8;

/** Sizes of which all folds are asked about, the largest first. */
function wholeSizes(most: number): Size[] {
  const sizes: Size[] = [];
  for (let rows = most; rows >= FIRST.least || rows === most; rows = Math.floor(rows * SHRINK)) {
    const folds = rows < FOLDS.manyRows ? FOLDS.few : FOLDS.many;
    sizes.push({ rows, folds, asked: folds });
  }
  return sizes;
}

/** What it costs to judge candidates. */
function costOf(trials: readonly Trial[], { rows, folds, asked }: Size): number {
  return trials.reduce((sum, { cost }) => {
    const { once, each } = cost(rows - rows / folds);
    return sum + once + asked * each;
  }, 0);
}

/** The smallest log loss first; those that never name a class which another names behind all others; equals by cost, then in their order. */
function ranked(judged: readonly Judged[], { y, classes, asked }: Sample): readonly Judged[] {
  const rows = new Uint32Array(classes.length);
  const place = new Map(classes.map((label, j) => [label, j]));
  for (const r of asked) if (!Array.isArray(y[r])) rows[place.get(y[r] as Label) as number]++;
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
