/** Several sources as one: the rows of the first, then those of the second, and so on. */

import { Csr, Dense, type Matrix, RanksimError, type RowSource, type Rows, type Values } from "@ranksim/core";

/** Writes the listed rows of a source in that order. */
export type Arrange = (source: RowSource, rows: Uint32Array) => Promise<RowSource>;

/** One source with the rows of all, in an element type that has the numbers of all. Sources of different forms or widths are refused. */
export async function joinSources(parts: readonly RowSource[], arrange?: Arrange): Promise<RowSource> {
  const [first] = parts;
  if (parts.length === 1) return first;
  for (const { form, features } of parts) {
    if (features !== first.features) {
      throw new RanksimError(
        "wrong-width",
        `expected ${first.features} features as in the first file, found ${features}`,
      );
    }
    if (form !== first.form)
      throw new RanksimError("bad-matrix", `expected files of one form, found ${form} after another`);
  }
  const found: Values[] = [];
  for (const part of parts)
    found.push((await part.gather(Uint32Array.from({ length: Math.min(1, part.rows) }))).values);
  return new JoinedRows(parts, widestOf(found), arrange);
}

class JoinedRows implements RowSource {
  readonly form: RowSource["form"];
  readonly rows: number;
  readonly features: number;
  readonly entries: number;
  readonly valueBytes: number;
  readonly room?: number;
  readonly arrange?: (rows: Uint32Array) => Promise<RowSource>;
  readonly keep?: NonNullable<RowSource["keep"]>;
  readonly #arrange: Arrange | undefined;
  /** An array of the element type. */
  readonly #like: Values;
  readonly #parts: readonly RowSource[];
  /** Where each part begins, and where the last ends. */
  readonly #starts: readonly number[];

  constructor(parts: readonly RowSource[], like: Values, arrange: Arrange | undefined) {
    const [{ form, features, room, keep }] = parts;
    if (keep) this.keep = keep;
    this.form = form;
    this.features = features;
    if (room !== undefined) this.room = room;
    this.#parts = parts;
    this.entries = parts.reduce((sum, { entries }) => sum + entries, 0);
    this.valueBytes = like.BYTES_PER_ELEMENT;
    this.#like = like;
    const starts = [0];
    for (const { rows } of parts) starts.push((starts.at(-1) as number) + rows);
    this.#starts = starts;
    this.rows = starts.at(-1) as number;
    this.#arrange = arrange;
    if (arrange) this.arrange = (listed) => arrange(this, listed);
  }

  async *blocks(bytes: number): AsyncGenerator<Rows> {
    for (const part of this.#parts) {
      for await (const block of part.blocks((bytes * part.valueBytes) / this.valueBytes)) {
        yield block.values.constructor === this.#like.constructor ? block : this.#widened(block);
      }
    }
  }

  async gather(listed: Uint32Array): Promise<Rows> {
    const places = this.#parts.map(() => [] as number[]);
    for (let j = 0; j < listed.length; j++) places[this.#partOf(listed[j])].push(j);
    const found = await Promise.all(
      places.map((own, p) => this.#parts[p].gather(Uint32Array.from(own, (j) => listed[j] - this.#starts[p]))),
    );
    return this.form === "dense" ? this.#dense(found, places) : this.#sparse(found, places);
  }

  slice(from: number, to: number): RowSource {
    const parts = this.#parts
      .map((part, p) => {
        const start = this.#starts[p];
        const [low, high] = [Math.max(from - start, 0), Math.min(to - start, part.rows)];
        return low < high ? part.slice(low, high) : undefined;
      })
      .filter((part) => part !== undefined);
    return new JoinedRows(parts.length === 0 ? [this.#parts[0].slice(0, 0)] : parts, this.#like, this.#arrange);
  }

  #widened(block: Rows): Rows {
    const values = this.#values(block.values);
    const { rows, features } = block;
    if (block.form === "dense") return { form: "dense", rows, features, values };
    return { form: "csr", rows, features, offsets: block.offsets, indices: block.indices, values };
  }

  /** Numbers in the common element type, or an array of the given length. */
  #values(numbers: Values | number): Values {
    const Type = this.#like.constructor as new (numbers: ArrayLike<number> | number) => Values;
    return new Type(numbers);
  }

  #partOf(row: number): number {
    let p = 0;
    while (row >= this.#starts[p + 1]) p++;
    return p;
  }

  #dense(found: readonly Rows[], places: readonly (readonly number[])[]): Matrix {
    const n = this.features;
    const rows = places.reduce((sum, own) => sum + own.length, 0);
    const values = this.#values(rows * n);
    found.forEach((part, p) => {
      places[p].forEach((place, r) => {
        values.set(part.values.subarray(r * n, (r + 1) * n), place * n);
      });
    });
    return Dense.of(values, rows, n);
  }

  #sparse(found: readonly Rows[], places: readonly (readonly number[])[]): Matrix {
    const rows = places.reduce((sum, own) => sum + own.length, 0);
    const offsets = new Uint32Array(rows + 1);
    const parts = found.map((part) => part as Extract<Rows, { form: "csr" }>);
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

/** The element types from narrow to wide. */
const WIDTHS = [Uint8Array, Uint16Array, Int16Array, Float32Array, Float64Array] as const;

/** An empty array of the narrowest type that has all numbers of these types. */
export function widestOf(arrays: readonly Values[]): Values {
  const levels = arrays.map((values) => WIDTHS.findIndex((Type) => values instanceof Type));
  const widest = Math.max(...levels);
  // Neither of the two types of 16 bits has the numbers of the other.
  return new WIDTHS[widest === 2 && levels.includes(1) ? 3 : widest](0);
}
