/**
 * JSON lines: one row a line. A row is an array of numbers; an object with the row under `x` (an array, or an object from
 * feature number to value for sparse rows) and its label under `y`; an object with its text under `text`; or an object
 * with a number under each column's name, as a table. The first line decides which.
 */

import type { Label } from "@ranksim/core";
import { badCell, badFile, quoted } from "../bad-file.ts";
import type { Account } from "../budget.ts";
import type { Opened } from "../source.ts";
import { isMissing } from "../table/cells.ts";
import { type CellsBuilder, NumberCells } from "./cells-builder.ts";
import {
  type Columns,
  chooseColumns,
  factColumns,
  findColumn,
  guessedLabel,
  guessNotes,
  NO_COLUMNS,
} from "./columns.ts";
import { decoded } from "./encoding.ts";
import type { Reading, ReadOptions } from "./options.ts";
import { endOf, noRows, type RowBlocks } from "./reader.ts";
import { type OwnFeatures, RowsBuilder } from "./rows-builder.ts";
import { scanLines } from "./scan.ts";
import { SparseCells } from "./sparse-cells.ts";

type Row = { readonly [key: string]: unknown };

/** Bytes that a character of JSON can become: "[]," makes a list, and each "[" a level for the parser to come back to. */
const JSON_BYTES = 40;

/** Keys of a row that a message names at most. */
const MOST_NAMED = 12;

/** Lists and objects in one another, more than any row has: engines write only so many as text. */
const DEEPEST = 64;

/** The cure for a file that is one JSON array. */
const ONE_A_LINE = "; write each row on a line of its own, as jq -c '.[]' does";

/** Reads JSON lines. */
export async function* readJsonLines(opened: Opened, options: Reading): RowBlocks {
  const { name } = opened;
  const account = options.budget.of(name);
  let reader: RowReader | undefined;
  let isLabelled = false;
  let isTruth: boolean | undefined;
  const addLabel = (label: unknown, { labelKey, rows }: RowReader, line: number): void => {
    const isFound = isGiven(label);
    if (isFound !== isLabelled) {
      const key = quoted(labelKey ?? "");
      const expected = `expected ${isLabelled ? "a label" : "no label"} under ${key} as in the first row`;
      throw badFile(name, `line ${line}`, `${expected}, found ${describe(label)}`);
    }
    if (!isFound) return;
    isTruth ??= typeof label === "boolean";
    if (isTruth !== (typeof label === "boolean")) {
      const expected = isTruth ? "true or false" : "a string or a number";
      const found = describe(label);
      throw badFile(name, `line ${line}`, `expected ${expected} as label, as in the first row, found ${found}`);
    }
    rows.addLabel(checkedLabel(name, label, line));
  };
  const onLine = (window: Uint8Array, from: number, to: number, line: number): void => {
    const heap = JSON_BYTES * (to - from);
    account.takeHeap(heap);
    const text = decoded(name, line, window.subarray(from, to)).trim();
    if (text === "") {
      account.giveHeap(heap);
      return;
    }
    const value = parseLine(name, text, line);
    const row: Row = Array.isArray(value) ? { x: value } : (value as Row);
    reader ??= chooseReader(name, row, options);
    const { rows, names, labelKey } = reader;
    if (labelKey !== undefined && rows.leavesOut(row[labelKey])) {
      account.giveHeap(heap);
      return;
    }
    const isFirst = rows.rows + rows.taken === 0;
    isLabelled ||= (isFirst || options.emptyLabels === "keep") && isGiven(labelOf(row, reader));
    reader.add(row, line);
    if (labelKey === undefined || !rows.keepsEmpty(row[labelKey])) addLabel(labelOf(row, reader), reader, line);
    if (rows.hasFacts) {
      rows.addFacts(
        (c) => textOf(row[names[c]]),
        (c) => `line ${line}, key ${quoted(names[c])}`,
      );
    }
    rows.rows++;
    account.giveHeap(heap);
  };
  const rows = () => (reader as RowReader | undefined)?.rows;
  for await (const _ of scanLines(name, opened.stream, account, onLine, options.pace)) {
    const builder = rows();
    if (builder && builder.rows > 0) yield await builder.take();
  }
  const builder = rows();
  if (!builder || builder.rows + builder.taken === 0) throw noRows(name, builder?.leftOut);
  if (builder.rows > 0) yield await builder.take(true);
  return endOf(builder);
}

