import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Csr, type Schema } from "@ranksim/core";
import { expect, test } from "vitest";
import { Budget, type ByteSource, bytesSource, type MatrixData, readBlocks, readData } from "../../src/index.ts";
import { openPath } from "../../src/node.ts";
import { scratch } from "../python.ts";
import { expectRefusal, rowsOf } from "../rows.ts";

const ascii = (text: string) => new TextEncoder().encode(text);

/** Files of one folder, of which the first is the one to read. */
export function beside(files: { readonly [name: string]: string | Uint8Array }): ByteSource {
  const sourceOf = (name: string): ByteSource | undefined => {
    const content = files[name];
    if (content === undefined) return undefined;
    const bytes = typeof content === "string" ? ascii(content) : content;
    return { ...bytesSource(bytes, name), sibling: async (other) => sourceOf(other) };
  };
  return sourceOf(Object.keys(files)[0]) as ByteSource;
}

const HEAD = "%%MatrixMarket matrix coordinate integer general\n";
const FOLDER = {
  "matrix.mtx": `${HEAD}%metadata\n3 2 4\n1 1 5\n3 1 700\n1 2 1\n2 2 2\n`,
  "features.tsv":
    "ENSG00000000001.4\tINS\tGene Expression\nENSG00000000002\tGcg\tGene Expression\nENSG3\tSST\tGene Expression\n",
  "barcodes.tsv": "AA-1\nCC-1\n",
};
const METADATA = "barcode,cell_type,donor\nCC-1,beta,d2\nAA-1,alpha,d1\n";

const USUAL = { before: "", genes: "features.tsv" };

const matrix = async (reading: Promise<unknown>) => (await reading) as MatrixData;

test("a 10x folder is sparse rows, one a cell, with genes and barcodes", async () => {
  const data = await matrix(readData(beside(FOLDER)));
  expect(data.x).toBeInstanceOf(Csr);
  expect(rowsOf(data)).toEqual([
    [5, 0, 700],
    [1, 2, 0],
  ]);
  expect(data.featureNames).toEqual(["INS", "Gcg", "SST"]);
  expect(data.featureIds).toEqual(["ENSG00000000001.4", "ENSG00000000002", "ENSG3"]);
  expect(data.rowNames).toEqual(["AA-1", "CC-1"]);
  expect(data.y).toBeUndefined();
});

test.each([
  ["by gene", FOLDER["matrix.mtx"].replace("1 1 5\n3 1 700\n1 2 1\n2 2 2", "1 1 5\n1 2 1\n2 2 2\n3 1 700"), USUAL],
  ["cells as rows", `${HEAD}2 3 4\n1 1 5\n2 1 1\n2 2 2\n1 3 700\n`, USUAL],
  ["packed, with a prefix and old names", gzipSync(FOLDER["matrix.mtx"]), { before: "GSM1_", genes: "genes.tsv" }],
])("entries in another order, %s, are the same rows", async (_, mtx, { before, genes }) => {
  const name = `${before}matrix.mtx${typeof mtx === "string" ? "" : ".gz"}`;
  const files = {
    [name]: mtx,
    [before + genes]: FOLDER["features.tsv"],
    [`${before}barcodes.tsv`]: FOLDER["barcodes.tsv"],
  };
  expect(rowsOf(await matrix(readData(beside(files))))).toEqual([
    [5, 0, 700],
    [1, 2, 0],
  ]);
});

test("a folder of files is read by its path, and rows in blocks are those at once", async () => {
  const folder = join(scratch(), "sample");
  mkdirSync(folder);
  const [genes, cells] = [40, 900];
  const entries: string[] = [];
  for (let c = 1; c <= cells; c++)
    for (let g = (c % 7) + 1; g <= genes; g += 3) entries.push(`${g} ${c} ${(g * c) % 300}`);
  const names = Array.from({ length: genes }, (_, g) => `ENSG${g}\tG${g}\n`).join("");
  writeFileSync(join(folder, "matrix.mtx"), `${HEAD}${genes} ${cells} ${entries.length}\n${entries.join("\n")}\n`);
  writeFileSync(join(folder, "genes.tsv"), names);
  writeFileSync(join(folder, "barcodes.tsv"), Array.from({ length: cells }, (_, c) => `c${c}\n`).join(""));
  const source = (await openPath(folder)) as ByteSource;
  const whole = await matrix(readData(source));
  const rows: number[][] = [];
  for await (const block of readBlocks(source, { budget: new Budget(1e7) })) rows.push(...rowsOf(block as MatrixData));
  expect(rows).toEqual(rowsOf(whole));
  expect(whole.x.rows).toBe(cells);
});

