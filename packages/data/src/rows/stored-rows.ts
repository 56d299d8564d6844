/**
 * Rows that are read by number, some at a time, from wherever they lie: in files of a fixed layout, in a cache, in memory. They come in parts
 * that follow each other, each in an element type of its own; all are given in one that has the numbers of all.
 */

import { Csr, Dense, RanksimError, type RowSource, type Rows, type Values } from "@ranksim/core";
import { arrangedRows, keptRows } from "./cached-rows.ts";
import type { Stores } from "./store.ts";

/** Bytes between two requested rows that are read along with them, because another read would take longer. */
const READ_OVER = 1 << 15;
/** Bytes of one read, where rows are gathered. */
const LONGEST_READ = 1 << 24;
/** Reads under way at a time. */
const AT_ONCE = 32;

/** Rows that lie side by side. */
export interface Part {
  readonly form: Rows["form"];
  readonly rows: number;
  readonly features: number;
  /** An empty array of the element type. */
  readonly like: Values;
  /** Stored values before a row; of the number of rows, all. */
  entriesBefore(row: number): number;
  /** Rows `from` (included) to `to` (not included). */
  range(from: number, to: number): Promise<Rows>;
}

/** How stored rows are worked on. */
export interface StoredOptions {
  /** Bytes of memory that rows may take at a time, in all their copies. */
  readonly room: number;
  /** Where rows go that are made of these, or of these in another order. */
  readonly stores?: Stores;
}

/** One source with the rows of all parts, in order. Parts of different forms or widths are refused. */
export function storedRows(parts: readonly Part[], options: StoredOptions): RowSource {
  const [{ form, features }] = parts;
  for (const part of parts) {
    if (part.features !== features) {
      throw new RanksimError(
        "wrong-width",
        `expected ${features} features as in the first file, found ${part.features}`,
      );
    }
    if (part.form !== form)
      throw new RanksimError("bad-matrix", `expected files of one form, found ${part.form} after another`);
  }
  const pieces = parts.map((part) => ({ part, from: 0, to: part.rows }));
  return new StoredRows(pieces, { form, features, like: widestOf(parts.map(({ like }) => like)), ...options });
}

/** The rows of a matrix or of another source, as a part. */
export function partOf(x: RowSource, like: Values): Part {
  const { form, rows, features } = x;
  const isDense = form === "dense";
  const offsets = isDense ? undefined : (x as Csr).offsets;
  return {
    ...{ form, rows, features, like },
    entriesBefore: (row) => (offsets ? offsets[row] : row * features),
    range: async (from, to) => x.slice(from, to) as unknown as Rows,
  };
}

/** Some rows of a part. */
interface Piece {
  readonly part: Part;
  readonly from: number;
  readonly to: number;
}

interface Shape extends StoredOptions {
  readonly form: RowSource["form"];
  readonly features: number;
  readonly like: Values;
}

class StoredRows implements RowSource {
  readonly form: RowSource["form"];
  readonly rows: number;
  readonly features: number;
  readonly entries: number;
  readonly valueBytes: number;
  readonly room: number;
  readonly arrange?: (rows: Uint32Array) => Promise<RowSource>;
  readonly keep?: NonNullable<RowSource["keep"]>;
  readonly #shape: Shape;
  readonly #pieces: readonly Piece[];
  /** Where each piece begins, and where the last ends. */
  readonly #starts: Float64Array;

  constructor(pieces: readonly Piece[], shape: Shape) {
    const { form, features, like, room, stores } = shape;
    const starts = new Float64Array(pieces.length + 1);
    let entries = 0;
    for (const [p, { part, from, to }] of pieces.entries()) {
      starts[p + 1] = starts[p] + to - from;
      entries += part.entriesBefore(to) - part.entriesBefore(from);
    }
    this.form = form;
    this.rows = starts[pieces.length];
    this.features = features;
    this.entries = entries;
    this.valueBytes = like.BYTES_PER_ELEMENT;
    this.room = room;
    this.#shape = shape;
    this.#pieces = pieces;
    this.#starts = starts;
    if (!stores) return;
    this.arrange = (listed) => arrangedRows(this, listed, this.#lengths(), like, { room, stores });
    this.keep = (blocks, kept) => keptRows(blocks, kept, { room, stores });
  }

  /** Stored values of each row. */
  #lengths(): Uint32Array {
    const lengths = new Uint32Array(this.rows);
    let row = 0;
    for (const { part, from, to } of this.#pieces) {
      for (let r = from; r < to; r++) lengths[row++] = part.entriesBefore(r + 1) - part.entriesBefore(r);
    }
    return lengths;
  }

  async *blocks(bytes: number): AsyncGenerator<Rows> {
    const { form, features } = this;
    for (const { part, from, to } of this.#pieces) {
      const entries = bytes / (this.valueBytes + (form === "csr" ? 4 : 0));
      for (let first = from; first < to; ) {
        let last = first + Math.max(1, Math.floor(entries / features));
        if (form === "csr") {
          const most = part.entriesBefore(first) + entries;
          // A row takes the place of an entry where it begins.
          for (last = first + 1; last < to && part.entriesBefore(last + 1) + last - first <= most; ) last++;
        }
        last = Math.min(last, to);
        yield this.#typed(await part.range(first, last));
        first = last;
      }
    }
  }

