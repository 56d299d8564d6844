/**
 * The argument DATA: a file, a folder, standard input or the name of a data set becomes rows with their labels, and what a
 * command needs of them is checked here, with words about the flags that would help.
 */

import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { type Model, RanksimError, type Schema, schemaOf } from "@ranksim/core";
import {
  type Block,
  type BlockOptions,
  type ByteSource,
  catalogue,
  type DataSet,
  describeData,
  didYouMean,
  type Folder,
  fileSource,
  findDataSet,
  joinData,
  labelsInBlocks,
  layoutOf,
  listedFiles,
  loadDataSet,
  locateDataSet,
  type MatrixData,
  openPath,
  type ReadDataOptions,
  type RowLabels,
  readBlocks,
  readData,
  readLabels,
  readTextBlocks,
  slices,
  stdinSource,
  withLabels,
} from "@ranksim/data/node";
import { type ReadingOptions, readOptions } from "../flags/reading-flags.ts";
import type { TableOptions } from "../flags/table-flags.ts";
import { usageError } from "../flags/usage-error.ts";
import { takesText, widthOf } from "../model/parts.ts";
import type { Session } from "../session.ts";
import { bytes } from "../terminal/numbers.ts";
import type { Meter } from "../terminal/progress.ts";
import { type DataPart, dataParts } from "./data-names.ts";
import { noLabels, refuseSingle } from "./labels.ts";
import { readTextLines } from "./text-lines.ts";

/** What a command needs of the data. */
export interface Wanted {
  /** The model that will be used: it knows whether it takes text, and how many features. */
  readonly model?: Model;
  /** What the data is to be like, where no model says so. */
  readonly schema?: Schema;
  /** Whether text is expected, where there is no model yet. */
  readonly text?: boolean;
  /** Whether rows must have labels; false where labels are not used and may be wrong. */
  readonly labelled?: boolean;
  /** Image folders: sizes that large images are made, to choose from. */
  readonly sizes?: readonly number[];
}

/** Data and what to call it. */
interface OpenedData {
  readonly set: DataSet;
  readonly name: string;
}

/** Reads DATA: one name, or several whose rows follow each other and whose columns are those of the first. */
export async function openData(
  what: string | readonly string[],
  options: ReadingOptions,
  session: Session,
  wanted: Wanted,
): Promise<OpenedData> {
  const parts = await dataParts(what, session.io.cwd);
  if (parts.length === 1) return openOne(parts[0], options, session, wanted);
  if (options.labels !== undefined)
    throw usageError("--labels belongs to one file of rows; several have their own labels");
  const sets: DataSet[] = [];
  const { sizes: _, ...asked } = wanted; // rows of several sources are joined as they are
  for (const part of parts) {
    const like =
      sets.length === 0 ? asked : { ...asked, schema: wanted.schema ?? describeData(sets[0], { rows: false }) };
    sets.push((await openOne(part, options, session, like)).set);
  }
  return { set: joinData(sets), name: `${parts.length} files` };
}

async function openOne(part: DataPart, options: ReadingOptions, session: Session, wanted: Wanted): Promise<OpenedData> {
  const { text, features, reading } = readingOf(options, wanted);
  const what = part.name;
  let set = await session.metered(`reading ${nameOf(what)}`, (meter) => read(part, reading, text, session, meter));
  if (options.labels !== undefined) {
    const source = await fileSource(resolve(session.io.cwd, options.labels));
    set = withLabels(set, await readLabels(source, reading), options.labels);
  }
  session.io.signal.throwIfAborted();
  for (const note of set.notes ?? []) await session.note(note);
  if (wanted.labelled && set.y === undefined) throw noLabels(what, set);
  if (wanted.labelled) refuseSingle(what, set.y, options.multilabel);
  if (set.form === "matrix") checkWidth(what, set, features, reading.schema);
  return { set, name: nameOf(what) };
}

