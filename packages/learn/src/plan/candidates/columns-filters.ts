/** Encoded columns and similarities to filters of them (the paper's transform), alone or side by side, and a linear classifier. */

import { Pipeline, RankSimilarityTransform, Union } from "@ranksim/core";
import type { Chosen, Task } from "../task.ts";
import { type Candidate, entriesOf, filtersCost, linearCost, together } from "./candidate.ts";
import { encoder, isClassified, isLinear, linearHead } from "./columns.ts";

const FILTERS = 1000;
const N_BEST = 100;

const transform = ({ seed, rows }: Task) =>
  new RankSimilarityTransform({ filters: Math.min(FILTERS, Math.max(2, rows)), nBest: N_BEST, seed });

const candidate = (name: string, isUsual: boolean, isBeside: boolean, what: string): Candidate => ({
  name,
  isUsual,
  suits: (task) => isClassified(task) && isLinear(task),
  cost: (task, rows) =>
    together(
      filtersCost(rows, entriesOf(task), { filters: Math.min(FILTERS, rows) }),
      linearCost(task, rows, Math.min(N_BEST, rows) + (isBeside ? entriesOf(task) : 0)),
    ),
  purposes: [],
  streams: !isBeside,
  make: (task): Chosen => {
    const rst = transform(task);
    const step = isBeside ? new Union([["similar", rst]], { rows: true }) : rst;
    return {
      estimator: new Pipeline([
        encoder(task),
        ["similar", step],
        ["head", linearHead(task, N_BEST + entriesOf(task))],
      ] as never),
      what,
    };
  },
});

export const columnsBesideFilters = candidate(
  "columns beside similarities, linear",
  true,
  true,
  "columns encoded, beside them similarities to filters, a linear classifier",
);
export const columnsThroughFilters = candidate(
  "similarities of columns, linear",
  false,
  false,
  "columns encoded, similarities to filters, a linear classifier",
);
