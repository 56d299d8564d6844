/**
 * Dividing rows into training and test rows, seeded. Stratified divisions keep the share of each class within one row.
 * Rows of each part come in ascending order, so a division is a set and not an order.
 */

import {
  asMatrix,
  isMatrix,
  type Label,
  type LabelSets,
  type Labels,
  type MatrixLike,
  RanksimError,
} from "@ranksim/core";
import { drawWithoutReplacement, encodeLabels, generatorOf, isLabelSets } from "@ranksim/core/internal";

/** Rows of any other kind that can be picked, such as those of a table for its encoder. */
export interface PickableRows {
  readonly rows: number;
  /** The listed rows, in the same form. */
  gather(rows: ArrayLike<number>): PickableRows;
}

/** Data whose rows can be picked: numbers, texts for a pipeline that begins with a vectoriser, or rows that know how to. */
export type Samples = MatrixLike | readonly string[] | PickableRows;

/** Rows to train on and rows to test on. */
export interface Fold {
  readonly train: Uint32Array;
  readonly test: Uint32Array;
}

export interface FoldOptions {
  /** How many; from 2 to the number of rows. Default 5. */
  readonly folds?: number;
  readonly seed?: number;
}

export interface SplitOptions {
  /** Share of the rows that goes to the test part, rounded to whole rows, at least one row on each side. Default 0.25. */
  readonly testShare?: number;
  readonly seed?: number;
  /** Whether each class keeps its share. Needs one label per row. */
  readonly stratify?: boolean;
}

/** Both parts of the data, and which rows they are. */
export interface Split<X, Y> {
  readonly train: { readonly x: X; readonly y: Y };
  readonly test: { readonly x: X; readonly y: Y };
  readonly rows: Fold;
}

/** Divides rows and their labels into a training and a test part. */
export function trainTestSplit<X extends Samples, Y extends Labels | LabelSets>(
  x: X,
  y: Y,
  options: SplitOptions = {},
): Split<X, Y> {
  checkSameCount(countRows(x), y);
  const fold = trainTestRows(y, options);
  return {
    train: { x: gatherRows(x, fold.train), y: gatherRows(y, fold.train) },
    test: { x: gatherRows(x, fold.test), y: gatherRows(y, fold.test) },
    rows: fold,
  };
}

/** The rows of `trainTestSplit` alone: they depend on the labels, so the data itself need not be in memory. */
export function trainTestRows(
  y: Labels | LabelSets,
  { testShare = 0.25, seed = 0, stratify = false }: SplitOptions = {},
): Fold {
  const rows = countRows(y);
  checkSeed(seed);
  if (!(testShare > 0 && testShare < 1)) {
    throw new RanksimError("bad-params", `expected testShare above 0 and below 1, found ${testShare}`);
  }
  if (rows < 2) throw new RanksimError("empty-input", `expected at least 2 rows to split, found ${rows}`);
  const testRows = Math.min(Math.max(Math.round(rows * testShare), 1), rows - 1);
  const inTest = new Uint8Array(rows);
  const groups = stratify
    ? shuffledByClass(oneLabel(y), seed)
    : [drawWithoutReplacement(generatorOf(seed), rows, rows)];
  const counts = shareOut(
    testRows,
    groups.map((group) => group.length),
  );
  groups.forEach((group, c) => {
    for (const r of group.subarray(0, counts[c])) inTest[r] = 1;
  });
  return foldOf(rows, (r) => inTest[r] === 1);
}

/** Divides `rows` rows into folds whose test parts hold each row once and differ by at most one row in size. */
export function folds(rows: number, { folds: count = 5, seed = 0 }: FoldOptions = {}): Fold[] {
  checkSeed(seed);
  checkFolds(count, rows);
  return deal(drawWithoutReplacement(generatorOf(seed), rows, rows), count);
}

/** Folds as of `folds`, where also the rows of each class differ by at most one between test parts. */
export function stratifiedFolds(y: Labels, { folds: count = 5, seed = 0 }: FoldOptions = {}): Fold[] {
  checkSeed(seed);
  checkFolds(count, y.length);
  const order = new Uint32Array(y.length);
  let at = 0;
  for (const group of shuffledByClass(oneLabel(y), seed)) {
    order.set(group, at);
    at += group.length;
  }
  return deal(order, count);
}

/**
 * Folds in which rows of one group (a patient, a writer, a session) are never on both sides. Groups, in random order and
 * larger ones first, go each to the fold that has the fewest rows so far.
 */
export function groupFolds(groups: ArrayLike<Label>, { folds: count = 5, seed = 0 }: FoldOptions = {}): Fold[] {
  checkSeed(seed);
  const { classes, codes } = encodeLabels(groups, groups.length);
  if (!Number.isSafeInteger(count) || count < 2 || count > classes.length) {
    throw new RanksimError(
      "bad-params",
      `expected folds from 2 to the number of groups (${classes.length}), found ${count}`,
    );
  }
  const sizes = new Float64Array(classes.length);
  for (const code of codes) sizes[code]++;
  const order = drawWithoutReplacement(generatorOf(seed), classes.length, classes.length);
  const place = new Uint32Array(classes.length);
  order.forEach((group, position) => {
    place[group] = position;
  });
  const filled = new Float64Array(count);
  const foldOfGroup = new Uint32Array(classes.length);
  for (const group of Array.from(order).sort((a, b) => sizes[b] - sizes[a] || place[a] - place[b])) {
    const fold = filled.indexOf(Math.min(...filled));
    foldOfGroup[group] = fold;
    filled[fold] += sizes[group];
  }
  return Array.from(filled, (_, j) => foldOf(codes.length, (r) => foldOfGroup[codes[r]] === j));
}