  async gather(listed: Uint32Array): Promise<Rows> {
    const order = Uint32Array.from(listed.keys()).sort((a, b) => listed[a] - listed[b]);
    const runs = [...this.#runs(listed, order)];
    const read: Rows[] = new Array(runs.length);
    for (let next = 0; next < runs.length; next += AT_ONCE) {
      const some = runs.slice(next, next + AT_ONCE);
      const found = await Promise.all(some.map(({ part, from, to }) => part.range(from, to)));
      // Of what is read along with them, no more than the requested rows are kept.
      for (const [j, run] of some.entries()) read[next + j] = picked(found[j], run.rows);
    }
    const places = runs.map(({ first, last }) => order.subarray(first, last));
    return this.form === "dense" ? this.#dense(read, places, listed.length) : this.#sparse(read, places, listed.length);
  }

  slice(from: number, to: number): RowSource {
    const pieces = this.#pieces.flatMap((piece, p) => {
      const low = Math.max(piece.from, piece.from + from - this.#starts[p]);
      const high = Math.min(piece.to, piece.from + to - this.#starts[p]);
      return low < high ? [{ part: piece.part, from: low, to: high }] : [];
    });
    return new StoredRows(pieces, this.#shape);
  }

  /** Which rows of the ascending order are read at once, where, and which of what is read they are. */
  *#runs(listed: Uint32Array, order: Uint32Array) {
    const entryBytes = this.valueBytes + (this.form === "csr" ? 4 : 0);
    let p = 0;
    for (let first = 0; first < order.length; ) {
      const low = listed[order[first]];
      while (low >= this.#starts[p + 1]) p++;
      const { part, from } = this.#pieces[p];
      const [end, shift] = [this.#starts[p + 1], from - this.#starts[p]];
      const bytes = (a: number, b: number) =>
        (part.entriesBefore(b + shift) - part.entriesBefore(a + shift)) * entryBytes;
      let last = first + 1;
      for (; last < order.length && listed[order[last]] < end; last++) {
        const [before, next] = [listed[order[last - 1]], listed[order[last]]];
        if (bytes(Math.min(before + 1, next), next) > READ_OVER || bytes(low, next + 1) > LONGEST_READ) break;
      }
      const rows = Uint32Array.from(order.subarray(first, last), (j) => listed[j] - low);
      yield { part, from: low + shift, to: listed[order[last - 1]] + 1 + shift, rows, first, last };
      first = last;
    }
  }

  /** Rows in the common element type. */
  #typed(block: Rows): Rows {
    const { like } = this.#shape;
    if (block.values.constructor === like.constructor) return block;
    const { rows, features } = block;
    const values = this.#values(block.values);
    if (block.form === "dense") return { form: "dense", rows, features, values };
    return { form: "csr", rows, features, offsets: block.offsets, indices: block.indices, values };
  }

  /** Numbers in the common element type, or an array of the given length. */
  #values(numbers: Values | number): Values {
    const Type = this.#shape.like.constructor as new (numbers: ArrayLike<number> | number) => Values;
    return new Type(numbers);
  }

  #dense(read: readonly Rows[], places: readonly Uint32Array[], rows: number): Dense {
    const n = this.features;
    const values = this.#values(rows * n);
    read.forEach((part, p) => {
      places[p].forEach((place, r) => {
        values.set(part.values.subarray(r * n, (r + 1) * n), place * n);
      });
    });
    return Dense.of(values, rows, n);
  }

  #sparse(read: readonly Rows[], places: readonly Uint32Array[], rows: number): Csr {
    const parts = read as readonly Csr[];
    const offsets = new Uint32Array(rows + 1);
    parts.forEach((part, p) => {
      places[p].forEach((place, r) => {
        offsets[place + 1] = part.offsets[r + 1] - part.offsets[r];
      });
    });
    for (let r = 0; r < rows; r++) offsets[r + 1] += offsets[r];
    const indices = new Uint32Array(offsets[rows]);
    const values = this.#values(offsets[rows]);
    parts.forEach((part, p) => {
      places[p].forEach((place, r) => {
        indices.set(part.indices.subarray(part.offsets[r], part.offsets[r + 1]), offsets[place]);
        values.set(part.values.subarray(part.offsets[r], part.offsets[r + 1]), offsets[place]);
      });
    });
    return Csr.of(offsets, indices, values, this.features);
  }
}

/** The listed rows, which ascend; copied only where others lie between them. */
function picked(rows: Rows, listed: Uint32Array): Rows {
  if (listed.length === rows.rows && listed[listed.length - 1] === listed.length - 1) return rows;
  return gathered(rows, listed);
}

/** The listed rows, copied. */
export function gathered(block: Rows, listed: Uint32Array): Rows {
  if (block.form === "csr") return Csr.of(block.offsets, block.indices, block.values, block.features).gather(listed);
  const n = block.features;
  const values = new (block.values.constructor as new (length: number) => Values)(listed.length * n);
  listed.forEach((r, j) => {
    values.set(block.values.subarray(r * n, (r + 1) * n), j * n);
  });
  return { form: "dense", rows: listed.length, features: n, values };
}

/** The element types from narrow to wide. */
const WIDTHS = [Uint8Array, Uint16Array, Int16Array, Float32Array, Float64Array] as const;

/** An empty array of the narrowest type that has all numbers of these types. */
export function widestOf(arrays: readonly Values[]): Values {
  const levels = arrays.map((values) => WIDTHS.findIndex((Type) => values instanceof Type));
  const widest = Math.max(...levels);
  // Neither of the two types of 16 bits has the numbers of the other.
  return new WIDTHS[widest === 2 && levels.includes(1) ? 3 : widest](0);
}
