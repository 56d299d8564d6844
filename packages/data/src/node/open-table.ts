/**
 * Tables that need not fit in memory: files with words, dates and gaps become one table that is read by column and by block. Files of
 * numbers alone stay rows of numbers, as they do in memory.
 */

import { Csr, type DenseRows, RanksimError, type Rows, toDense } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import { Budget } from "../budget.ts";
import type { Found, MatrixData, RowLabels, SourceData, TableData, TableSourceData } from "../data-set.ts";
import { joinLabels } from "../join.ts";
import type { Pouring } from "../readers/cells-builder.ts";
import { type InBlocks, LabelBlocks } from "../readers/label-blocks.ts";
import { readLabels } from "../readers/labels.ts";
import { schemaOfFirst } from "../schema.ts";
import type { ByteSource } from "../source.ts";
import { endsAsWords } from "../table/column-builder.ts";
import { detectSource } from "../table/source.ts";
import { Table } from "../table/table.ts";
import { scratchFolder } from "./cached-rows.ts";
import { TableCache, type TableCacheOptions } from "./cached-table.ts";
import { blocksOf, HoldsWords, type OpenRowsOptions, openRows } from "./open-rows.ts";

/**
 * Opens files as one source, in the order given: rows of numbers, or a table where the first file has words, dates or gaps. Columns of
 * the other files are found by name, and are of the types that those of the first are.
 */
export async function openTable(
  files: readonly ByteSource[],
  options: OpenRowsOptions,
): Promise<SourceData | TableSourceData> {
  try {
    return await openRows(files, { ...options, table: true });
  } catch (error) {
    if (!(error instanceof HoldsWords)) throw error;
  }
  if (options.images !== undefined)
    throw badFile(files[0].name, "", "expected rows of numbers for images, found a table");
  const data = await pouredTable(files, options);
  if (!options.labels) return data;
  const y = await readLabels(options.labels, options);
  if (y.length === data.x.rows) return { ...data, y };
  throw badFile(options.labels.name, "", `expected ${data.x.rows} labels, one for each row, found ${y.length}`);
}

/** Rows of numbers as a table, written to a file of their own: what `Table.fromMatrix` is for rows in memory. */
export async function tableOfRows(data: SourceData, scratch?: string): Promise<TableSourceData> {
  const { x, featureNames, y, notes, found } = data;
  const names = featureNames ?? Array.from({ length: x.features }, (_, c) => `column ${c}`);
  const cache = new TableCache(names, { room: x.room ?? ROOM, folder: scratch ?? scratchFolder() });
  const room = (x.room ?? ROOM) / 16;
  for await (const block of x.blocks(room)) {
    for (const rows of denseRows(block, room)) await cache.add(Table.fromRows(rows, names));
  }
  return {
    form: "tables",
    x: await cache.finish(),
    ...(y ? { y } : {}),
    ...(notes ? { notes } : {}),
    ...(found ? { found } : {}),
  };
}

/** The rows of a block with their zeros, as many at a time as fit. */
function* denseRows(block: Rows, room: number): Generator<DenseRows> {
  if (block.form === "dense") {
    yield block;
    return;
  }
  const all = Csr.of(block.offsets, block.indices, block.values, block.features);
  const most = Math.max(1, Math.floor(room / (block.features * Float64Array.BYTES_PER_ELEMENT)));
  for (let first = 0; first < all.rows; first += most) {
    yield toDense(all.slice(first, Math.min(first + most, all.rows)));
  }
}

/** Bytes that rows may take, where nothing says so. */
const ROOM = 2 ** 29;

async function pouredTable(files: readonly ByteSource[], options: OpenRowsOptions): Promise<TableSourceData> {
  const { room, scratch: folder = scratchFolder(), labels: _labels, budget: _budget, ...reading } = options;
  const file = files[0].name;
  const poured = new PouredTable({ room, folder, words: { account: new Budget(room).of(file), file } });
  const pour: NonNullable<Pouring["pour"]> = { columns: [] };
  const whole: typeof reading & Pouring = { ...reading, table: true, pour };
  for await (const data of tablesIn(files[0], poured.reading(whole, 0))) {
    await poured.add(data, 0);
  }
  await poured.cache?.endPart(
    0,
    pour.columns.map((state) => ({ isWords: endsAsWords(state), hasComma: state.commas > 0 })),
  );
  if (files.length > 1) {
    const first = await poured.finish();
    const schema = schemaOfFirst(first, { columns: await detectSource(first.x), rows: false });
    for (const [part, file] of files.entries()) {
      if (part === 0) continue;
      for await (const data of tablesIn(file, poured.reading({ ...reading, schema }, part)))
        await poured.add(data, part);
    }
  }
  return poured.finish();
}

/** A table that grows. */
class PouredTable {
  cache: TableCache | undefined;
  readonly #options: TableCacheOptions;
  /** Labels of each file. */
  readonly #labels: LabelBlocks[] = [];
  #isLabelled: boolean | undefined;
  readonly #notes = new Set<string>();
  #names: readonly string[] = [];
  #found: Found | undefined;

  constructor(options: TableCacheOptions) {
    this.#options = options;
  }

  /** The options to read a file with. */
  reading<O extends object>(options: O, part: number): O & InBlocks {
    this.#labels[part] = new LabelBlocks();
    return { ...options, labelBlocks: this.#labels[part] };
  }

  async add({ table, y, notes, found }: TableData, part: number): Promise<void> {
    if (!this.cache) {
      this.#names = table.columns.map(({ name }) => name);
      this.#found = found;
      this.cache = new TableCache(this.#names, this.#options);
    }
    this.#labels[part].add(y);
    this.#isLabelled ??= y !== undefined;
    if (this.#isLabelled !== (y !== undefined)) {
      throw new RanksimError("bad-labels", "expected labels in all files or in none, found them in some");
    }
    for (const note of notes ?? []) this.#notes.add(note);
    await this.cache.add(table.select(this.#names), part);
  }

  async finish(): Promise<TableSourceData> {
    const x = await (this.cache as TableCache).finish(); // a file without rows was refused
    return {
      form: "tables",
      x,
      ...(this.#isLabelled ? { y: joinLabels(this.#labels.map((labels) => labels.finish() as RowLabels)) } : {}),
      ...(this.#found ? { found: this.#found } : {}),
      ...(this.#notes.size === 0 ? {} : { notes: [...this.#notes] }),
    };
  }
}

async function* tablesIn(file: ByteSource, options: Omit<OpenRowsOptions, "room">): AsyncGenerator<TableData> {
  for await (const data of blocksOf(file, options)) {
    if (data.form === "text") throw new RanksimError("bad-matrix", `${file.name}: expected a table, found text`);
    yield data.form === "table" ? data : asTable(data);
  }
}

/** A file of numbers among tables. */
function asTable({ x, featureNames, y, notes, found }: MatrixData): TableData {
  const facts = { ...(y ? { y } : {}), ...(notes ? { notes } : {}), ...(found ? { found } : {}) };
  return { form: "table", table: Table.fromMatrix(x, featureNames), ...facts };
}
