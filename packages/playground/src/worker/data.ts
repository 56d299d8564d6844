/**
 * The data set the worker holds, in the form everything else here uses, and what the page is sent about it. Reading files is
 * `reading.ts`'s part.
 */

import { compareLabels, Dense, type Label, type Matrix, toDense } from "@ranksim/core";
import type { DataSet, RowLabels } from "@ranksim/data";
import { trainTestRows } from "@ranksim/learn";
import type { DataSummary, ImageSize, Preview, Recipe, RowView, Sample } from "../protocol.ts";

/** Rows of numbers or of text, with their labels as class numbers. */
export interface LoadedData {
  readonly name: string;
  readonly x: Matrix | readonly string[];
  readonly rows: number;
  readonly y?: RowLabels;
  readonly classes: readonly Label[];
  readonly multilabel: boolean;
  readonly imageSize?: ImageSize;
  readonly featureNames?: readonly string[];
  readonly rowNames?: readonly string[];
  readonly reading?: DataSummary["reading"];
  readonly inkBlocks?: number;
  readonly preview?: Preview;
  /** Rows that came as test data of their own. */
  readonly testRows?: Uint32Array;
  /** How many rows the model they came with was trained on, where that was found out before they were coded. */
  readonly seen?: number;
}

/** Wraps what a reader gave. */
export function loadedData(name: string, data: DataSet, reading?: LoadedData["reading"]): LoadedData {
  if (data.form === "table")
    throw new Error("This page takes numbers, images and text; train tables with the command.");
  const labels = data.y ?? [];
  const multilabel = labels.length > 0 && Array.isArray(labels[0]);
  const classes = [...new Set((multilabel ? labels.flat() : labels) as Label[])].sort(compareLabels);
  return {
    name,
    x: data.form === "matrix" ? data.x : data.text,
    rows: data.form === "matrix" ? data.x.rows : data.text.length,
    classes,
    multilabel,
    ...(data.y ? { y: data.y } : {}),
    ...(reading ? { reading } : {}),
    ...(data.rowNames ? { rowNames: data.rowNames } : {}),
    ...(data.form === "matrix" && data.imageSize ? { imageSize: data.imageSize } : {}),
    ...(data.form === "matrix" && data.featureNames ? { featureNames: data.featureNames } : {}),
  };
}

/** Names of more columns than this stay with the worker; the page gets those it shows. */
const MOST_NAMES = 10_000;

/** What is sent to the page. */
export function summarize(data: LoadedData): DataSummary {
  const { name, rows, x, multilabel } = data;
  const isText = !isMatrix(x);
  return {
    name,
    form: isText ? "text" : x.form === "dense" ? "dense" : "sparse",
    rows,
    features: isText ? 0 : x.features,
    classes: data.classes.map(String),
    multilabel,
    ...(isText ? { low: 0, high: 1, whole: true } : rangeOf(x)),
    ...imageSizeOf(data),
    ...(data.featureNames && data.featureNames.length <= MOST_NAMES ? { featureNames: data.featureNames } : {}),
    ...(data.reading ? { reading: data.reading } : {}),
    ...(data.inkBlocks ? { inkBlocks: data.inkBlocks } : {}),
    ...(data.preview ? { preview: data.preview } : {}),
    ...(data.testRows ? { testRows: data.testRows.length } : {}),
  };
}

/** Whether rows are numbers. */
export function isMatrix(x: LoadedData["x"]): x is Matrix {
  return "form" in x;
}

/** Smallest picture that a row without a stated size is taken for. */
const SMALLEST_GUESS = 36;

/** The stated size of the pictures; else, for whole numbers without names in a square count, a square. */
export function imageSizeOf({ x, imageSize, featureNames }: LoadedData): { imageSize?: ImageSize } {
  if (imageSize) return { imageSize };
  if (!isMatrix(x) || x.form !== "dense" || x.features < SMALLEST_GUESS) return {};
  const side = Math.round(Math.sqrt(x.features));
  const named = featureNames?.some((name) => !/^(pixel|px|p|x|f|feature|column|v)?[_ -]?\d+([_x-]\d+)?$/i.test(name));
  if (side * side !== x.features || named) return {};
  const { low, high, whole } = rangeOf(x);
  const isPicture = low >= 0 && (whole || (high <= 1 && isSmooth(x, side)));
  return isPicture ? { imageSize: { width: side, height: side } } : {};
}

