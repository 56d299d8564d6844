/**
 * The data set the worker holds, in the form everything else here uses, and what the page is sent about it. Reading files is
 * `reading.ts`'s part.
 */

import { Csr, compareLabels, Dense, type Label, type Matrix, narrowest, toDense } from "@ranksim/core";
import type { DataSet, ReadOptions, RowLabels, Table, TableColumn } from "@ranksim/data";
import { foldFor, trainTestRows } from "@ranksim/learn";
import type { Cell, ColumnSummary, DataSummary, ImageSize, Preview, Recipe, RowView, Sample } from "../protocol.ts";

/** Rows of any form, with their labels as class numbers. */
export interface LoadedData {
  readonly name: string;
  /** As the readers gave it: what recipes are trained on. */
  readonly read: DataSet;
  /** The same as it is shown and asked about: images in one size, a lone column of text as texts. */
  readonly set: DataSet;
  readonly rows: number;
  readonly y?: RowLabels;
  readonly classes: readonly Label[];
  readonly multilabel: boolean;
  /** The options by which it was read, which a model remembers. */
  readonly options: ReadOptions;
  readonly reading?: DataSummary["reading"];
  readonly inkBlocks?: number;
  readonly preview?: Preview;
  /** Rows that came as test data of their own. */
  readonly testRows?: Uint32Array;
}

/** Wraps what a reader gave. `set`: how it is shown, if otherwise. */
export function loadedData(
  name: string,
  read: DataSet,
  more: Partial<Pick<LoadedData, "set" | "options" | "reading" | "inkBlocks" | "testRows" | "preview">> = {},
): LoadedData {
  const labels = read.y ?? [];
  const multilabel = labels.length > 0 && Array.isArray(labels[0]);
  const classes = [...new Set((multilabel ? labels.flat() : labels) as Label[])].sort(compareLabels);
  const set = more.set ?? read;
  const rows = set.form === "matrix" ? set.x.rows : set.form === "text" ? set.text.length : set.table.rows;
  return { name, read, rows, classes, multilabel, options: {}, ...(read.y ? { y: read.y } : {}), ...more, set };
}

/** Names of more columns than this stay with the worker; the page gets those it shows. */
const MOST_NAMES = 10_000;

/** What is sent to the page. */
export function summarize(data: LoadedData): DataSummary {
  const { name, rows, set, multilabel } = data;
  const notes = data.read.notes ?? [];
  return {
    name,
    form: set.form === "matrix" ? (set.x.form === "dense" ? "dense" : "sparse") : set.form,
    rows,
    features: set.form === "matrix" ? set.x.features : set.form === "table" ? set.table.columns.length : 0,
    classes: data.classes.map(String),
    multilabel,
    ...(set.form === "matrix" ? rangeOf(set.x) : { low: 0, high: 1, whole: true }),
    ...imageSizeOf(set),
    ...(set.form === "table" ? { columns: set.table.columns.map(columnSummary) } : {}),
    ...namesOf(set, MOST_NAMES),
    ...(notes.length > 0 ? { notes } : {}),
    ...(data.reading ? { reading: data.reading } : {}),
    ...(data.inkBlocks ? { inkBlocks: data.inkBlocks } : {}),
    ...(data.reading?.format === "image-folder" ? { isPhoto: true } : {}),
    ...(data.preview ? { preview: data.preview } : {}),
    ...(data.testRows ? { testRows: data.testRows.length } : {}),
  };
}

/** The names of the features, or of the columns of a table. */
export function namesOf(set: DataSet, most = Number.POSITIVE_INFINITY): { featureNames?: readonly string[] } {
  const names =
    set.form === "matrix"
      ? set.featureNames
      : set.form === "table"
        ? set.table.columns.map(({ name }) => name)
        : undefined;
  return names && names.length <= most ? { featureNames: names } : {};
}

/** Words of a column that can be chosen on the page. */
const MOST_WORDS = 40;

