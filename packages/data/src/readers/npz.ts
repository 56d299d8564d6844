/**
 * numpy's .npz: a zip of .npy files. Rows are taken from x, data, images, arr_0 or x_train, labels from y, labels, target, arr_1 or y_train,
 * unless named; a file written by scipy.sparse.save_npz gives sparse rows.
 */

import { type Label, MOST_FEATURES } from "@ranksim/core";
import { asBadFile, badCell, badFile } from "../bad-file.ts";
import { type Account, budgetOf } from "../budget.ts";
import { csrFrom, type DataSet } from "../data-set.ts";
import { GrowingIndices, GrowingValues } from "../growing-values.ts";
import { arrayToData, arrayToLabels, decodeNpy, type NpyArray, type Numbers } from "./npy.ts";
import type { ReadOptions } from "./options.ts";
import { MOST_UNPACKED, zipEntries } from "./zip.ts";

const ROW_NAMES = ["x", "X", "data", "images", "arr_0", "x_train", "X_train"];
const LABEL_NAMES = ["y", "Y", "labels", "label", "target", "arr_1", "y_train"];

/** Reads the rows and labels of an .npz file. */
export async function readNpz(name: string, bytes: Uint8Array, options: ReadOptions): Promise<DataSet> {
  const account = budgetOf(options).of(name);
  const arrays = unpack(name, bytes, account);
  const labelName = options.arrays?.y ?? LABEL_NAMES.find((key) => arrays.has(key));
  const y = labelName === undefined ? {} : { y: arrayToLabels(name, take(name, arrays, labelName), account) };
  if (arrays.has("indptr") && arrays.has("format")) return { ...(await readScipy(name, arrays, account)), ...y };
  const rowName = options.arrays?.x ?? ROW_NAMES.find((key) => arrays.has(key));
  if (rowName === undefined) {
    throw badCell(name, "", {
      expected: `rows in an array named ${ROW_NAMES.join(", ")}`,
      found: [...arrays.keys()].join(", "),
      cure: (called) => `name it by ${called("arrays")}`,
    });
  }
  const test = /_train$/.test(rowName) ? rowName.replace(/train$/, "test") : "";
  const cure = `${test} is left out: --arrays x=${test},y=y_test names it`;
  const notes =
    arrays.has(test) && options.arrays?.x === undefined ? { notes: [`${name}: rows are ${rowName}; ${cure}`] } : {};
  return { ...(await arrayToData(name, take(name, arrays, rowName), account)), ...y, ...notes };
}

/** Reads the labels of an .npz file that holds nothing else. */
export function readNpzLabels(name: string, bytes: Uint8Array, options: ReadOptions): Label[] | Label[][] {
  const account = budgetOf(options).of(name);
  const arrays = unpack(name, bytes, account);
  const only = arrays.size === 1 ? [...arrays.keys()][0] : undefined;
  const labelName = options.arrays?.y ?? LABEL_NAMES.find((key) => arrays.has(key)) ?? only ?? "y";
  return arrayToLabels(name, take(name, arrays, labelName), account);
}

type Packed = Map<string, () => NpyArray>;

/** The arrays of a zip. Entries that share bytes are refused: a hundred of them would unpack the same megabyte a hundred times. */
function unpack(name: string, bytes: Uint8Array, account: Account): Packed {
  const arrays: Packed = new Map();
  let stored = 0;
  try {
    for (const entry of zipEntries(bytes)) {
      stored += entry.storedSize;
      if (stored > bytes.byteLength || entry.size > entry.storedSize * MOST_UNPACKED) {
        throw badFile(
          name,
          "",
          `expected entries of ${bytes.byteLength} bytes in all, found a claim of ${entry.size} bytes in ${entry.name}`,
        );
      }
      if (!entry.name.endsWith(".npy")) continue;
      const key = entry.name.slice(0, -4);
      if (arrays.has(key)) throw badFile(name, "", `expected arrays of different names, found two named ${key}`);
      account.take(entry.size);
      const content = entry.unpack();
      arrays.set(key, () => decodeNpy(`${name}, array ${key}`, content, account));
    }
    return arrays;
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
async function readScipy(name: string, arrays: Packed, account: Account): Promise<DataSet> {
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
  if (!(features <= MOST_FEATURES)) {
    throw badFile(name, "array shape", `expected at most ${MOST_FEATURES} features, found ${features}`);
  }
  if (starts.length !== rows + 1 || columns.length !== data.length || starts[rows] > data.length) {
    throw badFile(
      name,
      "",
      `expected ${rows + 1} row starts and as many indices as values, found ${starts.length}, ${columns.length} and ${data.length}`,
    );
  }
  const offsets = new GrowingIndices(account);
  const indices = new GrowingIndices(account);
  const values = new GrowingValues(account);
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
