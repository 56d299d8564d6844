/** Scalers on columns small enough to scale by hand; sparse and dense alike; stored and read back. */

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Csr } from "../../src/matrix/csr.ts";
import { Dense } from "../../src/matrix/dense.ts";
import { type MatrixLike, toCsr, toDense } from "../../src/matrix/matrix.ts";
import type { Saved } from "../../src/model-file/saved.ts";
import {
  MaxAbsScaler,
  MinMaxScaler,
  type ScalerModel,
  StandardScaler,
  scalerReaders,
} from "../../src/models/scalers.ts";

const scalers = [new StandardScaler(), new StandardScaler({ center: false }), new MinMaxScaler(), new MaxAbsScaler()];

// Columns: spread, constant, all zero, negative only.
const rows = [
  [1, 0.1, 0, -8],
  [3, 0.1, 0, -2],
  [5, 0.1, 0, -2],
];

async function columns(model: ScalerModel, x: MatrixLike = rows): Promise<number[][]> {
  const { values, rows: count, features } = toDense(await model.transform(x));
  return Array.from({ length: features }, (_, i) => Array.from({ length: count }, (_, r) => values[r * features + i]));
}

function expectClose(found: readonly number[], expected: readonly number[]): void {
  expect(found.length).toBe(expected.length);
  for (const [r, value] of expected.entries()) expect(found[r]).toBeCloseTo(value, 14);
}

describe("columns", () => {
  test("StandardScaler: mean 0, deviation 1", async () => {
    const found = await columns(await new StandardScaler().fit(rows));
    const deviation = Math.sqrt(8 / 3);
    expectClose(found[0], [-2 / deviation, 0, 2 / deviation]);
    expect(found[1]).toEqual([0, 0, 0]);
    expect(found[2]).toEqual([0, 0, 0]);
    // mean -4, squares 16 + 4 + 4
    expectClose(found[3], [-4 / Math.sqrt(8), 2 / Math.sqrt(8), 2 / Math.sqrt(8)]);
  });

  test("StandardScaler without centre divides alone", async () => {
    const found = await columns(await new StandardScaler({ center: false }).fit(rows));
    const deviation = Math.sqrt(8 / 3);
    expectClose(found[0], [1 / deviation, 3 / deviation, 5 / deviation]);
    expect(found[1]).toEqual([0, 0, 0]);
  });

  test("MinMaxScaler: from 0 to 1, later values may lie outside", async () => {
    const model = await new MinMaxScaler().fit(rows);
    expect(await columns(model)).toEqual([
      [0, 0.5, 1],
      [0, 0, 0],
      [0, 0, 0],
      [0, 1, 1],
    ]);
    expect(await columns(model, [[7, 5, 9, -14]])).toEqual([[1.5], [0], [0], [-1]]);
  });

  test("MaxAbsScaler: largest magnitude 1", async () => {
    expect(await columns(await new MaxAbsScaler().fit(rows))).toEqual([
      [1 / 5, 3 / 5, 1],
      [1, 1, 1],
      [0, 0, 0],
      [-1, -1 / 4, -1 / 4],
    ]);
  });

  test("huge and tiny numbers stay finite", async () => {
    for (const scale of [1e200, 1e-300, Number.MIN_VALUE]) {
      for (const scaler of scalers) {
        const model = await scaler.fit([[scale], [-scale], [0]]);
        const [found] = await columns(model, [[scale], [-scale], [0]]);
        expect(found.every(Number.isFinite)).toBe(true);
        expect(found[0]).toBeGreaterThan(found[1]);
      }
    }
  });
});

