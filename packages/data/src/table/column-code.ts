/**
 * How one column becomes features. Numbers have soft bins: knots, and a value is its membership in the two knots around it,
 * 255 in all. Words have a feature each, and so have numbers that many rows share. A text has the features of a vectoriser. A missing
 * value is zero everywhere, and a feature of its own where training rows had some: zeros add nothing to a response, so nothing has to be
 * made up for it.
 */

import { type Csr, RanksimError, type SchemaColumn } from "@ranksim/core";
import type { TextModel } from "../text/readers.ts";
import { isMissing, knownBy, spelled, truthOf } from "./cells.ts";
import { dateOf, timeOfDay } from "./dates.ts";
import { columnNumber, plainNumber } from "./numbers.ts";
import type { Spacing, TableParams } from "./params.ts";
import { NO_WORD, refuseRounded, type TableColumn } from "./table.ts";

/** All of a value's membership. */
export const FULL = 255;

/** What was learned about a column. Its features are those of its parts, its words, other words and missing values, in this order. */
export interface ColumnCode extends SchemaColumn {
  /** Ascending knots of each part: a number and a time have one, a date those of `DATE_PARTS`. A part of one knot or none has no features. */
  readonly parts: readonly Float64Array[];
  /** Words of a category; numbers that have a feature of their own instead of soft bins. */
  readonly words: readonly string[];
  /** Whether words without a feature of their own share one. */
  readonly other: boolean;
  /** Whether a missing value is a feature. */
  readonly gaps: boolean;
  /** What the texts of a column of texts become. */
  readonly text?: TextModel;
}

/** The parts of a date, each a whole number but the first. */
export const DATE_PARTS = ["day", "month", "day of the month", "weekday", "hour"] as const;

const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const DAY = 86_400_000;
const TRUTHS = ["false", "true"];

/** Days since 1970, month, day, weekday and hour of a time in milliseconds. */
function datePart(time: number, part: number): number {
  const date = new Date(time);
  switch (part) {
    case 0:
      return time / DAY;
    case 1:
      return date.getUTCMonth() + 1;
    case 2:
      return date.getUTCDate();
    case 3:
      return date.getUTCDay();
    default:
      return date.getUTCHours();
  }
}

/** The cells of a column as numbers, NaN for missing ones: times of dates, hours of times, 0 and 1 of truths, and numbers. */
export function numbersOf(column: TableColumn, schema: SchemaColumn): Float64Array {
  const { name, type, order, missing = [] } = schema;
  const read = (word: string): number => {
    if (type === "date") return dateOf(word, order ?? "ymd");
    if (type === "time") return timeOfDay(word);
    return type === "boolean" ? truthOf(word) : columnNumber(word, schema);
  };
  const gone = new Set(missing);
  const sentinels = type === "number" ? missing.map(read).filter((value) => !Number.isNaN(value)) : [];
  const isGone = (value: number): boolean => sentinels.length > 0 && sentinels.includes(value);
  if (column.form === "numbers" && type === "number") {
    return sentinels.length === 0 ? column.values : column.values.map((value) => (isGone(value) ? Number.NaN : value));
  }
  const refuse = (row: number, word: string): RanksimError =>
    new RanksimError(
      "bad-matrix",
      `column ${JSON.stringify(name)}, row ${row}: expected a ${type}, found ${JSON.stringify(word)}`,
    );
  if (column.form === "numbers") {
    return column.values.map((value, r) => {
      const found = Number.isNaN(value) ? value : read(String(value));
      if (Number.isNaN(found) && !Number.isNaN(value)) throw refuse(r, String(value));
      return found;
    });
  }
  const hasNone = column.words.map((word) => isMissing(word) || gone.has(word));
  const byWord = column.words.map((word, w) => (hasNone[w] ? Number.NaN : read(word)));
  return Float64Array.from(column.codes, (code, r) => {
    const value = code === NO_WORD ? Number.NaN : byWord[code];
    if (Number.isNaN(value) && code !== NO_WORD && !hasNone[code]) throw refuse(r, column.words[code]);
    return isGone(value) ? Number.NaN : value;
  });
}

