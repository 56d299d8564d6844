/** Dates and times of day as cells write them. */

import type { SchemaColumn } from "@ranksim/core";
import { plainNumber } from "./numbers.ts";

/** The order of year, month and day in a date, or the unit of a time that is counted from 1970. */
export type DateOrder = "ymd" | NonNullable<SchemaColumn["order"]>;

const CLOCK = String.raw`(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?(?:\s*([AaPp])\.?[Mm]\.?)?`;
const TIME = String.raw`(?:[T ]+${CLOCK}\s*(?:Z|[+-]\d{2}:?\d{2})?)?`;
const YEAR_FIRST = new RegExp(String.raw`^(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})${TIME}$`);
const YEAR_LAST = new RegExp(String.raw`^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})${TIME}$`);
/** 5 Jan 2024, 05-JAN-2024; Jan 5, 2024. */
const MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}";
const DAY_MONTH = new RegExp(String.raw`^(\d{1,2})[- .]{1,2}${MONTH}[- .,]{1,2}(\d{4})${TIME}$`, "i");
const MONTH_DAY = new RegExp(String.raw`^${MONTH}[- .]{1,2}(\d{1,2})[- .,]{1,2}(\d{4})${TIME}$`, "i");
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const TIME_OF_DAY = new RegExp(`^${CLOCK}$`);
const LONGEST_DATE = 60;
/** Dates end here, in milliseconds. */
const LAST_TIME = 8.64e15;

/** Seconds of a clock that is written, NaN where there is no such time. */
function clockOf([hour, minute, second, half]: readonly (string | undefined)[]): number {
  const [h, m, s] = [hour, minute, second].map((part) => Number(part ?? 0));
  if (m > 59 || s > 60 || h > 23 || (half !== undefined && (h < 1 || h > 12))) return Number.NaN;
  const isLate = half?.toLowerCase() === "p";
  const hours = half === undefined ? h : (h % 12) + (isLate ? 12 : 0);
  return (hours * 60 + m) * 60 + s;
}

/** The time of day that a text spells, in hours, NaN if it spells none. */
export function timeOfDay(text: string): number {
  const found = text.length <= LONGEST_DATE ? TIME_OF_DAY.exec(text) : null;
  return found === null ? Number.NaN : clockOf(found.slice(1)) / 3600;
}

/**
 * The time that a text spells, in milliseconds as if it were UTC, NaN if it spells none. The clock that is written is what
 * counts: time zones, like the machine's own, are left out.
 */
export function dateOf(text: string, order: DateOrder): number {
  if (order === "seconds" || order === "milliseconds") {
    const time = plainNumber(text) * (order === "seconds" ? 1000 : 1);
    return Math.abs(time) <= LAST_TIME ? time : Number.NaN;
  }
  if (text.length > LONGEST_DATE) return Number.NaN;
  const found = (order === "ymd" ? YEAR_FIRST : YEAR_LAST).exec(text) ?? wordedDate(text, order);
  if (found === null) return Number.NaN;
  const [a, b, c] = found.slice(1, 4).map(Number);
  const [year, month, day] = order === "ymd" ? [a, b, c] : order === "dmy" ? [c, b, a] : [c, a, b];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isDay ? date.getTime() + clockOf(found.slice(4)) * 1000 : Number.NaN;
}

/** The parts of a date whose month is a word, the month as its number. */
function wordedDate(text: string, order: DateOrder): string[] | null {
  const found = (order === "dmy" ? DAY_MONTH : order === "mdy" ? MONTH_DAY : undefined)?.exec(text);
  if (!found) return null;
  const place = order === "dmy" ? 2 : 1;
  return found.map((part, i) => (i === place ? String(MONTHS.indexOf(part.toLowerCase().slice(0, 3)) + 1) : part));
}
