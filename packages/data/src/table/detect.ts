/** What the columns of a table are, detected from their cells; and whether rows of numbers are a table at all. */

import { type ColumnType, RanksimError, type RowSource, type Rows, type SchemaColumn } from "@ranksim/core";
import { didYouMean } from "../did-you-mean.ts";
import { isMissingAmongNumbers, isPlainly, spelled, truthsOf } from "./cells.ts";
import { numbersOf } from "./column-code.ts";
import { type DateOrder, dateOf, timeOfDay } from "./dates.ts";
import { looksNumeric, numberFormatOf } from "./numbers.ts";
import { NO_WORD, type NumberColumn, type Table, type TableColumn, type WordColumn } from "./table.ts";

/** What a person may say of a column. */
export type ColumnKind = ColumnType | "date-dmy" | "date-mdy" | "ignore";

export const COLUMN_KINDS: readonly ColumnKind[] = [
  ...(["number", "category", "boolean", "text"] as const),
  ...(["date", "date-dmy", "date-mdy", "time", "ignore"] as const),
];

/** What is known of columns before they are looked at: what a person says, or what was found in other rows. */
export type ColumnKinds = { readonly [name: string]: ColumnKind | SchemaColumn };

/** What a column was taken for. */
export interface DetectedColumn extends SchemaColumn {
  /** Why it should be left out, where it should. */
  readonly leftOut?: string;
  /** A cell that is no number, where almost all cells of the column are. */
  readonly odd?: string;
  /** What a person should know of how its cells are read. */
  readonly note?: string;
}

/** What a model remembers of a column. */
export function schemaColumn({ leftOut: _, odd: __, note: ___, ...column }: DetectedColumn): SchemaColumn {
  return column;
}

/** Fewer rows than this do not show that a column names each of them. */
const FEW_ROWS = 20;
const SAME = "it is always the same";
/** Cells of this mean length are sentences, and so are shorter ones of this many words on average. */
const LONG_CELL = 40;
const MANY_WORDS = 3;

/** Tells what each column is; what `kinds` says of a column goes first. */
export function detectColumns(table: Table, kinds: ColumnKinds = {}): readonly DetectedColumn[] {
  checkKinds(
    table.columns.map(({ name }) => name),
    kinds,
  );
  return table.columns.map((column) => {
    const told = Object.hasOwn(kinds, column.name) ? kinds[column.name] : undefined;
    if (told === undefined) return detected(column);
    return typeof told === "string" ? asTold(column, told) : { ...told, name: column.name };
  });
}

/** Refuses kinds of columns that are not there, and kinds that do not exist. */
export function checkKinds(names: readonly string[], kinds: ColumnKinds): void {
  for (const [name, kind] of Object.entries(kinds)) {
    if (!names.includes(name)) {
      const list = `${names.slice(0, 20).join(", ")}${names.length > 20 ? ", …" : ""}`;
      const hint = didYouMean(name, names);
      throw new RanksimError("bad-params", `columns: expected one of ${list}, found ${name}${hint}`);
    }
    if (typeof kind === "string" && !COLUMN_KINDS.includes(kind)) {
      throw new RanksimError("bad-params", `column ${name}: expected ${COLUMN_KINDS.join(", ")}, found ${kind}`);
    }
  }
}

function asTold(column: TableColumn, kind: ColumnKind): DetectedColumn {
  const { name } = column;
  const words = column.form === "words" ? valuesAmong(column).values : [];
  switch (kind) {
    case "ignore":
      return { ...plain(column), leftOut: "as was said" };
    case "number":
      return { ...plain(column), ...missingAmong(column) };
    case "date":
      return { name, type: "date", ...(orderOf(words) ?? countedFrom(column)), ...missingAmong(column) };
    case "date-dmy":
    case "date-mdy":
      return { name, type: "date", order: kind === "date-dmy" ? "dmy" : "mdy", ...missingAmong(column) };
    case "category": {
      const isWritten = column.form === "words" && column.written && !column.words.every(isPlainly);
      return { name, type: kind, ...(isWritten ? { written: true } : {}) };
    }
    default:
      return { name, type: kind };
  }
}

