/** Files as sources of rows: whatever the format, the rows and labels that reading the whole file gives. */

import { mkdtempSync, readdirSync, rmSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Csr,
  Dense,
  isMatrix,
  type Matrix,
  RankSimilarityClassifier,
  type RowSource,
  type Rows,
  saveModel,
  toDense,
} from "@ranksim/core";
import { parquetWriteBuffer } from "hyparquet-writer";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type DataSet,
  describeData,
  fileSource,
  hashedInPassing,
  hashesOf,
  joinData,
  type MatrixData,
  type MatrixRows,
  openData,
  type ReadDataOptions,
  readData,
} from "../../src/node.ts";

const ROWS = 300;
const FEATURES = 12;
let folder = "";
let scratch = "";
const path = (name: string) => join(folder, name);

/** Little numbers that differ by row and feature. */
const at = (r: number, i: number) => ((r * 7 + i * 13 + ((r * i) % 11)) % 50) * (r % 40 === 3 ? 0 : 1);
const label = (r: number) => ["ant", "bee", "cow"][(r * r + 1) % 3];
const all = Array.from({ length: ROWS }, (_, r) => Array.from({ length: FEATURES }, (_, i) => at(r, i)));

function npy(type: string, shape: readonly number[], bytes: Uint8Array): Uint8Array {
  const text = `{'descr': '${type}', 'fortran_order': False, 'shape': (${shape.join(", ")},), }`;
  const header = new TextEncoder().encode(`${text.padEnd(117, " ")}\n`);
  return Buffer.concat([Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length, 0), header, bytes]);
}

function numbersOf(type: string, rows: readonly (readonly number[])[] = all): Uint8Array {
  const flat = rows.flat();
  const size = Number(type[2]);
  const view = new DataView(new ArrayBuffer(flat.length * size));
  const little = type[0] === "<";
  flat.forEach((value, j) => {
    const place = j * size;
    if (type.endsWith("u1") || type.endsWith("i1")) view.setInt8(place, value);
    else if (type.endsWith("i2")) view.setInt16(place, value - 20, little);
    else if (type.endsWith("i4")) view.setInt32(place, value * 70_000, little);
    else if (type.endsWith("i8")) view.setBigInt64(place, BigInt(value) * 9n, little);
    else if (type.endsWith("f4")) view.setFloat32(place, value / 7, little);
    else view.setFloat64(place, value / 7, little);
  });
  return new Uint8Array(view.buffer);
}

async function collected(x: RowSource, bytes: number): Promise<number[][]> {
  const rows: number[][] = [];
  for await (const block of x.blocks(bytes)) rows.push(...listed(block));
  return rows;
}

function listed(rows: Rows): number[][] {
  const x = toDense(
    rows.form === "csr"
      ? Csr.of(rows.offsets, rows.indices, rows.values, rows.features)
      : Dense.of(rows.values, rows.rows, rows.features),
  );
  return Array.from({ length: x.rows }, (_, r) => Array.from(x.row(r)));
}

