/**
 * Tensors of the Open Inference Protocol, version 2: JSON, and the extension by which their bytes follow the JSON. What a
 * request says is checked against what is there before anything is read from it.
 */

import { badRequest, type HttpError } from "./http-error.ts";
import { kindOf } from "./input.ts";

/** Element types by the protocol's names. */
type Datatype =
  | "BOOL"
  | "UINT8"
  | "UINT16"
  | "UINT32"
  | "INT8"
  | "INT16"
  | "INT32"
  | "INT64"
  | "FP32"
  | "FP64"
  | "BYTES";

/** A tensor of a request. */
export interface Tensor {
  readonly name: string;
  readonly datatype: Datatype;
  readonly shape: readonly number[];
  /** In row order: numbers, or strings for BYTES. */
  readonly data: ArrayLike<number> | readonly string[];
}

/** An inference request. */
export interface InferRequest {
  readonly id: string | undefined;
  readonly inputs: readonly Tensor[];
  /** Names of the requested outputs, and whether each is sent as bytes; undefined: all of them. */
  readonly outputs: ReadonlyMap<string, boolean> | undefined;
  /** Whether outputs that say nothing themselves come as bytes. */
  readonly binary: boolean;
}

type Json = { readonly [key: string]: unknown };

/** How the bytes of numbers are read; BYTES and INT64 have ways of their own. */
const READERS: { readonly [type in Datatype]?: new (bytes: ArrayBuffer) => ArrayLike<number> } = {
  BOOL: Uint8Array,
  UINT8: Uint8Array,
  UINT16: Uint16Array,
  UINT32: Uint32Array,
  INT8: Int8Array,
  INT16: Int16Array,
  INT32: Int32Array,
  FP32: Float32Array,
  FP64: Float64Array,
};

/** What whole numbers of a type can be. */
const RANGES: { readonly [type in Datatype]?: readonly [least: number, most: number] } = {
  BOOL: [0, 1],
  UINT8: [0, 255],
  UINT16: [0, 65_535],
  UINT32: [0, 2 ** 32 - 1],
  INT8: [-128, 127],
  INT16: [-32_768, 32_767],
  INT32: [-(2 ** 31), 2 ** 31 - 1],
  INT64: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
};

/** Parses a request. `headerLength` is the length of the JSON where bytes follow it. */
export function parseInfer(body: Buffer, headerLength: number | undefined): InferRequest {
  const end = headerLength ?? body.length;
  if (end > body.length) {
    throw badRequest(
      `Inference-Header-Content-Length: expected at most ${body.length}, the body's length, found ${end}`,
    );
  }
  const request = parseJson(body.subarray(0, end).toString());
  if (!isObject(request) || !Array.isArray(request.inputs) || request.inputs.length === 0) {
    throw badRequest('expected an object with a list "inputs" of at least one tensor');
  }
  let at = end;
  const inputs = request.inputs.map((input: unknown, j) => {
    if (!isObject(input)) throw badRequest(`inputs[${j}]: expected an object, found ${kindOf(input)}`);
    const size = parametersOf(input).binary_data_size;
    if (size === undefined) return jsonTensor(input, j);
    if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0 || at + size > body.length) {
      throw badRequest(
        `inputs[${j}]: binary_data_size: expected at most ${body.length - at}, the bytes that are left, found ${kindOf(size)}`,
      );
    }
    at += size;
    return binaryTensor(input, j, body.subarray(at - size, at));
  });
  if (at !== body.length) throw badRequest(`expected ${at} bytes as the inputs say, found ${body.length}`);
  return {
    id: typeof request.id === "string" ? request.id : undefined,
    inputs,
    outputs: outputsOf(request),
    binary: parametersOf(request).binary_data_output === true,
  };
}

/** JSON, or a refusal that says where it breaks off. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw badRequest(`the body is not JSON: ${(error as Error).message}`);
  }
}

export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const parametersOf = (value: Json): Json => (isObject(value.parameters) ? value.parameters : {});

function outputsOf(request: Json): Map<string, boolean> | undefined {
  if (request.outputs === undefined) return undefined;
  if (!Array.isArray(request.outputs)) throw badRequest(`outputs: expected a list, found ${kindOf(request.outputs)}`);
  const binary = parametersOf(request).binary_data_output === true;
  return new Map(
    request.outputs.map((output: unknown, j) => {
      if (!isObject(output) || typeof output.name !== "string") {
        throw badRequest(`outputs[${j}]: expected an object with a name, found ${kindOf(output)}`);
      }
      const own = parametersOf(output).binary_data;
      return [output.name, typeof own === "boolean" ? own : binary];
    }),
  );
}

/** Name, type, shape and number of elements, which the data must have. */
function headOf(input: Json, j: number): { name: string; datatype: Datatype; shape: number[]; count: number } {
  const { name, datatype, shape } = input;
  if (typeof name !== "string") throw badRequest(`inputs[${j}]: name: expected a string, found ${kindOf(name)}`);
  if (
    datatype !== "BYTES" &&
    datatype !== "INT64" &&
    !(typeof datatype === "string" && Object.hasOwn(READERS, datatype))
  ) {
    const known = [...Object.keys(READERS), "INT64", "BYTES"].join(", ");
    throw badRequest(`inputs[${j}] ${name}: datatype: expected one of ${known}, found ${kindOf(datatype)}`);
  }
  const isSide = (side: unknown) => Number.isSafeInteger(side) && (side as number) >= 0;
  if (!Array.isArray(shape) || shape.length === 0 || !shape.every(isSide)) {
    throw badRequest(`inputs[${j}] ${name}: shape: expected a list of whole numbers, found ${JSON.stringify(shape)}`);
  }
  const count = shape.reduce((product: number, side: number) => product * side, 1);
  return { name, datatype: datatype as Datatype, shape, count };
}

