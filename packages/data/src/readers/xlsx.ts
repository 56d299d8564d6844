/**
 * The first sheet of an Excel workbook (.xlsx) as the text of a CSV file, which is read like other files: numbers as they are stored, dates as
 * 2024-05-31, empty rows left out. Workbooks are a zip of XML; only the few elements that hold cells are looked at.
 */

import { asBadFile, badFile, quoted } from "../bad-file.ts";
import type { Account } from "../budget.ts";
import { GrowingBytes } from "../growing-bytes.ts";
import { bytesSource, type Opened, openSource, readAll } from "../source.ts";
import { readCsv } from "./csv.ts";
import type { Reading } from "./options.ts";
import type { RowBlocks } from "./reader.ts";
import { MOST_UNPACKED, type ZipEntry, zipEntries } from "./zip.ts";

/** A sheet as CSV, and how many others the workbook has. */
interface SheetText {
  readonly csv: Uint8Array;
  readonly sheet: string;
  readonly others: readonly string[];
}

/** Columns of a sheet at most, as in Excel. */
const MOST_COLUMNS = 16_384;

/** Reads the first sheet, as a CSV file of the same cells. */
export async function* readXlsx({ name, stream, byteLength }: Opened, options: Reading): RowBlocks {
  const account = options.budget.of(name);
  const { csv, sheet, others } = sheetAsCsv(name, await readAll(stream, account, byteLength), account);
  const opened = await openSource(bytesSource(csv, name));
  const rows = readCsv(opened, { ...options, format: "csv", delimiter: "," });
  if (others.length === 0) return yield* rows;
  const left = `${name}: rows are those of the sheet ${quoted(sheet)}; others (${others.map(quoted).join(", ")}) are left out, save them as files of their own`;
  for (let next = await rows.next(); ; next = await rows.next()) {
    if (next.done) return next.value;
    yield { ...next.value, notes: [...(next.value.notes ?? []), left] };
  }
}

function sheetAsCsv(name: string, bytes: Uint8Array, account: Account): SheetText {
  try {
    const book = new Workbook(name, bytes, account);
    const [first, ...others] = book.sheets();
    if (!first) throw badFile(name, "", "expected a workbook with a sheet, found none");
    const rows = book.rows(first.path);
    if (rows.length === 0) throw badFile(name, `sheet ${quoted(first.name)}`, "expected cells, found none");
    return { csv: csvOf(rows, account), sheet: first.name, others: others.map((sheet) => sheet.name) };
  } catch (error) {
    throw asBadFile(name, "an Excel workbook", error);
  }
}

/** The cells of a row that hold something, by their column. */
type Row = ReadonlyMap<number, string>;

function csvOf(rows: readonly Row[], account: Account): Uint8Array {
  const width = rows.reduce((most, row) => Math.max(most, ...row.keys()), 0) + 1;
  const encoder = new TextEncoder();
  const out = new GrowingBytes(account, 1 << 16);
  for (const row of rows) {
    // Commas of cells that are not there, by their number: a forged cell may be the 16,384th of each row.
    let at = 0;
    for (const column of [...row.keys()].sort((a, b) => a - b)) {
      out.push(encoder.encode(",".repeat(column - at) + csvCell(row.get(column) as string)));
      at = column;
    }
    out.push(encoder.encode(`${",".repeat(width - 1 - at)}\n`));
  }
  return out.bytes;
}

const csvCell = (text: string): string => (/^[\w.+-]*$/.test(text) ? text : `"${text.replaceAll('"', '""')}"`);

/** The parts of a workbook. */
class Workbook {
  readonly #name: string;
  readonly #entries: ReadonlyMap<string, ZipEntry>;
  readonly #account: Account;
  readonly #stored: number;

  constructor(name: string, bytes: Uint8Array, account: Account) {
    const entries = zipEntries(bytes);
    this.#name = name;
    this.#entries = new Map(entries.map((entry) => [entry.name.replace(/^\//, ""), entry]));
    this.#account = account;
    this.#stored = bytes.byteLength;
  }

  /** Sheets in the order of their tabs, with the paths of their parts. */
  sheets(): { readonly name: string; readonly path: string }[] {
    const paths = new Map<string, string>();
    for (const { tag, attributes } of this.#parts("xl/_rels/workbook.xml.rels")) {
      if (tag === "Relationship") paths.set(attributes.get("Id") ?? "", pathIn(attributes.get("Target") ?? ""));
    }
    const found: { name: string; path: string }[] = [];
    for (const { tag, attributes, isEnd } of this.#parts("xl/workbook.xml")) {
      const path = tag === "sheet" && !isEnd ? paths.get(attributes.get("id") ?? "") : undefined;
      if (path !== undefined) found.push({ name: attributes.get("name") ?? "", path });
    }
    return found;
  }

