/**
 * Data that need not fit in memory: files of numbers become one source of rows. Those that can be read by number are read where they
 * lie; all others are read twice, once to learn what they hold and once to be written to a cache file.
 */

import { RanksimError, type Rows, type Values } from "@ranksim/core";
import { readBlocks } from "../blocks.ts";
import type { DataSet, Found, MatrixData, RowLabels, SourceData } from "../data-set.ts";
import { joinLabels } from "../join.ts";
import { type ReadDataOptions, refuseResize, siblingLabels, withImages } from "../read.ts";
import { type InBlocks, LabelBlocks } from "../readers/label-blocks.ts";
import { readLabels } from "../readers/labels.ts";
import { fixedRows, layoutOf } from "../rows/fixed-rows.ts";
import { joinSources, widestOf } from "../rows/joined-rows.ts";
import { schemaOfFirst } from "../schema.ts";
import type { ByteSource } from "../source.ts";
import { arrangeRows, type CacheShape, cacheRows, keeper, scratchFolder } from "./cached-rows.ts";
import { duckDbBlocks } from "./duckdb.ts";

/** How rows are opened. */
export interface OpenRowsOptions extends ReadDataOptions {
  /** Bytes of memory that rows may take at a time, in all their copies. */
  readonly room: number;
  /** The folder for cache files; else RANKSIM_SCRATCH, else that of temporary files. They have the size of the rows. */
  readonly scratch?: string;
}

/** Where rows of numbers were expected, and a table was found. */
export class HoldsWords extends RanksimError {}

/**
 * Opens files as one source, in the order given. They must hold numbers; text and tables with words are refused (`openTable` takes them).
 * Columns of later files are found by the names that those of the first have.
 */
export async function openRows(files: readonly ByteSource[], options: OpenRowsOptions): Promise<SourceData> {
  const { scratch: folder = scratchFolder() } = options;
  refuseResize(files[0].name, options);
  if (options.missing === "mean") {
    throw new RanksimError("unsupported", "missing: expected a number to fill in, as a mean is of all rows in memory");
  }
  const parts: SourceData[] = [];
  let like = options;
  for (const [j, file] of files.entries()) {
    parts.push((await placedData(file, options, folder)) ?? (await cachedData(file, like, folder)));
    if (j === 0 && files.length > 1 && !options.schema) like = { ...options, ...likeFirst(parts[0], options) };
  }
  const sources = parts.map((part) => part.x);
  const x = await joinSources(sources, (source, rows) => arrangeRows(source, rows, folder));
  const notes = [...new Set(parts.flatMap((part) => part.notes ?? []))];
  const joined: SourceData = {
    ...withoutLabels(parts[0]),
    ...{ x, ...labelsOf(parts, files), ...(notes.length === 0 ? {} : { notes }) },
  };
  const labelled = options.labels
    ? withRowLabels(joined, await readLabels(options.labels, options), options.labels.name)
    : joined;
  return options.images === undefined ? labelled : withImages(labelled, options.images, files[0].name);
}

/** What the first file says of the others: the names of its columns, or how features are counted. */
function likeFirst(first: SourceData, options: OpenRowsOptions): Partial<OpenRowsOptions> {
  const { firstFeature } = first.found ?? {};
  const schema = schemaOfFirst(first, { options, rows: false });
  return firstFeature === undefined ? { schema } : { schema, firstFeature };
}

/** A file that is read by number, with the labels that lie beside it. */
async function placedData(file: ByteSource, options: OpenRowsOptions, folder: string): Promise<SourceData | undefined> {
  const placed = await layoutOf(file);
  if (!placed) return undefined;
  const { layout, ...size } = placed;
  const x = fixedRows({
    ...layout,
    room: options.room,
    arrange: (source, rows) => arrangeRows(source, rows, folder),
    keep: keeper(options.room, folder),
  });
  const data: SourceData = { form: "source", x, ...size };
  const beside = options.labels ? undefined : await siblingLabels(file);
  return beside ? withRowLabels(data, await readLabels(beside, options), beside.name) : data;
}

/** What a first reading finds. */
interface Survey {
  rows: number;
  features: number;
  smallest: number;
  like: Values;
  form: MatrixData["x"]["form"];
  labels: LabelBlocks;
  first: MatrixData;
  notes: Set<string>;
}

