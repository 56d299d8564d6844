/**
 * Hashes of rows, by which data is recognised: the same numbers give the same hash whatever their element type and whether
 * rows are dense or sparse. They tell rows apart; they keep nothing secret and prove nothing.
 */

import { prefetch, type RowSource, type Rows, type Schema, type SchemaColumn, sha256 } from "@ranksim/core";
import { turns } from "@ranksim/core/internal";
import { type AnyRows, type DataSet, isInMemory, type RowLabels } from "./data-set.ts";
import { hashBytes } from "./row-hash-bytes.ts";
import { finish, mix } from "./row-hash-steps.ts";
import { knownBy } from "./table/cells.ts";
import { numbersOf } from "./table/column-code.ts";
import { plainNumber } from "./table/numbers.ts";
import type { TableSource } from "./table/source.ts";
import { NO_WORD, Table, type TableColumn } from "./table/table.ts";
import { murmurHash } from "./text/murmur.ts";
import type { TextSource } from "./text/source.ts";

/** Hashes that a model keeps at most: of 60,000 training rows, 1,000 that are looked at again give 17 matches. */
const MOST_KEPT = 1024;

type Training = NonNullable<Schema["training"]>;

/**
 * A hash of 32 bits for each row, labels not included. Rows of an array for a model of tables, whose `columns` are given, are
 * hashed as those of a table: by position, as the model takes them.
 */
export function hashRows(data: DataSet, columns?: Schema["columns"]): Uint32Array {
  if (data.form === "matrix") {
    const names = columns?.map(({ name }) => name);
    return names?.length === data.x.features ? hashTable(Table.fromMatrix(data.x, names), columns) : hashMatrix(data.x);
  }
  return data.form === "text"
    ? Uint32Array.from(data.text, (text) => murmurHash(text))
    : hashTable(data.table, columns);
}

/** Cells by column, missing ones skipped. */
function hashTable(table: Table, columns?: Schema["columns"]): Uint32Array {
  const hashes = new Int32Array(table.rows);
  const known = byName(columns);
  for (const column of table.columns) addColumn(hashes, column, known.get(column.name));
  return Uint32Array.from(hashes, finish);
}

const byName = (columns: Schema["columns"] = []) => new Map(columns.map((column) => [column.name, column]));

/** Takes the cells of a column in: a number as its bits, a word as its hash or as the number it spells. */
function addColumn(hashes: Int32Array, written: TableColumn, schema: SchemaColumn | undefined): void {
  // However its numbers are written, and whichever of them stand for none.
  const column: TableColumn =
    schema?.type === "number" ? { ...written, form: "numbers", values: numbersOf(written, schema) } : written;
  const name = murmurHash(column.name);
  const value = new Float64Array(1);
  const bits = new Uint32Array(value.buffer);
  const ofNumber = (number: number) => {
    value[0] = number + 0;
    return bits[0] ^ Math.imul(bits[1], 0x9e3779b1);
  };
  const wordOf = knownBy(schema ?? {});
  // A block without a word may hold the same numbers as numbers.
  const ofWord = (word: string) => {
    const known = wordOf(word);
    const number = plainNumber(known);
    return Number.isNaN(number) || String(number) !== known ? murmurHash(known) : ofNumber(number);
  };
  const words = column.form === "words" ? column.words.map(ofWord) : [];
  const isGone = column.form === "words" ? column.words.map((word) => schema?.missing?.includes(word) ?? false) : [];
  for (let r = 0; r < hashes.length; r++) {
    if (column.form === "numbers") {
      if (Number.isNaN(column.values[r])) continue;
      hashes[r] = mix(mix(hashes[r], name), ofNumber(column.values[r]));
    } else if (column.codes[r] !== NO_WORD && !isGone[column.codes[r]]) {
      hashes[r] = mix(mix(hashes[r], name), words[column.codes[r]]);
    }
  }
}