/** Reads DATA block by block, in order, for answers that need no more than one row at a time. */
export async function* openBlocks(
  what: readonly string[],
  options: ReadingOptions & Pick<BlockOptions, "keep" | "reuseMemory">,
  session: Session,
  wanted: Wanted,
  onRead: (bytes: number, total: number | undefined) => Promise<void>,
): AsyncGenerator<Block> {
  const { text, features, reading } = readingOf(options, wanted);
  const { io } = session;
  const { keep = [], reuseMemory = false } = options;
  const told = new Set<string>();
  for (const part of await dataParts(what, io.cwd)) {
    const { name } = part;
    for await (const block of blocksOf(part, { ...reading, keep, reuseMemory }, text, session, onRead)) {
      io.signal.throwIfAborted();
      for (const note of block.data.notes ?? []) {
        // The same note with another count, of another block, is no news.
        const kind = note.replace(/\d+/g, "");
        if (!told.has(kind)) await session.note(note);
        told.add(kind);
      }
      if (block.data.form === "matrix") checkWidth(name, block.data, features, reading.schema);
      yield block;
    }
  }
}

/** The labels in the rows of a file, read in blocks, with the types that they have where it is read whole; undefined where it has none. */
export async function openLabels(
  name: string,
  options: ReadingOptions,
  session: Session,
  wanted: Wanted,
  onRead: (bytes: number, total: number | undefined) => Promise<void>,
): Promise<RowLabels | undefined> {
  const { text, reading } = readingOf(options, wanted);
  const { io } = session;
  const file = await fileSource(resolve(io.cwd, name));
  if (isTextLines(name, reading, text) || (await layoutOf(file))) return undefined;
  return labelsInBlocks(watched({ ...file, name }, io.signal, onRead), withTextColumn(reading, text));
}

async function* blocksOf(
  part: DataPart,
  options: BlockOptions,
  text: boolean,
  session: Session,
  onRead: (bytes: number, total: number | undefined) => Promise<void>,
): AsyncGenerator<Block> {
  const { io } = session;
  const { name: what, images } = part;
  const found = what === "-" || images ? undefined : await stat(resolve(io.cwd, what)).catch(() => undefined);
  if (what !== "-" && !found?.isFile()) {
    if (options.keep?.length) throw usageError("--keep and --id-column belong to files of tables");
    const meter = { show: (share: number) => onRead(share, 1) };
    for (const { data } of slices(await read(part, options, text, session, meter))) {
      const { rowNames = [] } = data;
      yield { data, kept: rowNames.map((row) => [images ? row : `${what.replace(/\/$/, "")}/${row}`]) };
    }
    return;
  }
  const given = what === "-" ? stdinSource(io.stdin) : await fileSource(resolve(io.cwd, what));
  const source = watched({ ...given, name: what === "-" ? given.name : what }, io.signal, onRead);
  yield* isTextLines(what, options, text)
    ? readTextBlocks(source, options.encoding)
    : readBlocks(source, withTextColumn(options, text));
}

/** The source, with progress for each piece that is read; it ends when the run does. */
function watched(
  source: ByteSource,
  signal: AbortSignal,
  onRead: (bytes: number, total: number | undefined) => void | Promise<void>,
): ByteSource {
  const { slice } = source;
  return {
    ...source,
    async *stream() {
      let read = 0;
      for await (const chunk of source.stream()) {
        signal.throwIfAborted();
        read += chunk.byteLength;
        await onRead(read, source.byteLength);
        yield chunk;
      }
    },
    ...(slice
      ? {
          async slice(from: number, to: number, into?: Uint8Array) {
            signal.throwIfAborted();
            await onRead(from, source.byteLength);
            return slice.call(source, from, to, into);
          },
        }
      : {}),
  };
}

/** What the options and the model say of the file. */
function readingOf(options: ReadingOptions & TableOptions, wanted: Wanted) {
  const text = wanted.model ? takesText(wanted.model) : wanted.text === true;
  const schema = (wanted.model && schemaOf(wanted.model)) ?? wanted.schema;
  const features = wanted.model && widthOf(wanted.model);
  const reading: ReadDataOptions = {
    ...(wanted.model || text || options.table === false ? {} : { table: true }),
    ...(features === undefined ? {} : { features }),
    ...(wanted.sizes ? { sizes: wanted.sizes } : {}),
    ...(schema ? { schema } : {}),
    ...(wanted.model && schema && wanted.labelled === false ? { labelColumn: null } : {}),
    ...readOptions(options),
  };
  return { text, features, reading };
}