/** A value as the text of a cell. */
const textOf = (value: unknown): string =>
  typeof value === "string" ? value : isGiven(value) ? JSON.stringify(value) : "";

function parseLine(name: string, text: string, line: number): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const cure = line === 1 && text.startsWith("[") ? ONE_A_LINE : "";
    throw badFile(name, `line ${line}`, `expected one JSON value on the line, found ${quoted(text)}${cure}`, error);
  }
  if (Array.isArray(value) && typeof value[0] === "object" && value[0] !== null) {
    throw badFile(name, `line ${line}`, `expected one row on the line, found a list of ${value.length}${ONE_A_LINE}`);
  }
  if (typeof value !== "object" || value === null) {
    throw badFile(name, `line ${line}`, `expected an object or an array, found ${quoted(text)}`);
  }
  if (!isDeeper(value, DEEPEST)) return value;
  const expected = `expected lists and objects nested at most ${DEEPEST} levels deep`;
  throw badFile(name, `line ${line}`, `${expected}, found ${quoted(text)}`);
}

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || (Array.isArray(value) ? value : Object.values(value)).some((part) => isDeeper(part, levels - 1)));

function checkedLabel(name: string, label: unknown, line: number): Label | readonly Label[] {
  if ([label].flat().some((part) => Number.isInteger(part) && !Number.isSafeInteger(part))) {
    const found = "expected whole numbers up to 2^53 as labels, found a larger one that could be another";
    throw badFile(name, `line ${line}`, `${found}; write labels as strings`);
  }
  if (typeof label === "string" || (typeof label === "number" && Number.isFinite(label))) return label;
  if (typeof label === "boolean") return Number(label);
  if (Array.isArray(label) && label.every((part) => typeof part === "string" || typeof part === "number")) return label;
  throw badFile(
    name,
    `line ${line}`,
    `expected a string, a number or a list of them as label, found ${describe(label)}`,
  );
}

const labelOf = (row: Row, { labelKey }: RowReader): unknown => (labelKey === undefined ? undefined : row[labelKey]);
const isGiven = (label: unknown): boolean => label !== undefined && label !== null;

interface RowReader {
  /** The keys of the first row. */
  readonly names: readonly string[];
  readonly labelKey: string | undefined;
  readonly rows: RowsBuilder;
  /** Adds the features or the text of a row. */
  add(row: Row, line: number): void;
}

function chooseReader(name: string, first: Row, options: Reading): RowReader {
  const textKey = typeof options.textColumn === "string" ? options.textColumn : undefined;
  if (textKey === undefined && Array.isArray(first.x)) return denseRows(name, first, first.x.length, options);
  if (textKey === undefined && typeof first.x === "object" && first.x !== null) return sparseRows(name, first, options);
  if (options.textColumn !== undefined || typeof first.text === "string") {
    return textRows(name, first, textKey ?? "text", options);
  }
  return tableRows(name, first, options);
}

/** Rows that have all their features, or their text, under the key `row`. */
function underKey(name: string, first: Row, row: string, options: Reading, own: OwnFeatures) {
  const names = Object.keys(first);
  const labelKey = labelKeyOf(name, first, row, options);
  const isLabelled =
    labelKey !== undefined && ((options.emptyLabels ?? "refuse") !== "refuse" || isGiven(first[labelKey]));
  const facts = factColumns(name, names, names.length, options);
  const label = isLabelled ? names.indexOf(labelKey) : -1;
  const isGuessed = options.labelColumn === undefined && labelKey !== "y" && labelKey !== options.schema?.label;
  const text = own.features === undefined && own.cells === undefined ? names.indexOf(row) : -1;
  const notes = isGuessed ? guessNotes(names, label) : {};
  const columns = { ...NO_COLUMNS, ...facts, label, text, ...notes };
  return { names, labelKey, rows: new RowsBuilder(name, names, columns, options, own) };
}

/** The key of labels, in rows that have all else under the key `row`: as was said, as the model remembers, or as labels are called. */
function labelKeyOf(name: string, first: Row, row: string, { labelColumn, schema }: ReadOptions): string | undefined {
  if (labelColumn === null) return undefined;
  const names = Object.keys(first);
  if (typeof labelColumn === "string") {
    return names[findColumn(name, names, names.length, labelColumn, "labelColumn")];
  }
  if (typeof schema?.label === "string" && Object.hasOwn(first, schema.label)) return schema.label;
  return Object.hasOwn(first, "y") ? "y" : names[guessedLabel(name, names, (c) => names[c] !== row)];
}

