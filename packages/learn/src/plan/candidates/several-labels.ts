/** Rows that may have several labels. */

import {
  LINEAR_PARAMETERS,
  Pipeline,
  PROBABILISTIC_PARAMETERS,
  RankSimilarityProbabilisticClassifier,
} from "@ranksim/core";
import { TfidfVectorizer } from "@ranksim/data";
import { isSparse } from "../kind.ts";
import { type Chosen, calibrationOfLabels, given, type Task } from "../task.ts";
import { type Candidate, entriesOf, filtersCost, linearCost, takesParams } from "./candidate.ts";
import { encoder, linearHead } from "./columns.ts";

const isSparseTask = ({ data, takes }: Task): boolean => takes === "text" || (takes === "numbers" && isSparse(data));

/** What comes before the last step, if anything has to. */
function before(task: Task, idfPower: number): { readonly steps: readonly unknown[]; readonly what: string } {
  if (task.takes === "table") return { steps: [encoder(task)], what: "columns encoded, " };
  if (task.takes === "numbers") return { steps: [], what: "" };
  const maxFeatures = task.preset === "best" ? 30_000 : 10_000;
  const words = task.vectorizer ?? new TfidfVectorizer({ maxFeatures, logTf: true, idfPower });
  return { steps: [["words", words]], what: task.vectorizer ? "numbers of words, " : "weighted tf-idf, " };
}

const pipelineOf = (steps: readonly unknown[], last: Chosen["estimator"]): Chosen["estimator"] =>
  steps.length === 0 ? last : (new Pipeline([...steps, ["classify", last]] as never) as unknown as Chosen["estimator"]);

const filtersOf = (task: Task): number => {
  const most = { fast: 1000, balanced: 5000, best: 10_000, paper: 0 }[task.preset];
  return Math.max(1, Math.min(most, Math.floor(task.rows * (isSparseTask(task) ? 0.8 : 0.25))));
};

/** Means of label shares and a threshold for each label; of sparse rows filters stay single rows. */
export const labelShares: Candidate = {
  name: "filters with shares of labels",
  isUsual: true,
  suits: (task) => task.labels === "several" && takesParams(task, PROBABILISTIC_PARAMETERS),
  cost: (task, rows) => filtersCost(rows, entriesOf(task), { filters: Math.min(filtersOf(task), rows), rounds: 2 }),
  purposes: ["onnx", "update"],
  streams: true,
  make: (task): Chosen => {
    const { steps, what } = before(task, 2);
    const classify = new RankSimilarityProbabilisticClassifier(
      given(task, {
        filters: filtersOf(task),
        ...(isSparseTask(task) ? { distribution: "savage" as const, spreading: "none" as const } : {}),
        nBest: 50,
        combine: "mean" as const,
        thresholds: "perLabel" as const,
        ...calibrationOfLabels(task),
      }),
    );
    return {
      estimator: pipelineOf(steps, classify as Chosen["estimator"]),
      what: `${what}${classify.params.filters} filters with shares of labels, a threshold for each label`,
    };
  },
};

export const labelPlanes: Candidate = {
  name: "linear, a plane for each label",
  isUsual: true,
  suits: (task) => task.labels === "several" && takesParams(task, LINEAR_PARAMETERS),
  cost: (task, rows) => linearCost(task, rows, entriesOf(task)),
  purposes: [],
  streams: true,
  make: (task): Chosen => {
    const { steps, what } = before(task, 1);
    const head = linearHead({ ...task, params: { thresholds: "perLabel", ...task.params } }, entriesOf(task));
    return {
      estimator: pipelineOf(steps, head as Chosen["estimator"]),
      what: `${what}a plane and a threshold for each label`,
    };
  },
};
