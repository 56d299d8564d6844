/**
 * Which rows a point trains on and tests on, as lists of row numbers. Samples are dealt out like cards (one of k equal parts),
 * classes in their shares, by the library's own seeded folds; so Node and Python are given the very same rows.
 */

import { folds, stratifiedFolds } from "@ranksim/learn";

/** Which rows are trained on and which are tested on. */
export interface RowChoice {
  /** A fold of all rows together; the published train and test parts where absent. */
  readonly fold?: { readonly of: number; readonly at: number };
  /** Train on one of this many equal parts, drawn with the seed, classes in their shares; all rows where absent. */
  readonly trainParts?: number;
  /** The same for the test rows. */
  readonly testParts?: number;
  readonly seed: number;
}

/** Rows in the order: training part, test part, as published. `y` is absent for label sets. */
export interface Laid {
  readonly rows: number;
  readonly trainRows: number;
  readonly y?: Uint8Array;
}

/** Row numbers, ascending. */
export interface Chosen {
  readonly train: Uint32Array;
  readonly test: Uint32Array;
}

/** The seed of folds: all systems, whatever their own seed, are tested on the same folds. */
const FOLD_SEED = 0;

/** The rows of a choice. */
export function chooseRows(laid: Laid, choice: RowChoice): Chosen {
  const whole = choice.fold ? foldOf(laid, choice.fold.of, choice.fold.at) : published(laid);
  return {
    train: onePart(laid, whole.train, choice.trainParts, choice.seed),
    test: onePart(laid, whole.test, choice.testParts, choice.seed),
  };
}

function published({ rows, trainRows }: Laid): Chosen {
  const all = Uint32Array.from({ length: rows }, (_, r) => r);
  return { train: all.subarray(0, trainRows), test: all.subarray(trainRows) };
}

function foldOf({ rows, y }: Laid, of: number, at: number): Chosen {
  const options = { folds: of, seed: FOLD_SEED };
  return (y ? stratifiedFolds(y, options) : folds(rows, options))[at];
}

/** Splitting makes all parts though one is taken; more than this many are split in two rounds. */
const MOST_AT_ONCE = 60;

function onePart(laid: Laid, rows: Uint32Array, parts: number | undefined, seed: number): Uint32Array {
  if (parts === undefined || parts <= 1) return rows;
  if (parts > MOST_AT_ONCE) {
    const first = largestDivisor(parts, Math.sqrt(parts));
    if (first > 1) return onePart(laid, onePart(laid, rows, parts / first, seed), first, seed);
  }
  const { y } = laid;
  const options = { folds: parts, seed };
  const picked = y
    ? stratifiedFolds(
        rows.map((r) => y[r]),
        options,
      )
    : folds(rows.length, options);
  return picked[0].test.map((position) => rows[position]);
}

function largestDivisor(number: number, most: number): number {
  for (let divisor = Math.floor(most); divisor > 1; divisor--) if (number % divisor === 0) return divisor;
  return 1;
}
