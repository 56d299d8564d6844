/** The order of rows in time by what a column spells: one reading for all of its cells, as cell by cell they would contradict. */

import { dateOf, plainNumber } from "./cells.ts";
import { orderOf } from "./detect.ts";

/** With a time zone, so that it is a moment. */
const MOMENT = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*(Z|[+-]\d{2}:?\d{2})$/i;

/**
 * A number for each text that grows with time: numbers as they are, dates in the order of day and month that suits them all,
 * and other texts (2024-Q1) by their characters. Equal texts have equal numbers.
 */
export function timesOf(texts: readonly string[]): Float64Array {
  const words = [...new Set(texts)];
  const { order = "ymd" } = orderOf(words) ?? {};
  const readings: ((text: string) => number)[] = [
    plainNumber,
    (text) => (MOMENT.test(text) ? Date.parse(text.replace(" ", "T")) : Number.NaN),
    (text) => dateOf(text, order),
    // In words: 5 Mar 2024.
    (text) => (/[a-z]{3}/i.test(text) ? Date.parse(text) : Number.NaN),
  ];
  const suits = readings.find((reading) => words.every((word) => !Number.isNaN(reading(word))));
  if (suits) return Float64Array.from(texts, suits);
  const places = new Map(words.sort().map((word, place) => [word, place]));
  return Float64Array.from(texts, (text) => places.get(text) as number);
}
