/** What a column holds that is no feature: weights, groups, moments. It is read by itself, in blocks, so that no other column stays in memory. */

import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { type Label, RanksimError } from "@ranksim/core";
import {
  type ByteSource,
  fileSource,
  findDataSet,
  formatOfSource,
  type ReadDataOptions,
  type RowLabels,
  writtenLabels,
} from "@ranksim/data/node";
import { type ReadingOptions, readOptions } from "../flags/reading-flags.ts";
import { usageError } from "../flags/usage-error.ts";
import type { Io } from "../io.ts";
import { isTextLines } from "./data-argument.ts";
import { dataNames, isImage } from "./data-names.ts";

/** A column, the flag that names it, and the rows that the data has. */
export interface WantedColumn {
  readonly column: string | number;
  readonly flag: string;
  readonly rows: number;
}

/** What a column of all files holds, row by row. */
export interface ColumnValues {
  readonly values: RowLabels;
  /** Where a row is: its file, and its place there. */
  placeOf(row: number): string;
}

/** Reads a column of all files as it is written, one string for all rows that hold the same. */
export async function columnValues(
  what: readonly string[],
  wanted: WantedColumn,
  options: ReadingOptions,
  io: Io,
): Promise<ColumnValues> {
  const values: (Label | readonly Label[])[] = [];
  const known = new Map<Label, Label>();
  const shared = (label: Label): Label => {
    const first = known.get(label) ?? label;
    known.set(first, first);
    return first;
  };
  const files: { readonly name: string; readonly from: number }[] = [];
  for await (const [source, reading] of filesOf(what, wanted, options, io)) {
    files.push({ name: source.name, from: values.length });
    for await (const labels of blamed(wanted.flag, writtenLabels(source, reading)))
      for (const label of labels) values.push(typeof label === "object" ? label : shared(label));
  }
  refuseOtherCount(wanted, values.length);
  const placeOf = (row: number) => {
    const file = files.findLast(({ from }) => from <= row) as (typeof files)[number];
    return `${file.name}, row ${row - file.from}`;
  };
  return { values: values as RowLabels, placeOf };
}

/** The numbers above 0 that a column of all files holds, row by row. */
export async function columnWeights(
  what: readonly string[],
  wanted: WantedColumn,
  options: ReadingOptions,
  io: Io,
): Promise<Float64Array> {
  const weights = new Float64Array(wanted.rows);
  let row = 0;
  for await (const [source, reading] of filesOf(what, wanted, options, io)) {
    for await (const labels of blamed(wanted.flag, writtenLabels(source, reading))) {
      const found = weightsOf(labels, row, wanted.flag);
      if (row < wanted.rows) weights.set(found.subarray(0, wanted.rows - row), row); // the count is refused below
      row += labels.length;
    }
  }
  refuseOtherCount(wanted, row);
  return weights;
}

function weightsOf(labels: RowLabels, first: number, flag: string): Float64Array {
  return Float64Array.from(labels, (label: Label | readonly Label[], r: number) => {
    const text = String(label);
    const weight = text.trim() === "" ? Number.NaN : Number(text);
    if (weight > 0 && Number.isFinite(weight)) return weight;
    throw new RanksimError(
      "bad-matrix",
      `${flag}: row ${first + r}: expected a number above 0, found ${JSON.stringify(text)}`,
    );
  });
}

/** The files, and the options by which the column is read as if it held the labels, whatever the format. */
async function* filesOf(
  what: readonly string[],
  { column }: WantedColumn,
  options: ReadingOptions,
  { cwd }: Io,
): AsyncGenerator<readonly [ByteSource, ReadDataOptions]> {
  // A block has a size of its own.
  const { ignoreColumns: _i, textColumn: _t, multilabel: _m, budget: _b, ...reading } = readOptions(options);
  for (const name of await dataNames(what, cwd)) {
    const reads = { ...reading, table: true, labelColumn: column };
    yield [{ ...(await fileSource(resolve(cwd, name))), name }, reads];
  }
}

const WITH_COLUMNS = ["csv", "tsv", "jsonl", "parquet", "arrow"];

/** Refuses data whose rows have no columns beside their features and labels, or that can be read only once. */
export async function refuseWithoutColumns(
  what: readonly string[],
  flag: string,
  options: ReadingOptions & { readonly text?: boolean },
  { cwd }: Io,
): Promise<void> {
  const reading = readOptions(options);
  for (const name of await dataNames(what, cwd)) {
    const path = resolve(cwd, name);
    const found = await stat(path).catch(() => undefined);
    if (name === "-" || (found && !found.isFile() && !found.isDirectory()))
      throw usageError(`${flag} needs a file that can be read twice`);
    const refuse = (kind: string) =>
      usageError(
        `${flag} needs a file with columns (CSV, TSV, JSON lines, Parquet or Arrow), found ${kind} ${name}; save its rows as one of these, with the column`,
      );
    if (!found && findDataSet(name)) throw refuse("the data set");
    if (!found) continue; // whoever reads it says so
    if (found.isDirectory()) throw refuse("the folder");
    if (await isImage(name, cwd)) throw refuse("the image");
    if (isTextLines(name, reading, options.text === true)) throw refuse("lines of text in");
    const kind = await formatOfSource({ ...(await fileSource(path)), name }, reading);
    if (!WITH_COLUMNS.includes(kind)) throw refuse(`the ${kind} file`);
  }
}

/** An error in a column is blamed on the flag that names it. */
async function* blamed(flag: string, blocks: AsyncGenerator<RowLabels>): AsyncGenerator<RowLabels> {
  try {
    yield* blocks;
  } catch (error) {
    if (!(error instanceof RanksimError)) throw error;
    const what = `expected a ${flag.slice(2, -"-column".length)}`;
    const message = error.message
      .replace(/^labelColumn: /, "")
      .replace(/expected a label( or a list of labels)?/, what);
    throw new RanksimError(error.code, `${flag}: ${message}`, { cause: error });
  }
}

function refuseOtherCount({ flag, rows }: WantedColumn, found: number): void {
  if (found === rows) return;
  throw new RanksimError("bad-matrix", `${flag}: expected ${rows} values, one for each row, found ${found}`);
}
