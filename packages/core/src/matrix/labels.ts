/**
 * Labels: any strings or numbers (deviation 19). They become class numbers 0..c-1 at once and turn back into names only when a model
 * answers. Several labels per row (multilabel) come as label sets or as a 0/1 matrix, one column per label.
 */

import { describeGiven, RanksimError } from "../errors.ts";
import { Csr } from "./csr.ts";
import { asMatrix, isMatrix, type Matrix } from "./matrix.ts";

/** The name of a class. The number 1 and the string "1" are two names. */
export type Label = string | number;

/** One label per row. */
export type Labels = ArrayLike<Label>;

/** Several labels per row: a list of labels for each row, or a 0/1 matrix (rows x labels). */
export type LabelSets = readonly (readonly Label[])[] | Matrix;

/** One label per row, encoded. */
export interface Encoded {
  /** The names, numbers before strings, each in ascending order. */
  readonly classes: readonly Label[];
  /** Class number of each row. */
  readonly codes: Uint32Array;
}

/** Several labels per row, encoded. */
export interface EncodedSets {
  readonly labels: readonly Label[];
  /** rows x labels, value 1 where the row has the label. */
  readonly present: Csr;
}

/** Orders labels: numbers before strings, numbers by size, strings by code units. */
export function compareLabels(a: Label, b: Label): number {
  if (typeof a === "number") return typeof b === "number" ? a - b : -1;
  if (typeof b === "number") return 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Encodes one label per row and checks the count. */
export function encodeLabels(y: Labels, rows: number): Encoded {
  checkCount(y, rows);
  const found = new Map<Label, number>(); // numbered as they come
  const codes = new Uint32Array(rows);
  for (let r = 0; r < rows; r++) {
    const label = checkLabel(y[r], r);
    const known = found.get(label);
    codes[r] = known ?? found.size;
    if (known === undefined) found.set(label, found.size);
  }
  const classes = [...found.keys()].sort(compareLabels);
  const inOrder = new Uint32Array(classes.length);
  classes.forEach((name, c) => {
    inOrder[found.get(name) as number] = c;
  });
  for (let r = 0; r < rows; r++) codes[r] = inOrder[codes[r]];
  return { classes, codes };
}

/** Encodes label sets or a 0/1 matrix and checks the count. */
export function encodeSets(y: LabelSets, rows: number): EncodedSets {
  if (isMatrix(y)) {
    if (y.rows !== rows) throw wrongCount(rows, y.rows);
    return encodeIndicator(asMatrix(y));
  }
  checkCount(y, rows);
  const found = new Set<Label>();
  for (let r = 0; r < rows; r++) {
    const seen = new Set<Label>();
    for (const label of y[r]) {
      checkLabel(label, r);
      if (seen.has(label)) {
        throw new RanksimError(
          "bad-labels",
          `row ${r} lists label ${JSON.stringify(label)} twice; pass a 0/1 matrix as Dense.fromRows(...)`,
        );
      }
      seen.add(label);
      found.add(label);
    }
  }
  const labels = [...found].sort(compareLabels);
  const code = new Map(labels.map((name, c) => [name, c]));
  const sets = Array.from(y, (set) => set.map((label) => [code.get(label) as number, 1] as const));
  return { labels, present: Csr.fromRows(sets, labels.length) };
}

/** Class numbers of labels among known classes. Others are refused. */
export function codesAmong(y: Labels, classes: readonly Label[], rows: number): Uint32Array {
  const found = encodeLabels(y, rows);
  const code = positionsAmong(found.classes, classes);
  return found.codes.map((c) => code[c]);
}

/** Label sets over known labels, rows x labels. Others are refused. */
export function setsAmong(y: LabelSets, labels: readonly Label[], rows: number): Csr {
  const found = encodeSets(y, rows);
  const code = positionsAmong(found.labels, labels);
  const { offsets, indices } = found.present;
  const sets = Array.from({ length: rows }, (_, r) =>
    Array.from(indices.subarray(offsets[r], offsets[r + 1]), (c) => [code[c], 1] as const),
  );
  return Csr.fromRows(sets, labels.length);
}

function positionsAmong(found: readonly Label[], known: readonly Label[]): number[] {
  refuseOtherType(found, new Set(known), "the model has");
  const code = new Map(known.map((name, c) => [name, c]));
  return found.map((name) => {
    const c = code.get(name);
    if (c === undefined) {
      throw new RanksimError("bad-labels", `label ${JSON.stringify(name)} is none of the model's ${known.length}`);
    }
    return c;
  });
}

/**
 * Refuses labels that are not known where the same spelling in the other type is, "0" where there is 0 or 0 where there is "0":
 * compared as they are, every one of them would be wrong.
 */
export function refuseOtherType(labels: Iterable<Label>, known: ReadonlySet<Label>, whoHas: string): void {
  for (const label of labels) {
    if (known.has(label)) continue;
    const twin = typeof label === "number" ? String(label) : String(Number(label)) === label ? Number(label) : label;
    if (!known.has(twin)) continue;
    const [found, there, cure] =
      typeof label === "number" ? ["number", "string", "String"] : ["string", "number", "Number"];
    throw new RanksimError(
      "bad-labels",
      `label ${JSON.stringify(label)} is a ${found} where ${whoHas} the ${there} ${JSON.stringify(twin)}; ` +
        `give all labels one type, as Array.from(y, ${cure}) does`,
    );
  }
}

/** A 0/1 matrix: the labels are the column numbers. */
function encodeIndicator(y: Matrix): EncodedSets {
  const sets: [number, number][][] = [];
  for (let r = 0; r < y.rows; r++) {
    const set: [number, number][] = [];
    const from = y.form === "dense" ? r * y.features : y.offsets[r];
    const to = y.form === "dense" ? from + y.features : y.offsets[r + 1];
    for (let e = from; e < to; e++) {
      const value = y.values[e];
      const column = y.form === "dense" ? e - from : y.indices[e];
      if (value !== 0 && value !== 1) {
        throw new RanksimError("bad-labels", `row ${r}, column ${column}: expected 0 or 1, found ${value}`);
      }
      if (value === 1) set.push([column, 1]);
    }
    sets.push(set);
  }
  return { labels: Array.from({ length: y.features }, (_, c) => c), present: Csr.fromRows(sets, y.features) };
}

/** Whether `y` holds several labels per row. */
export function isLabelSets(y: Labels | LabelSets): y is LabelSets {
  return isMatrix(y) || (Array.isArray(y) && y.length > 0 && y.every(Array.isArray));
}

/** Refuses several labels per row where a model has one, and the other way round. */
export function refuseOtherForm(y: Labels | LabelSets, several: boolean): void {
  if (isLabelSets(y) === several) return;
  throw new RanksimError(
    "bad-labels",
    several
      ? "expected label sets, as the model has several labels"
      : "expected one label for each row, found label sets",
  );
}

function checkCount(y: ArrayLike<unknown>, rows: number): void {
  if (y === null || typeof y !== "object" || typeof y.length !== "number") {
    throw new RanksimError("bad-labels", `expected an array of ${rows} labels, found ${describeGiven(y)}`);
  }
  if (y.length !== rows) throw wrongCount(rows, y.length);
}

function wrongCount(rows: number, found: number): RanksimError {
  return new RanksimError("bad-labels", `expected ${rows} labels, one for each row, found ${found}`);
}

function checkLabel(label: unknown, row: number): Label {
  if (typeof label === "string" || (typeof label === "number" && Number.isFinite(label))) return label;
  throw new RanksimError(
    "bad-labels",
    `row ${row}: expected a string or a finite number as label, found ${typeof label === "bigint" ? describeGiven(label) : String(label)}`,
  );
}
