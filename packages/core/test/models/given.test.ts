/** What callers may pass, and what they are told where it was something else. */

import { expect, it, test } from "vitest";
import { Csr, Dense, narrowest, RankSimilarityClassifier, saveModel } from "../../src/index.ts";

const rows = [
  [1, 2, 3, 4],
  [4, 3, 2, 1],
  [1, 2, 4, 3],
  [4, 3, 1, 2],
];
const y = ["up", "down", "up", "down"];
const fit = (x: unknown, labels: unknown = y) =>
  new RankSimilarityClassifier({ filters: 2 }).fit(x as number[][], labels as string[]);

test.each([
  ["Int32Array", rows.map((row) => Int32Array.from(row))],
  ["Int8Array", rows.map((row) => Int8Array.from(row))],
  ["Uint32Array", rows.map((row) => Uint32Array.from(row))],
  ["Float32Array", rows.map((row) => Float32Array.from(row))],
  ["number[]", rows],
])("rows of %s give the model of the same numbers", async (_, given) => {
  expect(saveModel(await fit(given))).toEqual(saveModel(await fit(rows)));
});

it("takes a back end by its name, and calls of one name share it", async () => {
  for (const backend of ["reference", "wasm", "auto"] as const) {
    const model = await new RankSimilarityClassifier({ filters: 2 }).fit(rows, y, { backend });
    expect(saveModel(model)).toEqual(saveModel(await fit(rows)));
    if (backend !== "auto") expect(model.report.backend).toBe(backend);
    const both = await Promise.all([model.predict(rows, { backend }), model.predict(rows, { backend })]);
    expect(both).toEqual([y, y]);
  }
  const wrong = new RankSimilarityClassifier().fit(rows, y, { backend: "abacus" as never });
  await expect(wrong).rejects.toMatchObject({ code: "no-backend" });
});

test.each<readonly [string, () => unknown, string]>([
  ["a flat list", () => fit([1, 2, 3]), "found 3 numbers; for one row pass [row]"],
  ["one typed array", () => fit(Int32Array.of(1, 2)), "found 2 numbers; for one row pass [row]"],
  ["a promise of rows", () => fit(Promise.resolve(rows)), "did you forget await?"],
  ["a promise of labels", () => fit(rows, Promise.resolve(y)), "did you forget await?"],
  ["BigInt labels", () => fit(rows, [1n, 2n, 1n, 2n]), "the bigint 1n; convert it with Number(...) or String(...)"],
  ["BigInt rows", () => fit(rows.map((row) => BigInt64Array.from(row, BigInt))), "the bigint 1n; convert it"],
  [
    "a promise of a model",
    () => saveModel(fit(rows) as never),
    "expected a model to save, found a promise; did you forget await?",
  ],
  ["nothing to save", () => saveModel(undefined as never), "found undefined"],
  [
    "Int32Array values",
    () => Dense.of(Int32Array.of(1, 2) as never, 1, 2),
    "an Int32Array; pass narrowest(Float64Array.from(values))",
  ],
  [
    "Int8Array values",
    () => Dense.of(Int8Array.of(1, 2) as never, 1, 2),
    "an Int8Array; pass narrowest(Float64Array.from(values))",
  ],
  ["an array of values", () => Dense.of([1, 2] as never, 1, 2), "an Array; pass narrowest(Float64Array.from(values))"],
  [
    "BigInt64Array values",
    () => Dense.of(BigInt64Array.of(1n) as never, 1, 1),
    "a BigInt64Array; pass narrowest(Float64Array.from(values, Number))",
  ],
  [
    "sparse Int32Array values",
    () => Csr.of(Uint32Array.of(0, 1), Uint32Array.of(0), Int32Array.of(1) as never, 2),
    "an Int32Array; pass narrowest(Float64Array.from(values))",
  ],
])("%s: refused with the cure", async (_, call, words) => {
  await expect((async () => call())()).rejects.toThrow(words);
});

it("gives cures that work", () => {
  expect(Dense.of(narrowest(Float64Array.from(Int32Array.of(1, 70_000))), 1, 2).row(0)).toEqual(
    Float32Array.of(1, 70_000),
  );
  const big = BigInt64Array.of(1n, 2n);
  expect(Dense.of(narrowest(Float64Array.from(big, Number)), 1, 2).row(0)).toEqual(Uint8Array.of(1, 2));
});