async function read(
  { name: what, images }: DataPart,
  options: ReadDataOptions,
  text: boolean,
  { io }: Session,
  meter: Pick<Meter, "show">,
): Promise<DataSet> {
  const watch = (source: ByteSource) =>
    watched(source, io.signal, (read, total) => meter.show(total ? Math.min(read / total, 0.999) : 0, bytes(read)));
  if (images) {
    const files = listedFiles(images.map((name) => ({ name, path: resolve(io.cwd, name) })));
    return readData(watchedFolder(files, io.signal), options);
  }
  if (what === "-") {
    const source = watch(stdinSource(io.stdin));
    return text && isPlain(options) ? readTextLines(source, options) : readData(source, withTextColumn(options, text));
  }
  const path = resolve(io.cwd, what);
  const found = await stat(path).catch(() => undefined);
  const choice = found ? undefined : findDataSet(what);
  if (choice) {
    const env = io.env;
    if (await locateDataSet(what, { env })) return loadDataSet(what, { ...options, env });
    const size = choice.sources[0].files.reduce((sum, file) => sum + (file.byteLength ?? Number.NaN), 0);
    throw new RanksimError(
      "bad-file",
      `${what} is not on this machine${Number.isNaN(size) ? "" : ` (${bytes(size)})`}; download it with: ranksim data fetch ${what}`,
    );
  }
  if (!found) {
    const all = catalogue.map((entry) => entry.name);
    const names = all.join(", ");
    throw new RanksimError(
      "bad-file",
      `${what}: no file, no folder and no data set of that name (${names})${didYouMean(what, all)}`,
    );
  }
  if (found.isFile() && isTextLines(what, options, text)) {
    return readTextLines(watch(await fileSource(path)), options);
  }
  // Errors name the data as the user did.
  const source = { ...(await openPath(path)), name: what };
  if (!("stream" in source)) return readData(watchedFolder(source, io.signal), options);
  return readData(watch(source), withTextColumn(options, text));
}

function watchedFolder(folder: Folder, signal: AbortSignal): Folder {
  return {
    ...folder,
    async *entries() {
      for await (const entry of folder.entries()) {
        signal.throwIfAborted();
        yield entry;
      }
    },
  };
}

/** Whether nothing says that the source is a table. */
const isPlain = ({ format, textColumn }: ReadDataOptions): boolean => format === undefined && textColumn === undefined;

/** Whether a file has a text on each line, and nothing else. */
export const isTextLines = (name: string, options: ReadDataOptions, text: boolean): boolean =>
  text && isPlain(options) && (name === "-" || /\.txt$/i.test(name));

/** Tables of text have it in the column "text", unless another is named. */
function withTextColumn(options: ReadDataOptions, text: boolean): ReadDataOptions {
  const known = options.textColumn ?? options.schema?.text;
  return text && known === undefined ? { ...options, textColumn: "text" } : options;
}

function checkWidth(
  what: string,
  { x, imageSize, rowNames }: MatrixData,
  width: number | undefined,
  schema?: Schema,
): void {
  if (width === undefined || x.features === width) return;
  const { image } = schema ?? {};
  const refusal = (told: string) => new RanksimError("wrong-width", `${what}: ${told}`);
  if (image && imageSize) {
    const size = `${image.width}x${image.height}`;
    const found = `${imageSize.width} x ${imageSize.height}`;
    if (found !== `${image.width} x ${image.height}`)
      throw refusal(
        `the model takes images of ${size.replace("x", " x ")}, found ${found}${rowNames ? `; add --resize ${size}` : ""}`,
      );
  }
  const hint = x.features === width + 1 ? "; if one column holds the labels, name it with --label-column" : "";
  throw refusal(`the model has ${width} features, the data has ${x.features}${hint}`);
}

function nameOf(what: string): string {
  return what === "-" ? "standard input" : basename(what);
}
