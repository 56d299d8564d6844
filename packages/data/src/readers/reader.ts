/** What a reader of a format is: it is listed once, in `registry.ts`, and gives rows in blocks. */

import type { RanksimError } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import type { DataSet } from "../data-set.ts";
import type { Opened } from "../source.ts";
import type { ColumnState } from "../table/column-builder.ts";
import type { Format, Reading } from "./options.ts";
import type { RowsBuilder } from "./rows-builder.ts";

/** What is known after the last row of rows that came in parts. */
export interface Ending {
  /** What all rows have shown of the columns of a table. */
  readonly columns?: readonly ColumnState[];
  /** What stands for a missing number of each feature. */
  readonly fill?: readonly number[];
  /** Sparse rows: how many features they have, and the number of the first. */
  readonly features?: number;
  readonly firstFeature?: 0 | 1;
  /** Whether labels are text alone in the format. */
  readonly labelsAreText?: boolean;
  /** Rows that were left out, as they have no label. */
  readonly leftOut?: number;
}

/** Rows in order, in blocks of at least one row. Labels are as they are written: whether words are numbers is known after the last row. */
export type RowBlocks = AsyncGenerator<DataSet, Ending | undefined>;

/** One format. */
export interface Reader {
  readonly format: Format | "tar";
  /** Endings of names that tell the format. */
  readonly endings?: readonly string[];
  /** Bytes that tell the format, and where they are. */
  readonly magic?: readonly (readonly [at: number, bytes: string])[];
  /** Whether it is text: lines in UTF-8, or recoded to it. */
  readonly isText?: boolean;
  /** Whether rows have columns beside their features and labels. */
  readonly hasColumns?: boolean;
  /** Whether labels are text alone, so that numbers among them are told by how they are written. */
  readonly labelsAreText?: boolean;
  /** Whether rows are files of their own. */
  readonly isFolder?: boolean;
  read(opened: Opened, options: Reading): RowBlocks;
}

/** The end of rows that a builder took. */
export const endOf = ({ cells, leftOut }: RowsBuilder): Ending | undefined =>
  leftOut === 0 ? cells.ending?.() : { ...cells.ending?.(), leftOut };

/** The error of a file without rows, or of which all rows were left out. */
export const noRows = (name: string, leftOut = 0): RanksimError =>
  leftOut === 0
    ? badFile(name, "", "expected at least one row, found none")
    : badFile(name, "", `expected at least one row with a label, found ${leftOut} without`);

/** What is said of rows that were left out. */
export const leftOutNote = (name: string, rows: number): string =>
  `${name}: ${rows === 1 ? "1 row without a label was" : `${rows} rows without a label were`} left out`;
