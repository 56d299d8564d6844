/** All formats that are read. A new one is a file beside these and a line here. */

import { readMtx } from "../cells/mtx.ts";
import { type DataSet, slices } from "../data-set.ts";
import { type Opened, readAll } from "../source.ts";
import { readArrow } from "./arrow.ts";
import { readCsv } from "./csv.ts";
import { readFolder } from "./folder-rows.ts";
import { readIdx } from "./idx.ts";
import { readJsonLines } from "./json-lines.ts";
import { arrayToData, decodeNpy } from "./npy.ts";
import { readNpz } from "./npz.ts";
import type { Reading } from "./options.ts";
import { readParquet } from "./parquet.ts";
import type { Reader, RowBlocks } from "./reader.ts";
import { readSvmlight } from "./svmlight.ts";
import { tarFolder } from "./tar.ts";
import { readXlsx } from "./xlsx.ts";

type Whole = (opened: Opened, options: Reading) => Promise<DataSet>;

/** A format whose rows are there all at once. */
const whole = (read: Whole): Reader["read"] =>
  async function* (opened, options): RowBlocks {
    const data = await read(opened, options);
    if (Number.isFinite(options.pace.blockBytes)) yield* slices(data);
    else yield data;
    return undefined;
  };

/** One whose bytes are needed all at once. */
const ofBytes = (read: (name: string, bytes: Uint8Array, options: Reading) => Promise<DataSet>): Reader["read"] =>
  whole(async (opened, options) => {
    const { name, stream, byteLength } = opened;
    return read(name, await readAll(stream, options.budget.of(name), byteLength), options);
  });

const lines = { isText: true, labelsAreText: true } as const;
const folder = {
  isFolder: true,
  read: whole((opened, options) => readFolder(tarFolder(opened, options.budget.of(opened.name)), options)),
};

export const READERS: readonly Reader[] = [
  { format: "csv", endings: ["csv"], ...lines, hasColumns: true, read: readCsv },
  { format: "tsv", endings: ["tsv", "tab"], ...lines, hasColumns: true, read: readCsv },
  { format: "jsonl", endings: ["jsonl", "ndjson", "json"], isText: true, hasColumns: true, read: readJsonLines },
  { format: "svmlight", endings: ["svm", "svmlight", "libsvm"], ...lines, read: readSvmlight },
  {
    format: "npy",
    endings: ["npy"],
    magic: [[0, "\x93NUMPY"]],
    read: ofBytes((name, bytes, { budget }) => {
      const account = budget.of(name);
      return arrayToData(name, decodeNpy(name, bytes, account), account);
    }),
  },
  { format: "npz", endings: ["npz"], magic: [[0, "PK\x03\x04"]], read: ofBytes(readNpz) },
  {
    format: "idx",
    read: whole(async (opened, { budget }) => {
      const account = budget.of(opened.name);
      return arrayToData(opened.name, await readIdx(opened, account), account);
    }),
  },
  { format: "xlsx", labelsAreText: true, hasColumns: true, read: readXlsx },
  { format: "parquet", endings: ["parquet"], magic: [[0, "PAR1"]], hasColumns: true, read: readParquet },
  {
    format: "arrow",
    endings: ["arrow", "arrows", "feather", "ipc"],
    magic: [
      [0, "ARROW1"],
      [0, "\xff\xff\xff\xff"],
    ],
    hasColumns: true,
    read: readArrow,
  },
  {
    format: "mtx",
    endings: ["mtx"],
    magic: [[0, "%%MatrixMarket"]],
    labelsAreText: true,
    hasColumns: true,
    read: readMtx,
  },
  {
    format: "hdf5",
    endings: ["h5ad", "h5", "loom"],
    magic: [[0, "\x89HDF\r\n\x1a\n"]],
    labelsAreText: true,
    hasColumns: true,
    async *read(opened, options) {
      const { readHdf5 } = await import("../cells/hdf5-cells.ts");
      return yield* readHdf5(opened, options);
    },
  },
  { format: "tar", endings: ["tar", "tgz"], magic: [[257, "ustar"]], ...folder },
  { format: "text-folder", ...folder },
  { format: "image-folder", ...folder },
];
