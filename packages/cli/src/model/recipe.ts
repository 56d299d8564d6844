/** What is to be trained: the estimator alone, behind a vectoriser where rows are text, behind an encoder where they are a table. */

import {
  ConformalClassifier,
  type Label,
  type LabelledRows,
  type Labels,
  type Matrix,
  type Model,
  Pipeline,
  RanksimError,
  type Run,
} from "@ranksim/core";
import {
  type AnySource,
  type ColumnKind,
  type DataSet,
  type DetectedColumn,
  detectColumns,
  detectSource,
  IS_TEXT,
  looksLikeTable,
  rowCount,
  type SourceData,
  sourceLooksLikeTable,
  TABLE_VOTERS,
  Table,
  TableEncoder,
  type TableLike,
  type TableSourceData,
} from "@ranksim/data";
import { tableOfRows } from "@ranksim/data/node";
import type { FilterEstimator } from "../flags/estimator-flags.ts";
import { givenPatchFlags } from "../flags/patch-flags.ts";
import { type ColumnsGiven, givenTableFlags, givenTableParams, type TableOptions } from "../flags/table-flags.ts";
import { usageError } from "../flags/usage-error.ts";
import { givenVectorizerFlags, vectorizerOf } from "../flags/vectorizer-flags.ts";
import type { Io } from "../io.ts";
import { quoted } from "../provenance.ts";
import { cut } from "../terminal/style.ts";
import { inputFor } from "./passage.ts";
import { pickSource, sourceBlocks } from "./source-rows.ts";

/** A recipe for numbers, for texts or for a table. */
export type Recipe =
  | { readonly takes: "numbers"; readonly estimator: FilterEstimator | Pipeline }
  | { readonly takes: "text"; readonly estimator: Pipeline<readonly string[]> }
  | { readonly takes: "table"; readonly estimator: Pipeline<TableLike>; readonly columns: readonly DetectedColumn[] };

type Options = TableOptions & { readonly text?: boolean; readonly [name: string]: unknown };

/** The recipe as far as it is known before the data is. */
export async function recipeOf(estimator: FilterEstimator, options: Options, io: Io): Promise<Recipe> {
  if (options.text === true) {
    const [stray] = [...givenTableFlags(options), ...(options.table === true ? ["--table"] : [])];
    if (stray) throw usageError(`${stray} is about tables, --text about text`);
    const vectorizer = await vectorizerOf(options, io.cwd);
    return { takes: "text", estimator: new Pipeline<readonly string[], Model>([vectorizer, estimator]) };
  }
  const [stray] = [...givenVectorizerFlags(options), ...(options.vectorizer === undefined ? [] : ["--vectorizer"])];
  if (stray) throw usageError(`${stray} is about text; add --text to train on text`);
  return { takes: "numbers", estimator };
}

/**
 * The recipe and the rows for it, now that the data is known. Rows that are a table go through an encoder, without the columns
 * that tell nothing; `isTuned` leaves how filters vote to tuning.
 */
export function suited(
  recipe: Recipe,
  set: DataSet,
  options: Options,
  isTuned = false,
): { recipe: Recipe; set: DataSet } {
  if (recipe.takes !== "numbers" || set.form === "text") return { recipe, set };
  const kinds = kindsGiven(options.columns);
  if (!isTable(set, options, kinds)) {
    refuseTableFlags(options);
    return { recipe, set: numbersAlone(set) };
  }
  const [stray] = givenPatchFlags(options);
  if (stray) throw usageError(`${stray} is about images, found a table`);
  const table = set.form === "table" ? set.table : Table.fromMatrix(set.x, set.featureNames);
  const columns = detectColumns(table, kinds);
  return {
    recipe: tableRecipe(recipe, columns, options, isTuned),
    set: { form: "table", table: table.select(keptOf(columns).map(({ name }) => name)), ...factsOf(set, columns) },
  };
}

/** The same for rows that are read when they are needed. */
export async function suitedSource(
  recipe: Recipe,
  data: AnySource,
  options: Options,
  scratch: string | undefined,
): Promise<{ recipe: Recipe; data: AnySource }> {
  if (recipe.takes !== "numbers" || data.form === "texts") return { recipe, data };
  const kinds = kindsGiven(options.columns);
  if (!(await isTableSource(data, options, kinds))) {
    refuseTableFlags(options);
    if (data.form === "source") return { recipe, data };
    throw new RanksimError(
      "bad-matrix",
      `${EXPECTED_NUMBERS}; --missing fills gaps in, --table encodes words and gaps`,
    );
  }
  const tables = data.form === "tables" ? data : await tableOfRows(data, scratch);
  const columns = await detectSource(tables.x, kinds);
  return {
    recipe: tableRecipe(recipe, columns, options, false),
    data: {
      form: "tables",
      x: tables.x.select(keptOf(columns).map(({ name }) => name)),
      ...factsOf(tables, columns),
    },
  };
}

