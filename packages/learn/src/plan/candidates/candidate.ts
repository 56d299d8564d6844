/** What a candidate is: one way from rows to a model, what it needs of the rows, what it costs, and what can be done with its model. */

import type { ParameterInfo } from "@ranksim/core";
import type { Chosen, Task } from "../task.ts";

/** What a model may have to be good for beside answers. */
export type Purpose = "onnx" | "c" | "update" | "spikes" | "reject";

export const PURPOSES: readonly Purpose[] = ["onnx", "c", "update", "spikes", "reject"];

/**
 * What fits cost, in multiply-adds of a plain loop, each of which takes about a nanosecond. Counted and not timed; the constants are from
 * fits of 100 to 3,000 rows of tables, digits and larger images on one core, and most fits take half to twice what is counted.
 */
export interface Cost {
  /** What is looked for in the first fit and kept in the next ones. */
  readonly once: number;
  readonly each: number;
}

/** Both, one after the other. */
export const together = (...costs: readonly Cost[]): Cost => ({
  once: costs.reduce((sum, { once }) => sum + once, 0),
  each: costs.reduce((sum, { each }) => sum + each, 0),
});

/** One way from rows to a model. */
export interface Candidate {
  /** A few words, different for each. */
  readonly name: string;
  /** Whether `balanced` tries it; `best` tries all. */
  readonly isUsual: boolean;
  /** Whether the rows are such as it takes. */
  suits(task: Task): boolean;
  /** What fits to so many of the rows cost, roughly: to be compared with those of others. */
  cost(task: Task, rows: number): Cost;
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

/** Any fit takes this long. */
const LEAST = 2e7;

/** Passes over the rows in which a plane is found, at most, and entries that are visited in all passes for one plane and for all. */
const PASSES = { least: 10, usual: 40, most: 200 };
const MOST_VISITS = { plane: 2e8, all: 8e8 };
/** What a visit of a row takes besides its entries. */
const ENTRIES_OF_VISIT = 16;
/** Fits to all rows: three folds and all of them once, and three folds for each cost of errors that is tried. */
const FITS = { once: 6, each: 3 };
const MOST_CHOOSING_ROWS = 10_000;

const planesOf = ({ classes, labels }: Task): number => (classes === 2 && labels === "one" ? 1 : classes);

/**
 * The most passes over rows of so many entries. Of many rows few passes are enough, and so they are where planes are many: 20 planes of texts
 * converge in 23; those of counts as they were read do not in 100, which takes 11 s of 1,490 cells and 13 planes.
 */
export function passesOf(task: Task, entries: number): number {
  const visits = task.rows * entries;
  const each = Math.round(MOST_VISITS.plane / visits);
  const all = Math.max(PASSES.usual, Math.round(MOST_VISITS.all / (planesOf(task) * visits)));
  return Math.max(PASSES.least, Math.min(PASSES.most, each, all));
}

/** A linear classifier, for which it is chosen what errors cost. */
export function linearCost(task: Task, rows: number, entries: number): Cost {
  const row = planesOf(task) * (entries + ENTRIES_OF_VISIT) * Math.min(PASSES.usual, passesOf(task, entries));
  return { once: row * FITS.once * Math.min(rows, MOST_CHOOSING_ROWS), each: LEAST + row * FITS.each * rows };
}

/** Multiply-adds that a back end does in the time of one of a plain loop. */
const AT_ONCE = 16;
/** What an update of refinement takes besides. */
const UPDATE = 2500;

/** Filters that each row meets in each round, and in each epoch of refinement of each bank; fitted twice where probabilities are. */
export function filtersCost(
  rows: number,
  entries: number,
  { filters, rounds = 6, epochs = 0, banks = 1 }: { filters: number; rounds?: number; epochs?: number; banks?: number },
): Cost {
  const meeting = (entries * filters) / AT_ONCE;
  return { once: 0, each: LEAST + 2 * rows * (rounds * meeting + epochs * (meeting + banks * UPDATE)) };
}