function jsonTensor(input: Json, j: number): Tensor {
  const { count, ...head } = headOf(input, j);
  const { data } = input;
  if (!Array.isArray(data)) throw badRequest(`inputs[${j}] ${head.name}: data: expected a list, found ${kindOf(data)}`);
  const flat = data.some(Array.isArray) ? (data.flat(Number.POSITIVE_INFINITY) as unknown[]) : data;
  if (flat.length !== count) throw wrongCount(j, head, count, flat.length);
  const wrong = (e: number, expected: string) =>
    badRequest(`inputs[${j}] ${head.name}: data[${e}]: expected ${expected}, found ${kindOf(flat[e])}`);
  if (head.datatype === "BYTES") {
    const e = flat.findIndex((value) => typeof value !== "string");
    if (e >= 0) throw wrong(e, "a string");
    return { ...head, data: flat as string[] };
  }
  const range = RANGES[head.datatype];
  const values = head.datatype === "UINT8" ? new Uint8Array(count) : new Float64Array(count);
  for (let e = 0; e < count; e++) {
    const value = typeof flat[e] === "boolean" && head.datatype === "BOOL" ? Number(flat[e]) : flat[e];
    if (typeof value !== "number") throw wrong(e, "a number");
    if (range && !(Number.isInteger(value) && value >= range[0] && value <= range[1])) {
      throw wrong(e, `a whole number from ${range[0]} to ${range[1]}, as ${head.datatype} has`);
    }
    values[e] = value;
  }
  return { ...head, data: values };
}

function binaryTensor(input: Json, j: number, bytes: Buffer): Tensor {
  const { count, ...head } = headOf(input, j);
  const { datatype } = head;
  if (datatype === "BYTES") {
    const data = stringsOf(bytes, j, head.name);
    if (data.length !== count) throw wrongCount(j, head, count, data.length);
    return { ...head, data };
  }
  const copy = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  const size = datatype === "INT64" ? 8 : sizeOf(datatype);
  if (bytes.length !== count * size) throw wrongCount(j, head, count, bytes.length / size);
  if (datatype === "INT64") return { ...head, data: Float64Array.from(new BigInt64Array(copy), Number) };
  const Reader = READERS[datatype] as new (bytes: ArrayBuffer) => ArrayLike<number>;
  return { ...head, data: new Reader(copy) };
}

const sizeOf = (datatype: Datatype): number =>
  (READERS[datatype] as unknown as { readonly BYTES_PER_ELEMENT: number }).BYTES_PER_ELEMENT;

/** Strings, each after its length in four bytes. */
function stringsOf(bytes: Buffer, j: number, name: string): string[] {
  const out: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = at + 4 <= bytes.length ? bytes.readUInt32LE(at) : Number.POSITIVE_INFINITY;
    if (at + 4 + length > bytes.length) {
      throw badRequest(`inputs[${j}] ${name}: string ${out.length}: its length goes beyond the bytes there are`);
    }
    out.push(bytes.toString("utf8", at + 4, at + 4 + length));
    at += 4 + length;
  }
  return out;
}

function wrongCount(
  j: number,
  { name, shape }: { name: string; shape: readonly number[] },
  count: number,
  found: number,
): HttpError {
  return badRequest(`inputs[${j}] ${name}: shape [${shape.join(", ")}] has ${count} elements, the data has ${found}`);
}

/** A tensor of an answer. */
export interface OutputTensor {
  readonly name: string;
  readonly datatype: "INT64" | "FP64" | "BOOL" | "BYTES";
  readonly shape: readonly number[];
  readonly data: ArrayLike<number> | readonly string[];
}

/** The bytes of a tensor. */
export function tensorBytes({ datatype, data }: OutputTensor): Buffer {
  if (datatype === "BYTES") {
    return Buffer.concat(
      (data as readonly string[]).flatMap((text) => {
        const length = Buffer.alloc(4);
        length.writeUInt32LE(Buffer.byteLength(text));
        return [length, Buffer.from(text)];
      }),
    );
  }
  const numbers = data as ArrayLike<number>;
  if (datatype === "BOOL") return Buffer.from(Uint8Array.from(numbers));
  if (datatype === "FP64") return Buffer.from(Float64Array.from(numbers).buffer);
  return Buffer.from(BigInt64Array.from(Array.from(numbers, BigInt)).buffer);
}
