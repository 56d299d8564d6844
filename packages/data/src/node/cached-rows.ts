/**
 * Rows written to a file so that they can be read by number, in an order of one's own: what a format that is read from the front,
 * or a file whose rows lie in another order, has to go through once. The file has no name once it is open, so that nothing is
 * left behind however the process ends.
 */

import { closeSync, mkdtempSync, openSync, read, rmSync, write } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { Csr, RanksimError, type RowSource, type Rows, type Values } from "@ranksim/core";
import { type FixedLayout, fixedRows } from "../rows/fixed-rows.ts";
import { noRoom } from "./no-room.ts";

const readAt = promisify(read);
const writeAt = promisify(write);

/** Where cache files go: the folder of temporary files, or the one that RANKSIM_SCRATCH names. */
export function scratchFolder(env: { readonly [name: string]: string | undefined } = process.env): string {
  return env.RANKSIM_SCRATCH || tmpdir();
}

/** A file without a name; it is deleted when it is no longer in use. */
export class Scratch {
  readonly #file: number;
  readonly #folder: string;
  static readonly #forgotten = new FinalizationRegistry<number>((file) => closeSync(file));

  constructor(folder: string) {
    this.#folder = folder;
    try {
      this.#file = openUnnamed(folder);
    } catch (error) {
      throw noRoom({ folder, what: "cache files", cure: CURE }, error);
    }
    Scratch.#forgotten.register(this, this.#file);
  }