/** The cells as texts, undefined where there is none. */
export function textsOf(column: TableColumn): (string | undefined)[] {
  if (column.form === "numbers") {
    return Array.from(column.values, (value) => (Number.isNaN(value) ? undefined : spelled(value, column.decimal)));
  }
  const texts = column.words.map((word) => (isMissing(word) ? undefined : word));
  return Array.from(column.codes, (code) => (code === NO_WORD ? undefined : texts[code]));
}

/** The cells as categories: a number for each among the words of the code, and what a cell holds that is none of them. */
function wordsOf(column: TableColumn, code: ColumnCode): Int32Array {
  const known = knownBy(code);
  const places = new Map(code.words.map((word, i) => [known(word), i]));
  const place = (word: string) => (isMissing(word) ? MISSING : (places.get(known(word)) ?? OTHER));
  if (column.form === "numbers") {
    const { decimal } = column;
    return Int32Array.from(column.values, (value, r) => {
      if (code.written) refuseRounded(code.name, r, value);
      return Number.isNaN(value) ? MISSING : place(spelled(value, decimal));
    });
  }
  const byWord = column.words.map(place);
  return Int32Array.from(column.codes, (code) => (code === NO_WORD ? MISSING : byWord[code]));
}

const MISSING = -1;
const OTHER = -2;

/** Rows from which on columns are divided more finely. */
const MANY_ROWS = 1000;
/** So few columns that each has to tell more than in a wider table. */
const FEW_COLUMNS = 2;

/**
 * Knots of a column of numbers, for the rows of a table and its columns that tell something. On drawn tables (the lab's TABLES.md), of 3 to
 * 17 knots, 5 did best with 100 training rows and 9 with 1,000 and 3,000; with one column or two, 13 and 17.
 */
export function knotsFor(rows: number, columns: number): number {
  if (columns <= FEW_COLUMNS) return rows < MANY_ROWS ? 13 : 17;
  return rows < MANY_ROWS ? 5 : 9;
}

/** Learns how a column is to be coded. */
export function learnColumn(
  column: TableColumn,
  schema: SchemaColumn,
  params: TableParams & { readonly knots: number },
  leftOut: boolean,
): ColumnCode {
  const nothing = { ...schema, parts: partsOf(schema.type).map(() => new Float64Array(0)), words: [], other: false };
  if (leftOut || schema.type === "text") return { ...nothing, gaps: false };
  if (schema.type === "category") return learnWords(column, schema, params.categories);
  const numbers = numbersOf(column, schema);
  const present = numbers.filter((value) => !Number.isNaN(value));
  const gaps = present.length < numbers.length;
  if (schema.type === "boolean") return { ...nothing, words: TRUTHS, gaps };
  if (schema.type !== "date") {
    const own = commonValues(present, params.knots);
    const others = own.length === 0 ? present : present.filter((value) => !own.includes(value));
    return {
      ...nothing,
      parts: [knotsOf(others, params.knots, params.spacing)],
      words: own.map((value) => spelled(value)),
      gaps,
    };
  }
  const parts = partsOf(schema.type).map((part) =>
    // Months and weekdays are few and named: each has a knot of its own.
    knotsOf(
      present.map((time) => datePart(time, part)),
      part === 1 || part === 3 ? 12 : params.knots,
      params.spacing,
    ),
  );
  return { ...nothing, parts, gaps };
}

const partsOf = (type: SchemaColumn["type"]): readonly number[] =>
  type === "number" || type === "time" ? [0] : type === "date" ? DATE_PARTS.map((_, part) => part) : [];

/**
 * Share of the rows from which on a number has a feature of its own. Chosen on training rows of 22 tables: with 0.3, a linear classifier
 * (six divisions) had a mean accuracy of 0.8368 and a refined committee (two) 0.8208; with 0.15 0.8344 and 0.8168, without 0.8357 and 0.8166.
 */
const COMMON_SHARE = 0.3;

/** Numbers that many rows share, ascending, where there are more than knots; at least two others are left for these. */
function commonValues(values: Float64Array, knots: number): number[] {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value + 0, (counts.get(value + 0) ?? 0) + 1);
  if (counts.size <= knots) return [];
  const common = [...counts].filter(([, count]) => count > COMMON_SHARE * values.length).map(([value]) => value);
  return counts.size - common.length < 2 ? [] : common.sort((a, b) => a - b);
}

