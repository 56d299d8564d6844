/**
 * Rows as recipes take them: what looks like a table becomes one, without the columns that tell rows apart by nothing. Rows of numbers of one
 * kind stay as they are.
 */

import { isMatrix, type Matrix, RanksimError, type Run } from "@ranksim/core";
import { turns } from "@ranksim/core/internal";
import {
  type AnyRows,
  type ColumnKinds,
  type DetectedColumn,
  detectTable,
  isInMemory,
  looksLikeTable,
  type MatrixRows,
  schemaColumn,
  Table,
  type TableRows,
  type TableSource,
  type TextRows,
  tableColumn,
} from "@ranksim/data";
import { flatImageSize } from "./flat-images.ts";

/** What is known of columns before they are looked at. */
export interface ColumnOptions {
  /** Whether to treat the data as a table and encode each column; default: as it looks. */
  readonly table?: boolean;
  /** What columns are, by name; default: detected from their cells. */
  readonly columns?: ColumnKinds;
}

/** What ends a call before it is done. */
type Stoppable = Pick<Run, "signal">;

/** Rows in one of the forms in which recipes may take them. */
export interface View {
  readonly data: AnyRows;
  /** Tables: what the columns were taken for, those that are left out among them. */
  readonly columns?: readonly DetectedColumn[];
  /** Texts: characters of one, on average of the first ones. */
  readonly characters?: number;
}

/** The same rows in all forms in which recipes may take them. */
export interface Prepared {
  readonly views: readonly View[];
}

/**
 * Makes rows ready for recipes. Text stays as it is. Columns of numbers are both a table and rows of one kind, and what is tried tells which
 * serves better; where nothing is tried, they are what they look like.
 */
export async function prepare(
  data: AnyRows,
  options: ColumnOptions & {
    readonly preset?: string;
    readonly estimator?: string;
    readonly signal?: AbortSignal;
  } = {},
): Promise<Prepared> {
  if (data.form === "text") return { views: [await textView(data)] };
  const { table: told, columns = {}, preset, estimator } = options;
  const isChosen = preset !== "paper" && estimator === undefined && data.y !== undefined && !Array.isArray(data.y[0]);
  if (told === undefined && Object.keys(columns).length === 0 && isChosen)
    return { views: await bothOf(data, options) };
  if (await isTable(data, options)) return { views: [await tableOf(data, columns, options)] };
  return { views: [{ data: data.form === "matrix" ? data : await numbersOf(data) }] };
}

/** Columns that a message names. */
const MOST_TOLD = 20;

/** Texts by whose length it is told what candidates cost. */
const MEASURED_TEXTS = 200;

async function textView(data: TextRows, columns?: readonly DetectedColumn[]): Promise<View> {
  const texts = "blocks" in data.text ? data.text.blocks() : [data.text];
  let [characters, count] = [0, 0];
  for await (const block of texts) {
    for (const text of block.slice(0, MEASURED_TEXTS - count)) characters += text.length;
    count = Math.min(MEASURED_TEXTS, count + block.length);
    if (count === MEASURED_TEXTS) break;
  }
  return { data, characters: characters / Math.max(1, count), ...(columns ? { columns } : {}) };
}

/** More columns of numbers than this are not divided each by itself. */
const MOST_DIVIDED = 256;

async function bothOf(data: MatrixRows | TableRows, run: Stoppable): Promise<readonly View[]> {
  if (data.form === "matrix") {
    const { x, imageSize, asTable, found } = data;
    // Genes are compared with one another in a cell.
    const isWide = found?.genes || x.features > MOST_DIVIDED || imageSize !== undefined || (!isMatrix(x) && !asTable);
    const size = imageSize === undefined ? await flatImageSize(x) : undefined;
    const numbers = size ? [{ data: { ...data, imageSize: size } }, { data }] : [{ data }];
    if (isWide) return numbers;
    // Where no column tells rows apart by itself, recipes of tables have nothing to take.
    const table = await tableOf(data, {}, run).catch((error) => {
      if (error instanceof RanksimError && error.code === "bad-matrix") return undefined;
      throw error;
    });
    return table ? [table, ...numbers] : numbers;
  }
  // A model of what came as a table takes tables.
  return [await tableOf(data, {}, run)];
}