  async read(from: number, to: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(to - from);
    let length = 0;
    for (let more = 1; more > 0 && length < bytes.byteLength; length += more) {
      more = (await readAt(this.#file, bytes, length, bytes.byteLength - length, from + length)).bytesRead;
    }
    return bytes.subarray(0, length);
  }

  async write(bytes: Uint8Array, at: number): Promise<void> {
    try {
      for (let done = 0; done < bytes.byteLength; ) {
        done += (await writeAt(this.#file, bytes, done, bytes.byteLength - done, at + done)).bytesWritten;
      }
    } catch (error) {
      throw noRoom({ folder: this.#folder, what: "a cache file", bytes: at + bytes.byteLength, cure: CURE }, error);
    }
  }
}

const CURE = "set RANKSIM_SCRATCH to a folder with more room";

function openUnnamed(folder: string): number {
  const own = mkdtempSync(join(folder, "ranksim-rows-"));
  try {
    return openSync(join(own, "rows"), "wx+", 0o600);
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}

/** Element types as numpy writes them. */
const TYPE_NAMES = new Map<unknown, string>([
  [Uint8Array, "u1"],
  [Uint16Array, "u2"],
  [Int16Array, "i2"],
  [Float32Array, "f4"],
  [Float64Array, "f8"],
]);

/** What is to be known of rows before they are written. */
export interface CacheShape {
  readonly form: RowSource["form"];
  readonly rows: number;
  readonly features: number;
  /** An empty array of the element type. */
  readonly like: Values;
  readonly room: number;
  readonly folder: string;
}

const isLittle = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;
const bytesIn = (values: Values | Uint32Array): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

/** Writes rows that come in order. */
export async function cacheRows(blocks: AsyncIterable<Rows> | Iterable<Rows>, shape: CacheShape): Promise<RowSource> {
  const cache = shape.form === "dense" ? new DenseCache(shape) : new SparseCache(shape);
  let first = 0;
  for await (const block of blocks) {
    if (cache instanceof SparseCache) cache.note(block as Csr, first);
    await cache.put(block, first);
    first += block.rows;
  }
  if (first !== shape.rows) {
    throw new RanksimError("bad-file", `expected ${shape.rows} rows again, found ${first}: the source has changed`);
  }
  return cache.source();
}

/** Keeps rows that were made of others, in files of the same folder. */
export function keeper(room: number, folder: string): NonNullable<RowSource["keep"]> {
  return (blocks, shape) => cacheRows(blocks, { form: "dense", ...shape, room, folder });
}

/** Writes the listed rows of a source in that order, in one pass over the source. */
export async function arrangeRows(source: RowSource, listed: Uint32Array, folder: string): Promise<RowSource> {
  const { form, features, room = 2 ** 29 } = source;
  const like = (await source.gather(Uint32Array.of(0))).values.slice(0, 0) as Values;
  const shape = { form, rows: listed.length, features, like, room, folder };
  const target = new Uint32Array(source.rows).fill(NOWHERE);
  listed.forEach((row, place) => {
    target[row] = place;
  });
  const lengths = form === "csr" ? await lengthsOf(source) : undefined;
  const cache = lengths
    ? new SparseCache(
        shape,
        listed.map((row) => lengths[row]),
      )
    : new DenseCache(shape);
  let first = 0;
  for await (const block of source.blocks(room / 16)) {
    for (const { rows, place } of placed(block, first, target)) await cache.put(rows, place);
    first += block.rows;
  }
  return cache.source();
}

/** The place of a row that is left out. */
const NOWHERE = 2 ** 32 - 1;

async function lengthsOf(source: RowSource): Promise<Uint32Array> {
  const lengths = new Uint32Array(source.rows);
  let first = 0;
  for await (const block of source.blocks(2 ** 24)) {
    const { offsets } = block as Csr;
    for (let r = 0; r < block.rows; r++) lengths[first + r] = offsets[r + 1] - offsets[r];
    first += block.rows;
  }
  return lengths;
}

/** The requested rows of a block in runs that are adjacent in their new places. */
function* placed(block: Rows, first: number, target: Uint32Array): Generator<{ rows: Rows; place: number }> {
  const wanted = Uint32Array.from({ length: block.rows }, (_, r) => r).filter((r) => target[first + r] !== NOWHERE);
  wanted.sort((a, b) => target[first + a] - target[first + b]);
  for (let from = 0; from < wanted.length; ) {
    let to = from + 1;
    while (to < wanted.length && target[first + wanted[to]] === target[first + wanted[to - 1]] + 1) to++;
    yield { rows: gathered(block, wanted.subarray(from, to)), place: target[first + wanted[from]] };
    from = to;
  }
}

function gathered(block: Rows, rows: Uint32Array): Rows {
  if (block.form === "csr") return Csr.of(block.offsets, block.indices, block.values, block.features).gather(rows);
  const n = block.features;
  const values = block.values.slice(0, rows.length * n) as Values;
  rows.forEach((r, j) => {
    values.set(block.values.subarray(r * n, (r + 1) * n), j * n);
  });
  return { form: "dense", rows: rows.length, features: n, values };
}

/** The numbers in the element type of the cache, which has to hold them exactly. */
function asType(values: Values, like: Values): Values {
  if (values.constructor === like.constructor) return values;
  const same = new (like.constructor as new (values: ArrayLike<number>) => Values)(values);
  if (same.every((value, j) => value === values[j])) return same;
  throw new RanksimError("bad-matrix", `expected numbers that fit in ${like.constructor.name} as in the first rows`);
}

/** Dense rows side by side. */
class DenseCache {
  readonly #shape: CacheShape;
  readonly #file: Scratch;

  constructor(shape: CacheShape) {
    this.#shape = shape;
    this.#file = new Scratch(shape.folder);
  }

  async put(rows: Rows, place: number): Promise<void> {
    const values = asType(rows.values, this.#shape.like);
    await this.#file.write(bytesIn(values), place * this.#shape.features * values.BYTES_PER_ELEMENT);
  }

  source(): RowSource {
    const { rows, features, room, like, folder } = this.#shape;
    const type = TYPE_NAMES.get(like.constructor) as string;
    const layout: FixedLayout = {
      ...{ name: "cached rows", rows, features, type, isLittle, dataAt: 0, room },
      read: (from, to) => this.#file.read(from, to),
      arrange: (source, listed) => arrangeRows(source, listed, folder),
      keep: keeper(room, folder),
    };
    return fixedRows(layout);
  }
}

/** Sparse rows: features in one file, their values in another, where each row begins in memory. */
class SparseCache {
  readonly #shape: CacheShape;
  readonly #indices: Scratch;
  readonly #values: Scratch;
  /** More entries than 32 bits count may be there. */
  readonly #offsets: Float64Array;

  /** `lengths`: entries of each row, where they do not come in order. */
  constructor(shape: CacheShape, lengths?: Uint32Array) {
    this.#shape = shape;
    this.#indices = new Scratch(shape.folder);
    this.#values = new Scratch(shape.folder);
    this.#offsets = new Float64Array(shape.rows + 1);
    lengths?.forEach((length, r) => {
      this.#offsets[r + 1] = this.#offsets[r] + length;
    });
  }

  /** Takes down where rows that come in order begin. */
  note(rows: Csr, first: number): void {
    for (let r = 0; r < rows.rows; r++) {
      this.#offsets[first + r + 1] = this.#offsets[first + r] + rows.offsets[r + 1] - rows.offsets[r];
    }
  }

  async put(rows: Rows, place: number): Promise<void> {
    const { offsets, indices, values: found } = rows as Csr;
    const values = asType(found.subarray(offsets[0], offsets[rows.rows]) as Values, this.#shape.like);
    await this.#indices.write(bytesIn(indices.subarray(offsets[0], offsets[rows.rows])), this.#offsets[place] * 4);
    await this.#values.write(bytesIn(values), this.#offsets[place] * values.BYTES_PER_ELEMENT);
  }

  source(): RowSource {
    const { rows, features, room, like, folder } = this.#shape;
    return new SparseRows({
      ...{ features, room, like, folder, offsets: this.#offsets.subarray(0, rows + 1) },
      readIndices: (from, to) => this.#indices.read(from, to),
      readValues: (from, to) => this.#values.read(from, to),
    });
  }
}

interface SparseLayout {
  readonly features: number;
  readonly room: number;
  readonly like: Values;
  readonly folder: string;
  /** Where each row begins, counted in entries, and where the last ends. */
  readonly offsets: Float64Array;
  readIndices(from: number, to: number): Promise<Uint8Array>;
  readValues(from: number, to: number): Promise<Uint8Array>;
}

class SparseRows implements RowSource {
  readonly form = "csr";
  readonly rows: number;
  readonly features: number;
  readonly entries: number;
  readonly valueBytes: number;
  readonly room: number;
  readonly #layout: SparseLayout;

  constructor(layout: SparseLayout) {
    const { offsets, features, like, room } = layout;
    this.rows = offsets.length - 1;
    this.features = features;
    this.entries = offsets[this.rows] - offsets[0];
    this.valueBytes = like.BYTES_PER_ELEMENT;
    this.room = room;
    this.#layout = layout;
  }

  get keep(): NonNullable<RowSource["keep"]> {
    return keeper(this.room, this.#layout.folder);
  }

  arrange(listed: Uint32Array): Promise<RowSource> {
    return arrangeRows(this, listed, this.#layout.folder);
  }

  async *blocks(bytes: number): AsyncGenerator<Rows> {
    const { offsets } = this.#layout;
    for (let from = 0; from < this.rows; ) {
      const most = offsets[from] + bytes / (4 + this.valueBytes);
      let to = from + 1;
      while (to < this.rows && offsets[to + 1] + to - from <= most) to++;
      yield this.#range(from, to);
      from = to;
    }
  }

  /** Rows that follow each other are read at once. */
  async gather(listed: Uint32Array): Promise<Rows> {
    const parts: Csr[] = [];
    for (let from = 0; from < listed.length; ) {
      let to = from + 1;
      while (to < listed.length && listed[to] === listed[to - 1] + 1) to++;
      parts.push(await this.#range(listed[from], listed[to - 1] + 1));
      from = to;
    }
    return this.#joined(parts);
  }

  slice(from: number, to: number): RowSource {
    return new SparseRows({ ...this.#layout, offsets: this.#layout.offsets.subarray(from, to + 1) });
  }

  async #range(from: number, to: number): Promise<Csr> {
    const { offsets, like, readIndices, readValues } = this.#layout;
    const [first, last] = [offsets[from], offsets[to]];
    const size = this.valueBytes;
    const [ids, numbers] = await Promise.all([readIndices(first * 4, last * 4), readValues(first * size, last * size)]);
    const own = Uint32Array.from({ length: to - from + 1 }, (_, r) => offsets[from + r] - first);
    const Type = like.constructor as new (buffer: ArrayBufferLike, at: number, length: number) => Values;
    const values = new Type(numbers.buffer, numbers.byteOffset, numbers.byteLength / size);
    return Csr.of(own, new Uint32Array(ids.buffer, ids.byteOffset, ids.byteLength / 4), values, this.features);
  }

  #joined(parts: readonly Csr[]): Csr {
    if (parts.length === 1) return parts[0];
    const entries = parts.reduce((sum, part) => sum + part.entries, 0);
    const offsets = [0];
    const indices = new Uint32Array(entries);
    const values = new (this.#layout.like.constructor as new (length: number) => Values)(entries);
    for (const part of parts) {
      const at = offsets.at(-1) as number;
      indices.set(part.indices, at);
      values.set(part.values, at);
      for (let r = 1; r <= part.rows; r++) offsets.push(at + part.offsets[r]);
    }
    return Csr.of(Uint32Array.from(offsets), indices, values, this.features);
  }
}
