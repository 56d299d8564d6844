/**
 * How good predictions are: counts of right and wrong, and the usual ratios of them. Definitions are scikit-learn's with
 * zero_division = 0: a ratio without a denominator is 0, and the classes are those of the truth and the predictions
 * together, numbers before strings, ascending. Functions take one label per row or, where they say so, label sets.
 */

import { compareLabels, type Label, type LabelSets, type Labels, RanksimError } from "@ranksim/core";
import { encodeLabels, encodeSets, isLabelSets, refuseOtherType } from "@ranksim/core/internal";

/** How the scores of classes become one: plain mean, from the counts of all classes together, or mean weighted by support. */
export type Average = "macro" | "micro" | "weighted";

/** The three ratios of one class or of an average. */
export interface Scores {
  /** Of the rows predicted as the class, the share that is right. */
  readonly precision: number;
  /** Of the rows of the class, the share that was found. */
  readonly recall: number;
  /** Harmonic mean of precision and recall. */
  readonly f1: number;
}

/** The ratios of one class. */
export interface ClassScores extends Scores {
  readonly label: Label;
  /** Rows that truly are of the class. */
  readonly support: number;
}

/** Precision, recall and F1 in every form. */
export interface ClassificationReport {
  /** Share of rows that are entirely right. */
  readonly accuracy: number;
  readonly classes: readonly ClassScores[];
  readonly macro: Scores;
  readonly micro: Scores;
  readonly weighted: Scores;
}

/** Which classes are taken for which. */
export interface ConfusionMatrix {
  readonly classes: readonly Label[];
  /** classes x classes, row-major: rows of true class t predicted as class p are `counts[t * classes.length + p]`. */
  readonly counts: Uint32Array;
}

/** Share of rows whose label is right. */
export function accuracy(yTrue: Labels, yPred: Labels): number {
  const { rows, truth, guess } = encodePair(yTrue, yPred);
  let right = 0;
  for (let r = 0; r < rows; r++) if (truth[r] === guess[r]) right++;
  return right / rows;
}

/** Mean recall of the classes that occur in the truth. */
export function balancedAccuracy(yTrue: Labels, yPred: Labels): number {
  const { classes, truth, guess } = encodePair(yTrue, yPred);
  const present = scoreClasses(countPairs(classes, truth, guess)).filter((row) => row.support > 0);
  return mean(present.map((row) => row.recall));
}

/** Counts every pair of true and predicted class. */
export function confusionMatrix(yTrue: Labels, yPred: Labels): ConfusionMatrix {
  const { rows, classes, truth, guess } = encodePair(yTrue, yPred);
  const counts = new Uint32Array(classes.length * classes.length);
  for (let r = 0; r < rows; r++) counts[truth[r] * classes.length + guess[r]]++;
  return { classes, counts };
}

/** Precision, recall and F1 per class and averaged, for labels or label sets. */
export function classificationReport(yTrue: Labels | LabelSets, yPred: Labels | LabelSets): ClassificationReport {
  const counts = countEither(yTrue, yPred);
  const classes = scoreClasses(counts);
  return {
    accuracy: counts.right / counts.rows,
    classes,
    macro: averageOf(counts, classes, "macro"),
    micro: averageOf(counts, classes, "micro"),
    weighted: averageOf(counts, classes, "weighted"),
  };
}

/** Precision of labels or label sets. For single classes, see `classificationReport`. */
export function precision(
  yTrue: Labels | LabelSets,
  yPred: Labels | LabelSets,
  options?: { readonly average?: Average },
): number {
  return averaged(yTrue, yPred, options?.average).precision;
}

/** Recall of labels or label sets. For single classes, see `classificationReport`. */
export function recall(
  yTrue: Labels | LabelSets,
  yPred: Labels | LabelSets,
  options?: { readonly average?: Average },
): number {
  return averaged(yTrue, yPred, options?.average).recall;
}

/** F1 of labels or label sets. For single classes, see `classificationReport`. */
export function f1(
  yTrue: Labels | LabelSets,
  yPred: Labels | LabelSets,
  options?: { readonly average?: Average },
): number {
  return averaged(yTrue, yPred, options?.average).f1;
}

/** Share of rows whose label set is exactly right. */
export function subsetAccuracy(yTrue: LabelSets, yPred: LabelSets): number {
  const { right, rows } = countSets(yTrue, yPred);
  return right / rows;
}

/**
 * Share of wrong decisions among all rows x labels. The labels are those that occur in the truth or the predictions; a
 * 0/1 matrix counts all its columns.
 */
export function hammingLoss(yTrue: LabelSets, yPred: LabelSets): number {
  const { labels, rows, hit, predicted, actual } = countSets(yTrue, yPred);
  let wrong = 0;
  for (let c = 0; c < labels.length; c++) wrong += predicted[c] + actual[c] - 2 * hit[c];
  return ratio(wrong, rows * labels.length);
}

/** What all ratios are made of. */
interface Counts {
  readonly labels: readonly Label[];
  readonly rows: number;
  /** Rows that are entirely right. */
  readonly right: number;
  /** Per label: rows that have it in truth and prediction, in the prediction, in truth. */
  readonly hit: Float64Array;
  readonly predicted: Float64Array;
  readonly actual: Float64Array;
}

interface EncodedPair {
  readonly rows: number;
  readonly classes: readonly Label[];
  readonly truth: Uint32Array;
  readonly guess: Uint32Array;
}

