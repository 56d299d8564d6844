/** Labels of any kind become class numbers; sets and 0/1 matrices mean the same. */

import { Csr, Dense, toDense } from "@ranksim/core";
import { describe, expect, it } from "vitest";
import { compareLabels, encodeLabels, encodeSets, isLabelSets } from "../../src/matrix/labels.ts";

describe("one label per row", () => {
  it("sorts numbers by size before strings by code units", () => {
    const { classes, codes } = encodeLabels(["b", 10, "B", 9, "b", -1], 6);
    expect(classes).toEqual([-1, 9, 10, "B", "b"]);
    expect([...codes]).toEqual([4, 2, 3, 1, 4, 0]);
    expect([3, "3", 1].sort(compareLabels)).toEqual([1, 3, "3"]);
  });

  it("takes typed arrays", () => {
    expect(encodeLabels(Uint8Array.of(3, 1, 3), 3).classes).toEqual([1, 3]);
  });

  it("refuses a wrong count and what is no label", () => {
    expect(() => encodeLabels(["a"], 2)).toThrow("expected 2 labels, one for each row, found 1");
    expect(() => encodeLabels(["a", null as never], 2)).toThrow(/row 1: .*null/);
    expect(() => encodeLabels([1, Number.NaN], 2)).toThrow(/row 1: .*NaN/);
    expect(() => encodeLabels([1, Number.POSITIVE_INFINITY], 2)).toThrow(/row 1: .*Infinity/);
    expect(() => encodeLabels(undefined as never, 2)).toThrow(/array of 2 labels/);
  });
});

describe("several labels per row", () => {
  it("reads sets and 0/1 matrices alike", () => {
    const bySet = encodeSets([[2, 0], [], [1]], 3);
    const matrix = Dense.fromRows([
      [1, 0, 1],
      [0, 0, 0],
      [0, 1, 0],
    ]);
    const byMatrix = encodeSets(matrix, 3);
    expect(bySet.labels).toEqual([0, 1, 2]);
    expect(byMatrix.labels).toEqual(bySet.labels);
    expect([...toDense(bySet.present).values]).toEqual([...matrix.values]);
    expect([...toDense(byMatrix.present).values]).toEqual([...matrix.values]);
    expect(encodeSets(Csr.fromRows([[[1, 1]]], 2), 1).labels).toEqual([0, 1]);
  });

  it("takes a 0/1 matrix written as plain rows for what it is not, and says so", () => {
    expect(() => encodeSets([[0, 1, 0]], 1)).toThrow(/row 0 lists label 0 twice; pass a 0\/1 matrix as Dense.fromRows/);
    expect(() => encodeSets(Dense.fromRows([[0, 2]]), 1)).toThrow(/row 0, column 1: expected 0 or 1, found 2/);
    expect(() => encodeSets([["a"]], 2)).toThrow(/2 labels.*found 1/);
  });

  it("tells sets from single labels", () => {
    expect(isLabelSets([["a"], []])).toBe(true);
    expect(isLabelSets(["a", "b"])).toBe(false);
    expect(isLabelSets(Dense.fromRows([[1]]))).toBe(true);
  });
});
