/** Rows kept out of training, drawn with the seed or the last ones, to choose thresholds and fit probabilities on. */

import { drawWithoutReplacement, type RandomGenerator } from "../random.ts";

/** Rows to train on and rows held out, each ascending. */
export interface HeldOut {
  readonly train: Uint32Array;
  readonly heldOut: Uint32Array;
}

/**
 * Holds out the given share of each class, rounded to whole rows, and at least one row of a class stays. Rows in `training`
 * are never held out. Without classes give every row the class 0.
 */
export function holdOut(
  codes: Uint32Array,
  classes: number,
  share: number,
  generator: RandomGenerator,
  training: Iterable<number> = [],
): HeldOut {
  return holdOutFirstOf(drawWithoutReplacement(generator, codes.length, codes.length), codes, classes, share, training);
}

/** Holds out the last rows of each class in the place of rows that are drawn. */
export function holdOutLast(
  codes: Uint32Array,
  classes: number,
  share: number,
  training: Iterable<number> = [],
): HeldOut {
  return holdOutFirstOf(Uint32Array.from(codes.keys()).reverse(), codes, classes, share, training);
}

/** Holds out, of all rows in the given order, the first ones of each class. */
function holdOutFirstOf(
  order: Iterable<number>,
  codes: Uint32Array,
  classes: number,
  share: number,
  training: Iterable<number>,
): HeldOut {
  const rows = new Uint32Array(classes);
  for (const c of codes) rows[c]++;
  const left = rows.map((count) => Math.max(0, Math.min(Math.round(count * share), count - 1)));
  const mustTrain = new Uint8Array(codes.length);
  for (const r of training) mustTrain[r] = 1;
  const isHeldOut = new Uint8Array(codes.length);
  for (const r of order) {
    if (mustTrain[r] === 1 || left[codes[r]] === 0) continue;
    left[codes[r]]--;
    isHeldOut[r] = 1;
  }
  const all = Uint32Array.from(codes.keys());
  return { train: all.filter((r) => isHeldOut[r] === 0), heldOut: all.filter((r) => isHeldOut[r] === 1) };
}
