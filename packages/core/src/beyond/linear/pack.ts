/** Rows packed for many passes of descent: zeros left out, in parts that depend on the rows alone and not on how they were read. */

import { RanksimError } from "../../errors.ts";
import { type PackedRows, square } from "../../kernels/descend.ts";
import type { RowSource, Rows } from "../../kernels/shapes.ts";

/** Rows in parts, and what all planes need of them. */
export interface PackedParts {
  readonly rows: number;
  readonly features: number;
  readonly parts: readonly PackedRows[];
  /** x·x of each row times `scale`, and 1 for the intercept. */
  readonly squares: readonly Float64Array[];
  /** 1 / the mean of x·x: rows of any unit are as long as the feature of the intercept. */
  readonly scale: number;
}

/** Entries of a part: enough for a random order within it to be as good as one of all rows. */
const PART_ENTRIES = 2 ** 22;
/** Bytes that are read at a time. */
const READ_BYTES = 2 ** 24;

/** Packs all rows; `weights` says how often each counts. Refuses (code "bad-matrix") rows whose square is beyond float64. */
export async function packRows(x: RowSource, weights: Float64Array): Promise<PackedParts> {
  const { rows, features } = x;
  const packer = new Packer(features, x.valueBytes > Float32Array.BYTES_PER_ELEMENT, x.entries);
  for await (const block of x.blocks(READ_BYTES)) packer.add(block);
  const parts = packer.end();
  let sum = 0;
  let count = 0;
  let first = 0;
  const squares = parts.map((part) => {
    const own = Float64Array.from({ length: part.rows }, (_, r) => square(part, r));
    for (let r = 0; r < own.length; r++) {
      sum += own[r] * weights[first + r];
      count += weights[first + r];
      if (!Number.isFinite(sum)) {
        throw new RanksimError(
          "bad-matrix",
          `row ${first + r}: expected values whose squares can be added up; scale the data`,
        );
      }
    }
    first += part.rows;
    return own;
  });
  const inverse = count / sum;
  const scale = Number.isFinite(inverse) ? inverse : 1;
  for (const own of squares) for (let r = 0; r < own.length; r++) own[r] = own[r] * scale + 1;
  return { rows, features, parts, squares, scale };
}

/** Cuts rows into parts as they come. */
class Packer {
  readonly #features: number;
  readonly #parts: PackedRows[] = [];
  #offsets: number[] = [0];
  #indices: Uint32Array;
  #values: Float32Array | Float64Array;

  /** About `entries` values will come. */
  constructor(features: number, isWide: boolean, entries: number) {
    const room = Math.min(entries, PART_ENTRIES);
    this.#features = features;
    this.#indices = new Uint32Array(room);
    this.#values = isWide ? new Float64Array(room) : new Float32Array(room);
  }

  add(x: Rows): void {
    for (let r = 0; r < x.rows; r++) {
      const [from, to] = x.form === "dense" ? [r * x.features, (r + 1) * x.features] : [x.offsets[r], x.offsets[r + 1]];
      let filled = 0;
      for (let e = from; e < to; e++) if (x.values[e] !== 0) filled++;
      if (this.#offsets[this.#offsets.length - 1] + filled > PART_ENTRIES) this.#endPart();
      let at = this.#offsets[this.#offsets.length - 1];
      this.#offsets.push(at + filled);
      this.#reserve(at + filled);
      for (let e = from; e < to; e++) {
        const value = x.values[e];
        if (value === 0) continue;
        this.#indices[at] = x.form === "dense" ? e - from : x.indices[e];
        this.#values[at++] = value;
      }
    }
  }

  end(): readonly PackedRows[] {
    this.#endPart();
    return this.#parts;
  }

  #endPart(): void {
    const offsets = Uint32Array.from(this.#offsets);
    const rows = offsets.length - 1;
    if (rows === 0) return;
    const entries = offsets[rows];
    const isFull = entries === rows * this.#features;
    this.#parts.push({
      rows,
      features: this.#features,
      offsets,
      indices: this.#indices.slice(0, isFull ? 0 : entries),
      values: this.#values.slice(0, entries),
    });
    this.#offsets = [0];
  }

  #reserve(entries: number): void {
    if (entries <= this.#values.length) return;
    const [indices, values] = [this.#indices, this.#values];
    const room = Math.max(entries, Math.min(2 * values.length, PART_ENTRIES));
    this.#indices = new Uint32Array(room);
    this.#indices.set(indices);
    this.#values = values instanceof Float64Array ? new Float64Array(room) : new Float32Array(room);
    this.#values.set(values);
  }
}
