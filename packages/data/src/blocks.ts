/**
 * Rows of a source, block by block, for answers that do not wait for the last row: memory does not grow with the number of
 * rows, and a line from a pipe is passed on before the next one arrives. Formats of lines (CSV, TSV, JSON lines,
 * svmlight) are cut between records and each block is read like a file of its own; other formats are read whole.
 */

import { type Dense, prefetch, RanksimError, requestNext } from "@ranksim/core";
import { badFile } from "./bad-file.ts";
import { Budget } from "./budget.ts";
import { type DataSet, type RowLabels, rowCount } from "./data-set.ts";
import { keptOfObjects, keptOfRecords } from "./kept-columns.ts";
import { type ReadDataOptions, readData } from "./read.ts";
import { type CsvLayout, layOut } from "./readers/csv.ts";
import { CsvRecords } from "./readers/csv-records.ts";
import { formatOf, formatOfSource } from "./readers/detect.ts";
import { decoded, recoded } from "./readers/encoding.ts";
import type { FirstRow } from "./readers/json-lines.ts";
import type { ColumnChoice } from "./readers/options.ts";
import { parquetBlocks } from "./readers/parquet.ts";
import { LONGEST_RECORD, skipByteOrderMark } from "./readers/scan.ts";
import { isCommentary } from "./readers/svmlight.ts";
import { fixedRows, inTurns, layoutOf, type Placed } from "./rows/fixed-rows.ts";
import { expecting } from "./schema.ts";
import { type ByteSource, bytesSource, type Opened, openSource } from "./source.ts";

/** Some rows that follow those of the block before. */
export interface Block {
  readonly data: DataSet;
  /** What the columns that `keep` names hold in each row, as text. */
  readonly kept: readonly (readonly string[])[];
}

/** How blocks are read. */
export interface BlockOptions extends ReadDataOptions {
  /** Columns of a table, of any content, that are passed on with the rows. CSV, TSV and JSON lines only. */
  readonly keep?: readonly ColumnChoice[];
  /** Whether rows are valid only until the next block is asked for. Those of .npy and IDX files are then read into the same memory again. */
  readonly reuseMemory?: boolean;
}

/** Bytes of a block, where they are in memory. */
const BLOCK_BYTES = 1 << 21;
/** Bytes of a block at least, however small the budget is. */
const FEWEST_BYTES = 1 << 14;
/** Bytes that reading takes for each byte of a block of short words, about the most there is. */
const TAKES = 32;
/** Bytes of a block of rows that are read by their place. */
const PLACED_BYTES = 1 << 24;
/** Rows of a block of formats that are read whole. */
const BLOCK_ROWS = 1 << 13;
/** Milliseconds after which the records so far are passed on, although a block is not full. */
const PROMPT = 5;
const LF = 10;
const CR = 13;
const QUOTE = 34;

/** Lines to be cut into blocks. */
interface Lines extends Pick<Opened, "name" | "stream"> {
  /** Whether all bytes are there, as in a file. Those of a pipe may be long in coming. */
  readonly isStored: boolean;
}

/** Whether the rows of a file are read block by block; those of other formats are read whole. */
export async function readsInBlocks(file: ByteSource, options: Pick<BlockOptions, "format"> = {}): Promise<boolean> {
  if (await layoutOf(file)) return true;
  return ["csv", "tsv", "jsonl", "svmlight", "parquet"].includes(await formatOfSource(file, options));
}

