/**
 * Fits the mappings from scores to probabilities on rows held out of training (deviation 27). Only + - * / and roots are used, so that the
 * same rows give the same mapping on every engine.
 */

import { naturalLog } from "../../kernels/exponential.ts";
import type { RowSource } from "../../kernels/shapes.ts";
import type { Csr } from "../../matrix/csr.ts";
import {
  codesAmong,
  isLabelSets,
  type Label,
  type LabelSets,
  type Labels,
  refuseOtherForm,
  setsAmong,
} from "../../matrix/labels.ts";
import { rowLengths } from "../../matrix/source.ts";
import {
  type LabelScoreKind,
  logistic,
  logShares,
  relate,
  rootSpread,
  type ScoreKind,
  sharesOfDistances,
  soften,
  softenRow,
  weighByLength,
} from "./calibration.ts";
import {
  type CalibrationMethod,
  type ClassCalibration,
  type Curve,
  LARGEST_BETA,
  LARGEST_HALFWAY,
  LARGEST_TERM,
  type LabelCalibration,
  type Rising,
  type Truth,
} from "./fitted.ts";

/** What is true of rows, among the classes or labels of a model. */
export function truthAmong(y: Labels | LabelSets, classes: readonly Label[], rows: number, multilabel: boolean): Truth {
  refuseOtherForm(y, multilabel);
  return isLabelSets(y) ? { present: setsAmong(y, classes, rows) } : { codes: codesAmong(y, classes, rows) };
}

/** Fits the mapping from scores of rows, which are overwritten. Responses of sparse rows are trusted by their length. */
export async function fitCalibration(
  scores: Float64Array,
  kind: ScoreKind,
  rows: RowSource,
  truth: Truth,
  classes: number,
  method: CalibrationMethod,
): Promise<ClassCalibration | LabelCalibration> {
  if ("present" in truth) return calibrateLabels(scores, kind as LabelScoreKind, truth.present, method);
  const lengths = kind === "responses" ? await sparseLengths(rows) : undefined;
  return calibrateClasses(scores, kind, truth.codes, classes, method, lengths);
}

/**
 * Fits the mapping of one label per row. `scores` is rows x classes and is overwritten; `lengths` counts the features of sparse rows that
 * are not zero.
 */
export function calibrateClasses(
  scores: Float64Array,
  kind: ScoreKind,
  truth: Uint32Array,
  classes: number,
  method: CalibrationMethod,
  lengths?: Uint32Array,
): ClassCalibration {
  relate(scores, kind, classes);
  const fitted = lengths
    ? fitSparse(scores, truth, classes, lengths)
    : { beta: fitBeta(scores, truth, classes), halfway: 0, isRooted: false };
  const { beta, halfway, isRooted } = fitted;
  if (method === "temperature") return { ...fitted, rising: undefined };
  if (isRooted) rootSpread(scores, classes);
  if (lengths && halfway > 0) weighByLength(scores, classes, lengths, halfway);
  soften(scores, classes, beta);
  const rising = Array.from({ length: classes }, (_, c) =>
    fitRising(
      column(scores, classes, c),
      Uint8Array.from(truth, (own) => Number(own === c)),
      classes,
    ),
  );
  return { ...fitted, rising };
}

/** Fits the mapping of several labels per row. `scores` is rows x labels and is overwritten. */
export function calibrateLabels(
  scores: Float64Array,
  kind: LabelScoreKind,
  present: Csr,
  method: CalibrationMethod,
): LabelCalibration {
  const { rows, features: labels } = present;
  const has = new Uint8Array(rows * labels);
  for (let r = 0; r < rows; r++) {
    for (let e = present.offsets[r]; e < present.offsets[r + 1]; e++) has[r * labels + present.indices[e]] = 1;
  }
  const fitted = <T>(fit: (scores: Float64Array, isTrue: Uint8Array) => T): T[] =>
    Array.from({ length: labels }, (_, o) => fit(column(scores, labels, o), column(has, labels, o)));
  if (method === "isotonic") {
    if (kind === "distances") sharesOfDistances(scores);
    return { rising: fitted((scores, isTrue) => fitRising(scores, isTrue)) };
  }
  if (kind === "shares") logShares(scores);
  return { curves: fitted(fitCurve) };
}

function column<T extends Float64Array | Uint8Array>(values: T, width: number, j: number): T {
  const out = new (values.constructor as new (length: number) => T)(values.length / width);
  for (let r = 0; r < out.length; r++) out[r] = values[r * width + j];
  return out;
}

/** Rows of which at most this share is not zero are sparse: their length differs, and says how much they can be trusted. */
const SPARSE = 0.05;

