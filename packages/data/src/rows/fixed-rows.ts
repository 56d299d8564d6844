/**
 * Dense rows of one width in a file: read by their place, some at a time, and checked as they are read. What the header says is
 * compared with the length of the file before anything is believed.
 */

import { Dense, type DenseRows, RanksimError, type RowSource, type Values } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import type { ImageSize } from "../data-set.ts";
import { IDX_TYPES, isIdx } from "../readers/idx.ts";
import { decodeNumbers, LONGEST_HEADER, readHeader, rowsOfShape } from "../readers/npy.ts";
import type { ByteSource } from "../source.ts";

/** Bytes between two requested rows that are read along with them, because another read would take longer. */
const READ_OVER = 1 << 15;
/** Bytes of one read, where rows are gathered. */
const LONGEST_READ = 1 << 24;
/** Reads under way at a time. */
const AT_ONCE = 32;

/** Where dense rows lie, and in which type. */
export interface FixedLayout {
  readonly name: string;
  readonly rows: number;
  readonly features: number;
  /** Kind and bytes of a value, as numpy writes it: u1, f4. */
  readonly type: string;
  readonly isLittle: boolean;
  /** Where row 0 begins. */
  readonly dataAt: number;
  /** Bytes of memory that rows may take at a time. */
  readonly room: number;
  /** Bytes `from` (included) to `to` (not included), at the beginning of `into` where they fit there. */
  read(from: number, to: number, into?: Uint8Array): Promise<Uint8Array>;
  /** Writes the listed rows of a source in that order, for those who read them again and again. */
  arrange?(source: RowSource, rows: Uint32Array): Promise<RowSource>;
  /** Keeps rows that were made of these. */
  readonly keep?: NonNullable<RowSource["keep"]>;
}

/** The element type in which values of a stored type are given. */
function valuesType(type: string): "u8" | "u16" | "i16" | "f32" | "f64" {
  if (type === "b1" || type === "u1") return "u8";
  if (type === "u2") return "u16";
  if (type === "i1" || type === "i2") return "i16";
  return type === "f4" || type === "f2" ? "f32" : "f64";
}

const TYPES = { u8: Uint8Array, u16: Uint16Array, i16: Int16Array, f32: Float32Array, f64: Float64Array } as const;

/** Types whose bytes are the values. */
const AS_READ = new Set(["u1", "u2", "i2", "f4", "f8"]);
const IS_LITTLE = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** The rows as a source. */
export function fixedRows(layout: FixedLayout): RowSource {
  return new FixedRows(layout, 0, layout.rows);
}

/** Reads into two buffers in turns: a block is worked on in one while the next is read into the other. */
export function inTurns(read: FixedLayout["read"]): FixedLayout["read"] {
  const buffers = [new Uint8Array(0), new Uint8Array(0)];
  let turn = 0;
  return (from, to) => {
    turn = 1 - turn;
    if (buffers[turn].byteLength < to - from) buffers[turn] = new Uint8Array(to - from);
    return read(from, to, buffers[turn]);
  };
}

class FixedRows implements RowSource {
  readonly form = "dense";
  readonly rows: number;
  readonly features: number;
  readonly entries: number;
  readonly valueBytes: number;
  readonly room: number;
  readonly arrange?: (rows: Uint32Array) => Promise<RowSource>;
  readonly keep?: NonNullable<RowSource["keep"]>;
  readonly #layout: FixedLayout;
  readonly #first: number;
  readonly #rowBytes: number;

  constructor(layout: FixedLayout, first: number, rows: number) {
    this.rows = rows;
    this.features = layout.features;
    this.entries = rows * layout.features;
    this.valueBytes = TYPES[valuesType(layout.type)].BYTES_PER_ELEMENT;
    this.room = layout.room;
    this.#layout = layout;
    this.#first = first;
    this.#rowBytes = layout.features * itemBytes(layout.type);
    const { arrange, keep } = layout;
    if (keep) this.keep = keep;
    if (arrange) this.arrange = (listed) => arrange(this, listed);
  }

  async *blocks(bytes: number): AsyncGenerator<DenseRows> {
    const most = Math.max(1, Math.floor(bytes / (this.features * this.valueBytes)));
    for (let from = 0; from < this.rows; from += most) {
      const to = Math.min(this.rows, from + most);
      const values = await this.#range(from, to);
      yield this.#checked(values, to - from, (r) => from + r);
    }
  }

