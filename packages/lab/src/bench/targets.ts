/**
 * What was promised, against what was measured. A target is one figure of the results, the bound it must keep, and the words
 * for both; a figure that was not measured leaves its target open.
 */

import { checkMemory } from "./memory.ts";
import { type BenchResults, figures, median, type PhaseName, type RunResult, runsOf } from "./results.ts";
import { megabytes, number } from "./show.ts";

/** One target with its verdict. */
export interface Verdict {
  readonly target: string;
  readonly wanted: string;
  readonly measured: string;
  readonly verdict: "met" | "missed" | "not measured";
}

/** Every target, in the order of the table. */
export function judge(results: BenchResults): readonly Verdict[] {
  const cpu = (work: string, system: string, ...phases: PhaseName[]) =>
    median(figures(runsOf(results, work, system), (run) => sumOf(run, phases, "cpu")));
  const wall = (work: string, system: string, ...phases: PhaseName[]) =>
    median(figures(runsOf(results, work, system), (run) => sumOf(run, phases, "wall")));
  const peak = (work: string, system: string, phase: PhaseName) =>
    median(figures(runsOf(results, work, system), ({ peak }) => peak[phase]));
  const score = (work: string, system: string) =>
    median(figures(runsOf(results, work, system), ({ scores }) => scores.macroF1));

  const knn = cpu("classifier", "sklearn.knn", "predict");
  const [ours, theirs, nearest] = [
    score("classifier", "ranksim"),
    score("classifier", "authors"),
    score("classifier", "sklearn.knn"),
  ];
  const first = median(results.startUp.map(({ predicted }) => predicted));
  const newsPeak = most(
    peak("newsgroups", "ranksim", "fit"),
    peak("newsgroups", "ranksim", "predict"),
    peak("newsgroups", "ranksim", "probabilities"),
  );
  const growth = growthRatio(results);
  return [
    faster("classifier fit", 10, cpu("classifier", "authors", "fit"), cpu("classifier", "ranksim", "fit")),
    faster("classifier predict", 10, cpu("classifier", "authors", "predict"), cpu("classifier", "ranksim", "predict")),
    faster("probabilistic fit", 15, cpu("probabilistic", "authors", "fit"), cpu("probabilistic", "ranksim", "fit")),
    faster(
      "probabilistic predict",
      8,
      cpu("probabilistic", "authors", "predict"),
      cpu("probabilistic", "ranksim", "predict"),
    ),
    leaner(
      "classifier fit, peak memory",
      2,
      peak("classifier", "authors", "fit"),
      peak("classifier", "ranksim", "fit"),
      "given float32 rows, its fastest",
    ),
    leaner(
      "classifier fit, peak memory",
      2,
      peak("classifier", "authors-bytes", "fit"),
      peak("classifier", "ranksim", "fit"),
      "given bytes, its leanest",
    ),
    faster(
      "20 Newsgroups, fit + predict",
      20,
      cpu("newsgroups", "authors", "fit", "predict"),
      cpu("newsgroups", "ranksim", "fit", "predict"),
    ),
    leaner(
      "20 Newsgroups, fit, peak memory",
      10,
      peak("newsgroups", "authors", "fit"),
      peak("newsgroups", "ranksim", "fit"),
    ),
    below(
      "20 Newsgroups, peak memory of the whole process",
      "< 1 GB",
      1e9,
      newsPeak,
      (bytes) => `${megabytes(bytes)} MB`,
    ),
    ...(["classifier", "probabilistic"] as const).map((work) =>
      times(
        `two threads against one, ${work} fit, on the clock`,
        1.7,
        wall(work, "ranksim", "fit"),
        wall(work, "ranksim-2", "fit"),
      ),
    ),
    below("start-up to first prediction", "< 100 ms", 100, first, (ms) => `${number(ms)} ms`),
    times("classifier predict against scikit-learn KNN", 100, knn, cpu("classifier", "ranksim", "predict")),
    above("macro F1 above scikit-learn KNN's", "> 0", 0, less(ours, nearest), (gain) => gain.toFixed(4)),
    times(
      "300 refined filters, predict against scikit-learn KNN",
      100,
      knn,
      cpu("classifier", "ranksim-refined", "predict"),
    ),
    above(
      "300 refined filters, macro F1 above scikit-learn KNN's",
      "> 0",
      0,
      less(score("classifier", "ranksim-refined"), nearest),
      (gain) => gain.toFixed(4),
    ),
    below(
      "macro F1, distance from the authors' package",
      "≤ 0.003",
      0.003,
      theirs === undefined || ours === undefined ? undefined : Math.max(0, theirs - ours),
      (gap) => gap.toFixed(4),
    ),
    below("peak memory within the formula below, most of it used", "≤ 1", 1, mostUsed(results), (share) =>
      share.toFixed(2),
    ),
    below("fit time per row, most rows against fewest", "≤ 1.25×", 1.25, growth, (ratio) => `${number(ratio)}×`),
  ];
}

