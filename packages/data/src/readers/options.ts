/** What a caller may say about a file. Every reader takes the same options and uses those that mean something to it. */

import type { ColumnKey, Schema } from "@ranksim/core";
import type { Budget } from "../budget.ts";
import type { ImageSize } from "../data-set.ts";

/** Formats by the names that options and errors use. */
export const FORMATS = [
  ...(["csv", "tsv", "jsonl", "npy", "npz", "idx", "svmlight", "parquet", "arrow"] as const),
  ...(["text-folder", "image-folder"] as const),
] as const;

export type Format = (typeof FORMATS)[number];

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
   * Tables: the column that holds the labels. Without it a column named label, labels, class or target (in any case) is taken; null
   * takes none.
   */
  readonly labelColumn?: ColumnChoice | null;
  /** Tables: the column that holds text; the result is then text and its labels, and other columns are left out. */
  readonly textColumn?: ColumnChoice;
  /** Tables: columns to leave out, such as row numbers. */
  readonly ignoreColumns?: readonly ColumnChoice[];
  /**
   * Tables: whether words, dates and missing values may occur; where they do, the result is a table for `TableEncoder`. Without
   * it they are refused.
   */
  readonly table?: boolean;
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
}
