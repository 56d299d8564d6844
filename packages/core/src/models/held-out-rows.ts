/** Which rows a fit holds out to fit probabilities or choose thresholds on, and what it says about them. */

import { type HeldOut, holdOut } from "../beyond/held-out.ts";
import { RanksimError } from "../errors.ts";
import { drawWithoutReplacement, Streams } from "../random.ts";
import type { ClassifierParams, ProbabilisticParams } from "./params.ts";

/** Share of the rows that probabilities are fitted on. */
const CALIBRATION_SHARE = 0.1;
/** The same where filters are trained on all rows and once more without these: functions of each class may have more. */
const AGAIN_SHARE = 0.4;
/** Share of the rows that thresholds are chosen on: rare labels need more rows than probabilities do. */
const THRESHOLD_SHARE = 0.2;

/** Times that rows are divided where each is held out once. */
const FOLDS = 3;

/** Rows held out, and a note that says so. */
export type RowsToFit = HeldOut & { readonly note: string };

type Params = Pick<ClassifierParams, "seed" | "calibrate"> &
  Partial<Pick<ProbabilisticParams, "thresholds"> & Pick<ClassifierParams, "calibrateOn">> & {
    readonly initialRows: readonly (number | readonly number[])[] | undefined;
  };

/**
 * Holds out a share of each class, drawn with the seed or the last rows, if the parameters ask for probabilities or thresholds; of rows for
 * one factor at most `enough`, the others are trained on. Rows that training starts from stay in it. Refuses (code "bad-params") data too
 * small to hold out a row.
 */
export function rowsToFitOn(
  codes: Uint32Array,
  classes: number,
  { seed, calibrate, thresholds = "none", calibrateOn, initialRows }: Params,
  enough = Number.POSITIVE_INFINITY,
): readonly RowsToFit[] {
  if (thresholds === "none" && calibrate === "none") return [];
  const [purpose, why] =
    thresholds === "none" ? ["calibrate", "fit probabilities"] : ["thresholds", "choose thresholds"];
  let share = calibrate === "isotonic" && calibrateOn !== undefined ? AGAIN_SHARE : CALIBRATION_SHARE;
  if (calibrate === "temperature") share = Math.min(share, enough / codes.length);
  if (thresholds !== "none") share = THRESHOLD_SHARE;
  const training = Array.from(initialRows ?? []).flatMap((row) => (typeof row === "number" ? row : Array.from(row)));
  if (calibrateOn === "folds") return foldsOf(codes, classes, seed, training);
  const which = calibrateOn === "last" ? "last" : new Streams(seed).heldOut(classes);
  const rows = holdOut(codes, classes, share, which, training);
  if (rows.heldOut.length === 0) {
    throw new RanksimError(
      "bad-params",
      `${purpose}: expected enough rows to hold out a share of ${share}, found ${codes.length} in ${classes} classes`,
    );
  }
  return [{ ...rows, note: noteOf(rows.heldOut, codes, why) }];
}

const noteOf = (heldOut: Uint32Array, codes: Uint32Array, why: string) =>
  `${heldOut.length} of ${codes.length} rows were held out of training to ${why}`;

/** Each row of a class is held out once, but those in `training` and the only row of a class; none where there are no others. */
function foldsOf(codes: Uint32Array, classes: number, seed: number, training: readonly number[]): readonly RowsToFit[] {
  const mustTrain = new Set(training);
  const counts = new Uint32Array(classes);
  for (const c of codes) counts[c]++;
  const order = drawWithoutReplacement(new Streams(seed).heldOut(classes), codes.length, codes.length);
  const dealt = new Uint32Array(classes);
  const fold = new Uint8Array(codes.length).fill(FOLDS);
  for (const r of order) if (counts[codes[r]] > 1 && !mustTrain.has(r)) fold[r] = dealt[codes[r]]++ % FOLDS;
  const all = Uint32Array.from(codes.keys());
  return Array.from({ length: FOLDS }, (_, f) => {
    const heldOut = all.filter((r) => fold[r] === f);
    const train = all.filter((r) => fold[r] !== f);
    return { train, heldOut, note: noteOf(heldOut, codes, "fit probabilities") };
  }).filter(({ heldOut }) => heldOut.length > 0);
}
