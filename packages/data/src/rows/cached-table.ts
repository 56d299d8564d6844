/**
 * A table written to a file so that it can be read by column and by block of rows. Every cell takes eight bytes: a number, or the number
 * of its word; NaN is a missing one. Whether a column is one of numbers or of words may show late: then what was written of it before is
 * written again.
 */

import { Csr, type DenseRows, type RowSource, type Rows, toDense } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import { type Account, OverBudget } from "../budget.ts";
import { spelled } from "../table/cells.ts";
import type { ColumnState } from "../table/column-builder.ts";
import { orderOf } from "../table/detect.ts";
import type { TableSource } from "../table/source.ts";
import { NO_WORD, Table, type TableColumn } from "../table/table.ts";
import { keptRows } from "./cached-rows.ts";
import type { Store, Stores } from "./store.ts";

/** Rows of a block, at least and at most. */
const FEWEST = 64;
const MOST = 1 << 16;

/** Where tables are written, and how much of them may be in memory. */
export interface TableCacheOptions {
  readonly room: number;
  readonly stores: Stores;
  /** Words of columns stay in memory, and are accounted for; errors name the file. */
  readonly words?: { readonly account: Account; readonly file: string };
}

interface CachedColumn {
  readonly name: string;
  decimal?: ",";
  grouped?: true;
  written?: true;
  /** The words of the column; none where it is one of numbers. */
  words?: Map<string, number>;
  /** The blocks whose cells were written as numbers, and the file they come from. */
  numbers: { readonly block: number; readonly part: number }[];
}

/** Rows of a table that lie together, column by column. */
interface CachedBlock {
  readonly at: number;
  readonly rows: number;
}

/** Takes in the rows of a table, block by block. */
export class TableCache {
  readonly #options: TableCacheOptions;
  readonly #columns: CachedColumn[];
  readonly #store: Store;
  readonly #blockRows: number;
  readonly #blocks: CachedBlock[] = [];
  #rows = 0;
  #bytes = 0;

  constructor(names: readonly string[], options: TableCacheOptions) {
    this.#options = options;
    this.#columns = names.map((name) => ({ name, numbers: [] }));
    this.#store = options.stores();
    this.#blockRows = blockRowsOf(names.length, options);
  }

  /** Adds rows; their columns are those of the cache, in its order. `part` is the file they come from. */
  async add(table: Table, part = 0): Promise<void> {
    for (let from = 0; from < table.rows; from += this.#blockRows) {
      await this.#addBlock(table.slice(from, from + this.#blockRows), part);
    }
  }

  /** Adds rows of numbers. */
  async addRows(x: RowSource, names: readonly string[]): Promise<void> {
    const most = this.#options.room / 16;
    for await (const block of x.blocks(most)) {
      for (const rows of denseRows(block, most)) await this.add(Table.fromRows(rows, names));
    }
  }

  async #addBlock({ rows, columns }: Table, part: number): Promise<void> {
    const cells = new Float64Array(rows * columns.length);
    this.#withinBudget(
      () => columns.forEach((column, c) => void cells.set(this.#cellsOf(column, c, part), c * rows)),
      () => this.#mostWords(columns, this.#rows + rows),
    );
    this.#blocks.push({ at: this.#bytes, rows });
    await this.#store.write(new Uint8Array(cells.buffer), this.#bytes);
    this.#bytes += cells.byteLength;
    this.#rows += rows;
  }

  /** Says how the columns of a part ended: as words although it held nothing but numbers, and with a decimal comma. */
  async endPart(part: number, columns: readonly ColumnState[]): Promise<void> {
    for (const [c, state] of columns.entries()) {
      const column = this.#columns[c];
      if (state.isWords) column.words ??= new Map();
      if (column.words) await this.#toWords(c, (own) => own === part, state.commas > 0);
    }
  }

