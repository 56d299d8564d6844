/**
 * A table written to a file so that it can be read by column and by block of rows. Every cell takes eight bytes: a number, or the number
 * of its word; NaN is a missing one. Whether a column is one of numbers or of words may show late: then what was written of it
 * before is written again.
 */

import type { Csr } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import { type Account, OverBudget } from "../budget.ts";
import { spelled } from "../table/cells.ts";
import { orderOf } from "../table/detect.ts";
import type { TableSource } from "../table/source.ts";
import { NO_WORD, Table, type TableColumn } from "../table/table.ts";
import { cacheRows, Scratch } from "./cached-rows.ts";

/** Rows of a block, at least and at most. */
const FEWEST = 64;
const MOST = 1 << 16;

/** Where tables are written, and how much of them may be in memory. */
export interface TableCacheOptions {
  readonly room: number;
  readonly folder: string;
  /** Words of columns stay in memory, and are accounted for; errors name the file. */
  readonly words?: { readonly account: Account; readonly file: string };
}

/** Rows of a column that were written as numbers, and how these are spelled should the column be one of words. */
interface NumberRun {
  readonly from: number;
  to: number;
  readonly part: number;
}

interface CachedColumn {
  readonly name: string;
  decimal?: ",";
  /** The words of the column; none where it is one of numbers. */
  words?: Map<string, number>;
  readonly runs: NumberRun[];
}

/** Takes in the rows of a table, block by block. */
export class TableCache {
  readonly #options: TableCacheOptions;
  readonly #columns: CachedColumn[];
  readonly #file: Scratch;
  readonly #blockRows: number;
  /** The block that is being filled, column by column. */
  readonly #block: Float64Array;
  #rows = 0;

  constructor(names: readonly string[], options: TableCacheOptions) {
    this.#options = options;
    this.#columns = names.map((name) => ({ name, runs: [] }));
    this.#file = new Scratch(options.folder);
    this.#blockRows = Math.max(FEWEST, Math.min(MOST, Math.floor(options.room / 64 / names.length)));
    this.#block = new Float64Array(this.#blockRows * names.length);
  }