/** The lengths of sparse rows; undefined of others. */
export async function sparseLengths(rows: RowSource): Promise<Uint32Array | undefined> {
  const lengths = await rowLengths(rows);
  const filled = lengths.reduce((sum, length) => sum + length, 0);
  return filled <= SPARSE * rows.rows * rows.features ? lengths : undefined;
}

/** The factor and what counts beside it: the length of rows, and whether scores are divided by the root of their spread. */
export function fitSparse(
  scores: Float64Array,
  truth: Uint32Array,
  classes: number,
  lengths: Uint32Array,
): { readonly beta: number; readonly halfway: number; readonly isRooted: boolean } {
  const plain = fitHalfway(scores, truth, classes, lengths);
  const apart = scores.slice();
  rootSpread(apart, classes);
  const rooted = fitHalfway(apart, truth, classes, lengths);
  const isRooted = plain.loss - rooted.loss > GAIN;
  const { beta, halfway } = isRooted ? rooted : plain;
  return { beta, halfway, isRooted };
}

/** Where the search begins. */
const FIRST = 16;
/** By how much the summed log loss has to fall for one more parameter to be used: a parameter without meaning gains less. */
const GAIN = 2;
const SMALLEST_PROBABILITY = 1e-300;

/**
 * The power of two of the smallest log loss, each with the factor that suits it; 0, which leaves scores as they are, unless that is
 * clearly better. The loss falls and then rises, so the search ends where doubling or halving makes it worse.
 */
export function fitHalfway(
  scores: Float64Array,
  truth: Uint32Array,
  classes: number,
  lengths: Uint32Array,
): { readonly halfway: number; readonly beta: number; readonly loss: number } {
  const at = (halfway: number) => {
    const own = scores.slice();
    if (halfway > 0) weighByLength(own, classes, lengths, halfway);
    const beta = fitBeta(own, truth, classes);
    soften(own, classes, beta);
    let loss = 0;
    for (let r = 0; r < truth.length; r++)
      loss -= naturalLog(Math.max(own[r * classes + truth[r]], SMALLEST_PROBABILITY));
    return { halfway, beta, loss };
  };
  let best = at(FIRST);
  for (const step of [2, 0.5]) {
    for (let next = best.halfway * step; next >= 1 && next <= LARGEST_HALFWAY; next *= step) {
      const found = at(next);
      if (!(found.loss < best.loss)) break;
      best = found;
    }
  }
  const none = at(0);
  return none.loss - best.loss > GAIN ? best : none;
}

/** Halvings of the interval that the factor lies in: to a millionth of a millionth of itself. */
const BISECTIONS = 40;

/**
 * The factor of the smallest log loss on rows of scores and their true classes, by bisection on its derivative, which only
 * rises. Targets leave 1 / (n + 2) to the strongest other class, so that n rows which are all right do not ask for certainty.
 */
export function fitBeta(scores: Float64Array, truth: Uint32Array, classes: number): number {
  const wanted = scores.length === 0 ? 0 : targetScore(scores, truth, classes);
  const share = new Float64Array(classes);
  const isTooLarge = (beta: number): boolean => {
    let found = 0;
    for (let at = 0; at < scores.length; at += classes) {
      softenRow(scores, at, classes, beta, share, 0);
      for (let c = 0; c < classes; c++) found += share[c] * scores[at + c];
    }
    return found > wanted;
  };
  if (isTooLarge(0)) return 0;
  let high = 1;
  while (!isTooLarge(high)) {
    if (high === LARGEST_BETA) return high;
    high *= 2;
  }
  let low = high === 1 ? 0 : high / 2;
  for (let j = 0; j < BISECTIONS; j++) {
    const middle = (low + high) / 2;
    if (isTooLarge(middle)) high = middle;
    else low = middle;
  }
  return low;
}

/** The sum over rows of the score expected under the targets; at the best factor, softmax expects the same. */
function targetScore(scores: Float64Array, truth: Uint32Array, classes: number): number {
  const doubt = 1 / (truth.length + 2);
  let sum = 0;
  for (let r = 0; r < truth.length; r++) {
    const own = scores[r * classes + truth[r]];
    let other = Number.NEGATIVE_INFINITY;
    for (let c = 0; c < classes; c++)
      if (c !== truth[r] && scores[r * classes + c] > other) other = scores[r * classes + c];
    sum += classes === 1 ? own : (1 - doubt) * own + doubt * other;
  }
  return sum;
}

/**
 * The rising function of least squares through (score, truth). Values stay 1 / (n + 2) away from 0 and 1, divided by the
 * number of classes that share the doubt: n rows cannot show that something never or always happens.
 */