  /** The rows of a sheet that hold something. */
  rows(path: string): Row[] {
    const shared = this.#sharedTexts();
    const styles = this.#dateStyles();
    const hasEpoch1904 = [...this.#parts("xl/workbook.xml")].some(
      ({ tag, attributes }) => tag === "workbookPr" && /^(1|true)$/.test(attributes.get("date1904") ?? ""),
    );
    const rows: Row[] = [];
    let row = new Map<number, string>();
    let cell = { column: -1, type: "n", style: 0 };
    let value = "";
    let isValue = false;
    for (const { tag, attributes, isEnd, isEmpty, text } of this.#parts(path)) {
      if (tag === "row" && !isEnd) {
        row = new Map();
        cell = { ...cell, column: -1 };
      }
      if (tag === "c" && !isEnd) {
        const column = columnOf(attributes.get("r")) ?? cell.column + 1;
        if (column >= MOST_COLUMNS)
          throw new Error(`expected at most ${MOST_COLUMNS} columns, found a cell in one beyond`);
        cell = { column, type: attributes.get("t") ?? "n", style: Number(attributes.get("s") ?? 0) };
        value = "";
      }
      if (tag === "v" || tag === "t") isValue = !isEnd && !isEmpty;
      if (isValue) value += text;
      if (tag === "c" && (isEnd || isEmpty)) {
        const content = contentOf(value, cell.type, styles.get(cell.style), shared, hasEpoch1904);
        if (content === "") continue;
        this.#account.takeText(2 * content.length);
        row.set(cell.column, content);
        if (row.size === 1) rows.push(row);
      }
    }
    return rows;
  }

  /** Texts that cells name by their number. Phonetic hints to them are left out. */
  #sharedTexts(): string[] {
    const texts: string[] = [];
    let [own, isText, isHint] = ["", false, false];
    for (const { tag, isEnd, isEmpty, text } of this.#parts("xl/sharedStrings.xml")) {
      if (tag === "rPh") isHint = !isEnd && !isEmpty;
      if (tag === "t") isText = !isEnd && !isEmpty;
      if (tag === "si" && !isEnd) own = "";
      if (isText && !isHint) own += text;
      if (tag === "si" && (isEnd || isEmpty)) {
        this.#account.takeText(2 * own.length);
        texts.push(own);
      }
    }
    return texts;
  }

  /** Styles of cells that show a number as a date or a time, by their number. */
  #dateStyles(): Map<number, DateStyle> {
    const formats = new Map<number, DateStyle>();
    for (const id of [14, 15, 16, 17, 22]) formats.set(id, "date");
    for (const id of [18, 19, 20, 21, 45, 46, 47]) formats.set(id, "time");
    const styles = new Map<number, DateStyle>();
    let [isOfCells, style] = [false, 0];
    for (const { tag, attributes, isEnd } of this.#parts("xl/styles.xml")) {
      if (tag === "numFmt") {
        const found = dateStyleOf(attributes.get("formatCode") ?? "");
        if (found) formats.set(Number(attributes.get("numFmtId")), found);
      }
      if (tag === "cellXfs") isOfCells = !isEnd;
      if (tag !== "xf" || !isOfCells || isEnd) continue;
      const format = formats.get(Number(attributes.get("numFmtId") ?? 0));
      if (format) styles.set(style, format);
      style++;
    }
    return styles;
  }

  /** The elements of a part; none where the workbook lacks it. */
  *#parts(path: string): Generator<Element> {
    const entry = this.#entries.get(path);
    if (!entry) return;
    if (entry.storedSize > this.#stored || entry.size > entry.storedSize * MOST_UNPACKED) {
      throw badFile(this.#name, "", `expected a part of sound size, found a claim of ${entry.size} bytes in ${path}`);
    }
    // The text takes two bytes a character, beside the bytes.
    this.#account.take(entry.size);
    this.#account.takeText(2 * entry.size);
    yield* elements(new TextDecoder("utf-8", { fatal: true }).decode(entry.unpack()));
  }
}

/** A target is named from the folder of the workbook, or from the root. */
const pathIn = (target: string): string =>
  target.startsWith("/") ? target.slice(1) : `xl/${target.replace(/^\.\//, "")}`;

type DateStyle = "date" | "time";

