import { readdirSync, readFileSync } from "node:fs";
import { tableFromArrays, tableToIPC } from "apache-arrow";
import { describe, expect, test } from "vitest";
import type { ByteSource } from "../../src/index.ts";
import { fileSource, readData } from "../../src/node.ts";
import { pythonHas, runPython, scratch } from "../python.ts";
import { expectRefusal, read, readMatrix, rowsOf } from "../rows.ts";

const fixtures = new URL("../fixtures/", import.meta.url);
const fixture = (name: string) => readFileSync(new URL(name, fixtures));

// What make-tables.py puts into every file.
const expectedRow = (r: number) => [r / 2, 1000003 * r, r % 2 === 0 ? 1 : 0, r % 7];
const expectedRows = Array.from({ length: 200 }, (_, r) => expectedRow(r));
const expectedLabels = Array.from({ length: 200 }, (_, r) => "abc"[r % 3]);

const names = readdirSync(fixtures).filter((name) => /\.(parquet|arrows?|feather)$/.test(name));

describe("files made by pyarrow", () => {
  test.each(names.filter((name) => !/gaps|list|kinds/.test(name)))("%s", async (name) => {
    const data = await readMatrix(name, fixture(name));
    expect(data.featureNames).toEqual(["half", "big", "even", "small"]);
    expect(rowsOf(data)).toEqual(expectedRows);
    expect(data.y).toEqual(expectedLabels);
  });

  test.each(names.filter((name) => name.includes("list")))("%s: a list is as many features", async (name) => {
    const data = await readMatrix(name, fixture(name));
    expect(data.featureNames).toEqual(["half", "big", "even", "small", "pair[0]", "pair[1]"]);
    // Zero has a sign in float32, but 0 and -0 are one value here.
    expect(rowsOf(data).map((row) => row.map((value) => value + 0))).toEqual(
      expectedRows.map((row, r) => [...row, r, 0 - r]),
    );
    expect(data.y).toEqual(expectedLabels);
  });

  test.each(names.filter((name) => name.includes("gaps")))("%s: missing values", async (name) => {
    await expectRefusal(read(name, fixture(name)), "bad-file", name, 'row 5, column "half"', "missing");
    const filled = rowsOf(await readMatrix(name, fixture(name), { missing: 7 }));
    expect([filled[5][0], filled[150][0], filled[151]]).toEqual([7, 7, expectedRow(151)]);
  });

  test.each(names.filter((name) => name.includes("kinds")))("%s: less common kinds and encodings", async (name) => {
    const data = await readMatrix(name, fixture(name), { labelColumn: "text" });
    const cents = name.endsWith("parquet");
    expect(data.featureNames).toEqual([...(cents ? ["cents"] : []), "half", "large", "long", "low"]);
    const rows = Array.from({ length: 40 }, (_, r) => [
      ...(cents ? [r / 100] : []),
      r / 8,
      2 ** 31 + r,
      2 ** 40 * r,
      0 - r,
    ]);
    expect(rowsOf(data)).toEqual(rows);
    expect(data.y).toEqual(rows.map((_, r) => `term-${String(r).padStart(8, "0")}`));
  });

  test("columns can be chosen and left out", async () => {
    const options = { labelColumn: "small", ignoreColumns: ["label", "big"] };
    for (const name of ["snappy.parquet", "plain.arrow"]) {
      const data = await readMatrix(name, fixture(name), options);
      expect(data.featureNames).toEqual(["half", "even"]);
      expect(data.y?.slice(0, 8)).toEqual([0, 1, 2, 3, 4, 5, 6, 0]);
    }
    const text = await read("plain.arrow", fixture("plain.arrow"), { textColumn: "label", labelColumn: "small" });
    expect(text.form === "text" && text.text).toEqual(expectedLabels);
    await expectRefusal(
      read("plain.arrow", fixture("plain.arrow"), { labelColumn: null }),
      "bad-file",
      '"label"',
      '"a"',
    );
  });

  test("from a file, Parquet reads only the columns it needs", async () => {
    const source = await fileSource(new URL("gzip.parquet", fixtures).pathname);
    let touched = 0;
    const counting: ByteSource = {
      ...source,
      async slice(from, to) {
        touched += to - from;
        return source.slice!(from, to);
      },
    };
    const all = await readData(counting);
    const whole = touched;
    touched = 0;
    const few = await readData(counting, { labelColumn: null, ignoreColumns: ["label", "big", "half", "even"] });
    expect(all.form === "matrix" && all.x.features).toBe(4);
    expect(few.form === "matrix" && few.x.features).toBe(1);
    expect(touched).toBeLessThan(whole);
  });
});

test("Arrow tables made here", async () => {
  const table = tableFromArrays({
    a: Float64Array.of(0.1, 0.2),
    b: Int32Array.of(-5, 70000),
    label: Uint8Array.of(1, 2),
  });
  for (const form of ["file", "stream"] as const) {
    const data = await readMatrix("x", tableToIPC(table, form));
    expect(rowsOf(data)).toEqual([
      [0.1, -5],
      [0.2, 70000],
    ]);
    expect(data.y).toEqual([1, 2]);
  }
});

test("refusals name the file", async () => {
  await expectRefusal(read("a.parquet", fixture("snappy.parquet").subarray(0, 900)), "bad-file", "a.parquet");
  await expectRefusal(read("a.arrow", fixture("plain.arrow").subarray(0, 900)), "bad-file", "a.arrow");
  await expectRefusal(read("a.parquet", "PAR1 this is not one PAR1"), "bad-file", "a.parquet", "Parquet");
  await expectRefusal(read("a.feather", "hello"), "bad-file", "a.feather", "Arrow");
});

test.skipIf(!pythonHas("pyarrow"))("reads what the pyarrow at hand writes", async () => {
  const folder = scratch();
  runPython(
    folder,
    `
import pyarrow as pa, pyarrow.parquet as pq
t = pa.table({"a": pa.array([0.5, 1.5], pa.float64()), "class": ["p", "q"]})
pq.write_table(t, "t.parquet")
with pa.ipc.new_file("t.arrow", t.schema) as w: w.write_table(t)
`,
  );
  for (const name of ["t.parquet", "t.arrow"]) {
    const data = await readData(await fileSource(`${folder}/${name}`));
    expect(data.form === "matrix" && rowsOf(data)).toEqual([[0.5], [1.5]]);
    expect(data.y).toEqual(["p", "q"]);
  }
});
