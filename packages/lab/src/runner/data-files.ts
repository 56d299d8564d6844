/**
 * The benchmark's data as raw little-endian arrays in a folder, one JSON file of shapes beside them: the simplest form
 * that Node and numpy both open at once, so that every system gets the same numbers and none is charged for a file format.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Csr, Dense, type Matrix, type Values } from "@ranksim/core";

/** Rows and the class number (0..255) of each. */
export interface Part {
  readonly x: Matrix;
  readonly y: Uint8Array;
}

interface Shape {
  readonly form: "dense" | "csr";
  readonly rows: number;
  readonly features: number;
  /** The element type, by numpy's name. */
  readonly type: TypeName;
}

const TYPES = {
  uint8: Uint8Array,
  uint16: Uint16Array,
  int16: Int16Array,
  float32: Float32Array,
  float64: Float64Array,
} as const;

type TypeName = keyof typeof TYPES;

/** Writes one part ("train" or "test") of a data set. */
export function writePart(folder: string, part: string, { x, y }: Part): void {
  const write = (kind: string, values: ArrayBufferView) =>
    writeFileSync(join(folder, `${part}.${kind}`), new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  const shape: Shape = { form: x.form, rows: x.rows, features: x.features, type: typeOf(x.values) };
  writeFileSync(join(folder, `${part}.json`), JSON.stringify(shape));
  write("labels", y);
  if (x.form === "dense") {
    write("values", x.values);
    return;
  }
  const [from, to] = [x.offsets[0], x.offsets[x.rows]];
  write(
    "offsets",
    x.offsets.map((offset) => offset - from),
  );
  write("indices", x.indices.subarray(from, to));
  write("values", x.values.subarray(from, to));
}

/** Reads one part. */
export function readPart(folder: string, part: string): Part {
  const bytes = (kind: string) => readFileSync(join(folder, `${part}.${kind}`));
  const { form, rows, features, type } = JSON.parse(bytes("json").toString()) as Shape;
  const values = viewOf(TYPES[type] as ViewOf<Values>, bytes("values"));
  const x =
    form === "dense"
      ? Dense.of(values, rows, features)
      : Csr.of(viewOf(Uint32Array, bytes("offsets")), viewOf(Uint32Array, bytes("indices")), values, features);
  return { x, y: viewOf(Uint8Array, bytes("labels")) };
}

function typeOf(values: Values): TypeName {
  for (const [name, type] of Object.entries(TYPES)) if (values instanceof type) return name as TypeName;
  throw new Error(`no element type for ${values}`);
}

interface ViewOf<T> {
  new (buffer: ArrayBuffer, offset: number, length: number): T;
  readonly BYTES_PER_ELEMENT: number;
}

function viewOf<T>(type: ViewOf<T>, bytes: Buffer<ArrayBuffer>): T {
  return new type(bytes.buffer, bytes.byteOffset, bytes.byteLength / type.BYTES_PER_ELEMENT);
}
