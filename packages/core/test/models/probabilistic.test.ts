/** The probabilistic classifier beyond the golden vectors: rows of zeros, label shares, several labels. */

import { RankSimilarityProbabilisticClassifier } from "@ranksim/core";
import { expect, it } from "vitest";

const up = [0, 1, 2, 3, 4, 5, 6, 7, 8];
const down = [...up].reverse();
const zero = up.map(() => 0);

it("leaves rows of zeros out, and still counts rows as the caller does", async () => {
  const x = [zero, up, up, zero, down, down];
  const y = ["none", "up", "up", "none", "down", "up"];
  const model = await new RankSimilarityProbabilisticClassifier({ initialRows: [1, 4] }).fit(x, y);
  expect([...model.filterRows(0)]).toEqual([1, 2]);
  expect([...model.filterRows(1)]).toEqual([4, 5]);
  expect(model.report.rows).toBe(4);
  expect(model.report.notes).toContain("2 rows of zeros were left out of training");
  // Classes sorted: down, none, up.
  expect([...model.filterLabels]).toEqual([0, 0, 1, 0.5, 0, 0.5]);
  const probabilities = await model.predictProbabilities([up, zero]);
  expect([...probabilities.values]).toEqual([0, 0, 1, 1 / 3, 1 / 3, 1 / 3]);
  const start = new RankSimilarityProbabilisticClassifier({ initialRows: [0, 4] });
  await expect(start.fit(x, y)).rejects.toThrow(
    "initialRows: expected rows that are there and not all zero, found row 0",
  );
});

it("gives a label that is more probable present than absent", async () => {
  const x = [up, up, up, down];
  const sets = [["a", "b"], ["a"], ["a"], []];
  const model = await new RankSimilarityProbabilisticClassifier({ initialRows: [0, 3] }).fit(x, sets);
  expect(model.classes).toEqual(["a", "b"]);
  expect([...model.filterLabels]).toEqual([1, 1 / 3, 0, 0]);
  expect(await model.predict([up, down])).toEqual([["a"], []]);
  // Row `up`: filter 0 alone is similar. b: present 1/3, absent 2/3.
  const { values } = await model.predictProbabilities([up]);
  expect(values[0]).toBe(1);
  expect(values[1]).toBeCloseTo(1 / 3, 12);
  expect(await model.score(x, sets)).toBe(0.75);
});
