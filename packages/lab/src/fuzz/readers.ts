/** Good files of every format, damaged, through the readers: each is read or refused with an error of the library, and nothing else. */

import { readdirSync, readFileSync } from "node:fs";
import { deflateSync, gzipSync } from "node:zlib";
import { Csr, Dense, RanksimError } from "@ranksim/core";
import {
  Budget,
  bytesSource,
  type DataSet,
  type Folder,
  readData,
  readLabels,
  type WriteFormat,
  writeData,
} from "@ranksim/data";
import { mutate } from "./mutate.ts";
import type { Target } from "./target.ts";

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

/** A slope of grey, 9 x 7 pixels. */
const JPEG = [
  "/9j/4AAQSkZJRgABAQAAAQABAAD/2wCEAAYEBQYFBAYGBQYHBwYIChAKCgkJChQODwwQFxQYGBcUFhYaHSUfGhsjHBYWICwgIyYnKSopGR8tMC",
  "0oMCUoKSgBBwcHCggKEwoKEygaFhooKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKP/AABEIAAcACQMB",
  "EQACEQEDEQH/xAGiAAABBQEBAQEBAQAAAAAAAAAAAQIDBAUGBwgJCgsQAAIBAwMCBAMFBQQEAAABfQECAwAEEQUSITFBBhNRYQcicRQygZGhCC",
  "NCscEVUtHwJDNicoIJChYXGBkaJSYnKCkqNDU2Nzg5OkNERUZHSElKU1RVVldYWVpjZGVmZ2hpanN0dXZ3eHl6g4SFhoeIiYqSk5SVlpeYmZqi",
  "o6Slpqeoqaqys7S1tre4ubrCw8TFxsfIycrS09TV1tfY2drh4uPk5ebn6Onq8fLz9PX29/j5+gEAAwEBAQEBAQEBAQAAAAAAAAECAwQFBgcICQ",
  "oLEQACAQIEBAMEBwUEBAABAncAAQIDEQQFITEGEkFRB2FxEyIygQgUQpGhscEJIzNS8BVictEKFiQ04SXxFxgZGiYnKCkqNTY3ODk6Q0RFRkdI",
  "SUpTVFVWV1hZWmNkZWZnaGlqc3R1dnd4eXqCg4SFhoeIiYqSk5SVlpeYmZqio6Slpqeoqaqys7S1tre4ubrCw8TFxsfIycrS09TV1tfY2dri4+",
  "Tl5ufo6ery8/T19vf4+fr/2gAMAwEAAhEDEQA/ALem/Aa34/dxfmKYjY/4UNb/APPOL8xQB//Z",
].join("");

const bytesOf = (data: DataSet, format: WriteFormat): Uint8Array => Buffer.concat([...writeData(data, format)]);

/** The readers, each with a good file. `fixtures` is a folder of tables that other programs wrote. */
export function readerTargets(fixtures: URL): Target[] {
  const files: [name: string, bytes: Uint8Array][] = [];
  for (const format of ["csv", "tsv", "jsonl", "npy", "npz"] as const) {
    files.push([`dense.${format}`, bytesOf(dense, format)]);
  }
  for (const format of ["jsonl", "npz", "svmlight"] as const) files.push([`sparse.${format}`, bytesOf(sparse, format)]);
  files.push(["images-idx3", Uint8Array.of(0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 10, 20, 30, 40)]);
  files.push(["posts.tar", tarOf("sci.space/1", "From: me\n\nHello\n> hi\n\n-- \nme")]);
  files.push(["rows.csv.gz", gzipSync(bytesOf(dense, "csv"))]);
  for (const name of readdirSync(fixtures)) {
    if (/\.(parquet|arrows?|feather)$/.test(name)) files.push([name, readFileSync(new URL(name, fixtures))]);
  }
  const options = { missing: 0, labelColumn: null } as const;
  const tables = files.map(
    ([name, good]): Target => ({
      name,
      attempt: (draw) => {
        const source = bytesSource(mutate(good, draw), name);
        return outcome(readData(source, { ...options, budget: new Budget(BUDGET) }));
      },
    }),
  );
  const labels: Target = {
    name: "labels",
    attempt: (draw) => outcome(readLabels(bytesSource(mutate(bytesOf(dense, "csv"), draw), "labels.txt"))),
  };
  const pictures = [
    ["image.png", pngOf()],
    ["image.jpg", Buffer.from(JPEG, "base64")],
    ["raw.pgm", Buffer.concat([Buffer.from("P5\n# c\n3 2\n255\n"), Buffer.from([1, 2, 3, 4, 5, 6])])],
    ["plain.pgm", Buffer.from("P2 3 2 65535\n1 2 3\n4 5 60000\n")],
  ] as const;
  const images = pictures.map(
    ([name, good]): Target => ({
      name,
      attempt: (draw) => {
        const bytes = mutate(good, draw);
        const folder: Folder = {
          name: "folder",
          async *entries() {
            yield { path: `a/${name}`, bytes: async () => bytes };
          },
        };
        return outcome(readData(folder, { budget: new Budget(BUDGET) }));
      },
    }),
  );
  return [...tables, labels, ...images];
}

async function outcome(work: Promise<DataSet | unknown>): Promise<string[]> {
  try {
    const data = (await work) as Partial<DataSet & { form: "matrix" }>;
    const bad = data.x?.values.findIndex((value) => !Number.isFinite(value)) ?? -1;
    return bad < 0 ? [] : [`value ${bad} is ${data.x?.values[bad]}`];
  } catch (error) {
    if (error instanceof RanksimError) return [];
    return [`let out ${error instanceof Error ? error.stack : error}`];
  }
}

function tarOf(path: string, content: string): Uint8Array {
  const block = Buffer.alloc(2048);
  block.write(path);
  block.write(content.length.toString(8).padStart(11, "0"), 124);
  block.write("0", 156);
  block.write("ustar", 257);
  block.write("        ", 148);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(sum.toString(8).padStart(6, "0"), 148);
  block.write(content, 512);
  return block;
}

/** A small PNG with a palette. Check sums of chunks are left out of the damage's way as often as not: the reader looks at them first. */
function pngOf(): Uint8Array {
  const chunk = (kind: string, data: Uint8Array) => {
    const bytes = Buffer.alloc(data.length + 12);
    bytes.writeUInt32BE(data.length, 0);
    bytes.write(kind, 4);
    bytes.set(data, 8);
    bytes.writeUInt32BE(checkSum(bytes.subarray(4, 8 + data.length)), 8 + data.length);
    return bytes;
  };
  const header = Buffer.from([0, 0, 0, 3, 0, 0, 0, 2, 8, 3, 0, 0, 0]);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from([1, 2, 3, 200, 100, 50, 9, 9, 9])),
    chunk("IDAT", deflateSync(Buffer.from([0, 0, 1, 2, 1, 2, 1, 0]))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function checkSum(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return (sum ^ 0xffffffff) >>> 0;
}
