import { readdirSync, readFileSync } from "node:fs";
import { deflateSync, gzipSync } from "node:zlib";
import { Csr, Dense, RanksimError } from "@ranksim/core";
import { encode } from "fast-png";
import jpeg from "jpeg-js";
import { expect, onTestFinished, test, vi } from "vitest";
import { Draw } from "../../lab/src/differential/draw.ts";
import {
  Budget,
  type ByteSource,
  bytesSource,
  type DataSet,
  type Folder,
  readData,
  readLabels,
  type WriteFormat,
  writeData,
} from "../src/index.ts";
import { attack, CASES, mutate } from "./damaged.ts";
import { chunk, pngOf } from "./readers/png-files.ts";
import { joined } from "./rows.ts";
import { tarOf } from "./tar-files.ts";
import { cell, workbook } from "./xlsx-files.ts";

// Bytes of good files are flipped, filled, cut, moved and inserted. Whatever comes out, a reader answers or refuses with its
// own error, soon, and without room for what a file merely claims. `npm run fuzz` makes as many attempts as it is asked for.

/** Bytes that reading may take. */
const BUDGET = 2e8;

const dense: DataSet = {
  form: "matrix",
  x: Dense.fromRows([
    [1, 2.5, 3],
    [4, -5, 6],
    [0, 1e-7, 1e20],
  ]),
  y: ["a", 'b "c", d', "ü"],
};
const sparse: DataSet = {
  form: "matrix",
  x: Csr.fromRows(
    [
      [[1, 2]],
      [],
      [
        [0, 1],
        [5, 3],
      ],
    ],
    9,
  ),
  y: [1, 2, 3],
};

const ascii = (text: string) => new TextEncoder().encode(text);

const files: [name: string, bytes: Uint8Array][] = [];
for (const format of ["csv", "tsv", "jsonl", "npy", "npz"] as WriteFormat[]) {
  files.push([`dense.${format}`, joined(writeData(dense, format))]);
}
for (const format of ["jsonl", "npz", "svmlight"] as WriteFormat[]) {
  files.push([`sparse.${format}`, joined(writeData(sparse, format))]);
}
files.push(["images-idx3", Uint8Array.of(0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 10, 20, 30, 40)]);
files.push(["reals.idx", Uint8Array.of(0, 0, 14, 2, 0, 0, 0, 1, 0, 0, 0, 1, 63, 240, 0, 0, 0, 0, 0, 0)]);
files.push(["posts.tar", tarOf({ path: "sci.space/1", content: "From: me\n\nHello\n> hi\n\n-- \nme" })]);
files.push([
  "book.xlsx",
  workbook(
    [
      [cell.inline("a"), cell.inline("b")],
      [cell.number(1), cell.number(2)],
    ],
    { shared: ["<t>x</t>"] },
  ),
]);
files.push([
  "wide.csv",
  Uint8Array.of(0xff, 0xfe, ...new Uint8Array(Uint16Array.from("a,b\n1,2\n", (c) => c.charCodeAt(0)).buffer)),
]);
files.push(["rows.csv.gz", gzipSync(joined(writeData(dense, "csv")))]);
const fixtures = new URL("fixtures/", import.meta.url);
for (const name of readdirSync(fixtures)) {
  if (/\.(parquet|arrows?|feather|h5ad|h5|loom)$/.test(name)) files.push([name, readFileSync(new URL(name, fixtures))]);
}

/** What is wrong with the outcome of reading a damaged file: nothing where it was refused or holds numbers. */
async function wrongWith(reading: Promise<unknown>): Promise<string[]> {
  try {
    const { x } = (await reading) as { readonly x?: Dense | Csr };
    const bad = x?.values.findIndex((value) => !Number.isFinite(value)) ?? -1;
    return bad < 0 ? [] : [`value ${bad} is ${x?.values[bad]}`];
  } catch (error) {
    return error instanceof RanksimError ? [] : [`let out ${error instanceof Error ? error.stack : error}`];
  }
}

/** Each file of HDF5 has a thread of its own, whose start takes as long as reading many others. */
const IN_THREADS = 1 / 50;
/** Its library is waited for in seconds: let them pass as fast as a case may last. */
function hurry(): void {
  const start = setInterval;
  vi.spyOn(globalThis, "setInterval").mockImplementation(((work: () => void, ms: number) =>
    start(work, ms / 60)) as never);
  onTestFinished(() => void vi.restoreAllMocks());
}

