/** What candidates that encode the columns of a table share. */

import { CLASSIFIER_PARAMETERS, type Estimator, LINEAR_PARAMETERS, LinearClassifier } from "@ranksim/core";
import { TableEncoder, type TableLike, type TableParams } from "@ranksim/data";
import { keptOf, kindOfColumn } from "../prepare.ts";
import type { Task } from "../task.ts";
import { takesParams } from "./candidate.ts";

/** The encoder of the columns; what was said of it by hand goes first. */
export function encoder(task: Task, own: Partial<TableParams> = {}): [string, Estimator<TableLike>] {
  const types = Object.fromEntries(keptOf(task.columns).map((column) => [column.name, kindOfColumn(column)]));
  return ["encode", new TableEncoder({ ...own, ...task.encoding, types })];
}

/** Whether the task has a table whose rows have one class each. */
export const isClassified = (task: Task): boolean => task.takes === "table" && task.labels === "one";

/** Whether nothing was given that a linear classifier does not take. */
export const isLinear = (task: Task): boolean => takesParams(task, LINEAR_PARAMETERS);

/** Whether nothing was given that filters of classes do not take. */
export const hasFilters = (task: Task): boolean => takesParams(task, CLASSIFIER_PARAMETERS);

/** Passes over the rows at most, and entries that are visited in all passes for one plane. */
const PASSES = { least: 10, most: 200 };
const MOST_VISITS = 2e8;

/** A linear classifier of rows of so many entries, with the parameters given. Of many rows few passes are enough. */
export function linearHead({ seed, params, rows }: Task, entries: number): LinearClassifier {
  const passes = Math.round(MOST_VISITS / (rows * entries));
  const maxIterations = Math.max(PASSES.least, Math.min(PASSES.most, passes));
  return new LinearClassifier({ seed, maxIterations, ...params });
}