const open = async (names: readonly string[], options: ReadDataOptions = {}): Promise<MatrixRows> => {
  const files = await Promise.all(names.map((name) => fileSource(path(name))));
  const data = await openData(files, { ...options, room: 8192, scratch });
  if (data.form !== "matrix") throw new Error("expected rows of numbers");
  return data;
};
const read = async (names: readonly string[], options: ReadDataOptions = {}) => {
  const sets: DataSet[] = [];
  for (const name of names) sets.push(await readData(await fileSource(path(name)), options));
  return joinData(sets) as MatrixData;
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "ranksim-open-rows-"));
  scratch = mkdtempSync(join(tmpdir(), "ranksim-scratch-"));
  for (const type of ["|u1", "|i1", "<i2", ">i2", "<i4", "<i8", "<f4", ">f8"]) {
    writeFileSync(
      path(`${type.slice(1)}-${type[0] === ">" ? "big" : "little"}.npy`),
      npy(type, [ROWS, FEATURES], numbersOf(type)),
    );
  }
  writeFileSync(path("images.npy"), npy("|u1", [ROWS, 4, 3], numbersOf("|u1")));
  writeFileSync(path("labels.txt"), `${all.map((_, r) => label(r)).join("\n")}\n`);
  const sizes = new Uint8Array(16);
  sizes.set([0, 0, 8, 3]);
  for (const [axis, size] of [ROWS, 4, 3].entries()) new DataView(sizes.buffer).setUint32(4 + 4 * axis, size);
  writeFileSync(path("some-images-idx3-ubyte"), Buffer.concat([sizes, numbersOf("|u1")]));
  writeFileSync(
    path("some-labels-idx1-ubyte"),
    Buffer.concat([Uint8Array.of(0, 0, 8, 1, 0, 0, ROWS >> 8, ROWS & 255), Uint8Array.from(all, (_, r) => r % 3)]),
  );
  const names = Array.from({ length: FEATURES }, (_, i) => `f${i}`);
  const csv = (rows: readonly number[]) =>
    `${["label", ...names].join(",")}\n${rows.map((r) => `${label(r)},${all[r].join(",")}`).join("\n")}\n`;
  const numbers = all.map((_, r) => r);
  writeFileSync(path("rows.csv"), csv(numbers));
  writeFileSync(path("part-1.csv"), csv(numbers.slice(0, 120)));
  writeFileSync(path("part-2.csv"), csv(numbers.slice(120)));
  // Features from 1; the widest row comes last, and a fraction in the middle.
  const svm = all.map(
    (row, r) =>
      `${label(r)} ${row.flatMap((value, i) => (value === 0 || (i > 8 && r < 290) ? [] : [`${i + 1}:${r === 150 ? value / 4 : value}`])).join(" ")}`,
  );
  writeFileSync(path("rows.svm"), `${svm.join("\n")}\n`);
  writeFileSync(
    path("rows.jsonl"),
    `${all.map((row, r) => JSON.stringify({ label: label(r), ...Object.fromEntries(row.map((value, i) => [`f${i}`, value / 2])) })).join("\n")}\n`,
  );
  const columns = [
    { name: "label", data: all.map((_, r) => label(r)), type: "STRING" as const },
    ...names.map((name, i) => ({ name, data: all.map((row) => row[i] / 3), type: "DOUBLE" as const })),
  ];
  writeFileSync(path("rows.parquet"), new Uint8Array(parquetWriteBuffer({ columnData: columns, rowGroupSize: 70 })));
});

afterAll(() => {
  rmSync(folder, { recursive: true });
  rmSync(scratch, { recursive: true });
});

const files: readonly (readonly [string, readonly string[], ReadDataOptions])[] = [
  ...["u1-little", "i1-little", "i2-little", "i2-big", "i4-little", "i8-little", "f4-little", "f8-big", "images"].map(
    (name) => [`${name}.npy`, [`${name}.npy`], {}] as const,
  ),
  ["IDX, with its labels", ["some-images-idx3-ubyte"], {}],
  ["CSV", ["rows.csv"], { labelColumn: "label" }],
  ["several CSV files", ["part-1.csv", "part-2.csv"], { labelColumn: "label" }],
  ["arrays of several types", ["u1-little.npy", "f4-little.npy", "f8-big.npy"], {}],
  ["svmlight", ["rows.svm"], {}],
  ["svmlight of a given width", ["rows.svm"], { features: FEATURES }],
  ["JSON lines", ["rows.jsonl"], { labelColumn: "label" }],
  ["Parquet", ["rows.parquet"], { labelColumn: "label" }],
];