test("a table of metadata is joined by barcode, whatever its order", async () => {
  const metadata = bytesSource(ascii(METADATA), "meta.csv");
  const data = await matrix(readData(beside(FOLDER), { metadata, groupColumn: "donor" }));
  expect(data.y).toEqual(["alpha", "beta"]);
  expect(data.groups).toEqual(["d1", "d2"]);
  expect(data.found).toMatchObject({ label: "cell_type", genes: true });
  // R writes no name above the names of rows.
  const fromR = bytesSource(ascii('"type"\n"CC-1" "b"\n"AA-1" "a"\n'.replaceAll(" ", ",")), "meta.csv");
  expect((await matrix(readData(beside(FOLDER), { metadata: fromR, labelColumn: "type" }))).y).toEqual(["a", "b"]);
});

test("cells that the metadata lacks have no label", async () => {
  const metadata = bytesSource(ascii("barcode,cell_type\nCC-1,beta\n"), "meta.csv");
  await expectRefusal(readData(beside(FOLDER), { metadata }), "bad-file", "AA-1", "expected a label");
  const data = await matrix(readData(beside(FOLDER), { metadata, emptyLabels: "leave out" }));
  expect([data.y, data.rowNames, rowsOf(data)]).toEqual([["beta"], ["CC-1"], [[1, 2, 0]]]);
  expect(data.notes?.join("\n")).toContain("1 of 2 cells are not in the table");
});

const schema = (names: readonly (string | readonly [string, string])[]): Schema => ({
  form: "numbers",
  width: names.length,
  columns: names.map((name) =>
    typeof name === "string" ? { name, type: "number" } : { name: name[0], id: name[1], type: "number" },
  ),
  reading: { genes: true },
});

test.each([
  [
    "in another case and order",
    ["sst", "ins", "GCG"],
    [
      [700, 5, 0],
      [0, 1, 2],
    ],
    undefined,
  ],
  [
    "by number, without its version",
    ["ENSG3", ["x", "ENSG00000000001.9"], "ENSG00000000002"],
    [
      [700, 5, 0],
      [0, 1, 2],
    ],
    undefined,
  ],
  [
    "without those that are not there",
    ["SST", "PPY", "INS"],
    [
      [700, 5],
      [0, 1],
    ],
    [0, 2],
  ],
] as const)("genes of a model are found %s", async (_, names, rows, columns) => {
  const data = await matrix(readData(beside(FOLDER), { schema: schema(names) }));
  expect(rowsOf(data)).toEqual(rows);
  expect(data.found?.columns && [...data.found.columns]).toEqual(columns);
  if (columns) expect(data.notes).toEqual(["matrix.mtx: 2 of 3 genes of the model found; the others take no part"]);
});

test("genes of one name are added up, and features of other kinds left out", async () => {
  const twice = FOLDER["features.tsv"].replace("SST", "ins");
  const data = await matrix(readData(beside({ ...FOLDER, "features.tsv": twice })));
  expect([data.featureNames, rowsOf(data)]).toEqual([
    ["INS", "Gcg"],
    [
      [705, 0],
      [1, 2],
    ],
  ]);
  expect(data.notes?.join()).toContain("1 gene has the name of another");
  const antibody = FOLDER["features.tsv"].replace("SST\tGene Expression", "CD3\tAntibody Capture");
  const rna = await matrix(readData(beside({ ...FOLDER, "features.tsv": antibody })));
  expect([rna.featureNames, rowsOf(rna)]).toEqual([
    ["INS", "Gcg"],
    [
      [5, 0],
      [1, 2],
    ],
  ]);
});

test("what does not fit is refused by name", async () => {
  const refused = (change: object, ...parts: string[]) =>
    expectRefusal(readData(beside({ ...FOLDER, ...change })), "bad-file", ...parts);
  await refused({ "barcodes.tsv": "AA-1\n" }, "line 3", "3 genes and 1 cells", "3 x 2");
  await refused({ "matrix.mtx": `${HEAD}3 2 5\n1 1 5\n` }, "expected 5 entries", "found 1");
  await refused({ "matrix.mtx": `${HEAD}3 2 1\n4 1 5\n` }, "line 3", "3 x 2", "4, 1");
  await refused({ "matrix.mtx": `${HEAD}3 2 1\n1 1\n` }, "line 3", "three numbers");
  await refused({ "matrix.mtx": "%%MatrixMarket matrix array real general\n3 2\n" }, "line 1", "coordinate");
  await refused({ "features.tsv": "a\tA\n\tB\nc\t\n".replace("\tB", "\t") }, "a name for each gene");
  const { "features.tsv": _, ...alone } = FOLDER;
  await expectRefusal(readData(beside(alone)), "bad-file", "features.tsv or genes.tsv", "none of");
  const strange = bytesSource(ascii("a,b\nx,y\n"), "meta.csv");
  await expectRefusal(readData(beside(FOLDER), { metadata: strange }), "bad-file", "AA-1", "a, b");
  const other = schema(["A", "B", "C", "D", "E", "F"]);
  await expectRefusal(readData(beside(FOLDER), { schema: other }), "wrong-width", "at least 20 %", '"INS"', "found 0");
});