/** The most frequent words that occur at least twice; of equals those that come first in the alphabet. */
function learnWords(column: TableColumn, schema: SchemaColumn, most: number): ColumnCode {
  const counts = new Map<string, number>();
  const known = knownBy(schema);
  let gaps = false;
  const add = (word: string | undefined, times: number) => {
    if (word === undefined || isMissing(word)) gaps = true;
    else counts.set(known(word), (counts.get(known(word)) ?? 0) + times);
  };
  if (column.form === "numbers")
    for (const value of column.values) add(Number.isNaN(value) ? undefined : spelled(value, column.decimal), 1);
  else {
    const times = new Float64Array(column.words.length);
    for (const code of column.codes)
      if (code === NO_WORD) gaps = true;
      else times[code]++;
    column.words.forEach((word, code) => {
      if (times[code] > 0) add(word, times[code]);
    });
  }
  // Numbers beyond 2^53 were rounded when they were read: two categories may have become one.
  const rounded = [...counts.keys()].find((word) => Math.abs(plainNumber(word)) > Number.MAX_SAFE_INTEGER);
  if (rounded !== undefined && !schema.written) {
    throw new RanksimError(
      "bad-matrix",
      `column ${JSON.stringify(schema.name)}: expected categories that can be told apart, found numbers beyond 2^53 such as ${rounded}; put a letter before them, or leave the column out`,
    );
  }
  const order = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  const words = order
    .filter(([, count]) => count > 1)
    .slice(0, most)
    .map(([word]) => word)
    .sort();
  return { ...schema, parts: [], words, other: words.length < counts.size, gaps };
}

/** The knots of a column: each value where these are few, else as many as asked for. Ascending, all different. */
export function knotsOf(values: Float64Array, count: number, spacing: Spacing): Float64Array {
  const sorted = Float64Array.from(values).sort();
  const few = new Set<number>();
  for (let i = 0; i < sorted.length && few.size <= count; i++) few.add(sorted[i] + 0);
  if (few.size <= count) return Float64Array.from(few);
  const quantile = (share: number): number => {
    const at = (sorted.length - 1) * share;
    const low = Math.floor(at);
    return low + 1 < sorted.length ? between(sorted[low], sorted[low + 1], at - low) : sorted[low];
  };
  const [low, high] = [quantile(0.02), quantile(0.98)];
  const knots = new Set<number>();
  for (let j = 0; j < count; j++) {
    const share = j / (count - 1);
    const even = between(low, high, share);
    const byRank = quantile(share);
    knots.add((spacing === "even" ? even : spacing === "quantile" ? byRank : between(even, byRank, 0.5)) + 0);
  }
  // A column of one value but for a few has its quantiles in one place: then its ends tell most.
  if (knots.size < 2) return Float64Array.of(sorted[0], sorted[sorted.length - 1]);
  return Float64Array.from(knots).sort();
}

/** Neither product can overflow, as a difference could. */
const between = (low: number, high: number, share: number): number => low * (1 - share) + high * share;

/** Number of features of a column. */
export function widthOf({ parts, words, other, gaps, text }: ColumnCode): number {
  const soft = softWidth(parts) + (text?.features ?? 0);
  const all = soft + words.length + (other ? 1 : 0) + (gaps ? 1 : 0);
  // One feature that every row has tells nothing.
  return all === 1 ? 0 : all;
}

const softWidth = (parts: ColumnCode["parts"]): number =>
  parts.reduce((sum, knots) => sum + (knots.length > 1 ? knots.length : 0), 0);

/** What the features of a column are called. */
export function featureNamesOf(code: ColumnCode): string[] {
  if (widthOf(code) === 0) return [];
  const { name, type, parts, words, other, gaps, text } = code;
  const terms =
    text && ("featureNames" in text ? text.featureNames : Array.from({ length: text.features }, (_, i) => `term ${i}`));
  const soft = parts.flatMap((knots, part) =>
    knots.length < 2 ? [] : Array.from(knots, (knot, j) => knotName(name, type, part, knot, j, knots.length)),
  );
  return [
    ...soft,
    ...(terms ?? []).map((term) => `${name}: ${term}`),
    ...words.map((word) => `${name} = ${word}`),
    ...(other ? [`${name} = other`] : []),
    ...(gaps ? [`${name} missing`] : []),
  ];
}