  /** The table of the rows so far. */
  async finish(): Promise<TableSource> {
    for (const [c, column] of this.#columns.entries()) {
      if (column.words) await this.#toWords(c, () => true, false);
    }
    return new CachedTable({
      ...{ store: this.#store, rows: this.#rows, blocks: [...this.#blocks], width: this.#columns.length },
      options: this.#options,
      columns: this.#columns.map(({ name, decimal, words, grouped, written }, place) => ({
        ...{ name, place },
        ...(grouped ? { grouped } : {}),
        ...(words ? { words: [...words.keys()], ...(written ? { written } : {}) } : decimal ? { decimal } : {}),
      })),
    });
  }

  #cellsOf(column: TableColumn, c: number, part: number): Float64Array {
    const own = this.#columns[c];
    if (column.grouped) own.grouped = true;
    if (column.form === "numbers") {
      if (column.decimal && part === 0) own.decimal = ",";
      own.numbers.push({ block: this.#blocks.length, part });
      return column.values;
    }
    if (column.written) own.written = true;
    own.words ??= new Map();
    const { words } = own;
    const codes = column.words.map((word) => this.#codeOf(words, word));
    return Float64Array.from(column.codes, (code) => (code === NO_WORD ? Number.NaN : codes[code]));
  }

  #codeOf(words: Map<string, number>, word: string): number {
    const known = words.get(word);
    if (known !== undefined) return known;
    this.#options.words?.account.takeText(2 * word.length);
    words.set(word, words.size);
    return words.size - 1;
  }

  /** Where the words of all columns do not fit in memory, the error names the column that has most. */
  #withinBudget<T>(work: () => T, most: () => { name: string; count: number; isName: boolean }): T {
    try {
      return work();
    } catch (error) {
      const { words } = this.#options;
      if (!(error instanceof OverBudget) || !words) throw error;
      const { name, count, isName } = most();
      const found = `column ${JSON.stringify(name)} with ${count} or more`;
      const cure = isName
        ? `leave it out with --columns ${JSON.stringify(`${name}:ignore`)}, or raise --memory`
        : "raise --memory";
      throw badFile(
        words.file,
        "",
        `expected columns whose different words fit in memory, found ${found}; ${cure}`,
        error,
      );
    }
  }

  /** The column with most words so far, those of rows that are being added among them. */
  #mostWords(added: readonly TableColumn[], rows: number): { name: string; count: number; isName: boolean } {
    const counts = added.map((column, c) => {
      const known = this.#columns[c].words;
      const fresh = column.form === "words" ? column.words.filter((word) => !known?.has(word)).length : 0;
      return (known?.size ?? 0) + fresh;
    });
    const count = Math.max(...counts);
    const column = added[counts.indexOf(count)];
    // As in memory, where a column with another word in almost every row is left out, but for dates.
    const isName = count > rows / 2 && !(column.form === "words" && orderOf(column.words));
    return { name: column.name, count, isName };
  }

  /** Writes rows of parts that were taken for numbers as the words that they spell. */
  async #toWords(c: number, isOf: (part: number) => boolean, hasComma: boolean): Promise<void> {
    const { name, numbers, words } = this.#columns[c];
    const decimal = hasComma ? "," : undefined;
    const coded = (value: number) =>
      Number.isNaN(value) ? value : this.#codeOf(words as Map<string, number>, spelled(value, decimal));
    for (const { block } of numbers.filter(({ part }) => isOf(part))) {
      const { at, rows } = this.#blocks[block];
      const cells = await readCells(this.#store, at + c * rows * 8, rows);
      const values = this.#withinBudget(
        () => cells.map(coded),
        () => ({ name, isName: true, count: (words as Map<string, number>).size }),
      );
      await this.#store.write(new Uint8Array(values.buffer), at + c * rows * 8);
    }
    this.#columns[c].numbers = numbers.filter(({ part }) => !isOf(part));
  }
}

const blockRowsOf = (columns: number, { room }: TableCacheOptions): number =>
  Math.max(FEWEST, Math.min(MOST, Math.floor(room / 64 / columns)));

async function readCells(store: Store, at: number, rows: number): Promise<Float64Array> {
  const bytes = await store.read(at, at + rows * 8);
  return new Float64Array(bytes.buffer, bytes.byteOffset, rows);
}

