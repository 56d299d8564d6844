/** Numbers as cells write them: with decimal commas, thousands set apart, currencies and percent signs. */

import type { SchemaColumn } from "@ranksim/core";

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

/** Whether a text with a comma may as well be a whole number with thousands set apart. */
export const mayBeThousands = (text: string): boolean => /^[+-]?[1-9]\d{0,2},\d{3}$/.test(text);

/** How a column writes its numbers; nothing said is a decimal point alone. */
export type NumberFormat = Pick<SchemaColumn, "decimal" | "thousands" | "unit">;

type Thousands = NonNullable<NumberFormat["thousands"]>;

const GROUPS: { readonly [thousands in Thousands]: RegExp } = {
  ",": /,/g,
  ".": /\./g,
  " ": /[ \u00a0\u202f]/g,
  "'": /['\u2019]/g,
};
const GROUPED: { readonly [thousands in Thousands]: RegExp } = {
  ",": /^[+-]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d*)?$/,
  ".": /^[+-]?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d*)?$/,
  " ": /^[+-]?[1-9]\d{0,2}(?:[ \u00a0\u202f]\d{3})+(?:[.,]\d*)?$/,
  "'": /^[+-]?[1-9]\d{0,2}(?:['\u2019]\d{3})+(?:[.,]\d*)?$/,
};

/** A number with a currency or a percent sign on one side. Only short texts are tried. */
const WITH_UNIT =
  /^([+-]?)(?:(US\$|[$€£¥₹₩₽]|USD|EUR|GBP|CHF|JPY)[ \u00a0\u202f]?)?([+-]?[\d.,][\d., \u00a0\u202f'\u2019]*(?:[eE][+-]?\d+)?)(US\$|[$€£¥₹₩₽%‰]|USD|EUR|GBP|CHF|JPY)?$/;
const LONGEST_NUMBER = 40;

/** A number and its unit; undefined where a text looks like no number. */
function apart(text: string): { readonly digits: string; readonly unit?: string } | undefined {
  const found = text.length <= LONGEST_NUMBER ? WITH_UNIT.exec(text.trim()) : null;
  if (found === null || (found[2] !== undefined && found[4] !== undefined)) return undefined;
  const unit = found[2] ?? found[4];
  return { digits: `${found[1]}${found[3].trim()}`, ...(unit === undefined ? {} : { unit }) };
}

/** Whether a text looks like a number in some format. */
export const looksNumeric = (text: string): boolean => apart(text) !== undefined;

/** The number a text spells in a column, NaN if none. Where decimals have a comma a point is refused, unless the column sets thousands apart by it. */
export function columnNumber(text: string, { decimal, thousands, unit }: NumberFormat): number {
  if (unit === undefined && thousands === undefined) return ungrouped(text, decimal);
  const found = apart(text);
  if (found === undefined || (found.unit !== undefined && found.unit !== unit)) return Number.NaN;
  const { digits } = found;
  if (thousands === undefined || digits.search(GROUPS[thousands]) < 0) return ungrouped(digits, decimal);
  return GROUPED[thousands].test(digits) ? ungrouped(digits.replace(GROUPS[thousands], ""), decimal) : Number.NaN;
}

function ungrouped(text: string, decimal: "," | undefined): number {
  if (decimal === undefined) return plainNumber(text);
  const value = commaNumber(text);
  return Number.isNaN(value) && !text.includes(".") ? plainNumber(text) : value;
}

/** Tried in this order. */
const NUMBER_FORMATS: readonly NumberFormat[] = [
  {},
  { decimal: "," },
  { thousands: "," },
  { decimal: ",", thousands: "." },
  { thousands: " " },
  { decimal: ",", thousands: " " },
  { thousands: "'" },
];

/**
 * The format in which all texts are numbers, undefined if there is none. 1,234 is a thousand, unless another text shows that commas are
 * decimal ones. Two units are no format: they cannot be compared.
 */
export function numberFormatOf(texts: readonly string[]): NumberFormat | undefined {
  const units = new Set<string>();
  const numbers: string[] = [];
  for (const text of texts) {
    const found = apart(text);
    if (found === undefined) return undefined;
    if (found.unit !== undefined) units.add(found.unit);
    if (units.size > 1) return undefined;
    numbers.push(found.digits);
  }
  const isDecimal = numbers.some((text) => text.includes(",") && !mayBeThousands(text));
  const format = NUMBER_FORMATS.find(
    (one) =>
      (one.decimal === undefined || one.thousands !== undefined || isDecimal) &&
      numbers.every((text) => !Number.isNaN(columnNumber(text, one))),
  );
  const [unit] = units;
  return numbers.length > 0 && format ? { ...format, ...(unit === undefined ? {} : { unit }) } : undefined;
}
