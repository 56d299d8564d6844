/**
 * Dense rows of one width in a file: read by their place, some at a time, and checked as they are read. What the header says is
 * compared with the length of the file before anything is believed.
 */

import { Dense, type Values } from "@ranksim/core";
import { badFile } from "../bad-file.ts";
import type { ImageSize } from "../data-set.ts";
import { IDX_TYPES, isIdx } from "../readers/idx.ts";
import { decodeNumbers, LONGEST_HEADER, readHeader, rowsOfShape } from "../readers/npy.ts";
import type { ByteSource } from "../source.ts";
import type { Part } from "./stored-rows.ts";

/** Where dense rows lie, and in which type. */
interface FixedLayout {
  readonly name: string;
  readonly rows: number;
  readonly features: number;
  /** Kind and bytes of a value, as numpy writes it: u1, f4. */
  readonly type: string;
  readonly isLittle: boolean;
  /** Where row 0 begins. */
  readonly dataAt: number;
  /** Bytes `from` (included) to `to` (not included), at the beginning of `into` where they fit there. */
  read(from: number, to: number, into?: Uint8Array): Promise<Uint8Array>;
}

/** The element type in which values of a stored type are given. */
function valuesType(type: string) {
  if (type === "b1" || type === "u1") return Uint8Array;
  if (type === "u2") return Uint16Array;
  if (type === "i1" || type === "i2") return Int16Array;
  return type === "f4" || type === "f2" ? Float32Array : Float64Array;
}

/** Types whose bytes are the values. */
const AS_READ = new Set(["u1", "u2", "i2", "f4", "f8"]);
const IS_LITTLE = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

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

/** The rows as a part of a source. */
export function fixedPart({ name, rows, features, type, isLittle, dataAt, read }: FixedLayout): Part {
  const Type = valuesType(type);
  const rowBytes = features * itemBytes(type);
  const valuesIn = async (from: number, to: number): Promise<Values> => {
    const at = dataAt + from * rowBytes;
    const expected = (to - from) * rowBytes;
    const bytes = await read(at, at + expected);
    if (bytes.byteLength !== expected) {
      throw badFile(name, `byte ${at}`, `expected ${expected} bytes, found ${bytes.byteLength}: the file has changed`);
    }
    // Bytes that were read for these rows alone are the values, where the file has them as this machine does.
    const isNative = AS_READ.has(type) && isLittle === IS_LITTLE && bytes.byteOffset % Type.BYTES_PER_ELEMENT === 0;
    if (isNative) return new Type(bytes.buffer as ArrayBuffer, bytes.byteOffset, (to - from) * features);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const numbers = decodeNumbers(name, view, (to - from) * features, type, isLittle);
    return numbers instanceof Type ? numbers : Type.from(numbers);
  };
  return {
    ...{ form: "dense", rows, features, like: new Type(0) },
    entriesBefore: (row) => row * features,
    async range(from, to) {
      const values = await valuesIn(from, to);
      try {
        return Dense.of(values, to - from, features);
      } catch (error) {
        // A value that no filter can rank is refused, by the row of the file.
        const found = error instanceof Error ? error.message : String(error);
        throw badFile(
          name,
          "",
          found.replace(/^row (\d+)/, (_, r: string) => `row ${from + Number(r)}`),
          error,
        );
      }
    },
  };
}

const itemBytes = (type: string): number => Number(type.slice(1));

/** What can be read by its place: rows, and the size of the images that they are. */
export interface Placed {
  readonly layout: FixedLayout;
  readonly imageSize?: ImageSize;
  readonly format: "npy" | "idx";
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
  return { layout: { name, rows, features, type, isLittle, dataAt, read }, format: isNpy ? "npy" : "idx", ...size };
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
