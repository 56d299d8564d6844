import { describe, expect, it } from "vitest";
import { checkMemory, memoryBound } from "../../src/bench/memory.ts";
import type { BenchResults, RunResult } from "../../src/bench/results.ts";

const run = (peak: number, facts: RunResult["facts"]): RunResult => ({
  phases: {},
  peak: { start: 1, fit: peak, predict: peak - 1 },
  scores: {},
  facts,
  cpu: 0,
});

describe("the bound on memory", () => {
  it("grows with the data and the filters, and never with rows times filters", () => {
    const mixed =
      memoryBound(2000, 10, 200, 1) -
      memoryBound(1000, 10, 200, 1) -
      memoryBound(2000, 10, 100, 1) +
      memoryBound(1000, 10, 100, 1);
    expect(mixed).toBe(0);
    expect(memoryBound(1000, 10, 100, 2) - memoryBound(1000, 10, 100, 1)).toBe(2 * 1000 * 10);
  });

  it("is held against the median peak of the whole process, dense rows on one thread", () => {
    const facts = { rows: 1000, features: 10, filters: 100 };
    const results = {
      measurements: [
        { work: "classifier", system: "ranksim", runs: [run(5e6, facts), run(9e6, facts), run(6e6, facts)] },
        { work: "classifier", system: "ranksim-2", runs: [run(7e6, facts)] },
        { work: "newsgroups", system: "ranksim", runs: [run(7e6, facts)] },
      ],
      growth: [{ axis: "rows", ...facts, runs: [run(3e6, facts)] }],
    } as unknown as BenchResults;
    const bound = memoryBound(1000, 10, 100, 1);
    expect(checkMemory(results)).toEqual([
      { name: "classifier", ...facts, measured: 6e6, bound },
      { name: "growth in rows", ...facts, measured: 3e6, bound },
    ]);
  });
});
