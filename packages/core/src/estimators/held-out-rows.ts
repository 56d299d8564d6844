/** Which rows a fit holds out to fit probabilities and choose thresholds on, and what it says about them. */

import { type HeldOut, holdOut, holdOutLast } from "../beyond/held-out.ts";
import { RanksimError } from "../errors.ts";
import { Streams } from "../random.ts";
import type { ClassifierParams } from "./params.ts";

/** Share of the rows that probabilities are fitted on. */
export const CALIBRATION_SHARE = 0.1;
/** The same where filters are trained on all rows and once more without these: functions of each class may have more. */
const AGAIN_SHARE = 0.4;
/** Rows that are enough for one factor; functions of each class need all of the share. */
const FACTOR_ROWS = 2500;
/** Share of the rows that thresholds are chosen on: rare labels need more rows than probabilities do. */
export const THRESHOLD_SHARE = 0.2;

type CalibrateOn = { readonly calibrateOn?: ClassifierParams["calibrateOn"] };

/** The rows of one class each that are held out to fit probabilities; none where these are not fitted. Refuses what `holdOutRows` does. */
export function calibrationRows(
  codes: Uint32Array,
  classes: number,
  params: Pick<ClassifierParams, "calibrate" | "calibrateOn" | "seed" | "initialRows">,
): ReturnType<typeof holdOutRows> | undefined {
  const { calibrate, calibrateOn } = params;
  if (calibrate === "none") return undefined;
  return holdOutRows(codes, classes, calibrationShare(codes.length, calibrate, calibrateOn), params, "calibrate");
}

/** The fraction of rows that is held out to fit probabilities of one class a row: rows that are not needed for it are trained on. */
function calibrationShare(
  rows: number,
  calibrate: "temperature" | "isotonic",
  calibrateOn?: ClassifierParams["calibrateOn"],
): number {
  if (calibrate === "temperature") return Math.min(CALIBRATION_SHARE, FACTOR_ROWS / rows);
  return calibrateOn === undefined ? CALIBRATION_SHARE : AGAIN_SHARE;
}

/**
 * Holds out a share of each class, drawn with the seed or the last rows. Rows that training starts from stay in it. Refuses (code
 * "bad-params") data too small to hold out a row.
 */
export function holdOutRows(
  codes: Uint32Array,
  classes: number,
  share: number,
  params: {
    readonly seed: number;
    readonly initialRows: readonly (number | readonly number[])[] | undefined;
  } & CalibrateOn,
  purpose: "calibrate" | "thresholds",
): HeldOut & { readonly note: string } {
  const training = Array.from(params.initialRows ?? []).flatMap((row) =>
    typeof row === "number" ? row : Array.from(row),
  );
  const isLast = params.calibrateOn === "last";
  const rows = isLast
    ? holdOutLast(codes, classes, share, training)
    : holdOut(codes, classes, share, new Streams(params.seed).heldOut(classes), training);
  if (rows.heldOut.length === 0) {
    throw new RanksimError(
      "bad-params",
      `${purpose}: expected enough rows to hold out a share of ${share}, found ${codes.length} in ${classes} classes`,
    );
  }
  const why = purpose === "calibrate" ? "fit probabilities" : "choose thresholds";
  return { ...rows, note: `${rows.heldOut.length} of ${codes.length} rows were held out of training to ${why}` };
}
