/**
 * Matrix Market files of counts with the names of genes and cells beside them, as 10x folders have them: matrix.mtx, features.tsv or
 * genes.tsv, and barcodes.tsv, each plain or packed, with anything before these names. Genes or cells may be the rows of the matrix.
 */

import { badCell, badFile, quoted } from "../bad-file.ts";
import type { Account, Budget } from "../budget.ts";
import { GrowingIndices, GrowingValues } from "../growing-values.ts";
import { numberOf } from "../readers/decimal.ts";
import { decoded } from "../readers/encoding.ts";
import type { Reading } from "../readers/options.ts";
import type { RowBlocks } from "../readers/reader.ts";
import { eachLine, scanLines, skipBlanks } from "../readers/scan.ts";
import { type ByteSource, type Opened, openSource } from "../source.ts";
import { type CellBatch, cellRows } from "./counts.ts";
import type { Genes } from "./genes.ts";

/** Entries that are handed on at a time. */
const BATCH = 1 << 19;

/** Where the names beside a matrix are, by the word that their files have in place of `matrix`. */
const GENE_FILES = ["features", "genes"];
const CELL_FILES = ["barcodes"];

/** Reads a Matrix Market file with its names. */
export async function* readMtx(opened: Opened, options: Reading): RowBlocks {
  const { name } = opened;
  const account = options.budget.of(name);
  const genes = genesOf(await tableBeside(opened, GENE_FILES, account));
  const barcodes = (await tableBeside(opened, CELL_FILES, account)).map(([barcode]) => barcode);
  const file = {
    genes,
    barcodes,
    columns: [],
    column: () => [],
    batches: () => entries(opened, { genes, barcodes }, options.budget),
  };
  return yield* cellRows(name, file, options);
}

/** Genes from lines of number, symbol and type; other features than genes, such as antibodies, are left out. */
function genesOf(lines: readonly (readonly string[])[]): Genes {
  const hasSymbols = lines.every((line) => line.length > 1);
  const names = lines.map((line) => (hasSymbols ? line[1] : line[0]));
  const ids = hasSymbols ? lines.map(([id]) => id) : undefined;
  const isOther = Uint8Array.from(lines, ([, , type]) => (type !== undefined && type !== "Gene Expression" ? 1 : 0));
  return { names, ids, ...(isOther.includes(0) && isOther.includes(1) ? { isOther } : {}) };
}

/** The fields of a file of names beside the matrix. */
async function tableBeside(opened: Opened, words: readonly string[], account: Account): Promise<string[][]> {
  const { name, source } = opened;
  const own = source.name.replace(/^.*[\\/]/, "");
  const prefix = /^(.*?)(matrix)?\.mtx(\.gz|\.zst)?$/i.exec(own)?.[1] ?? "";
  const tried: string[] = [];
  for (const before of new Set([prefix, prefix.replace(/[._-]?$/, "_"), ""])) {
    for (const word of words) {
      for (const ending of [".tsv", ".tsv.gz", ".txt", ".txt.gz"]) {
        tried.push(`${before}${word}${ending}`);
        const beside = await source.sibling?.(`${before}${word}${ending}`);
        if (beside) return fieldsOf(beside, account);
      }
    }
  }
  throw badCell(name, "", {
    expected: `${words.map((word) => `${word}.tsv`).join(" or ")} beside the matrix, plain or .gz`,
    found: source.sibling ? `none of ${tried.slice(0, 6).join(", ")}` : "a source with no files beside it",
    cure: () => "give the folder that holds the three files",
  });
}

async function fieldsOf(source: ByteSource, account: Account): Promise<string[][]> {
  const { name, stream } = await openSource(source);
  const lines: string[][] = [];
  await eachLine(name, stream, account, (window, from, to, line) => {
    if (to === from) return;
    const text = decoded(name, line, window.subarray(from, to));
    account.takeText(2 * text.length);
    account.takeValues(3);
    lines.push(text.split("\t").map((field) => field.replace(/^"(.*)"$/, "$1")));
  });
  return lines;
}

interface Names {
  genes: Genes;
  barcodes: readonly string[];
}

/** How a matrix is laid out. */
interface Layout {
  readonly rows: number;
  readonly columns: number;
  readonly entries: number;
  readonly cellsFirst: boolean;
}

