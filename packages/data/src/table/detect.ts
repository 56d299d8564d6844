/** What the columns of a table are, detected from their cells; and whether rows of numbers are a table at all. */

import {
  type ColumnType,
  type Matrix,
  RanksimError,
  type RowSource,
  type Rows,
  type SchemaColumn,
} from "@ranksim/core";
import { didYouMean } from "../did-you-mean.ts";
import { commaNumber, type DateOrder, dateOf, plainNumber, truthsOf } from "./cells.ts";
import { NO_WORD, type NumberColumn, type Table, type TableColumn, type WordColumn } from "./table.ts";

/** What a person may say of a column. */
export type ColumnKind = ColumnType | "date-dmy" | "date-mdy" | "ignore";

export const COLUMN_KINDS: readonly ColumnKind[] = [
  "number",
  "category",
  "boolean",
  "date",
  "date-dmy",
  "date-mdy",
  "ignore",
];

/** What a column was taken for. */
export interface DetectedColumn extends SchemaColumn {
  /** Why it should be left out, where it should. */
  readonly leftOut?: string;
  /** A cell that is no number, where almost all cells of the column are. */
  readonly odd?: string;
}

/** Fewer rows than this do not show that a column names each of them. */
const FEW_ROWS = 20;
/** Why a column of sentences is left out. */
export const IS_TEXT = "it is text";
/** Cells of this mean length are sentences, and so are shorter ones of this many words on average. */
const LONG_CELL = 40;
const MANY_WORDS = 3;

/** Tells what each column is; what `kinds` says of a column goes first. */
export function detectColumns(
  table: Table,
  kinds: { readonly [name: string]: ColumnKind } = {},
): readonly DetectedColumn[] {
  checkKinds(
    table.columns.map(({ name }) => name),
    kinds,
  );
  return table.columns.map((column) =>
    Object.hasOwn(kinds, column.name) ? asTold(column, kinds[column.name]) : detected(column),
  );
}

/** Refuses kinds of columns that are not there, and kinds that do not exist. */
export function checkKinds(names: readonly string[], kinds: { readonly [name: string]: ColumnKind }): void {
  for (const [name, kind] of Object.entries(kinds)) {
    if (!names.includes(name)) {
      const list = `${names.slice(0, 20).join(", ")}${names.length > 20 ? ", …" : ""}`;
      const hint = didYouMean(name, names);
      throw new RanksimError("bad-params", `columns: expected one of ${list}, found ${name}${hint}`);
    }
    if (!COLUMN_KINDS.includes(kind)) {
      throw new RanksimError("bad-params", `column ${name}: expected ${COLUMN_KINDS.join(", ")}, found ${kind}`);
    }
  }
}

function asTold(column: TableColumn, kind: ColumnKind): DetectedColumn {
  const { name } = column;
  if (kind === "ignore") return { ...plain(column), leftOut: "as was said" };
  if (kind === "number") return plain(column);
  if (kind === "category" || kind === "boolean") return { name, type: kind };
  if (kind === "date") return { name, type: "date", ...orderOf(column.form === "words" ? column.words : []) };
  return { name, type: "date", order: kind === "date-dmy" ? "dmy" : "mdy" };
}

/** A number, or what its words are if it has any. */
function plain(column: TableColumn): SchemaColumn {
  const { name } = column;
  return { name, type: "number", ...(column.form === "numbers" && column.decimal ? { decimal: column.decimal } : {}) };
}

function detected(column: TableColumn): DetectedColumn {
  return column.form === "numbers" ? detectedNumbers(column) : detectedWords(column);
}

function detectedNumbers(column: NumberColumn): DetectedColumn {
  const { values } = column;
  const first = values.find((value) => !Number.isNaN(value));
  if (first === undefined) return { ...plain(column), leftOut: "it has no values" };
  if (values.every((value) => value === first)) return { ...plain(column), leftOut: "it is always the same" };
  const counts = values.length >= FEW_ROWS && values.every((value, r) => value === values[0] + r);
  return counts ? { ...plain(column), leftOut: "it numbers the rows" } : plain(column);
}

function detectedWords({ name, words, codes }: WordColumn): DetectedColumn {
  if (truthsOf(words)) return { name, type: "boolean" };
  const order = orderOf(words);
  if (order !== undefined) return { name, type: "date", ...order };
  const present = codes.reduce((sum, code) => sum + (code === NO_WORD ? 0 : 1), 0);
  const odd = oddAmong(words);
  const category = { name, type: "category", ...(odd === undefined ? {} : { odd }) } as const;
  if (words.length === 1 && present === codes.length) return { ...category, leftOut: "it is always the same" };
  if (present < FEW_ROWS || words.length * 2 <= present) return category;
  const mean = (size: (cell: string) => number) => words.reduce((sum, cell) => sum + size(cell), 0) / words.length;
  const isText = mean(({ length }) => length) >= LONG_CELL || mean((cell) => cell.split(/\s+/).length) >= MANY_WORDS;
  return { ...category, leftOut: isText ? IS_TEXT : "it names almost every row" };
}

/** A word that is no number, if nine tenths are; undefined among few words, or if all are numbers. */
function oddAmong(words: readonly string[]): string | undefined {
  const others = words.filter((word) => Number.isNaN(plainNumber(word)) && Number.isNaN(commaNumber(word)));
  return words.length >= FEW_ROWS && others.length * 10 <= words.length ? others[0] : undefined;
}