describe.each(files)("%s", (_, names, options) => {
  it("gives the rows, labels and schema of the whole files", async () => {
    const [source, whole] = [await open(names, options), await read(names, options)];
    const x: Matrix = whole.x;
    expect([source.x.rows, source.x.features, source.x.form]).toEqual([x.rows, x.features, x.form]);
    expect(source.y).toEqual(whole.y);
    const expected = listed(x);
    for (const bytes of [1, 1000, 1e9]) expect(await collected(source.x, bytes)).toEqual(expected);
    const some = Uint32Array.from({ length: 80 }, (_, j) => (j * 37) % source.x.rows);
    expect(listed(await source.x.gather(some))).toEqual(Array.from(some, (r) => expected[r]));
    const slice = source.x.slice(100, 160);
    expect(await collected(slice, 500)).toEqual(expected.slice(100, 160));
    expect(listed(await slice.gather(Uint32Array.of(59, 0, 1)))).toEqual([159, 100, 101].map((r) => expected[r]));
    const backwards = Uint32Array.from({ length: source.x.rows }, (_, j) => source.x.rows - 1 - j);
    const arranged = await source.x.arrange?.(backwards);
    expect(await collected(arranged as RowSource, 900)).toEqual(expected.toReversed());
    const few = await source.x.arrange?.(Uint32Array.of(200, 7, 8));
    expect(await collected(few as RowSource, 900)).toEqual([200, 7, 8].map((r) => expected[r]));
    const described = describeData(whole, { options });
    expect(describeData(source, { options }, await hashesOf(source))).toEqual(described);
    const passing = hashedInPassing(source.x);
    for await (const _ of passing.x.blocks(900)) break; // a pass that does not come to its end says nothing
    expect(await collected(passing.x, 900)).toEqual(expected);
    expect(describeData(source, { options }, await passing.hashes())).toEqual(described);
    expect(await hashedInPassing(source.x).hashes()).toEqual(await passing.hashes());
    expect(readdirSync(scratch)).toEqual([]); // nothing is left behind, whatever happens next
  });

  it("trains the same model", async () => {
    const [source, whole] = [await open(names, options), await read(names, options)];
    const y = whole.y ?? Array.from({ length: whole.x.rows }, (_, r) => r % 4);
    const estimator = new RankSimilarityClassifier({ filters: 12, iterations: 3 });
    expect(saveModel(await estimator.fit(source.x, y as string[]))).toEqual(
      saveModel(await estimator.fit(whole.x, y as string[])),
    );
  });
});

describe("sources", () => {
  it("take labels of a file, and refuse another number of them", async () => {
    const labels = await fileSource(path("labels.txt"));
    expect((await open(["u1-little.npy"], { labels })).y).toEqual(all.map((_, r) => label(r)));
    await expect(open(["u1-little.npy", "f4-little.npy"], { labels })).rejects.toThrow(
      /expected 600 labels.*found 300/,
    );
  });

  it("say which row has a number that cannot be ranked", async () => {
    const values = Float32Array.from(all.flat());
    values[250 * FEATURES + 4] = Number.NaN;
    writeFileSync(path("nan.npy"), npy("<f4", [ROWS, FEATURES], new Uint8Array(values.buffer)));
    const { x } = await open(["nan.npy"]);
    await expect(collected(x, 1000)).rejects.toThrow(
      /nan\.npy: row 250, column 4: expected a finite number, found NaN/,
    );
    await expect(x.gather(Uint32Array.of(3, 250))).rejects.toThrow(/row 250, column 4/);
  });

  it("refuse headers that claim more than there is, and notice files that shrink", async () => {
    writeFileSync(path("claims.npy"), npy("<f8", [2 ** 40, 2 ** 10], numbersOf("<f8")));
    await expect(open(["claims.npy"])).rejects.toThrow(/claims\.npy, byte 128: expected 1099511627776 x 1024 items/);
    writeFileSync(path("shrinks.npy"), npy("|u1", [ROWS, FEATURES], numbersOf("|u1")));
    const { x } = await open(["shrinks.npy"]);
    truncateSync(path("shrinks.npy"), 1000);
    await expect(collected(x, 1e9)).rejects.toThrow(/expected 3600 bytes, found 872: the file has changed/);
    writeFileSync(path("short-images-idx3-ubyte"), Uint8Array.of(0, 0, 8, 3, 0, 0));
    await expect(open(["short-images-idx3-ubyte"])).rejects.toThrow(/expected sizes, found the end/);
  });

  it("notice files of the same length that were written again between two readings", async () => {
    writeFileSync(path("again.npy"), npy("|u1", [ROWS, FEATURES], numbersOf("|u1")));
    const { x } = await open(["again.npy"]);
    await collected(x, 1e9);
    utimesSync(path("again.npy"), 1, 2); // written a long time ago, as it seems: clocks of file systems tick slowly
    await expect(collected(x, 1e9)).rejects.toThrow("again.npy: the file has changed while it was read");
    await expect(x.gather(Uint32Array.of(3))).rejects.toThrow("the file has changed");
  });

  it("refuse what has to be in memory, and files that do not belong together", async () => {
    writeFileSync(path("words.csv"), "a,b,label\n1,red,x\n2,blue,y\n");
    await expect(open(["words.csv"], { labelColumn: "label" })).rejects.toThrow(/expected a number, found "red"/);
    writeFileSync(path("narrow.npy"), npy("|u1", [4, 3], new Uint8Array(12)));
    await expect(open(["u1-little.npy", "narrow.npy"])).rejects.toThrow(
      /expected 12 features as in the first file, found 3/,
    );
    await expect(open(["u1-little.npy", "rows.svm"])).rejects.toThrow(/found csr after another/);
    await expect(open(["u1-little.npy", "rows.csv"], { labelColumn: "label" })).rejects.toThrow(/in 1 of 2/);
  });
});