/** Rows that are looked at to tell pictures from other numbers. */
const LOOKED_AT = 200;

/** Whether neighbours are more alike than pixels half a picture apart: so it is in pictures, and not in other shares. */
function isSmooth({ rows, features, values }: Dense, side: number): boolean {
  let near = 0;
  let far = 0;
  for (let r = 0; r < Math.min(rows, LOOKED_AT); r++) {
    for (let p = 0; p + side < features; p++) {
      const at = r * features + p;
      near += Math.abs(values[at] - values[at + side]);
      far += Math.abs(values[at] - values[r * features + ((p + Math.floor(features / 2)) % features)]);
    }
  }
  return near < 0.8 * far;
}

/** Smallest and largest value, and whether all are whole numbers. */
export function rangeOf(x: Matrix): { low: number; high: number; whole: boolean } {
  const { values } = x;
  let low = x.form === "csr" || values.length === 0 ? 0 : values[0];
  let high = low;
  let whole = true;
  for (let e = 0; e < values.length; e++) {
    const value = values[e];
    if (value < low) low = value;
    if (value > high) high = value;
    if (whole && !Number.isInteger(value)) whole = false;
  }
  return { low, high, whole };
}

/** Training rows and held-out rows of a recipe. Without labels, or with nothing to hold out, all rows train. */
export function splitRows(data: LoadedData, { heldOut, params }: Recipe): { train: Uint32Array; test: Uint32Array } {
  const all = allRows(data);
  // Copies: the caller may transfer them to the page.
  if (data.testRows) return { train: all.slice(0, data.rows - data.testRows.length), test: data.testRows.slice() };
  if (heldOut === 0 || data.y === undefined || data.rows < 2) return { train: all, test: new Uint32Array(0) };
  return trainTestRows(data.y, { testShare: heldOut, seed: Number(params.seed ?? 0), stratify: !data.multilabel });
}

/** The listed labels. */
export function pickLabels(y: RowLabels, rows: ArrayLike<number>): RowLabels {
  return Array.from(rows, (row) => y[row]) as RowLabels;
}

/** A row as the page shows it. */
export function viewRow(data: LoadedData, row: number): RowView {
  const label = data.y?.[row];
  return {
    row,
    sample: sampleOf(data, row),
    ...(label === undefined ? {} : { label: Array.isArray(label) ? label.join(", ") : String(label) }),
    ...(data.rowNames ? { name: data.rowNames[row] } : {}),
  };
}

/** Sparse rows of at most this many features are shown in full. */
const MOST_DENSE_FEATURES = 4096;

function sampleOf({ x }: LoadedData, row: number): Sample {
  if (!isMatrix(x)) return { form: "text", text: x[row] };
  if (x instanceof Dense) return { form: "dense", values: Float64Array.from(x.row(row)) };
  if (x.features <= MOST_DENSE_FEATURES) {
    return { form: "dense", values: Float64Array.from(toDense(x.slice(row, row + 1)).values) };
  }
  const [from, to] = [x.offsets[row], x.offsets[row + 1]];
  return { form: "sparse", indices: x.indices.slice(from, to), values: Float64Array.from(x.values.subarray(from, to)) };
}

/** The listed rows as a data set of the readers. */
export function dataSetOf(data: LoadedData, rows: Uint32Array): DataSet {
  const shared = {
    ...(data.y ? { y: pickLabels(data.y, rows) } : {}),
    ...(data.rowNames ? { rowNames: Array.from(rows, (row) => (data.rowNames as string[])[row]) } : {}),
  };
  if (!isMatrix(data.x)) return { form: "text", text: Array.from(rows, (row) => (data.x as string[])[row]), ...shared };
  return {
    form: "matrix",
    x: data.x.gather(rows),
    ...shared,
    ...(data.featureNames ? { featureNames: data.featureNames } : {}),
    ...(data.imageSize ? { imageSize: data.imageSize } : {}),
  };
}

export const allRows = ({ rows }: LoadedData): Uint32Array => Uint32Array.from({ length: rows }, (_, row) => row);