/** What a schema says of training rows. */
export function trainingOf(hashes: Uint32Array, y: RowLabels | undefined, rows: number, keepHashes: boolean): Training {
  const labels = new TextEncoder().encode(JSON.stringify(y ?? null));
  const digest = sha256([littleEndian(hashes), labels]);
  if (!keepHashes) return { rows, digest };
  return { rows, digest, seen: smallest(hashes), repeats: repeatsIn(hashes) };
}

/** Rows that equal another one. */
export function repeatsIn(hashes: Uint32Array): number {
  const sorted = hashes.toSorted();
  let repeats = 0;
  for (let j = 0; j < sorted.length; j++) if (sorted[j] === sorted[j - 1] || sorted[j] === sorted[j + 1]) repeats++;
  return repeats;
}

/** Training rows and rows that were added to them. */
export function joinTrainings(before: Training, added: Training): Training {
  const digest = sha256([new TextEncoder().encode(before.digest + added.digest)]);
  const rows = before.rows + added.rows;
  if (before.seen === undefined || added.seen === undefined) return { rows, digest };
  const seen = smallest(Uint32Array.from([...hashesIn(before.seen), ...hashesIn(added.seen)]));
  if (before.repeats === undefined || added.repeats === undefined) return { rows, digest, seen };
  return { rows, digest, seen, repeats: before.repeats + added.repeats };
}

function smallest(hashes: Uint32Array): string {
  const sorted = hashes.toSorted();
  const kept: string[] = [];
  for (let j = 0; j < sorted.length && kept.length < MOST_KEPT; j++) {
    if (j === 0 || sorted[j] !== sorted[j - 1]) kept.push(sorted[j].toString(16).padStart(8, "0"));
  }
  return kept.join("");
}

const hashesIn = (seen: string): number[] => (seen.match(/.{8}/g) ?? []).map((digits) => Number.parseInt(digits, 16));

/**
 * How many of these rows the model was trained on, estimated from the hashes it kept: exact below 1,024 training rows that are all
 * different. Rows that are alike by chance, as training rows are, do not count. Undefined where it kept none.
 */
export function seenRows(schema: Schema, data: DataSet): number | undefined {
  const tally = new SeenTally(schema);
  tally.add(data);
  return tally.seen();
}

/** So many standard errors above the share by chance are no chance. */
const CHANCE_ERRORS = 3;

/** `seenRows` of rows that come in blocks. */
export class SeenTally {
  readonly #known: ReadonlySet<number> | undefined;
  /** Above the largest hash that was kept nothing is known, unless all were kept. */
  readonly #reach: number;
  readonly #columns: Schema["columns"];
  /** The share of new rows that equal a training row by chance. */
  readonly #chance: number;
  #rows = 0;
  #judged = 0;
  #met = 0;

  constructor({ training, form, columns }: Schema) {
    this.#columns = form === "table" ? columns : undefined;
    const kept = training?.seen === undefined ? undefined : hashesIn(training.seen);
    this.#known = kept && new Set(kept);
    this.#chance = training?.repeats === undefined || training.rows === 0 ? 0 : training.repeats / training.rows;
    this.#reach = kept?.length === MOST_KEPT ? (kept.at(-1) as number) + 1 : 2 ** 32;
  }

