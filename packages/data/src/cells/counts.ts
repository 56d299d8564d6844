/**
 * Counts of genes in cells, whatever file they came from, as sparse rows: one row a cell, with its barcode and what a table says of it. A
 * reader of a format gives the genes, the cells and the counts some cells at a time; all else is done here.
 */

import { type Csr, narrowest, type Values } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import type { Account } from "../budget.ts";
import { csrFrom, type DataSet } from "../data-set.ts";
import type { BuiltRows, CellsBuilder } from "../readers/cells-builder.ts";
import { type Columns, factColumns, findColumn, guessedLabel, guessNotes, NO_COLUMNS } from "../readers/columns.ts";
import { isDue, type Reading } from "../readers/options.ts";
import { endOf, noRows, type RowBlocks } from "../readers/reader.ts";
import { RowsBuilder } from "../readers/rows-builder.ts";
import { type GenePlaces, type Genes, knownGenes, ownGenes } from "./genes.ts";
import { type CellTable, withMetadata } from "./metadata.ts";

/** Numbers as a file has them. */
export type FileNumbers = Values | Int8Array | Int32Array | Uint32Array;

/** Some cells in a row: their entries one cell after the other, genes in any order. */
export interface CellBatch {
  readonly offsets: ArrayLike<number>;
  readonly genes: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

/** What a reader of a format gives. */
export interface CellFile extends CellTable {
  readonly genes: Genes;
  /** The cells in order. */
  batches(account: Account): AsyncIterable<CellBatch> | Iterable<CellBatch>;
  readonly notes?: readonly string[];
}

/** Names of columns that hold types of cells. */
const TYPE_NAMES = new Set(["cell_type", "celltype", "cell type", "cell.type"]);

/** The rows of a file of counts. */
export async function* cellRows(name: string, file: CellFile, options: Reading): RowBlocks {
  const account = options.budget.of(name);
  const { schema } = options;
  const genes = schema?.columns ? knownGenes(name, file.genes, schema) : ownGenes(name, file.genes);
  const table = options.metadata ? await withMetadata(file, options.metadata, options) : file;
  const columns = columnsOf(name, table.columns, options);
  const needed = [columns.label, columns.groups, columns.times, columns.weights, ...columns.kept].filter((c) => c >= 0);
  const said = new Map<number, readonly string[]>();
  for (const c of needed) if (!said.has(c)) said.set(c, await table.column(table.columns[c]));
  const rows: { cells?: CountCells } = {};
  const notes = [...genes.notes, ...(file.notes ?? []), ...(table.notes ?? []), ...(columns.notes ?? [])];
  const builder = new RowsBuilder(name, table.columns, { ...columns, notes }, options, {
    features: genes.names.length,
    featureNames: genes.names,
    cells: (own) => (rows.cells = new CountCells(name, genes, own)),
  });
  const cells = rows.cells as CountCells;
  let barcodes: string[] = [];
  const take = async (isEnd: boolean): Promise<DataSet> => {
    const block = await builder.take(isEnd);
    const { columns: at, ids } = genes;
    const found = { ...block.found, genes: true, ...(at ? { columns: at } : {}) };
    const rowNames = barcodes;
    barcodes = [];
    return { ...block, rowNames, found, ...(ids ? { featureIds: ids } : {}) } as DataSet;
  };
  const { label } = columns;
  const texts = (column: number) => said.get(column) as readonly string[];
  let cell = 0;
  for await (const batch of file.batches(account)) {
    const count = batch.offsets.length - 1;
    const isOut = new Uint8Array(count);
    if (cell + count > file.barcodes.length) {
      throw badFile(name, "", `expected ${file.barcodes.length} cells, one for each barcode, found more`);
    }
    for (let r = 0; r < count; r++, cell++) {
      const place = (c: number) => `cell ${file.barcodes[cell]}, column ${JSON.stringify(table.columns[c])}`;
      if (label >= 0) {
        const text = texts(label)[cell];
        if (builder.leavesOut(text)) {
          isOut[r] = 1;
          continue;
        }
        if (!builder.keepsEmpty(text)) {
          if (text === "" && !builder.several) throw badFile(name, place(label), "expected a label, found nothing");
          builder.addLabel(text);
        }
      }
      const at = cell;
      if (builder.hasFacts) builder.addFacts((c) => texts(c)[at], place);
      barcodes.push(file.barcodes[cell]);
      builder.rows++;
    }
    cells.addBatch(batch, isOut);
    if (builder.rows > 0 && isDue(options.pace)) yield await take(false);
  }
  if (cell !== file.barcodes.length) {
    throw badFile(name, "", `expected ${file.barcodes.length} cells, one for each barcode, found ${cell}`);
  }
  if (builder.rows + builder.taken === 0) throw noRows(name, builder.leftOut);
  if (builder.rows > 0) yield await take(true);
  return endOf(builder);
}

/** Which columns hold the label, and what else is asked for of cells. */
function columnsOf(name: string, names: readonly string[], options: Reading): Columns {
  const { labelColumn, schema } = options;
  const facts = factColumns(name, names, names.length, options);
  const taken = new Set([facts.groups, facts.times, facts.weights]);
  const own = { ...NO_COLUMNS, ...facts };
  if (labelColumn === null) return own;
  if (labelColumn !== undefined) {
    return { ...own, label: findColumn(name, names, names.length, labelColumn, "labelColumn") };
  }
  const known = schema?.label === undefined ? -1 : names.indexOf(String(schema.label));
  if (known >= 0 || schema?.label !== undefined) return { ...own, label: known };
  const types = names.findIndex((column, c) => TYPE_NAMES.has(column.toLowerCase()) && !taken.has(c));
  const label = types >= 0 ? types : guessedLabel(name, names, (c) => !taken.has(c));
  return { ...own, label, ...guessNotes(names, label) };
}

/** Counts on their way to sparse rows. */
class CountCells implements CellsBuilder {
  readonly #name: string;
  readonly #genes: GenePlaces;
  readonly #account: Account;
  readonly #parts: Promise<Csr>[] = [];
  /** Whether genes of a file in ascending order are features in ascending order. */
  readonly #isAscending: boolean;
  readonly #sums: Float64Array;