function columnSummary(column: TableColumn): ColumnSummary {
  const { name } = column;
  if (column.form === "words") return { name, words: column.words.slice(0, MOST_WORDS) };
  const [low, high] = column.values.reduce(
    ([least, most], value) => (Number.isNaN(value) ? [least, most] : [Math.min(least, value), Math.max(most, value)]),
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
  return low <= high ? { name, low, high } : { name };
}

/** Smallest picture that a row without a stated size is taken for. */
const SMALLEST_GUESS = 36;

/** The stated size of the pictures; else, for whole numbers without names in a square count, a square. */
export function imageSizeOf(set: DataSet): { imageSize?: ImageSize } {
  if (set.form !== "matrix") return {};
  const { x, imageSize, featureNames } = set;
  // Colours are no picture of ink.
  if (imageSize) return imageSize.width * imageSize.height === x.features ? { imageSize } : {};
  if (x.form !== "dense" || x.features < SMALLEST_GUESS) return {};
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

/** Training rows and held-out rows of a recipe, as the command splits them. Without labels, or with nothing to hold out, all rows train. */
export function splitRows(
  data: LoadedData,
  { estimator, heldOut, params }: Recipe,
): { train: Uint32Array; test: Uint32Array } {
  const all = allRows(data);
  // Copies: the caller may transfer them to the page.
  if (data.testRows) return { train: all.slice(0, data.rows - data.testRows.length), test: data.testRows.slice() };
  if (heldOut === 0 || data.y === undefined || data.rows < 2) return { train: all, test: new Uint32Array(0) };
  const seed = Number(params.seed ?? 0);
  if (estimator !== "transform") return foldFor(data.y, heldOut, seed, splitColumn(data.read));
  return trainTestRows(data.y, { testShare: heldOut, seed, stratify: !data.multilabel });
}

/** The column by which rows are split, where one says so. */
export function splitColumn({ groups, times }: DataSet): { groups?: readonly string[]; times?: Float64Array } {
  if (groups) return { groups };
  return times instanceof Float64Array ? { times } : {};
}

/** The listed labels. */
export function pickLabels(y: RowLabels, rows: ArrayLike<number>): RowLabels {
  return Array.from(rows, (row) => y[row]) as RowLabels;
}

/** A row as the page shows it. */
export function viewRow(data: LoadedData, row: number): RowView {
  const label = data.y?.[row];
  const name = data.read.rowNames?.[row];
  return {
    row,
    sample: sampleOf(data.set, row),
    ...(label === undefined ? {} : { label: Array.isArray(label) ? label.join(", ") : String(label) }),
    ...(name === undefined ? {} : { name }),
  };
}

/** Sparse rows of at most this many features are shown in full. */
const MOST_DENSE_FEATURES = 4096;

function sampleOf(set: DataSet, row: number): Sample {
  if (set.form === "text") return { form: "text", text: set.text[row] };
  if (set.form === "table") return { form: "table", cells: set.table.columns.map((_, c) => cellOf(set.table, c, row)) };
  const { x } = set;
  if (x instanceof Dense) return { form: "dense", values: Float64Array.from(x.row(row)) };
  if (x.features <= MOST_DENSE_FEATURES) {
    return { form: "dense", values: Float64Array.from(toDense(x.slice(row, row + 1)).values) };
  }
  const [from, to] = [x.offsets[row], x.offsets[row + 1]];
  return { form: "sparse", indices: x.indices.slice(from, to), values: Float64Array.from(x.values.subarray(from, to)) };
}

function cellOf(table: Table, column: number, row: number): Cell {
  const cell = table.cell(column, row) as Cell | undefined;
  return cell === undefined || Number.isNaN(cell) ? null : cell;
}

/** A sample as a data set of one row. `names` are those of its features, or of the columns of its table. */
export async function setOfSample(sample: Sample, features: number, names: readonly string[]): Promise<DataSet> {
  if (sample.form === "text") return { form: "text", text: [sample.text] };
  if (sample.form === "table") {
    const { Table } = await import("@ranksim/data");
    return {
      form: "table",
      table: Table.fromRecords([Object.fromEntries(sample.cells.map((cell, c) => [names[c], cell]))]),
    };
  }
  const x =
    sample.form === "dense"
      ? Dense.of(narrowest(sample.values), 1, sample.values.length)
      : Csr.of(Uint32Array.of(0, sample.indices.length), sample.indices, narrowest(sample.values), features);
  return { form: "matrix", x, ...(names.length === x.features ? { featureNames: names } : {}) };
}

export const allRows = ({ rows }: LoadedData): Uint32Array => Uint32Array.from({ length: rows }, (_, row) => row);
