/** Candidates for `tune`: every combination of a grid, or those that make sense for data of a shape and form. */

import {
  asMatrix,
  type Estimator,
  isMatrix,
  type LabelSets,
  type Labels,
  type MatrixLike,
  type Model,
  RanksimError,
} from "@ranksim/core";
import { encodeLabels, encodeSets, isLabelSets } from "@ranksim/core/internal";
import { countRows, isPickable, type Samples } from "../select/split.ts";
import { combinations, type Grid } from "../select/validation.ts";

type Changes = { readonly [param: string]: unknown };

/** `estimator.with(params)` for every combination of the grid, the last parameter changing fastest. */
export function gridCandidates<X, M extends Model>(estimator: Estimator<X, M>, grid: Grid): Estimator<X, M>[] {
  return combinations(grid).map((params) => estimator.with(params));
}

/**
 * The candidates worth trying for data like this, small banks first: numbers of filters from one a class (or ten) to the
 * automatic one, distributions, refinement, how filters vote, for text how terms are weighted, for tables how columns are divided. Works on the three estimators and on
 * pipelines that end in one; any other recipe is the only candidate. Parameters in `held` stay as they are.
 */
export function suggestCandidates<X extends Samples, M extends Model>(
  estimator: Estimator<X, M>,
  x: X,
  y: Labels | LabelSets,
  held: readonly string[] = [],
): Estimator<X, M>[] {
  const prefix = prefixOf(estimator);
  if (prefix === undefined) return [estimator];
  const rows = countRows(x);
  const several = isLabelSets(y);
  const classes = several ? encodeSets(y, rows).labels.length : encodeLabels(y, rows).classes.length;
  const isText = Array.isArray(x) && typeof x[0] === "string";
  const isTable = isPickable(x) && !isMatrix(x);
  const isSparse = isText || (!isTable && asMatrix(x as MatrixLike).form === "csr");
  const perClass = `${prefix}classWeight` in estimator.params;
  const isOpen = (name: string) => name in estimator.params && !held.includes(name);
  const choose = (name: string, values: readonly unknown[]): Changes[] =>
    isOpen(prefix + name) ? values.map((value) => ({ [prefix + name]: value })) : [{}];

  const axes: Changes[][] = [
    choose("filters", [...countsFor(perClass, isSparse, classes, rows), "auto"]),
    choose("distribution", isSparse ? ["rank", "savage", "confusion"] : ["rank", "confusion"]),
    ...(perClass
      ? [refinements(prefix, isOpen)]
      : [choose("nBest", [5, 25, 100]), mixtures(prefix, isOpen, several, isSparse)]),
    weightings(estimator, isOpen),
    bins(estimator, isOpen),
  ];
  const all = axes.reduce<Changes[]>(
    (found, axis) => found.flatMap((changes) => axis.map((more) => ({ ...changes, ...more }))),
    [{}],
  );
  const isSensible = sense(prefix, isSparse, classes);
  return all.filter(isSensible).flatMap((changes) => withIfPossible(estimator, changes));
}

/** None where what is tried does not go with what was given: several voters, where the estimator has a committee. */
function withIfPossible<X, M extends Model>(estimator: Estimator<X, M>, changes: Changes): Estimator<X, M>[] {
  try {
    return [estimator.with(changes)];
  } catch (error) {
    if (error instanceof RanksimError && error.code === "bad-params") return [];
    throw error;
  }
}

/** Above this many the automatic number is near. */
const MOST_FILTERS = 5000;

/** Numbers of filters below the automatic one; few are enough for sparse rows. */
function countsFor(perClass: boolean, isSparse: boolean, classes: number, rows: number): number[] {
  const steps = perClass ? (isSparse ? [1, 3, 10, 30] : [1, 3, 10, 30, 100, 200]) : [10, 30, 100];
  return steps.map((step) => step * classes).filter((count) => count < Math.min(rows / 2, MOST_FILTERS));
}

/** How the parameters of the filters begin: nothing, or the name of a pipeline's last step; undefined where there are none. */
function prefixOf(estimator: Estimator<never, Model>): string | undefined {
  if ("filters" in estimator.params) return "";
  const found = Object.keys(estimator.params).filter((name) => name.endsWith(".filters"));
  return found.length === 0 ? undefined : found[found.length - 1].slice(0, -"filters".length);
}

/** Filters as they are trained, several of them voting, refined, and refined as a committee. */
function refinements(prefix: string, isOpen: (name: string) => boolean): Changes[] {
  const own = (changes: Changes) =>
    Object.fromEntries(Object.entries(changes).map(([name, value]) => [prefix + name, value]));
  return [{}, { voters: 5 }, { refine: true }, { refine: true, committee: 4 }]
    .map(own)
    .filter((changes) => Object.keys(changes).every(isOpen));
}

/**
 * How the label shares of filters become probabilities, and for several labels when one is given. Of sparse rows, those that
 * share a filter lose their rare labels (REFINEMENT.md of the lab), so there filters stay single rows.
 */
function mixtures(prefix: string, isOpen: (name: string) => boolean, several: boolean, isSparse: boolean): Changes[] {
  if (!isOpen(`${prefix}combine`)) return [{}];
  const mean = { [`${prefix}combine`]: "mean" };
  if (!several || !isOpen(`${prefix}thresholds`)) return [{}, mean];
  const single = isSparse && isOpen(`${prefix}spreading`) ? { [`${prefix}spreading`]: "none" } : {};
  return [{}, { ...mean, [`${prefix}thresholds`]: "perLabel", ...single }];
}

/** Weights of terms: as they are, and with more weight on rare ones, which suits filters of text. */
function weightings(estimator: Estimator<never, Model>, isOpen: (name: string) => boolean): Changes[] {
  const rarity = Object.keys(estimator.params).find((name) => name.endsWith(".idfPower"));
  if (rarity === undefined || !isOpen(rarity)) return [{}];
  const step = rarity.slice(0, -"idfPower".length);
  if (!isOpen(`${step}logTf`) || estimator.params[`${step}sublinearTf`] === true) return [{}];
  return [{}, { [rarity]: 2, [`${step}logTf`]: true }];
}

/** Knots of the columns of a table: as many as are usual for its rows, and a finer division. */
function bins(estimator: Estimator<never, Model>, isOpen: (name: string) => boolean): Changes[] {
  const knots = Object.keys(estimator.params).find((name) => name.endsWith(".knots"));
  return knots === undefined || !isOpen(knots) ? [{}] : [{}, { [knots]: 9 }, { [knots]: 17 }];
}

/** Leaves out what is not worth its time: what measurements (the lab's REFINEMENT.md) show to gain nothing or to take too long. */
function sense(prefix: string, isSparse: boolean, classes: number): (changes: Changes) => boolean {
  return (changes) => {
    const given = (name: string) => changes[prefix + name];
    const filters = given("filters") ?? "auto";
    const perClass = typeof filters === "number" ? filters / classes : Number.POSITIVE_INFINITY;
    const usual = isSparse ? "savage" : "rank";
    const isUsual = (given("distribution") ?? usual) === usual;
    if (given("voters") !== undefined) return isUsual && perClass > (isSparse ? 10 : 3);
    if (given("committee") !== undefined) return isUsual && !isSparse && perClass >= 100 && perClass <= 200;
    if (given("refine") !== undefined) return isUsual && !isSparse && perClass <= 200;
    return !(isSparse && given("distribution") === "confusion" && perClass > 3);
  };
}
