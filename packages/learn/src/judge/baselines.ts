/**
 * What simple methods reach on the same rows, so that a score can be weighed: the most frequent class, five nearest
 * neighbours and a linear classifier, on the numbers that the filters see, scaled. Large data is sampled.
 */

import {
  type Label,
  LinearClassifier,
  type Matrix,
  MaxAbsScaler,
  type Model,
  Pipeline,
  RanksimError,
  type Run,
  toDense,
} from "@ranksim/core";
import { turns } from "@ranksim/core/internal";
import { type AnyRows, dataBlocks, joinData, type MatrixData, pickRows, type RowLabels } from "@ranksim/data";
import { passThrough } from "../model/passage.ts";
import { accuracy, f1 } from "../select/metrics.ts";
import { sampleOrder } from "../select/split.ts";
import { type Interval, shareInterval } from "./intervals.ts";
import { isSets } from "./labels.ts";

/** A simple method and what it reached. */
export interface Baseline {
  readonly name: string;
  readonly accuracy: number;
  readonly macroF1: number;
  readonly interval: Interval;
  /** Training and test rows that it was given. */
  readonly rows: readonly [train: number, test: number];
}

/** Rows that methods are given at most: neighbours cost training rows × test rows. */
export const TRAIN_ROWS = 5000;
export const TEST_ROWS = 2000;
const NEIGHBOURS = 5;

/** Rows with one label each: all, or a sample, with the labels of all. */
export interface Labelled {
  readonly x: Matrix;
  readonly y: readonly Label[];
  readonly all: readonly Label[];
}

/** Rows to learn from and rows to be judged by. */
export interface Halves {
  readonly train: Labelled;
  readonly test: Labelled;
}

/** Judges the simple methods by one or several divisions of the rows; the answers of all divisions are judged together. */
export async function baselines(divisions: AsyncIterable<Halves> | Iterable<Halves>, run: Run): Promise<Baseline[]> {
  const kept = new Map<string, { truth: Label[]; answers: Label[]; trained: number }>();
  const keep = (name: string, trained: number, truth: readonly Label[], answers: readonly Label[]) => {
    const one = kept.get(name) ?? { truth: [], answers: [], trained: 0 };
    for (let r = 0; r < truth.length; r++) {
      one.truth.push(truth[r]);
      one.answers.push(answers[r]);
    }
    kept.set(name, { ...one, trained: Math.max(one.trained, trained) });
  };
  for await (const { train: known, test: asked } of divisions) {
    const most = mostFrequent(known.all);
    keep("most frequent class", known.all.length, asked.all, new Array<Label>(asked.all.length).fill(most));
    const scaler = await new MaxAbsScaler().fit(known.x);
    const [a, b] = [await scaler.transform(known.x), await scaler.transform(asked.x)];
    run.signal?.throwIfAborted();
    keep(`${NEIGHBOURS} nearest neighbours`, known.y.length, asked.y, await nearest(a, known.y, b, run));
    const head = new LinearClassifier({ calibrate: "none" });
    const linear = await new Pipeline([new MaxAbsScaler(), head]).fit(known.x, known.y, quiet(run));
    keep("linear classifier", known.y.length, asked.y, (await linear.predict(asked.x, quiet(run))) as Label[]);
  }
  return Array.from(kept, ([name, { truth, answers, trained }]) => {
    const right = accuracy(truth, answers);
    return {
      name,
      accuracy: right,
      macroF1: f1(truth, answers),
      interval: shareInterval(Math.round(right * truth.length), truth.length),
      rows: [trained, truth.length],
    };
  });
}

/** Multiply-adds that neighbours may take: about ten seconds of a plain loop. */
const MOST_WORK = 1e10;

/** How many of the folds the simple methods are judged by, so that it does not take longer than tuning itself. */
export function foldsWithin(rows: number, features: number, folds: number): number {
  const test = Math.min(TEST_ROWS, rows / folds);
  const train = Math.min(TRAIN_ROWS, rows - rows / folds);
  return Math.max(1, Math.min(folds, Math.floor(MOST_WORK / (test * train * features))));
}

const quiet = ({ signal }: Run): Run => (signal ? { signal } : {});

/** The rows that methods are given of many; undefined where they are given all. */
export function sampledRows(y: readonly Label[], most: number): Uint32Array | undefined {
  return y.length > most ? sampleOrder(y).slice(0, most).sort() : undefined;
}

/** Refuses rows of several labels, before any work is done. */
export function refuseSeveral(y: RowLabels | undefined): void {
  if (isSets(y ?? [])) throw new RanksimError("bad-labels", "baselines: expected one label per row, found several");
}

/** What simple methods reach on the numbers that the filters see. Of rows that are read no more are read than the methods are given. */
export async function baselinesOf(model: Model, train: AnyRows, test: AnyRows, run: Run): Promise<Baseline[]> {
  const own = { ...quiet(run), ...(run.backend ? { backend: run.backend } : {}) };
  const labelled = async (data: AnyRows, most: number): Promise<Labelled> => {
    const all = (data.y as readonly Label[]).map(String);
    const rows = sampledRows(all, most);
    const parts: MatrixData[] = [];
    for await (const block of dataBlocks(rows ? await pickRows(data, rows) : data)) {
      parts.push({ form: "matrix", x: (await passThrough(model, block, own)).atFilters });
    }
    const { x } = joinData(parts) as MatrixData;
    return { x, y: rows ? Array.from(rows, (r) => all[r]) : all, all };
  };
  const halves = { train: await labelled(train, TRAIN_ROWS), test: await labelled(test, TEST_ROWS) };
  return baselines([halves], own);
}

function mostFrequent(y: readonly Label[]): Label {
  const counts = new Map<Label, number>();
  for (const label of y) counts.set(label, (counts.get(label) ?? 0) + 1);
  return [...counts].reduce((best, entry) => (entry[1] > best[1] ? entry : best))[0];
}

/** The class that most of the nearest rows have, of equal ones that of the nearest. */
async function nearest(train: Matrix, y: readonly Label[], test: Matrix, run: Run): Promise<Label[]> {
  const norms = Float64Array.from({ length: train.rows }, (_, r) => dotOf(train, r, denseRow(train, r)));
  const answers: Label[] = [];
  const pause = turns(run);
  for (let r = 0; r < test.rows; r++) {
    await pause();
    const row = denseRow(test, r);
    const distances = Float64Array.from(norms, (norm, t) => norm - 2 * dotOf(train, t, row));
    const order = Uint32Array.from(distances.keys()).sort((a, b) => distances[a] - distances[b] || a - b);
    const votes = new Map<Label, number>();
    for (const t of order.subarray(0, NEIGHBOURS)) votes.set(y[t], (votes.get(y[t]) ?? 0) + 1);
    answers.push([...votes].reduce((best, entry) => (entry[1] > best[1] ? entry : best))[0]);
  }
  return answers;
}

const denseRow = (x: Matrix, r: number): ArrayLike<number> => toDense(x.slice(r, r + 1)).values;

function dotOf(x: Matrix, r: number, row: ArrayLike<number>): number {
  let sum = 0;
  if (x.form === "dense") {
    for (let i = 0; i < x.features; i++) sum += x.values[r * x.features + i] * row[i];
  } else {
    for (let e = x.offsets[r]; e < x.offsets[r + 1]; e++) sum += x.values[e] * row[x.indices[e]];
  }
  return sum;
}
