import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Csr, Dense, type Label } from "@ranksim/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type DataSet, openPath, readData, saveData, type WriteFormat, writeData } from "../../src/node.ts";
import { pythonHas, runPython, scratch } from "../python.ts";
import { joined, read, readMatrix, rowsOf } from "../rows.ts";

const value = fc.oneof(
  fc.integer({ min: -70000, max: 70000 }),
  fc.double({ noNaN: true, min: -1e100, max: 1e100 }).map((v) => v + 0),
  fc.constant(0),
);
const label = fc.oneof(
  fc.integer(),
  fc.string({ minLength: 1 }).filter((text) => text.trim() === text && !/^[-+.\d]/.test(text)),
);
const words = fc.constantFrom("cat", "dog", "Ünï", "x-1");

/** Rows with labels that are all numbers or all words, as files keep them apart. */
const table = fc
  .record({ rows: fc.integer({ min: 1, max: 6 }), features: fc.integer({ min: 1, max: 5 }) })
  .chain(({ rows, features }) =>
    fc.record({
      rows: fc.array(fc.array(value, { minLength: features, maxLength: features }), {
        minLength: rows,
        maxLength: rows,
      }),
      y: fc.oneof(
        fc.array(fc.integer(), { minLength: rows, maxLength: rows }),
        fc.array(words, { minLength: rows, maxLength: rows }),
      ),
    }),
  );

async function again(data: DataSet, format: WriteFormat, options = {}): Promise<DataSet> {
  return rowsAlone(await read(`a.${format}`, joined(writeData(data, format)), options));
}

/** Without what the reader says of the file. */
function rowsAlone({ found: _, ...data }: DataSet): DataSet {
  return data;
}

describe("what is written is read back", () => {
  test.each(["csv", "tsv", "jsonl", "npz"] as WriteFormat[])("dense rows and labels as %s", async (format) => {
    await fc.assert(
      fc.asyncProperty(table, async ({ rows, y }) => {
        const x = Dense.fromRows(rows);
        const back = await again({ form: "matrix", x, y: y as Label[] }, format);
        expect(back.form === "matrix" && back.x).toEqual(x);
        expect(back.y).toEqual(y);
      }),
      { numRuns: 60 },
    );
  });

  test("dense rows as npy, images with their size", async () => {
    const x = Dense.fromRows([
      [1, 2, 3, 4, 5, 6],
      [7, 8, 9, 10, 11, 300],
    ]);
    const back = await again({ form: "matrix", x, imageSize: { width: 3, height: 2 } }, "npy");
    expect(back).toEqual({ form: "matrix", x, imageSize: { width: 3, height: 2 } });
  });

  test.each(["svmlight", "jsonl", "npz"] as WriteFormat[])("sparse rows as %s", async (format) => {
    await fc.assert(
      fc.asyncProperty(table, async ({ rows, y }) => {
        const pairs = rows.map((row) => row.map((v, i) => [i, v] as const).filter(([, v]) => v !== 0));
        const x = Csr.fromRows(pairs, rows[0].length);
        const options = format === "svmlight" ? { features: rows[0].length, firstFeature: 1 } : {};
        const back = await again({ form: "matrix", x, y: y as Label[] }, format, options);
        expect(back.form === "matrix" && back.x).toEqual(x);
        expect(back.y).toEqual(y);
      }),
      { numRuns: 60 },
    );
  });

  test("label sets, empty ones too, and rows without anything", async () => {
    const x = Csr.fromRows([[[0, 1]], [], [[3, 2]]], 4);
    const y = [["a", "b"], [], ["c"]];
    for (const format of ["svmlight", "jsonl"] as WriteFormat[]) {
      expect(await again({ form: "matrix", x, y }, format)).toEqual({ form: "matrix", x, y });
      expect(await again({ form: "matrix", x }, format)).toEqual({ form: "matrix", x });
    }
    for (const format of ["csv", "npz"] as WriteFormat[]) {
      expect(() => writeData({ form: "matrix", x, y }, format)).toThrow(/several labels/);
    }
  });

  test("text", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string(), { minLength: 1, maxLength: 4 }), label, async (text, y) => {
        const labels = text.map(() => y);
        const data: DataSet = { form: "text", text, y: labels };
        expect(await again(data, "jsonl")).toEqual(data);
        const csv = await again(data, "csv", { textColumn: "text", labelColumn: "label" });
        expect(csv.form === "text" && csv.text).toEqual(text);
      }),
    );
  });

  test("names of features, through a file, packed", async () => {
    const path = join(scratch(), "sub", "a.csv.gz");
    const data: DataSet = { form: "matrix", x: Dense.fromRows([[1, 2]]), y: ["q"], featureNames: ["one", 'tw"o'] };
    await saveData(path, data);
    expect(readFileSync(path).subarray(0, 2)).toEqual(Buffer.from([0x1f, 0x8b]));
    expect(rowsAlone(await readData(await openPath(path)))).toEqual(data);
  });
});

