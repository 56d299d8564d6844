/**
 * Chooses what errors cost, and gives distances of rows from planes that were fitted without them, which probabilities are fitted to: few
 * rows are divided in folds, of many some are held out.
 */

import { naturalLog } from "../../kernels/exponential.ts";
import { drawWithoutReplacement, type RandomGenerator } from "../../random.ts";
import { applyToClasses, applyToLabels } from "../probabilities/calibration.ts";
import { calibrateClasses, calibrateLabels } from "../probabilities/fit.ts";
import type { Truth } from "../probabilities/fitted.ts";
import { type Descended, Descent, type Halt } from "./descent.ts";
import type { PackedParts } from "./pack.ts";
import { type Judged, planesOf } from "./planes.ts";

/** Planes to be fitted. */
export interface Problem extends Halt {
  readonly packed: PackedParts;
  readonly truth: Truth;
  /** Classes or labels. */
  readonly classes: number;
  /** What an error on each row costs, to be multiplied by c. */
  readonly costs: Float64Array;
  /** The order of rows in the fit of a plane. */
  readonly generator: (plane: number) => RandomGenerator;
}

/** Rows to fit to, and others to ask. */
export interface Fold {
  readonly train: Uint32Array;
  readonly held: Uint32Array;
}

/** Fitted planes, and what they said of rows on the way. */
export interface Fitted extends Judged {
  readonly weights: Float64Array;
  readonly intercepts: Float64Array;
  readonly descended: readonly Descended[];
}

/** Awaited after each piece of work, with the share of the call that is done. */
type Tell = (plane: number, iteration: number, share: number) => Promise<void>;

/** Fits planes without the held-out rows of each fold, and asks them about those; then, if wanted, goes on to all rows. */
export async function fitPlanes(
  problem: Problem,
  c: number,
  folds: readonly Fold[],
  isWhole: boolean,
  tell: Tell,
): Promise<Fitted> {
  const { packed, classes, costs, generator } = problem;
  const planes = planesOf(classes, "present" in problem.truth);
  const rows = Uint32Array.from(folds.flatMap(({ held }) => Array.from(held)));
  const distances = new Float64Array(rows.length * classes);
  const weights = new Float64Array(isWhole ? planes * packed.features : 0);
  const intercepts = new Float64Array(isWhole ? planes : 0);
  const descended: Descended[] = [];
  const all = costs.map((cost) => c * cost);
  const fits = planes * (folds.length + (isWhole ? 1 : 0));
  let done = 0;
  const stretch = (plane: number) => (iteration: number) =>
    tell(plane, iteration, (done + (iteration - 1) / problem.maxIterations) / fits);
  for (let k = 0; k < planes; k++) {
    const sign = signsOf(problem, k);
    let descent: Descent | undefined;
    let first = 0;
    for (const { train, held } of folds) {
      const own = new Float64Array(costs.length);
      for (const r of train) own[r] = all[r];
      descent = new Descent(packed, sign);
      await descent.fit(own, problem, generator(k), stretch(k));
      done++;
      for (const [h, value] of descent.values(held).entries()) {
        const at = (first + h) * classes;
        if (planes === classes) distances[at + k] = value;
        else distances.set([-value, value], at);
      }
      first += held.length;
    }
    if (!isWhole) continue;
    descent ??= new Descent(packed, sign);
    descended.push(await descent.fit(all, problem, generator(k), stretch(k)));
    done++;
    weights.set(descent.weights, k * packed.features);
    intercepts[k] = descent.intercept;
  }
  return { rows, distances, weights, intercepts, descended };
}

/** Which side of a plane each row belongs to; of two classes the second is above. */
function signsOf({ truth, classes, packed: { rows } }: Problem, plane: number): Int8Array {
  const sign = new Int8Array(rows).fill(-1);
  if ("present" in truth) {
    const { offsets, indices } = truth.present;
    for (let r = 0; r < rows; r++) {
      for (let e = offsets[r]; e < offsets[r + 1]; e++) if (indices[e] === plane) sign[r] = 1;
    }
  } else {
    const above = classes === 2 ? 1 : plane;
    for (let r = 0; r < rows; r++) if (truth.codes[r] === above) sign[r] = 1;
  }
  return sign;
}

