/**
 * CSV and TSV to a dense matrix (or text), streaming. Numbers go from bytes straight into the matrix. Delimiter and header
 * are detected from the first two records unless given.
 */

import { RanksimError } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import { type Account, budgetOf } from "../budget.ts";
import type { DataSet } from "../data-set.ts";
import type { Opened } from "../source.ts";
import { commaNumber, dateOf, isMissing } from "../table/cells.ts";
import { type CellsBuilder, cellsBuilder } from "./cells-builder.ts";
import { type Columns, chooseColumns, columnPlace, distinctNames, foundIn, labelNamed, withFound } from "./columns.ts";
import { CsvRecords } from "./csv-records.ts";
import { LabelBuilder } from "./dense-builder.ts";
import type { ReadOptions } from "./options.ts";
import { numberOf, scan, skipByteOrderMark } from "./scan.ts";

/** Reads CSV (any delimiter). */
export async function readCsv(opened: Opened, options: ReadOptions): Promise<DataSet> {
  const { name } = opened;
  const account = budgetOf(options).of(name);
  const labels = new LabelBuilder(account, options);
  const text: string[] = [];
  let rows = 0;
  let layout: CsvLayout | undefined;
  await scan(name, opened.stream, account, (window, final) => {
    let from = 0;
    if (layout === undefined) {
      from = skipByteOrderMark(name, window);
      layout = layOut(name, window, final, from, options, account);
      if (layout === undefined) return 0;
      layout.records.open(window, final, from);
      if (layout.names !== undefined) layout.records.next();
    } else {
      layout.records.open(window, final, 0);
    }
    const { records, columns, count, firstLine } = layout;
    while (records.next()) {
      if (records.fields !== count) {
        throw badFile(
          name,
          `line ${records.line}`,
          `expected ${count} fields as in line ${firstLine}, found ${records.fields}`,
        );
      }
      readRecord(window, layout);
      if (columns.label >= 0) labels.add(labelOf(name, layout, labels.several));
      if (columns.text >= 0) {
        account.takeText(2 * (records.end(columns.text) - records.start(columns.text)));
        text.push(records.text(columns.text));
      }
      rows++;
    }
    return records.used;
  });
  if (layout === undefined || rows === 0) throw badFile(name, "", "expected at least one row, found none");
  const { columns, names } = layout as CsvLayout;
  const facts = {
    ...(columns.label < 0 ? {} : { y: labels.finish() }),
    ...(columns.notes ? { notes: columns.notes } : {}),
  };
  const found = foundIn(names, columns);
  if (columns.text >= 0) return { form: "text", text, ...facts, found };
  const { cells } = layout as CsvLayout;
  return withFound(await cells.finish(rows, columns.features.length, names && columns.features.map((c) => names[c])), {
    ...facts,
    found,
  });
}

/** How a file is laid out, as its first records say. */
export interface CsvLayout {
  readonly records: CsvRecords;
  readonly columns: Columns;
  readonly count: number;
  readonly firstLine: number;
  readonly names: readonly string[] | undefined;
  /** As a character's code. */
  readonly delimiter: number;
  readonly cells: CellsBuilder;
}

function readRecord(window: Uint8Array, { records, columns, names, cells }: CsvLayout): void {
  for (const c of columns.features) {
    const value = numberOf(window, records.start(c), records.end(c));
    if (!Number.isNaN(value) && !cells.needsText?.()) {
      cells.add(value);
      continue;
    }
    const where = `line ${records.line}, ${columnPlace(names, c)}`;
    const found = records.text(c);
    if (isMissing(found)) cells.addMissing(where);
    else cells.addText(found, where);
  }
}

function labelOf(name: string, { records, columns, names }: CsvLayout, mayBeNone: boolean): string {
  const label = records.text(columns.label);
  if (label !== "" || mayBeNone) return label;
  throw badFile(name, `line ${records.line}, ${columnPlace(names, columns.label)}`, "expected a label, found nothing");
}

