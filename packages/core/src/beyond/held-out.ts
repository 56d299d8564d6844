/** Rows kept out of training, drawn with the seed or the last ones, to choose thresholds and fit probabilities on. */

import { drawWithoutReplacement, type RandomGenerator } from "../random.ts";

/** Rows to train on and rows held out, each ascending. */
export interface HeldOut {
  readonly train: Uint32Array;
  readonly heldOut: Uint32Array;
}

/**
 * Holds out the given share of each class, rounded to whole rows: drawn ones, or the last. At least one row of a class stays. Rows in
 * `training` are never held out. Without classes give every row the class 0.
 */
export function holdOut(
  codes: Uint32Array,
  classes: number,
  share: number,
  which: RandomGenerator | "last",
  training: Iterable<number> = [],
): HeldOut {
  const all = Uint32Array.from(codes.keys());
  const order = which === "last" ? all.toReversed() : drawWithoutReplacement(which, codes.length, codes.length);
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
  return { train: all.filter((r) => isHeldOut[r] === 0), heldOut: all.filter((r) => isHeldOut[r] === 1) };
}
