/**
 * What a model knows of the data it was trained on: which columns in which order, where labels and texts are found, what
 * takes the place of missing values, how training rows can be recognised. It is stored beside the model, so that nothing
 * said at training has to be said again. Nothing in it depends on the clock, the machine or the version of the library.
 */

import { RanksimError } from "../errors.ts";
import type { ImageShape } from "../matrix/image-shape.ts";
import type { Json } from "../model-file/saved.ts";
import {
  type Check,
  COUNT,
  FLAG,
  isPlain,
  listOf,
  NUMBER,
  oneOf,
  POSITIVE,
  record,
  such,
  TEXT,
} from "../model-file/stored/record.ts";
import type { Model } from "./estimator.ts";

/** What the cells of a column are. */
export type ColumnType = "number" | "category" | "boolean" | "date" | "time" | "text";

/** A column of a table: by its name, or by its number from 0 (negative from the last) where it has none. */
export type ColumnKey = string | number;

/** One column that the model takes. */
export interface SchemaColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** Another name by which it is found: the Ensembl number of a gene. */
  readonly id?: string;
  /** What separates the decimals of its numbers, where that is a comma. */
  readonly decimal?: ",";
  /** What sets thousands apart in its numbers, where something does. */
  readonly thousands?: "," | "." | " " | "'";
  /** The currency or percent sign beside its numbers, where one is. */
  readonly unit?: string;
  /** The order of day, month and year in its dates, where they do not begin with the year, or what they count from 1970. */
  readonly order?: "dmy" | "mdy" | "seconds" | "milliseconds";
  /** Cells that stand for no value in this column, beside those that do everywhere. */
  readonly missing?: readonly string[];
  /** Whether its categories are known by how they are written: 01 is another one than 1. Else numbers are known by their value. */
  readonly written?: true;
}

/** How a file was read, where this was said or found out at training; what is said later takes its place. */
export interface SchemaReading {
  readonly header?: boolean;
  readonly delimiter?: string;
  readonly arrays?: { readonly x?: string; readonly y?: string };
  /** svmlight: the number of the first feature. */
  readonly firstFeature?: 0 | 1;
  readonly encoding?: "utf-8" | "latin1";
  readonly remove?: readonly ("headers" | "footers" | "quotes")[];
  /** Image folders: whether colours were kept, and the size that images were made. */
  readonly colour?: boolean;
  readonly resize?: { readonly width: number; readonly height: number };
  /** The size of the images that rows of numbers are. */
  readonly images?: { readonly width: number; readonly height: number } | "square";
  /** Whether the columns are genes: they are found by any of their names, and a file may lack some. */
  readonly genes?: boolean;
}

/** A recipe that was tried, judged by rows that it was not trained on, or why it was not. */
export interface TriedRecipe {
  readonly name: string;
  readonly reason?: string;
  /** Rows that it was judged by. */
  readonly rows?: number;
  readonly logLoss?: number;
  readonly accuracy?: number;
  /** Multiply-adds to answer one row. */
  readonly multiplyAdds?: number;
  /** What its probabilities count in the model; absent where it is no part of it. */
  readonly weight?: number;
}

/** The data of a model. */
export interface Schema {
  /** What a row is: numbers as they are, the cells of a table for an encoder, or a text. */
  readonly form: "numbers" | "table" | "text";
  /** Columns of a row; absent for text. */
  readonly width?: number;
  /** The columns in the order in which the model takes them, where they have names. */
  readonly columns?: readonly SchemaColumn[];
  /** The column that holds the labels. */
  readonly label?: ColumnKey;
  /** Whether a row may have several labels. */
  readonly multilabel?: boolean;
  /** The column that holds the text. */
  readonly text?: ColumnKey;
  /** Columns that were left out. */
  readonly ignored?: readonly ColumnKey[];
  /** What labels 0, 1, … stand for, where they are numbers with names. */
  readonly classNames?: readonly string[];
  readonly image?: ImageShape;
  /** What takes the place of a missing number in each column; absent where missing numbers are refused or encoded. */
  readonly fill?: readonly number[];
  readonly reading?: SchemaReading;
  /** The preset that chose the recipe, what it chose, in words, and what was tried. */
  readonly recipe?: { readonly preset: string; readonly about: string; readonly tried?: readonly TriedRecipe[] };
  readonly training?: {
    readonly rows: number;
    /** Digest of rows and labels: 64 hexadecimal digits. */
    readonly digest: string;
    /** The smallest hashes of training rows, 8 hexadecimal digits each, ascending; by them rows seen in training are recognised. */
    readonly seen?: string;
    /** Rows that equal another one: how often a new row is like a training row by chance. Absent in models of 0.2. */
    readonly repeats?: number;
  };
  /** Scores on rows that were held out of training. */
  readonly heldOut?: { readonly rows: number; readonly scores: { readonly [name: string]: number } };
}

const schemas = new WeakMap<Model, Schema>();
/** Schemas of models that were made of others; one that is given goes first. */
const inherited = new WeakMap<Model, Schema>();

/** The schema a model was given or loaded with, or that of the model it was made of. */
export function schemaOf(model: Model): Schema | undefined {
  return schemas.get(model) ?? inherited.get(model);
}

/**
 * A model made of another, which takes the same data and so keeps its schema: without scores, which were those of the other, and
 * where it has seen more rows without what is known of them.
 */