/** Up to this many rows are divided in folds; of more some are held out. */
const MOST_IN_FOLDS = 10_000;
const FOLDS = 3;
/** Rows that are held out of many. */
const HELD_ROWS = 2500;

/** How rows are divided to be judged; none where there are too few. Classes are in all folds as far as they have the rows. */
export function foldsOf(truth: Truth, rows: number, generator: RandomGenerator): readonly Fold[] {
  if (rows < FOLDS) return [];
  const folds = rows > MOST_IN_FOLDS ? 1 : FOLDS;
  const order = drawWithoutReplacement(generator, rows, rows);
  if ("codes" in truth) {
    // Rows of a class one after the other, so that they are dealt out evenly.
    const place = new Uint32Array(rows);
    order.forEach((r, j) => {
      place[r] = j;
    });
    order.sort((a, b) => truth.codes[a] - truth.codes[b] || place[a] - place[b]);
  }
  const step = folds === 1 ? Math.floor(rows / HELD_ROWS) : FOLDS;
  return Array.from({ length: folds }, (_, f) => ({
    train: order.filter((_, j) => j % step !== f).sort(),
    held: order.filter((_, j) => j % step === f).sort(),
  }));
}

/** The mean log loss of probabilities that are fitted to distances, to four digits. */
export function logLossOf({ truth, classes }: Problem, { rows, distances }: Judged): number {
  const scores = distances.slice();
  let loss = 0;
  if ("present" in truth) {
    const present = truth.present.gather(rows);
    applyToLabels(calibrateLabels(scores.slice(), "distances", present, "temperature"), "distances", scores, classes);
    const has = new Uint8Array(scores.length);
    for (let r = 0; r < rows.length; r++) {
      for (let e = present.offsets[r]; e < present.offsets[r + 1]; e++) has[r * classes + present.indices[e]] = 1;
    }
    for (let e = 0; e < scores.length; e++) loss -= logOf(has[e] === 1 ? scores[e] : 1 - scores[e]) / classes;
  } else {
    const codes = rows.map((r) => truth.codes[r]);
    applyToClasses(
      calibrateClasses(scores.slice(), "distances", codes, classes, "temperature"),
      "distances",
      scores,
      classes,
    );
    for (let r = 0; r < rows.length; r++) loss -= logOf(scores[r * classes + codes[r]]);
  }
  return Math.round((1e4 * loss) / rows.length) / 1e4;
}

const SMALLEST_PROBABILITY = 1e-15;
const logOf = (probability: number): number => naturalLog(Math.max(probability, SMALLEST_PROBABILITY));

/** A cost that was tried, and what it led to. */
export interface Tried {
  readonly c: number;
  readonly logLoss: number;
}

/** Costs that are tried: powers of this, from the first on in the direction in which the log loss falls. */
const STEP = 4;
const MOST_STEPS = 4;
/** Rows that planes are fitted to while costs are tried. */
const TRIED_ROWS = 10_000;

/** The cost of the smallest log loss, the smallest of equals, and what was said of rows under it. */
export async function chooseCost(
  problem: Problem,
  folds: readonly Fold[],
  tell: (trial: number, trials: number) => Promise<void>,
): Promise<{ readonly c: number; readonly tried: readonly Tried[]; readonly judged: Judged }> {
  const small = folds.map(({ train, held }) => ({ train: sampled(train), held }));
  const tried: Tried[] = [];
  const at = async (c: number) => {
    const trial = tried.length;
    const judged = await fitPlanes(problem, c, small, false, () => tell(trial, 2 * MOST_STEPS + 1));
    const logLoss = logLossOf(problem, judged);
    tried.push({ c, logLoss });
    return { c, logLoss, judged };
  };
  let best = await at(1);
  for (const step of [1 / STEP, STEP]) {
    for (let j = 0; j < MOST_STEPS; j++) {
      const found = await at(best.c * step);
      if (step > 1 ? found.logLoss >= best.logLoss : found.logLoss > best.logLoss) break;
      best = found;
    }
    if (best.c < 1) break;
  }
  return { c: best.c, tried, judged: best.judged };
}

/** Some of many rows, evenly. */
function sampled(rows: Uint32Array): Uint32Array {
  if (rows.length <= TRIED_ROWS) return rows;
  return Uint32Array.from({ length: TRIED_ROWS }, (_, j) => rows[Math.floor((j * rows.length) / TRIED_ROWS)]);
}
