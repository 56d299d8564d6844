/**
 * A logistic curve from one score to a probability, fitted on held-out rows. Only + - * / are used, so that the same rows
 * give the same curve on every engine.
 */

import { tailExp } from "../../paper/density.ts";

/** 1 / (1 + exp(−(slope · score + offset))). */
export interface Curve {
  readonly slope: number;
  readonly offset: number;
}

/** No fitted number exceeds this. */
export const LARGEST_TERM = 1e6;

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

/** The probability at a score. */
export function probabilityAt({ slope, offset }: Curve, score: number): number {
  return logistic(slope * score + offset);
}

/** exp is below 1e-300 beyond this. */
const VANISHING = 690;

function logistic(z: number): number {
  const tail = tailExp(-Math.min(Math.abs(z), VANISHING));
  return z < 0 ? tail / (1 + tail) : 1 / (1 + tail);
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
