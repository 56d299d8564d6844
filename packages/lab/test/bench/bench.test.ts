/** The plan of the benchmark, and how pairs of runs are compared. */

import { describe, expect, it } from "vitest";
import { pairTable } from "../../src/bench/against.ts";
import { ROWS, WORKS } from "../../src/bench/rows.ts";

it("has works of the tables, and systems of different names in each", () => {
  for (const { work } of ROWS) expect(Object.keys(WORKS)).toContain(work);
  const names = ROWS.map(({ work, system }) => `${work}: ${system}`);
  expect(new Set(names).size).toBe(names.length);
});

describe("pairs", () => {
  const pair = (theirs: number, ours: number, models = ["a", "a"]) => ({
    theirs: { figures: { fit: theirs }, facts: { model: models[0] } },
    ours: { figures: { fit: ours }, facts: { model: models[1] } },
  });

  it("compares the sides of each pair before it takes a median", () => {
    // The machine was ten times as slow in the second turn: ratios 2, 1, 0.5 and 1.5.
    const pairs = [pair(2, 1), pair(10, 10), pair(1, 2), pair(3, 2)];
    const [, , line] = pairTable([{ name: "classifier", pairs }], "1234567").split("\n");
    expect(line).toBe("| classifier, fit | 1.250 (0.500–2.000) | 2.50 | 2.00 | same |");
  });

  it("says where models differ", () => {
    const pairs = [pair(1, 1), pair(1, 1, ["a", "b"])];
    expect(pairTable([{ name: "classifier", pairs }], "1234567")).toContain("**another**");
  });
});