describe("sparse matrices", () => {
  const sparse = Csr.fromRows(
    [
      [[0, 4]],
      [],
      [
        [0, -2],
        [2, 6],
      ],
    ] as const,
    3,
  );

  test.each([new MaxAbsScaler(), new StandardScaler({ center: false })])("stay sparse: $kind", async (scaler) => {
    const model = await scaler.fit(sparse);
    const scaled = (await model.transform(sparse)) as Csr;
    expect(scaled).toBeInstanceOf(Csr);
    expect([...scaled.indices]).toEqual([0, 0, 2]);
    expect(toDense(scaled)).toEqual(await model.transform(toDense(sparse)));
  });

  test("views of rows are scaled alone", async () => {
    const model = await new MaxAbsScaler().fit(sparse);
    const scaled = (await model.transform(sparse.slice(2, 3))) as Csr;
    expect([[...scaled.offsets], [...scaled.indices], [...scaled.values]]).toEqual([
      [0, 2],
      [0, 2],
      [-0.5, 1],
    ]);
  });

  test("are refused where zeros would not stay zeros", async () => {
    await expect(new StandardScaler().fit(sparse)).rejects.toThrow(/feature 0 .* zeros of a sparse matrix; use MaxAbs/);
    await expect(new MinMaxScaler().fit(sparse)).rejects.toMatchObject({ code: "unsupported" });
    const model = await new StandardScaler().fit(toDense(sparse));
    await expect(model.transform(sparse)).rejects.toMatchObject({ code: "unsupported" });
  });

  test("are welcome to MinMaxScaler where every minimum is 0", async () => {
    const counts = Csr.fromRows([[[0, 4]], [[1, 2]]], 2);
    expect(toDense(await (await new MinMaxScaler().fit(counts)).transform(counts)).values).toEqual(
      Float64Array.of(1, 0, 0, 1),
    );
  });

  test("dense, sparse and plain rows give the same model, and no value is NaN", async () => {
    const matrix = fc.array(fc.array(fc.constantFrom(0, 0, 1, 2.5, -3, 1e-9), { minLength: 3, maxLength: 3 }), {
      minLength: 1,
      maxLength: 8,
    });
    await fc.assert(
      fc.asyncProperty(matrix, async (plain) => {
        const dense = Dense.fromRows(plain);
        for (const scaler of scalers) {
          const model = await scaler.fit(dense);
          expect((await model.transform(dense)).values.every(Number.isFinite)).toBe(true);
          expect((await scaler.fit(plain)).save()).toEqual(model.save());
          const fromSparse = await scaler.fit(toCsr(dense)).catch(() => undefined);
          if (fromSparse) expect(fromSparse.save()).toEqual(model.save());
        }
      }),
    );
  });
});

describe("as estimators", () => {
  test("parameters are checked and copied", () => {
    expect(new StandardScaler().with({ center: false }).params).toEqual({ center: false });
    expect(() => new StandardScaler({ center: 1 as unknown as boolean })).toThrow(/center/);
    expect(() => new MaxAbsScaler({ top: 3 as never })).toThrow(/top/);
  });

  test.each(scalers)("$kind refuses no rows and other widths", async (scaler) => {
    await expect(scaler.fit([])).rejects.toMatchObject({ code: "empty-input" });
    const model = await scaler.fit(rows);
    await expect(model.transform([[1, 2]])).rejects.toMatchObject({ code: "wrong-width" });
    expect((await model.transform(Dense.of(new Uint8Array(0), 0, 4))).rows).toBe(0);
  });

  test.each(scalers)("$kind is stored and read", async (scaler) => {
    const model = await scaler.fit(rows);
    const saved = model.save();
    const reader = scalerReaders.find(({ kind }) => kind === saved.kind);
    const again = reader?.read(saved, () => model) as ScalerModel;
    expect(again.save()).toEqual(saved);
    expect(await again.transform(rows)).toEqual(await model.transform(rows));
  });

  const good: Saved = {
    kind: "standard-scaler",
    meta: { params: { center: true } },
    arrays: {
      shift: { shape: [2], values: Float64Array.of(1, 2) },
      scale: { shape: [2], values: Float64Array.of(1, 0) },
    },
  };
  const array = (...values: number[]) => ({ shape: [values.length], values: Float64Array.from(values) });
  test.each<[string, Partial<Saved>]>([
    ["no arrays", { arrays: {} }],
    ["uneven arrays", { arrays: { ...good.arrays, scale: array(1) } }],
    ["no features", { arrays: { shift: array(), scale: array() } }],
    ["a negative scale", { arrays: { ...good.arrays, scale: array(1, -1) } }],
    ["NaN", { arrays: { ...good.arrays, shift: array(1, Number.NaN) } }],
    ["one array more", { arrays: { ...good.arrays, more: array(1) } }],
    ["another type", { arrays: { ...good.arrays, scale: { shape: [2], values: Uint8Array.of(1, 1) } } }],
    ["wrong parameters", { meta: { params: { center: "yes" } } }],
    ["no parameters", { meta: {} }],
  ])("a reader refuses %s", (_, change) => {
    const read = scalerReaders[0].read;
    expect(read(good, () => read(good, read as never)).kind).toBe("standard-scaler");
    expect(() => read({ ...good, ...change }, read as never)).toThrow(expect.objectContaining({ code: "bad-file" }));
  });
});
