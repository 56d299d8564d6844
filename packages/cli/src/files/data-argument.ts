/**
 * The argument DATA: a file, a folder, standard input or the name of a data set becomes rows with their labels, and what a
 * command needs of them is checked here, with words about the flags that would help.
 */

import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { type Model, RanksimError, type RowSource, type Schema, schemaOf } from "@ranksim/core";
import {
  type AnyRows,
  type BlockOptions,
  type ByteSource,
  catalogue,
  type DataSet,
  didYouMean,
  type Folder,
  fileSource,
  findDataSet,
  isInMemory,
  listedFiles,
  loadDataSet,
  locateDataSet,
  openPath,
  openData as openSources,
  openSources as openWhole,
  type ReadDataOptions,
  readBlocks,
  type Source,
  slices,
  stdinSource,
  storeData,
} from "@ranksim/data/node";
import { takesText, widthOf } from "@ranksim/learn";
import { memoryFor, withMemory } from "../agreement.ts";
import { type ReadingOptions, readOptions } from "../flags/reading-flags.ts";
import { usageError } from "../flags/usage-error.ts";
import type { Io } from "../io.ts";
import type { Session } from "../session.ts";
import { bytes } from "../terminal/numbers.ts";
import { type DataPart, dataParts } from "./data-names.ts";
import { noLabels, refuseSingle } from "./labels.ts";

/** What a command needs of the data. */
export interface Wanted {
  /** The model that will be used: it knows whether it takes text, and how many features. */
  readonly model?: Model;
  /** What the data is to be like, where no model says so. */
  readonly schema?: Schema;
  /** Whether text is expected, where there is no model yet. */
  readonly text?: boolean;
  /** Whether rows must have labels; false where labels are not used and may be wrong, "where known" where they are passed on. */
  readonly labelled?: boolean | "where known";
  /** Image folders: sizes that large images are made, to choose from. */
  readonly sizes?: readonly number[];
}

/** Data and what to call it. */
interface OpenedData<D extends AnyRows> {
  readonly set: D;
  readonly name: string;
}

type OnRead = (bytes: number, total: number | undefined) => void | Promise<void>;

/** Share of the memory that rows which do not fit may take in all their copies; filters, labels and the process itself have the rest. */
const ROOM = 0.5;
/** Copies of what is made of rows: one on the host and one in a back end. */
const MADE_COPIES = 2;
/** Rows that must fit in the memory: a block, which has a sixteenth of the room, then has four. */
const LEAST_ROWS = 128;

/** Reads DATA into memory: one name, or several whose rows follow each other and whose columns are those of the first. */
export async function openData(
  what: string | readonly string[],
  options: ReadingOptions,
  session: Session,
  wanted: Wanted,
): Promise<OpenedData<DataSet>> {
  const room = options.memory === undefined ? {} : { room: options.memory * ROOM };
  const { set, name } = await open(what, options, session, wanted, (sources, given) =>
    openWhole(sources, { ...given, ...room }),
  );
  return { set: set as DataSet, name };
}

/**
 * Reads DATA into memory where it fits there, with all that is made of it, and else into a cache file. `made` says how many bytes that are:
 * pooled patches take many times as much memory as their images.
 */
export async function openRows(
  what: readonly string[],
  options: ReadingOptions,
  session: Session,
  wanted: Wanted & { made?(set: DataSet): number | Promise<number> },
): Promise<OpenedData<AnyRows>> {
  const { io } = session;
  const memory = await memoryFor(options, io);
  const room = memory * ROOM;
  const scratch = io.env.RANKSIM_SCRATCH;
  const cache = scratch ? { scratch } : {};
  const opened = await open(what, withMemory(options, memory, io), session, wanted, async (sources, given) => {
    const set = await openSources(sources, { ...given, ...cache, room });
    if (!isInMemory(set) || !wanted.made || ("scaled" in set && set.scaled)) return set;
    const made = await wanted.made(set);
    return made * MADE_COPIES > memory ? storeData(set, room, scratch) : set;
  });
  const { set, name } = opened;
  if (set.form === "matrix" && !isInMemory(set)) refuseFewRows(name, set.x, memory);
  return opened;
}

