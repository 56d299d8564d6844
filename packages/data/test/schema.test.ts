import { Csr, Dense, type Schema } from "@ranksim/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  bytesSource,
  type DataSet,
  describeData,
  joinSchemas,
  type MatrixData,
  type ReadDataOptions,
  readData,
  seenRows,
} from "../src/index.ts";

const source = (text: string, name = "rows.csv") => bytesSource(new TextEncoder().encode(text), name);
const read = (text: string, options: ReadDataOptions = {}, name?: string) => readData(source(text, name), options);
const rowsOf = ({ x }: MatrixData) => Array.from({ length: x.rows }, (_, r) => Array.from((x as Dense).row(r)));
const numbers = async (text: string, options: ReadDataOptions = {}, name?: string) => {
  const data = await read(text, options, name);
  return { data, rows: rowsOf(data as MatrixData), y: data.y, notes: data.notes };
};

const TRAINING = "a,b,c,kind\n1,2,3,x\n4,5,6,y\n";
const schemaFor = async (text = TRAINING, options: ReadDataOptions = { labelColumn: "kind" }, name?: string) =>
  describeData(await read(text, options, name), { options });

describe("describeData", () => {
  test("keeps names in order, the label's column, what was ignored and what was said of the file", async () => {
    const options = { labelColumn: "kind", ignoreColumns: ["id"], delimiter: ";", header: true } as const;
    const schema = await schemaFor("id;a;b;kind\n7;1;2;x\n8;3;4;y\n", options);
    const { training, ...rest } = schema;
    expect(rest).toEqual({
      form: "numbers",
      width: 2,
      columns: [
        { name: "a", type: "number" },
        { name: "b", type: "number" },
      ],
      label: "kind",
      ignored: ["id"],
      reading: { header: true, delimiter: ";" },
    });
    expect(training).toMatchObject({ rows: 2, digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  test("numbers columns without names, and says nothing of what nobody knows", async () => {
    const schema = await schemaFor("1,2,0\n3,4,1\n", { labelColumn: -1 });
    expect(schema).toMatchObject({ form: "numbers", width: 2, label: 2 });
    expect(schema).not.toHaveProperty("columns");
    expect(schema).not.toHaveProperty("reading");
  });

  test("keeps the shape of images and the names of classes", () => {
    const x = Dense.of(Uint8Array.from({ length: 24 }), 2, 12);
    const data: DataSet = { form: "matrix", x, imageSize: { width: 2, height: 2 }, classNames: ["cat"] };
    expect(describeData(data)).toMatchObject({ image: { width: 2, height: 2, channels: 3 }, classNames: ["cat"] });
  });

  test("gives names that occur twice an ending of their own", async () => {
    const { columns } = await schemaFor("a,a,b,a,kind\n1,2,3,4,x\n");
    expect(columns?.map(({ name }) => name)).toEqual(["a", "a (2)", "b", "a (3)"]);
  });

  test("has a digest of rows and labels that depends on nothing else", async () => {
    const digest = async (text: string, name?: string) => (await schemaFor(text, {}, name)).training?.digest;
    const csv = await digest("a,b,label\n1,2,0\n3,0,1\n");
    expect(await digest("a;b;label\r\n1.0;2;0\r\n3;0;1")).toBe(csv);
    expect(await digest("0 1:1 2:2\n1 1:3\n", "rows.svm")).toBe(csv);
    expect(await digest("a,b,label\n1,2,0\n3,0,0\n")).not.toBe(csv);
    expect(await digest("a,b,label\n1,2,0\n3,1,1\n")).not.toBe(csv);
    expect(await digest("a,b,label\n3,0,1\n1,2,0\n")).not.toBe(csv);
  });

  test("has the same hashes of rows of bytes as of other numbers, whatever their shape", () => {
    const training = (x: Dense) => describeData({ form: "matrix", x }).training;
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 11 }),
        fc.integer({ min: 2, max: 40 }),
        fc.nat(),
        (rows, features, seed) => {
          const bytes = Uint8Array.from({ length: rows * features }, (_, j) => {
            const value = Math.imul(j + seed, 2_654_435_761) >>> 20;
            return value % 3 === 0 ? 0 : value & 255;
          });
          const plain = training(Dense.of(Float64Array.from(bytes), rows, features));
          expect(training(Dense.of(bytes, rows, features))).toEqual(plain);
        },
      ),
    );
  });
});

