/** What labelled data shows before anything is trained: rows that repeat, labels spelled in several ways, columns that give the label away. */

import { isMatrix, type Label, type Labels, type Run } from "@ranksim/core";
import { drawWithoutReplacement, generatorOf, turns } from "@ranksim/core/internal";
import {
  type AnyRows,
  type DataSet,
  hashesOf,
  isInMemory,
  pickRows,
  repeatsIn,
  rowCount,
  Table,
  type TableColumn,
} from "@ranksim/data";
import { isSets } from "./labels.ts";

/** Rows that are looked at for columns that give the label away. */
const LOOKED_AT = 2000;
/** Fewer rows than this show nothing. */
const FEWEST = 20;
/** Columns beyond these are of one kind. */
const MOST_COLUMNS = 256;
/** Repeats that chance does not explain, as a share of the rows. */
const MANY_REPEATS = 0.1;

/** One sentence with its cure for each flaw that is found. Data that is read when it is needed is judged by its labels alone. */
export async function flawsOf(data: AnyRows, run: Run = {}): Promise<string[]> {
  const { y, found } = data;
  if (y === undefined || isSets(y) || y.length < FEWEST) return [];
  const notes = [...headerNotes(y as readonly Label[], found?.label), ...spellingNotes(y as readonly Label[])];
  if (!isInMemory(data) || data.form === "text") return notes;
  return [...notes, ...(await repeatNotes(data, turns(run))), ...(await leakNotes(data))];
}

/** Rows whose label is the name of the column of labels. */
function headerNotes(y: readonly Label[], name: string | number | undefined): string[] {
  const rows = typeof name === "string" ? y.filter((label) => label === name).length : 0;
  if (rows === 0) return [];
  const what = rows === 1 ? "1 row has" : `${rows} rows have`;
  return [
    `${what} the name of the label column, ${JSON.stringify(name)}, for a label: leave out the lines that repeat the column names`,
  ];
}

/** Labels that differ only by case or blanks. */
function spellingNotes(y: readonly Label[]): string[] {
  const spellings = new Map<string, Set<Label>>();
  for (const label of new Set(y)) {
    const key = String(label).trim().replace(/\s+/g, " ").toLowerCase();
    spellings.set(key, (spellings.get(key) ?? new Set()).add(label));
  }
  const doubled = [...spellings.values()].filter((labels) => labels.size > 1);
  if (doubled.length === 0) return [];
  const named = [...doubled[0]].map((label) => JSON.stringify(label)).join(", ");
  return [
    `the labels ${named} differ only by case or blanks and are classes of their own: spell each class in one way`,
  ];
}

/**
 * Rows that equal another one, where that is no chance: rows whose cells come from rows drawn for each column show how many would be equal if
 * columns had nothing to do with each other.
 */
async function repeatNotes(data: DataSet, pause: () => Promise<void>): Promise<string[]> {
  const rows = rowCount(data);
  const repeats = repeatsIn(await hashesOf(data, undefined, pause));
  if (repeats <= MANY_REPEATS * rows) return [];
  const table = tableOf(data);
  const drawn: TableColumn[] = [];
  for (const [c, column] of (table?.columns ?? []).entries()) {
    await pause();
    drawn.push(Table.of([column]).gather(drawWithoutReplacement(generatorOf(c), rows, rows)).columns[0]);
  }
  const chance = table ? repeatsIn(await hashesOf({ form: "table", table: Table.of(drawn) }, undefined, pause)) : 0;
  if (repeats - chance <= MANY_REPEATS * rows || 2 * chance >= repeats) return [];
  const share = Math.round((100 * repeats) / rows);
  return [
    `${share} % of the rows equal another row: held-out rows that are known from training make scores too high; leave out the copies, or keep them together with --columns NAME:group`,
  ];
}

/** Columns by which alone each row's label is known. */
async function leakNotes(data: DataSet): Promise<string[]> {
  const rows = rowCount(data);
  const step = Math.max(1, Math.floor(rows / LOOKED_AT));
  const some = Uint32Array.from({ length: Math.floor(rows / step) }, (_, r) => r * step);
  const picked = step === 1 ? data : ((await pickRows(data, some)) as DataSet);
  const table = tableOf(picked);
  const labels = picked.y as Labels;
  const classes = new Set(Array.from(labels)).size;
  if (!table || classes < 2) return [];
  const telling = table.columns
    .filter((column) => tellsAll(column, labels, classes))
    .map(({ name }) => JSON.stringify(name));
  if (telling.length === 0 || telling.length > MOST_TELLING) return [];
  const [what, it, list] =
    telling.length === 1 ? ["column", "it is", telling[0]] : ["each of the columns", "they are", telling.join(", ")];
  return [
    `${what} ${list} alone tells every row's label: if ${it} known only after the label, leave out by --columns NAME:ignore`,
  ];
}

/** Where so many columns tell the label, rows are easy, and no column gives anything away. */
const MOST_TELLING = 3;
/** Rows of each value on average, at least, so that a value has more than one row to be right for. */
const ROWS_EACH = 5;

/** Whether the values of a column, or the stretches between few bounds, belong to one class each. */
function tellsAll(column: TableColumn, labels: Labels, classes: number): boolean {
  const cells: readonly (number | undefined)[] =
    column.form === "numbers"
      ? Array.from(column.values, (value) => (Number.isNaN(value) ? undefined : value))
      : Array.from(column.codes, (code) => (code < column.words.length ? code : undefined));
  const known = new Map<number | undefined, Label>();
  for (let r = 0; r < cells.length; r++) {
    const label = known.get(cells[r]);
    if (label === undefined) known.set(cells[r], labels[r]);
    else if (label !== labels[r]) return false;
  }
  if (known.size < 2) return false;
  if (known.size * ROWS_EACH <= cells.length) return true;
  if (column.form === "words") return false;
  const sorted = [...known].filter(([value]) => value !== undefined).sort(([a], [b]) => Number(a) - Number(b));
  const changes = sorted.filter(([, label], i) => i > 0 && label !== sorted[i - 1][1]).length;
  return changes === classes - 1;
}

/** Few columns as a table. */
function tableOf(data: DataSet): Table | undefined {
  if (data.form === "table") return data.table.columns.length <= MOST_COLUMNS ? data.table : undefined;
  if (data.form !== "matrix" || !isMatrix(data.x) || data.imageSize || data.x.features > MOST_COLUMNS) return undefined;
  return data.x.form === "dense" ? Table.fromMatrix(data.x, data.featureNames) : undefined;
}