/** The rows of a source in order, in blocks of at least one row. */
export async function* readBlocks(source: ByteSource, options: BlockOptions = {}): AsyncGenerator<Block> {
  const mayBePlaced = options.images === undefined && [undefined, "npy", "idx"].includes(options.format);
  const placed = mayBePlaced ? await layoutOf(source) : undefined;
  if (placed) {
    yield* placedBlocks(placed, options);
    return;
  }
  // One byte says enough of a pipe's first line: it is not waited for more.
  const opened = await openSource(source, source.byteLength === undefined ? 1 : undefined);
  if (opened.head.byteLength === 0) throw badFile(opened.name, "", "expected data, found an empty file");
  const format = formatOf(opened, options);
  const { keep = [] } = options;
  // Blocks of lines are in UTF-8 before they are cut.
  const lines = { ...recoded(opened, expecting(options)), isStored: source.byteLength !== undefined };
  const inLines = { ...options, encoding: "utf-8" } as const;
  switch (format) {
    case "csv":
    case "tsv":
      yield* csvBlocks(lines, { ...inLines, format });
      return;
    case "jsonl": {
      const reading: BlockOptions & FirstRow = { ...inLines, format, firstRow: {} };
      yield* lineBlocks(lines, reading, (text) => keptOfObjects(opened.name, text, keep));
      return;
    }
    default: {
      if (keep.length > 0) {
        const message = `${opened.name}: expected CSV, TSV or JSON lines to keep columns of, found ${format}`;
        throw new RanksimError("unsupported", message);
      }
      if (format === "svmlight") yield* lineBlocks(lines, { ...inLines, format }, () => []);
      else if (format === "parquet") {
        const reading = { ...options, ...expecting(options) };
        for await (const data of parquetBlocks(opened, reading)) yield { data, kept: [] };
      } else yield* slices(await readData({ ...source, stream: () => opened.stream }, options));
    }
  }
}

/** Rows that are read by their place. */
async function* placedBlocks(
  { layout, ...size }: Placed,
  { keep = [], reuseMemory = false }: BlockOptions,
): AsyncGenerator<Block> {
  if (keep.length > 0) {
    const message = `${layout.name}: expected CSV, TSV or JSON lines to keep columns of, found an array`;
    throw new RanksimError("unsupported", message);
  }
  const read = reuseMemory ? inTurns(layout.read) : layout.read;
  const source = fixedRows({ ...layout, read, room: BLOCK_BYTES });
  const bytes = Math.min(PLACED_BYTES, BLOCK_ROWS * source.features * source.valueBytes);
  for await (const rows of prefetch(source.blocks(bytes))) {
    yield { data: { form: "matrix", x: rows as Dense, ...size }, kept: [] };
  }
}

/** Data that is there already, in blocks. */
export function* slices(data: DataSet): Generator<Block> {
  const rows = rowCount(data);
  for (let from = 0; from < rows; from += BLOCK_ROWS) {
    const to = Math.min(from + BLOCK_ROWS, rows);
    const { y, rowNames } = data;
    const own = {
      ...(y ? { y: y.slice(from, to) as RowLabels } : {}),
      ...(rowNames ? { rowNames: rowNames.slice(from, to) } : {}),
    };
    if (data.form === "text") yield { data: { ...data, text: data.text.slice(from, to), ...own }, kept: [] };
    else if (data.form === "table") yield { data: { ...data, table: data.table.slice(from, to), ...own }, kept: [] };
    else yield { data: { ...data, x: data.x.slice(from, to), ...own }, kept: [] };
  }
}