export function fitRising(scores: Float64Array, isTrue: Uint8Array, classes = 1): Rising {
  const n = scores.length;
  const order = Uint32Array.from(scores.keys()).sort((a, b) => scores[a] - scores[b]);
  // Blocks of pooled rows: first and last score, rows, true rows. A block is kept while its share is above the one before.
  const first: number[] = [];
  const last: number[] = [];
  const rows: number[] = [];
  const hits: number[] = [];
  for (let j = 0; j < n; ) {
    const score = scores[order[j]];
    let count = 0;
    let hit = 0;
    for (; j < n && scores[order[j]] === score; j++) {
      count++;
      hit += isTrue[order[j]];
    }
    first.push(score);
    last.push(score);
    rows.push(count);
    hits.push(hit);
    for (let b = rows.length - 1; b > 0 && hits[b] * rows[b - 1] <= hits[b - 1] * rows[b]; b--) {
      last[b - 1] = last.pop() as number;
      rows[b - 1] += rows.pop() as number;
      hits[b - 1] += hits.pop() as number;
      first.pop();
    }
  }
  const margin = 1 / ((n + 2) * classes);
  const points = first.flatMap((score, b) => {
    const value = Math.min(Math.max(hits[b] / rows[b], margin), 1 - margin);
    return score === last[b] ? [[score, value]] : [[score, value], [last[b], value]]; // biome-ignore format: points
  });
  return {
    scores: Float64Array.from(points, ([score]) => score),
    values: Float64Array.from(points, ([, value]) => value),
  };
}

const MOST_STEPS = 50;
const MOST_HALVINGS = 30;
/** Draws the slope to 0 where scores say nothing. */
const RIDGE = 1e-3;
/** A Newton step of less than this changes no probability that anyone could see. */
const SMALLEST_STEP = 1e-10;

/**
 * Newton's method on the log loss. Targets are smoothed as Platt proposed: (hits + 1) / (hits + 2) and 1 / (misses + 2), so
 * the curve is finite for scores that part the rows perfectly. A step is halved while it overshoots, which the slope of
 * the loss along the step tells without the loss itself.
 */
export function fitCurve(scores: Float64Array, isTrue: Uint8Array): Curve {
  let hits = 0;
  for (const one of isTrue) hits += one;
  const high = (hits + 1) / (hits + 2);
  const low = 1 / (isTrue.length - hits + 2);
  let slope = 0;
  let offset = 0;
  let here = derivatives(scores, isTrue, high, low, slope, offset);
  for (let j = 0; j < MOST_STEPS; j++) {
    const determinant = here.ss * here.oo - here.so * here.so;
    let bySlope = -(here.oo * here.s - here.so * here.o) / determinant;
    let byOffset = -(here.ss * here.o - here.so * here.s) / determinant;
    if (!(Math.abs(bySlope) <= LARGEST_TERM && Math.abs(byOffset) <= LARGEST_TERM)) break;
    const falling = Math.abs(here.s * bySlope + here.o * byOffset);
    let next = here;
    for (let h = 0; h < MOST_HALVINGS; h++) {
      next = derivatives(scores, isTrue, high, low, slope + bySlope, offset + byOffset);
      if (next.s * bySlope + next.o * byOffset <= 0.9 * falling) break;
      bySlope /= 2;
      byOffset /= 2;
    }
    slope += bySlope;
    offset += byOffset;
    here = next;
    if (Math.abs(bySlope) < SMALLEST_STEP && Math.abs(byOffset) < SMALLEST_STEP) break;
  }
  const within = (value: number) => Math.min(Math.max(value, -LARGEST_TERM), LARGEST_TERM);
  return { slope: within(slope), offset: within(offset) };
}

/** First and second derivatives of the loss by slope (s) and offset (o). */
function derivatives(
  scores: Float64Array,
  isTrue: Uint8Array,
  high: number,
  low: number,
  slope: number,
  offset: number,
): { s: number; o: number; ss: number; so: number; oo: number } {
  let [s, o, ss, so, oo] = [RIDGE * slope, 0, RIDGE, 0, 0];
  for (let r = 0; r < scores.length; r++) {
    const p = logistic(slope * scores[r] + offset);
    const excess = p - (isTrue[r] === 1 ? high : low);
    const curvature = p * (1 - p);
    s += excess * scores[r];
    o += excess;
    ss += curvature * scores[r] * scores[r];
    so += curvature * scores[r];
    oo += curvature;
  }
  return { s, o, ss, so, oo };
}
