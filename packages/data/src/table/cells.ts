/** What the text of a cell says: nothing, a number, a truth or a date. One rule for all formats, for training and for later rows. */

/** Texts that stand for no value, in lower case. */
const MISSING = new Set(["", "na", "n/a", "nan", "null", "none", "?"]);

/** Whether a cell has no value. */
export const isMissing = (text: string): boolean => text.length <= 4 && MISSING.has(text.toLowerCase());

const PLAIN = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/;
const WITH_COMMA = /^[+-]?\d*,\d+([eE][+-]?\d+)?$/;

/** The number a text spells with a decimal point, NaN if none. */
export function plainNumber(text: string): number {
  const value = PLAIN.test(text) ? Number(text) : Number.NaN;
  return Number.isFinite(value) ? value : Number.NaN;
}

/** The number a text spells with a decimal comma, NaN if none. */
export function commaNumber(text: string): number {
  const value = WITH_COMMA.test(text) ? Number(text.replace(",", ".")) : Number.NaN;
  return Number.isFinite(value) ? value : Number.NaN;
}

/** The number a text spells in a column, NaN if none. Where decimals have a comma a point is refused: it might set thousands apart. */
export function columnNumber(text: string, { decimal }: { readonly decimal?: "," | undefined }): number {
  if (decimal === undefined) return plainNumber(text);
  const value = commaNumber(text);
  return Number.isNaN(value) && !text.includes(".") ? plainNumber(text) : value;
}

/** Whether a text with a comma may as well be a whole number with thousands set apart. */
export const mayBeThousands = (text: string): boolean => /^[+-]?\d{1,3},\d{3}$/.test(text);

/** What a category is known by: numbers by their value, so that 1, 1.0 and 01 are one category in every format, and 0,5 and 0,50 another. */
export function categoryOf(text: string): string {
  const value = plainNumber(text);
  if (!Number.isNaN(value)) return String(value + 0);
  const withComma = commaNumber(text);
  return Number.isNaN(withComma) ? text : spelled(withComma, ",");
}

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

/** The pair of words that all these are among, in any case, if there is one. */
export function truthsOf(words: readonly string[]): boolean {
  return TRUTHS.some((pair) => words.every((word) => (pair as readonly string[]).includes(word.toLowerCase())));
}

/** 0 for a word that says no, 1 for one that says yes, NaN for another. */
export function truthOf(word: string): number {
  const lower = categoryOf(word).toLowerCase();
  const pair = TRUTHS.find((candidate) => (candidate as readonly string[]).includes(lower));
  return pair === undefined ? Number.NaN : (pair as readonly string[]).indexOf(lower);
}

/** The order of year, month and day in a date. */
export type DateOrder = "ymd" | "dmy" | "mdy";

const TIME = String.raw`(?:[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?\s*(?:Z|[+-]\d{2}:?\d{2})?)?`;
const YEAR_FIRST = new RegExp(String.raw`^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})${TIME}$`);
const YEAR_LAST = new RegExp(String.raw`^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})${TIME}$`);

/**
 * The time that a text spells, in milliseconds as if it were UTC, NaN if it spells none. The clock that is written is what
 * counts: time zones, like the machine's own, are left out.
 */
export function dateOf(text: string, order: DateOrder): number {
  const found = (order === "ymd" ? YEAR_FIRST : YEAR_LAST).exec(text);
  if (found === null) return Number.NaN;
  const [a, b, c, hour = 0, minute = 0, second = 0] = found.slice(1).map((part) => Number(part ?? 0));
  const [year, month, day] = order === "ymd" ? [a, b, c] : order === "dmy" ? [c, b, a] : [c, a, b];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!isDay || hour > 23 || minute > 59 || second > 60) return Number.NaN;
  return date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000;
}
