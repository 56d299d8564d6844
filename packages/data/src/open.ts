/**
 * Rows of any number of files and folders as one: in memory where they fit, else in stores from where they are read some at a time. Each
 * source is read once. The rows, and what is made of them, are the same either way.
 */

import { RanksimError } from "@ranksim/core";
import { badFile } from "./bad-file.ts";
import { Budget } from "./budget.ts";
import { refuseOtherColumns } from "./cells/genes.ts";
import { type AnyRows, type DataSet, type MatrixData, type RowLabels, rowCount } from "./data-set.ts";
import { joinData, joinLabels } from "./join.ts";
import {
  folderOf,
  type ReadDataOptions,
  readRows,
  refuseColumns,
  refuseResize,
  siblingLabels,
  withImages,
} from "./read.ts";
import { chargeRows, LabelBlocks, labelBudget } from "./readers/label-blocks.ts";
import { readLabels } from "./readers/labels.ts";
import { type Pace, ROW_COLUMNS } from "./readers/options.ts";
import { type Ending, leftOutNote } from "./readers/reader.ts";
import { RowsCache } from "./rows/cached-rows.ts";
import { TableCache, type TableCacheOptions, tableOfRows } from "./rows/cached-table.ts";
import { TextCache } from "./rows/cached-texts.ts";
import { fixedPart, layoutOf } from "./rows/fixed-rows.ts";
import type { Stores } from "./rows/store.ts";
import { type Part, storedRows } from "./rows/stored-rows.ts";
import { expecting, schemaOfFirst } from "./schema.ts";
import type { ByteSource, Folder } from "./source.ts";
import { tableOf } from "./table/of-rows.ts";
import { timesOf } from "./table/times.ts";

/** How rows are opened. */
export interface OpenOptions extends ReadDataOptions {
  /** Bytes of memory that rows may take at a time, in all their copies; default: a quarter of the free memory. Reading takes up to twice as many. */
  readonly room?: number;
  /** Where rows go that do not fit; without it they are refused. */
  readonly stores?: Stores;
}

/** Share of the room that rows may take on their way in: lists that grow are copied. */
const SHARE = 1 / 3;
/** What reading may take at most, for each byte of the room. */
const READING = 2;
/** Copies of an array that work on it takes. */
const ARRAY_COPIES = 3;
/** Bytes of a block once rows go to a store, at least and at most, and bytes that reading may take for each of them. */
const FEWEST = 256;
const MOST = 1 << 21;
const TAKES = 32;
/** What reading may take however little that is: pieces of a file of 1 MB, and what is made of them. */
const LEAST_BUDGET = 1 << 23;

/** Rows that are read in a way of their own, all at once. */
export interface Loader {
  readonly name: string;
  load(options: ReadDataOptions): Promise<DataSet>;
}

/** Where rows come from. */
export type Source = ByteSource | Folder | Loader;

/**
 * Opens files and folders as one, in the order given. Columns of later ones are found by the names that those of the first have, and are of
 * the same types.
 */
export async function openSources(
  sources: readonly Source[],
  { room = new Budget().bytes / READING, stores, labels, budget: _, ...given }: OpenOptions = {},
): Promise<AnyRows> {
  const collected = new Collected(room, stores);
  let options: ReadDataOptions = given;
  for (const [j, source] of sources.entries()) {
    await collected.read(source, options, labels === undefined);
    if (j === 0 && sources.length > 1 && !given.schema) options = { ...given, schema: await collected.schema(given) };
  }
  const data = await collected.finish();
  const labelled = labels ? withRowLabels(data, await readLabels(labels, given), labels.name) : data;
  return given.images === undefined ? labelled : withImages(labelled, given.images, sources[0].name);
}

/** Data in memory as rows that are read from a store: what is made of them may take the memory. */
export async function storedData(data: DataSet, room: number, stores: Stores): Promise<AnyRows> {
  const spilled = new Spilled(room, stores, "");
  await spilled.add(data, 0);
  await spilled.endPart(0, undefined);
  const {
    x: _x,
    text: _text,
    table: _table,
    scaled: _scaled,
    ...facts
  } = data as MatrixData & { text: unknown; table: unknown };
  return { ...facts, ...(await spilled.finish(facts.featureNames)) } as AnyRows;
}

