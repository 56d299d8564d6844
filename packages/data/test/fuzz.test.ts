import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { Csr, Dense, RanksimError } from "@ranksim/core";
import { encode } from "fast-png";
import jpeg from "jpeg-js";
import { expect, test } from "vitest";
import {
  bytesSource,
  type DataSet,
  type Folder,
  readData,
  readLabels,
  type WriteFormat,
  writeData,
} from "../src/index.ts";
import { joined } from "./rows.ts";

// Bytes of good files are flipped, filled, cut, moved and inserted. Whatever comes out, a reader answers or refuses with its
// own error, soon, and without room for what a file merely claims.

const MUTATIONS = 2000;
const LONGEST_SECONDS = 5;

const dense: DataSet = {
  form: "matrix",
  x: Dense.fromRows([
    [1, 2.5, 3],
    [4, -5, 6],
  ]),
  y: ["a", 'b "c", d'],
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

function tarOf(path: string, content: string): Uint8Array {
  const block = new Uint8Array(2048);
  block.set(ascii(path));
  block.set(ascii(content.length.toString(8).padStart(11, "0")), 124);
  block.set(ascii("0"), 156);
  block.set(ascii("ustar"), 257);
  const sum = block.reduce((total, byte) => total + byte, 8 * 32);
  block.set(ascii(sum.toString(8).padStart(6, "0")), 148);
  block.set(ascii(content), 512);
  return block;
}

const files: [name: string, bytes: Uint8Array][] = [];
for (const format of ["csv", "tsv", "jsonl", "npy", "npz"] as WriteFormat[]) {
  files.push([`dense.${format}`, joined(writeData(dense, format))]);
}
for (const format of ["jsonl", "npz", "svmlight"] as WriteFormat[]) {
  files.push([`sparse.${format}`, joined(writeData(sparse, format))]);
}
files.push(["images-idx3", Uint8Array.of(0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 10, 20, 30, 40)]);
files.push(["reals.idx", Uint8Array.of(0, 0, 14, 2, 0, 0, 0, 1, 0, 0, 0, 1, 63, 240, 0, 0, 0, 0, 0, 0)]);
files.push(["posts.tar", tarOf("sci.space/1", "From: me\n\nHello\n> hi\n\n-- \nme")]);
files.push(["rows.csv.gz", gzipSync(joined(writeData(dense, "csv")))]);
const fixtures = new URL("fixtures/", import.meta.url);
for (const name of readdirSync(fixtures)) {
  if (/\.(parquet|arrows?|feather)$/.test(name)) files.push([name, readFileSync(new URL(name, fixtures))]);
}

/** Whole numbers below a bound, the same in every run. */
function chance(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function mutate(good: Uint8Array, below: (bound: number) => number): Uint8Array {
  let bytes: Uint8Array = Uint8Array.from(good);
  for (let change = below(4); change >= 0; change--) {
    const at = below(bytes.length);
    switch (below(6)) {
      case 0:
        bytes[at] ^= 1 << below(8);
        break;
      case 1:
        bytes[at] = below(256);
        break;
      case 2:
        bytes = bytes.slice(0, at + 1);
        break;
      case 3:
        bytes.fill(below(2) * 255, at, at + below(9));
        break;
      case 4:
        bytes.copyWithin(at, below(bytes.length), bytes.length);
        break;
      default:
        bytes = joined([
          bytes.subarray(0, at),
          Uint8Array.from({ length: below(9) }, () => below(256)),
          bytes.subarray(at),
        ]);
    }
  }
  return bytes;
}

async function onlyRefusals(work: Promise<unknown>, what: string): Promise<void> {
  const began = performance.now();
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error !== undefined && !(error instanceof RanksimError))
    throw new Error(`${what} let an error out`, { cause: error });
  expect((performance.now() - began) / 1000, what).toBeLessThan(LONGEST_SECONDS);
}

test.each(files)("%s, damaged, is read or refused", async (name, good) => {
  const options = { missing: 0, ...(name.includes("kinds") ? { labelColumn: "text" } : {}) };
  await readData(bytesSource(good, name), options);
  const below = chance(good.length);
  const before = process.memoryUsage.rss();
  for (let i = 0; i < MUTATIONS; i++) {
    const source = bytesSource(mutate(good, below), name);
    await onlyRefusals(readData(source, options), `${name}, mutation ${i}`);
  }
  expect(process.memoryUsage.rss() - before).toBeLessThan(1e9);
});

test.each([
  ["image.png", encode({ width: 5, height: 4, channels: 3, data: Uint8Array.from({ length: 60 }, (_, i) => i * 4) })],
  [
    "image.jpg",
    Uint8Array.from(jpeg.encode({ width: 9, height: 7, data: Uint8Array.from({ length: 252 }, (_, i) => i) }, 80).data),
  ],
  ["raw.pgm", Uint8Array.of(...ascii("P5\n# c\n3 2\n255\n"), 1, 2, 3, 4, 5, 6)],
  ["plain.pgm", ascii("P2 3 2 65535\n1 2 3\n4 5 60000\n")],
])("%s, damaged, is read or refused", async (name, good) => {
  const below = chance(good.length);
  for (let i = 0; i < MUTATIONS; i++) {
    const bytes = mutate(good, below);
    const folder: Folder = {
      name: "folder",
      async *entries() {
        yield { path: `a/${name}`, bytes: async () => bytes };
      },
    };
    await onlyRefusals(readData(folder), `${name}, mutation ${i}`);
  }
});

test("noise is read or refused, whatever its name", async () => {
  const below = chance(1);
  const names = ["a.csv", "a.jsonl", "a.svm", "a.npy", "a.npz", "a.parquet", "a.arrow", "a.tar", "a.gz", "a"];
  for (let i = 0; i < 1000; i++) {
    const noise = Uint8Array.from({ length: 1 + below(300) }, () => below(256));
    await onlyRefusals(readData(bytesSource(noise, names[i % names.length])), `noise ${i}`);
    await onlyRefusals(readLabels(bytesSource(noise, names[i % names.length])), `noise ${i} as labels`);
  }
});