function textRows(name: string, first: Row, textKey: string, options: Reading): RowReader {
  // The first row may lack its text, and is refused for it in its turn.
  const known = Object.hasOwn(first, textKey) ? first : { ...first, [textKey]: undefined };
  const reader = underKey(name, known, textKey, options, {});
  return {
    ...reader,
    add(row, line) {
      const value = row[textKey];
      if (typeof value === "string") return reader.rows.addText(value);
      const others = value === undefined ? Object.keys(row).slice(0, MOST_NAMED).map(quoted).join(", ") : "";
      throw badCell(name, `line ${line}`, {
        expected: `a string under ${quoted(textKey)}`,
        found: describe(value),
        ...(others ? { cure: (called) => `there is ${others}; ${called("textColumn")} names the key of texts` } : {}),
      });
    },
  };
}

function denseRows(name: string, first: Row, features: number, options: Reading): RowReader {
  const cells = (account: Account) => new NumberCells(name, options, account);
  const reader = underKey(name, first, "x", options, { features, cells });
  return {
    ...reader,
    add({ x }, line) {
      if (!Array.isArray(x)) throw badFile(name, `line ${line}`, `expected a list of numbers, found ${describe(x)}`);
      if (x.length !== features) {
        throw badFile(name, `line ${line}`, `expected ${features} numbers as in the first row, found ${x.length}`);
      }
      x.forEach((value, i) => {
        const where = () => `line ${line}, column ${i}`;
        if (typeof value === "string") throw badFile(name, where(), `expected a number, found ${describe(value)}`);
        addCell(name, reader.rows.cells, value, where);
      });
    },
  };
}

function sparseRows(name: string, first: Row, options: Reading): RowReader {
  let cells: SparseCells | undefined;
  const reader = underKey(name, first, "x", options, {
    cells: (account) => (cells = new SparseCells(name, options, account)),
  });
  const { builder } = cells as unknown as SparseCells;
  return {
    ...reader,
    add(row, line) {
      const { x } = row;
      if (typeof x !== "object" || x === null || Array.isArray(x)) {
        throw badFile(name, `line ${line}`, `expected an object from feature to value, found ${describe(x)}`);
      }
      if (typeof row.features === "number")
        (cells as SparseCells).features = Math.max((cells as SparseCells).features, row.features);
      for (const [key, value] of Object.entries(x)) {
        const feature = Number(key);
        if (!Number.isInteger(feature) || feature < 0 || feature >= 2 ** 32 - 1 || typeof value !== "number") {
          throw badFile(
            name,
            `line ${line}`,
            `expected a feature number and a number as value, found ${quoted(`${key}: ${value}`)}`,
          );
        }
        builder.add(feature, value, `line ${line}`);
      }
      builder.endRow(`line ${line}`);
    },
  };
}

function tableRows(name: string, first: Row, options: Reading): RowReader {
  const names = Object.keys(first);
  const columns: Columns = chooseColumns(name, names, names.length, options);
  const features = columns.features.map((c) => names[c]);
  const known = new Set(names);
  const rows = new RowsBuilder(name, names, columns, options);
  return {
    names,
    rows,
    labelKey: columns.label < 0 ? undefined : names[columns.label],
    add(row, line) {
      for (const key of Object.keys(row)) {
        if (!known.has(key) && options.schema === undefined) {
          const cure = "give the first row all keys, with null where it has no value";
          throw badFile(
            name,
            `line ${line}`,
            `expected the keys of the first row, found ${quoted(key)} as well; ${cure}`,
          );
        }
      }
      for (const key of features) addCell(name, rows.cells, row[key], () => `line ${line}, key ${quoted(key)}`);
    },
  };
}

function addCell(name: string, builder: CellsBuilder, value: unknown, where: () => string): void {
  if (typeof value === "number") {
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER && builder.keepsSpelling?.()) {
      const found = "expected categories that can be told apart, found a number beyond 2^53 that could be another";
      throw badFile(name, where(), `${found}; write it as a string`);
    }
    builder.add(value);
  } else if (typeof value === "boolean") builder.add(Number(value));
  else if (value === null || value === undefined) builder.addMissing(where);
  else if (typeof value === "string") {
    if (isMissing(value)) builder.addMissing(where);
    else builder.addText(value, where);
  } else throw badFile(name, where(), `expected a number, found ${describe(value)}`);
}

function describe(value: unknown): string {
  return value === undefined ? "nothing" : quoted(JSON.stringify(value));
}
