/** Rows that are almost all zeros. */

import { LINEAR_PARAMETERS, MaxAbsScaler, RankSimilarityClassifier } from "@ranksim/core";
import { isSparse } from "../kind.ts";
import { type Chosen, given, named, probabilities, type Task } from "../task.ts";
import { type Candidate, entriesOf, filtersCost, linearCost, takesParams } from "./candidate.ts";
import { hasFilters, linearHead } from "./columns.ts";

const areSparse = (task: Task): boolean =>
  task.takes === "numbers" && task.labels === "one" && task.kind !== "images" && isSparse(task.data);

const few = (name: string, isUsual: boolean, each: number): Candidate => ({
  name,
  isUsual,
  suits: (task) => areSparse(task) && hasFilters(task),
  cost: (task, rows) => filtersCost(rows, entriesOf(task), { filters: each * task.classes, epochs: 4 }),
  purposes: ["onnx", "c", "update", "reject"],
  streams: true,
  make: (task) => fewFilters(task, each),
});

/** Few filters of Savage scores are enough for sparse rows. */
export function fewFilters(task: Task, each: number, more: Parameters<typeof given>[1] = {}): Chosen {
  const classify = new RankSimilarityClassifier(
    given(task, {
      filters: each * task.classes,
      classWeight: "uniform" as const,
      distribution: "savage" as const,
      refine: task.preset !== "fast",
      refineEpochs: task.preset === "best" ? 8 : 4,
      ...probabilities(task),
      ...more,
    }),
  );
  const { filters, refine } = classify.params;
  return {
    estimator: classify as Chosen["estimator"],
    what: `${filters} filters of Savage scores${refine ? ", refined" : ""}`,
  };
}

export const sparseSingle = few("sparse rows, one filter of a class", true, 1);
export const sparseSome = few("sparse rows, four filters of a class", false, 4);
export const sparseMany = few("sparse rows, thirty filters of a class", false, 30);

export const sparseLinear: Candidate = {
  name: "sparse rows, linear",
  isUsual: true,
  suits: (task) => areSparse(task) && takesParams(task, LINEAR_PARAMETERS),
  cost: (task, rows) => linearCost(task, rows, entriesOf(task)),
  purposes: [],
  streams: true,
  make: (task) => ({
    estimator: linearHead(task, entriesOf(task)) as Chosen["estimator"],
    what: "a linear classifier",
  }),
};

export const sparseScaledLinear: Candidate = {
  ...sparseLinear,
  name: "sparse rows scaled, linear",
  isUsual: false,
  streams: false,
  make: (task) => ({
    estimator: named(["scale", new MaxAbsScaler()], ["head", linearHead(task, entriesOf(task))]),
    what: "features scaled, a linear classifier",
  }),
};
