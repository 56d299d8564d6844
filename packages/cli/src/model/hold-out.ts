/** Rows held out of training: at random, by groups that must not be on both sides, or by time, the latest rows. */

import { type Fold, gatherRows, groupFolds, type Label, type Labels, RanksimError, trainTestRows } from "@ranksim/core";
import { type AnySource, type DataSet, type MatrixData, timesOf, typedLabels } from "@ranksim/data";
import { type Command, Option } from "commander";
import { columnValues, columnWeights, refuseWithoutColumns } from "../files/column-values.ts";
import { isSets } from "../files/labels.ts";
import { flagOf, shareBelowOne } from "../flags/parameter-flags.ts";
import { column, type ReadingOptions } from "../flags/reading-flags.ts";
import type { Session } from "../session.ts";
import { pickSource } from "./source-rows.ts";

/** The options as commander gives them. */
export interface SplitFlags {
  readonly groupColumn?: string | number;
  readonly timeColumn?: string | number;
  readonly weightColumn?: string | number;
}

const GROUP = "Rows to judge by:";

/** Adds --group-column and --time-column. */
export function addSplitFlags(command: Command): Command {
  return command
    .addOption(
      new Option("--group-column <c>", "rows of one group (a patient, a writer) are never on both sides of a split")
        .argParser(column)
        .helpGroup(GROUP),
    )
    .addOption(
      new Option("--time-column <c>", "the latest rows are those to judge by")
        .argParser(column)
        .conflicts("groupColumn")
        .helpGroup(GROUP),
    );
}

/** Adds --test-share. */
export function addTestShare(command: Command): Command {
  return command.addOption(
    new Option("--test-share <share>", "hold this share of the rows out of training and judge the model by them")
      .argParser(shareBelowOne)
      .helpGroup(GROUP),
  );
}

/** Adds --weight-column. */
export function addWeightColumn(command: Command): Command {
  return command.addOption(
    new Option(
      "--weight-column <c>",
      "column that says how much each row counts in training, as a number above 0",
    ).argParser(column),
  );
}

/** How much each row of data of `all` rows counts, where a column says so; of the listed rows alone, where some are held out. */
export async function rowWeights(
  what: readonly string[],
  options: ReadingOptions & SplitFlags,
  { io }: Session,
  all: number,
  listed: Uint32Array | undefined,
): Promise<Float64Array | undefined> {
  const { weightColumn: column } = options;
  if (column === undefined) return undefined;
  const weights = await columnWeights(what, { column, flag: "--weight-column", rows: all }, options, io);
  return listed ? Float64Array.from(listed, (r) => weights[r]) : weights;
}

/** The reading options without the columns that only say how to split or how much rows count. */
export function withoutSplitColumns<O extends ReadingOptions & SplitFlags>(options: O): O {
  const { groupColumn, timeColumn, weightColumn } = options;
  const only = [groupColumn, timeColumn, weightColumn].filter((name) => name !== undefined);
  return only.length === 0 ? options : { ...options, ignoreColumns: [...(options.ignoreColumns ?? []), ...only] };
}

/** Reads with those columns left out, of data that may have some; one that is not there is blamed on the flag that names it. */
export async function readingWithout<T>(
  what: readonly string[],
  options: ReadingOptions & SplitFlags,
  { io }: Session,
  read: () => Promise<T>,
): Promise<T> {
  const given = SPLIT_FLAGS.find((flag) => options[flag] !== undefined);
  if (given) await refuseWithoutColumns(what, flagOf(given), options, io);
  try {
    return await read();
  } catch (error) {
    const name = SPLIT_FLAGS.find((flag) => isBlamed(error, options[flag]));
    if (!name || !(error instanceof RanksimError)) throw error;
    throw new RanksimError(error.code, error.message.replace(/^ignoreColumns/, flagOf(name)), { cause: error });
  }
}

const SPLIT_FLAGS = ["groupColumn", "timeColumn", "weightColumn"] as const;

function isBlamed(error: unknown, column: string | number | undefined): boolean {
  if (!(error instanceof RanksimError) || column === undefined) return false;
  return error.message.startsWith("ignoreColumns: ") && error.message.includes(`found ${JSON.stringify(column)}`);
}

/** How a column says that rows are split: by the group of each, or by its moment. */
export interface SplitColumn {
  readonly groups?: readonly string[];
  readonly times?: Float64Array;
}