describe("reading for a model", () => {
  test("finds columns by name in any order and with others among them, and says so", async () => {
    const schema = await schemaFor();
    const found = await numbers("kind,more,c,a,b\ny,0,6,4,5\nx,0,3,1,2\n", { schema });
    expect(found).toMatchObject({
      rows: [
        [4, 5, 6],
        [1, 2, 3],
      ],
      y: ["y", "x"],
    });
    expect(found.notes).toEqual(['rows.csv: column "more" not known to the model, left out']);
  });

  test("any order of columns gives the same rows", async () => {
    const schema = await schemaFor();
    const columns = ["a", "b", "c", "kind", "more"];
    const cells: Record<string, string> = { a: "1", b: "2", c: "3", kind: "x", more: "9" };
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(columns, { minLength: 5 }), async (order) => {
        const text = `${order.join(",")}\n${order.map((name) => cells[name]).join(",")}\n`;
        expect((await numbers(text, { schema })).rows).toEqual([[1, 2, 3]]);
      }),
    );
  });

  test("refuses columns that are not there by their names, and shows what may have been renamed", async () => {
    const schema = await schemaFor();
    await expect(read("a,B,kind\n1,2,x\n", { schema })).rejects.toMatchObject({
      code: "wrong-width",
      message: expect.stringMatching(/trained with columns "b", "c", which the data lacks; the data has column "B"/),
    });
  });

  test("needs no labels, and does not look at them where they are not wanted", async () => {
    const schema = await schemaFor();
    expect(await numbers("c,b,a\n3,2,1\n", { schema })).toMatchObject({ rows: [[1, 2, 3]], y: undefined });
    const unwanted = await numbers("a,b,kind,c\n1,2,,3\n", { schema, labelColumn: null });
    expect(unwanted).toMatchObject({ rows: [[1, 2, 3]], y: undefined, notes: undefined });
  });

  test("takes another label column where one is named", async () => {
    const schema = await schemaFor();
    const { y, notes } = await numbers("a,b,c,sort\n1,2,3,q\n", { schema, labelColumn: "sort" });
    expect({ y, notes }).toEqual({ y: ["q"], notes: undefined });
    await expect(read("a,b,c\n1,2,3\n", { schema, labelColumn: "b" })).rejects.toThrow(/found column "b"/);
  });

  test("knows a line of names by the names, even if all of them are numbers", async () => {
    const schema = await schemaFor("10,20,label\n1,2,0\n3,4,1\n", { header: true });
    expect((await numbers("20,10\n2,1\n", { schema })).rows).toEqual([[1, 2]]);
  });

  test.each([
    [
      "with labels and ignored columns where they were",
      "8,1,x,2\n9,3,y,4\n",
      [
        [1, 2],
        [3, 4],
      ],
      ["x", "y"],
    ],
    [
      "without labels",
      "8,1,2\n9,3,4\n",
      [
        [1, 2],
        [3, 4],
      ],
      undefined,
    ],
    [
      "alone",
      "1,2\n3,4\n",
      [
        [1, 2],
        [3, 4],
      ],
      undefined,
    ],
  ])("goes by position where columns have no names: %s", async (_, text, rows, y) => {
    const schema = await schemaFor("7,1,x,2\n7,3,y,4\n", { labelColumn: 2, ignoreColumns: [0], header: false });
    expect(await numbers(text, { schema })).toMatchObject({ rows, y });
  });

  test("finds a column that is called as labels are where training had its labels elsewhere", async () => {
    const named = describeData({ form: "matrix", x: Dense.fromRows([[1, 2]]), featureNames: ["a", "b"] });
    const bare = describeData({ form: "matrix", x: Dense.fromRows([[1, 2]]) });
    for (const schema of [named, bare]) {
      expect(await numbers("a,b,Label\n1,2,x\n", { schema })).toMatchObject({ rows: [[1, 2]], y: ["x"] });
      const unwanted = await numbers("a,b,Label\n1,2,\n", { schema, labelColumn: null });
      expect(unwanted).toMatchObject({ rows: [[1, 2]], y: undefined, notes: undefined });
    }
    const feature = describeData({ form: "matrix", x: Dense.fromRows([[1, 2]]), featureNames: ["a", "target"] });
    expect(await numbers("a,target\n1,2\n", { schema: feature })).toMatchObject({ rows: [[1, 2]], y: undefined });
  });

  test("says that columns with names are taken by their place from a file without", async () => {
    const { rows, notes } = await numbers("3,2,1\n6,5,4\n", { schema: await schemaFor() });
    expect(rows[0]).toEqual([3, 2, 1]);
    expect(notes).toEqual([
      expect.stringMatching(/^rows\.csv: no line of column names.*order of training.*"a", "b", "c"/),
    ]);
    const bare = await schemaFor("1,2,3,x\n4,5,6,y\n", { labelColumn: 3, header: false });
    expect((await numbers("3,2,1\n", { schema: bare })).notes).toBeUndefined();
  });

  test("refuses another number of columns without names", async () => {
    const schema = await schemaFor();
    await expect(read("1,2,3,4,5\n1,2,3,4,5\n", { schema })).rejects.toMatchObject({
      code: "wrong-width",
      message: expect.stringContaining("expected 3 columns, as the model takes, found 5 and no line of column names"),
    });
  });

  test("is the same for JSON lines, keys that are not known included", async () => {
    const schema = await schemaFor();
    const text = '{"c":3,"a":1,"b":2,"kind":"x"}\n{"b":5,"new":1,"c":6,"a":4,"kind":"y"}\n';
    expect(await numbers(text, { schema }, "rows.jsonl")).toMatchObject({
      rows: [
        [1, 2, 3],
        [4, 5, 6],
      ],
      y: ["x", "y"],
    });
  });

  test("finds text and its labels where they were", async () => {
    const options = { textColumn: "review", labelColumn: "stars" };
    const schema = await schemaFor("review,stars\ngood,5\nbad,1\n", options);
    expect(schema).toMatchObject({ form: "text", text: "review", label: "stars" });
    expect(await read("stars,date,review\n5,1,good\n", { schema })).toMatchObject({ text: ["good"], y: [5] });
    expect(await read("date,review\n1,good\n", { schema })).toMatchObject({ text: ["good"] });
  });
});

