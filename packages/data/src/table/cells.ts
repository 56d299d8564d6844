/** What the text of a cell says: nothing, a category or a truth. One rule for all formats, for training and for later rows. */

import type { SchemaColumn } from "@ranksim/core";
import { commaNumber, plainNumber } from "./numbers.ts";

/** Texts that stand for no value, in lower case. */
const MISSING = new Set(["", "na", "n/a", "nan", "null", "none", "?"]);

/** Whether a cell has no value. */
export const isMissing = (text: string): boolean => text.length <= 4 && MISSING.has(text.toLowerCase());

/** Texts that stand for no value where all others are numbers or dates; among words they may be words. In lower case. */
const MISSING_AMONG_NUMBERS = new Set([
  ...["-", "--", "—", "–", ".", "..", "*", "#n/a", "#na", "n.a.", "n.a", "<na>", "<null>", "(null)", "nil"],
  ...["missing", "unknown", "not available", "#null!", "#div/0!", "#value!", "#ref!", "#name?", "#num!"],
]);

/** Whether a text stands for no value where all others are numbers or dates. */
export const isMissingAmongNumbers = (text: string): boolean =>
  text.length <= 13 && MISSING_AMONG_NUMBERS.has(text.trim().toLowerCase());

/** What a category is known by: numbers by their value, so that 1, 1.0 and 01 are one category in every format, and 0,5 and 0,50 another. */
export function categoryOf(text: string): string {
  const value = plainNumber(text);
  if (!Number.isNaN(value)) return String(value + 0);
  const withComma = commaNumber(text);
  return Number.isNaN(withComma) ? text : spelled(withComma, ",");
}

/** What the categories of a column are known by: as they are written where the spellings of training tell them apart, else as above. */
export const knownBy = ({ written }: Pick<SchemaColumn, "written">): ((text: string) => string) =>
  written ? (text) => text : categoryOf;

/** Whether a category is written as it is known by its value, and is not rounded to that. */
export const isPlainly = (text: string): boolean =>
  categoryOf(text) === text && !(Math.abs(plainNumber(text)) > Number.MAX_SAFE_INTEGER);

/** Whether a text is what writing the number that it spells gives, so that the number may stand for it. */
export const isPlainNumber = (text: string): boolean => isPlainly(text) && !Number.isNaN(plainNumber(text));

/** A number as the category it is known by, with the decimal sign of its column. */
export const spelled = (value: number, decimal?: ","): string =>
  decimal ? String(value + 0).replace(".", decimal) : String(value + 0);

const TRUTHS = [
  ["false", "true"],
  ["no", "yes"],
  ["f", "t"],
  ["n", "y"],
  ["off", "on"],
  ["0", "1"],
] as const;

/** Whether all these are among one pair of words, in any case. */
export function truthsOf(words: readonly string[]): boolean {
  const known = words.map((word) => categoryOf(word).toLowerCase());
  return TRUTHS.some((pair) => known.every((word) => (pair as readonly string[]).includes(word)));
}

/** 0 for a word that says no, 1 for one that says yes, NaN for another. */
export function truthOf(word: string): number {
  const lower = categoryOf(word).toLowerCase();
  const pair = TRUTHS.find((candidate) => (candidate as readonly string[]).includes(lower));
  return pair === undefined ? Number.NaN : (pair as readonly string[]).indexOf(lower);
}
