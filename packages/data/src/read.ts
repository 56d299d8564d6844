/** The one way in: a byte source or a folder becomes rows, at once or in blocks, by a format that is given or detected from name and content. */

import { type Dense, prefetch, RanksimError } from "@ranksim/core";
import { badFile } from "./bad-file.ts";
import { Budget, budgetOf } from "./budget.ts";
import { type AnyRows, BLOCK_ROWS, type DataSet, type ImageSize, type RowLabels, rowCount } from "./data-set.ts";
import { readerOf } from "./readers/detect.ts";
import { recoded } from "./readers/encoding.ts";
import { readFolder } from "./readers/folder-rows.ts";
import { typedLabels } from "./readers/label-types.ts";
import { readLabels } from "./readers/labels.ts";
import { AT_ONCE, type Reading, type ReadOptions, ROW_COLUMNS } from "./readers/options.ts";
import { noRows, type RowBlocks } from "./readers/reader.ts";
import { TEXT_LINES } from "./readers/text-lines.ts";
import { fixedPart, inTurns, layoutOf, type Placed } from "./rows/fixed-rows.ts";
import { storedRows } from "./rows/stored-rows.ts";
import { expecting } from "./schema.ts";
import { type ByteSource, type Folder, openSource, STANDARD_INPUT } from "./source.ts";
import { timesOf } from "./table/times.ts";

/** Options of `readData`. */
export interface ReadDataOptions extends ReadOptions {
  /** A file that holds the labels, if they are apart. */
  readonly labels?: ByteSource;
}

/**
 * Reads a file or a folder. Numbers come in the narrowest element type that is exact. Damaged files are refused with code
 * "bad-file" and a message that says where; nothing is allocated on a header's word alone.
 */
export async function readData(from: ByteSource | Folder, given: ReadDataOptions = {}): Promise<DataSet> {
  if (given.labels !== undefined && typeof given.labels?.stream !== "function") {
    throw new RanksimError(
      "bad-params",
      `labels: expected a source such as await fileSource("y.npy"), found ${JSON.stringify(given.labels)}`,
    );
  }
  const options = { ...given, ...expecting(given), budget: budgetOf(given), pace: AT_ONCE };
  const { times, ...data } = "entries" in from ? await folderOf(from, options) : await wholeOf(from, options);
  const dated = times
    ? {
        ...data,
        times: timesOf(times as readonly string[], (row) => ({
          parameter: ROW_COLUMNS.times,
          file: from.name,
          where: `row ${row}`,
        })),
      }
    : data;
  const sized = options.images === undefined ? dated : withImages(dated, options.images, from.name);
  const labels = options.labels ?? (data.y === undefined && "stream" in from ? await siblingLabels(from) : undefined);
  if (labels !== undefined) return withLabels(sized, await readLabels(labels, options), labels.name);
  return data.y === undefined ? sized : withLabels(sized, data.y, from.name);
}

/** The rows of a folder. */
export function folderOf(folder: Folder, options: ReadOptions): Promise<DataSet> {
  refuseColumns(folder.name, "the folder", options);
  return readFolder(folder, options);
}

/** All rows, which are one block. */
async function wholeOf(source: ByteSource, options: Reading): Promise<DataSet> {
  for await (const data of readRows(source, options)) return data;
  throw noRows(source.name);
}