/** A number in the format of its cells; cells that are none are left for the encoder to refuse. */
function plain(column: TableColumn): SchemaColumn {
  const { name } = column;
  if (column.form === "numbers") {
    return { name, type: "number", ...(column.decimal ? { decimal: column.decimal } : {}) };
  }
  const { values } = valuesAmong(column);
  return { name, type: "number", ...(numberFormatOf(values) ?? numberFormatOf(values.filter(looksNumeric))) };
}

/** The words that are values where those that may stand for none do, and the name of the column where its line is repeated. */
function valuesAmong({ name, words }: WordColumn): {
  readonly values: readonly string[];
  readonly missing: readonly string[];
} {
  const isNone = (word: string) => isMissingAmongNumbers(word) || word === name;
  const missing = words.filter(isNone);
  return { values: missing.length === 0 ? words : words.filter((word) => !isNone(word)), missing };
}

function missingAmong(column: TableColumn): Pick<SchemaColumn, "missing"> {
  const { missing } = column.form === "words" ? valuesAmong(column) : { missing: [] };
  return missing.length === 0 ? {} : { missing: missing.toSorted() };
}

function detected(column: TableColumn): DetectedColumn {
  return column.form === "numbers" ? detectedNumbers(column) : detectedWords(column);
}

function detectedNumbers(column: NumberColumn): DetectedColumn {
  const { values } = column;
  const first = values.find((value) => !Number.isNaN(value));
  if (first === undefined) return { ...plain(column), leftOut: "it has no values" };
  if (values.every((value) => value === first)) return { ...plain(column), leftOut: SAME };
  // Beside one value a missing one tells something.
  if (values.every((value) => value === first || Number.isNaN(value))) return { name: column.name, type: "category" };
  const counts = values.length >= FEW_ROWS && values.every((value, r) => value === values[0] + r);
  if (counts) return { ...plain(column), leftOut: "it numbers the rows" };
  const counted = countedFrom(column, true);
  if (counted.order)
    return { name: column.name, type: "date", ...counted, note: `counts ${counted.order} from 1970, read as dates` };
  return withSentinels(plain(column), values);
}

function detectedWords(column: WordColumn): DetectedColumn {
  const { name, words, codes } = column;
  const present = codes.reduce((sum, code) => sum + (code === NO_WORD ? 0 : 1), 0);
  if (present === 0) return { name, type: "category", leftOut: "it has no values" };
  if (words.length === 1 && present === codes.length) return { name, type: "category", leftOut: SAME };
  if (truthsOf(words)) return { name, type: "boolean" };
  const written = writtenAs(column);
  if (written) return written;
  const odd = oddAmong(words);
  const category = { name, type: "category", ...(odd === undefined ? {} : { odd }) } as const;
  if (present < FEW_ROWS || words.length * 2 <= present) return category;
  const mean = (size: (cell: string) => number) => words.reduce((sum, cell) => sum + size(cell), 0) / words.length;
  const isText = mean(({ length }) => length) >= LONG_CELL || mean((cell) => cell.split(/\s+/).length) >= MANY_WORDS;
  return isText ? { name, type: "text" } : { ...category, leftOut: "it names almost every row" };
}

/** A column whose words are all dates, times or numbers, but for those that stand for nothing beside such. */
function writtenAs(column: WordColumn): DetectedColumn | undefined {
  const { name } = column;
  const { values } = valuesAmong(column);
  if (values.length < 2) return undefined;
  const order = orderOf(values);
  if (order !== undefined) return noted({ name, type: "date", ...order, ...missingAmong(column) }, column);
  if (values.every((value) => !Number.isNaN(timeOfDay(value)))) {
    return noted({ name, type: "time", ...missingAmong(column) }, column);
  }
  const format = column.grouped ? undefined : numberFormatOf(values);
  if (format === undefined) return undefined;
  const found: SchemaColumn = { name, type: "number", ...format, ...missingAmong(column) };
  const numbers = numbersOf(column, found);
  return numbers.every((value) => value === numbers[0])
    ? { ...found, leftOut: SAME }
    : withSentinels(noted(found, column), numbers);
}