/** Tables: a block is read with the line of column names before it. */
async function* csvBlocks(opened: Lines, given: BlockOptions): AsyncGenerator<Block> {
  const { name } = opened;
  const options = { ...given, ...expecting(given) };
  let rows = 0;
  const account = new Budget().of(name);
  let layout: CsvLayout | undefined;
  let header = new Uint8Array(0);
  let lines = 0;
  let isFirst = true;
  const usedOf = (window: Uint8Array, final: boolean): number => {
    if (layout === undefined) {
      const from = skipByteOrderMark(name, window);
      layout = layOut(name, window, final, from, options, account);
      if (layout === undefined) return 0;
      if (layout.names !== undefined) header = window.slice(0, firstRecordEnd(name, window, final, from, layout));
    }
    if (final) return window.byteLength;
    if (!window.includes(QUOTE) && window.includes(LF)) return window.lastIndexOf(LF) + 1;
    const records = new CsvRecords(name, layout.delimiter, account);
    records.open(window, final, 0);
    let whole = records.next();
    while (whole) whole = records.next();
    return records.used;
  };
  for await (const bytes of cut(opened, usedOf, blockBytes(options))) {
    const { names, delimiter } = layout as unknown as CsvLayout;
    // The first block has the header already; it may have nothing else yet.
    const own = isFirst && names !== undefined ? bytes.subarray(header.byteLength) : bytes;
    if (!isBlank(own)) {
      const whole = isFirst ? bytes : joined(header, bytes);
      const before = isFirst ? 0 : lines - countLines(header);
      const reading = { ...options, delimiter: String.fromCharCode(delimiter), header: names !== undefined };
      const data = await located(before, () => readData(bytesSource(whole, name), forBlock(reading)));
      const kept = keptOfRecords(name, whole, layout as unknown as CsvLayout, options.keep ?? []);
      yield { data, kept };
      rows += rowCount(data);
    }
    isFirst = false;
    lines += countLines(bytes);
  }
  if (rows === 0) throw badFile(name, "", "expected at least one row, found none");
}

/** The options of one block: what it takes is given back with it, so each has the whole budget, and at least what the smallest block takes. */
function forBlock<O extends ReadDataOptions>(options: O): O {
  const { budget } = options;
  return budget ? { ...options, budget: new Budget(Math.max(budget.bytes, FEWEST_BYTES * TAKES)) } : options;
}

/** A block that is read within the budget. */
function blockBytes({ budget }: BlockOptions): number {
  return budget ? Math.min(Math.max(Math.floor(budget.bytes / TAKES), FEWEST_BYTES), BLOCK_BYTES) : BLOCK_BYTES;
}

/** Formats of one row a line. */
async function* lineBlocks(
  opened: Lines,
  options: BlockOptions,
  keptOf: (text: Uint8Array) => string[][],
): AsyncGenerator<Block> {
  const { name } = opened;
  let lines = 0;
  let rows = 0;
  let found: Partial<ReadDataOptions> = {};
  const hasNone = options.format === "svmlight" ? isCommentary : isBlank;
  const usedOf = (window: Uint8Array, final: boolean) => (final ? window.byteLength : window.lastIndexOf(LF) + 1);
  for await (const bytes of cut(opened, usedOf, blockBytes(options))) {
    if (!hasNone(bytes)) {
      const data = await located(lines, () => readData(bytesSource(bytes, name), forBlock({ ...found, ...options })));
      // The numbering of features found in the first block holds for all.
      if (data.found?.firstFeature !== undefined) found = { firstFeature: data.found.firstFeature };
      yield { data, kept: keptOf(bytes) };
      rows += rowCount(data);
    }
    lines += countLines(bytes);
  }
  if (rows === 0) throw badFile(name, "", "expected at least one row, found none");
}

/** Plain text with one document on each line; empty lines are documents too, but the last, which may lack its end. */
export async function* readTextBlocks(
  source: ByteSource,
  encoding: "utf-8" | "latin1" = "utf-8",
): AsyncGenerator<Block> {
  const isStored = source.byteLength !== undefined;
  const opened = { ...recoded(await openSource(source, isStored ? undefined : 1), { encoding }), isStored };
  const usedOf = (window: Uint8Array, final: boolean) => (final ? window.byteLength : window.lastIndexOf(LF) + 1);
  let rows = 0;
  for await (const bytes of cut(opened, usedOf)) {
    const text = decoded(opened.name, "", bytes).split(/\r?\n/);
    if (text.at(-1) === "") text.pop();
    rows += text.length;
    yield { data: { form: "text", text }, kept: [] };
  }
  if (rows === 0) {
    throw new RanksimError("empty-input", `${opened.name}: expected a text on each line, found nothing`);
  }
}

/**
 * Cuts a stream between records. `usedOf` answers how many bytes of what is there are whole records. What is stored is cut by
 * its bytes alone: processes that each read the same file must have the same blocks, however fast their disks are. Of a pipe, waits
 * for a full block while bytes keep coming, and passes on what there is when they do not.
 */
