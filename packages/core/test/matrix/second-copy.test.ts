/** Matrices made by another copy of the library, as two versions in one program have, count as matrices everywhere. */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as core from "@ranksim/core";
import {
  asMatrix,
  MaxAbsScaler,
  RankSimilarityClassifier,
  RankSimilarityProbabilisticClassifier,
  RankSimilarityTransform,
  saveModel,
  toCsr,
  toDense,
} from "@ranksim/core";
import { subsetAccuracy, trainTestSplit } from "@ranksim/learn";
import { describe, expect, it, vi } from "vitest";

const built = fileURLToPath(new URL("../../dist/bundle/index.js", import.meta.url));

const copies: readonly { title: string; open: () => Promise<typeof core> }[] = [
  {
    title: "of the sources",
    open: () => {
      vi.resetModules();
      return import("@ranksim/core");
    },
  },
  { title: "as it is built", open: () => import(/* @vite-ignore */ built) },
];

const rows = Array.from({ length: 24 }, (_, r) => Array.from({ length: 10 }, (_, i) => ((r % 3) * i * 7 + r) % 11));
const y = rows.map((_, r) => `class ${r % 3}`);
const sets = rows.map((_, r) => [r % 3 === 0 ? 1 : 0, r % 2]);

describe.each(copies)("a second copy, $title", ({ title, open }) => {
  const test = it.skipIf(title === "as it is built" && !existsSync(built));

  test("gives matrices that are not of this copy's classes", async () => {
    const other = await open();
    expect(other.Dense).not.toBe(core.Dense);
    expect(other.Dense.fromRows(rows)).not.toBeInstanceOf(core.Dense);
  });

  test("gives dense and sparse rows that train and answer as this copy's do", async () => {
    const other = await open();
    for (const [own, foreign] of [
      [core.Dense.fromRows(rows), other.Dense.fromRows(rows)],
      [toCsr(core.Dense.fromRows(rows)), other.toCsr(other.Dense.fromRows(rows))],
    ] as const) {
      for (const estimator of [
        new RankSimilarityClassifier({ filters: 6 }),
        new RankSimilarityProbabilisticClassifier({ filters: 6 }),
      ]) {
        const model = await estimator.fit(own, y);
        const again = await estimator.fit(foreign as core.Matrix, y);
        expect(saveModel(again)).toEqual(saveModel(model));
        expect(await model.predict(foreign as core.Matrix)).toEqual(await model.predict(own));
        expect(await model.score(foreign as core.Matrix, y)).toBe(await model.score(own, y));
      }
      const model = await new RankSimilarityTransform({ filters: 6 }).fit(foreign as core.Matrix);
      const answer = toDense(await model.transform(foreign as core.Matrix));
      expect([...answer.values]).toEqual([...toDense(await model.transform(own)).values]);
      const scaled = await (await new MaxAbsScaler().fit(foreign as core.Matrix)).transform(foreign as core.Matrix);
      expect([...toDense(scaled).values]).toEqual([
        ...toDense(await (await new MaxAbsScaler().fit(own)).transform(own)).values,
      ]);
    }
  });

  test("gives 0/1 matrices of labels, rows to split and matrices to convert", async () => {
    const other = await open();
    const [own, foreign] = [core.Dense.fromRows(sets), other.Dense.fromRows(sets) as core.Matrix];
    const x = core.Dense.fromRows(rows);
    const model = await new RankSimilarityProbabilisticClassifier({ filters: 6 }).fit(x, foreign);
    expect(saveModel(model)).toEqual(
      saveModel(await new RankSimilarityProbabilisticClassifier({ filters: 6 }).fit(x, own)),
    );
    expect(subsetAccuracy(foreign, own)).toBe(1);
    const split = trainTestSplit(other.Dense.fromRows(rows) as core.Matrix, y);
    expect(split.test.x).toEqual(trainTestSplit(x, y).test.x);
    expect(toCsr(foreign)).toBeInstanceOf(core.Csr);
    expect(toDense(other.toCsr(foreign as never) as core.Matrix)).toBeInstanceOf(core.Dense);
  });

  test("is not trusted: what it calls a matrix is checked again", async () => {
    const { Dense } = await open();
    const x = Dense.of(Float64Array.of(1, 2, 3, 4), 2, 2);
    x.values[1] = Number.NaN;
    expect(() => asMatrix(x as core.Matrix)).toThrow(/row 0, column 1: .*NaN/);
    const wrong = { form: "dense", rows: 3, features: 2, values: new Uint8Array(5) };
    expect(() => asMatrix(wrong as unknown as core.Matrix)).toThrow(/expected 3 rows x 2 features = 6 values, found 5/);
    expect(() => asMatrix({ form: "dense", rows: 1, features: 1, values: [1] } as unknown as core.Matrix)).toThrow(
      /expected a Dense or Csr matrix/,
    );
  });
});