function knotName(name: string, type: string, part: number, knot: number, j: number, count: number): string {
  if (type === "date" && part === 1) return `${name}: month ${knot}`;
  if (type === "date" && part === 3) return `${name}: ${WEEKDAYS[knot]}`;
  const side = j === 0 ? "up to" : j === count - 1 ? "from" : "around";
  if (type === "time") return `${name} ${side} ${clock(knot)}`;
  if (type !== "date") return `${name} ${side} ${Number(knot.toPrecision(4))}`;
  if (part === 0) return `${name} ${side} ${new Date(knot * DAY).toISOString().slice(0, 10)}`;
  return `${name}: ${DATE_PARTS[part]} ${side} ${Number(knot.toPrecision(4))}`;
}

/** Hours as a clock shows them. */
function clock(hours: number): string {
  const minutes = Math.round(hours * 60);
  return `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
}

/** Takes the features of a row that are not zero, in ascending order. */
type Sink = (feature: number, value: number) => void;

/** A column at work on the rows of one table: the features of a row go to the sink. */
export type Coder = (row: number, sink: Sink) => void;

/** The code of a column, whose features begin at `first`; `texts` are what the vectoriser of a column of texts makes of it. */
export function coder(column: TableColumn, code: ColumnCode, first: number, texts?: Csr): Coder {
  const { parts, words, other, gaps, type, text } = code;
  if (widthOf(code) === 0) return () => {};
  const ofOther = first + widthOf(code) - (gaps ? 1 : 0) - (other ? 1 : 0);
  const ofGap = first + widthOf(code) - 1;
  const missing = (sink: Sink) => {
    if (gaps) sink(ofGap, FULL);
  };
  if (text && texts) {
    const { offsets, indices, values } = texts;
    const cells = textsOf(column);
    return (row, sink) => {
      if (cells[row] === undefined) missing(sink);
      for (let e = offsets[row]; e < offsets[row + 1]; e++) sink(first + indices[e], FULL * values[e]);
    };
  }
  if (type === "category") {
    const places = wordsOf(column, code);
    return (row, sink) => {
      const place = places[row];
      if (place >= 0) sink(first + place, FULL);
      else if (place === MISSING) missing(sink);
      else if (other) sink(ofOther, FULL);
    };
  }
  const numbers = numbersOf(column, code);
  if (type === "boolean") {
    return (row, sink) => (Number.isNaN(numbers[row]) ? missing(sink) : sink(first + numbers[row], FULL));
  }
  const common = words.map(Number);
  const ofCommon = first + softWidth(parts);
  return (row, sink) => {
    const value = numbers[row];
    if (Number.isNaN(value)) {
      missing(sink);
      return;
    }
    const own = common.length === 0 ? -1 : common.indexOf(value);
    if (own >= 0) {
      sink(ofCommon + own, FULL);
      return;
    }
    let at = first;
    for (let part = 0; part < parts.length; part++) {
      if (parts[part].length < 2) continue;
      softBins(type === "date" ? datePart(value, part) : value, parts[part], at, sink);
      at += parts[part].length;
    }
  };
}

/** A value's membership in the two knots around it; beyond the ends, all of it in the outer one. */
export function softBins(value: number, knots: Float64Array, first: number, sink: Sink): void {
  const last = knots.length - 1;
  if (value <= knots[0]) sink(first, FULL);
  else if (value >= knots[last]) sink(first + last, FULL);
  else {
    let low = 0;
    for (let high = last; high - low > 1; ) {
      const middle = (low + high) >> 1;
      if (knots[middle] <= value) low = middle;
      else high = middle;
    }
    // Halves, because the difference of two large numbers overflows.
    const share = (value / 2 - knots[low] / 2) / (knots[low + 1] / 2 - knots[low] / 2);
    const above = Math.round(FULL * share);
    if (above < FULL) sink(first + low, FULL - above);
    if (above > 0) sink(first + low + 1, above);
  }
}