test.each(files)("%s, damaged, is read or refused", async (name, good) => {
  const isHdf5 = /\.(h5ad|h5|loom)$/.test(name);
  if (isHdf5) hurry();
  const labelled = name.includes("kinds") ? { labelColumn: "text" } : {};
  const options = { missing: 0, emptyLabels: "keep" as const, ...labelled };
  await readData(bytesSource(good, name), options);
  const before = process.memoryUsage.rss();
  await attack(
    (draw) => wrongWith(readData(bytesSource(mutate(good, draw), name), { ...options, budget: new Budget(BUDGET) })),
    isHdf5 ? Math.ceil(CASES * IN_THREADS) : CASES,
  );
  expect(process.memoryUsage.rss() - before).toBeLessThan(1e9);
});

test("a matrix of counts, its names and its metadata, damaged, are read or refused", async () => {
  const good: { readonly [name: string]: Uint8Array } = {
    "matrix.mtx": ascii("%%MatrixMarket matrix coordinate integer general\n3 2 3\n1 1 5\n3 1 700\n2 2 1.5\n"),
    "features.tsv": ascii("ENSG1\tINS\tGene Expression\nENSG2\tGCG\tGene Expression\nENSG3\tSST\tAntibody\n"),
    "barcodes.tsv": ascii("AA-1\nCC-1\n"),
    "metadata.csv": ascii('barcode,cell_type\nCC-1,"beta"\nAA-1,alpha\n'),
  };
  const names = Object.keys(good);
  await attack((draw) => {
    const damaged = draw.pick(names);
    const files = { ...good, [damaged]: mutate(good[damaged], draw) };
    const sourceOf = (name: string): ByteSource => ({
      ...bytesSource(files[name] ?? good[name], name),
      sibling: async (other) => (other in files ? sourceOf(other) : undefined),
    });
    const options = { metadata: sourceOf("metadata.csv"), budget: new Budget(BUDGET) };
    return wrongWith(readData(sourceOf("matrix.mtx"), options));
  });
});

test("a file of labels, damaged, is read or refused", async () => {
  const good = joined(writeData(dense, "csv"));
  await attack((draw) => wrongWith(readLabels(bytesSource(mutate(good, draw), "labels.txt"))));
});

test.each([
  ["image.png", encode({ width: 5, height: 4, channels: 3, data: Uint8Array.from({ length: 60 }, (_, i) => i * 4) })],
  [
    "palette.png",
    pngOf(
      { width: 3, height: 2, depth: 8, type: 3 },
      chunk("PLTE", Uint8Array.of(1, 2, 3, 200, 100, 50, 9, 9, 9)),
      chunk("IDAT", deflateSync(Uint8Array.of(0, 0, 1, 2, 1, 2, 1, 0))),
    ),
  ],
  [
    "image.jpg",
    Uint8Array.from(jpeg.encode({ width: 9, height: 7, data: Uint8Array.from({ length: 252 }, (_, i) => i) }, 80).data),
  ],
  ["raw.pgm", Uint8Array.of(...ascii("P5\n# c\n3 2\n255\n"), 1, 2, 3, 4, 5, 6)],
  ["plain.pgm", ascii("P2 3 2 65535\n1 2 3\n4 5 60000\n")],
])("%s, damaged, is read or refused", async (name, good) => {
  await attack((draw) => {
    const bytes = mutate(good, draw);
    const folder: Folder = {
      name: "folder",
      async *entries() {
        yield { path: `a/${name}`, bytes: async () => bytes };
      },
    };
    return wrongWith(readData(folder, { budget: new Budget(BUDGET) }));
  });
});

test("noise is read or refused, whatever its name", async () => {
  const names = ["a.csv", "a.jsonl", "a.svm", "a.npy", "a.npz", "a.parquet", "a.arrow", "a.tar", "a.gz", "a.xlsx", "a"];
  await attack(async (draw) => {
    const noise = Uint8Array.from({ length: draw.from(1, 300) }, () => draw.below(256));
    const name = draw.pick(names);
    return [
      ...(await wrongWith(readData(bytesSource(noise, name)))),
      ...(await wrongWith(readLabels(bytesSource(noise, name)))),
    ];
  });
});

test("damage differs from case to case, and is the same again", () => {
  const good = Uint8Array.from({ length: 300 }, (_, i) => i);
  expect(mutate(good, new Draw(3, 7))).toEqual(mutate(good, new Draw(3, 7)));
  const different = Array.from({ length: 50 }, (_, number) => mutate(good, new Draw(3, number)).join());
  expect(new Set(different).size).toBeGreaterThan(40);
});

test("an attempt that goes wrong is told with what repeats it", async () => {
  await expect(attack(async () => ["an internal error"])).rejects.toThrow(/seed \d+, case 0: .*/);
});
