/**
 * Choosing a recipe among many: cross-validation by successive halving. All candidates are judged on a small sample of the
 * rows; the better part of them, and those that nothing cheaper equals, go on to a larger sample, until few are left for all
 * rows. The same data, candidates and seed give the same choice; a limit on time only decides how much is run.
 */

import {
  type Estimator,
  isMatrix,
  type LabelSets,
  type Labels,
  type Model,
  type PredictingModel,
  RanksimError,
  type Run,
  runOf,
} from "@ranksim/core";
import { advance, optionsOf, partOfRun } from "@ranksim/core/internal";
import { countRows, gatherRows, type Samples, sampleOrder } from "../select/split.ts";
import { type CrossValidateOptions, checkedOnce, divide, scorerOf } from "../select/validation.ts";
import { cheapFirst } from "./candidate-cost.ts";
import { suggestCandidates } from "./candidates.ts";
import { judge, type TuneRound } from "./judge-candidate.ts";
import { paretoFront } from "./pareto.ts";
import { SharedSteps } from "./shared-steps.ts";

/** How candidates are judged. */
export interface TuneOptions<X, M extends Model> extends CrossValidateOptions<X, M> {
  /**
   * Rows of the first round. Default: as many as leave one candidate in the last round, at least 1,000 and twice the largest
   * number of filters.
   */
  readonly firstRows?: number;
  /** How many times more rows each round has, and how many times fewer candidates go on to it. Default 3. */
  readonly factor?: number;
  /**
   * Time to be spent, in seconds of the clock; whatever is not judged by then is reported as cut. The first candidate is judged before
   * the others, and of these cheap ones before dear ones. Default: no limit.
   */
  readonly seconds?: number;
  /** Whether enough of these seconds is left to fit the best candidate on all rows. Default: no. */
  readonly leaveTimeToFit?: boolean;
}

/**
 * What became of a candidate: judged on all rows, dropped after a round, cut by the limit on time, or refused by its own
 * `fit`.
 */
export type TuneOutcome = "finished" | "dropped" | "cut" | "failed";

/** One candidate and how it did. */
export interface TuneResult<X, M extends Model> {
  readonly estimator: Estimator<X, M>;
  /** The parameters in which candidates differ. */
  readonly params: { readonly [param: string]: unknown };
  readonly outcome: TuneOutcome;
  /** The rounds it was judged in; the last one counts. */
  readonly rounds: readonly TuneRound[];
  /** Whether it finished and no other that did is as good, as cheap and as small, and better in one of these. */
  readonly onFront: boolean;
  /** Why it failed. */
  readonly reason?: string;
}

/** The outcome of tuning. */
export interface Tuning<X, M extends Model> {
  /** Those that came furthest first, then the best; equals by lower cost, then in the order given. */
  readonly results: readonly TuneResult<X, M>[];
  /** The first of the results: its estimator is ready to be fitted on all rows. */
  readonly best: TuneResult<X, M>;
  /** Results on the Pareto front of score, multiply-adds and bytes, cheapest first. */
  readonly front: readonly TuneResult<X, M>[];
  /** Rows of each round and how many candidates it was to judge and did judge. */
  readonly rounds: readonly { readonly rows: number; readonly candidates: number; readonly judged: number }[];
  /** Whether nothing was cut: then the same call gives the same choice anywhere. */
  readonly complete: boolean;
  readonly seconds: number;
}

/** With fewer rows than this differences between candidates are chance. */
const LEAST_ROWS = 1000;

interface Trial<X, M extends Model> {
  readonly position: number;
  readonly estimator: Estimator<X, M>;
  readonly rounds: TuneRound[];
  /** Seconds of its last round. */
  seconds: number;
  outcome: TuneOutcome;
  reason?: string;
}

/**
 * Judges candidates and ranks them. One estimator alone stands for the candidates that `suggestCandidates` makes of it. A
 * candidate whose `fit` refuses the data fails by itself; only if all fail does the call.
 */
