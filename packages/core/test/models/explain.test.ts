/** Explanations: what is named must add up to the decision. */

import {
  Dense,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
} from "@ranksim/core";
import { describe, expect, it } from "vitest";
import { dotRow } from "../../src/kernels/dot.ts";
import { expandFilter } from "../../src/kernels/top.ts";
import { drawBelow, generatorOf } from "../../src/random.ts";

const generator = generatorOf(3);
const y = Array.from({ length: 60 }, (_, r) => (r % 2 === 0 ? "low" : "high"));
const x = Dense.fromRows(
  y.map((name) =>
    Array.from({ length: 20 }, (_, i) => drawBelow(generator, 10) + (i < 10 === (name === "low") ? 8 : 0)),
  ),
);

describe("explain", () => {
  it("names class, strongest filters, their training rows, and contributions that sum to the margin", async () => {
    const model = await new RankSimilarityClassifier({ filters: 10 }).fit(x, y);
    for (const row of [0, 1, 17]) {
      const why = await model.explain(x, row);
      expect(why.label).toBe((await model.predict(x.slice(row, row + 1)))[0]);
      expect(why.filters[0].label).toBe(why.label);
      expect(why.filters[0].similarity).toBe(1);
      expect(why.rivalLabel).not.toBe(why.label);
      const responses = why.filters.map(({ response }) => response);
      expect(responses).toEqual([...responses].sort((a, b) => b - a));
      for (const { filter, rows, label } of why.filters) {
        expect(rows).toEqual(model.filterRows(filter));
        expect(rows.every((r) => y[r] === label)).toBe(true);
      }
      const w = new Float64Array(20);
      const response = (f: number) => {
        expandFilter(model.bank, f, w);
        return dotRow(x, row, w) / model.bank.norm[f];
      };
      const margin = response(why.filters[0].filter) - response(why.rival as number);
      expect(margin).toBeGreaterThan(0);
      expect(why.contributions.reduce((sum, { contribution }) => sum + contribution, 0)).toBeCloseTo(margin, 10);
      const rivals = [...model.filterClass.keys()].filter((f) => model.classes[model.filterClass[f]] !== why.label);
      expect(response(why.rival as number)).toBe(Math.max(...rivals.map(response)));
    }
  });

  it("works for transforms, probabilities, several labels, and rows of zeros", async () => {
    const transform = await new RankSimilarityTransform({ filters: 8 }).fit(x);
    const why = await transform.explain(x, 4);
    expect(why.filters[0].similarity).toBe(1);
    expect(why.contributions.length).toBeGreaterThan(0);
    const probabilistic = await new RankSimilarityProbabilisticClassifier({ filters: 8 }).fit(x, y);
    const shares = (await probabilistic.explain(x, 3)).filters[0].shares;
    expect(shares[0] + shares[1]).toBeCloseTo(1, 12);
    const sets = y.map((name) => [name, "all"]);
    const several = await new RankSimilarityProbabilisticClassifier({ filters: 8 }).fit(x, sets);
    expect((await several.explain(x, 3)).label).toContain("all");
    const zeros = await transform.explain(Dense.of(new Uint8Array(20), 1, 20), 0);
    expect(zeros.filters).toEqual([]);
  });

  it("refuses a row that is not there", async () => {
    const model = await new RankSimilarityClassifier({ filters: 4 }).fit(x, y);
    await expect(model.explain(x, 60)).rejects.toThrow("expected a row from 0 below 60, found 60");
  });

  it("sets the class that voters or a committee gave against another, whatever the strongest filter says", async () => {
    const noisy = Dense.fromRows(
      y.map((name) =>
        Array.from({ length: 20 }, (_, i) => drawBelow(generator, 10) + (i < 10 === (name === "low") ? 1 : 0)),
      ),
    );
    for (const params of [
      { filters: 30, voters: 9 },
      { filters: 30, committee: 3 },
    ]) {
      const model = await new RankSimilarityClassifier(params).fit(noisy.slice(0, 40), y.slice(0, 40));
      let outvoted = 0;
      for (let row = 0; row < noisy.rows; row++) {
        const why = await model.explain(noisy, row);
        expect(why.rivalLabel).toBe(why.label === "low" ? "high" : "low");
        expect(model.classes[model.filterClass[why.rival as number]]).toBe(why.rivalLabel);
        if (why.filters[0].label === why.label) continue;
        outvoted++;
        if ("committee" in params) continue;
        // The rival is the strongest filter of all, so that the parts are against the class that was given.
        expect(why.rival).toBe(why.filters[0].filter);
        expect(why.contributions.reduce((sum, { contribution }) => sum + contribution, 0)).toBeLessThanOrEqual(0);
      }
      expect(outvoted).toBeGreaterThan(0);
    }
  });

  it("finds no rival for a row that no filter responds to", async () => {
    const zeros = Dense.of(new Uint8Array(20), 1, 20);
    for (const params of [{ filters: 10 }, { filters: 30, voters: 9 }, { filters: 30, committee: 3 }]) {
      const model = await new RankSimilarityClassifier(params).fit(x, y);
      expect(await model.explain(zeros, 0)).toMatchObject({ filters: [], rival: undefined, contributions: [] });
    }
  });
});