/** What the column that says how to split holds, row by row; nothing where there is none. */
export async function splitColumn(
  what: readonly string[],
  options: ReadingOptions & SplitFlags,
  { io }: Session,
  rows: number,
): Promise<SplitColumn> {
  const { groupColumn, timeColumn } = options;
  if (groupColumn !== undefined) {
    const { values } = await columnValues(what, { column: groupColumn, flag: "--group-column", rows }, options, io);
    // Whether 01 is a number depends on all files: a group must be the same in each.
    return { groups: Array.from<unknown, string>(typedLabels(values), String) };
  }
  if (timeColumn === undefined) return {};
  const flag = "--time-column";
  const { values, placeOf } = await columnValues(what, { column: timeColumn, flag, rows }, options, io);
  const texts = Array.from<unknown, string>(values, String);
  return { times: timesOf(texts, (row) => `${flag}: ${placeOf(row)}`) };
}

/** Training and test rows, and which rows are trained on. */
export function holdOut(
  set: DataSet,
  share: number,
  seed: number,
  split: SplitColumn,
): { readonly train: DataSet; readonly test: DataSet; readonly rows: Uint32Array } {
  const fold = foldOf(set.y, share, seed, split);
  refuseEmpty(fold);
  return { train: gatherData(set, fold.train), test: gatherData(set, fold.test), rows: fold.train };
}

/** The same for rows that are read when they are needed. */
export async function holdOutSource<D extends AnySource>(
  data: D,
  share: number,
  seed: number,
  split: SplitColumn,
): Promise<{ readonly train: D; readonly test: D; readonly rows: Uint32Array }> {
  const fold = foldOf(data.y, share, seed, split);
  refuseEmpty(fold);
  return { train: await pickSource(data, fold.train), test: await pickSource(data, fold.test), rows: fold.train };
}

function refuseEmpty(fold: Fold): void {
  if (fold.train.length === 0 || fold.test.length === 0) {
    throw new RanksimError(
      "empty-input",
      `expected rows on both sides of the split, found ${fold.train.length} and ${fold.test.length}`,
    );
  }
}

function foldOf(labels: DataSet["y"], share: number, seed: number, split: SplitColumn): Fold {
  if (labels === undefined) throw new RanksimError("bad-labels", "--test-share: expected labels, found none");
  if (split.times) return latest(split.times, share);
  if (split.groups) {
    // The first of as many folds as the share is contained in the whole.
    return groupFolds(split.groups, { folds: Math.max(2, Math.round(1 / share)), seed })[0];
  }
  return trainTestRows(labels as Labels, { testShare: share, seed, stratify: !isSets(labels) });
}

/** The latest rows to judge by, about this share of all: rows of one moment stay on one side. */
function latest(times: Float64Array, share: number): Fold {
  const sorted = times.slice().sort();
  const wanted = times.length * (1 - share);
  const cuts = Array.from(sorted.keys()).filter((r) => r > 0 && sorted[r] > sorted[r - 1]);
  if (cuts.length === 0) {
    throw new RanksimError("empty-input", "--time-column: expected rows of several moments, found one");
  }
  const cut = cuts.reduce((best, r) => (Math.abs(r - wanted) < Math.abs(best - wanted) ? r : best));
  const rows = Array.from(times.keys());
  const part = (isLate: boolean) => Uint32Array.from(rows.filter((r) => times[r] >= sorted[cut] === isLate));
  return { train: part(false), test: part(true) };
}

/** The listed rows of a data set. */
function gatherData(set: DataSet, rows: ArrayLike<number>): DataSet {
  const { rowNames, y } = set;
  const facts = {
    ...(y ? { y: gatherRows(y as readonly Label[], rows) } : {}),
    ...(rowNames ? { rowNames: gatherRows(rowNames, rows) } : {}),
  };
  if (set.form === "table") return { ...set, table: set.table.gather(rows), ...facts };
  return set.form === "text"
    ? { ...set, text: gatherRows(set.text, rows), ...facts }
    : { ...set, x: set.x.gather(rows), ...scaledRows(set, rows), ...facts };
}

/** The listed images in all of their sizes. */
function scaledRows({ scaled }: MatrixData, rows: ArrayLike<number>): Pick<MatrixData, "scaled"> {
  if (!scaled) return {};
  return { scaled: { ...scaled, sizes: scaled.sizes.map((size) => ({ ...size, x: size.x.gather(rows) })) } };
}
