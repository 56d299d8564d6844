/** Fitted probabilities and thresholds as stored arrays and back, with every number checked on the way in. */

import type { ClassCalibration, LabelCalibration } from "../../beyond/probabilities/calibration.ts";
import type { Rising } from "../../beyond/probabilities/isotonic.ts";
import { LARGEST_TERM } from "../../beyond/probabilities/logistic.ts";
import { LARGEST_HALFWAY } from "../../beyond/probabilities/row-length.ts";
import { LARGEST_BETA } from "../../beyond/probabilities/temperature.ts";
import type { Saved, SavedArray } from "../saved.ts";
import { bad, checkOffsets, readParams, vector } from "./filters.ts";

/** Arrays of a model with fitted probabilities or thresholds. */
type Fitted =
  | "calibration_factor"
  | "calibration_halfway"
  | "calibration_spread"
  | "calibration_curves"
  | "calibration_points"
  | "calibration_offsets"
  | "thresholds";

/** Their names. */
export const FITTED_ARRAYS: readonly Fitted[] = [
  "calibration_factor",
  "calibration_halfway",
  "calibration_spread",
  "calibration_curves",
  "calibration_points",
  "calibration_offsets",
  "thresholds",
];

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
  const one = (value: number): SavedArray => ({ shape: [1], values: Float64Array.of(value) });
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
    calibration_offsets: { shape: [offsets.length], values: offsets },
  };
}

/** The stored mapping of one label per row, as the parameter `calibrate` says; undefined where it says "none". */
export function readClassCalibration(saved: Saved, classes: number, mayBeSparse = false): ClassCalibration | undefined {
  const method = readMethod(saved);
  if (method === "none") return refuseOthers(saved, []);
  const rising = method === "isotonic" ? readRising(saved, classes) : undefined;
  refuseOthers(saved, [
    "calibration_factor",
    ...(mayBeSparse ? (["calibration_halfway", "calibration_spread"] as const) : []),
    ...(rising ? (["calibration_points", "calibration_offsets"] as const) : []),
  ]);
  const factor = vector(saved, "calibration_factor", Float64Array);
  if (factor.length !== 1 || !(factor[0] >= 0 && factor[0] <= LARGEST_BETA)) {
    throw bad(saved, `calibration_factor: expected a number from 0 to ${LARGEST_BETA}`);
  }
  const isRooted = saved.arrays.calibration_spread !== undefined;
  const power = isRooted ? vector(saved, "calibration_spread", Float64Array) : [ROOT];
  if (power.length !== 1 || power[0] !== ROOT) throw bad(saved, `calibration_spread: expected ${ROOT}`);
  if (!saved.arrays.calibration_halfway) return { beta: factor[0], halfway: 0, isRooted, rising };
  const halfway = vector(saved, "calibration_halfway", Float64Array);
  if (halfway.length !== 1 || !(halfway[0] > 0 && halfway[0] <= LARGEST_HALFWAY)) {
    throw bad(saved, `calibration_halfway: expected a number above 0, at most ${LARGEST_HALFWAY}`);
  }
  return { beta: factor[0], halfway: halfway[0], isRooted, rising };
}

/** The stored mapping of several labels per row. */
export function readLabelCalibration(saved: Saved, labels: number): LabelCalibration | undefined {
  const method = readMethod(saved);
  if (method === "none") return refuseOthers(saved, []);
  if (method === "isotonic") {
    refuseOthers(saved, ["calibration_points", "calibration_offsets"]);
    return { rising: readRising(saved, labels) };
  }
  refuseOthers(saved, ["calibration_curves"]);
  const numbers = readPairs(saved, "calibration_curves", labels);
  if (!numbers.every((number) => Math.abs(number) <= LARGEST_TERM)) {
    throw bad(saved, `calibration_curves: expected numbers of size at most ${LARGEST_TERM}`);
  }
  const curves = Array.from({ length: labels }, (_, o) => ({ slope: numbers[2 * o], offset: numbers[2 * o + 1] }));
  return { curves };
}

/** The stored thresholds, one for each label, as the parameter `thresholds` says; undefined where it says "none". */
export function readThresholds(saved: Saved, labels: number, several: boolean): Float64Array | undefined {
  const { thresholds: rule = "none" } = readParams(saved);
  if (rule === "none") {
    if (saved.arrays.thresholds) throw bad(saved, "unknown array thresholds");
    return undefined;
  }
  if (!several || (rule !== "common" && rule !== "perLabel")) {
    throw bad(saved, `thresholds: expected "none"${several ? ', "common" or "perLabel"' : " for one label per row"}`);
  }
  const values = vector(saved, "thresholds", Float64Array);
  if (values.length !== labels || !values.every((value) => value >= 0 && value <= 1)) {
    throw bad(saved, `thresholds: expected ${labels} numbers from 0 to 1`);
  }
  if (rule === "common" && values.some((value) => value !== values[0])) {
    throw bad(saved, "thresholds: expected one for all labels");
  }
  return values;
}

function readMethod(saved: Saved): "none" | "temperature" | "isotonic" {
  const { calibrate = "none" } = readParams(saved);
  if (calibrate === "none" || calibrate === "temperature" || calibrate === "isotonic") return calibrate;
  throw bad(saved, 'calibrate: expected "none", "temperature" or "isotonic"');
}

/** Refuses arrays of other mappings. */
function refuseOthers(saved: Saved, own: readonly Fitted[]): undefined {
  for (const name of FITTED_ARRAYS) {
    if (name !== "thresholds" && saved.arrays[name] && !own.includes(name)) throw bad(saved, `unknown array ${name}`);
  }
}

function readPairs(saved: Saved, name: Fitted, rows?: number): Float64Array {
  const array = saved.arrays[name];
  const { shape, values } = array ?? { shape: [], values: undefined };
  const fits = shape.length === 2 && shape[1] === 2 && (rows === undefined || shape[0] === rows);
  if (!(values instanceof Float64Array) || !fits)
    throw bad(saved, `${name}: expected ${rows ?? "some"} x 2 float64 numbers`);
  return values;
}

function readRising(saved: Saved, classes: number): Rising[] {
  const numbers = readPairs(saved, "calibration_points");
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