interface CachedLayout {
  readonly store: Store;
  readonly rows: number;
  readonly blocks: readonly CachedBlock[];
  /** Columns of the file. */
  readonly width: number;
  readonly options: TableCacheOptions;
  readonly columns: readonly {
    readonly name: string;
    /** The column of the file. */
    readonly place: number;
    readonly words?: readonly string[];
    readonly decimal?: ",";
    readonly grouped?: true;
    readonly written?: true;
  }[];
}

class CachedTable implements TableSource {
  readonly form = "tables";
  readonly rows: number;
  readonly columns: readonly { readonly name: string }[];
  readonly #layout: CachedLayout;

  constructor(layout: CachedLayout) {
    this.rows = layout.rows;
    this.columns = layout.columns.map(({ name }) => ({ name }));
    this.#layout = layout;
  }

  async column(c: number): Promise<TableColumn> {
    return this.#columnOf(c, await this.#cells(c));
  }

  async #cells(c: number): Promise<Float64Array> {
    const { blocks, columns, store } = this.#layout;
    const cells = new Float64Array(this.rows);
    let first = 0;
    for (const { at, rows } of blocks) {
      cells.set(await readCells(store, at + columns[c].place * rows * 8, rows), first);
      first += rows;
    }
    return cells;
  }

  async *blocks(): AsyncGenerator<Table> {
    const { blocks, width, columns, store } = this.#layout;
    for (const { at, rows } of blocks) {
      const cells = await readCells(store, at, width * rows);
      const own = columns.map(({ place }, c) => this.#columnOf(c, cells.slice(place * rows, (place + 1) * rows)));
      yield Table.of(own);
    }
  }

  select(names: readonly string[]): TableSource {
    const { columns } = this.#layout;
    const chosen = names.flatMap((name) => columns.filter((column) => column.name === name));
    return new CachedTable({ ...this.#layout, columns: chosen });
  }

  async pick(rows: Uint32Array): Promise<TableSource> {
    const { options, columns } = this.#layout;
    const store = options.stores();
    const blockRows = blockRowsOf(columns.length, options);
    const blocks = Array.from({ length: Math.ceil(rows.length / blockRows) }, (_, b) => ({
      at: b * blockRows * columns.length * 8,
      rows: Math.min(blockRows, rows.length - b * blockRows),
    }));
    for (let c = 0; c < columns.length; c++) {
      const cells = await this.#cells(c);
      for (const [b, { at, rows: count }] of blocks.entries()) {
        const some = rows.subarray(b * blockRows, b * blockRows + count);
        const values = Float64Array.from(some, (r) => cells[r]);
        await store.write(new Uint8Array(values.buffer), at + c * count * 8);
      }
    }
    const own = columns.map((column, place) => ({ ...column, place }));
    return new CachedTable({ options, store, blocks, rows: rows.length, width: own.length, columns: own });
  }

  keep(blocks: AsyncIterable<Csr>, shape: Parameters<TableSource["keep"]>[1]): ReturnType<TableSource["keep"]> {
    return keptRows(blocks, shape, this.#layout.options);
  }

  #columnOf(c: number, cells: Float64Array): TableColumn {
    const { name, words, decimal, grouped, written } = this.#layout.columns[c];
    const lost = grouped ? { grouped } : {};
    if (!words) return { form: "numbers", name, values: cells, ...(decimal ? { decimal } : {}), ...lost };
    const codes = Uint32Array.from(cells, (code) => (Number.isNaN(code) ? NO_WORD : code));
    return { form: "words", name, words, codes, ...lost, ...(written ? { written } : {}) };
  }
}

/** Rows of numbers as a table, written to a file of its own: what `Table.fromMatrix` is for rows in memory. */
export async function tableOfRows(
  x: RowSource,
  names: readonly string[] | undefined,
  options: TableCacheOptions,
): Promise<TableSource> {
  const columns = names ?? Array.from({ length: x.features }, (_, c) => `column ${c}`);
  const cache = new TableCache(columns, options);
  await cache.addRows(x, columns);
  return cache.finish();
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