const EXPECTED_NUMBERS = "expected rows of numbers, found words or missing values in more than 100 columns";

function refuseTableFlags(options: Options): void {
  const [stray] = givenTableFlags(options);
  if (stray) throw usageError(`${stray} is about tables; add --table if columns have units of their own`);
}

/** The encoder of the columns that tell something, before the estimator. */
function tableRecipe(recipe: Recipe, columns: readonly DetectedColumn[], options: Options, isTuned: boolean): Recipe {
  const kept = keptOf(columns);
  if (kept.every(({ leftOut }) => leftOut !== undefined)) {
    const text = columns.find(({ leftOut }) => leftOut === IS_TEXT);
    const cure = text ? `; train on its words with --text-column ${text.name}` : "";
    throw new RanksimError("bad-matrix", `no column tells rows apart: ${columns.map(leftOutText).join(", ")}${cure}`);
  }
  const types = Object.fromEntries(kept.map((column) => [column.name, kindOf(column)]));
  const encoder = new TableEncoder({ ...givenTableParams(options), types });
  const estimator = recipe.estimator as FilterEstimator;
  const votes = "voters" in estimator.params && !isTuned;
  // Banks of a committee add up their scores: no filters vote there.
  const isOwn = options.voters !== undefined || options.committee !== undefined;
  const last = votes && !isOwn ? (estimator.with({ voters: TABLE_VOTERS }) as FilterEstimator) : estimator;
  return { takes: "table", estimator: new Pipeline<TableLike, Model>([encoder, last]), columns };
}

/** Characters of a cell that a note shows at most. */
const LONGEST_CELL = 40;

/** Columns that would be numbers but for a few cells, which are mistakes more often than not. */
export function columnNotes(recipe: Recipe): string[] {
  if (recipe.takes !== "table") return [];
  return recipe.columns.flatMap((column) => {
    if (column.odd === undefined) return [];
    const name = shownName(column);
    const taken = column.leftOut === undefined ? "taken as categories" : "left out";
    return `almost all cells of ${name} are numbers, but ${JSON.stringify(cut(column.odd, LONGEST_CELL))} is not, so it is ${taken}; --columns ${quoted(`${name}:number`)} says where`;
  });
}

/** "id (it numbers the rows)". */
export const leftOutText = (column: DetectedColumn): string => `${shownName(column)} (${column.leftOut})`;

/** The name of a column, of one without a name that it has none: spreadsheets and data frames write them. */
export const shownName = ({ name }: DetectedColumn): string => (name === "" ? '""' : name);

/** Columns that have names are left out for good; those known by position stay, without features. */
function keptOf(columns: readonly DetectedColumn[]): readonly DetectedColumn[] {
  const isNamed = columns.some(({ name }) => !/^column \d+$/.test(name));
  return isNamed ? columns.filter(({ leftOut }) => leftOut === undefined) : columns;
}

function kindsGiven(columns: ColumnsGiven = {}): { readonly [name: string]: ColumnKind } {
  const kinds = Object.entries(columns).filter(([, kind]) => kind !== "label" && kind !== "text" && kind !== "ignore");
  return Object.fromEntries(kinds) as { readonly [name: string]: ColumnKind };
}

function kindOf({ type, order, leftOut }: DetectedColumn): ColumnKind {
  if (leftOut !== undefined) return "ignore";
  return order ? `date-${order}` : type;
}

/** Whether the rows are a table: as was said, or as they look. */
function isTable(set: DataSet & { form: "matrix" | "table" }, options: Options, kinds: object): boolean {
  if (options.table !== undefined) return options.table;
  if (Object.keys(kinds).length > 0) return true;
  if (set.form === "table") return set.table.columns.length <= MOST_COLUMNS || set.table.columns.some(isWords);
  return set.imageSize === undefined && looksLikeTable(set.x, set.featureNames);
}

/** The same for rows that are read. */
async function isTableSource(data: SourceData | TableSourceData, options: Options, kinds: object): Promise<boolean> {
  if (options.table !== undefined) return options.table;
  if (Object.keys(kinds).length > 0) return true;
  if (data.form === "source") return !data.imageSize && sourceLooksLikeTable(data.x, data.featureNames);
  if (data.x.columns.length <= MOST_COLUMNS) return true;
  for (const c of data.x.columns.keys()) if (isWords(await data.x.column(c))) return true;
  return false;
}

