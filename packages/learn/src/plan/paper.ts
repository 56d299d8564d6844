/** The paper's plain method: the estimator that was named, or the one that suits the labels. */

import {
  type Estimator,
  type MatrixLike,
  type Model,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
} from "@ranksim/core";
import { CountVectorizer } from "@ranksim/data";
import { encoder } from "./candidates/columns.ts";
import { TABLE_VOTERS } from "./candidates/columns-votes.ts";
import { type Chosen, type EstimatorName, given, named, type Task, texts } from "./task.ts";

export function paper(task: Task): Chosen {
  const [last, what] = paperStep(task);
  if (task.takes === "numbers") return { estimator: last as Chosen["estimator"], what };
  if (task.takes === "table") {
    const { voters = 1 } = last.params as { readonly voters?: number };
    return {
      estimator: named(encoder(task), ["classify", last]),
      what: `columns encoded, ${voters > 1 ? `${voters} filters that vote` : "filters"}`,
    };
  }
  const words = task.vectorizer ?? new CountVectorizer();
  return {
    estimator: texts(words, last),
    what: `${task.vectorizer ? "numbers of words" : "counts of words"}, ${what}`,
  };
}

function paperStep(task: Task): [Estimator<MatrixLike, Model>, string] {
  switch (estimatorOf(task)) {
    case "transform":
      return [new RankSimilarityTransform(given(task, {})), "the paper's transform"];
    case "probabilistic":
      return [new RankSimilarityProbabilisticClassifier(given(task, {})), "the paper's probabilistic classifier"];
    case "classifier": {
      // Banks of a committee add up their scores: no filters vote there.
      const votes = task.takes === "table" && task.params.committee === undefined ? { voters: TABLE_VOTERS } : {};
      return [new RankSimilarityClassifier(given(task, votes)), "the paper's classifier"];
    }
  }
}

/** The estimator that was named, else the one that suits the labels. */
function estimatorOf({ estimator, labels }: Task): EstimatorName {
  if (estimator !== undefined) return estimator;
  return labels === "none" ? "transform" : labels === "several" ? "probabilistic" : "classifier";
}