  constructor(name: string, genes: GenePlaces, account: Account) {
    this.#name = name;
    this.#genes = genes;
    this.#account = account;
    const { features, names } = genes;
    account.take(names.length * 8);
    this.#sums = new Float64Array(names.length);
    const placed = features.filter((f) => f >= 0);
    this.#isAscending = placed.every((f, j) => j === 0 || f > placed[j - 1]);
  }

  /** Adds the rows of a batch but those that are left out. */
  addBatch(batch: CellBatch, isOut: Uint8Array): void {
    this.#parts.push(csrOf(this.#name, this.#placed(batch, isOut), this.#genes.names.length));
  }

  #placed({ offsets, genes, values }: CellBatch, isOut: Uint8Array): Entries {
    const { features } = this.#genes;
    const first = offsets[0];
    const most = offsets[offsets.length - 1] - first;
    this.#account.take(most * 12);
    const indices = new Uint32Array(most);
    const numbers = new Float64Array(most);
    const starts = new Uint32Array(offsets.length - isOut.reduce((sum, out) => sum + out, 0));
    const sums = this.#sums;
    let at = 0;
    let row = 0;
    for (let r = 0; r + 1 < offsets.length; r++) {
      if (isOut[r]) continue;
      const begin = at;
      let isSorted = this.#isAscending;
      let previous = -1;
      for (let e = offsets[r]; e < offsets[r + 1]; e++) {
        const gene = genes[e];
        const value = values[e];
        if (!(gene >= 0 && gene < features.length)) {
          throw badFile(this.#name, `cell ${r}`, `expected genes below ${features.length}, found ${gene}`);
        }
        if (!Number.isFinite(value)) throw badFile(this.#name, "", `expected finite numbers, found ${value}`);
        if (gene <= previous) isSorted = false;
        previous = gene;
        const feature = features[gene];
        if (feature < 0 || value === 0) continue;
        indices[at] = feature;
        numbers[at++] = value;
      }
      if (!isSorted) at = sortedRow(indices, numbers, begin, at, sums);
      starts[++row] = at;
    }
    return { offsets: starts, indices: indices.slice(0, at), values: narrowest(numbers.slice(0, at)) };
  }

  async take(): Promise<BuiltRows> {
    const parts = await Promise.all(this.#parts.splice(0));
    const x = parts.length === 1 ? parts[0] : await this.#join(parts);
    return { form: "matrix", x, featureNames: this.#genes.names };
  }

  #join(parts: readonly Csr[]): Promise<Csr> {
    const entries = parts.reduce((sum, part) => sum + part.values.length, 0);
    const rows = parts.reduce((sum, part) => sum + part.rows, 0);
    const Type = parts.map(({ values }) => values).reduce(wider).constructor as new (count: number) => Values;
    this.#account.take(entries * (4 + Type.prototype.BYTES_PER_ELEMENT) + 4 * rows);
    const [indices, values] = [new Uint32Array(entries), new Type(entries)];
    const offsets = new Uint32Array(rows + 1);
    let [at, row] = [0, 0];
    for (const part of parts) {
      indices.set(part.indices, at);
      values.set(part.values as never, at);
      for (let r = 1; r <= part.rows; r++) offsets[++row] = at + part.offsets[r];
      at += part.values.length;
    }
    return csrOf(this.#name, { offsets, indices, values }, this.#genes.names.length);
  }

  add(): void {}
  addMissing(): void {}
  addText(): void {}
}

interface Entries {
  readonly offsets: Uint32Array;
  readonly indices: Uint32Array;
  readonly values: Values;
}

const csrOf = (name: string, { offsets, indices, values }: Entries, features: number): Promise<Csr> =>
  csrFrom(name, offsets, indices, values, features);

/** Sorts the entries of a row by feature, adds up those of one, leaves out sums of zero, and answers where the row ends. */
function sortedRow(
  indices: Uint32Array,
  numbers: Float64Array,
  from: number,
  to: number,
  sums: Float64Array, // zero everywhere
): number {
  for (let e = from; e < to; e++) sums[indices[e]] += numbers[e];
  indices.subarray(from, to).sort();
  let at = from;
  for (let e = from; e < to; e++) {
    const feature = indices[e];
    const sum = sums[feature];
    sums[feature] = 0;
    if (sum === 0) continue; // taken already, or nothing in all
    indices[at] = feature;
    numbers[at++] = sum;
  }
  return at;
}

/** The type that holds the numbers of both exactly. */
function wider(a: Values, b: Values): Values {
  const whole = [Uint8Array, Uint16Array, Int16Array, Float32Array, Float64Array] as const;
  const rank = (values: Values) => whole.findIndex((Type) => values instanceof Type);
  const [low, high] = rank(a) <= rank(b) ? [a, b] : [b, a];
  // No narrower type holds all of Uint16 and negative numbers.
  return rank(low) === 1 && rank(high) === 2 ? new Float32Array(0) : high;
}
