/** Candidates for `tune`: every combination of a grid, or those that make sense for data of a shape and form. */

import type { Estimator, Model } from "../estimators/estimator.ts";
import { encodeLabels, encodeSets, isLabelSets, type LabelSets, type Labels } from "../matrix/labels.ts";
import { asMatrix, type MatrixLike } from "../matrix/matrix.ts";
import { countRows, type Samples } from "./split.ts";
import { combinations, type Grid } from "./validation.ts";

type Changes = { readonly [param: string]: unknown };

/** `estimator.with(params)` for every combination of the grid, the last parameter changing fastest. */
export function gridCandidates<X, M extends Model>(estimator: Estimator<X, M>, grid: Grid): Estimator<X, M>[] {
  return combinations(grid).map((params) => estimator.with(params));
}

/**
 * The candidates worth trying for data like this, small banks first: numbers of filters from one a class (or ten) to the
 * automatic one, distributions, voters or nBest, and for text how terms are weighted. Works on the three estimators
 * and on pipelines that end in one; any other recipe is the only candidate. Parameters in `held` stay as they are.
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
  const classes = isLabelSets(y) ? encodeSets(y, rows).labels.length : encodeLabels(y, rows).classes.length;
  const isText = Array.isArray(x) && typeof x[0] === "string";
  const isSparse = isText || asMatrix(x as MatrixLike).form === "csr";
  const perClass = `${prefix}classWeight` in estimator.params;
  const has = (name: string) => name in estimator.params && !held.includes(name);

  const steps = perClass ? (isSparse ? [1, 3, 10, 30] : [1, 3, 10, 30, 100]) : [10, 30, 100];
  const counts = steps.map((step) => step * classes).filter((count) => count < Math.min(rows / 2, MOST_FILTERS));
  const axes: Changes[][] = [
    choices(has, `${prefix}filters`, [...counts, "auto"]),
    choices(has, `${prefix}distribution`, isSparse ? ["rank", "savage", "confusion"] : ["rank", "confusion"]),
    perClass ? choices(has, `${prefix}voters`, [1, 5]) : choices(has, `${prefix}nBest`, [5, 25, 100]),
    weightings(estimator, has),
  ];
  const all = axes.reduce<Changes[]>(
    (found, axis) => found.flatMap((changes) => axis.map((more) => ({ ...changes, ...more }))),
    [{}],
  );
  return all.filter((changes) => isSensible(changes, prefix, classes)).map((changes) => estimator.with(changes));
}

/** Above this many the automatic number is near. */
const MOST_FILTERS = 5000;

/** How the parameters of the filters begin: nothing, or the name of a pipeline's last step; undefined where there are none. */
function prefixOf(estimator: Estimator<never, Model>): string | undefined {
  if ("filters" in estimator.params) return "";
  const found = Object.keys(estimator.params).filter((name) => name.endsWith(".filters"));
  return found.length === 0 ? undefined : found[found.length - 1].slice(0, -"filters".length);
}

function choices(has: (name: string) => boolean, name: string, values: readonly unknown[]): Changes[] {
  return has(name) ? values.map((value) => ({ [name]: value })) : [{}];
}

/** Weights of terms: as they are, and with more weight on rare ones, which suits filters of text. */
function weightings(estimator: Estimator<never, Model>, has: (name: string) => boolean): Changes[] {
  const rarity = Object.keys(estimator.params).find((name) => name.endsWith(".idfPower"));
  if (rarity === undefined || !has(rarity)) return [{}];
  const step = rarity.slice(0, -"idfPower".length);
  if (!has(`${step}logTf`) || estimator.params[`${step}sublinearTf`] === true) return [{}];
  return [{}, { [rarity]: 2, [`${step}logTf`]: true }];
}

/** Several voters need several filters a class. */
function isSensible(changes: Changes, prefix: string, classes: number): boolean {
  const filters = changes[`${prefix}filters`];
  const voters = changes[`${prefix}voters`];
  return !(typeof filters === "number" && typeof voters === "number" && voters > 1 && filters < 10 * classes);
}
