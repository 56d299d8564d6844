/**
 * JSON lines: one row a line. A row is an array of numbers; an object with the row under `x` (an array, or an object from
 * feature number to value for sparse rows) and its label under `y`; an object with its text under `text`; or an object
 * with a number under each column's name, as a table. The first line decides which.
 */

import type { Label } from "@ranksim/core";
import { badFile, quoted } from "../bad-file.ts";
import { type Account, budgetOf } from "../budget.ts";
import type { DataSet, Found, RowLabels } from "../data-set.ts";
import type { Opened } from "../source.ts";
import { isMissing } from "../table/cells.ts";
import { type CellsBuilder, cellsBuilder } from "./cells-builder.ts";
import { type Columns, chooseColumns, findColumn, foundIn, labelNamed, withFound } from "./columns.ts";
import { CsrBuilder } from "./csr-builder.ts";
import { DenseBuilder, LabelBuilder } from "./dense-builder.ts";
import { decoded } from "./encoding.ts";
import type { ReadOptions } from "./options.ts";
import { scanLines } from "./scan.ts";

type Row = { readonly [key: string]: unknown };

/** The option by which blocks of one file are read alike: the first row of all says what every row holds, and in which order. */
export interface FirstRow {
  readonly firstRow?: { row?: Row };
}

/** Bytes that a character of JSON can become: "[]," makes a list. */
const JSON_BYTES = 24;

/** Keys of a row that a message names at most. */
const MOST_NAMED = 12;

/** The cure for a file that is one JSON array. */
const ONE_A_LINE = "; write each row on a line of its own, as jq -c '.[]' does";

/** Reads JSON lines. */
export async function readJsonLines(opened: Opened, options: ReadOptions & FirstRow): Promise<DataSet> {
  const { name } = opened;
  const { firstRow = {} } = options;
  let rows: RowReader | undefined;
  const account = budgetOf(options).of(name);
  const labels = new LabelBuilder(account, options);
  let labelled = false;
  await scanLines(name, opened.stream, account, (window, from, to, line) => {
    const heap = JSON_BYTES * (to - from);
    account.takeHeap(heap);
    const text = decoded(name, line, window.subarray(from, to)).trim();
    if (text === "") return account.giveHeap(heap);
    const value = parseLine(name, text, line);
    const row: Row = Array.isArray(value) ? { x: value } : (value as Row);
    if (rows === undefined) {
      firstRow.row ??= row;
      rows = chooseReader(name, firstRow.row, options);
      labelled = isGiven(labelOf(firstRow.row, rows));
    }
    rows.add(row, line);
    const label = labelOf(row, rows);
    const found = isGiven(label);
    if (found !== labelled) {
      throw badFile(name, `line ${line}`, `expected ${labelled ? "a" : "no"} label as in the first row`);
    }
    if (found) labels.add(checkedLabel(name, label, line));
    account.giveHeap(heap);
  });
  if (rows === undefined) throw badFile(name, "", "expected at least one row, found none");
  return rows.finish(labelled ? labels.finish() : undefined);
}

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
  if (typeof value === "object" && value !== null) return value;
  throw badFile(name, `line ${line}`, `expected an object or an array, found ${quoted(text)}`);
}

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
  readonly labelKey: string | undefined;
  add(row: Row, line: number): void;
  finish(y: RowLabels | undefined): Promise<DataSet> | DataSet;
}

function chooseReader(name: string, first: Row, options: ReadOptions): RowReader {
  const textKey = typeof options.textColumn === "string" ? options.textColumn : undefined;
  const own = (row: string) => labelKeyOf(name, first, row, options);
  if (textKey === undefined && Array.isArray(first.x)) return denseRows(name, own("x"), first.x.length, options);
  if (textKey === undefined && typeof first.x === "object" && first.x !== null)
    return sparseRows(name, own("x"), options);
  if (options.textColumn !== undefined || typeof first.text === "string") {
    const text = textKey ?? "text";
    return textRows(name, text, own(text), budgetOf(options).of(name));
  }
  return tableRows(name, first, options);
}

/** The key of labels, in rows that have all else under the key `row`: as was said, as the model remembers, or as labels are called. */
function labelKeyOf(name: string, first: Row, row: string, { labelColumn, schema }: ReadOptions): string | undefined {
  if (labelColumn === null) return undefined;
  const names = Object.keys(first);
  if (typeof labelColumn === "string") {
    return names[findColumn(name, names, names.length, labelColumn, "labelColumn")];
  }
  if (typeof schema?.label === "string" && Object.hasOwn(first, schema.label)) return schema.label;
  return Object.hasOwn(first, "y") ? "y" : names[labelNamed(names, (c) => names[c] !== row)];
}

