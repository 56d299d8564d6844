/** Whether probabilities can be believed: of the rows given a class with 80 %, are 80 % right? */

import { type Dense, type Label, type LabelSets, type Labels, RanksimError } from "@ranksim/core";
import { codesAmong, indexOfLargest, isLabelSets, setsAmong } from "@ranksim/core/internal";

/** Decisions whose probability lies in one interval. */
export interface ReliabilityBin {
  /** The interval; its end belongs to the next one, except for the last. */
  readonly from: number;
  readonly to: number;
  /** How many decisions there are. */
  readonly count: number;
  /** Their mean probability; 0 where there are none. */
  readonly probability: number;
  /** The share of them that is right; 0 where there are none. */
  readonly right: number;
}

export interface ReliabilityOptions {
  /** Intervals of equal width from 0 to 1. Default 15. */
  readonly bins?: number;
}

/**
 * Decisions in intervals of their probability. One label per row: the most probable class of each row (the first of
 * equals) and whether it is right. Several labels: every label of every row, and whether the row has it. Column j of
 * `probabilities` belongs to `classes[j]`.
 */
export function reliability(
  yTrue: Labels | LabelSets,
  probabilities: Dense,
  classes: readonly Label[],
  options: ReliabilityOptions = {},
): ReliabilityBin[] {
  return new ReliabilityTally(classes, options).add(yTrue, probabilities).bins();
}

/** The mean distance between probability and share of right decisions over the intervals, weighted by their decisions. */
export function calibrationError(
  yTrue: Labels | LabelSets,
  probabilities: Dense,
  classes: readonly Label[],
  options: ReliabilityOptions = {},
): number {
  return new ReliabilityTally(classes, options).add(yTrue, probabilities).calibrationError();
}

/** `reliability` and `calibrationError` of rows that come in blocks: the same numbers. */
export class ReliabilityTally {
  readonly #classes: readonly Label[];
  readonly #counts: Float64Array;
  readonly #sums: Float64Array;
  readonly #hits: Float64Array;

  constructor(classes: readonly Label[], { bins = 15 }: ReliabilityOptions = {}) {
    if (!Number.isSafeInteger(bins) || bins < 1 || bins > 10_000) {
      throw new RanksimError("bad-params", `expected bins from 1 to 10000, found ${bins}`);
    }
    this.#classes = classes;
    this.#counts = new Float64Array(bins);
    this.#sums = new Float64Array(bins);
    this.#hits = new Float64Array(bins);
  }

  /** Takes in the rows of a block. */
  add(yTrue: Labels | LabelSets, probabilities: Dense): this {
    const c = this.#classes.length;
    if (c !== probabilities.features) {
      throw new RanksimError(
        "bad-matrix",
        `expected ${c} columns, one for each class, found ${probabilities.features}`,
      );
    }
    const bins = this.#counts.length;
    for (const [probability, isRight] of decisions(yTrue, probabilities, this.#classes)) {
      const bin = Math.min(bins - 1, Math.floor(probability * bins));
      this.#counts[bin]++;
      this.#sums[bin] += probability;
      if (isRight) this.#hits[bin]++;
    }
    return this;
  }

  /** The decisions so far, in intervals of their probability. */
  bins(): ReliabilityBin[] {
    const bins = this.#counts.length;
    return Array.from(this.#counts, (count, bin) => ({
      from: bin / bins,
      to: (bin + 1) / bins,
      count,
      probability: count === 0 ? 0 : this.#sums[bin] / count,
      right: count === 0 ? 0 : this.#hits[bin] / count,
    }));
  }

  /** The calibration error so far. */
  calibrationError(): number {
    let all = 0;
    let error = 0;
    for (const { count, probability, right } of this.bins()) {
      all += count;
      error += count * Math.abs(probability - right);
    }
    if (all === 0) throw new RanksimError("empty-input", "expected at least 1 row to judge, found none");
    return error / all;
  }
}

function* decisions(
  yTrue: Labels | LabelSets,
  probabilities: Dense,
  classes: readonly Label[],
): Generator<[probability: number, isRight: boolean]> {
  const { rows, values, features: c } = probabilities;
  if (isLabelSets(yTrue)) {
    const { offsets, indices } = setsAmong(yTrue, classes, rows);
    const has = new Uint8Array(c);
    for (let r = 0; r < rows; r++) {
      has.fill(0);
      for (let e = offsets[r]; e < offsets[r + 1]; e++) has[indices[e]] = 1;
      for (let o = 0; o < c; o++) yield [checked(values[r * c + o], r, o), has[o] === 1];
    }
    return;
  }
  const truth = codesAmong(yTrue, classes, rows);
  for (let r = 0; r < rows; r++) {
    const best = indexOfLargest(values, r * c, c);
    yield [checked(values[r * c + best], r, best), truth[r] === best];
  }
}

function checked(probability: number, row: number, column: number): number {
  if (probability >= 0 && probability <= 1) return probability;
  throw new RanksimError(
    "bad-matrix",
    `row ${row}, column ${column}: expected a probability from 0 to 1, found ${probability}`,
  );
}