export async function tune<X extends Samples, M extends PredictingModel<X>>(
  candidates: Estimator<X, M> | readonly Estimator<X, M>[],
  x: X,
  y: Labels | LabelSets,
  options: TuneOptions<X, M> & Run = {},
  ...rest: undefined[]
): Promise<Tuning<X, M>> {
  const run = runOf(optionsOf("tune", options, rest));
  const began = performance.now();
  const { factor, limit } = checkOptions(options);
  const samples = checkedOnce(x);
  const estimators = Array.isArray(candidates)
    ? (candidates as readonly Estimator<X, M>[])
    : suggestCandidates(candidates as Estimator<X, M>, samples, y);
  if (estimators.length === 0) throw new RanksimError("bad-params", "tune: expected at least 1 candidate, found none");
  const score = options.scoring ?? "accuracy";
  scorerOf(score); // refuses an unknown name at once
  divide(countRows(samples), y, options); // refuses at once what the last round would refuse
  const order = sampleOrder(y, options.seed);
  const sizes = roundSizes(order.length, estimators, factor, options.firstRows);

  const trials = estimators.map(
    (estimator, position): Trial<X, M> => ({ position, estimator, rounds: [], seconds: 0, outcome: "cut" }),
  );
  // Seconds that are left to judge in.
  const left = () => {
    const reserve = options.leaveTimeToFit && Number.isFinite(limit) ? fitTime(trials, order.length, options.folds) : 0;
    return limit - reserve - (performance.now() - began) / 1000;
  };
  const rounds: { rows: number; candidates: number; judged: number }[] = [];
  // Where the time may not be enough for all, it is for as many as possible.
  let alive: readonly Trial<X, M>[] = Number.isFinite(limit)
    ? cheapFirst(trials, sizes[0], isMatrix(samples) ? samples.features : 1)
    : trials;
  let share = 0;
  for (const [r, rows] of sizes.entries()) {
    const picked = order.slice(0, rows).sort();
    const [xr, yr] = [gatherRows(samples, picked), gatherRows(y, picked)];
    const folds = divide(rows, yr, { ...options, ...facts(options, picked) });
    const round = { x: xr, y: yr, folds, shared: new SharedSteps(xr, yr, folds), score };
    const end = share + (1 - share) * shareOfRound(sizes.slice(r), alive.length, factor);
    const judged: Trial<X, M>[] = [];
    const late: Trial<X, M>[] = [];
    const attempt = async (trial: Trial<X, M>): Promise<void> => {
      const j = alive.indexOf(trial);
      const isFirst = r === 0 && judged.length === 0; // judged in any case: there has to be a best
      const at = (done: number) => share + ((end - share) * (j + done)) / alive.length;
      const told = { round: r + 1, rounds: sizes.length, candidate: j + 1, candidates: alive.length };
      const part = withTrial(partOfRun(run, at(0), at(1)), told);
      const start = performance.now();
      const limited = new Limited(run.signal, isFirst ? Number.POSITIVE_INFINITY : left());
      try {
        trial.rounds.push(await judge(trial.estimator, round, { ...part, signal: limited.signal }));
        judged.push(trial);
      } catch (error) {
        if (run.signal?.aborted) throw error;
        if (limited.signal.aborted) return; // the time is up in the middle of it: cut
        if (!(error instanceof RanksimError)) throw error;
        trial.outcome = "failed";
        trial.reason = error.message;
      } finally {
        limited.end();
      }
      trial.seconds = (performance.now() - start) / 1000;
    };
    for (const trial of alive) {
      const isBest = judged.length === 0;
      // What would not fit waits for those that do. The best of the round before never waits: without it, a round would
      // choose the cheapest.
      if (!isBest && expected(trial, judged, rows) > left()) late.push(trial);
      else if (left() > 0 || r === 0) await attempt(trial);
      if (judged.length === 0 && trial.outcome === "cut") break;
    }
    for (const trial of late) if (left() > 0) await attempt(trial);
    rounds.push({ rows, candidates: alive.length, judged: judged.length });
    if (trials.every(({ rounds }) => rounds.length === 0)) {
      throw new RanksimError("bad-params", `tune: every candidate failed: ${alive[0].reason}`);
    }
    share = end;
    const isLast = r === sizes.length - 1;
    if (isLast) for (const trial of judged) trial.outcome = "finished";
    const open = alive.filter(({ outcome }) => outcome !== "failed");
    if (isLast || judged.length === 0 || judged.length < open.length) break; // the time is up, or all have failed
    alive = survivors(judged, factor);
    const goOn = new Set(alive);
    for (const trial of judged) if (!goOn.has(trial)) trial.outcome = "dropped";
  }
  await advance(run, { stage: "score", share: 1 });
  return summary(trials, rounds, (performance.now() - began) / 1000);
}

