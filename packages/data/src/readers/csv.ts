/**
 * CSV and TSV to a dense matrix (or text), streaming. Numbers go from bytes straight into the matrix. Delimiter and header
 * are detected from the first two records unless given.
 */

import { RanksimError } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import type { Account } from "../budget.ts";
import type { Opened } from "../source.ts";
import { isMissing } from "../table/cells.ts";
import { dateOf } from "../table/dates.ts";
import { commaNumber, looksNumeric } from "../table/numbers.ts";
import type { CellsBuilder } from "./cells-builder.ts";
import { type Columns, chooseColumns, columnPlace, distinctNames, labelNamed } from "./columns.ts";
import { CsvRecords } from "./csv-records.ts";
import type { Reading, ReadOptions } from "./options.ts";
import { endOf, noRows, type RowBlocks } from "./reader.ts";
import { RowsBuilder } from "./rows-builder.ts";
import { scan, skipByteOrderMark } from "./scan.ts";

/** Reads CSV (any delimiter). */
export async function* readCsv(opened: Opened, options: Reading): RowBlocks {
  const { name } = opened;
  const account = options.budget.of(name);
  let layout: CsvLayout | undefined;
  const consume = (window: Uint8Array, final: boolean, limit: number): number => {
    let from = 0;
    if (layout === undefined) {
      from = skipByteOrderMark(window);
      layout = layOut(name, window, final, from, options, account);
      if (layout === undefined) return 0;
      layout.records.open(window, final, from);
      if (layout.names !== undefined) layout.records.next();
    } else {
      layout.records.open(window, final, 0);
    }
    const { records, count, firstLine } = layout;
    while (records.used < limit && records.next()) {
      if (records.fields !== count) {
        throw badFile(
          name,
          `line ${records.line}`,
          `expected ${count} fields as in line ${firstLine}, found ${records.fields}`,
        );
      }
      readRecord(name, layout);
    }
    return records.used;
  };
  const rows = () => (layout as CsvLayout | undefined)?.rows;
  for await (const _ of scan(name, opened.stream, account, consume, options.pace)) {
    const builder = rows();
    if (builder && builder.rows > 0) yield await builder.take();
  }
  const builder = rows();
  if (!builder || builder.rows + builder.taken === 0) throw noRows(name, builder?.leftOut);
  if (builder.rows > 0) yield await builder.take(true);
  return endOf(builder);
}

/** How a file is laid out, as its first records say. */
interface CsvLayout {
  readonly records: CsvRecords;
  readonly columns: Columns;
  readonly count: number;
  readonly firstLine: number;
  readonly names: readonly string[] | undefined;
  readonly rows: RowsBuilder;
}

function readRecord(name: string, { records, columns, names, rows }: CsvLayout): void {
  if (columns.label >= 0 && rows.leavesOut(records.text(columns.label))) return;
  const placeOf = (c: number) => `line ${records.line}, ${columnPlace(names, c)}`;
  if (!rows.cells.addRow?.(records.numbers, columns.features, records.hasGrouped))
    addCells(records, columns, rows.cells, placeOf);
  if (columns.label >= 0) {
    const label = records.text(columns.label);
    if (!rows.keepsEmpty(label)) {
      if (label === "" && !rows.several) throw badFile(name, placeOf(columns.label), "expected a label, found nothing");
      rows.addLabel(label);
    }
  }
  if (columns.text >= 0) rows.addText(records.text(columns.text));
  if (rows.hasFacts) rows.addFacts((c) => records.text(c), placeOf);
  rows.rows++;
}

/** The cells of a row one by one. */
function addCells(
  records: CsvRecords,
  { features }: Columns,
  cells: CellsBuilder,
  placeOf: (column: number) => string,
): void {
  for (const c of features) {
    const value = records.numbers[c];
    if (!Number.isNaN(value) && !cells.needsText?.()) {
      cells.add(value, records.mayBeGrouped(c));
      continue;
    }
    const found = records.text(c);
    if (isMissing(found)) cells.addMissing(() => placeOf(c));
    else cells.addText(found, () => placeOf(c));
  }
}

/** Decides delimiter, header and columns by the first two records; undefined while the window does not hold what it takes. */
function layOut(
  name: string,
  window: Uint8Array,
  final: boolean,
  from: number,
  options: Reading,
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
    rows: new RowsBuilder(name, names, columns, options),
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
  const { labelColumn, textColumn, groupColumn, timeColumn, weightColumn, ignoreColumns = [], keep = [] } = options;
  const named = [labelColumn, textColumn, groupColumn, timeColumn, weightColumn, ...ignoreColumns, ...keep];
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
  if (isMissing(field) || !Number.isNaN(Number(field)) || looksNumeric(field)) return false;
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
  const expected = "one ASCII character";
  throw new RanksimError("bad-params", { parameter: "delimiter", expected, found: JSON.stringify(delimiter) });
}

/** Candidates beside the space: comma, tab, semicolon, bar. */
const DELIMITERS = [44, 9, 59, 124];

/**
 * The candidate that occurs most often in the first line outside quotes; another than the comma where it leaves each comma in a number
 * with decimals. Spaces only between numbers, where nothing else occurs.
 */
function sniffDelimiter(window: Uint8Array, from: number, hasText: boolean): number {
  const counts = new Float64Array(256);
  let isQuoted = false;
  let start = from;
  while (window[start] === 10 || window[start] === 13) start++;
  let end = start;
  for (; end < window.length; end++) {
    const byte = window[end];
    if (byte === 34) isQuoted = !isQuoted;
    else if (!isQuoted && (byte === 10 || byte === 13)) break;
    else if (!isQuoted) counts[byte]++;
  }
  let best = 44;
  for (const code of DELIMITERS) if (counts[code] > counts[best]) best = code;
  if (best === 44 && counts[best] > 0) {
    const line = new TextDecoder().decode(window.subarray(start, end));
    const other = DELIMITERS.find((code) => code !== 44 && counts[code] > 0 && hasDecimalCommas(line, code));
    if (other !== undefined) return other;
  }
  return counts[best] === 0 && counts[32] > 0 && !hasText ? 32 : best;
}

/** Whether each comma of a line is within a number, where another character separates fields. */
function hasDecimalCommas(line: string, delimiter: number): boolean {
  const fields = line.split(String.fromCharCode(delimiter));
  return fields.every((field) => !field.includes(",") || !Number.isNaN(commaNumber(field.trim())));
}