/** What is known of one source beside its rows. */
interface Read {
  readonly name: string;
  rows: number;
  /** The first rows without their values, in memory the rows. */
  data: DataSet | undefined;
  y: RowLabels | undefined;
  readonly groups: string[];
  readonly times: string[];
  readonly weights: number[];
  readonly rowNames: string[];
  readonly notes: Set<string>;
}

class Collected {
  readonly #room: number;
  readonly #stores: Stores | undefined;
  readonly #budget: Budget;
  readonly #labelBudget: Budget;
  readonly #parts: Read[] = [];
  #spilled: Spilled | undefined;

  constructor(room: number, stores: Stores | undefined) {
    this.#room = room;
    this.#stores = stores;
    this.#budget = new Budget(Math.max(READING * room, stores ? LEAST_BUDGET : 0));
    this.#labelBudget = labelBudget(room);
  }

  async read(source: Source, given: ReadDataOptions, mayHaveSibling: boolean): Promise<void> {
    const { name } = source;
    const part: Read = {
      ...{ name, rows: 0, data: undefined, y: undefined, groups: [], times: [], weights: [], rowNames: [] },
      notes: new Set(),
    };
    this.#parts.push(part);
    const options = { ...given, ...expecting(given), budget: this.#budget };
    if ("load" in source) refuseColumns(name, "the data set", options);
    if ("load" in source) await this.#add(part, await source.load(options));
    else if ("entries" in source) await this.#add(part, await folderOf(source, options));
    else if (!(await this.#place(part, source, options))) await this.#readBlocks(part, source, options);
    const beside = mayHaveSibling && !part.y && "stream" in source ? await siblingLabels(source) : undefined;
    if (beside) part.y = checkedLabels(part.rows, await readLabels(beside, given), beside.name);
  }

  /** Takes an array that is too large where it lies. */
  async #place(part: Read, source: ByteSource, options: ReadDataOptions): Promise<boolean> {
    if (!this.#stores || ![undefined, "npy", "idx"].includes(options.format)) return false;
    const placed = await layoutOf(source);
    const bytes = (source.byteLength ?? 0) * ARRAY_COPIES;
    if (!placed || (!this.#spilled && bytes + this.#budget.taken <= this.#room)) return false;
    refuseResize(source.name, options);
    refuseColumns(source.name, `the ${placed.format} file`, options);
    const { layout, format: _, ...size } = placed;
    await this.#spill();
    const spilled = this.#spilled as unknown as Spilled;
    part.rows = layout.rows;
    part.data = { form: "matrix", x: NO_ROWS as never, ...size };
    spilled.place(fixedPart(layout));
    return true;
  }

  async #readBlocks(
    part: Read,
    source: ByteSource,
    options: ReadDataOptions & { readonly budget: Budget },
  ): Promise<void> {
    const labels = new LabelBlocks(part.name, this.#labelBudget.of(part.name));
    let isOver = false;
    const pace: { -readonly [K in keyof Pace]: Pace[K] } = { blockBytes: Number.POSITIVE_INFINITY, isPatient: true };
    const cutSmall = () => {
      pace.blockBytes = Math.min(Math.max(Math.floor(this.#room / TAKES), FEWEST), MOST);
      delete pace.isFull;
    };
    if (this.#spilled) cutSmall();
    else if (this.#stores) {
      pace.isFull = () => {
        isOver = this.#budget.taken > SHARE * READING * this.#room || this.#budget.share > SHARE;
        return isOver;
      };
    }
    const blocks = readRows(source, { ...options, pace, isPart: true });
    for (let next = await blocks.next(); ; next = await blocks.next()) {
      if (next.done) {
        await this.#spilled?.endPart(this.#parts.length - 1, next.value);
        labels.areText = next.value?.labelsAreText === true;
        if (next.value?.leftOut) part.notes.add(leftOutNote(part.name, next.value.leftOut));
        if (part.data) part.data = withEnding(part.data, next.value);
        break;
      }
      const { y, ...data } = next.value;
      labels.add(y, rowCount(data));
      if (isOver) {
        await this.#spill();
        cutSmall();
      }
      await this.#add(part, data);
    }
    part.y = labels.finish();
  }

  /** Adds rows in order. */
  async #add(part: Read, data: DataSet): Promise<void> {
    part.rows += rowCount(data);
    chargeRows(this.#labelBudget.of(part.name), data);
    if (data.y) part.y = data.y;
    for (const group of data.groups ?? []) part.groups.push(group);
    for (const time of data.times ?? []) part.times.push(String(time));
    for (const weight of data.weights ?? []) part.weights.push(weight);
    for (const name of data.rowNames ?? []) part.rowNames.push(name);
    for (const note of data.notes ?? []) part.notes.add(note);
    if (!this.#spilled) {
      part.data = withoutFacts(data);
      return;
    }
    await this.#spilled.add(data, this.#parts.length - 1);
    part.data ??= withoutRows(data);
    // A file whose first rows are numbers may be a table all the same.
    if (data.form === "table" && part.data.form === "matrix") part.data = withoutRows(data);
  }

  /** From now on rows go to a store, those that are there already first. */
  async #spill(): Promise<void> {
    if (this.#spilled) return;
    const spilled = new Spilled(this.#room, this.#stores as Stores, this.#parts[0].name);
    for (const [j, part] of this.#parts.entries()) {
      if (!part.data) continue;
      await spilled.add(part.data, j);
      part.data = withoutRows(part.data);
      if (j + 1 < this.#parts.length) await spilled.endPart(j, undefined);
    }
    this.#spilled = spilled;
  }

  /** What the first source says of the others. */
  async schema(options: ReadDataOptions) {
    const [first] = this.#parts;
    const { y } = first;
    const facts = { ...(first.data as DataSet), ...(y ? { y } : {}) };
    const data = this.#spilled ? ({ ...facts, ...(await this.#spilled.finish(namesOf(facts))) } as AnyRows) : facts;
    return schemaOfFirst(data, options);
  }

  async finish(): Promise<AnyRows> {
    const parts = this.#parts;
    const first = parts[0].data as DataSet;
    const { x: _x, text: _text, table: _table, ...own } = first as MatrixData & { text: unknown; table: unknown };
    const rows = this.#spilled
      ? { ...own, ...(await this.#spilled.finish(namesOf(first))) }
      : joinData(parts.map(({ data }) => data as DataSet));
    refuseOtherColumns(parts);
    const labelled = parts.filter(({ y }) => y !== undefined).length;
    if (labelled !== 0 && labelled !== parts.length) {
      throw new RanksimError(
        "bad-labels",
        `expected labels in all files or in none, found them in ${labelled} of ${parts.length}`,
      );
    }
    const notes = [...new Set(parts.flatMap((part) => [...part.notes]))];
    const all = <T>(of: (part: Read) => readonly T[]): T[] => parts.flatMap(of);
    const facts = {
      ...(labelled > 0 ? { y: joinLabels(parts.map(({ y }) => y as RowLabels)) } : {}),
      ...(parts.some(({ groups }) => groups.length > 0) ? { groups: all(({ groups }) => groups) } : {}),
      ...(parts.some(({ times }) => times.length > 0) ? { times: this.#times(all(({ times }) => times)) } : {}),
      ...(parts.some(({ weights }) => weights.length > 0)
        ? { weights: Float64Array.from(all(({ weights }) => weights)) }
        : {}),
      ...(parts.every(({ rowNames }) => rowNames.length > 0) ? { rowNames: all(({ rowNames }) => rowNames) } : {}),
      ...(notes.length > 0 ? { notes } : {}),
    };
    return { ...rows, ...facts } as AnyRows;
  }

  #times(texts: readonly string[]): Float64Array {
    const starts: number[] = [];
    let rows = 0;
    for (const part of this.#parts) {
      starts.push(rows);
      rows += part.rows;
    }
    return timesOf(texts, (row) => {
      const j = starts.findLastIndex((start) => start <= row);
      return { parameter: ROW_COLUMNS.times, file: this.#parts[j].name, where: `row ${row - starts[j]}` };
    });
  }
}

/** Stands for the values of rows that are elsewhere. */
const NO_ROWS = undefined;

const namesOf = (data: AnyRows): readonly string[] | undefined =>
  data.form === "matrix" ? data.featureNames : undefined;

/** Rows without what each of them has beside its values, which is kept apart. */
function withoutFacts(data: DataSet): DataSet {
  const { y: _y, groups: _g, times: _t, weights: _w, rowNames: _r, kept: _k, notes: _n, ...rows } = data;
  return rows;
}

/** What is known of rows whose values are elsewhere now. */
function withoutRows(data: DataSet): DataSet {
  const facts = withoutFacts(data);
  if (facts.form === "text") return { ...facts, text: [] };
  if (facts.form === "table") return { ...facts, table: NO_ROWS as never };
  const { gaps: _gaps, scaled: _scaled, ...matrix } = facts;
  return { ...matrix, x: NO_ROWS as never };
}

/** What was found, now that all rows are known. */
function withEnding(data: DataSet, ending: Ending | undefined): DataSet {
  const { fill, firstFeature } = ending ?? {};
  if (fill === undefined && firstFeature === undefined) return data;
  const found = { ...(fill ? { fill } : {}), ...(firstFeature === undefined ? {} : { firstFeature }) };
  return { ...data, found: { ...data.found, ...found } };
}

/** Rows in stores. */
class Spilled {
  readonly #options: TableCacheOptions;
  readonly #rows: RowsCache;
  /** Rows of sources that were read to their end, or that are read where they lie. */
  readonly #parts: Part[] = [];
  #names: readonly string[] | undefined;
  #table: TableCache | undefined;
  #texts: TextCache | undefined;

  constructor(room: number, stores: Stores, file: string) {
    this.#options = { room, stores, words: { account: new Budget(room).of(file), file } };
    this.#rows = new RowsCache(stores);
  }

  /** Rows that are read where they lie. */
  place(part: Part): void {
    this.#parts.push(part);
  }

  async add(data: DataSet, part: number): Promise<void> {
    if (data.form === "text") {
      if (this.#parts.length + this.#rows.rows > 0 || this.#table) throw mixed("text");
      this.#texts ??= new TextCache(this.#options);
      return this.#texts.add(data.text);
    }
    if (this.#texts) throw mixed(data.form);
    if (data.form === "matrix" && !this.#table) return this.#rows.add(data.x, data.gaps);
    const table = data.form === "table" ? data.table : tableOf(data);
    this.#table ??= await this.#asTable(table.columns.map(({ name }) => name));
    await this.#table.add(table.select(this.#names as readonly string[]), part);
  }

  /** Rows of numbers as the first of a table. */
  async #asTable(names: readonly string[]): Promise<TableCache> {
    this.#names = names;
    const cache = new TableCache(names, this.#options);
    const parts = [...this.#parts.splice(0), ...this.#rows.take({ fill: names.map(() => Number.NaN) })];
    if (parts.length > 0) await cache.addRows(storedRows(parts, { room: this.#options.room }), names);
    return cache;
  }

  async endPart(part: number, ending: Ending | undefined): Promise<void> {
    if (this.#table) {
      if (ending?.columns) await this.#table.endPart(part, ending.columns);
    } else this.#parts.push(...this.#rows.take(ending));
  }

  async finish(names: readonly string[] | undefined) {
    if (this.#texts) return { form: "text", text: this.#texts.finish() } as const;
    if (this.#table) return { form: "table", table: await this.#table.finish() } as const;
    const x = storedRows(this.#parts, this.#options);
    return { form: "matrix", x, asTable: () => tableOfRows(x, names, this.#options) } as const;
  }
}

const mixed = (form: string): RanksimError =>
  new RanksimError("bad-matrix", `expected files of one form, found ${form} after another`);

function checkedLabels(rows: number, y: RowLabels, name: string): RowLabels {
  if (y.length === rows) return y;
  throw badFile(name, "", `expected ${rows} labels, one for each row, found ${y.length}`);
}

const withRowLabels = (data: AnyRows, y: RowLabels, name: string): AnyRows => ({
  ...data,
  y: checkedLabels(rowCount(data), y, name),
});