/** Decides delimiter, header and columns by the first two records; undefined while the window does not hold what it takes. */
export function layOut(
  name: string,
  window: Uint8Array,
  final: boolean,
  from: number,
  options: ReadOptions,
  account: Account,
): CsvLayout | undefined {
  // Without a line end no record is whole: a line without end costs no look at its bytes.
  if (!final && window.indexOf(10) < 0 && window.indexOf(13) < 0) return undefined;
  const delimiter = delimiterCode(options) ?? sniffDelimiter(window, from, options.textColumn !== undefined);
  const records = new CsvRecords(name, delimiter, account);
  records.open(window, final, from);
  const first = takeRecord(records, account);
  if (first === undefined) return undefined;
  const firstLine = records.line;
  const second = takeRecord(records, account);
  if (second === undefined && !final && !isDecided(first, options)) return undefined;
  const names = isHeader(first, second, options) ? distinctNames(first) : undefined;
  const columns = chooseColumns(name, names, first.length, options);
  return {
    records: new CsvRecords(name, delimiter, account),
    columns,
    count: first.length,
    firstLine,
    names,
    delimiter,
    cells: cellsBuilder(name, options, columns.features.length),
  };
}

function takeRecord(records: CsvRecords, account: Account): string[] | undefined {
  if (!records.next()) return undefined;
  account.takeValues(2 * records.fields);
  return Array.from({ length: records.fields }, (_, field) => records.text(field));
}

/**
 * The first record names the columns if it has a word where the second has a number or a date, if an option names one of its fields, or
 * if one of them is called as labels are: below "text,label" all may be words.
 */
function isHeader(first: readonly string[], second: readonly string[] | undefined, options: ReadOptions): boolean {
  if (options.header !== undefined) return options.header;
  const named = [options.labelColumn, options.textColumn, ...(options.ignoreColumns ?? [])];
  if (named.some((choice) => typeof choice === "string")) return true;
  const expected = options.schema?.columns;
  if (expected?.some(({ name }) => first.includes(name))) return true;
  if (first.some((field, c) => isWord(field) && second?.[c] !== undefined && !isWord(second[c]))) return true;
  const label = labelNamed(first);
  return label >= 0 && second?.[label] !== undefined && second[label] !== first[label] && first.every(isWord);
}

/** Whether the first record alone says whether it is a header, so that a line from a pipe is answered before the next. */
function isDecided(first: readonly string[], options: ReadOptions): boolean {
  return options.header !== undefined || isHeader(first, undefined, options) || !first.some(isWord);
}

function isWord(field: string): boolean {
  if (isMissing(field) || !Number.isNaN(Number(field)) || !Number.isNaN(commaNumber(field))) return false;
  return ORDERS.every((order) => Number.isNaN(dateOf(field, order)));
}

const ORDERS = ["ymd", "dmy", "mdy"] as const;

function delimiterCode({ delimiter: given, format, schema }: ReadOptions): number | undefined {
  if (given === undefined && format === "tsv") return 9;
  const delimiter = given ?? schema?.reading?.delimiter;
  if (delimiter === undefined) return undefined;
  const code = delimiter.charCodeAt(0);
  if (delimiter.length === 1 && code < 128 && delimiter !== '"' && delimiter !== "\n" && delimiter !== "\r")
    return code;
  throw new RanksimError("bad-params", `delimiter: expected one ASCII character, found ${JSON.stringify(delimiter)}`);
}

/** Candidates beside the space: comma, tab, semicolon, bar. */
const DELIMITERS = [44, 9, 59, 124];

/** The candidate that occurs most often in the first line outside quotes; spaces only between numbers, where nothing else occurs. */
function sniffDelimiter(window: Uint8Array, from: number, hasText: boolean): number {
  const counts = new Float64Array(256);
  let isQuoted = false;
  let start = from;
  while (window[start] === 10 || window[start] === 13) start++;
  for (let at = start; at < window.length; at++) {
    const byte = window[at];
    if (byte === 34) isQuoted = !isQuoted;
    else if (!isQuoted && (byte === 10 || byte === 13)) break;
    else if (!isQuoted) counts[byte]++;
  }
  let best = 44;
  for (const code of DELIMITERS) if (counts[code] > counts[best]) best = code;
  return counts[best] === 0 && counts[32] > 0 && !hasText ? 32 : best;
}