/**
 * Folds that look ahead: rows in the order of their times are cut into one part more than there are folds, and each fold
 * trains on all parts up to one and tests on the next. Rows of one moment are never on both sides.
 */
export function timeFolds(times: ArrayLike<number>, { folds: count = 5 }: FoldOptions = {}): Fold[] {
  const rows = times.length;
  const odd = Array.from(times).findIndex((time) => !Number.isFinite(time));
  if (odd >= 0) throw new RanksimError("bad-params", `expected finite times, found ${times[odd]} at row ${odd}`);
  checkFolds(count, rows);
  const sorted = Float64Array.from(times).sort();
  // The first moment of each part after the first; a row belongs to the last part whose first moment has come.
  const starts = Array.from({ length: count }, (_, j) => sorted[Math.floor(((j + 1) * rows) / (count + 1))]);
  const partOf = (r: number) => starts.reduce((part, start, j) => (times[r] >= start ? j + 1 : part), 0);
  const parts = Uint32Array.from({ length: rows }, (_, r) => partOf(r));
  return starts.map((_, j) => {
    const all = Uint32Array.from({ length: rows }, (_, r) => r);
    const fold = { train: all.filter((r) => parts[r] <= j), test: all.filter((r) => parts[r] === j + 1) };
    if (fold.train.length > 0 && fold.test.length > 0) return fold;
    throw new RanksimError(
      "bad-params",
      `expected enough moments for ${count} folds by time, found too many rows of one`,
    );
  });
}

/**
 * All rows in an order whose every beginning is a sample of them: drawn with the seed and, with one label per row, holding each
 * class in its share.
 */
export function sampleOrder(y: Labels | LabelSets, seed = 0): Uint32Array {
  checkSeed(seed);
  const rows = countRows(y);
  if (isLabelSets(y)) return drawWithoutReplacement(generatorOf(seed), rows, rows);
  const place = new Float64Array(rows);
  for (const group of shuffledByClass(y, seed)) {
    group.forEach((r, j) => {
      place[r] = (j + 0.5) / group.length;
    });
  }
  return Uint32Array.from(place.keys()).sort((a, b) => place[a] - place[b] || a - b);
}

/** The listed rows of a matrix, of rows of numbers, of texts or of labels, in the same form. */
export function gatherRows<T extends Samples | Labels | LabelSets>(data: T, rows: ArrayLike<number>): T {
  if (isMatrix(data)) return asMatrix(data).gather(rows) as unknown as T;
  if (isPickable(data)) return data.gather(rows) as unknown as T;
  const source = data as ArrayLike<unknown>;
  if (Array.isArray(source)) return Array.from(rows, (r) => source[r]) as unknown as T;
  const typed = source.constructor as unknown as { from(rows: ArrayLike<number>, pick: (r: number) => unknown): T };
  return typed.from(rows, (r) => source[r]);
}

/** How many rows the data has. */
export function countRows(data: Samples | Labels | LabelSets): number {
  return isMatrix(data) || isPickable(data) ? data.rows : data.length;
}

/** Whether the data picks its rows itself. */
export function isPickable(data: unknown): data is PickableRows {
  return typeof data === "object" && data !== null && "gather" in data && typeof data.gather === "function";
}

/** Deals the rows out in turn: neighbours in `order` go to different folds. */
function deal(order: Uint32Array, count: number): Fold[] {
  const foldOfRow = new Uint32Array(order.length);
  order.forEach((r, position) => {
    foldOfRow[r] = position % count;
  });
  return Array.from({ length: count }, (_, j) => foldOf(order.length, (r) => foldOfRow[r] === j));
}

function foldOf(rows: number, inTest: (row: number) => boolean): Fold {
  const all = Uint32Array.from({ length: rows }, (_, r) => r);
  return { train: all.filter((r) => !inTest(r)), test: all.filter(inTest) };
}

/** The rows of each class, in random order. */
function shuffledByClass(y: Labels, seed: number): Uint32Array[] {
  const { classes, codes } = encodeLabels(y, y.length);
  const order = drawWithoutReplacement(generatorOf(seed), y.length, y.length);
  return classes.map((_, c) => order.filter((r) => codes[r] === c));
}

/** `total` shared out over groups in proportion to their sizes: each gets its quota rounded down or up, larger remainders first. */
function shareOut(total: number, sizes: readonly number[]): number[] {
  const all = sizes.reduce((a, b) => a + b);
  const shares = sizes.map((size) => Math.floor((size * total) / all));
  const left = total - shares.reduce((a, b) => a + b);
  const remainder = (c: number) => (sizes[c] * total) % all;
  const order = [...sizes.keys()].sort((a, b) => remainder(b) - remainder(a) || a - b);
  for (const c of order.slice(0, left)) shares[c]++;
  return shares;
}

function oneLabel(y: Labels | LabelSets): Labels {
  if (!isLabelSets(y)) return y;
  throw new RanksimError("bad-params", "expected one label per row to keep the share of each class, found label sets");
}

/** Refuses (code "bad-labels") labels that are not one for each row. */
export function checkSameCount(rows: number, y: Labels | LabelSets): void {
  const labels = countRows(y);
  if (labels !== rows) {
    throw new RanksimError("bad-labels", `expected ${rows} labels, one for each row, found ${labels}`);
  }
}

function checkSeed(seed: number): void {
  if (!Number.isSafeInteger(seed) || seed < 0) {
    throw new RanksimError("bad-params", `expected seed as a whole number from 0, found ${seed}`);
  }
}

function checkFolds(count: number, rows: number): void {
  if (!Number.isSafeInteger(count) || count < 2 || count > rows) {
    throw new RanksimError("bad-params", `expected folds from 2 to the number of rows (${rows}), found ${count}`);
  }
}
