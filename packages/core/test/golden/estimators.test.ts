/** Golden vectors of the three estimators: every integer equal, floats within 1e-9 relative, on every back end. */

import {
  type Backend,
  Dense,
  expandFilter,
  type FilterBank,
  type Progress,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
  toCsr,
  toDense,
} from "@ranksim/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { topFiltersOn } from "../backends/handles.ts";
import { platforms } from "../platforms.ts";
import { readGolden } from "./read-golden.ts";

type Rows = number[][];
interface Step {
  iteration: number;
  moved: number;
  empty: number;
}
interface TrainReport {
  steps: Step[];
  converged: boolean;
}
interface TraceStep {
  winners: number[];
  losers: number[];
  weights: Rows;
}

const weightsOf = (bank: FilterBank): Rows =>
  Array.from({ length: bank.filters }, (_, f) => {
    const w = new Float64Array(bank.features);
    expandFilter(bank, f, w);
    return [...w];
  });

const rowsOf = (x: Dense): Rows => Array.from({ length: x.rows }, (_, r) => [...x.row(r)]);

function expectClose(found: Rows, expected: Rows): void {
  expect(found.length).toBe(expected.length);
  for (let r = 0; r < expected.length; r++) {
    expect(found[r].length).toBe(expected[r].length);
    for (let i = 0; i < expected[r].length; i++) {
      const bound = 1e-9 * Math.max(1, Math.abs(expected[r][i]));
      if (!(Math.abs(found[r][i] - expected[r][i]) <= bound)) {
        expect.fail(`row ${r}, column ${i}: expected ${expected[r][i]}, found ${found[r][i]}`);
      }
    }
  }
}

const untimed = (steps: readonly { iteration: number; moved: number; empty: number }[]): Step[] =>
  steps.map(({ iteration, moved, empty }) => ({ iteration, moved, empty }));

