/** Ratios of pairs, by hand. */

import { expect, it } from "vitest";
import { summarize, tableOf } from "../../src/pairs/summary.ts";

const pair = (base: number, head: number, digests = ["a", "a"]) => ({
  base: { cpu: { fit: base }, digest: digests[0] },
  head: { cpu: { fit: head }, digest: digests[1] },
});

it("compares the sides of each pair before it takes a median", () => {
  // The machine was ten times as slow in the second turn: ratios 2, 1, 0.5 and 1.5.
  const [row] = summarize("classifier", [pair(2, 1), pair(10, 10), pair(1, 2), pair(3, 2)]);
  expect(row).toMatchObject({ work: "classifier", phase: "fit", pairs: 4, median: 1.25, range: [0.5, 2] });
  expect(row.quartiles).toEqual([0.875, 1.625]);
  expect([row.base, row.head]).toEqual([2.5, 2]);
  expect(row.sameModel).toBe(true);
});

it("says where models differ", () => {
  const rows = summarize("classifier", [pair(1, 1), pair(1, 1, ["a", "b"])]);
  expect(rows[0].sameModel).toBe(false);
  expect(tableOf(rows)).toMatch(/classifier, fit +1\.000 .*ANOTHER MODEL/);
  expect(summarize("classifier", [])).toEqual([]);
});