/** The entries of the matrix, cell by cell. */
async function* entries(opened: Opened, names: Names, budget: Budget): AsyncGenerator<CellBatch> {
  const { name } = opened;
  let layout: Layout | undefined;
  let isHead = true;
  let seen = 0;
  let waiting = new Waiting(budget.of(name));
  let handed = 0; // cells that were handed on
  let isSorted = true;
  const onLine = (window: Uint8Array, from: number, to: number, line: number): void => {
    if (isHead) {
      isHead = false;
      checkHead(name, decoded(name, line, window.subarray(from, to)));
      return;
    }
    if (window[from] === 37 || skipBlanks(window, from, to) === to) return;
    const place = `line ${line}`;
    const numbers = fields(window, from, to);
    if (numbers === undefined) {
      throw badFile(
        name,
        place,
        `expected three numbers, found ${quoted(decoded(name, line, window.subarray(from, to)))}`,
      );
    }
    const [a, b, value] = numbers;
    if (layout === undefined) {
      layout = layOut(name, place, a, b, value, names);
      return;
    }
    const { rows, columns, cellsFirst } = layout;
    if (!(a >= 1 && a <= rows && b >= 1 && b <= columns && Number.isInteger(a) && Number.isInteger(b))) {
      throw badFile(name, place, `expected an entry of ${rows} x ${columns}, found ${a}, ${b}`);
    }
    const [gene, cell] = cellsFirst ? [b - 1, a - 1] : [a - 1, b - 1];
    if (cell < waiting.last) {
      isSorted = false;
      if (cell < handed) {
        const found = `cell ${cell + 1} after others`;
        throw badFile(
          name,
          place,
          `expected the entries of a cell together, found ${found}; write it column by column`,
        );
      }
    }
    waiting.push(cell, gene, value);
    seen++;
  };
  for await (const _ of scanLines(name, opened.stream, budget.of(name), onLine, {
    blockBytes: 1 << 22,
    isPatient: true,
  })) {
    if (!isSorted || waiting.length < BATCH) continue;
    const { last } = waiting;
    const rest = new Waiting(budget.of(name));
    yield waiting.until(last, handed, rest);
    waiting.account.release();
    [waiting, handed] = [rest, last];
  }
  if (layout === undefined) throw badFile(name, "", "expected a line of sizes, found none");
  const all = (layout as Layout).entries;
  if (seen !== all) throw badFile(name, "", `expected ${all} entries, as the line of sizes says, found ${seen}`);
  yield waiting.until(names.barcodes.length, handed);
  waiting.account.release();
}

function checkHead(name: string, head: string): void {
  const [mark, object, form, kind, symmetry] = head.trim().split(/\s+/);
  const isFit =
    mark === "%%MatrixMarket" &&
    object?.toLowerCase() === "matrix" &&
    form?.toLowerCase() === "coordinate" &&
    ["integer", "real"].includes(kind?.toLowerCase()) &&
    symmetry?.toLowerCase() === "general";
  if (isFit) return;
  throw badFile(
    name,
    "line 1",
    `expected %%MatrixMarket matrix coordinate integer (or real) general, found ${quoted(head)}`,
  );
}

/** The sizes must be those of the names. */
function layOut(name: string, place: string, rows: number, columns: number, count: number, names: Names): Layout {
  const [genes, cells] = [names.genes.names.length, names.barcodes.length];
  if (genes === rows && cells === columns) return { rows, columns, entries: count, cellsFirst: false };
  if (cells === rows && genes === columns) return { rows, columns, entries: count, cellsFirst: true };
  throw badFile(
    name,
    place,
    `expected ${genes} genes and ${cells} cells, as the names beside it say, found a matrix of ${rows} x ${columns}`,
  );
}

/** Three numbers of a line, the third 0 where a line of sizes would have it. */
function fields(window: Uint8Array, from: number, to: number): [number, number, number] | undefined {
  let at = skipBlanks(window, from, to);
  const next = (): number => {
    const start = at;
    while (at < to && window[at] !== 32 && window[at] !== 9) at++;
    const value = numberOf(window, start, at);
    at = skipBlanks(window, at, to);
    return value;
  };
  const numbers: [number, number, number] = [next(), next(), next()];
  return at === to && !numbers.some(Number.isNaN) ? numbers : undefined;
}

/** Entries that were read and not handed on. */
class Waiting {
  /** The cell of the last entry, and the largest so far. */
  last = 0;
  readonly account: Account;
  readonly #cells: GrowingIndices;
  readonly #genes: GrowingIndices;
  readonly #values: GrowingValues;

  constructor(account: Account) {
    this.account = account;
    this.#cells = new GrowingIndices(account);
    this.#genes = new GrowingIndices(account);
    this.#values = new GrowingValues(account);
  }

  get length(): number {
    return this.#cells.length;
  }

  push(cell: number, gene: number, value: number): void {
    if (cell > this.last) this.last = cell;
    this.#cells.push(cell);
    this.#genes.push(gene);
    this.#values.push(value);
  }

  /** The entries of cells `from` to `to`, cell by cell; those of later ones go to `rest`. */
  until(to: number, from: number, rest?: Waiting): CellBatch {
    const offsets = new Uint32Array(to - from + 1);
    for (let e = 0; e < this.length; e++) {
      const cell = this.#cells.get(e);
      if (cell < to) offsets[cell - from + 1]++;
      else rest?.push(cell, this.#genes.get(e), this.#values.get(e));
    }
    for (let c = 0; c < to - from; c++) offsets[c + 1] += offsets[c];
    const count = offsets[to - from];
    this.account.take(count * 12);
    const next = offsets.slice();
    const [genes, values] = [new Uint32Array(count), new Float64Array(count)];
    for (let e = 0; e < this.length; e++) {
      const cell = this.#cells.get(e);
      if (cell >= to) continue;
      const at = next[cell - from]++;
      genes[at] = this.#genes.get(e);
      values[at] = this.#values.get(e);
    }
    return { offsets, genes, values };
  }
}
