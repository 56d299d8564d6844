/** Predictions as text, block by block, so that any number of rows fits: plain lines, CSV or JSON lines. */

import type { Dense, Label } from "@ranksim/core";
import { usageError } from "../flags/usage-error.ts";
import { printableJson } from "../terminal/style.ts";

/** Predictions of some rows. */
export interface AnswerBlock {
  /** The class of each row, or several; null for a row that is given none. */
  readonly labels: readonly (Label | readonly Label[] | null)[];
  readonly probabilities: Dense | undefined;
  /** The classes that cannot be ruled out for each row, where these are written. */
  readonly sets?: readonly (readonly Label[])[] | undefined;
  /** What kept columns hold in each row; empty where none are kept. */
  readonly kept: readonly (readonly string[])[];
}

/** What all answers have in common. */
export interface AnswerShape {
  readonly classes: readonly Label[];
  /** The names of the kept columns. */
  readonly keptNames: readonly string[];
  /** Whether the probability of every class is written. */
  readonly probabilities: boolean;
  /** How many of the most probable classes are written; 0 for none. */
  readonly top: number;
  /** Whether sets of classes are written. */
  readonly sets?: boolean;
  /** What is written in a table for rows that are given no class; default: nothing. */
  readonly none?: string;
}

/** Formats of answers by the names that --out-format takes. */
export const ANSWER_FORMATS = ["lines", "csv", "jsonl", "npy", "npz", "parquet"] as const;
export type AnswerFormat = (typeof ANSWER_FORMATS)[number];

const ENDINGS: { readonly [ending: string]: AnswerFormat } = {
  txt: "lines",
  csv: "csv",
  jsonl: "jsonl",
  ndjson: "jsonl",
  npy: "npy",
  npz: "npz",
  parquet: "parquet",
};

/** By the ending of the file's name; more than a label needs a table. An ending that promises something else is refused. */
export function answerFormat(path: string, given: AnswerFormat | undefined, isTable: boolean): AnswerFormat {
  if (given !== undefined) return given;
  const ending = /\.([a-z0-9]+)$/i.exec(path)?.[1].toLowerCase();
  if (ending !== undefined && !Object.hasOwn(ENDINGS, ending)) {
    throw usageError(`--out: expected a name ending in .${Object.keys(ENDINGS).join(", .")}, found ${path}`);
  }
  const format = ending === undefined ? "lines" : ENDINGS[ending];
  return format === "lines" && isTable ? "csv" : format;
}

/** Names for kept columns beside those of the answers: a column of labels is kept as "label (kept)". */
export function keptNamesOf(names: readonly string[], classes: readonly Label[]): string[] {
  const taken = new Set(["label", "top", "probabilities", ...classes.map(String)]);
  return names.map((name) => (taken.has(name) || /^(label|probability) \d+$/.test(name) ? `${name} (kept)` : name));
}

/** The names of the columns of a table of answers. */
export function columnNames({ classes, keptNames, probabilities, top, sets }: AnswerShape): string[] {
  const places = Array.from({ length: top }, (_, k) => [`label ${k + 1}`, `probability ${k + 1}`]).flat();
  return [...keptNames, "label", ...(sets ? ["set"] : []), ...places, ...(probabilities ? classes.map(String) : [])];
}

/** The most probable classes of a row, the most probable first, of equal ones the first by name. */
export function topOf(row: ArrayLike<number>, top: number): number[] {
  return Array.from({ length: row.length }, (_, c) => c)
    .sort((a, b) => row[b] - row[a] || a - b)
    .slice(0, top);
}

/** A row of a table of answers, as values. */
export function cellsOf(
  block: AnswerBlock,
  r: number,
  { classes, probabilities, top, none = "" }: AnswerShape,
): (Label | number)[] {
  const row = block.probabilities?.row(r) ?? [];
  const places = top === 0 ? [] : topOf(row, top).flatMap((c) => [classes[c], row[c]]);
  const set = block.sets ? [several(block.sets[r])] : [];
  const label = block.labels[r] === null ? none : several(block.labels[r]);
  return [...(block.kept[r] ?? []), label, ...set, ...places, ...(probabilities ? Array.from(row) : [])];
}

/** The answers as text, a piece for each block. */
export async function* answersAsText(
  blocks: AsyncIterable<AnswerBlock>,
  format: "lines" | "csv" | "jsonl",
  shape: AnswerShape,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  // The names come with the first rows: data that is refused leaves no half table behind.
  let head = format === "csv" ? `${columnNames(shape).map(field).join(",")}\n` : "";
  const known = new Map<Label, Uint8Array>();
  for await (const block of blocks) {
    const plain = format === "lines" ? plainLines(block.labels, known) : undefined;
    const lines = plain ? [] : block.labels.map((_, r) => `${lineOf(block, r, format, shape)}\n`);
    yield plain ?? encoder.encode(head + lines.join(""));
    head = "";
  }
}

/**
 * Lines of one label each, where there is no other, in a tenth of the time: a class is written as bytes once. `known` has those so far,
 * no more than there are classes.
 */
function plainLines(labels: AnswerBlock["labels"], known: Map<Label, Uint8Array>): Uint8Array | undefined {
  let size = 0;
  for (const label of labels) {
    if (label === null || typeof label === "object") return undefined;
    let line = known.get(label);
    if (line === undefined) {
      line = new TextEncoder().encode(`${lineOfLabel(label)}\n`);
      known.set(label, line);
    }
    size += line.length;
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const label of labels) {
    const line = known.get(label as Label) as Uint8Array;
    // Most are a few bytes long.
    for (let j = 0; j < line.length; j++) bytes[at++] = line[j];
  }
  return bytes;
}

function lineOf(block: AnswerBlock, r: number, format: "lines" | "csv" | "jsonl", shape: AnswerShape): string {
  switch (format) {
    case "lines":
      return lineOfLabel(block.labels[r]);
    case "csv":
      // An empty line would be no row to those who read it: quotes keep a row of one empty field.
      return (
        cellsOf(block, r, shape)
          .map((cell) => field(String(cell)))
          .join(",") || '""'
      );
    case "jsonl":
      return printableJson(objectOf(block, r, shape));
  }
}

function objectOf(block: AnswerBlock, r: number, { classes, keptNames, probabilities, top }: AnswerShape): object {
  const row = block.probabilities?.row(r) ?? [];
  return {
    ...Object.fromEntries(keptNames.map((name, k) => [name, block.kept[r][k]])),
    label: block.labels[r],
    ...(block.sets ? { set: block.sets[r] } : {}),
    ...(top === 0 ? {} : { top: topOf(row, top).map((c) => ({ label: classes[c], probability: row[c] })) }),
    ...(probabilities ? { probabilities: Object.fromEntries(classes.map((name, c) => [name, row[c]])) } : {}),
  };
}

const lineOfLabel = (label: AnswerBlock["labels"][number]): string => several(label).replace(/[\r\n]+/g, " ");

/** Several labels are written as a line of CSV: a label with a comma is quoted, and the empty label differs from the empty set. */
const several = (label: Label | readonly Label[] | null): string =>
  label === null
    ? ""
    : typeof label === "object"
      ? label.map((one) => field(String(one)) || '""').join(",")
      : String(label);

/** A field of CSV, quoted where it has to be. */
export const field = (text: string): string =>
  /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