/** Says which cells are taken for missing ones, and how numbers are read that could be read otherwise. */
function noted(found: SchemaColumn, { codes, words }: WordColumn): DetectedColumn {
  const { missing = [], thousands } = found;
  const gone = new Set(missing);
  const cells = codes.reduce((sum, code) => sum + (code !== NO_WORD && gone.has(words[code]) ? 1 : 0), 0);
  const named = missing.map((word) => JSON.stringify(word)).join(", ");
  const parts = cells === 0 ? [] : [`${cells} ${cells === 1 ? "cell is" : "cells are"} ${named}, taken as missing`];
  const example = thousands === "," ? words.find((word) => /^\D*\d{1,3},\d{3}\D*$/.test(word)) : undefined;
  if (example !== undefined) parts.push(`${JSON.stringify(example)} is read as ${example.replace(",", "")}`);
  return parts.length === 0 ? found : { ...found, note: parts.join("; ") };
}

/** Numbers that stand for a missing value are nines. */
const NINES = /^-?99+$/;
const FEWEST_SENTINELS = 2;

/** Nines that come more than once, farther from all other values than these are from each other, stand for missing values. */
function withSentinels(found: DetectedColumn, values: Float64Array): DetectedColumn {
  const counts = new Map<number, number>();
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (Number.isNaN(value)) continue;
    if (value % 9 === 0 && NINES.test(String(value))) counts.set(value, (counts.get(value) ?? 0) + 1);
    else [low, high] = [Math.min(low, value), Math.max(high, value)];
  }
  const apart = high - low;
  const far = [...counts].filter(
    ([value, count]) => count >= FEWEST_SENTINELS && apart > 0 && (value - high > apart || low - value > apart),
  );
  if (far.length === 0) return found;
  const { decimal, missing = [], note } = found;
  const said = far.map(([value, count]) => `${count} cells are ${value}, taken as missing`);
  return {
    ...found,
    missing: [...missing, ...far.map(([value]) => spelled(value, decimal)).sort()],
    note: [...(note ? [note] : []), ...said].join("; "),
  };
}

/** Names of columns that hold times. */
const NAMES_TIME = /time|date|stamp|epoch|unix|created|updated|modified|seen|_at$|_ts$|^ts$/i;
/** Seconds of the years 1990 to 2100. */
const [FIRST_SECOND, LAST_SECOND] = [631_152_000, 4_102_444_800];

/** Whether a column counts seconds or milliseconds from 1970; `asNamed`: only if its name says so as well. */
function countedFrom(column: TableColumn, asNamed = false): { readonly order?: "seconds" | "milliseconds" } {
  if (column.form !== "numbers" || (asNamed && !NAMES_TIME.test(column.name))) return {};
  const within = (factor: number) =>
    column.values.every(
      (value) =>
        Number.isNaN(value) ||
        (value >= FIRST_SECOND * factor && value <= LAST_SECOND * factor && (factor > 1 || Number.isInteger(value))),
    );
  return within(1) ? { order: "seconds" } : within(1000) ? { order: "milliseconds" } : {};
}

/** A word that is no number, if nine tenths are; undefined among few words, or if all are numbers. */
function oddAmong(words: readonly string[]): string | undefined {
  const others = words.filter((word) => !looksNumeric(word));
  return words.length >= FEW_ROWS && others.length * 10 <= words.length ? (others[0] ?? words.at(-1)) : undefined;
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
export async function looksLikeTable(x: RowSource, names?: readonly string[]): Promise<boolean> {
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
