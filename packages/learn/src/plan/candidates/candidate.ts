/** What a candidate is: one way from rows to a model, what it needs of the rows, what it costs, and what can be done with its model. */

import type { ParameterInfo } from "@ranksim/core";
import type { Chosen, Task } from "../task.ts";

/** What a model may have to be good for beside answers. */
export type Purpose = "onnx" | "c" | "update" | "spikes" | "reject";

export const PURPOSES: readonly Purpose[] = ["onnx", "c", "update", "spikes", "reject"];

/** One way from rows to a model. */
export interface Candidate {
  /** A few words, different for each. */
  readonly name: string;
  /** Whether `balanced` tries it; `best` tries all. */
  readonly isUsual: boolean;
  /** Whether the rows are such as it takes. */
  suits(task: Task): boolean;
  /** Multiply-adds of a fit to so many of the rows, roughly: to be compared with those of others. */
  cost(task: Task, rows: number): number;
  /** What its models are good for. */
  readonly purposes: readonly Purpose[];
  /** Whether rows need not fit in memory. */
  readonly streams: boolean;
  make(task: Task): Chosen;
}

/** Whether all parameters given by hand are among these. */
export const takesParams = ({ params }: Task, infos: readonly ParameterInfo[]): boolean =>
  Object.keys(params).every((name) => infos.some((info) => info.name === name));

/** Features that a row of the task has, zeros of sparse rows left out, and of encoded columns. */
export function entriesOf({ data, characters }: Task): number {
  if (data.form === "table") return 2 * data.table.columns.length;
  if (data.form === "text") return Math.max(1, characters / WORD);
  const { rows, features, form, entries } = data.x;
  return form === "csr" ? Math.max(1, entries / rows) : features;
}

/** Characters of a word and what is around it. */
const WORD = 8;

/** Passes over the rows in which a plane is found, and fits that choose what errors cost. */
const PASSES = 8;
const CHOOSING_FITS = 9;
const MOST_CHOOSING_ROWS = 10_000;

/** Multiply-adds of a linear classifier. */
export function linearCost({ classes, labels }: Task, rows: number, entries: number): number {
  const planes = classes === 2 && labels === "one" ? 1 : classes;
  const visits = PASSES * (CHOOSING_FITS * Math.min(rows, MOST_CHOOSING_ROWS) + rows);
  return planes * entries * visits;
}

/** Multiply-adds that a back end does in the time of one of a plain loop. */
const AT_ONCE = 8;

/** Multiply-adds of filters: each row meets each of them in each round. */
export const filtersCost = (rows: number, entries: number, filters: number, rounds: number): number =>
  (rows * entries * filters * rounds) / AT_ONCE;
