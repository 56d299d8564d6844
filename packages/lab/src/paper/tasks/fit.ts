/**
 * Fits and applies one of the paper's systems: RSC, RSPC, a linear classifier on raw rows, or RST and a linear classifier behind it. Seconds
 * cover everything between raw rows and labels, transforms and scaling included; reading data is outside.
 */

import {
  type Csr,
  Dense,
  type Label,
  LinearClassifier,
  type Matrix,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
  type Run,
  StandardScaler,
} from "@ranksim/core";
import { f1 } from "@ranksim/learn";
import { type Places, type Rows, testRows, trainRows } from "../../runner/data.ts";
import type { Measured } from "../../runner/results.ts";
import { timed } from "../../runner/stopwatch.ts";
import type { FitTask } from "../spec.ts";

type Facts = { readonly [name: string]: number | string | boolean };

/** Labels for rows, and what is worth knowing of the training. */
interface Trained {
  readonly predict: (x: Matrix) => Promise<readonly (Label | readonly Label[])[]>;
  readonly facts: Facts;
}

/** Measures one fit and one application. */
export async function fitAndApply(places: Places, task: FitTask, run: Run): Promise<Partial<Measured>> {
  const train = trainRows(places);
  const fit = await timed(() => trainSystem(task, train, run));
  const test = testRows(places);
  const predict = await timed(() => fit.value.predict(test.x));
  return {
    figures: { ...scores(test.y, predict.value), fit: fit.cpu, predict: predict.cpu },
    facts: { ...fit.value.facts, trainRows: train.x.rows, testRows: test.x.rows },
  };
}

async function trainSystem(task: FitTask, { x, y }: Rows, run: Run): Promise<Trained> {
  switch (task.system) {
    case "rsc": {
      const model = await new RankSimilarityClassifier(task.params).fit(x, y as Uint8Array, run);
      const { filters, converged } = model.report;
      return { predict: (rows) => model.predict(rows, run), facts: { filters, converged } };
    }
    case "rspc": {
      const model = await new RankSimilarityProbabilisticClassifier(task.params).fit(x, y, run);
      const { filters, converged } = model.report;
      return { predict: (rows) => model.predict(rows, run), facts: { filters, converged } };
    }
    case "svm": {
      const scale = await scalerOf(task, x);
      const model = await planes(task.params).fit(await scale(x), y as Uint8Array, run);
      const facts = svmFacts(model.report);
      return { predict: async (rows) => model.predict(await scale(rows), run), facts };
    }
    case "rst-svm": {
      const transform = await timed(() => new RankSimilarityTransform(task.params).fit(x, undefined, run));
      const similar = await transform.value.transform(x, run);
      const svm = await timed(() => planes(task.svm).fit(similar, y as Uint8Array, run));
      const facts = { ...svmFacts(svm.value.report), filters: transform.value.report.filters };
      return {
        predict: async (rows) => svm.value.predict(await transform.value.transform(rows, run), run),
        facts: { ...facts, transformSeconds: transform.cpu, svmSeconds: svm.cpu },
      };
    }
    default:
      throw new Error(`unknown system ${task.system satisfies never}`);
  }
}

async function scalerOf({ scale = "none" }: FitTask, x: Matrix): Promise<(rows: Matrix) => Promise<Matrix>> {
  if (scale === "unit") {
    return async (rows) =>
      Dense.of(
        Float32Array.from(rows.values, (value) => value / 255),
        rows.rows,
        rows.features,
      );
  }
  if (scale === "standard") {
    const scaler = await new StandardScaler().fit(x);
    return (rows) => scaler.transform(rows);
  }
  return async (rows) => rows;
}

/** The linear classifier; points that were measured name the loss that the linear SVM of 0.2 could choose. */
function planes({ loss: _, ...params }: { readonly loss?: unknown } & FitTask["params"] = {}): LinearClassifier {
  return new LinearClassifier(params);
}

function svmFacts(report: { readonly iterations: readonly number[]; readonly converged: readonly boolean[] }) {
  return { iterations: Math.max(...report.iterations), converged: report.converged.every((flag) => flag) };
}

function scores(truth: Uint8Array | Csr, predicted: readonly (Label | readonly Label[])[]) {
  if (truth instanceof Uint8Array) {
    const labels = predicted as readonly Label[];
    return { macroF1: f1(truth, labels, { average: "macro" }), microF1: f1(truth, labels, { average: "micro" }) };
  }
  const indicator = asIndicator(predicted as readonly (readonly number[])[], truth.features);
  return { macroF1: f1(truth, indicator, { average: "macro" }), microF1: f1(truth, indicator, { average: "micro" }) };
}

/** A 0/1 matrix counts every topic, also one that no row has or is given, as scikit-learn does. */
function asIndicator(sets: readonly (readonly number[])[], labels: number): Dense {
  const values = new Uint8Array(sets.length * labels);
  for (const [r, set] of sets.entries()) for (const label of set) values[r * labels + label] = 1;
  return Dense.of(values, sets.length, labels);
}