describe.each(platforms)("golden vectors on $title", ({ open }) => {
  let backend: Backend;
  beforeAll(async () => {
    backend = await open();
  });
  afterAll(() => backend.close());

  /** Replays the trace: winners of every bank, filters without rows, weights after the update. */
  async function expectTrace(
    train: Rows,
    initial: readonly number[],
    banks: readonly FilterBank[],
    trace: TraceStep[],
  ) {
    const held = await backend.hold(Dense.fromRows(train));
    try {
      expect(banks.length).toBe(trace.length + 1);
      expect(weightsOf(banks[0]).length).toBe(initial.length);
      for (let t = 0; t < trace.length; t++) {
        const { filter } = await topFiltersOn(held, banks[t], 1);
        expect([...filter]).toEqual(trace[t].winners);
        const won = new Set(filter);
        expect(initial.map((_, f) => f).filter((f) => !won.has(f))).toEqual(trace[t].losers);
        expect(weightsOf(banks[t + 1])).toEqual(trace[t].weights);
      }
    } finally {
      held.release();
    }
  }

  it("digits-classifier", async () => {
    const golden = readGolden<{
      train: Rows;
      trainLabels: number[];
      test: Rows;
      filters: number;
      filtersPerClass: number[];
      initialRows: number[][];
      trace: TraceStep[][];
      report: TrainReport[];
      weights: Rows;
      filterClass: number[];
      predictions: number[];
      probabilities: Rows;
    }>("digits-classifier");
    const banks = new Map<unknown, FilterBank[]>();
    const onProgress = async ({ label, filters }: Progress) => {
      if (!filters) return;
      const seen = banks.get(label) ?? [];
      seen.push(await filters());
      banks.set(label, seen);
    };
    const estimator = new RankSimilarityClassifier({ initialRows: golden.initialRows });
    const model = await estimator.fit(golden.train, golden.trainLabels, { backend, onProgress });
    const allocated = await new RankSimilarityClassifier({ filters: golden.filters, iterations: 1 }).fit(
      golden.train,
      golden.trainLabels,
      { backend },
    );
    expect(allocated.report.trainings.map(({ filters }) => filters)).toEqual(golden.filtersPerClass);
    expect([...model.filterClass]).toEqual(golden.filterClass);
    expect(weightsOf(model.bank)).toEqual(golden.weights);
    for (const [c, name] of model.classes.entries()) {
      const training = model.report.trainings[c];
      expect(untimed(training.steps)).toEqual(golden.report[c].steps);
      expect(training.converged).toBe(golden.report[c].converged);
      const classRows = golden.train.filter((_, r) => golden.trainLabels[r] === name);
      await expectTrace(classRows, golden.initialRows[c], banks.get(name) as FilterBank[], golden.trace[c]);
    }
    expect(await model.predict(golden.test, { backend })).toEqual(golden.predictions);
    expectClose(rowsOf(await model.predictProbabilities(golden.test, { backend })), golden.probabilities);
  });

  it("digits-transform", async () => {
    const golden = readGolden<{
      train: Rows;
      test: Rows;
      initialRows: number[];
      trace: TraceStep[];
      report: TrainReport;
      weights: Rows;
      nBest: number;
      similarity: Rows;
      similarity5: Rows;
    }>("digits-transform");
    const banks: FilterBank[] = [];
    const onProgress = async ({ filters }: Progress) => {
      if (filters) banks.push(await filters());
    };
    const estimator = new RankSimilarityTransform({ initialRows: golden.initialRows, nBest: golden.nBest });
    const model = await estimator.fit(golden.train, undefined, { backend, onProgress });
    expect(weightsOf(model.bank)).toEqual(golden.weights);
    expect(untimed(model.report.trainings[0].steps)).toEqual(golden.report.steps);
    expect(model.report.converged).toBe(golden.report.converged);
    await expectTrace(golden.train, golden.initialRows, banks, golden.trace);
    expectClose(rowsOf(toDense(await model.transform(golden.test, { backend }))), golden.similarity);
    expectClose(rowsOf(toDense(await model.withNBest(5).transform(golden.test, { backend }))), golden.similarity5);
  });

  it("digits-confusion-transform", async () => {
    const golden = readGolden<{
      train: Rows;
      test: Rows;
      initialRows: number[];
      distribution: number[];
      report: TrainReport;
      weights: Rows;
      similarity: Rows;
    }>("digits-confusion-transform");
    const estimator = new RankSimilarityTransform({
      initialRows: golden.initialRows,
      distribution: "confusion",
      confusionRows: golden.train.length,
    });
    const model = await estimator.fit(golden.train, undefined, { backend });
    expectClose([[...(model.distribution as Float64Array)]], [golden.distribution]);
    expectClose(weightsOf(model.bank), golden.weights);
    expect(untimed(model.report.trainings[0].steps)).toEqual(golden.report.steps);
    expect(model.report.converged).toBe(golden.report.converged);
    expectClose(rowsOf(toDense(await model.transform(golden.test, { backend }))), golden.similarity);
  });

  it("digits-probabilistic", async () => {
    const golden = readGolden<{
      train: Rows;
      trainLabels: number[];
      test: Rows;
      initialRows: number[];
      report: TrainReport;
      weights: Rows;
      filterLabels: Rows;
      probabilities: Rows;
      predictions: number[];
    }>("digits-probabilistic");
    const estimator = new RankSimilarityProbabilisticClassifier({ initialRows: golden.initialRows });
    const model = await estimator.fit(golden.train, golden.trainLabels, { backend });
    expect(weightsOf(model.bank)).toEqual(golden.weights);
    expect(untimed(model.report.trainings[0].steps)).toEqual(golden.report.steps);
    expect(model.report.converged).toBe(golden.report.converged);
    const c = model.classes.length;
    expectClose(rowsOf(Dense.of(model.filterLabels, model.bank.filters, c)), golden.filterLabels);
    expectClose(rowsOf(await model.predictProbabilities(golden.test, { backend })), golden.probabilities);
    expect(await model.predict(golden.test, { backend })).toEqual(golden.predictions);
  });

  it.each(["dense", "csr"])("counts-multilabel, %s", async (form) => {
    const golden = readGolden<{
      train: Rows;
      trainLabels: Rows;
      test: Rows;
      initialRows: number[];
      report: TrainReport;
      weights: Rows;
      filterLabels: number[][][];
      probabilities: number[][][];
    }>("counts-multilabel");
    const shape = (rows: Rows) => (form === "csr" ? toCsr(Dense.fromRows(rows)) : Dense.fromRows(rows));
    const estimator = new RankSimilarityProbabilisticClassifier({ initialRows: golden.initialRows });
    const model = await estimator.fit(shape(golden.train), Dense.fromRows(golden.trainLabels), { backend });
    expect(weightsOf(model.bank)).toEqual(golden.weights);
    expect(untimed(model.report.trainings[0].steps)).toEqual(golden.report.steps);
    expect(model.report.converged).toBe(golden.report.converged);
    const outputs = model.classes.length;
    expect(outputs).toBe(golden.filterLabels.length);
    const presence = (perOutput: number[][][]): Rows =>
      perOutput[0].map((_, r) => perOutput.map((output) => output[r][1]));
    const labels = Dense.of(model.filterLabels, model.bank.filters, outputs);
    expectClose(rowsOf(labels), presence(golden.filterLabels));
    const probabilities = rowsOf(await model.predictProbabilities(shape(golden.test), { backend }));
    expectClose(probabilities, presence(golden.probabilities));
    const sets = await model.predict(shape(golden.test), { backend });
    const expected = presence(golden.probabilities).map((row) => row.flatMap((p, o) => (p > 0.5 ? [o] : [])));
    expect(sets).toEqual(expected);
  });

  it("relocation", async () => {
    const golden = readGolden<{
      train: Rows;
      initialRows: number[];
      trace: TraceStep[];
      report: TrainReport;
      weights: Rows;
    }>("relocation");
    const banks: FilterBank[] = [];
    const onProgress = async ({ filters }: Progress) => {
      if (filters) banks.push(await filters());
    };
    const estimator = new RankSimilarityTransform({ initialRows: golden.initialRows });
    const model = await estimator.fit(golden.train, undefined, { backend, onProgress });
    await expectTrace(golden.train, golden.initialRows, banks, golden.trace);
    expect(weightsOf(model.bank)).toEqual(golden.weights);
    expect(untimed(model.report.trainings[0].steps)).toEqual(golden.report.steps);
    expect(model.report.converged).toBe(golden.report.converged);
  });

  it("degenerate", async () => {
    const golden = readGolden<{
      rows: Rows;
      bankRows: number[];
      weights: Rows;
      filterClass: number[];
      similarity3: Rows;
      predictions: number[];
      probabilities3: Rows;
    }>("degenerate");
    const options = { spreading: "none", nBest: 3 } as const;
    const transform = await new RankSimilarityTransform({ ...options, initialRows: golden.bankRows }).fit(
      golden.rows,
      undefined,
      { backend },
    );
    expect(weightsOf(transform.bank)).toEqual(golden.weights);
    expectClose(rowsOf(toDense(await transform.transform(golden.rows, { backend }))), golden.similarity3);

    // The classifier keeps its filters class by class; probabilities and votes do not depend on their order.
    const bank = golden.bankRows.map((r) => golden.rows[r]);
    const classes = [...new Set(golden.filterClass)].sort((a, b) => a - b);
    const initialRows = classes.map((c) => golden.filterClass.flatMap((k, f) => (k === c ? [f] : [])));
    const classifier = await new RankSimilarityClassifier({ ...options, initialRows }).fit(bank, golden.filterClass, {
      backend,
    });
    expect(await classifier.predict(golden.rows, { backend })).toEqual(golden.predictions);
    expectClose(rowsOf(await classifier.predictProbabilities(golden.rows, { backend })), golden.probabilities3);
  });
});
