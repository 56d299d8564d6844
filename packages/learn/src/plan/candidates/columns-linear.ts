/** Encoded columns and a linear classifier: what each column says adds up. */

import { named } from "../task.ts";
import { type Candidate, entriesOf, linearCost } from "./candidate.ts";
import { encoder, isClassified, isLinear, linearHead } from "./columns.ts";

const withKnots = (name: string, isUsual: boolean, own: Parameters<typeof encoder>[1]): Candidate => ({
  name,
  isUsual,
  suits: (task) => isClassified(task) && isLinear(task),
  cost: (task, rows) => linearCost(task, rows, entriesOf(task)),
  purposes: [],
  streams: true,
  make: (task) => ({
    estimator: named(encoder(task, own), ["head", linearHead(task, entriesOf(task))]),
    what: "columns encoded, a linear classifier",
  }),
});

export const columnsLinear = withKnots("columns, linear", true, {});
/** Few rows tell of straight lines at most. */
export const columnsStraight = withKnots("columns as straight lines, linear", false, { knots: 2 });
export const columnsFine = withKnots("columns divided finely, linear", false, { spacing: "quantile", knots: 17 });