test("a view of rows is written as just these rows", async () => {
  const x = Csr.fromRows([[[0, 1]], [[1, 2]], [[2, 3]]], 3).slice(1, 3);
  for (const format of ["csv", "jsonl", "npz", "svmlight"] as WriteFormat[]) {
    const back = await readMatrix(`a.${format}`, joined(writeData({ form: "matrix", x }, format)), {
      ...(format === "svmlight" ? { firstFeature: 1 } : {}),
    });
    expect(rowsOf(back)).toEqual([
      [0, 2, 0],
      [0, 0, 3],
    ]);
  }
});

test("what a format has no place for is refused", () => {
  const text: DataSet = { form: "text", text: ["a"] };
  for (const format of ["npy", "npz", "svmlight"] as WriteFormat[])
    expect(() => writeData(text, format)).toThrow(/text|dense/);
  const blank: DataSet = { form: "matrix", x: Dense.fromRows([[1, 2]]), y: ["a b"] };
  expect(() => writeData(blank, "svmlight")).toThrow('"a b"');
});

test("equal data gives equal bytes", () => {
  const data: DataSet = { form: "matrix", x: Dense.fromRows([[1, 2]]), y: [3] };
  expect(joined(writeData(data, "npz"))).toEqual(joined(writeData(data, "npz")));
});

test.skipIf(!pythonHas("numpy", "scipy", "sklearn"))("numpy, scipy and scikit-learn read what is written", async () => {
  const folder = scratch();
  const x = Dense.fromRows([
    [0.5, -2, 3],
    [0, 5, 1e-7],
  ]);
  const dense: DataSet = { form: "matrix", x, y: ["é", "bc"] };
  const sparse: DataSet = { form: "matrix", x: Csr.fromRows([[[0, 7]], [[2, 300]]], 4), y: [4, -1] };
  await saveData(join(folder, "d.npy"), dense);
  await saveData(join(folder, "d.npz"), dense);
  await saveData(join(folder, "s.npz"), sparse);
  await saveData(join(folder, "s.svm"), sparse);
  expect(
    runPython(
      folder,
      `
import json, numpy as np, scipy.sparse as sp
from sklearn.datasets import load_svmlight_file
d, s = np.load("d.npz"), sp.load_npz("s.npz")
v, y = load_svmlight_file("s.svm", n_features=4)
print(json.dumps([np.load("d.npy").tolist(), d["x"].tolist(), d["y"].tolist(), s.toarray().tolist(), np.load("s.npz")["y"].tolist(), v.toarray().tolist(), y.tolist()]))
`,
    ),
  ).toEqual([
    rowsOf({ form: "matrix", x }),
    rowsOf({ form: "matrix", x }),
    ["é", "bc"],
    [
      [7, 0, 0, 0],
      [0, 0, 300, 0],
    ],
    [4, -1],
    [
      [7, 0, 0, 0],
      [0, 0, 300, 0],
    ],
    [4, -1],
  ]);
});