/** What was found, where rows have labels. */
const foundLabel = (y: RowLabels | undefined, labelKey: string | undefined): Found =>
  y === undefined || labelKey === undefined ? {} : { label: labelKey };

function textRows(name: string, textKey: string, labelKey: string | undefined, account: Account): RowReader {
  const text: string[] = [];
  return {
    labelKey,
    add(row, line) {
      const value = row[textKey];
      if (typeof value !== "string") {
        const others = value === undefined ? Object.keys(row).slice(0, MOST_NAMED).map(quoted).join(", ") : "";
        const cure = others && `; there is ${others}; \`textColumn\` names the key of texts`;
        throw badFile(
          name,
          `line ${line}`,
          `expected a string under ${quoted(textKey)}, found ${describe(value)}${cure}`,
        );
      }
      account.takeText(2 * value.length);
      text.push(value);
    },
    finish: (y) => ({ form: "text", text, ...(y ? { y } : {}), found: { ...foundLabel(y, labelKey), text: textKey } }),
  };
}

function denseRows(name: string, labelKey: string | undefined, features: number, options: ReadOptions): RowReader {
  const builder = new DenseBuilder(name, options);
  let rows = 0;
  return {
    labelKey,
    add(row, line) {
      const { x } = row;
      if (!Array.isArray(x)) throw badFile(name, `line ${line}`, `expected a list of numbers, found ${describe(x)}`);
      if (x.length !== features) {
        throw badFile(name, `line ${line}`, `expected ${features} numbers as in the first row, found ${x.length}`);
      }
      x.forEach((value, i) => {
        addCell(name, builder, value, `line ${line}, column ${i}`);
      });
      rows++;
    },
    async finish(y) {
      const x = await builder.finish(rows, features);
      const found = { ...foundLabel(y, labelKey), ...(builder.fill ? { fill: builder.fill } : {}) };
      return { form: "matrix", x, ...(y ? { y } : {}), ...(Object.keys(found).length > 0 ? { found } : {}) };
    },
  };
}

function sparseRows(name: string, labelKey: string | undefined, options: ReadOptions): RowReader {
  const builder = new CsrBuilder(name, budgetOf(options).of(name));
  let features = options.features ?? 0;
  return {
    labelKey,
    add(row, line) {
      const { x } = row;
      if (typeof x !== "object" || x === null || Array.isArray(x)) {
        throw badFile(name, `line ${line}`, `expected an object from feature to value, found ${describe(x)}`);
      }
      if (typeof row.features === "number") features = Math.max(features, row.features);
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
    async finish(y) {
      const x = await builder.finish(options.features ?? Math.max(features, builder.largest + 1));
      return { form: "matrix", x, ...(y ? { y, found: foundLabel(y, labelKey) } : {}) };
    },
  };
}

function tableRows(name: string, first: Row, options: ReadOptions): RowReader {
  const names = Object.keys(first);
  const columns: Columns = chooseColumns(name, names, names.length, options);
  const featureNames = columns.features.map((c) => names[c]);
  const known = new Set(names);
  const builder = cellsBuilder(name, options, featureNames.length);
  let rows = 0;
  return {
    labelKey: columns.label < 0 ? undefined : names[columns.label],
    add(row, line) {
      for (const key of Object.keys(row)) {
        if (!known.has(key) && options.schema === undefined) {
          throw badFile(name, `line ${line}`, `expected the keys of the first row, found ${quoted(key)} as well`);
        }
      }
      for (const key of featureNames) addCell(name, builder, row[key], `line ${line}, key ${quoted(key)}`);
      rows++;
    },
    async finish(y) {
      const { notes } = columns;
      const built = await builder.finish(rows, featureNames.length, featureNames);
      return withFound(built, { ...(y ? { y } : {}), ...(notes ? { notes } : {}), found: foundIn(names, columns) });
    },
  };
}

function addCell(name: string, builder: DenseBuilder | CellsBuilder, value: unknown, where: string): void {
  if (typeof value === "number") builder.add(value);
  else if (typeof value === "boolean") builder.add(Number(value));
  else if (value === null || value === undefined) builder.addMissing(where);
  else if (typeof value === "string" && "addText" in builder) {
    if (isMissing(value)) builder.addMissing(where);
    else builder.addText(value, where);
  } else throw badFile(name, where, `expected a number, found ${describe(value)}`);
}

function describe(value: unknown): string {
  return value === undefined ? "nothing" : quoted(JSON.stringify(value));
}