async function tableOf(
  data: MatrixRows | TableRows,
  kinds: ColumnOptions["columns"] & object,
  run: Stoppable,
): Promise<View> {
  const table = data.form === "table" ? data.table : await asTable(data);
  await turns(run)();
  const columns = await detectTable(table, kinds, run);
  const kept = keptOf(columns);
  if (kept.every(({ leftOut }) => leftOut !== undefined)) {
    const told = columns.slice(0, MOST_TOLD).map(leftOutText).join(", ");
    const rest = columns.length > MOST_TOLD ? `, and ${columns.length - MOST_TOLD} more` : "";
    throw new RanksimError("bad-matrix", `no column tells rows apart: ${told}${rest}`);
  }
  const names = kept.map(({ name }) => name);
  const rows: TableRows = { form: "table", table: table.select(names), ...factsOf(data, columns) };
  const text = kept.length === 1 && kept[0].type === "text" ? loneText(rows) : undefined;
  return text ? textView(text, columns) : { data: rows, columns };
}

/** More columns of numbers than this, some of them missing, are no table but rows with gaps. */
const MOST_COLUMNS = 100;

/** Whether the rows are a table: as was said, or as they look. */
async function isTable(data: MatrixRows | TableRows, { table, columns = {} }: ColumnOptions): Promise<boolean> {
  if (table !== undefined) return table;
  if (Object.keys(columns).length > 0) return true;
  if (data.found?.genes) return false;
  if (data.form === "matrix") return data.imageSize === undefined && looksLikeTable(data.x, data.featureNames);
  return data.table.columns.length <= MOST_COLUMNS || (await wordColumn(data.table)) !== undefined;
}

/** The first column of words. */
async function wordColumn(table: Table | TableSource): Promise<number | undefined> {
  for (const c of table.columns.keys()) if ((await tableColumn(table, c)).form === "words") return c;
  return undefined;
}

async function asTable(data: MatrixRows): Promise<Table | TableSource> {
  if (isMatrix(data.x)) return Table.fromMatrix(data.x as Matrix, data.featureNames);
  if (data.asTable) return data.asTable();
  throw new RanksimError("unsupported", "expected rows in memory or read from files, to be encoded as a table");
}

/** The numbers of a table that is to be taken for rows of one kind; refused by name where they are not numbers. */
async function numbersOf(data: TableRows): Promise<AnyRows> {
  const c = await wordColumn(data.table);
  if (c !== undefined) {
    const { name } = data.table.columns[c];
    const found = isInMemory(data) ? JSON.stringify((data.table as Table).cell(c, 0)) : "words";
    throw new RanksimError("bad-matrix", {
      ...{ column: name, expected: "numbers", found },
      cure: (called) =>
        `leave it out with ${called("ignoreColumns", name)}, or encode the table with ${called("table", "true")}`,
    });
  }
  for (const c of data.table.columns.keys()) {
    const column = await tableColumn(data.table, c);
    if (column.form === "numbers" && column.values.some(Number.isNaN)) {
      throw new RanksimError("bad-matrix", {
        ...{ column: column.name, expected: "numbers", found: "missing values" },
        cure: (called) => `${called("missing", "mean")} fills them in, ${called("table", "true")} encodes them`,
      });
    }
  }
  return data;
}

/** "id (it numbers the rows)". */
export const leftOutText = (column: DetectedColumn): string => `${shownName(column)} (${column.leftOut})`;

/** The name of a column, of one without a name that it has none: spreadsheets and data frames write them. */
export const shownName = ({ name }: DetectedColumn): string => (name === "" ? '""' : name);

/** Columns that have names are left out for good; those known by position stay, without features. */
export function keptOf(columns: readonly DetectedColumn[]): readonly DetectedColumn[] {
  const isNamed = columns.some(({ name }) => !/^column \d+$/.test(name));
  return isNamed ? columns.filter(({ leftOut }) => leftOut === undefined) : columns;
}

/** What an encoder is told of a column, so that it takes it in every part of the rows for what it is in all. */
export const kindOfColumn = (column: DetectedColumn): ColumnKinds[string] =>
  column.leftOut === undefined ? schemaColumn(column) : "ignore";

/** Rows of which nothing but one column of texts tells anything. Texts that are missing are empty. */
function loneText({ table, ...facts }: Omit<TableRows, "form">): TextRows | undefined {
  if (!(table instanceof Table)) return undefined;
  const [{ name }] = table.columns;
  const text = Array.from({ length: table.rows }, (_, r) => String(table.cell(0, r) ?? ""));
  return { ...facts, form: "text", text, found: { ...facts.found, text: name } };
}

/** What is known of the rows, without the columns that are left out. */
function factsOf({ y, rowNames, notes, found }: AnyRows, columns: readonly DetectedColumn[]) {
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