async function* cut(
  { name, stream, isStored }: Lines,
  usedOf: (window: Uint8Array, final: boolean) => number,
  blockBytes = BLOCK_BYTES,
): AsyncGenerator<Uint8Array> {
  const iterator: AsyncIterator<Uint8Array> = (isStored ? equalPieces : pieces)(stream, blockBytes);
  const ask = () => requestNext(iterator);
  let parts: Uint8Array[] = [];
  let length = 0;
  let wanted = blockBytes;
  let next = ask();
  try {
    for (;;) {
      const arrived = isStored || length === 0 ? await next : await Promise.race([next, pause()]);
      if (arrived !== undefined) {
        if (arrived.done) break;
        parts.push(arrived.value);
        length += arrived.value.byteLength;
        next = ask();
        if (length < wanted) continue;
      }
      const window = parts.length === 1 ? parts[0] : joined(...parts);
      const used = usedOf(window, false);
      if (used > 0) yield window.subarray(0, used);
      // An open record is copied, so that the block it came with can go.
      parts = used < length ? [window.slice(used)] : [];
      length -= used;
      // As in `scan`: a record that is still open is looked at again when it has doubled, or when no bytes come.
      wanted = used > 0 ? blockBytes : Math.min(Math.max(length * 2, blockBytes), LONGEST_RECORD + 1);
      if (length > LONGEST_RECORD) {
        throw badFile(name, "", `expected records of at most ${LONGEST_RECORD} bytes, found a longer one`);
      }
      if (arrived === undefined && length > 0) {
        const more = await next;
        if (more.done) break;
        parts.push(more.value);
        length += more.value.byteLength;
        next = ask();
      }
    }
    const rest = joined(...parts);
    if (rest.byteLength > 0 && usedOf(rest, true) > 0) yield rest;
  } finally {
    // Not waited for: a pipe that is silent would keep its reader for ever.
    void iterator.return?.().catch(() => undefined);
  }
}

/** The stream in chunks of at most so many bytes. */
async function* pieces(stream: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
  for await (const chunk of stream) {
    for (let from = 0; from < chunk.byteLength; from += bytes) yield chunk.subarray(from, from + bytes);
  }
}

/** The stream in chunks of so many bytes each, but the last. */
async function* equalPieces(stream: AsyncIterable<Uint8Array>, bytes: number): AsyncGenerator<Uint8Array> {
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of stream) {
    let from = 0;
    while (length + chunk.byteLength - from >= bytes) {
      const to = from + bytes - length;
      yield joined(...parts, chunk.subarray(from, to));
      [parts, length, from] = [[], 0, to];
    }
    if (from === chunk.byteLength) continue;
    parts.push(chunk.subarray(from));
    length += chunk.byteLength - from;
  }
  if (length > 0) yield joined(...parts);
}

const pause = () => new Promise<undefined>((resume) => setTimeout(() => resume(undefined), PROMPT));

function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}

const isBlank = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === LF || byte === CR || byte === 32);

function countLines(bytes: Uint8Array): number {
  const end = bytes.includes(LF) ? LF : CR;
  let lines = 0;
  for (let at = bytes.indexOf(end); at >= 0; at = bytes.indexOf(end, at + 1)) lines++;
  return lines;
}

/** Errors in a block count lines from its own first; they are reported with the lines of the whole source. */
async function located<T>(before: number, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof RanksimError) || before === 0) throw error;
    const message = error.message.replace(
      /(, line )(\d+)/g,
      (_, words: string, line: string) => words + (Number(line) + before),
    );
    throw new RanksimError(error.code, message, { cause: error });
  }
}

function firstRecordEnd(
  name: string,
  window: Uint8Array,
  final: boolean,
  from: number,
  { delimiter }: CsvLayout,
): number {
  const records = new CsvRecords(name, delimiter, new Budget().of(name));
  records.open(window, final, from);
  records.next();
  return records.used;
}
