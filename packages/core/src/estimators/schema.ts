/**
 * What a model knows of the data it was trained on: which columns in which order, where labels and texts are found, what
 * takes the place of missing values, how training rows can be recognised. It is stored beside the model, so that nothing
 * said at training has to be said again. Nothing in it depends on the clock, the machine or the version of the library.
 */

import { RanksimError } from "../errors.ts";

import type { ImageShape } from "../matrix/image-shape.ts";
import type { Json } from "../model-file/saved.ts";
import type { Model } from "./estimator.ts";

/** What the cells of a column are. */
export type ColumnType = "number" | "category" | "boolean" | "date";

/** A column of a table: by its name, or by its number from 0 (negative from the last) where it has none. */
export type ColumnKey = string | number;

/** One column that the model takes. */
export interface SchemaColumn {
  readonly name: string;
  readonly type: ColumnType;
  /** What separates the decimals of its numbers, where that is a comma. */
  readonly decimal?: ",";
  /** The order of day, month and year in its dates, where they do not begin with the year. */
  readonly order?: "dmy" | "mdy";
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
  /** The preset that chose the recipe, and what it chose, in words. */
  readonly recipe?: { readonly preset: string; readonly about: string };
  readonly training?: {
    readonly rows: number;
    /** Digest of rows and labels: 64 hexadecimal digits. */
    readonly digest: string;
    /** The smallest hashes of training rows, 8 hexadecimal digits each, ascending; by them rows seen in training are recognised. */
    readonly seen?: string;
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
  if (wrong) throw new RanksimError("bad-params", `schema: ${wrong}`);
  schemas.set(model, Object.freeze({ ...schema }));
  return model;
}

/** Gives a model the schema that was stored with it; refuses (code "bad-file") one that it cannot have. */
export function attachStored(model: Model, schema: Json): void {
  const wrong = flawOf(schema, model);
  if (wrong) throw new RanksimError("bad-file", `schema: ${wrong}`);
  schemas.set(model, schema as unknown as Schema);
}

/** Sides of an image, columns of a row and counts of rows are below this. */
const LIMIT = 2 ** 32;

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isFlag: Check = (value) => typeof value === "boolean";
const isCount: Check = (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) < LIMIT;
const isPositive: Check = (value) => isCount(value) && (value as number) > 0;
const isKey: Check = (value) => isText(value) || (Number.isInteger(value) && Math.abs(value as number) < LIMIT);
const oneOf =
  (...values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every((item) => check(item));
/** An object with some of these fields, and all of those that `needed` names. */
const record =
  (fields: { readonly [name: string]: Check }, needed: readonly string[] = []): Check =>
  (value) =>
    isPlain(value) &&
    needed.every((name) => Object.hasOwn(value, name)) &&
    Object.keys(value).every((name) => Object.hasOwn(fields, name) && fields[name](value[name]));

const isPlain = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isSize = record({ width: isPositive, height: isPositive }, ["width", "height"]);

const FIELDS: { readonly [name: string]: readonly [check: Check, expected: string] } = {
  form: [oneOf("numbers", "table", "text"), "numbers, table or text"],
  width: [isPositive, "a number of columns"],
  columns: [
    listOf(
      record(
        {
          name: isText,
          type: oneOf("number", "category", "boolean", "date"),
          decimal: oneOf(","),
          order: oneOf("dmy", "mdy"),
        },
        ["name", "type"],
      ),
    ),
    "a list of columns with name and type",
  ],
  label: [isKey, "a column's name or number"],
  multilabel: [isFlag, "true or false"],
  text: [isKey, "a column's name or number"],
  ignored: [listOf(isKey), "a list of columns by name or number"],
  classNames: [listOf(isText), "a list of names"],
  image: [
    record({ width: isPositive, height: isPositive, channels: isPositive }, ["width", "height", "channels"]),
    "width, height and channels",
  ],
  fill: [listOf(Number.isFinite), "a list of numbers"],
  reading: [
    record({
      header: isFlag,
      delimiter: (value) => isText(value) && (value as string).length === 1,
      arrays: record({ x: isText, y: isText }),
      firstFeature: oneOf(0, 1),
      encoding: oneOf("utf-8", "latin1"),
      remove: listOf(oneOf("headers", "footers", "quotes")),
      colour: isFlag,
      resize: isSize,
      images: (value) => value === "square" || isSize(value),
    }),
    "known options of reading",
  ],
  recipe: [record({ preset: isText, about: isText }, ["preset", "about"]), "a preset and what it chose"],
  training: [
    record(
      {
        rows: isCount,
        digest: (value) => isText(value) && /^[0-9a-f]{64}$/.test(value as string),
        seen: (value) => isText(value) && /^([0-9a-f]{8})*$/.test(value as string),
      },
      ["rows", "digest"],
    ),
    "a number of rows and their digest",
  ],
  heldOut: [
    record(
      { rows: isCount, scores: (value) => isPlain(value) && Object.values(value).every((s) => Number.isFinite(s)) },
      ["rows", "scores"],
    ),
    "a number of rows and scores",
  ],
};

/** Why no such model can have this schema, if so. */
function flawOf(schema: unknown, model: Model): string | undefined {
  if (!isPlain(schema)) return "expected an object";
  for (const [name, value] of Object.entries(schema)) {
    if (!Object.hasOwn(FIELDS, name)) return `unknown field ${JSON.stringify(name)}`;
    const [check, expected] = FIELDS[name];
    if (!check(value)) return `${name}: expected ${expected}, found ${JSON.stringify(value)?.slice(0, 60)}`;
  }
  const { form, width, columns, fill, image } = schema as unknown as Schema;
  if (form === undefined) return "form: expected numbers, table or text, found none";
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
  if (wrapped) return takenBy(wrapped, form); // a model that answers with sets
  const { features, columns } = (steps ? steps[0] : model) as { features?: unknown; columns?: unknown };
  if (form === "table") return Array.isArray(columns) ? columns.length : 0;
  return typeof features === "number" ? features : undefined;
}