/** Encodes truth and predictions over the classes of both. */
function encodePair(yTrue: Labels, yPred: Labels): EncodedPair {
  const truth = encodeLabels(yTrue, yTrue.length);
  const guess = encodeLabels(yPred, yTrue.length);
  checkSome(truth.codes.length);
  const { labels, first, second } = join(truth.classes, guess.classes);
  return {
    rows: truth.codes.length,
    classes: labels,
    truth: truth.codes.map((c) => first[c]),
    guess: guess.codes.map((c) => second[c]),
  };
}

/** The names of both lists in order, and where each name of either list stands in it. */
function join(
  truth: readonly Label[],
  guess: readonly Label[],
): { labels: Label[]; first: number[]; second: number[] } {
  const [inTruth, inGuess] = [new Set(truth), new Set(guess)];
  const onlyGuessed = new Set(guess.filter((label) => !inTruth.has(label)));
  refuseOtherType(
    truth.filter((label) => !inGuess.has(label)),
    onlyGuessed,
    "the predictions have",
  );
  const labels = [...new Set([...truth, ...guess])].sort(compareLabels);
  const position = new Map(labels.map((label, c) => [label, c]));
  const find = (label: Label) => position.get(label) as number;
  return { labels, first: truth.map(find), second: guess.map(find) };
}

function countPairs(labels: readonly Label[], truth: Uint32Array, guess: Uint32Array): Counts {
  const hit = new Float64Array(labels.length);
  const predicted = new Float64Array(labels.length);
  const actual = new Float64Array(labels.length);
  let right = 0;
  for (let r = 0; r < truth.length; r++) {
    actual[truth[r]]++;
    predicted[guess[r]]++;
    if (truth[r] !== guess[r]) continue;
    hit[truth[r]]++;
    right++;
  }
  return { labels, rows: truth.length, right, hit, predicted, actual };
}

function countSets(yTrue: LabelSets, yPred: LabelSets): Counts {
  const rows = "rows" in yTrue ? yTrue.rows : yTrue.length;
  const truth = encodeSets(yTrue, rows);
  const guess = encodeSets(yPred, rows);
  checkSome(rows);
  const { labels, first, second } = join(truth.labels, guess.labels);
  const hit = new Float64Array(labels.length);
  const predicted = new Float64Array(labels.length);
  const actual = new Float64Array(labels.length);
  let right = 0;
  for (let r = 0; r < rows; r++) {
    const inTruth = new Set<number>();
    for (let e = truth.present.offsets[r]; e < truth.present.offsets[r + 1]; e++) {
      const c = first[truth.present.indices[e]];
      actual[c]++;
      inTruth.add(c);
    }
    let hits = 0;
    let guesses = 0;
    for (let e = guess.present.offsets[r]; e < guess.present.offsets[r + 1]; e++) {
      const c = second[guess.present.indices[e]];
      predicted[c]++;
      guesses++;
      if (!inTruth.has(c)) continue;
      hit[c]++;
      hits++;
    }
    if (hits === guesses && hits === inTruth.size) right++;
  }
  return { labels, rows, right, hit, predicted, actual };
}

function countEither(yTrue: Labels | LabelSets, yPred: Labels | LabelSets): Counts {
  const sets = isLabelSets(yTrue);
  if (sets !== isLabelSets(yPred) && (yTrue as Labels).length !== 0) {
    throw new RanksimError(
      "bad-labels",
      `expected truth and predictions in one form, found ${sets ? "label sets and labels" : "labels and label sets"}`,
    );
  }
  if (sets) return countSets(yTrue, yPred as LabelSets);
  const { classes, truth, guess } = encodePair(yTrue as Labels, yPred as Labels);
  return countPairs(classes, truth, guess);
}

function scoreClasses({ labels, hit, predicted, actual }: Counts): ClassScores[] {
  return labels.map((label, c) => ({ label, ...scoresOf(hit[c], predicted[c], actual[c]), support: actual[c] }));
}

function scoresOf(hit: number, predicted: number, actual: number): Scores {
  return { precision: ratio(hit, predicted), recall: ratio(hit, actual), f1: ratio(2 * hit, predicted + actual) };
}

function averaged(yTrue: Labels | LabelSets, yPred: Labels | LabelSets, average: Average = "macro"): Scores {
  const counts = countEither(yTrue, yPred);
  return averageOf(counts, scoreClasses(counts), average);
}

function averageOf(counts: Counts, classes: readonly ClassScores[], average: Average): Scores {
  if (average === "micro") return scoresOf(sum(counts.hit), sum(counts.predicted), sum(counts.actual));
  if (average !== "macro" && average !== "weighted") {
    throw new RanksimError("bad-params", `expected average macro, micro or weighted, found ${String(average)}`);
  }
  const weights = classes.map((row) => (average === "weighted" ? row.support : 1));
  const total = sum(weights);
  const weigh = (pick: (row: Scores) => number) => ratio(sum(classes.map((row, c) => weights[c] * pick(row))), total);
  return { precision: weigh((row) => row.precision), recall: weigh((row) => row.recall), f1: weigh((row) => row.f1) };
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

function sum(numbers: readonly number[] | Float64Array): number {
  let total = 0;
  for (const value of numbers) total += value;
  return total;
}

function mean(numbers: readonly number[]): number {
  return ratio(sum(numbers), numbers.length);
}

function checkSome(rows: number): void {
  if (rows === 0) throw new RanksimError("empty-input", "expected at least 1 row to judge, found none");
}
