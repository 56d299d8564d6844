/** Rows scaled each by itself: values by hand, sparse as dense, and ranked rows beside those of a plain sort. */

import { describe, expect, test } from "vitest";
import {
  type Csr,
  Dense,
  loadModel,
  type Matrix,
  RankSimilarityClassifier,
  RowScaler,
  saveModel,
  toCsr,
  toDense,
} from "../../src/index.ts";

async function scaled(x: number[][], by: "rank" | "log" | "log-share"): Promise<number[][]> {
  const model = await new RowScaler({ by }).fit(x);
  const again = loadModel(saveModel(model)) as typeof model;
  const [dense, sparse] = [await model.transform(x), await again.transform(toCsr(Dense.fromRows(x)))];
  expect([dense.form, sparse.form]).toEqual(["dense", "csr"]);
  expect((sparse as Csr).values).toHaveLength(x.flat().filter((value) => value !== 0).length);
  const found = rowsOf(dense);
  expect(rowsOf(sparse)).toEqual(found);
  return found;
}

const rowsOf = (x: Matrix) => {
  const { values, rows, features } = toDense(x);
  return Array.from({ length: rows }, (_, r) => Array.from(values.subarray(r * features, (r + 1) * features)));
};

describe("RowScaler", () => {
  test.each([
    // Two zeros have the ranks 1 and 2, doubled 3 for both; 7 and 7 the ranks 4 and 5, doubled 9.
    [
      [0, 7, 5, 7, 0],
      [0, 6, 3, 6, 0],
    ],
    [
      [-2, 0, 3, 0, -4],
      [-3, 0, 3, 0, -5],
    ],
    [
      [5, 7],
      [1, 3],
    ],
    [
      [-1, 4, 9],
      [-1, 1, 3],
    ],
    [
      [0, 0],
      [0, 0],
    ],
  ] as [number[], number[]][])("ranks %j, less the rank of zeros", async (row, expected) => {
    expect(await scaled([row], "rank")).toEqual([expected]);
  });

  test("logarithms of values and of shares of 10,000", async () => {
    const [row, empty] = await scaled([[0, 1, 3], [0, 0, 0]], "log"); // biome-ignore format: one line
    expect([row, empty]).toEqual([
      [0, Math.fround(Math.log(2)), Math.fround(Math.log(4))],
      [0, 0, 0],
    ]);
    const [shares] = await scaled([[0, -1, 3]], "log-share");
    expect(shares).toEqual([0, Math.fround(-Math.log(2501)), Math.fround(Math.log(7501))]);
  });

  test("ranked rows have the strongest filters of rows of plain ranks", async () => {
    const x = Array.from({ length: 40 }, (_, r) => Array.from({ length: 12 }, (_, c) => Math.max(0, ((r * 7 + c * c * 5 + r * c) % 13) - 6))); // biome-ignore format: one line
    const y = x.map((_, r) => r % 3);
    // Twice the rank of a value: those below it, and half of those like it.
    const ranks = x.map((row) => row.map((value) => 1 + row.reduce((sum, other) => sum + (other < value ? 2 : other === value ? 1 : 0), 0))); // biome-ignore format: one line
    const estimator = new RankSimilarityClassifier({ filters: 6 });
    const plain = await (await estimator.fit(ranks, y)).predict(ranks);
    const rows = await (await new RowScaler().fit(x)).transform(toCsr(Dense.fromRows(x)));
    expect(await (await estimator.fit(rows, y)).predict(rows)).toEqual(plain);
  });

  test("refuses rows of other widths, and scalings that there are not", async () => {
    const model = await new RowScaler().fit([[0, 2]]);
    await expect(model.transform([[1, 2, 3]])).rejects.toThrow("2 features");
    expect(() => new RowScaler({ by: "mean" as never })).toThrow(/by/);
  });
});