/** How blocks are read. */
export interface BlockOptions extends ReadOptions {
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

/**
 * The rows of a source in order, in blocks of at least one row, for answers that do not wait for the last row: memory does not grow with the
 * number of rows, and a line from a pipe is passed on before the next one arrives.
 */
export async function* readBlocks(source: ByteSource, given: BlockOptions = {}): AsyncGenerator<DataSet> {
  const { budget, images, reuseMemory = false } = given;
  if (given.missing === "mean" && given.schema?.fill === undefined) {
    const expected = "a number to fill in, as a mean is known after the last row";
    throw new RanksimError("unsupported", { parameter: "missing", expected, found: "mean" });
  }
  const options = { ...given, ...expecting(given), ...inBlocks(source, budget) };
  const mayBePlaced = [undefined, "npy", "idx"].includes(options.format);
  const placed = mayBePlaced ? await layoutOf(source) : undefined;
  if (placed) refuseColumns(source.name, `the ${placed.format} file`, options);
  const blocks = placed ? placedRows(placed, reuseMemory) : readRows(source, options);
  for await (const block of blocks) yield images === undefined ? block : withImages(block, images, source.name);
}

/** How a source is read in blocks. What a block takes is given back with it, so each has the whole budget, and at least what the smallest takes. */
export function inBlocks({ byteLength }: ByteSource, budget: Budget | undefined): Pick<Reading, "budget" | "pace"> {
  const own = new Budget(budget && Math.max(budget.bytes, FEWEST_BYTES * TAKES));
  const most = budget ? Math.floor(budget.bytes / TAKES) : BLOCK_BYTES;
  const blockBytes = Math.min(Math.max(most, FEWEST_BYTES), BLOCK_BYTES);
  return { budget: own, pace: { blockBytes, isPatient: byteLength !== undefined } };
}

/** Rows that are read by their place. */
async function* placedRows({ layout, format: _, ...size }: Placed, reuseMemory: boolean): AsyncGenerator<DataSet> {
  const read = reuseMemory ? inTurns(layout.read) : layout.read;
  const source = storedRows([fixedPart({ ...layout, read })], { room: BLOCK_BYTES });
  const bytes = Math.min(PLACED_BYTES, BLOCK_ROWS * source.features * source.valueBytes);
  for await (const rows of prefetch(source.blocks(bytes))) yield { form: "matrix", x: rows as Dense, ...size };
}

/** The rows of a file as its reader gives them, the labels of each block with the types that they have there, unless blocks are put together. */
export async function* readRows(source: ByteSource, options: Reading): RowBlocks {
  // One byte says enough of a pipe's first line: it is not waited for more.
  const isPassing = source.byteLength === undefined && Number.isFinite(options.pace.blockBytes);
  const opened = await openSource(source, isPassing ? 1 : undefined);
  const { name } = opened;
  const isLines = isTextLines(name, options);
  if (opened.head.byteLength === 0 && !isLines) throw badFile(name, "", "expected data, found an empty file");
  const reader = isLines ? TEXT_LINES : readerOf(opened, options);
  const { format } = reader;
  if (!reader.isFolder) refuseResize(name, options);
  if (!reader.hasColumns) refuseColumns(name, isLines ? "lines of text" : `the ${format} file`, options);
  const textColumn = options.textColumn ?? (options.text ? (options.schema?.text ?? "text") : undefined);
  const reading = {
    ...options,
    ...(format === "tar" ? {} : { format }),
    ...(textColumn === undefined ? {} : { textColumn }),
  };
  const blocks = untilAborted(reader.read(reader.isText ? recoded(opened, options) : opened, reading), options.signal);
  const labelsAreText = reader.labelsAreText === true;
  if (options.isPart) return { ...(yield* blocks), labelsAreText };
  if (reader.isFolder) return yield* blocks;
  for await (const { y, ...data } of blocks) {
    yield y ? { ...data, y: typedLabels(name, y, labelsAreText) } : data;
  }
  return undefined;
}

/** The blocks until the caller ends the reading. */
async function* untilAborted(blocks: RowBlocks, signal: AbortSignal | undefined): RowBlocks {
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { done, value } = await blocks.next();
      if (done) return value;
      yield value;
    }
  } finally {
    await blocks.return(undefined);
  }
}

/** Whether a file has a text on each line, and nothing else. */
function isTextLines(name: string, { text, format, textColumn }: ReadOptions): boolean {
  if (text !== true || format !== undefined || textColumn !== undefined) return false;
  return name === STANDARD_INPUT || /\.txt$/i.test(name);
}

/** Refuses what says which columns rows have beside their features and labels, where there are none. */
export function refuseColumns(name: string, kind: string, options: ReadOptions): void {
  const parameter = [...Object.values(ROW_COLUMNS), "keep" as const].find(
    (option) => [options[option] ?? []].flat().length > 0,
  );
  if (parameter === undefined) return;
  const expected = "a file with columns (CSV, TSV, JSON lines, Parquet or Arrow)";
  const cure = () => "save its rows as one of these, with the column";
  throw new RanksimError("bad-params", { parameter, file: name, expected, found: kind, cure });
}

/** Rows of arrays are not resized; a model must not remember that they were. One that was trained on a folder takes arrays of its size. */
export function refuseResize(name: string, { resize, schema }: ReadOptions): void {
  if (!resize || schema) return;
  throw new RanksimError("bad-params", {
    parameter: "resize",
    expected: "a folder of images",
    found: `${name}, whose images are taken in the size they have`,
  });
}

/** The labels file beside an IDX file of images, by MNIST's habit of naming: train-images-idx3-ubyte, train-labels-idx1-ubyte. */
export async function siblingLabels(source: ByteSource): Promise<ByteSource | undefined> {
  const name = source.name.replace(/^.*[\\/]/, "");
  const labelName = name.replace(/images([-.])idx3/, "labels$1idx1");
  return labelName === name ? undefined : source.sibling?.(labelName);
}

/** The data with its labels, checked to be one for each row. */
export function withLabels(data: DataSet, y: RowLabels, name: string): DataSet {
  if (y.length !== rowCount(data)) {
    throw badFile(name, "", `expected ${rowCount(data)} labels, one for each row, found ${y.length}`);
  }
  return { ...data, y };
}

/** Rows of numbers with the size of the images that they are. */
export function withImages<D extends AnyRows>(data: D, images: ImageSize | "square", name: string): D {
  if (data.form !== "matrix") throw badFile(name, "", "expected rows of numbers for images, found text");
  const { features } = data.x;
  const side = Math.round(Math.sqrt(features));
  const size = images === "square" ? { width: side, height: side } : images;
  const pixels = size.width * size.height;
  if (features % pixels !== 0 || (images === "square" && pixels !== features)) {
    const wanted = images === "square" ? "square images" : `images of ${size.width} x ${size.height} pixels`;
    throw badFile(name, "", `expected ${wanted}, found rows of ${features} values`);
  }
  return { ...data, imageSize: size };
}