/** Fitting on all rows is given this much more time than fits on fewer rows tell. */
const FIT_CAUTION = 1.25;

/** Seconds that fitting the best so far on all rows may take: as its folds did, with the rows. */
function fitTime<X, M extends Model>(trials: readonly Trial<X, M>[], rows: number, folds = 5): number {
  const [best] = trials.filter(({ rounds }) => rounds.length > 0).sort(byProgress);
  const last = best?.rounds.at(-1);
  return last ? (FIT_CAUTION * last.fitSeconds * rows) / (last.rows * (folds - 1)) : 0;
}

/** What of the options belongs to single rows, for those that were picked. */
function facts<X, M extends Model>({ groups, times }: TuneOptions<X, M>, picked: Uint32Array) {
  const of = <T>(list: ArrayLike<T>): T[] => Array.from(picked, (r) => list[r]);
  return { ...(groups ? { groups: of(groups) } : {}), ...(times ? { times: of(times) } : {}) };
}

/**
 * A signal that is also aborted after some seconds. Its timer is its own: one of `AbortSignal.timeout` that is only held by
 * `AbortSignal.any` is collected as garbage (Node 20) and then never fires.
 */
class Limited {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #forward = () => this.#controller.abort(this.#outer?.reason);

  constructor(outer: AbortSignal | undefined, seconds: number) {
    this.#outer = outer;
    if (outer?.aborted) this.#forward();
    outer?.addEventListener("abort", this.#forward);
    if (seconds < MOST_SECONDS) {
      this.#timer = setTimeout(() => this.#controller.abort(), Math.max(0, Math.ceil(seconds * 1000)));
    }
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#forward);
  }
}

/** A timer takes no more than this. */
const MOST_SECONDS = 2_000_000;

type Limits = Pick<TuneOptions<never, never>, "factor" | "firstRows" | "seconds">;

function checkOptions({ factor = 3, firstRows, seconds = Number.POSITIVE_INFINITY }: Limits): {
  factor: number;
  limit: number;
} {
  if (!(factor > 1 && Number.isFinite(factor))) {
    throw new RanksimError("bad-params", `tune: expected factor above 1, found ${factor}`);
  }
  if (firstRows !== undefined && !(Number.isSafeInteger(firstRows) && firstRows >= 2)) {
    throw new RanksimError("bad-params", `tune: expected firstRows as a whole number from 2, found ${firstRows}`);
  }
  if (!(seconds > 0)) throw new RanksimError("bad-params", `tune: expected seconds above 0, found ${seconds}`);
  return { factor, limit: seconds };
}

/** Rows of each round: growing by `factor`, the last round having all. */
function roundSizes(
  rows: number,
  candidates: readonly Estimator<never, Model>[],
  factor: number,
  firstRows: number | undefined,
): number[] {
  let first = firstRows ?? rows;
  if (firstRows === undefined) {
    for (let left = candidates.length; left > 1; left = Math.ceil(left / factor)) first /= factor;
    first = Math.max(LEAST_ROWS, 2 * mostFilters(candidates), Math.ceil(first));
  }
  const sizes: number[] = [];
  // A last step that does not even double the rows is not worth a round of its own.
  for (let size = first; size * 2 < rows; size = Math.ceil(size * factor)) sizes.push(size);
  return [...sizes, rows];
}

/** On few rows many filters look worse than they are: some would have no row to themselves. */
function mostFilters(candidates: readonly Estimator<never, Model>[]): number {
  let most = 0;
  for (const { params } of candidates) {
    for (const [name, value] of Object.entries(params)) {
      if (/(^|\.)filters$/.test(name) && typeof value === "number") most = Math.max(most, value);
    }
  }
  return most;
}

/** Share of the remaining work that the next round is, if candidates shrink as rows grow. */
function shareOfRound(sizes: readonly number[], candidates: number, factor: number): number {
  let left = candidates * factor;
  const work = sizes.map((rows) => {
    left /= factor;
    return rows * Math.max(1, left);
  });
  return work[0] / work.reduce((sum, part) => sum + part, 0);
}

/** Seconds a candidate will take: its last ones, with the rows; in the first round as those before it. */
function expected<X, M extends Model>(trial: Trial<X, M>, judged: readonly Trial<X, M>[], rows: number): number {
  const last = trial.rounds.at(-1);
  if (last) return (trial.seconds * rows) / last.rows;
  return judged.reduce((sum, { seconds }) => sum + seconds, 0) / judged.length;
}

/** The same run, with the trial added to its progress. */
function withTrial(run: Run, trial: { round: number; rounds: number; candidate: number; candidates: number }): Run {
  const { onProgress } = run;
  return onProgress ? { ...run, onProgress: (progress) => onProgress({ ...progress, trial }) } : run;
}

/** The best of the round, one in `factor`, and all on its Pareto front, best first. */
function survivors<X, M extends Model>(judged: readonly Trial<X, M>[], factor: number): Trial<X, M>[] {
  const ranked = judged.toSorted(byMerit);
  const kept = Math.max(1, Math.ceil(ranked.length / factor));
  const front = paretoFront(ranked.map(coordinates));
  return ranked.filter((_, j) => j < kept || front[j]);
}

/** Larger mean first, then lower cost, then the order given. */
function byMerit<X, M extends Model>(a: Trial<X, M>, b: Trial<X, M>): number {
  const [p, q] = [a.rounds.at(-1), b.rounds.at(-1)];
  if (!p || !q) return a.position - b.position;
  return q.mean - p.mean || p.multiplyAdds - q.multiplyAdds || a.position - b.position;
}

/** Those that came furthest first, then by merit. */
function byProgress<X, M extends Model>(a: Trial<X, M>, b: Trial<X, M>): number {
  return b.rounds.length - a.rounds.length || byMerit(a, b);
}

/** What is to be small. */
function coordinates<X, M extends Model>({ rounds }: Trial<X, M>): number[] {
  const { mean, multiplyAdds, bytes } = rounds.at(-1) as TuneRound;
  return [-mean, multiplyAdds, bytes];
}

function summary<X, M extends Model>(
  trials: readonly Trial<X, M>[],
  rounds: Tuning<X, M>["rounds"],
  seconds: number,
): Tuning<X, M> {
  const finished = trials.filter(({ outcome }) => outcome === "finished");
  const onFront = paretoFront(finished.map(coordinates));
  const front = new Set(finished.filter((_, j) => onFront[j]));
  const differing = differingParams(trials.map(({ estimator }) => estimator));
  const isOut = ({ outcome }: Trial<X, M>) => (outcome === "failed" ? 1 : 0);
  const results = trials
    .toSorted((a, b) => isOut(a) - isOut(b) || byProgress(a, b))
    .map((trial): TuneResult<X, M> => {
      const { estimator, outcome, reason } = trial;
      const params = Object.fromEntries(differing.map((name) => [name, paramOf(estimator, name)]));
      const why = reason === undefined ? {} : { reason };
      return { estimator, params, outcome, rounds: trial.rounds, onFront: front.has(trial), ...why };
    });
  return {
    results,
    best: results[0],
    front: results
      .filter((result) => result.onFront)
      .toSorted((a, b) => (a.rounds.at(-1) as TuneRound).multiplyAdds - (b.rounds.at(-1) as TuneRound).multiplyAdds),
    rounds,
    complete: !trials.some(({ outcome }) => outcome === "cut"),
    seconds,
  };
}

/** The names of parameters (and "kind") that are not the same in all candidates. */
function differingParams(estimators: readonly Estimator<never, Model>[]): string[] {
  const names = new Set(["kind", ...estimators.flatMap(({ params }) => Object.keys(params))]);
  const shown = (estimator: Estimator<never, Model>, name: string) => {
    const value = paramOf(estimator, name);
    return typeof value === "function" ? value : JSON.stringify(value);
  };
  return [...names].filter((name) => new Set(estimators.map((estimator) => shown(estimator, name))).size > 1);
}

const paramOf = (estimator: Estimator<never, Model>, name: string): unknown =>
  name === "kind" ? estimator.kind : estimator.params[name];
