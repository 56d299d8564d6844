/** What a column holds that is no feature: weights, groups, moments. It is read by itself, in blocks, so that no other column stays in memory. */

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { type Label, RanksimError } from "@ranksim/core";
import {
  type ByteSource,
  fileSource,
  findDataSet,
  labelsInBlocks,
  type ReadDataOptions,
  type RowLabels,
  writtenLabels,
} from "@ranksim/data/node";
import { type ReadingOptions, readOptions } from "../flags/reading-flags.ts";
import { usageError } from "../flags/usage-error.ts";
import type { Io } from "../io.ts";
import { dataNames } from "./data-names.ts";

/** A column, the flag that names it, and the rows that the data has. */
export interface WantedColumn {
  readonly column: string | number;
  readonly flag: string;
  readonly rows: number;
}

/** What a column of all files holds, row by row, as text; one string for all rows that hold the same. */
export async function columnTexts(
  what: readonly string[],
  wanted: WantedColumn,
  options: ReadingOptions,
  io: Io,
): Promise<string[]> {
  const texts: string[] = [];
  const known = new Map<Label | readonly Label[], string>();
  const textOf = (label: Label | readonly Label[]): string => {
    const text = known.get(label) ?? String(label);
    known.set(label, text);
    return text;
  };
  for await (const [source, reading] of filesOf(what, wanted, options, io)) {
    const labels = await blamed(wanted.flag, () => labelsInBlocks(source, reading));
    for (const label of labels ?? []) texts.push(textOf(label));
  }
  refuseOtherCount(wanted, texts.length);
  return texts;
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
    const blocks = writtenLabels(source, reading);
    for (;;) {
      const { done, value } = await blamed(wanted.flag, () => blocks.next());
      if (done) break;
      const found = weightsOf(value, row, wanted.flag);
      if (row < wanted.rows) weights.set(found.subarray(0, wanted.rows - row), row); // the count is refused below
      row += value.length;
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
  { column, flag }: WantedColumn,
  options: ReadingOptions,
  { cwd }: Io,
): AsyncGenerator<readonly [ByteSource, ReadDataOptions]> {
  // A block has a size of its own.
  const { ignoreColumns: _i, textColumn: _t, multilabel: _m, budget: _b, ...reading } = readOptions(options);
  for (const name of await dataNames(what, cwd)) {
    if (name === "-") throw usageError(`${flag} needs a file that can be read twice`);
    const path = resolve(cwd, name);
    if (findDataSet(name) && !existsSync(path)) {
      throw usageError(`${flag} needs a file with columns, found the data set ${name}`);
    }
    yield [
      { ...(await fileSource(path)), name },
      { ...reading, table: true, labelColumn: column },
    ];
  }
}

/** An error in a column is blamed on the flag that names it. */
async function blamed<T>(flag: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
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