const isWords = ({ form }: { form: string }): boolean => form === "words";

/** More columns of numbers than this, some of them missing, are no table but rows with gaps. */
const MOST_COLUMNS = 100;

/** The numbers of rows that are no table; refused by name where they are not numbers. */
function numbersAlone(set: DataSet): DataSet {
  if (set.form !== "table") return set;
  const words = set.table.columns.find(isWords);
  if (words) {
    const found = JSON.stringify(set.table.cell(set.table.columns.indexOf(words), 0));
    throw new RanksimError(
      "bad-matrix",
      `column ${JSON.stringify(words.name)}: expected numbers, found ${found}; leave it out with --columns, or encode the table with --table`,
    );
  }
  const gaps = set.table.columns.find((column) => column.form === "numbers" && column.values.some(Number.isNaN));
  throw new RanksimError(
    "bad-matrix",
    `column ${JSON.stringify(gaps?.name)}: found missing values; --missing fills them in, --table encodes them`,
  );
}

/** What is known of rows of a table, without the columns that are left out. */
function factsOf({ y, rowNames, notes, found }: DataSet | AnySource, columns: readonly DetectedColumn[]) {
  const kept = keptOf(columns);
  const gone = columns.filter((column) => !kept.includes(column)).map(({ name }) => name);
  const { fill, ...rest } = found ?? {};
  const ignored = [...(found?.ignored ?? []), ...gone];
  return {
    ...(y ? { y } : {}),
    ...(rowNames ? { rowNames } : {}),
    ...(notes ? { notes } : {}),
    found: {
      ...rest,
      ...(ignored.length === 0 ? {} : { ignored }),
      ...(fill ? { fill: fill.filter((_, c) => kept.includes(columns[c])) } : {}),
    },
  };
}

/** How rows are held out for sets, where --sets asks for them. */
export function setsOf({ sets, seed }: { readonly [name: string]: unknown }): { readonly seed: number } | undefined {
  return sets === true ? { seed: typeof seed === "number" ? seed : 0 } : undefined;
}

/** Trains; where sets are asked for, a model that answers with them. */
export function fitRecipe(
  recipe: Recipe,
  data: DataSet,
  run: Run & { readonly weights?: Float64Array },
  sets?: { readonly seed: number },
): Promise<Model> {
  const input = inputFor(recipe.takes, data);
  if (sets) return new ConformalClassifier(recipe.estimator as never, sets).fit(input as never, data.y, run);
  switch (recipe.takes) {
    case "text":
      return recipe.estimator.fit(input as readonly string[], data.y, run);
    case "table":
      return recipe.estimator.fit(input as TableLike, data.y, run);
    case "numbers":
      return recipe.estimator.fit(input as Matrix, data.y, run);
  }
}

/** The same for rows that are read when they are needed. */
export async function fitSource(
  { takes, estimator }: Recipe,
  data: AnySource,
  run: Run & { readonly weights?: Float64Array },
  sets?: { readonly seed: number },
): Promise<Model> {
  if (!sets) return (estimator as SourceEstimator).fit(data.x, data.y, run);
  const conformal = new ConformalClassifier<unknown>(estimator as never, sets);
  const fold = conformal.divide(data.y as Labels, data.x.rows);
  const [train, apart] = [await pickSource(data, fold.train), await pickSource(data, fold.test)];
  async function* heldOut(): AsyncGenerator<LabelledRows<unknown>> {
    let first = 0;
    for await (const block of sourceBlocks(apart)) {
      const y = (apart.y as Label[]).slice(first, first + rowCount(block));
      yield { x: inputFor(takes, block), y };
      first += y.length;
    }
  }
  const { weights, ...rest } = run;
  const own = weights ? { weights: Float64Array.from(fold.train, (r) => weights[r]) } : {};
  return conformal.fitDivided({ x: train.x, y: train.y as Labels }, heldOut(), { ...rest, ...own });
}

interface SourceEstimator {
  fit(x: unknown, y: unknown, run: object): Promise<Model>;
}

/** The columns that the model is to remember, for `describeData`. */
export function columnsOf(recipe: Recipe): { readonly columns?: readonly DetectedColumn[] } {
  return recipe.takes === "table" ? { columns: keptOf(recipe.columns) } : {};
}