/** The order in which all words are dates, undefined if they are none. Day and month are decided by the rows in which they cannot be confused. */
export function orderOf(words: readonly string[]): { readonly order?: "dmy" | "mdy" } | undefined {
  const all = (order: DateOrder) => words.length > 0 && words.every((word) => !Number.isNaN(dateOf(word, order)));
  if (all("ymd")) return {};
  const [dmy, mdy] = [all("dmy"), all("mdy")];
  // 1/2/2020 alone tells nothing: slashes are the American way, points and hyphens are not.
  if (dmy && mdy) return { order: words[0].includes("/") ? "mdy" : "dmy" };
  return dmy ? { order: "dmy" } : mdy ? { order: "mdy" } : undefined;
}

/** More columns than this are measurements of one kind. */
const MOST_COLUMNS = 100;
/** Fewer features than this have few orders, so ranks of plain values say little. */
const FEW_FEATURES = 9;
/** Spreads that differ by more than this belong to columns of different units. */
const MIXED_SCALES = 10;
/** The same for columns whose names count through: pixels at the rim and bands of a spectrum vary less than others, in one unit. */
const MIXED_IN_SERIES = 100;
/**
 * Means whose standard deviation is this many times the median spread of a column leave ranks little to tell. Chosen on drawn rows (2 to 6
 * classes in 10, 20 and 40 features, five draws, 600 rows): without offsets 0.79, 0.94 and 0.98 right as plain numbers, with offsets
 * of 5 spreads 0.73, 0.93 and 0.98, of 10 spreads 0.54, 0.90 and 0.96; as a table 0.80, 0.95 and 0.97 in any case.
 */
const MEANS_APART = 5;

/**
 * Whether rows of numbers are a table: columns of different units, few of them, with names, scales or
 * offsets of their own. Pixels, counts, embeddings and spectra are not; there the order of values says what a row is. Names that only count (x0, x1, …)
 * are no names of their own.
 */
export function looksLikeTable(x: Matrix, names?: readonly string[]): boolean {
  const looks = new TableLooks(x.form, x.rows, x.features);
  if (looks.isOpen) looks.add(x);
  return looks.areTable(names);
}

/** The same for rows that are read, in one pass, if they have to be looked at. */
export async function sourceLooksLikeTable(x: RowSource, names?: readonly string[]): Promise<boolean> {
  const looks = new TableLooks(x.form, x.rows, x.features);
  if (looks.isOpen) for await (const block of x.blocks(LOOK_BYTES)) looks.add(block);
  return looks.areTable(names);
}

/** Bytes that are looked at at a time. */
const LOOK_BYTES = 1 << 24;

/** What tells a table from rows of one kind, over rows that come in order. */
class TableLooks {
  /** Whether the values have to be looked at. */
  readonly isOpen: boolean;
  readonly #rows: number;
  readonly #features: number;
  readonly #sums: Float64Array;
  readonly #squares: Float64Array;
  #zeros = 0;
  #areWhole = true;

  constructor(form: Rows["form"], rows: number, features: number) {
    this.#rows = rows;
    this.#features = features;
    this.isOpen = features <= MOST_COLUMNS && (form === "csr" || features >= FEW_FEATURES);
    this.#sums = new Float64Array(this.isOpen ? features : 0);
    this.#squares = new Float64Array(this.isOpen ? features : 0);
  }

  add(block: Rows): void {
    const { rows, features, values } = block;
    const [sums, squares] = [this.#sums, this.#squares];
    const sparse = block.form === "csr" ? block : undefined;
    const [first, end] = sparse ? [sparse.offsets[0], sparse.offsets[rows]] : [0, rows * features];
    this.#zeros += rows * features;
    for (let e = first; e < end; e++) {
      const c = sparse ? sparse.indices[e] : e % features;
      const value = values[e];
      if (value !== 0) this.#zeros--;
      sums[c] += value;
      squares[c] += value * value;
    }
    if (!(values instanceof Float32Array || values instanceof Float64Array) || !this.#areWhole) return;
    this.#areWhole = values.every(Number.isInteger);
  }

  areTable(names: readonly string[] | undefined): boolean {
    const [rows, features] = [this.#rows, this.#features];
    if (features > MOST_COLUMNS || rows === 0) return false;
    // Counts of words or events: mostly nothing.
    if (this.#zeros * 2 > rows * features) return false;
    if (features < FEW_FEATURES) return true;
    if (names !== undefined && !isSeries(names)) return true;
    // Whole numbers may be pixels or counts, whose means and spreads differ too.
    if (this.#areWhole) return false;
    const means = Array.from(this.#sums, (sum) => sum / rows);
    const spreads = means
      .map((mean, c) => this.#squares[c] / rows - mean * mean)
      .filter((variance) => variance > 0)
      .map(Math.sqrt)
      .sort((a, b) => a - b);
    const mixed = names === undefined ? MIXED_SCALES : MIXED_IN_SERIES;
    return spreads[spreads.length - 1] > mixed * spreads[0] || areApart(means, spreads[spreads.length >> 1]);
  }
}

/**
 * Whether means of columns are far apart, and not in the order of the columns: the same features then rank first in every row, whatever
 * it is. Bands of a spectrum and pixels have means that go over into one another.
 */
function areApart(means: readonly number[], spread: number): boolean {
  const center = means.reduce((sum, mean) => sum + mean, 0) / means.length;
  const away = means.reduce((sum, mean) => sum + square(mean - center), 0);
  const steps = means.reduce((sum, mean, c) => sum + (c === 0 ? 0 : square(mean - means[c - 1])), 0);
  // In no order, steps are twice as large as distances from the center, squared.
  return steps > away && Math.sqrt(away / means.length) > MEANS_APART * spread;
}

const square = (value: number): number => value * value;

/** Whether names count one thing through: pixel0, pixel1, … or 400 nm, 402 nm, … */
function isSeries(names: readonly string[]): boolean {
  const stems = new Set(names.map((name) => (/\d/.test(name) ? name.replace(/[\d.,]+/g, "#") : "")));
  return stems.size === 1 && !stems.has("");
}