  /** Adds rows; their columns are those of the cache, in its order. `part` is the file they come from. */
  async add({ rows, columns }: Table, part = 0): Promise<void> {
    const cells = this.#withinBudget(
      () => columns.map((column, c) => this.#cellsOf(column, c, rows, part)),
      () => this.#mostWords(columns, this.#rows + rows),
    );
    for (let from = 0; from < rows; ) {
      const at = this.#rows % this.#blockRows;
      const to = Math.min(rows, from + this.#blockRows - at);
      cells.forEach((values, c) => {
        this.#block.set(values.subarray(from, to), c * this.#blockRows + at);
      });
      this.#rows += to - from;
      from = to;
      if (this.#rows % this.#blockRows === 0) await this.#flush(this.#rows / this.#blockRows - 1);
    }
  }

  /** Says how the columns of a part ended: as words although it held nothing but numbers, and with a decimal comma. */
  async endPart(
    part: number,
    ends: readonly { readonly isWords: boolean; readonly hasComma: boolean }[],
  ): Promise<void> {
    for (const [c, { isWords, hasComma }] of ends.entries()) {
      const column = this.#columns[c];
      if (isWords) column.words ??= new Map();
      else if (hasComma && part === 0) column.decimal = ",";
      if (column.words) await this.#toWords(c, (run) => run.part === part, hasComma);
    }
  }

  /** The table, once all rows are there. */
  async finish(): Promise<TableSource> {
    for (const [c, column] of this.#columns.entries()) {
      if (column.words) await this.#toWords(c, () => true, false);
    }
    if (this.#rows % this.#blockRows > 0) await this.#flush(Math.floor(this.#rows / this.#blockRows));
    return new CachedTable({
      ...{ file: this.#file, rows: this.#rows, blockRows: this.#blockRows, width: this.#columns.length },
      options: this.#options,
      columns: this.#columns.map(({ name, decimal, words }, place) => ({
        ...{ name, place },
        ...(words ? { words: [...words.keys()] } : decimal ? { decimal } : {}),
      })),
    });
  }

  #cellsOf(column: TableColumn, c: number, rows: number, part: number): Float64Array {
    const own = this.#columns[c];
    if (column.form === "numbers") {
      const last = own.runs.at(-1);
      if (last?.part === part && last.to === this.#rows) last.to += rows;
      else own.runs.push({ from: this.#rows, to: this.#rows + rows, part });
      return column.values;
    }
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
        ? `leave it out with --ignore-columns ${/[\s,]/.test(name) ? JSON.stringify(name) : name}, or raise --memory`
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

  /** Writes rows that were taken for numbers as the words that they spell. */
  async #toWords(c: number, which: (run: NumberRun) => boolean, hasComma: boolean): Promise<void> {
    const { runs, words } = this.#columns[c];
    const decimal = hasComma ? "," : undefined;
    const coded = (value: number) =>
      Number.isNaN(value) ? value : this.#codeOf(words as Map<string, number>, spelled(value, decimal));
    const { name } = this.#columns[c];
    const codedAll = (values: Float64Array) =>
      this.#withinBudget(
        () => values.map(coded),
        () => ({ name, isName: true, count: (words as Map<string, number>).size }),
      );
    for (const { from, to } of runs.filter(which)) {
      for (let low = from; low < to; ) {
        const block = Math.floor(low / this.#blockRows);
        const [at, end] = [low - block * this.#blockRows, Math.min(to - block * this.#blockRows, this.#blockRows)];
        if ((block + 1) * this.#blockRows > this.#rows) {
          const own = this.#block.subarray(c * this.#blockRows + at, c * this.#blockRows + end);
          own.set(codedAll(own));
        } else {
          const place = this.#placeOf(block, c) + at * 8;
          const bytes = await this.#file.read(place, place + (end - at) * 8);
          const values = codedAll(new Float64Array(bytes.slice().buffer));
          await this.#file.write(new Uint8Array(values.buffer), place);
        }
        low = block * this.#blockRows + end;
      }
    }
    this.#columns[c].runs.splice(0, runs.length, ...runs.filter((run) => !which(run)));
  }

  #placeOf(block: number, c: number): number {
    return (block * this.#columns.length + c) * this.#blockRows * 8;
  }

  async #flush(block: number): Promise<void> {
    const { buffer, byteOffset, byteLength } = this.#block;
    await this.#file.write(new Uint8Array(buffer, byteOffset, byteLength), this.#placeOf(block, 0));
  }
}

interface CachedLayout {
  readonly file: Scratch;
  readonly rows: number;
  readonly blockRows: number;
  /** Columns of the file. */
  readonly width: number;
  readonly options: TableCacheOptions;
  readonly columns: readonly {
    readonly name: string;
    /** The column of the file. */
    readonly place: number;
    readonly words?: readonly string[];
    readonly decimal?: ",";
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
    const { blockRows, width, columns, file } = this.#layout;
    const cells = new Float64Array(this.rows);
    for (let from = 0; from < this.rows; from += blockRows) {
      const at = ((from / blockRows) * width + columns[c].place) * blockRows * 8;
      const bytes = await file.read(at, at + Math.min(blockRows, this.rows - from) * 8);
      new Uint8Array(cells.buffer, from * 8, bytes.byteLength).set(bytes);
    }
    return this.#columnOf(c, cells);
  }

  async *blocks(): AsyncGenerator<Table> {
    const { blockRows, width, columns, file } = this.#layout;
    for (let from = 0; from < this.rows; from += blockRows) {
      const at = (from / blockRows) * width * blockRows * 8;
      const bytes = await file.read(at, at + width * blockRows * 8);
      const rows = Math.min(blockRows, this.rows - from);
      const cells = ({ place }: { place: number }) =>
        new Float64Array(bytes.buffer, bytes.byteOffset + place * blockRows * 8, rows);
      yield Table.of(columns.map((column, c) => this.#columnOf(c, cells(column))));
    }
  }

  select(names: readonly string[]): TableSource {
    const { columns } = this.#layout;
    const chosen = names.flatMap((name) => columns.filter((column) => column.name === name));
    return new CachedTable({ ...this.#layout, columns: chosen });
  }

  async pick(rows: Uint32Array): Promise<TableSource> {
    const { options, columns } = this.#layout;
    const file = new Scratch(options.folder);
    const blockRows = Math.max(FEWEST, Math.min(MOST, Math.floor(options.room / 64 / columns.length)));
    for (let c = 0; c < columns.length; c++) {
      const whole = await this.column(c);
      const cells = whole.form === "numbers" ? whole.values : Float64Array.from(whole.codes, wordCell);
      for (let from = 0; from < rows.length; from += blockRows) {
        const block = Float64Array.from(rows.subarray(from, from + blockRows), (r) => cells[r]);
        const place = ((from / blockRows) * columns.length + c) * blockRows * 8;
        await file.write(new Uint8Array(block.buffer), place);
      }
    }
    const own = columns.map((column, place) => ({ ...column, place }));
    return new CachedTable({ options, file, blockRows, rows: rows.length, width: own.length, columns: own });
  }

  keep(blocks: AsyncIterable<Csr>, shape: Parameters<TableSource["keep"]>[1]): ReturnType<TableSource["keep"]> {
    const { room, folder } = this.#layout.options;
    return cacheRows(blocks, { form: "csr", ...shape, room, folder });
  }

  #columnOf(c: number, cells: Float64Array): TableColumn {
    const { name, words, decimal } = this.#layout.columns[c];
    if (!words) return { form: "numbers", name, values: cells, ...(decimal ? { decimal } : {}) };
    const codes = Uint32Array.from(cells, (code) => (Number.isNaN(code) ? NO_WORD : code));
    return { form: "words", name, words, codes };
  }
}

const wordCell = (code: number): number => (code === NO_WORD ? Number.NaN : code);
