/** What candidates that encode the columns of a table share. */

import { CLASSIFIER_PARAMETERS, type Estimator, LINEAR_PARAMETERS, LinearClassifier } from "@ranksim/core";
import { TableEncoder, type TableLike, type TableParams } from "@ranksim/data";
import { keptOf, kindOfColumn } from "../prepare.ts";
import type { Task } from "../task.ts";
import { passesOf, takesParams } from "./candidate.ts";

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

/** A linear classifier of rows of so many entries, with the parameters given. */
export const linearHead = (task: Task, entries: number): LinearClassifier =>
  new LinearClassifier({ seed: task.seed, maxIterations: passesOf(task, entries), ...task.params });
