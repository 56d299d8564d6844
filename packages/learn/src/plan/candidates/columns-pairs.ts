/** Encoded columns, each two of them together, and a linear classifier. */

import { MOST_PAIRED, PairTransform, Pipeline } from "@ranksim/core";
import type { Chosen, Task } from "../task.ts";
import { type Candidate, entriesOf, linearCost } from "./candidate.ts";
import { encoder, isClassified, isLinear, linearHead } from "./columns.ts";

/** Pairs that all rows together may have: more take gigabytes. */
const MOST_ENTRIES = 2 ** 26;

const entries = (task: Task): number => (entriesOf(task) * (entriesOf(task) + 1)) / 2;

const withKnots = (name: string, isUsual: boolean, knots: number): Candidate => ({
  name,
  isUsual,
  suits: (task) =>
    isClassified(task) &&
    isLinear(task) &&
    task.encoding.knots === undefined &&
    (entriesOf(task) / 2) * knots <= MOST_PAIRED &&
    entries(task) * task.rows <= MOST_ENTRIES,
  cost: (task, rows) => linearCost(task, rows, entries(task)),
  purposes: [],
  streams: false,
  make: (task): Chosen => ({
    estimator: new Pipeline([
      encoder(task, { knots }),
      ["pairs", new PairTransform()],
      ["head", linearHead(task, entries(task))],
    ] as never),
    what: "columns encoded, pairs of columns, a linear classifier",
  }),
});

export const columnsPairs = withKnots("pairs of columns, linear", true, 9);
export const columnsCoarsePairs = withKnots("pairs of columns divided coarsely, linear", false, 4);
