/** Numbers and names as people read them. */

import type { Basis } from "../protocol.ts";

/** A count with separators. */
export const count = (value: number): string => value.toLocaleString("en");

/** "1 row", "2 rows", "3 classes". */
export const counted = (value: number, noun: string, plural = `${noun}s`): string =>
  `${count(value)} ${value === 1 ? noun : plural}`;

/** A share as a percentage. */
export const percent = (share: number, digits = 0): string => `${(share * 100).toFixed(digits)}\u00a0%`;

/** A share with enough digits to tell models apart. */
export const score = (share: number): string => share.toFixed(3);

/** A response of a filter: four digits, whatever its size. */
export const response = (number: number): string =>
  Math.abs(number) >= 1000 ? count(Math.round(number)) : number.toPrecision(4);

/** A value as short as it can be told. */
export function value(number: number): string {
  if (Number.isInteger(number)) return count(number);
  const size = Math.abs(number);
  return size >= 1000 || size < 0.001 ? number.toExponential(1) : String(Number(number.toPrecision(3)));
}

/** Bytes in the unit people expect. */
export function bytes(length: number): string {
  if (length < 1000) return `${length} B`;
  return length < 1e6 ? `${(length / 1e3).toFixed(1)} kB` : `${(length / 1e6).toFixed(1)} MB`;
}

/** Seconds, or milliseconds where that reads better. */
export const duration = (seconds: number): string =>
  seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;

/** The name of a feature; else its place in the picture, or its number. */
export function featureName(name: string | undefined, feature: number, size?: { width: number }): string {
  if (name !== undefined) return name;
  return size ? `pixel ${feature % size.width}, ${Math.floor(feature / size.width)}` : `feature ${feature}`;
}

const ACCURACY: { readonly [basis in Basis]: string } = {
  "held-out": "Held-out accuracy",
  new: "Accuracy, new rows",
  training: "Accuracy, training rows",
  unknown: "Accuracy, rows it may know",
};

/** What an accuracy is one of: rows that a model was trained on say little, and are always named as such. */
export const accuracyTitle = (basis: Basis): string => ACCURACY[basis];

const ROWS: { readonly [basis in Basis]: string } = {
  "held-out": "held-out row",
  new: "new row",
  training: "training row",
  unknown: "row",
};

/** "449 held-out rows". */
export const judgedRows = (rows: number, basis: Basis): string => counted(rows, ROWS[basis]);
