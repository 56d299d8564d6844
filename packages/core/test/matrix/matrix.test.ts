/** The gate for data: shapes, types, bad numbers, views and conversions. */

import { asMatrix, Csr, Dense, RankSimilarityClassifier, RanksimError, toCsr, toDense } from "@ranksim/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const refused = (make: () => unknown): string => {
  try {
    make();
  } catch (error) {
    expect(error).toBeInstanceOf(RanksimError);
    return (error as Error).message;
  }
  return expect.fail("expected a refusal");
};

describe("Dense", () => {
  it("wraps without a copy and gives views", () => {
    const values = Uint8Array.of(1, 2, 3, 4, 5, 6);
    const x = Dense.of(values, 3, 2);
    expect(x.values).toBe(values);
    expect(x.slice(1)).toEqual(x.slice(1, x.rows));
    const middle = x.slice(1, 3);
    expect(middle.rows).toBe(2);
    expect([...middle.row(0)]).toEqual([3, 4]);
    values[2] = 9;
    expect([...middle.row(0)]).toEqual([9, 4]);
    expect([...x.gather([2, 0, 2]).values]).toEqual([5, 6, 1, 2, 5, 6]);
  });

  it("refuses wrong lengths, shapes and numbers, naming them", () => {
    expect(refused(() => Dense.of(new Uint8Array(5), 3, 2))).toBe("expected 3 rows x 2 features = 6 values, found 5");
    expect(refused(() => Dense.of(new Uint8Array(6), 3.5, 2))).toMatch(/rows as a whole number/);
    expect(refused(() => Dense.of(Float32Array.of(0, 1, 2, Number.NaN), 2, 2))).toMatch(/^row 1, column 1: .*NaN/);
    expect(refused(() => Dense.of(Float64Array.of(0, 1e300), 1, 2))).toMatch(/row 0, column 1: .*1e\+300/);
    expect(refused(() => Dense.of([1, 2] as unknown as Uint8Array, 1, 2))).toMatch(/Uint8Array/);
    expect(refused(() => Dense.fromRows([["7" as unknown as number, 1]]))).toMatch(/row 0, column 0: .*"7"/);
  });

  it.each([
    ["Uint8Array", [0, 255]],
    ["Uint16Array", [0, 256]],
    ["Int16Array", [-1, 255]],
    ["Float32Array", [0.5, 70_000]],
    ["Float64Array", [0.1, 1]],
  ])("chooses %s for plain rows that need it", (name, row) => {
    const x = Dense.fromRows([row]);
    expect(x.values.constructor.name).toBe(name);
    expect([...x.values]).toEqual(row);
  });
});

describe("memory that goes away", () => {
  const labels = ["a", "b", "a", "b"];
  const fit = (x: Dense | Csr) => new RankSimilarityClassifier().fit(x, labels);
  const lost = {
    code: "bad-matrix",
    message: expect.stringContaining("detached or resized after the matrix was made"),
  };

  it("is noticed, not trained on", async () => {
    const resizable = () => new (ArrayBuffer as unknown as ResizableConstructor)(16, { maxByteLength: 32 });
    for (const change of [0, 8, 17, 32]) {
      const buffer = resizable();
      const x = Dense.of(new Uint8Array(buffer).fill(3), 4, 4);
      buffer.resize(change);
      await expect(fit(x), String(change)).rejects.toMatchObject(lost);
    }
    const detached = new Uint8Array(16);
    const x = Dense.of(detached, 4, 4);
    structuredClone(detached.buffer, { transfer: [detached.buffer] });
    await expect(fit(x)).rejects.toMatchObject(lost);
    const model = await fit(
      Dense.of(
        Uint8Array.from({ length: 16 }, (_, i) => (i * 7) % 5),
        4,
        4,
      ),
    );
    await expect(model.predict(x)).rejects.toMatchObject(lost);
  });

  it("is noticed in the midst of a call", async () => {
    for (const backend of ["reference", "wasm"] as const) {
      const values = Uint8Array.from({ length: 400 }, (_, i) => (i * 7) % 5);
      const x = Dense.of(values, 100, 4);
      const y = Array.from({ length: 100 }, (_, r) => r % 4);
      const onProgress = () => void structuredClone(values.buffer, { transfer: [values.buffer] });
      const working = new RankSimilarityClassifier({ filters: 20 }).fit(x, y, { backend, onProgress });
      await expect(working, backend).rejects.toMatchObject({ code: "bad-matrix" });
    }
  });

  it("is noticed in each part of sparse rows", async () => {
    for (const part of [0, 1, 2]) {
      const arrays = [Uint32Array.of(0, 1, 2, 3, 4), Uint32Array.of(0, 1, 2, 3), Uint8Array.of(1, 2, 3, 4)] as const;
      const x = Csr.of(...arrays, 4);
      structuredClone(arrays[part].buffer, { transfer: [arrays[part].buffer] });
      await expect(fit(x), String(part)).rejects.toMatchObject(lost);
    }
  });

  it("is not promised by a length alone", () => {
    for (const length of [2 ** 53, 2 ** 32, 2 ** 26, -1, Number.NaN, 0.5]) {
      expect(refused(() => Dense.fromRows([{ length } as ArrayLike<number>]))).toMatch(/expected/);
    }
    const rows = Array.from({ length: 2000 }, () => ({ length: 2 ** 26, 0: 1, [2 ** 26 - 1]: 1 }) as ArrayLike<number>);
    expect(refused(() => Dense.fromRows(rows))).toBe("expected rows that fit in memory, found 2000 x 67108864 numbers");
  });
});

