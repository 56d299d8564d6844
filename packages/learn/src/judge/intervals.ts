/** How far a score can be trusted, by the number of rows: intervals that hold the true score in 95 of 100 cases. */

import type { Label, Labels } from "@ranksim/core";

/** From, to. */
export type Interval = readonly [low: number, high: number];

/** The normal deviate of 95 %. */
const Z = 1.959963984540054;
/** Resamplings of the bootstrap: the ends of the interval are then good to about a hundredth of its length. */
const RESAMPLINGS = 400;

/** Wilson's interval of a share: `right` of `rows`. */
export function shareInterval(right: number, rows: number): Interval {
  const p = right / rows;
  const middle = p + (Z * Z) / (2 * rows);
  const width = Z * Math.sqrt((p * (1 - p)) / rows + (Z * Z) / (4 * rows * rows));
  const scale = 1 + (Z * Z) / rows;
  return [Math.max(0, (middle - width) / scale), Math.min(1, (middle + width) / scale)];
}

/**
 * The bootstrap interval of the macro F1 score: rows are drawn with replacement, by a generator of fixed seed, so that equal
 * answers give equal intervals. What is drawn is a pair of classes, true and given: rows of the same pair are the same.
 */
export function macroF1Interval(truth: Labels, predicted: Labels): Interval {
  const pairs = new Map<string, { readonly truth: Label; readonly given: Label; count: number }>();
  for (let r = 0; r < truth.length; r++) {
    const key = JSON.stringify([truth[r], predicted[r]]);
    const pair = pairs.get(key);
    if (pair) pair.count++;
    else pairs.set(key, { truth: truth[r], given: predicted[r], count: 1 });
  }
  const kinds = [...pairs.values()];
  const scores = Float64Array.from({ length: RESAMPLINGS }, (_, k) => f1Of(kinds, draw(kinds, truth.length, k + 1)));
  scores.sort();
  return [scores[Math.floor(RESAMPLINGS * 0.025)], scores[Math.ceil(RESAMPLINGS * 0.975) - 1]];
}

/** How often each kind is drawn in `rows` drawings: cell by cell, each a binomial number of what is left, near enough to normal. */
function draw(kinds: readonly { readonly count: number }[], rows: number, seed: number): number[] {
  const normal = normals(seed);
  let left = rows;
  let share = rows;
  return kinds.map(({ count }, k) => {
    const p = Math.min(1, count / Math.max(share, 1));
    const mean = left * p;
    const drawn = k === kinds.length - 1 ? left : Math.round(mean + Math.sqrt(mean * (1 - p)) * normal());
    const taken = Math.min(left, Math.max(0, drawn));
    left -= taken;
    share -= count;
    return taken;
  });
}

function f1Of(kinds: readonly { readonly truth: Label; readonly given: Label }[], counts: readonly number[]): number {
  const classes = new Map<Label, { right: number; truths: number; givens: number }>();
  const of = (label: Label) => {
    const found = classes.get(label) ?? { right: 0, truths: 0, givens: 0 };
    classes.set(label, found);
    return found;
  };
  kinds.forEach(({ truth, given }, k) => {
    of(truth).truths += counts[k];
    of(given).givens += counts[k];
    if (truth === given) of(truth).right += counts[k];
  });
  const scores = [...classes.values()]
    .filter(({ truths, givens }) => truths + givens > 0)
    .map(({ right, truths, givens }) => (2 * right) / (truths + givens));
  return scores.reduce((sum, score) => sum + score, 0) / Math.max(1, scores.length);
}

/** Normal deviates by Box and Muller from a 32-bit generator (mulberry32). */
function normals(seed: number): () => number {
  let state = seed >>> 0;
  const uniform = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}

/** The intervals of answers with one label a row. */
export function intervalsOf(
  truth: Labels,
  predicted: Labels,
): { readonly accuracy: Interval; readonly macroF1: Interval } {
  let right = 0;
  for (let r = 0; r < truth.length; r++) if (truth[r] === predicted[r]) right++;
  return { accuracy: shareInterval(right, truth.length), macroF1: macroF1Interval(truth, predicted) };
}
