/**
 * numpy's .npz: a zip of .npy files. Rows are taken from x, data, images or arr_0, labels from y, labels, target or arr_1,
 * unless named; a file written by scipy.sparse.save_npz gives sparse rows.
 */

import type { Label } from "@ranksim/core";
import { unzipSync } from "fflate";
import { asBadFile, badFile } from "../bad-file.ts";
import { csrFrom, type DataSet } from "../data-set.ts";
import { GrowingIndices, GrowingValues } from "../growing-values.ts";
import { DEFAULT_MAX_BYTES } from "../source.ts";
import { arrayToData, arrayToLabels, decodeNpy, type NpyArray, type Numbers } from "./npy.ts";
import type { ReadOptions } from "./options.ts";

const ROW_NAMES = ["x", "X", "data", "images", "arr_0"];
const LABEL_NAMES = ["y", "Y", "labels", "label", "target", "arr_1"];

/** Deflate makes no byte from less than 1/1032 byte, so a larger claim is false. */
const MOST_UNPACKED = 1032;

/** Reads the rows and labels of an .npz file. */
export async function readNpz(name: string, bytes: Uint8Array, options: ReadOptions): Promise<DataSet> {
  const arrays = unpack(name, bytes, options.maxBytes ?? DEFAULT_MAX_BYTES);
  const labelName = options.arrays?.y ?? LABEL_NAMES.find((key) => arrays.has(key));
  const y = labelName === undefined ? {} : { y: arrayToLabels(name, take(name, arrays, labelName)) };
  if (arrays.has("indptr") && arrays.has("format")) return { ...(await readScipy(name, arrays)), ...y };
  const rowName = options.arrays?.x ?? ROW_NAMES.find((key) => arrays.has(key));
  if (rowName === undefined) {
    throw badFile(
      name,
      "",
      `expected rows in an array named ${ROW_NAMES.join(", ")}, found ${[...arrays.keys()].join(", ")}; name it by \`arrays\``,
    );
  }
  return { ...(await arrayToData(name, take(name, arrays, rowName))), ...y };
}

/** Reads the labels of an .npz file that holds nothing else. */
export function readNpzLabels(name: string, bytes: Uint8Array, options: ReadOptions): Label[] | Label[][] {
  const arrays = unpack(name, bytes, options.maxBytes ?? DEFAULT_MAX_BYTES);
  const only = arrays.size === 1 ? [...arrays.keys()][0] : undefined;
  const labelName = options.arrays?.y ?? LABEL_NAMES.find((key) => arrays.has(key)) ?? only ?? "y";
  return arrayToLabels(name, take(name, arrays, labelName));
}

type Packed = Map<string, () => NpyArray>;

function unpack(name: string, bytes: Uint8Array, maxBytes: number): Packed {
  let total = 0;
  try {
    const files = unzipSync(bytes, {
      filter(file) {
        total += file.originalSize;
        const most = Math.min(maxBytes, Math.min(file.size, bytes.byteLength) * MOST_UNPACKED);
        if (total > maxBytes || file.originalSize > most) {
          throw badFile(
            name,
            "",
            `expected at most ${most} bytes when unpacked, found a claim of ${file.originalSize}`,
          );
        }
        return file.name.endsWith(".npy");
      },
    });
    return new Map(
      Object.entries(files).map(([file, content]) => [
        file.slice(0, -4),
        () => decodeNpy(`${name}, array ${file.slice(0, -4)}`, content),
      ]),
    );
  } catch (error) {
    throw asBadFile(name, "a zip of arrays", error);
  }
}

function take(name: string, arrays: Packed, key: string): NpyArray {
  const array = arrays.get(key);
  if (array !== undefined) return array();
  throw badFile(name, "", `expected an array named ${key}, found ${[...arrays.keys()].join(", ") || "none"}`);
}

/** Sparse rows of scipy: entries may come in any order, and those of one feature are added up, as scipy has it. */
async function readScipy(name: string, arrays: Packed): Promise<DataSet> {
  const [format] = take(name, arrays, "format").values;
  if (format !== "csr") {
    throw badFile(name, "", `expected a sparse matrix in scipy's format csr, found ${format}; save x.tocsr()`);
  }
  const numbers = (key: string): Numbers => {
    const { values } = take(name, arrays, key);
    if (Array.isArray(values)) throw badFile(name, `array ${key}`, "expected numbers, found strings");
    return values as Numbers;
  };
  const [shape, starts, columns, data] = [numbers("shape"), numbers("indptr"), numbers("indices"), numbers("data")];
  const [rows, features] = shape;
  if (!(features < 2 ** 32)) throw badFile(name, "array shape", `expected fewer than 2^32 features, found ${features}`);
  if (starts.length !== rows + 1 || columns.length !== data.length || starts[rows] > data.length) {
    throw badFile(
      name,
      "",
      `expected ${rows + 1} row starts and as many indices as values, found ${starts.length}, ${columns.length} and ${data.length}`,
    );
  }
  const offsets = new GrowingIndices();
  const indices = new GrowingIndices();
  const values = new GrowingValues();
  const push = (feature: number, value: number) => {
    if (value === 0) return;
    indices.push(feature);
    values.push(value);
  };
  offsets.push(0);
  for (let r = 0; r < rows; r++) {
    if (!(starts[r] >= 0 && starts[r + 1] >= starts[r])) {
      throw badFile(name, `row ${r}`, `expected row starts that do not fall, found ${starts[r]} then ${starts[r + 1]}`);
    }
    let isAscending = true;
    for (let e = starts[r]; e < starts[r + 1]; e++) {
      if (!(columns[e] >= 0 && columns[e] < features)) {
        throw badFile(name, `row ${r}`, `expected features below ${features}, found ${columns[e]}`);
      }
      if (e > starts[r] && columns[e] <= columns[e - 1]) isAscending = false;
    }
    if (isAscending) for (let e = starts[r]; e < starts[r + 1]; e++) push(columns[e], data[e]);
    else for (const [feature, value] of addedUp(columns, data, starts[r], starts[r + 1])) push(feature, value);
    offsets.push(indices.length);
  }
  const x = await csrFrom(name, offsets.finish(), indices.finish(), values.finish(), features);
  return { form: "matrix", x };
}

function addedUp(columns: Numbers, data: Numbers, from: number, to: number): [feature: number, value: number][] {
  const sums = new Map<number, number>();
  for (let e = from; e < to; e++) sums.set(columns[e], (sums.get(columns[e]) ?? 0) + data[e]);
  return [...sums].sort(([a], [b]) => a - b);
}