async function cachedData(file: ByteSource, options: OpenRowsOptions, folder: string): Promise<SourceData> {
  const { room, labels: _labels, budget: _budget, ...reading } = options;
  // Whether features count from 0 or 1 depends on all rows, so that the first reading takes them as they are, however many.
  const { features: _features, ...anyWidth } = reading;
  const survey = await surveyOf(file, reading.firstFeature === undefined ? { ...anyWidth, firstFeature: 0 } : reading);
  const isCounted = survey.first.found?.firstFeature !== undefined;
  const firstFeature = reading.firstFeature ?? (isCounted && survey.smallest > 0 ? 1 : 0);
  const features =
    reading.features ??
    reading.schema?.width ??
    survey.features - (isCounted && reading.firstFeature === undefined ? firstFeature : 0);
  const exact = isCounted ? { ...reading, firstFeature, features } : reading;
  const { form, like, rows }: Survey = survey;
  const shape = { form, rows, features: isCounted ? features : survey.features, like, room, folder };
  const x = await cacheRows(rowsIn(file, exact), shape as CacheShape);
  const { x: _x, y: _y, form: _form, rowNames: _names, notes: _notes, found, ...facts } = survey.first;
  const counted: Found | undefined = found && (isCounted ? { ...found, firstFeature } : found);
  const data: SourceData = {
    form: "source",
    x,
    ...facts,
    ...(counted ? { found: counted } : {}),
    ...(survey.notes.size === 0 ? {} : { notes: [...survey.notes] }),
  };
  const y = survey.labels.finish();
  return y ? withRowLabels(data, y, file.name) : data;
}

async function surveyOf(file: ByteSource, options: ReadDataOptions): Promise<Survey> {
  let survey: Survey | undefined;
  const labels = new LabelBlocks();
  const reading: ReadDataOptions & InBlocks = { ...options, labelBlocks: labels };
  for await (const data of setsIn(file, reading)) {
    survey ??= {
      ...{ rows: 0, features: 0, smallest: Number.POSITIVE_INFINITY, like: data.x.values.slice(0, 0) as Values },
      ...{ form: data.x.form, labels, first: withoutRows(data), notes: new Set<string>() },
    };
    survey.rows += data.x.rows;
    survey.features = Math.max(survey.features, data.x.features);
    if (data.x.form !== survey.form) {
      throw new RanksimError("unsupported", `${file.name}: expected rows of one form, found sparse and dense ones`);
    }
    if (data.x.form === "csr") for (const i of data.x.indices) if (i < survey.smallest) survey.smallest = i;
    survey.like = widestOf([survey.like, data.x.values]);
    labels.add(data.y);
    for (const note of data.notes ?? []) survey.notes.add(note);
  }
  return survey as Survey; // a file without rows was refused
}

/** The blocks of a file, which must hold numbers. */
async function* setsIn(file: ByteSource, options: ReadDataOptions): AsyncGenerator<MatrixData> {
  for await (const data of blocksOf(file, { ...options, table: options.table ?? false })) {
    if (data.form === "text") throw new RanksimError("unsupported", `${file.name}: expected numbers, found text`);
    if (data.form === "table") throw new HoldsWords("unsupported", `${file.name}: expected numbers, found a table`);
    yield data;
  }
}

/** The blocks of a file, whatever they hold. */
export async function* blocksOf(file: ByteSource, options: ReadDataOptions): AsyncGenerator<DataSet> {
  const fast = await duckDbBlocks(file, options);
  if (fast) yield* fast;
  else for await (const { data } of readBlocks(file, options)) yield data;
}

async function* rowsIn(file: ByteSource, options: ReadDataOptions): AsyncGenerator<Rows> {
  for await (const { x } of setsIn(file, options)) yield x;
}

/** The first block without its rows, which need not stay. */
const withoutRows = (data: MatrixData): MatrixData => ({ ...data, x: data.x.slice(0, 0) });

function withoutLabels({ y: _y, ...rest }: SourceData): SourceData {
  return rest;
}

function labelsOf(parts: readonly SourceData[], files: readonly ByteSource[]): { y?: RowLabels } {
  const labelled = parts.filter(({ y }) => y !== undefined).length;
  if (labelled === 0) return {};
  if (labelled === files.length) return { y: joinLabels(parts.map(({ y }) => y as RowLabels)) };
  throw new RanksimError(
    "bad-labels",
    `expected labels in all files or in none, found them in ${labelled} of ${files.length}`,
  );
}

function withRowLabels(data: SourceData, y: RowLabels, name: string): SourceData {
  if (y.length === data.x.rows) return { ...data, y };
  throw new RanksimError("bad-file", `${name}: expected ${data.x.rows} labels, one for each row, found ${y.length}`);
}