export function inheritSchema<M extends Model>(model: M, from: Model, hasNewRows = false): M {
  const schema = schemaOf(from);
  if (schema === undefined) return model;
  const { heldOut: _, training, ...rest } = schema;
  inherited.set(model, Object.freeze({ ...rest, ...(training && !hasNewRows ? { training } : {}) }));
  return model;
}

/**
 * Gives a model its schema, which `saveModel` then stores, and returns the model. A model has one schema, which cannot be replaced; a second
 * one is refused (code "unsupported").
 */
export function withSchema<M extends Model>(model: M, schema: Schema): M {
  if (schemas.has(model)) throw new RanksimError("unsupported", `this ${model.kind} model has a schema already`);
  const wrong = flawOf(schema, model);
  if (wrong) throw new RanksimError("bad-params", wrong);
  schemas.set(model, Object.freeze({ ...schema }));
  return model;
}

/** Gives a model the schema that was stored with it; refuses (code "bad-file") one that it cannot have. */
export function attachStored(model: Model, schema: Json): void {
  const wrong = flawOf(schema, model);
  if (wrong) throw new RanksimError("bad-file", wrong);
  schemas.set(model, schema as unknown as Schema);
}

const hex = (expected: string, pattern: RegExp): Check =>
  such(expected, (value) => typeof value === "string" && pattern.test(value));

const KEY = such(
  "a column's name or number",
  (value) => typeof value === "string" || (Number.isInteger(value) && Math.abs(value as number) < 2 ** 32),
);
const SIZE = record({ width: POSITIVE, height: POSITIVE });
const COLUMN = record(
  { name: TEXT, type: oneOf("number", "category", "boolean", "date", "time", "text") },
  {
    id: TEXT,
    decimal: oneOf(","),
    thousands: oneOf(",", ".", " ", "'"),
    unit: TEXT,
    order: oneOf("dmy", "mdy", "seconds", "milliseconds"),
    missing: listOf(TEXT),
    written: such("true", (value) => value === true),
  },
);
const READING = record(
  {},
  {
    header: FLAG,
    delimiter: such("one character", (value) => typeof value === "string" && value.length === 1),
    arrays: record({}, { x: TEXT, y: TEXT }),
    firstFeature: oneOf(0, 1),
    encoding: oneOf("utf-8", "latin1"),
    remove: listOf(oneOf("headers", "footers", "quotes")),
    colour: FLAG,
    resize: SIZE,
    genes: FLAG,
    images: (value, place) => (value === "square" ? undefined : SIZE(value, place)),
  },
);
const SCORES = such("scores by name", (value) => isPlain(value) && Object.values(value).every(Number.isFinite));

const TRIED = record(
  { name: TEXT },
  { reason: TEXT, rows: POSITIVE, logLoss: NUMBER, accuracy: NUMBER, multiplyAdds: COUNT, weight: NUMBER },
);

const SCHEMA = record(
  { form: oneOf("numbers", "table", "text") },
  {
    width: POSITIVE,
    columns: listOf(COLUMN),
    label: KEY,
    multilabel: FLAG,
    text: KEY,
    ignored: listOf(KEY),
    classNames: listOf(TEXT),
    image: record({ width: POSITIVE, height: POSITIVE, channels: POSITIVE }),
    fill: listOf(NUMBER),
    reading: READING,
    recipe: record({ preset: TEXT, about: TEXT }, { tried: listOf(TRIED) }),
    training: record(
      { rows: COUNT, digest: hex("64 hexadecimal digits", /^[0-9a-f]{64}$/) },
      { seen: hex("hashes of 8 hexadecimal digits", /^([0-9a-f]{8})*$/), repeats: COUNT },
    ),
    heldOut: record({ rows: COUNT, scores: SCORES }),
  },
);

/** Why no such model can have this schema, if so. */
function flawOf(schema: unknown, model: Model): string | undefined {
  const wrong = SCHEMA(schema, "schema");
  if (wrong !== undefined) return wrong;
  const misfit = misfitOf(schema as Schema, model);
  return misfit && `schema: ${misfit}`;
}

/** What in a schema does not fit the rest of it, or the model. */
function misfitOf({ form, width, columns, fill, image }: Schema, model: Model): string | undefined {
  if ((width === undefined) !== (form === "text")) return "expected a width for rows of columns, and none for text";
  if (width === undefined) return columns || fill || image ? "expected no columns for text" : undefined;
  if (columns && columns.length !== width)
    return `expected ${width} columns as its width says, found ${columns.length}`;
  if (columns && new Set(columns.map(({ name }) => name)).size !== width) return "expected columns of different names";
  if (fill && fill.length !== width) return `expected ${width} numbers to fill in, found ${fill.length}`;
  if (image && image.width * image.height * image.channels !== width) {
    return `an image of ${image.width} × ${image.height} × ${image.channels} has not ${width} values`;
  }
  const taken = takenBy(model, form);
  if (taken !== undefined && taken !== width) return `the model takes ${taken} columns, found ${width}`;
  return undefined;
}

/** Columns that the model, or its first step, takes; undefined where it does not say. An encoder of tables has a list of them. */
function takenBy(model: Model, form: Schema["form"]): number | undefined {
  const { steps, model: wrapped } = model as { readonly steps?: readonly Model[]; readonly model?: Model };
  const inner = wrapped ?? steps?.[0]; // of a model that answers with sets, of a pipeline or a blend
  if (inner) return takenBy(inner, form);
  const { features, columns } = model as { features?: unknown; columns?: unknown };
  if (form === "table") return Array.isArray(columns) ? columns.length : 0;
  return typeof features === "number" ? features : undefined;
}