it("leaves features out that the first svmlight file does not have, as in memory, and says so", async () => {
  writeFileSync(path("first.svm"), "x 1:2 3:1\ny 2:5\n");
  writeFileSync(path("wider.svm"), "x 1:1 4:7\ny 3:2 5:1\n");
  const { x, notes } = await open(["first.svm", "wider.svm"]);
  expect(await collected(x, 1e9)).toEqual([
    [2, 0, 1],
    [0, 5, 0],
    [1, 0, 0],
    [0, 0, 2],
  ]);
  expect(notes).toEqual([expect.stringMatching(/wider\.svm: 2 features beyond the 3 of training left out, 2 values/)]);
  // The first file decides by all of its rows whether features count from 0.
  writeFileSync(path("from-0.svm"), "x 0:1\ny 1:1\n");
  await expect(open(["first.svm", "from-0.svm"])).rejects.toThrow(
    /from-0\.svm: expected features from 1, found feature 0/,
  );
});

it("notes what it leaves out of any file", async () => {
  writeFileSync(path("plain.csv"), "a,b,label\n1,2,x\n3,4,y\n");
  writeFileSync(path("more.csv"), "b,extra,a,label\n1,2,3,x\n3,4,5,y\n");
  const { notes } = await open(["plain.csv", "more.csv"], { labelColumn: "label" });
  expect(notes).toEqual([expect.stringMatching(/more\.csv: column "extra" not known/)]);
});

it("names rows of Parquet as they are counted in the file", async () => {
  const columnData = [{ name: "a", data: [1, 2, 3, 4, null], type: "DOUBLE" as const, nullable: true }];
  writeFileSync(path("gap.parquet"), new Uint8Array(parquetWriteBuffer({ columnData, rowGroupSize: 2 })));
  await expect(open(["gap.parquet"])).rejects.toThrow(/gap\.parquet, row 4, column "a": expected a number/);
});

it("refuses lists of Parquet that have another length in a later row group", async () => {
  const schema = [
    { name: "root", num_children: 1 },
    { name: "e", repetition_type: "OPTIONAL" as const, converted_type: "LIST" as const, num_children: 1 },
    { name: "list", repetition_type: "REPEATED" as const, num_children: 1 },
    { name: "element", repetition_type: "OPTIONAL" as const, type: "DOUBLE" as const },
  ];
  const data = [1, 2, 3, 4].map((r) => Array.from({ length: r < 3 ? 2 : 3 }, (_, i) => r + i / 8));
  writeFileSync(
    path("lists.parquet"),
    new Uint8Array(parquetWriteBuffer({ columnData: [{ name: "e", data }], schema, rowGroupSize: 2 })),
  );
  const told = /lists\.parquet, row 2, column "e": expected a list of 2 numbers as in row 0/;
  await expect(read(["lists.parquet"])).rejects.toThrow(told);
  await expect(open(["lists.parquet"])).rejects.toThrow(told);
});

it("refuses files of blank lines", async () => {
  for (const name of ["blank.jsonl", "blank.svm", "blank.csv"]) {
    writeFileSync(path(name), "\n\n\n");
    await expect(open([name])).rejects.toThrow(`${name}: expected at least one row, found none`);
  }
});

it("labels that spell numbers in one block and words in another are words, as in one reading", async () => {
  // More than one block of lines, and the word comes last.
  const lines = Array.from(
    { length: 90_000 },
    (_, r) => `${r % 200},${(r * 7) % 251},${r === 89_999 ? "other" : r % 3}`,
  );
  writeFileSync(path("late-word.csv"), `a,b,label\n${lines.map((line) => line.replace(",", ",10000")).join("\n")}\n`);
  const file = await fileSource(path("late-word.csv"));
  const options = { labelColumn: "label", room: 1e6, scratch };
  const { y } = await openData([file], options);
  expect(new Set(y as string[])).toEqual(new Set(["0", "1", "2", "other"]));
});

