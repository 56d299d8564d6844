/** The order of rows in time by what a column spells: one reading for all of its cells, as cell by cell they would contradict. */

import { type ErrorFacts, RanksimError } from "@ranksim/core";
import { dateOf } from "./dates.ts";
import { orderOf } from "./detect.ts";
import { plainNumber } from "./numbers.ts";

/** With a time zone, so that it is a moment. */
const MOMENT = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*(Z|[+-]\d{2}:?\d{2})$/i;
const MONTH =
  /\b(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|nov(ember)?|dec(ember)?)\b/i;

/** A month and its year: 05.2024, 5/2024. */
const MONTH_YEAR = /^(0?[1-9]|1[0-2])[./-]((?:19|20)\d{2})$/;

function monthOf(text: string): number {
  const found = MONTH_YEAR.exec(text);
  return found === null ? Number.NaN : Date.UTC(Number(found[2]), Number(found[1]) - 1);
}

/** A year after other digits (Q1 2024): the characters tell no order of time. */
const YEAR_LATER = /^\D*(?!\d{4}(?!\d))\d.*(?<!\d)\d{4}(?!\d)/s;
const CURE = "write all of them as dates such as 2024-05-31";

type Reading = (text: string) => number;
/** Where a row is. */
type Place = (row: number) => Pick<ErrorFacts, "parameter" | "file" | "where">;

const dayFirst: Reading = (text) => dateOf(text, "dmy");
const monthFirst: Reading = (text) => dateOf(text, "mdy");

/** What a cell may spell; NaN where it does not. */
const READINGS: readonly Reading[] = [
  monthOf, // before numbers, which 05.2024 would be as well
  plainNumber,
  (text) => (MOMENT.test(text) ? Date.parse(text.replace(" ", "T")) : Number.NaN),
  (text) => dateOf(text, "ymd"),
  dayFirst,
  monthFirst,
  // In words: 5 Mar 2024. Other words before a number would be taken for a date as well (week 5).
  (text) => (MONTH.test(text) && /\d{4}/.test(text) ? Date.parse(text) : Number.NaN),
];

/** Texts that differ in their digits alone (2024-Q1) are in order by their characters. */
const shapeOf = (text: string): string => text.replace(/\d/g, "0");

/**
 * A number for each text that grows with time: numbers as they are, months with their year (05.2024), dates in the order of day and
 * month that suits them all, and other texts of one shape (2024-Q1) by their characters. Equal texts have equal numbers. Texts that
 * are not all of one form have no order: the first that differs from most is refused, and `place` says where it is.
 */
export function timesOf(texts: readonly string[], place: Place = (row) => ({ where: `row ${row}` })): Float64Array {
  const words = [...new Set(texts)];
  const spells = (reading: Reading) => (word: string) => !Number.isNaN(reading(word));
  const months = words.filter(spells(monthOf));
  // Few numbers with a point read as months. Where most cells do, the column holds months, and the other cells are mistakes (13.2024).
  if (months.length < words.length && 2 * months.length > words.length) throw oddOne(texts, months, place);
  const suiting = READINGS.filter((reading) => words.every(spells(reading)));
  if (suiting.length > 0) {
    const isMonthFirst = suiting[0] === dayFirst && orderOf(words)?.order === "mdy";
    return Float64Array.from(texts, isMonthFirst ? monthFirst : suiting[0]);
  }
  const forms = READINGS.map((reading) => words.filter(spells(reading)));
  const odd = words.find((word) => shapeOf(word) !== shapeOf(words[0]));
  if (odd !== undefined)
    for (const one of [words[0], odd]) forms.push(words.filter((word) => shapeOf(word) === shapeOf(one)));
  const usual = forms.reduce((most, form) => (form.length > most.length ? form : most));
  if (usual.length > 0) throw oddOne(texts, usual, place);
  if (YEAR_LATER.test(words[0])) {
    const found = JSON.stringify(words[0].slice(0, 60));
    const expected = "times that begin with the year";
    throw new RanksimError("bad-matrix", { ...place(0), expected, found, cure: () => CURE });
  }
  const places = new Map(words.sort().map((word, at) => [word, at]));
  return Float64Array.from(texts, (text) => places.get(text) as number);
}

/** The error that names the first text that is not of the usual form. */
function oddOne(texts: readonly string[], usual: readonly string[], place: Place): RanksimError {
  const known = new Set(usual);
  const row = texts.findIndex((text) => !known.has(text));
  const [example, found] = [usual[0], texts[row]].map((text) => JSON.stringify(text.slice(0, 60)));
  const expected = `a time in the form of ${example} as in other rows`;
  const cure = () => `correct it, or ${CURE}`;
  return new RanksimError("bad-matrix", { ...place(row), expected, found, cure });
}
