/** The codes of columns as plain data, and back without trust. */

import { RanksimError, type Saved, type SavedArray, type SchemaColumn } from "@ranksim/core";
import { type TextModel, textReaders } from "../text/readers.ts";
import { badSaved, readVocabulary, vocabularyArrays } from "../text/vocabulary.ts";
import { type ColumnCode, DATE_PARTS } from "./column-code.ts";
import { plainNumber } from "./numbers.ts";
import { checkTableParams, type TableParams } from "./params.ts";

/** Parts of a column that have knots. */
const partsOf = (type: SchemaColumn["type"]): number =>
  type === "number" || type === "time" ? 1 : type === "date" ? DATE_PARTS.length : 0;

/** Codes as they are stored: the words of all columns one after another, the knots of all parts, and a step for each column of texts. */
export function savedCodes(codes: readonly ColumnCode[]): Pick<Saved, "meta" | "arrays" | "steps"> {
  const columns = codes.map(({ parts: _, words, text: __, ...rest }) => ({ ...rest, words: words.length }));
  const steps = codes.flatMap(({ text }) => (text ? [text.save()] : []));
  const parts = codes.flatMap((code) => code.parts);
  const offsets = new Uint32Array(parts.length + 1);
  parts.forEach((knots, p) => {
    offsets[p + 1] = offsets[p] + knots.length;
  });
  const knots = new Float64Array(offsets[parts.length]);
  parts.forEach((own, p) => {
    knots.set(own, offsets[p]);
  });
  const words = codes.flatMap((code) => code.words);
  return {
    meta: { columns },
    arrays: {
      knots: { shape: [knots.length], values: knots },
      knot_offsets: { shape: [offsets.length], values: offsets },
      ...wordArrays(words),
    },
    ...(steps.length > 0 ? { steps } : {}),
  };
}

function wordArrays(words: readonly string[]): { [name: string]: SavedArray } {
  return words.length === 0 ? {} : vocabularyArrays(words);
}

/** Reads what `savedCodes` wrote; refuses (code "bad-file") anything else. */
export function readTableModel(saved: Saved): { readonly codes: readonly ColumnCode[]; readonly params: TableParams } {
  const { columns } = saved.meta;
  if (!Array.isArray(columns) || columns.length === 0) throw badSaved(saved, "expected a list of columns");
  const stored = columns.map((column, c) => readColumn(saved, column, c));
  if (new Set(stored.map(({ name }) => name)).size !== stored.length) {
    throw badSaved(saved, "expected columns of different names");
  }
  const parts = readParts(
    saved,
    stored.reduce((sum, { type }) => sum + partsOf(type), 0),
  );
  const count = stored.reduce((sum, { words }) => sum + words, 0);
  const words = count === 0 && saved.arrays.term_bytes === undefined ? [] : readVocabulary(saved, true).terms;
  if (words.length !== count) throw badSaved(saved, `expected ${count} words, found ${words.length}`);
  const texts = stored.filter(({ type }) => type === "text").length;
  const { steps = [] } = saved;
  if (steps.length !== texts)
    throw badSaved(saved, `expected ${texts} steps, one for each text, found ${steps.length}`);
  let [part, word, step] = [0, 0, 0];
  const codes = stored.map(({ words: own, ...column }): ColumnCode => {
    const list = words.slice(word, word + own);
    word += own;
    part += partsOf(column.type);
    if (new Set(list).size !== own)
      throw badSaved(saved, `column ${column.name}: expected words that are all different`);
    const isNumber = column.type === "number" || column.type === "time";
    if (isNumber && list.some((spelt) => Number.isNaN(plainNumber(spelt))))
      throw badSaved(saved, `column ${column.name}: expected numbers with features of their own`);
    const text = column.type === "text" ? { text: readVectorizer(saved, steps[step++]) } : {};
    return { ...column, parts: parts.slice(part - partsOf(column.type), part), words: list, ...text };
  });
  return { codes, params: readParams(saved) };
}

function readVectorizer(saved: Saved, step: Saved): TextModel {
  const reader = textReaders.find(({ kind }) => kind === step.kind);
  if (!reader) throw badSaved(saved, `expected a vectoriser for a column of texts, found a ${step.kind}`);
  return reader.read(step, () => {
    throw badSaved(step, "expected no steps");
  });
}

type StoredColumn = Omit<ColumnCode, "parts" | "words" | "text"> & { readonly words: number };

function readColumn(saved: Saved, column: unknown, c: number): StoredColumn {
  const { name, type, decimal, thousands, unit, order, missing, written, other, gaps, words, ...rest } = (column ??
    {}) as {
    [key: string]: unknown;
  };
  const isOneOf = (value: unknown, ...choices: readonly unknown[]) => value === undefined || choices.includes(value);
  const hasWords = type === "category" || type === "number" || type === "time" || (type === "boolean" && words === 2);
  const isColumn =
    typeof name === "string" &&
    ["number", "category", "boolean", "date", "time", "text"].includes(type as string) &&
    isOneOf(decimal, ",") &&
    isOneOf(thousands, ",", ".", " ", "'") &&
    isOneOf(typeof unit, "string", "undefined") &&
    isOneOf(order, "dmy", "mdy", "seconds", "milliseconds") &&
    (missing === undefined || (Array.isArray(missing) && missing.every((cell) => typeof cell === "string"))) &&
    isOneOf(written, type === "category" || undefined) &&
    Object.keys(rest).length === 0 &&
    typeof other === "boolean" &&
    typeof gaps === "boolean" &&
    Number.isInteger(words) &&
    (words as number) >= 0 &&
    (type === "category" || !other) &&
    (words === 0 || hasWords);
  if (!isColumn) throw badSaved(saved, `column ${c}: expected a name, a type and what was learned of it`);
  return column as StoredColumn;
}

function readParts(saved: Saved, count: number): Float64Array[] {
  const knots = saved.arrays.knots?.values;
  const offsets = saved.arrays.knot_offsets?.values;
  if (!(knots instanceof Float64Array) || !(offsets instanceof Uint32Array) || offsets.length !== count + 1) {
    throw badSaved(saved, `expected knots with ${count + 1} offsets`);
  }
  if (offsets[0] !== 0 || offsets[count] !== knots.length) throw badSaved(saved, "expected offsets over all knots");
  return Array.from({ length: count }, (_, p) => {
    if (offsets[p + 1] < offsets[p]) throw badSaved(saved, `part ${p}: expected offsets that do not fall`);
    const own = knots.slice(offsets[p], offsets[p + 1]);
    if (own.some((knot, j) => j > 0 && !(knot > own[j - 1]))) throw badSaved(saved, `part ${p}: expected rising knots`);
    return own;
  });
}

function readParams(saved: Saved): TableParams {
  const { params } = saved.meta;
  if (typeof params !== "object" || params === null || Array.isArray(params) || "types" in params) {
    throw badSaved(saved, "expected its parameters as an object");
  }
  try {
    return checkTableParams(params as Partial<TableParams>);
  } catch (cause) {
    if (cause instanceof RanksimError) throw badSaved(saved, cause.message, cause);
    throw cause;
  }
}
