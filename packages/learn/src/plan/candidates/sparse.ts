/** Rows that are mostly zeros: counts of words, of genes, of events. */

import {
  LINEAR_PARAMETERS,
  type MatrixLike,
  MaxAbsScaler,
  Pipeline,
  RankSimilarityClassifier,
  RowScaler,
  type RowScalerParams,
  StandardScaler,
} from "@ranksim/core";
import { type Chosen, given, named, probabilities, type Task } from "../task.ts";
import { type Candidate, entriesOf, filtersCost, linearCost, takesParams } from "./candidate.ts";
import { hasFilters, linearHead } from "./columns.ts";

/** Whether rows are stored without their zeros. Where nothing is tried, they come after recipes for numbers, but of rows that are almost all zeros. */
const areSparse = ({ labels, kind, data }: Task): boolean =>
  labels === "one" && kind !== "images" && data.form === "matrix" && data.x.form === "csr";

/** How rows are scaled before, each by itself: names of candidates, and what is told of them. */
const SCALINGS: { readonly [by in RowScalerParams["by"] | "none"]: readonly [string, string] } = {
  none: ["sparse rows", ""],
  rank: ["sparse rows ranked", "ranks of each row, "],
  log: ["logarithms of counts", "logarithms of counts, "],
  "log-share": ["logarithms of shares", "logarithms of shares, "],
};
type Scaling = keyof typeof SCALINGS;

/** The estimator behind what scales rows. */
function behind(by: Scaling, { estimator, what }: Chosen, name: string): Chosen {
  const about = `${SCALINGS[by][1]}${what}`;
  if (by === "none") return { estimator, what: about };
  return { estimator: named<MatrixLike>(["rows", new RowScaler({ by })], [name, estimator as never]), what: about };
}

const filters = (by: Scaling, isUsual: boolean, each: number): Candidate => ({
  name: `${SCALINGS[by][0]}, ${each === 1 ? "one filter" : `${each} filters`} of a class`,
  isUsual,
  suits: (task) => areSparse(task) && hasFilters(task),
  cost: (task, rows) => filtersCost(rows, entriesOf(task), { filters: each * task.classes, epochs: 4 }),
  purposes: by === "none" ? ["onnx", "c", "update", "reject"] : ["update", "reject"],
  streams: by === "none",
  make: (task) => behind(by, fewFilters(task, each), "classify"),
});

/** Few filters of Savage scores are enough for sparse rows. */
export function fewFilters(task: Task, each: number, calibrateOn?: "last"): Chosen {
  const classify = new RankSimilarityClassifier(
    given(task, {
      filters: each * task.classes,
      classWeight: "uniform" as const,
      distribution: "savage" as const,
      refine: task.preset !== "fast",
      refineEpochs: task.preset === "best" ? 8 : 4,
      ...probabilities(task, calibrateOn),
    }),
  );
  const { filters, refine } = classify.params;
  return {
    estimator: classify as Chosen["estimator"],
    what: `${filters} filters of Savage scores${refine ? ", refined" : ""}`,
  };
}

export const sparseSingle = filters("none", true, 1);
export const sparseSome = filters("none", false, 4);
export const sparseMany = filters("none", false, 30);
export const sparseRanked = filters("rank", true, 1);
export const sparseRankedSome = filters("rank", false, 4);
export const sparseRankedMany = filters("rank", false, 30);
export const sparseLogarithms = filters("log-share", false, 1);

const linear = (by: Scaling, isUsual: boolean): Candidate => ({
  name: `${SCALINGS[by][0]}, linear`,
  isUsual,
  suits: (task) => areSparse(task) && takesParams(task, LINEAR_PARAMETERS),
  cost: (task, rows) => linearCost(task, rows, entriesOf(task)),
  purposes: [],
  streams: by === "none",
  make: (task) =>
    behind(
      by,
      { estimator: linearHead(task, entriesOf(task)) as Chosen["estimator"], what: "a linear classifier" },
      "head",
    ),
});

export const sparseLinear = linear("none", true);
export const sparseLogLinear = linear("log", false);

/** Rare features count as much as usual ones. */
const scaledLinear = (
  name: string,
  isUsual: boolean,
  what: string,
  steps: readonly (readonly [string, MaxAbsScaler | StandardScaler | RowScaler])[],
): Candidate => ({
  ...sparseLinear,
  name,
  isUsual,
  streams: false,
  make: (task) => ({
    estimator: new Pipeline([
      ...steps,
      ["head", linearHead(task, entriesOf(task))],
    ] as never) as unknown as Chosen["estimator"],
    what: `${what}, a linear classifier`,
  }),
});

export const sparseScaledLinear = scaledLinear("sparse rows scaled, linear", false, "features scaled", [
  ["scale", new MaxAbsScaler()],
]);
export const sparseShares = scaledLinear("logarithms of shares scaled, linear", true, "logarithms of shares, scaled", [
  ["rows", new RowScaler({ by: "log-share" })],
  ["scale", new StandardScaler({ center: false })],
]);
