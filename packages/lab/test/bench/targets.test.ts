import { describe, expect, it } from "vitest";
import type { BenchResults, GrowthPoint, RunResult } from "../../src/bench/results.ts";
import { growthRatio, judge } from "../../src/bench/targets.ts";

const seconds = (fit: number, predict: number, peak: number, macroF1: number): RunResult => ({
  phases: { fit: { cpu: fit, wall: fit }, predict: { cpu: predict, wall: predict } },
  peak: { fit: peak, predict: peak },
  scores: { macroF1 },
  facts: {},
  cpu: fit + predict,
});

const growth = (rows: number, fit: number): GrowthPoint => ({
  axis: "rows",
  rows,
  features: 8,
  filters: 10,
  runs: [seconds(fit, 0, 0, 0)],
});

const results: BenchResults = {
  format: 1,
  date: "2000-01-01T00:00:00.000Z",
  commit: "0",
  quick: false,
  seconds: 1,
  machine: { cpu: "", cores: 1, memoryBytes: 1, system: "", node: "", v8: "", packages: {} },
  python: undefined,
  missing: [],
  measurements: [
    { work: "classifier", system: "ranksim", runs: [seconds(1, 0.2, 100e6, 0.86), seconds(3, 0.2, 100e6, 0.86)] },
    { work: "classifier", system: "authors", runs: [seconds(20, 1.9, 300e6, 0.86)] },
    { work: "classifier", system: "authors-bytes", runs: [seconds(20, 1.9, 180e6, 0.86)] },
    { work: "newsgroups", system: "ranksim", runs: [seconds(0.5, 0.5, 120e6, 0.5)] },
    { work: "newsgroups", system: "authors", runs: [seconds(18, 3, 1200e6, 0.5)] },
  ],
  kernels: [],
  startUp: [{ engine: 30, imported: 40, loaded: 60, predicted: 101, cpu: 99 }],
  growth: [growth(1000, 1), growth(100, 0.1)],
};

const verdictOf = (start: string) => judge(results).find(({ target }) => target.startsWith(start));

describe("targets", () => {
  it("compare medians of processor time", () => {
    expect(verdictOf("classifier fit, processor")).toMatchObject({ measured: "10.0×", verdict: "met" });
    expect(verdictOf("classifier predict, processor")).toMatchObject({ measured: "9.50×", verdict: "missed" });
  });

  it("add the phases that belong together", () => {
    expect(verdictOf("20 Newsgroups, fit + predict")).toMatchObject({ measured: "21.0×", verdict: "met" });
  });

  it("compare memory with the peer at its fastest and at its leanest", () => {
    const [fastest, leanest] = judge(results).filter(({ target }) => target.startsWith("classifier fit, peak memory"));
    expect(fastest).toMatchObject({ measured: "0.33", verdict: "met" });
    expect(leanest).toMatchObject({ measured: "0.56", verdict: "missed" });
    expect(verdictOf("20 Newsgroups, fit, peak memory")).toMatchObject({ measured: "0.10", verdict: "met" });
  });

  it("stay open where nothing was measured", () => {
    expect(verdictOf("probabilistic fit")).toMatchObject({ measured: "–", verdict: "not measured" });
  });

  it("count start-up without the engine's own", () => {
    expect(verdictOf("start-up")).toMatchObject({ measured: "101 ms", verdict: "missed" });
  });

  it("compare time per row of the largest and the smallest N, in whatever order they stand", () => {
    expect(growthRatio(results)).toBeCloseTo(1, 12);
  });
});