describe("missing numbers", () => {
  const GAPS = "a,b,label\n1,,0\n3,10,1\n,20,1\n";

  test("are filled with what was learned at training, not with means of the new rows", async () => {
    const schema = await schemaFor(GAPS, { missing: "mean" });
    expect(schema.fill).toEqual([2, 15]);
    expect((await numbers("b,a\n,100\n900,\n", { schema })).rows).toEqual([
      [100, 15],
      [2, 900],
    ]);
    // Asking again changes nothing: what is learned is learned once.
    expect((await numbers("b,a\n,100\n900,\n", { schema, missing: "mean" })).rows).toEqual([
      [100, 15],
      [2, 900],
    ]);
  });

  test("are filled with the number that was given at training", async () => {
    const schema = await schemaFor(GAPS, { missing: -1 });
    expect((await numbers("a,b\n,5\n", { schema })).rows).toEqual([[-1, 5]]);
  });

  test("are refused where training knew none, and means cannot be asked for afterwards", async () => {
    const schema = await schemaFor();
    await expect(read("a,b,c\n1,,3\n", { schema })).rejects.toThrow(/missing value/);
    await expect(read("a,b,c\n1,,3\n", { schema, missing: "mean" })).rejects.toThrow(/learned no means at training/);
    expect((await numbers("a,b,c\n1,,3\n", { schema, missing: 0 })).rows).toEqual([[1, 0, 3]]);
  });
});