async function open(
  what: string | readonly string[],
  options: ReadingOptions,
  session: Session,
  wanted: Wanted,
  read: (sources: readonly Source[], options: ReadDataOptions) => Promise<AnyRows>,
): Promise<OpenedData<AnyRows>> {
  const { io } = session;
  const parts = await dataParts(what, io.cwd);
  const [{ name: first }] = parts;
  const name = parts.length === 1 ? nameOf(first) : `${parts.length} files`;
  const { features, reading } = readingOf(options, wanted);
  const { labels } = options;
  const apart = {
    ...(labels === undefined ? {} : { labels: await namedFile(labels, io) }),
    ...(await metadataOf(options, io)),
  };
  // Rows of several sources are joined as they are.
  const { sizes: _, ...joined } = reading;
  const set = await session.metered(`reading ${name}`, async (meter) => {
    const onRead: OnRead = (read, total) => meter.show(total ? Math.min(read / total, 0.999) : 0, bytes(read));
    const sources = await Promise.all(parts.map((part) => sourceOf(part, session, onRead)));
    return read(sources, { ...(parts.length === 1 ? reading : joined), ...apart, signal: io.signal });
  });
  io.signal.throwIfAborted();
  for (const note of set.notes ?? []) await session.note(note);
  if (wanted.labelled === true && set.y === undefined) throw noLabels(first, set);
  if (wanted.labelled === true) refuseSingle(first, set.y, options.multilabel);
  if (set.form === "matrix") checkWidth(first, set, features, reading.schema);
  return { set, name };
}

/** Reads DATA block by block, in order, for answers that need no more than one row at a time. */
export async function* openBlocks(
  what: readonly string[],
  options: ReadingOptions & Pick<BlockOptions, "keep" | "reuseMemory">,
  session: Session,
  wanted: Wanted,
  onRead: OnRead,
): AsyncGenerator<DataSet> {
  const { features, reading } = readingOf(options, wanted);
  const { io } = session;
  const { keep = [], reuseMemory = false } = options;
  const told = new Set<string>();
  const apart = { ...(await metadataOf(options, io)), signal: io.signal };
  for (const part of await dataParts(what, io.cwd)) {
    const { name } = part;
    for await (const block of blocksOf(part, { ...reading, ...apart, keep, reuseMemory }, session, onRead)) {
      io.signal.throwIfAborted();
      for (const note of block.notes ?? []) {
        // The same note with another count, of another block, is no news.
        const kind = note.replace(/\d+/g, "");
        if (!told.has(kind)) await session.note(note);
        told.add(kind);
      }
      if (block.form === "matrix") checkWidth(name, block, features, reading.schema);
      yield block;
    }
  }
}

/** A file by the name that the user gave it. */
const namedFile = async (name: string, { cwd }: Io) => ({ ...(await fileSource(resolve(cwd, name))), name });

/** The table that says more of the rows, where one was given. */
const metadataOf = async ({ metadata }: ReadingOptions, io: Io) =>
  metadata === undefined ? {} : { metadata: await namedFile(metadata, io) };

async function* blocksOf(
  part: DataPart,
  options: BlockOptions,
  session: Session,
  onRead: OnRead,
): AsyncGenerator<DataSet> {
  const source = await sourceOf(part, session, onRead);
  if ("stream" in source) {
    yield* readBlocks(source, options);
    return;
  }
  if (options.keep?.length) throw usageError("--keep and --columns NAME:id belong to files of tables");
  const folder = part.images ? "" : `${part.name.replace(/\/$/, "")}/`;
  for (const block of slices((await openWhole([source], options)) as DataSet)) {
    const { rowNames = [] } = block;
    yield { ...block, kept: rowNames.map((row) => [`${folder}${row}`]) };
  }
}

