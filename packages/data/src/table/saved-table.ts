/** The codes of columns as plain data, and back without trust. */

import { RanksimError, type Saved, type SavedArray, type SchemaColumn } from "@ranksim/core";
import { badSaved, readVocabulary, vocabularyArrays } from "../text/vocabulary.ts";
import { type ColumnCode, DATE_PARTS } from "./column-code.ts";
import { checkTableParams, type TableParams } from "./params.ts";

/** Parts of a column that have knots. */
const partsOf = (type: SchemaColumn["type"]): number =>
  type === "number" ? 1 : type === "date" ? DATE_PARTS.length : 0;

/** Codes as they are stored: the words of all columns one after another, and the knots of all parts. */
export function savedCodes(codes: readonly ColumnCode[]): Pick<Saved, "meta" | "arrays"> {
  const columns = codes.map(({ parts: _, words, ...rest }) => ({ ...rest, words: words.length }));
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
  };
}

function wordArrays(words: readonly string[]): { [name: string]: SavedArray } {
  return words.length === 0 ? {} : vocabularyArrays(words);
}

/** Reads what `savedCodes` wrote; refuses (code "bad-file") anything else. */
export function readTableModel(saved: Saved): { readonly codes: readonly ColumnCode[]; readonly params: TableParams } {
  const allowed = ["knots", "knot_offsets", "term_bytes", "term_offsets"];
  for (const name of Object.keys(saved.arrays)) {
    if (!allowed.includes(name)) throw badSaved(saved, `unknown array ${name}`);
  }
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
  let [part, word] = [0, 0];
  const codes = stored.map(({ words: own, ...column }): ColumnCode => {
    const list = words.slice(word, word + own);
    word += own;
    part += partsOf(column.type);
    if (new Set(list).size !== own)
      throw badSaved(saved, `column ${column.name}: expected words that are all different`);
    return { ...column, parts: parts.slice(part - partsOf(column.type), part), words: list };
  });
  return { codes, params: readParams(saved) };
}

type StoredColumn = Omit<ColumnCode, "parts" | "words"> & { readonly words: number };

function readColumn(saved: Saved, column: unknown, c: number): StoredColumn {
  const { name, type, decimal, order, other, gaps, words, ...rest } = (column ?? {}) as { [key: string]: unknown };
  const isColumn =
    typeof name === "string" &&
    ["number", "category", "boolean", "date"].includes(type as string) &&
    (decimal === undefined || decimal === ",") &&
    (order === undefined || order === "dmy" || order === "mdy") &&
    typeof other === "boolean" &&
    typeof gaps === "boolean" &&
    Number.isInteger(words) &&
    (words as number) >= 0 &&
    (type === "category" || !other) &&
    (type === "category" || words === 0 || (type === "boolean" && words === 2)) &&
    Object.keys(rest).length === 0;
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