/** Whether a format shows dates or times; texts in it, colours and conditions do not count. */
function dateStyleOf(format: string): DateStyle | undefined {
  const plain = format.replace(/"[^"]*"|\\.|\[(?!h|m|s)[^\]]*\]|_./gi, "");
  if (/general/i.test(plain)) return undefined;
  return /[yd]/i.test(plain) ? "date" : /[hs]/i.test(plain) ? "time" : undefined;
}

/** "AB12" is in column 27. */
function columnOf(place: string | undefined): number | undefined {
  const letters = /^([A-Z]{1,3})\d+$/.exec(place ?? "")?.[1];
  if (letters === undefined) return undefined;
  return Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

function contentOf(
  value: string,
  type: string,
  style: DateStyle | undefined,
  shared: readonly string[],
  hasEpoch1904: boolean,
): string {
  if (value === "") return "";
  if (type === "s") {
    const text = shared[Number(value)];
    if (text === undefined) throw new Error(`expected one of ${shared.length} texts, found number ${quoted(value)}`);
    return text;
  }
  if (type === "b") return value === "1" ? "true" : "false";
  if (type !== "n") return value;
  const number = Number(value);
  if (!Number.isFinite(number)) throw new Error(`expected a number in a cell, found ${quoted(value)}`);
  return style ? dateText(number, style, hasEpoch1904) : String(number);
}

const DAY_SECONDS = 86_400;
/** Days before 1970, counted from the last day of 1899, after which Excel has a 29 February 1900; or from 1904. */
const [FROM_1900, FROM_1904] = [25_569, 24_107];
const LAST_DAY = 2_958_466;

/** A number of days as the date that it shows; numbers that are none stay numbers. */
function dateText(days: number, style: DateStyle, hasEpoch1904: boolean): string {
  if (days < 0 || days > LAST_DAY) return String(days);
  const real = !hasEpoch1904 && days < 60 ? days + 1 : days;
  const seconds = Math.round((real - (hasEpoch1904 ? FROM_1904 : FROM_1900)) * DAY_SECONDS);
  const text = new Date(seconds * 1000).toISOString();
  if (style === "time" && days < 1) return text.slice(11, 19);
  return seconds % DAY_SECONDS === 0 ? text.slice(0, 10) : text.slice(0, 19).replace("T", " ");
}

/** The begin or the end of an element, and the text up to the next one. */
interface Element {
  /** Without the prefix of its namespace. */
  readonly tag: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly isEnd: boolean;
  /** Whether begin and end are one. */
  readonly isEmpty: boolean;
  readonly text: string;
}

/** A tag ends before the next one begins, so that no text makes this look at its characters twice. */
const TAG = /<(?:(\/?)(?:[\w.-]+:)?([\w.-]+)((?:[^<>"']|"[^"<]*"|'[^'<]*')*?)(\/?)>|(!--|!\[CDATA\[)|[?!][^<>]*>)/g;
const ATTRIBUTE = /\s*(?:[\w.-]+:)?([\w.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/y;

/** The elements of an XML text, in order. Comments count for nothing; names in place of characters (&lt;) are resolved, others stay. */
function* elements(xml: string): Generator<Element> {
  const tags = new RegExp(TAG);
  let open: Omit<Element, "text"> | undefined;
  let text = "";
  let from = 0;
  for (let found = tags.exec(xml); found !== null; found = tags.exec(xml)) {
    if (from < found.index) text += resolved(xml.slice(from, found.index));
    from = tags.lastIndex;
    const [, end, tag, attributes, empty, special] = found;
    if (special !== undefined) {
      const mark = special === "!--" ? "-->" : "]]>";
      const close = xml.indexOf(mark, from);
      if (close < 0) throw new Error(`expected an end of <${special}`);
      if (mark === "]]>") text += xml.slice(from, close);
      from = tags.lastIndex = close + mark.length;
    } else if (tag !== undefined) {
      if (open) yield { ...open, text };
      open = { tag, attributes: attributesOf(attributes), isEnd: end !== "", isEmpty: empty !== "" };
      text = "";
    }
  }
  if (open) yield { ...open, text };
}

function attributesOf(text: string): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>();
  const each = new RegExp(ATTRIBUTE);
  for (let found = each.exec(text); found !== null; found = each.exec(text)) {
    attributes.set(found[1], resolved(found[2] ?? found[3]));
  }
  return attributes;
}

const NAMED: { readonly [name: string]: string } = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function resolved(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(\w{2,4}));/g, (whole, decimal, hexadecimal, name) => {
    if (name !== undefined) return NAMED[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hexadecimal, 16) : Number(decimal);
    return code < 0x110000 ? String.fromCodePoint(code) : whole;
  });
}
