/** Fitted probabilities and thresholds as stored arrays and back, with every number checked on the way in. */

import {
  type ClassCalibration,
  LARGEST_BETA,
  LARGEST_HALFWAY,
  LARGEST_TERM,
  type LabelCalibration,
  type Rising,
} from "../../beyond/probabilities/fitted.ts";
import type { Saved, SavedArray } from "../saved.ts";
import { array, bad, checkOffsets, readParams, stored, vector } from "./arrays.ts";

/** The power of the spread that scores are divided by; there is no other yet. */
const ROOT = 0.5;

/** The arrays of a fitted mapping. */
export function calibrationArrays(calibration: ClassCalibration | LabelCalibration | undefined): {
  [name: string]: SavedArray;
} {
  if (!calibration) return {};
  if ("curves" in calibration) {
    const { curves } = calibration;
    const values = Float64Array.from(curves.flatMap(({ slope, offset }) => [slope, offset]));
    return { calibration_curves: { shape: [curves.length, 2], values } };
  }
  const one = (value: number): SavedArray => stored(Float64Array.of(value));
  return {
    ...("beta" in calibration ? { calibration_factor: one(calibration.beta) } : {}),
    ...("beta" in calibration && calibration.halfway > 0 ? { calibration_halfway: one(calibration.halfway) } : {}),
    ...("beta" in calibration && calibration.isRooted ? { calibration_spread: one(ROOT) } : {}),
    ...risingArrays(calibration.rising),
  };
}

function risingArrays(rising: readonly Rising[] | undefined): { [name: string]: SavedArray } {
  if (!rising) return {};
  const offsets = new Uint32Array(rising.length + 1);
  for (const [c, { scores }] of rising.entries()) offsets[c + 1] = offsets[c] + scores.length;
  const points = rising.flatMap(({ scores, values }) => Array.from(scores).flatMap((score, j) => [score, values[j]]));
  return {
    calibration_points: { shape: [offsets[rising.length], 2], values: Float64Array.from(points) },
    calibration_offsets: stored(offsets),
  };
}

/** The stored mapping of one label per row, as the parameter `calibrate` says; undefined where it says "none". */
export function readClassCalibration(saved: Saved, classes: number, mayBeSparse = false): ClassCalibration | undefined {
  const { calibrate = "none" } = readParams(saved);
  if (calibrate === "none") return undefined;
  const rising = calibrate === "isotonic" ? readRising(saved, classes) : undefined;
  const one = (name: string, expected: string, isRight: (value: number) => boolean): number => {
    const [value] = vector(saved, `calibration_${name}`, Float64Array, 1);
    if (isRight(value)) return value;
    throw bad(saved, `calibration_${name}: expected ${expected}, found ${value}`);
  };
  const beta = one("factor", `a number from 0 to ${LARGEST_BETA}`, (value) => value >= 0 && value <= LARGEST_BETA);
  const isRooted = mayBeSparse && saved.arrays.calibration_spread !== undefined;
  if (isRooted) one("spread", `${ROOT}`, (value) => value === ROOT);
  const hasHalfway = mayBeSparse && saved.arrays.calibration_halfway !== undefined;
  const isHalfway = (value: number) => value > 0 && value <= LARGEST_HALFWAY;
  const halfway = hasHalfway ? one("halfway", `a number above 0, at most ${LARGEST_HALFWAY}`, isHalfway) : 0;
  return { beta, halfway, isRooted, rising };
}

/** The stored mapping of several labels per row. */
export function readLabelCalibration(saved: Saved, labels: number): LabelCalibration | undefined {
  const { calibrate = "none" } = readParams(saved);
  if (calibrate === "none") return undefined;
  if (calibrate === "isotonic") return { rising: readRising(saved, labels) };
  const { values } = array(saved, "calibration_curves", [Float64Array], [labels, 2]);
  if (!values.every((number) => Math.abs(number) <= LARGEST_TERM)) {
    throw bad(saved, `calibration_curves: expected numbers of size at most ${LARGEST_TERM}`);
  }
  const curves = Array.from({ length: labels }, (_, o) => ({ slope: values[2 * o], offset: values[2 * o + 1] }));
  return { curves };
}

/** The stored thresholds, one for each label, as the parameter `thresholds` says; undefined where it says "none". */
export function readThresholds(saved: Saved, labels: number, several: boolean): Float64Array | undefined {
  const { thresholds: rule = "none" } = readParams(saved);
  if (rule === "none") return undefined;
  if (!several) throw bad(saved, 'thresholds: expected "none" for one label per row');
  const values = vector(saved, "thresholds", Float64Array, labels);
  if (!values.every((value) => value >= 0 && value <= 1)) {
    throw bad(saved, "thresholds: expected numbers from 0 to 1");
  }
  if (rule === "common" && values.some((value) => value !== values[0])) {
    throw bad(saved, "thresholds: expected one for all labels");
  }
  return values;
}

function readRising(saved: Saved, classes: number): Rising[] {
  const { values: numbers } = array(saved, "calibration_points", [Float64Array], [undefined, 2]);
  const offsets = vector(saved, "calibration_offsets", Uint32Array);
  checkOffsets(saved, "calibration_offsets", offsets, classes, numbers.length / 2);
  return Array.from({ length: classes }, (_, c) => {
    const points = numbers.subarray(2 * offsets[c], 2 * offsets[c + 1]);
    const scores = points.filter((_, j) => j % 2 === 0);
    const values = points.filter((_, j) => j % 2 === 1);
    const rises =
      scores.length > 0 &&
      scores.every((score, j) => score >= 0 && score <= 1 && (j === 0 || score > scores[j - 1])) &&
      values.every((value, j) => value > 0 && value < 1 && (j === 0 || value >= values[j - 1]));
    if (rises) return { scores, values };
    throw bad(saved, `calibration_points: class ${c}: expected rising scores and values from 0 to 1`);
  });
}
