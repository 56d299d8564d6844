/** Rows without labels: filters that transform them. */

import { RankSimilarityTransform, WHOLE_PARAMETERS } from "@ranksim/core";
import { TfidfVectorizer } from "@ranksim/data";
import { type Chosen, given, named, type Task, texts } from "../task.ts";
import { type Candidate, entriesOf, filtersCost, takesParams } from "./candidate.ts";
import { encoder } from "./columns.ts";

export const filtersAlone: Candidate = {
  name: "filters without labels",
  isUsual: true,
  suits: (task) => task.labels === "none" && takesParams(task, WHOLE_PARAMETERS),
  cost: (task, rows) => filtersCost(rows, entriesOf(task), { filters: Math.min(1000, rows) }),
  purposes: ["onnx", "update"],
  streams: true,
  make: (task: Task): Chosen => {
    if (task.takes === "text") {
      const maxFeatures = task.preset === "best" ? 30_000 : 10_000;
      const words = task.vectorizer ?? new TfidfVectorizer({ maxFeatures, logTf: true, idfPower: 2 });
      const transform = new RankSimilarityTransform(given(task, { distribution: "savage" as const }));
      const weighted = task.vectorizer ? "numbers of words" : "weighted tf-idf";
      return { estimator: texts(words, transform), what: `${weighted}, filters of Savage scores without labels` };
    }
    const transform = new RankSimilarityTransform(given(task, {}));
    if (task.takes === "table") {
      return { estimator: named(encoder(task), ["classify", transform]), what: "columns encoded, filters" };
    }
    return { estimator: transform as Chosen["estimator"], what: "filters without labels" };
  },
};
