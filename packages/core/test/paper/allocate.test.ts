/** Filter counts, by hand from section 3 of the method. */

import { expect, it } from "vitest";
import { allocateFilters, countFilters } from "../../src/paper/allocate.ts";

it.each([
  [1, 1],
  [1000, 1000],
  [1001, 1000],
  [10_000, 1000],
  [10_004, 1000],
  [10_016, 1002],
  [60_000, 6000],
  [100_000, 10_000],
  [100_001, 10_000],
])("gives %i rows %i filters", (rows, filters) => {
  expect(countFilters(rows, "auto", 1000, 10_000)).toBe(filters);
});

it("takes a count that is given", () => {
  expect(countFilters(50, 7, 1000, 10_000)).toBe(7);
  expect(countFilters(50, 7, 1000, 10_000, 20)).toBe(7);
});

it("gives as many as are needed where it may choose", () => {
  expect(countFilters(1500, "auto", 1000, 10_000, 1200)).toBe(1200);
  expect(countFilters(60_000, "auto", 1000, 10_000, 1200)).toBe(6000);
  expect(countFilters(300_000, "auto", 1000, 10_000, 20_000)).toBe(20_000);
});

const names = ["a", "b", "c"];

it("shares out by rows, evenly or by weight", () => {
  expect(allocateFilters(names, [100, 50, 7], 20, "proportional", false)).toEqual([12, 6, 1]); // 12.7, 6.4, 0.9
  expect(allocateFilters(names, [100, 50, 7], 20, "uniform", false)).toEqual([7, 7, 7]); // 6.67
  expect(allocateFilters(names, [100, 50, 7], 40, "uniform", false)).toEqual([13, 13, 7]); // 13.3, never above the rows
  expect(allocateFilters(names, [100, 50, 7], 40, "uniform", true)).toEqual([13, 13, 13]);
  expect(allocateFilters(names, [100, 50, 7], 20, { a: 1, b: 3, c: 0.0001 }, false)).toEqual([5, 15, 1]);
  expect(allocateFilters([1, 2], [9, 9], 10, { "2": 4 }, false)).toEqual([2, 8]); // 1 and 4
});

it("gives every class a filter and refuses fewer filters than classes", () => {
  expect(allocateFilters(names, [1, 1, 998], 10, "proportional", false)).toEqual([1, 1, 9]);
  expect(() => allocateFilters(names, [5, 5, 5], 2, "uniform", false)).toThrow(
    /\(3\), found 2 filters; filters: "auto" gives enough/,
  );
  expect(() => allocateFilters(names, [5, 5, 5], 6, { d: 1 }, false)).toThrow(/"d", which no row has/);
});