describe("svmlight", () => {
  test("leaves out features beyond those of training, with a count", async () => {
    const schema = await schemaFor("0 1:1 3:2\n1 2:1\n", {}, "rows.svm");
    expect(schema).toMatchObject({ width: 3, reading: { firstFeature: 1 } });
    const data = (await read("1 2:5 4:7 9:1\n0 1:2 9:3\n", { schema }, "new.svm")) as MatrixData;
    const x = data.x as Csr;
    expect([...x.offsets, ...x.indices, ...x.values]).toEqual([0, 1, 2, 1, 0, 5, 2]);
    expect(data.notes).toEqual(["new.svm: 2 features beyond the 3 of training left out, 3 values in all"]);
  });

  test("counts features as at training, whatever occurs in the new rows", async () => {
    const schema = await schemaFor("0 0:1 3:2\n1 2:1\n", {}, "rows.svm");
    const data = (await read("1 2:5\n", { schema }, "new.svm")) as MatrixData;
    expect([...(data.x as Csr).indices]).toEqual([2]);
    expect(data.x.features).toBe(4);
  });

  test("refuses features beyond a width that was given by hand", async () => {
    await expect(read("1 5:1\n", { features: 3 }, "new.svm")).rejects.toThrow(/expected features up to/);
  });
});

describe("rows seen in training", () => {
  const matrix = (values: readonly number[], features: number): DataSet => ({
    form: "matrix",
    x: Dense.of(Float64Array.from(values), values.length / features, features),
  });
  const counting = (from: number, rows: number) =>
    matrix(
      Array.from({ length: rows * 2 }, (_, i) => from + i),
      2,
    );

  test("are counted exactly while all hashes are kept", () => {
    const schema = describeData(counting(0, 500));
    expect(seenRows(schema, counting(0, 500))).toBe(500);
    expect(seenRows(schema, counting(800, 200))).toBe(100);
    expect(seenRows(schema, counting(5000, 200))).toBe(0);
  });

  test("are estimated from the smallest hashes of many", () => {
    const schema = describeData(counting(0, 20_000));
    expect(schema.training?.seen).toHaveLength(8 * 1024);
    expect(seenRows(schema, counting(0, 20_000))).toBe(20_000);
    expect(seenRows(schema, counting(100_000, 20_000))).toBe(0);
    const half = seenRows(schema, counting(20_000, 20_000)) as number;
    expect(half).toBeGreaterThan(8_000);
    expect(half).toBeLessThan(12_000);
  });

  test("have the same hashes whatever their form and type", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 3, maxLength: 3 }), (row) => {
        const dense = describeData({ form: "matrix", x: Dense.of(Uint8Array.from(row), 1, 3) });
        const wide = describeData({ form: "matrix", x: Dense.of(Float64Array.from(row), 1, 3) });
        const pairs = row.map((value, i) => [i, value] as const).filter(([, value]) => value !== 0);
        const sparse = describeData({ form: "matrix", x: Csr.fromRows([pairs], 3) });
        expect(wide).toEqual(dense);
        expect(sparse).toEqual(dense);
      }),
    );
  });

  test("are not told where nothing of single rows is kept", () => {
    const schema = describeData(counting(0, 5), { rows: false });
    expect(schema.training).not.toHaveProperty("seen");
    expect(seenRows(schema, counting(0, 5))).toBeUndefined();
  });

  test("include those that were added later", () => {
    const before: Schema = { ...describeData(counting(0, 5)), heldOut: { rows: 1, scores: {} } };
    const joined = joinSchemas(before, describeData(counting(100, 7)));
    expect(joined.training?.rows).toBe(12);
    expect(joined).not.toHaveProperty("heldOut");
    expect(seenRows(joined, counting(0, 5))).toBe(5);
    expect(seenRows(joined, counting(100, 7))).toBe(7);
    expect(joined.training?.digest).not.toBe(before.training?.digest);
  });
});