  async gather(listed: Uint32Array): Promise<DenseRows> {
    const values = new TYPES[valuesType(this.#layout.type)](listed.length * this.features);
    const order = Uint32Array.from(listed.keys()).sort((a, b) => listed[a] - listed[b]);
    const runs = [...this.#runs(listed, order)];
    for (let from = 0; from < runs.length; from += AT_ONCE) {
      await Promise.all(
        runs.slice(from, from + AT_ONCE).map(async ([first, last]) => {
          const low = listed[order[first]];
          const part = await this.#range(low, listed[order[last - 1]] + 1);
          for (let j = first; j < last; j++) {
            const at = (listed[order[j]] - low) * this.features;
            values.set(part.subarray(at, at + this.features), order[j] * this.features);
          }
        }),
      );
    }
    return this.#checked(values, listed.length, (r) => listed[r]);
  }

  slice(from: number, to: number): RowSource {
    return new FixedRows(this.#layout, this.#first + from, to - from);
  }

  /** Positions of the ascending order whose rows are read at once. */
  *#runs(listed: Uint32Array, order: Uint32Array): Generator<[first: number, last: number]> {
    for (let first = 0; first < order.length; ) {
      let last = first + 1;
      const low = listed[order[first]];
      for (; last < order.length; last++) {
        const [before, next] = [listed[order[last - 1]], listed[order[last]]];
        if ((next - before - 1) * this.#rowBytes > READ_OVER || (next - low) * this.#rowBytes > LONGEST_READ) break;
      }
      yield [first, last];
      first = last;
    }
  }

  async #range(from: number, to: number): Promise<Values> {
    const { name, type, isLittle, dataAt, rows } = this.#layout;
    if (this.#first + to > rows) throw new RanksimError("bad-params", `${name}: expected rows below ${rows}`);
    const at = dataAt + (this.#first + from) * this.#rowBytes;
    const expected = (to - from) * this.#rowBytes;
    const bytes = await this.#layout.read(at, at + expected);
    if (bytes.byteLength !== expected) {
      throw badFile(name, `byte ${at}`, `expected ${expected} bytes, found ${bytes.byteLength}: the file has changed`);
    }
    const Type = TYPES[valuesType(type)];
    // Bytes that were read for these rows alone are the values, where the file has them as this machine does.
    const isNative = AS_READ.has(type) && isLittle === IS_LITTLE && bytes.byteOffset % Type.BYTES_PER_ELEMENT === 0;
    if (isNative) return new Type(bytes.buffer as ArrayBuffer, bytes.byteOffset, (to - from) * this.features);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const numbers = decodeNumbers(name, view, (to - from) * this.features, type, isLittle);
    return numbers instanceof Type ? numbers : Type.from(numbers);
  }

  /** Values that no filter can rank are refused, by the row of the file. */
  #checked(values: Values, rows: number, numberOf: (r: number) => number): DenseRows {
    try {
      return Dense.of(values, rows, this.features);
    } catch (error) {
      const found = error instanceof Error ? error.message : String(error);
      const placed = found.replace(/^row (\d+)/, (_, r: string) => `row ${this.#first + numberOf(Number(r))}`);
      throw badFile(this.#layout.name, "", placed, error);
    }
  }
}

const itemBytes = (type: string): number => Number(type.slice(1));

/** What can be read by its place: rows, and the size of the images that they are. */
export interface Placed {
  readonly layout: Omit<FixedLayout, "room" | "arrange" | "keep">;
  readonly imageSize?: ImageSize;
}

/** The layout of a .npy or IDX file; undefined for other formats, for packed ones and where rows do not follow each other (Fortran order). */
export async function layoutOf(source: ByteSource): Promise<Placed | undefined> {
  const { name, byteLength } = source;
  if (byteLength === undefined || !source.slice) return undefined;
  const read = (from: number, to: number, into?: Uint8Array) => source.slice!(from, to, into);
  const head = await read(0, 16);
  const isNpy = head[0] === 0x93 && head[1] === 0x4e;
  if (!isNpy && !isIdx(head)) return undefined;
  const found = isNpy
    ? npyLayout(name, await read(0, Math.min(byteLength, LONGEST_HEADER + 12)))
    : idxLayout(name, await read(0, 20));
  if (!found) return undefined;
  const { shape, type, isLittle, dataAt } = found;
  const { rows, features, ...size } = rowsOfShape(name, shape, false);
  const expected = rows * features * itemBytes(type);
  if (!Number.isSafeInteger(expected) || byteLength - dataAt !== expected) {
    throw badFile(
      name,
      `byte ${dataAt}`,
      `expected ${shape.join(" x ")} items of ${itemBytes(type)} bytes = ${expected} bytes, found ${byteLength - dataAt}`,
    );
  }
  return { layout: { name, rows, features, type, isLittle, dataAt, read }, ...size };
}

function npyLayout(name: string, bytes: Uint8Array) {
  const { descr, fortran, shape, dataAt } = readHeader(name, bytes);
  const match = /^([<>|=])(b1|[iu][1248]|f[248])$/.exec(descr);
  if (match === null || fortran) return undefined;
  return { shape, type: match[2], isLittle: match[1] !== ">", dataAt };
}

function idxLayout(name: string, bytes: Uint8Array) {
  const [, , type, axes] = bytes;
  if (bytes.byteLength < 4 + 4 * axes) {
    throw badFile(name, `byte ${bytes.byteLength}`, "expected sizes, found the end");
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const shape = Array.from({ length: axes }, (_, axis) => view.getUint32(4 + 4 * axis));
  return { shape, type: IDX_TYPES[type], isLittle: false, dataAt: 4 + 4 * axes };
}
