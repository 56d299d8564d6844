/** What a caller may say about a file. Every reader takes the same options and uses those that mean something to it. */

import type { ColumnKey, Schema } from "@ranksim/core";
import type { Budget } from "../budget.ts";
import type { ImageSize } from "../data-set.ts";
import type { ByteSource } from "../source.ts";
import type { ColumnKinds } from "../table/detect.ts";

/** Formats by the names that options and errors use. */
export const FORMATS = [
  ...(["csv", "tsv", "jsonl", "npy", "npz", "idx", "svmlight", "xlsx", "parquet", "arrow"] as const),
  ...(["mtx", "hdf5"] as const),
  ...(["text-folder", "image-folder"] as const),
] as const;

export type Format = (typeof FORMATS)[number];

/** Options of columns that say something of the rows and are no features, by the name of what each row then has. */
export const ROW_COLUMNS = { groups: "groupColumn", times: "timeColumn", weights: "weightColumn" } as const;

/** A column by its name or by its number from 0; negative numbers count from the last. */
export type ColumnChoice = ColumnKey;

/** What scikit-learn's cleaning of newsgroup posts removes. */
export type TextPart = "headers" | "footers" | "quotes";

/** How to read; all optional. */
export interface ReadOptions {
  /** The format; default: detected from the ending and the content. */
  readonly format?: Format;
  /**
   * What a model was trained on. Columns are then found by the names they had at training, whatever their order, others are
   * left out with a note, and whatever was said of the file at training holds unless another option says otherwise.
   */
  readonly schema?: Schema;
  /**
   * Tables: the column that holds the labels; null takes none. Without it a column named label, labels, class, target, species, survived,
   * outcome or sentiment (in any case) is taken; several of them are refused.
   */
  readonly labelColumn?: ColumnChoice | null;
  /**
   * Tables: what to do about rows whose label is empty: refuse them (default), leave them out with a note of how many, or keep them with
   * the label "". With `multilabel` they are rows of no label.
   */
  readonly emptyLabels?: "refuse" | "leave out" | "keep";
  /** Tables: the column that holds text; the result is then text and its labels, and other columns are left out. */
  readonly textColumn?: ColumnChoice;
  /**
   * Whether the rows are texts: those of a table in the column "text", unless another is named; of standard input and of files that end
   * in .txt each line is one.
   */
  readonly text?: boolean;
  /** Tables: columns to leave out, such as row numbers. */
  readonly ignoreColumns?: readonly ColumnChoice[];
  /** Tables: the column that names the group of each row (a patient, a writer); rows of one group are split together. It is no feature. */
  readonly groupColumn?: ColumnChoice;
  /** Tables: the column that says when each row was taken, as a number or a date. It is no feature. */
  readonly timeColumn?: ColumnChoice;
  /** Tables: the column that says how much each row counts, as a number above 0. It is no feature. */
  readonly weightColumn?: ColumnChoice;
  /** Tables: columns of any content that are passed on with the rows, as text. They may be features as well. */
  readonly keep?: readonly ColumnChoice[];
  /**
   * Tables: whether words, dates and missing values may occur; where they do, the result is a table for `TableEncoder`. Without
   * it they are refused, unless `columns` names a category.
   */
  readonly table?: boolean;
  /**
   * Tables: what columns are, by name, as an encoder or a recipe is told afterwards. Cells of those said to be categories are kept as they are
   * written (1.1 and 1.10, 01 and 1, numbers of 19 digits); of others, numbers are known by their value.
   */
  readonly columns?: ColumnKinds;
  /** CSV: whether the first line names the columns (default: detected). */
  readonly header?: boolean;
  /** CSV: one character; default: detected from the content. */
  readonly delimiter?: string;
  /**
   * Tables: what to do about missing values: refuse them (default), or fill in a number or the column's mean. With a schema,
   * what was learned at training is filled in.
   */
  readonly missing?: "refuse" | "mean" | number;
  /** NPZ: the names of the arrays that hold rows and labels. */
  readonly arrays?: { readonly x?: string; readonly y?: string };
  /** svmlight: number of features (default: the largest that occurs). */
  readonly features?: number;
  /** svmlight: the number of the first feature; else 0 if it occurs, 1 if not. */
  readonly firstFeature?: 0 | 1;
  /**
   * Whether a row may have any number of labels: text in a label column or in a file of labels is split at commas. In svmlight it is
   * detected from the content by default.
   */
  readonly multilabel?: boolean;
  /** Folders: only files below this path. */
  readonly under?: string;
  /**
   * Text: how bytes become characters (default utf-8). In files of lines latin1 is Windows-1252, as spreadsheets write it; in text folders
   * each byte is the character of its number.
   */
  readonly encoding?: "utf-8" | "latin1";
  /** AnnData: what holds the counts: X, raw or the name of a layer; default: the first of X, counts and raw that has whole numbers. */
  readonly layer?: string;
  /** Counts of genes: a table that says more of the cells, such as their types; its rows are found by the barcode. */
  readonly metadata?: ByteSource;
  /** Text folders: parts of newsgroup posts to remove, by scikit-learn's rules. */
  readonly remove?: readonly TextPart[];
  /** Image folders: whether colours are kept, as red, green and blue of each pixel; else they become grey. */
  readonly colour?: boolean;
  /** Image folders: the size that images are made, by means of the pixels that a new one covers; else all must have one size. */
  readonly resize?: ImageSize;
  /**
   * Image folders, where `resize` is not given: images with a longer side beyond `LARGE_SIDE` are made these sizes, each the pixels of
   * the longer side, for `chooseImageSize` to choose from.
   */
  readonly sizes?: readonly number[];
  /** Rows of numbers: the size of the images that they are, or "square" where it is the square root of their pixels. */
  readonly images?: ImageSize | "square";
  /** The memory that reading may take; default: half of the free memory. */
  readonly budget?: Budget;
  /** Ends the reading: between blocks of rows, and at once while HDF5 is read. */
  readonly signal?: AbortSignal;
}

/** How a reader hands rows on. */
export interface Pace {
  /** The bytes of the source after which it hands on the rows that it has; infinite: all rows at once. */
  readonly blockBytes: number;
  /** Whether to wait for a full block, however long it takes; else rows of a pipe are handed on once no more come. */
  readonly isPatient: boolean;
  /** Whether rows are to be handed on now, as they take enough memory. */
  isFull?(): boolean;
}

/** What readers are given: the options, a budget, and how to hand on rows. */
export interface Reading extends ReadOptions {
  readonly budget: Budget;
  readonly pace: Pace;
  /**
   * Whether blocks are parts of rows that are put together. What depends on all rows then stays open in each part but one that is the whole:
   * gaps, the number of the first feature, and whether columns are words.
   */
  readonly isPart?: boolean;
}

/** Whether a column was said to be a category. */
export function isToldCategory({ columns = {} }: ReadOptions, name: string): boolean {
  const told = Object.hasOwn(columns, name) ? columns[name] : undefined;
  return (typeof told === "object" ? told.type : told) === "category";
}

/** All rows at once. */
export const AT_ONCE: Pace = { blockBytes: Number.POSITIVE_INFINITY, isPatient: true };

/** Whether a reader that has rows of its own accord hands them on. */
export const isDue = ({ blockBytes, isFull }: Pace): boolean => Number.isFinite(blockBytes) || isFull?.() === true;