interface ResizableConstructor {
  new (length: number, options: { maxByteLength: number }): ArrayBuffer & { resize(length: number): void };
}

describe("Csr", () => {
  it("checks offsets, order, range and numbers", () => {
    expect(refused(() => Csr.of(Uint32Array.of(0, 2), Uint32Array.of(1, 1), Uint8Array.of(1, 1), 3))).toMatch(
      /row 0: .*ascending.*1 then 1/,
    );
    expect(refused(() => Csr.of(Uint32Array.of(0, 1), Uint32Array.of(3), Uint8Array.of(1), 3))).toMatch(
      /below 3, found 3/,
    );
    expect(refused(() => Csr.of(Uint32Array.of(0, 2, 1), Uint32Array.of(0, 1), Uint8Array.of(1, 1), 3))).toMatch(
      /row 1/,
    );
    expect(refused(() => Csr.of(Uint32Array.of(0, 5), Uint32Array.of(0, 1), Uint8Array.of(1, 1), 3))).toMatch(
      /5 entries/,
    );
    expect(
      refused(() => Csr.of(Uint32Array.of(0, 1, 2), Uint32Array.of(0, 2), Float64Array.of(1, Number.NaN), 3)),
    ).toMatch(/row 1, column 2: .*NaN/);
  });

  it("sorts and adds up pairs given in any order", () => {
    const x = Csr.fromRows(
      [
        [
          [4, 1],
          [0, 2],
          [4, 3],
        ],
        [],
      ],
      5,
    );
    expect([...x.indices]).toEqual([0, 4]);
    expect([...x.values]).toEqual([2, 4]);
    expect([...x.offsets]).toEqual([0, 2, 2]);
    expect(x.entries).toBe(2);
  });
});

const grids = fc
  .record({ rows: fc.integer({ min: 0, max: 6 }), features: fc.integer({ min: 1, max: 9 }) })
  .chain(({ rows, features }) =>
    fc.array(fc.array(fc.constantFrom(0, 0, 0, 1, -3, 2.5), { minLength: features, maxLength: features }), {
      minLength: rows,
      maxLength: rows,
    }),
  );

describe("conversions", () => {
  it("turn dense into sparse and back without loss, slices and picked rows too", () => {
    fc.assert(
      fc.property(grids, fc.nat(), fc.nat(), (rows, a, b) => {
        const x = Dense.fromRows(rows);
        const sparse = toCsr(x);
        expect([...toDense(sparse).values]).toEqual([...x.values]);
        const from = a % (rows.length + 1);
        const to = from + (b % (rows.length + 1 - from));
        expect([...toDense(sparse.slice(from, to)).values]).toEqual([...x.slice(from, to).values]);
        expect([...toDense(sparse.slice(from)).values]).toEqual([...x.slice(from).values]);
        const picked = Array.from({ length: rows.length }, (_, j) => (j * 7 + a) % rows.length);
        expect([...toDense(sparse.gather(picked)).values]).toEqual([...x.gather(picked).values]);
      }),
    );
  });

  it("leave matrices as they are and refuse what is no matrix", () => {
    const x = Dense.fromRows([[1, 2]]);
    expect(asMatrix(x)).toBe(x);
    expect(asMatrix([Float32Array.of(1, 2)]).features).toBe(2);
    expect(refused(() => asMatrix(5 as never))).toMatch(/found the number 5/);
    expect(refused(() => asMatrix([1, 2] as never))).toMatch(/found 2 numbers; for one row pass/);
  });
});