/** Largest share of its bound on memory that a training used. */
function mostUsed(results: BenchResults): number | undefined {
  return most(...checkMemory(results).map(({ measured, bound }) => measured / bound));
}

/** Processor time per row of fit at the largest N over the same at the smallest, filters and features fixed. */
export function growthRatio({ growth }: BenchResults): number | undefined {
  const points = growth.filter(({ axis }) => axis === "rows").sort((a, b) => a.rows - b.rows);
  const perRow = (at: number) => {
    const fit = median(figures(points.at(at)?.runs ?? [], ({ phases }) => phases.fit?.cpu));
    return fit === undefined ? undefined : fit / (points.at(at)?.rows ?? 1);
  };
  return ratioOf(perRow(-1), perRow(0));
}

function sumOf({ phases }: RunResult, names: readonly PhaseName[], clock: "cpu" | "wall"): number | undefined {
  let sum = 0;
  for (const name of names) {
    const phase = phases[name];
    if (phase === undefined) return undefined;
    sum += phase[clock];
  }
  return sum;
}

const ratioOf = (theirs: number | undefined, ours: number | undefined) =>
  theirs === undefined || ours === undefined ? undefined : theirs / ours;

const less = (a: number | undefined, b: number | undefined) => (a === undefined || b === undefined ? undefined : a - b);

const most = (...values: readonly (number | undefined)[]) => {
  const known = values.filter((value) => value !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
};

function times(target: string, wanted: number, theirs: number | undefined, ours: number | undefined): Verdict {
  return above(target, `≥ ${wanted}×`, wanted, ratioOf(theirs, ours), (ratio) => `${number(ratio)}×`);
}

function faster(target: string, wanted: number, theirs: number | undefined, ours: number | undefined): Verdict {
  return times(`${target}, processor time against the authors' package`, wanted, theirs, ours);
}

function leaner(
  target: string,
  wanted: number,
  theirs: number | undefined,
  ours: number | undefined,
  given?: string,
): Verdict {
  const against = `${target} against the authors' package${given === undefined ? "" : ` ${given}`}`;
  return below(against, `≤ 1/${wanted}`, 1 / wanted, ratioOf(ours, theirs), (value) => value.toFixed(2));
}

function above(
  target: string,
  wanted: string,
  bound: number,
  found: number | undefined,
  show: (value: number) => string,
): Verdict {
  return verdictOf(target, wanted, found, show, (value) => value >= bound);
}

function below(
  target: string,
  wanted: string,
  bound: number,
  found: number | undefined,
  show: (value: number) => string,
): Verdict {
  return verdictOf(target, wanted, found, show, (value) => value <= bound);
}

function verdictOf(
  target: string,
  wanted: string,
  found: number | undefined,
  show: (value: number) => string,
  holds: (value: number) => boolean,
): Verdict {
  if (found === undefined) return { target, wanted, measured: "–", verdict: "not measured" };
  return { target, wanted, measured: show(found), verdict: holds(found) ? "met" : "missed" };
}