/** Where the rows of a part of DATA come from. Errors name it as the user did. */
async function sourceOf({ name, images }: DataPart, { io }: Session, onRead: OnRead): Promise<Source> {
  const { signal } = io;
  if (images) {
    const files = listedFiles(images.map((image) => ({ name: image, path: resolve(io.cwd, image) })));
    return watchedFolder(files, signal);
  }
  if (name === "-") return watched(stdinSource(io.stdin), signal, onRead);
  const path = resolve(io.cwd, name);
  const found = await stat(path).catch(() => undefined);
  if (found) {
    const source = { ...(await openPath(path)), name };
    return "stream" in source ? watched(source, signal, onRead) : watchedFolder(source, signal);
  }
  const choice = findDataSet(name);
  if (!choice) {
    const names = catalogue.map((entry) => entry.name);
    throw new RanksimError(
      "bad-file",
      `${name}: no file, no folder and no data set of that name (${names.join(", ")})${didYouMean(name, names)}`,
    );
  }
  const { env } = io;
  if (!(await locateDataSet(name, { env }))) {
    const size = choice.sources[0].files.reduce((sum, file) => sum + (file.byteLength ?? Number.NaN), 0);
    throw new RanksimError(
      "bad-file",
      `${name} is not on this machine${Number.isNaN(size) ? "" : ` (${bytes(size)})`}; download it with: ranksim data fetch ${name}`,
    );
  }
  return { name, load: ({ labels: _, ...options }) => loadDataSet(name, { ...options, env }) };
}

/** The source, with progress for each piece that is read; it ends when the run does. */
function watched(source: ByteSource, signal: AbortSignal, onRead: OnRead): ByteSource {
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

/** What the options and the model say of the file. */
function readingOf(options: ReadingOptions, wanted: Wanted) {
  const text = wanted.model ? takesText(wanted.model) : wanted.text === true;
  const schema = (wanted.model && schemaOf(wanted.model)) ?? wanted.schema;
  const features = wanted.model && widthOf(wanted.model);
  const reading: ReadDataOptions = {
    ...(wanted.model || text || options.table === false ? {} : { table: true }),
    ...(text ? { text } : {}),
    ...(features === undefined ? {} : { features }),
    ...(wanted.sizes ? { sizes: wanted.sizes } : {}),
    ...(schema ? { schema } : {}),
    ...(wanted.model && schema && wanted.labelled === false ? { labelColumn: null } : {}),
    ...(wanted.labelled === true && options.labels === undefined ? { emptyLabels: "leave out" } : {}),
    ...(wanted.labelled === "where known" ? { emptyLabels: "keep" } : {}),
    ...readOptions(options),
  };
  return { features, reading };
}

/** Blocks of a row or two would take hours to train on, as each is read on its own. */
function refuseFewRows(name: string, { entries, rows, form, valueBytes }: RowSource, memory: number): void {
  const rowBytes = Math.ceil((entries / rows) * (form === "csr" ? 4 + valueBytes : valueBytes));
  const least = LEAST_ROWS * rowBytes;
  if (memory >= least) return;
  throw new RanksimError(
    "bad-params",
    `--memory: expected at least ${bytes(least)} for rows of ${bytes(rowBytes)} (${name}), found ${bytes(memory)}`,
  );
}

function checkWidth(
  what: string,
  { x, imageSize, rowNames, found }: Extract<AnyRows, { form: "matrix" }>,
  width: number | undefined,
  schema?: Schema,
): void {
  if (width === undefined || x.features === width || found?.columns) return;
  const { image } = schema ?? {};
  const refusal = (told: string) => new RanksimError("wrong-width", `${what}: ${told}`);
  if (image && imageSize) {
    const size = `${image.width}x${image.height}`;
    const found = `${imageSize.width} x ${imageSize.height}`;
    if (found !== `${image.width} x ${image.height}`)
      throw refusal(
        `the model takes images of ${size.replace("x", " x ")}, found ${found}${rowNames ? `; add --set resize=${size}` : ""}`,
      );
  }
  const hint = x.features === width + 1 ? "; if one column holds the labels, name it with --label" : "";
  throw refusal(`the model has ${width} features, the data has ${x.features}${hint}`);
}

function nameOf(what: string): string {
  return what === "-" ? "standard input" : basename(what);
}