  /** Takes in the rows of a block. */
  add(data: DataSet): void {
    if (!this.#known) return;
    const hashes = hashRows(data, this.#columns);
    this.#rows += hashes.length;
    for (const hash of hashes) {
      if (hash >= this.#reach) continue;
      this.#judged++;
      if (this.#known.has(hash)) this.#met++;
    }
  }

  /** Rows that were seen in training, of those so far. */
  seen(): number | undefined {
    if (!this.#known) return undefined;
    const [judged, chance] = [this.#judged, this.#chance];
    if (judged === 0) return 0;
    const share = this.#met / judged;
    const error = Math.sqrt((chance * (1 - chance)) / judged);
    if (chance === 1 || share <= chance + CHANCE_ERRORS * error)
      return chance === 0 ? Math.round(share * this.#rows) : 0;
    return Math.round(((share - chance) / (1 - chance)) * this.#rows);
  }
}

/** A hash for each row of any data; a large table lets others in after each column. */
export async function hashesOf(data: AnyRows, columns?: Schema["columns"], pause = turns({})): Promise<Uint32Array> {
  if (isInMemory(data)) {
    if (data.form !== "table") return hashRows(data, columns);
    const hashes = new Int32Array(data.table.rows);
    const known = byName(columns);
    for (const column of data.table.columns) {
      await pause();
      addColumn(hashes, column, known.get(column.name));
    }
    return Uint32Array.from(hashes, finish);
  }
  if (data.form === "text") return (data.text as TextSource).hashes;
  return hashSource(data.form === "table" ? (data.table as TableSource) : data.x, columns);
}

async function hashSource(x: RowSource | TableSource, columns?: Schema["columns"]): Promise<Uint32Array> {
  const hashes = new Uint32Array(x.rows);
  let first = 0;
  for await (const block of prefetch<Rows | Table>(x.blocks(HASHED_BYTES))) {
    hashes.set(block instanceof Table ? hashTable(block, columns) : hashMatrix(block), first);
    first += block.rows;
  }
  return hashes;
}

/**
 * The same rows, which are hashed as they pass by for the first time. `hashes` reads them where they have not passed in order and to
 * their end.
 */
export function hashedInPassing(x: RowSource): { readonly x: RowSource; hashes(): Promise<Uint32Array> } {
  let known: Uint32Array | undefined;
  async function* pass(bytes: number): AsyncGenerator<Rows> {
    const hashes = new Uint32Array(x.rows);
    let first = 0;
    for await (const block of x.blocks(bytes)) {
      hashes.set(hashMatrix(block), first);
      first += block.rows;
      yield block;
    }
    known = hashes;
  }
  const { form, rows, features, entries, valueBytes, room, made, listed, arrange, keep } = x;
  return {
    x: {
      ...{ form, rows, features, entries, valueBytes },
      ...(room === undefined ? {} : { room }),
      ...(made === undefined ? {} : { made }),
      ...(listed === undefined ? {} : { listed }),
      ...(arrange ? { arrange: (rows: Uint32Array) => arrange.call(x, rows) } : {}),
      ...(keep ? { keep } : {}),
      blocks: (bytes) => (known ? x.blocks(bytes) : pass(bytes)),
      gather: (rows) => x.gather(rows),
      slice: (from, to) => x.slice(from, to),
    },
    hashes: async () => known ?? hashSource(x),
  };
}

/** Bytes of rows that are hashed at a time. */
const HASHED_BYTES = 2 ** 24;

/** Zeros are skipped, so that sparse and dense rows agree; a value goes in as the bits of its float64. */
function hashMatrix(x: Rows): Uint32Array {
  if (x.form === "dense" && x.values instanceof Uint8Array) {
    return Uint32Array.from(hashBytes(x.values, x.rows, x.features), finish);
  }
  const value = new Float64Array(1);
  const bits = new Uint32Array(value.buffer);
  const hashes = new Uint32Array(x.rows);
  for (let r = 0; r < x.rows; r++) {
    const from = x.form === "csr" ? x.offsets[r] : r * x.features;
    const to = x.form === "csr" ? x.offsets[r + 1] : from + x.features;
    let hash = 0;
    for (let e = from; e < to; e++) {
      if (x.values[e] === 0) continue;
      value[0] = x.values[e];
      hash = mix(hash, x.form === "csr" ? x.indices[e] : e - from);
      hash = mix(hash, bits[0] ^ Math.imul(bits[1], 0x9e3779b1));
    }
    hashes[r] = finish(hash);
  }
  return hashes;
}

function littleEndian(words: Uint32Array): Uint8Array {
  const bytes = new Uint8Array(words.length * 4);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < words.length; i++) view.setUint32(i * 4, words[i], true);
  return bytes;
}
