/** Rows written to a store, so that they can be read by number: as they come, or in an order of one's own. */

import { Csr, type KeptShape, RanksimError, type RowSource, type Rows, type Values } from "@ranksim/core";
import type { Store, Stores } from "./store.ts";
import { gathered, type Part, type StoredOptions, storedRows } from "./stored-rows.ts";

type Caching = StoredOptions & { readonly stores: Stores };

const bytesOf = (values: Values | Uint32Array): Uint8Array =>
  new Uint8Array(values.buffer, values.byteOffset, values.byteLength);

/** What all rows of a cache say of its parts, after the last. */
export interface CacheEnd {
  /** What stands for a missing number of each feature. */
  readonly fill?: readonly number[];
  /** Sparse rows: how many features they have, and the number of the first. */
  readonly features?: number;
  readonly firstFeature?: number;
}

/** Writes rows that come in order. */
export class RowsCache {
  readonly #stores: Stores;
  readonly #parts: ((end: CacheEnd) => Part)[] = [];
  #dense: Store | undefined;
  #indices: Store | undefined;
  #bytes = 0;
  #entries = 0;
  /** Rows so far. */
  rows = 0;

  constructor(stores: Stores) {
    this.#stores = stores;
  }

  /** Adds rows, with 0 at `gaps`. */
  async add(rows: Rows, gaps?: Uint32Array): Promise<void> {
    this.rows += rows.rows;
    this.#dense ??= this.#stores();
    const at = this.#bytes;
    if (rows.form === "dense") {
      const { features } = rows;
      const like = rows.values.slice(0, 0) as Values;
      const layout = { store: this.#dense, at, rows: rows.rows, features, like };
      this.#parts.push(({ fill }) => densePart(layout, gaps && fill && { gaps, fill }));
      await this.#write(rows.values);
      return;
    }
    this.#indices ??= this.#stores();
    const [first, end] = [rows.offsets[0], rows.offsets[rows.rows]];
    const values = rows.values.subarray(first, end) as Values;
    const indices = rows.indices.subarray(first, end);
    const offsets = rows.offsets.map((offset) => offset - first);
    const place = { values: { store: this.#dense, at }, indices: { store: this.#indices, at: this.#entries * 4 } };
    const own = { features: rows.features, offsets, like: values.slice(0, 0) as Values, ...place };
    this.#parts.push(({ features = own.features, firstFeature = 0 }) => sparsePart({ ...own, features, firstFeature }));
    await this.#indices.write(bytesOf(indices), this.#entries * 4);
    this.#entries += indices.length;
    await this.#write(values);
  }

  async #write(values: Values): Promise<void> {
    const at = this.#bytes;
    // The next part may have wider numbers, which have to lie at a multiple of their width.
    this.#bytes = Math.ceil((at + values.byteLength) / 8) * 8;
    await (this.#dense as Store).write(bytesOf(values), at);
  }

  /** The rows since the last time, as parts of a source. */
  take(end: CacheEnd = {}): Part[] {
    return this.#parts.splice(0).map((part) => part(end));
  }
}

interface DenseLayout {
  readonly store: Store;
  readonly at: number;
  readonly rows: number;
  readonly features: number;
  readonly like: Values;
}

function densePart(
  { store, at, rows, features, like }: DenseLayout,
  missing: { readonly gaps: Uint32Array; readonly fill: readonly number[] } | undefined,
): Part {
  const rowBytes = features * like.BYTES_PER_ELEMENT;
  const Type = like.constructor as new (buffer: ArrayBufferLike, at: number, length: number) => Values;
  const values = async (from: number, to: number) => {
    const bytes = await store.read(at + from * rowBytes, at + to * rowBytes);
    return new Type(bytes.buffer, bytes.byteOffset, (to - from) * features);
  };
  return {
    ...{ form: "dense", rows, features, like: missing ? new Float64Array(0) : like },
    entriesBefore: (row) => row * features,
    async range(from, to) {
      const read = await values(from, to);
      return {
        form: "dense",
        rows: to - from,
        features,
        values: missing ? filled(read, from * features, missing) : read,
      };
    },
  };
}

/** The values with what stands in their gaps; `first` is the place of the first value. */
function filled(
  values: Values,
  first: number,
  { gaps, fill }: { readonly gaps: Uint32Array; readonly fill: readonly number[] },
): Float64Array {
  const all = Float64Array.from(values);
  let low = 0;
  for (let high = gaps.length; low < high; ) {
    const middle = (low + high) >>> 1;
    if (gaps[middle] < first) low = middle + 1;
    else high = middle;
  }
  for (; low < gaps.length && gaps[low] < first + all.length; low++)
    all[gaps[low] - first] = fill[gaps[low] % fill.length];
  return all;
}

interface SparseLayout {
  readonly features: number;
  readonly firstFeature: number;
  /** Where each row begins, counted in entries, and where the last ends. */
  readonly offsets: Uint32Array | Float64Array;
  readonly like: Values;
  readonly values: { readonly store: Store; readonly at: number };
  readonly indices: { readonly store: Store; readonly at: number };
}

function sparsePart({ features, firstFeature, offsets, like, values, indices }: SparseLayout): Part {
  const size = like.BYTES_PER_ELEMENT;
  const Type = like.constructor as new (buffer: ArrayBufferLike, at: number, length: number) => Values;
  return {
    ...{ form: "csr", rows: offsets.length - 1, features, like },
    entriesBefore: (row) => offsets[row],
    async range(from, to) {
      const [first, end] = [offsets[from], offsets[to]];
      const [ids, numbers] = await Promise.all([
        indices.store.read(indices.at + first * 4, indices.at + end * 4),
        values.store.read(values.at + first * size, values.at + end * size),
      ]);
      const own = Uint32Array.from({ length: to - from + 1 }, (_, r) => offsets[from + r] - first);
      const columns = new Uint32Array(ids.buffer, ids.byteOffset, end - first);
      if (firstFeature > 0) for (let e = 0; e < columns.length; e++) columns[e] -= firstFeature;
      return Csr.of(own, columns, new Type(numbers.buffer, numbers.byteOffset, end - first), features);
    },
  };
}

/** Keeps rows that were made of others. */
export async function keptRows(
  blocks: AsyncIterable<Rows> | Iterable<Rows>,
  { rows }: Pick<KeptShape, "rows">,
  options: Caching,
): Promise<RowSource> {
  const cache = new RowsCache(options.stores);
  for await (const block of blocks) await cache.add(block);
  if (cache.rows === rows) return storedRows(cache.take(), options);
  throw new RanksimError("bad-file", `expected ${rows} rows again, found ${cache.rows}: the source has changed`);
}

/** The place of a row that is left out. */
const NOWHERE = 2 ** 32 - 1;

/** Writes the listed rows of a source in that order, in one pass over the source. `lengths` are the stored values of each row. */
export async function arrangedRows(
  source: RowSource,
  listed: Uint32Array,
  lengths: Uint32Array,
  like: Values,
  options: Caching,
): Promise<RowSource> {
  const { form, features } = source;
  const target = new Uint32Array(source.rows).fill(NOWHERE);
  const offsets = new Float64Array(listed.length + 1);
  listed.forEach((row, place) => {
    target[row] = place;
    offsets[place + 1] = offsets[place] + lengths[row];
  });
  const [values, indices] = [options.stores(), form === "csr" ? options.stores() : undefined];
  const size = like.BYTES_PER_ELEMENT;
  let first = 0;
  for await (const block of source.blocks(options.room / 16)) {
    for (const { rows, place } of placed(block, first, target)) {
      const from = rows.form === "csr" ? rows.offsets[0] : 0;
      const to = from + offsets[place + rows.rows] - offsets[place];
      await values.write(bytesOf(rows.values.subarray(from, to) as Values), offsets[place] * size);
      if (rows.form === "csr") await indices?.write(bytesOf(rows.indices.subarray(from, to)), offsets[place] * 4);
    }
    first += block.rows;
  }
  const part = indices
    ? sparsePart({
        ...{ features, firstFeature: 0, offsets, like },
        ...{ values: { store: values, at: 0 }, indices: { store: indices, at: 0 } },
      })
    : densePart({ store: values, at: 0, rows: listed.length, features, like }, undefined);
  return storedRows([part], options);
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
