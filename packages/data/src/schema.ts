/**
 * Between data and the schema of a model: `describeData` says what a model should remember of the rows it is trained on,
 * `expecting` turns what it remembers into options of reading.
 */

import type { Schema, SchemaColumn, SchemaReading } from "@ranksim/core";
import { type AnyRows, type DataSet, type Found, type MatrixRows, type RowLabels, rowCount } from "./data-set.ts";
import { isToldCategory, type ReadOptions } from "./readers/options.ts";
import { hashRows, joinTrainings, trainingOf } from "./row-hash.ts";
import { type ColumnKinds, detectColumns, schemaColumn } from "./table/detect.ts";
import { asTable } from "./table/of-rows.ts";
import { detectTable } from "./table/source.ts";
import { Table } from "./table/table.ts";

/** What of the options of reading is remembered where it was given. */
const REMEMBERED = ["header", "delimiter", "arrays", "encoding", "remove", "colour", "resize", "images"] as const;

/** How much a schema may say of training rows. */
export interface DescribeOptions {
  /** The options by which the data was read. */
  readonly options?: ReadOptions;
  /** Tables: what the columns were taken for; default: detected from their cells. */
  readonly columns?: readonly SchemaColumn[];
  /** Whether hashes of rows are kept, by which rows seen in training are recognised (default true). */
  readonly rows?: boolean;
}

/** The schema of data that a model is trained on. Of rows that are read, the hashes have to be given: `await hashesOf(data)`. */
export function describeData(data: AnyRows, given: DescribeOptions = {}, hashes?: Uint32Array): Schema {
  return schemaOf(data, hashes ?? hashRows(data as DataSet, given.columns), rowCount(data), given);
}

/** What the first of several files says of the others: the schema of its rows without the rows. */
export async function schemaOfFirst(first: AnyRows, options: ReadOptions): Promise<Schema> {
  const told = Object.keys(options.columns ?? {}).filter((name) => isToldCategory(options, name));
  // Categories that are numbers in one file may be words in the next.
  const data = told.length > 0 && first.form === "matrix" ? await asTable(first) : first;
  const kinds = (names: readonly string[]): ColumnKinds =>
    Object.fromEntries(told.filter((name) => names.includes(name)).map((name) => [name, "category"]));
  const columns =
    data.form === "table" && (await detectTable(data.table, kinds(data.table.columns.map(({ name }) => name))));
  const { training: _, ...schema } = schemaOf(
    { ...data, ...(data.y ? { y: data.y.slice(0, 1) as RowLabels } : {}) },
    new Uint32Array(0),
    0,
    { options, ...(columns ? { columns } : {}) },
  );
  return schema;
}

function schemaOf(
  data: AnyRows,
  hashes: Uint32Array,
  count: number,
  { options = {}, rows = true, columns }: DescribeOptions,
): Schema {
  const { label, text, ignored, firstFeature, fill, resize, genes }: Found = data.found ?? {};
  const reading: SchemaReading = {
    ...given(options, REMEMBERED),
    ...(firstFeature === undefined ? {} : { firstFeature }),
    ...(resize === undefined ? {} : { resize }),
    ...(genes ? { genes } : {}),
  };
  return {
    ...formOf(data, columns),
    ...(label === undefined ? {} : { label }),
    ...(Array.isArray(data.y?.[0]) ? { multilabel: true } : {}),
    ...(text === undefined ? {} : { text }),
    ...(ignored === undefined || ignored.length === 0 ? {} : { ignored }),
    ...(fill === undefined ? {} : { fill }),
    ...(Object.keys(reading).length === 0 ? {} : { reading }),
    training: trainingOf(hashes, data.y, count, rows),
  };
}

function formOf(data: AnyRows, columns: readonly SchemaColumn[] | undefined): Schema {
  if (data.form === "text") return { form: "text" };
  if (data.form === "matrix") return numbersOf(data);
  // What the columns of a table that is read were taken for is always given.
  return tableOf(columns ?? (data.table instanceof Table ? detectColumns(data.table) : []));
}

function numbersOf({ x, featureNames, featureIds, imageSize, classNames }: MatrixRows): Schema {
  const column = (name: string, c: number) => {
    const id = featureIds?.[c];
    return { name, type: "number" as const, ...(id && id !== name ? { id } : {}) };
  };
  return {
    form: "numbers",
    width: x.features,
    ...(featureNames ? { columns: featureNames.map(column) } : {}),
    ...(classNames ? { classNames } : {}),
    ...(imageSize ? { image: { ...imageSize, channels: x.features / (imageSize.width * imageSize.height) } } : {}),
  };
}

function tableOf(columns: readonly SchemaColumn[]): Schema {
  return { form: "table", width: columns.length, columns: columns.map(schemaColumn) };
}

function given<K extends keyof ReadOptions>(options: ReadOptions, names: readonly K[]): Pick<ReadOptions, K> {
  return Object.fromEntries(
    names.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]),
  ) as Pick<ReadOptions, K>;
}

/** The options with what their schema says of the file; what they say themselves goes first. */
export function expecting(options: ReadOptions): ReadOptions {
  const { schema } = options;
  if (schema === undefined) return options;
  const { reading = {}, text, multilabel, width } = schema;
  // A delimiter depends on the file's own format: the reader of CSV asks for it itself.
  const { delimiter: _, ...rest } = reading;
  return {
    ...rest,
    // Where texts are expected, they may as well come on lines of their own.
    ...(text === undefined || options.text ? {} : { textColumn: text }),
    ...(multilabel === undefined ? {} : { multilabel }),
    ...(width === undefined ? {} : { features: width }),
    ...options,
  };
}

/** The schema of a model to which the rows of another one were added. */
export function joinSchemas(before: Schema, added: Schema): Schema {
  const { heldOut: _, training: old, ...rest } = before;
  const { training: more } = added;
  return { ...rest, ...(old && more ? { training: joinTrainings(old, more) } : {}) };
}