it("fills gaps with the means of all rows, whose blocks may have none, as in memory", async () => {
  const cell = (r: number, i: number) =>
    (r + i) % 5 === 0 && (r < 40 || r > 250) ? "" : String(at(r, i) / (i === 2 ? 3 : 1));
  const lines = Array.from({ length: ROWS }, (_, r) => [0, 1, 2].map((i) => cell(r, i)).join(","));
  writeFileSync(path("means.csv"), `a,b,c\n${lines.join("\n")}\n`);
  writeFileSync(path("more-means.csv"), "c,b,a\n,,\n1,2,3\n");
  for (const missing of ["mean", 7] as const) {
    const first = await read(["means.csv"], { missing });
    const second = await read(["more-means.csv"], { missing, schema: describeData(first, { rows: false }) });
    const source = await open(["means.csv", "more-means.csv"], { missing });
    expect(source.found?.fill).toEqual(first.found?.fill);
    const expected = [...listed(first.x), ...listed(second.x)];
    expect(await collected(source.x, 700)).toEqual(expected);
    expect(listed(await source.x.gather(Uint32Array.of(301, 260, 3)))).toEqual([301, 260, 3].map((r) => expected[r]));
  }
});

it("takes groups, times and weights with the rows of all files", async () => {
  const lines = (from: number, time: (r: number) => string) =>
    `g,u,t,w,v,label\n${Array.from({ length: 90 }, (_, j) => [`k${(from + j) % 4}`, at(j, 1), time(from + j), 1 + (j % 3), at(j, 2), label(j)].join(",")).join("\n")}\n`;
  const day = (r: number) => `${1 + (r % 28)}.2.2024`;
  writeFileSync(path("split-1.csv"), lines(0, day));
  writeFileSync(path("split-2.csv"), lines(90, day));
  const files = await Promise.all(["split-1.csv", "split-2.csv"].map((name) => fileSource(path(name))));
  const columns = { labelColumn: "label", groupColumn: "g", timeColumn: "t", weightColumn: "w" };
  for (const room of [3000, 1e8]) {
    const data = await openData(files, { ...columns, room, scratch });
    if (data.form !== "matrix") throw new Error("expected rows of numbers");
    expect([data.featureNames, data.found?.ignored]).toEqual([
      ["u", "v"],
      ["g", "t", "w"],
    ]);
    expect(data.groups).toEqual(Array.from({ length: 180 }, (_, r) => `k${r % 4}`));
    expect(data.weights).toEqual(Float64Array.from({ length: 180 }, (_, r) => 1 + ((r % 90) % 3)));
    expect(data.times).toEqual(Float64Array.from({ length: 180 }, (_, r) => Date.UTC(2024, 1, 1 + (r % 28))));
  }
  writeFileSync(
    path("split-3.csv"),
    lines(0, (r) => (r === 60 ? "never" : day(r))),
  );
  const odd = openData([...files, await fileSource(path("split-3.csv"))], { ...columns, room: 3000, scratch });
  await expect(odd).rejects.toThrow(/timeColumn: .*split-3\.csv, row 60: expected a time .* found "never"/);
});

it("reads a source that can be read once, and that does not fit in memory", async () => {
  const text = `a,b,label\n${Array.from({ length: 9000 }, (_, r) => `${r % 251},${r},${"xyz"[r % 3]}`).join("\n")}\n`;
  let opened = 0;
  const once = {
    name: "pipe",
    async *stream() {
      if (opened++ > 0) throw new Error("read again");
      yield Buffer.from(text);
    },
  };
  const data = await openData([once], { room: 20_000, scratch, labelColumn: "label" });
  if (data.form !== "matrix") throw new Error("expected rows of numbers");
  expect(isMatrix(data.x)).toBe(false);
  expect((await collected(data.x, 5000)).map(([, b]) => b)).toEqual(Array.from({ length: 9000 }, (_, r) => r));
  expect(data.y?.slice(0, 4)).toEqual(["x", "y", "z", "x"]);
});
