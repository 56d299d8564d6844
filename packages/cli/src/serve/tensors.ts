/**
 * Tensors of the Open Inference Protocol, version 2: JSON, and the extension by which their bytes follow the JSON. What a
 * request says is checked against what is there before anything is read from it.
 */

import { badRequest, type HttpError } from "./http-error.ts";
import { kindOf } from "./input.ts";
import { textOf } from "./utf8.ts";

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
type Head = Pick<Tensor, "name" | "datatype" | "shape">;

/** How the bytes of numbers are read, and what whole numbers of a type can be. */
const NUMBERS: {
  readonly [type in Exclude<Datatype, "BYTES">]: readonly [
    array: { new (bytes: ArrayBuffer): ArrayLike<number | bigint>; readonly BYTES_PER_ELEMENT: number },
    least?: number,
    most?: number,
  ];
} = {
  BOOL: [Uint8Array, 0, 1],
  UINT8: [Uint8Array, 0, 255],
  UINT16: [Uint16Array, 0, 65_535],
  UINT32: [Uint32Array, 0, 2 ** 32 - 1],
  INT8: [Int8Array, -128, 127],
  INT16: [Int16Array, -32_768, 32_767],
  INT32: [Int32Array, -(2 ** 31), 2 ** 31 - 1],
  INT64: [BigInt64Array, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  FP32: [Float32Array],
  FP64: [Float64Array],
};

/** Parses a request. `headerLength` is the length of the JSON where bytes follow it. */
export function parseInfer(body: Buffer, headerLength: number | undefined): InferRequest {
  const end = headerLength ?? body.length;
  if (end > body.length) {
    throw badRequest(
      `Inference-Header-Content-Length: expected at most ${body.length}, the body's length, found ${end}`,
    );
  }
  const request = parseJson(textOf(body.subarray(0, end)));
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
  refuseTwice("inputs", inputs);
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
  const outputs = request.outputs.map((output: unknown, j) => {
    if (!isObject(output) || typeof output.name !== "string") {
      throw badRequest(`outputs[${j}]: expected an object with a name, found ${kindOf(output)}`);
    }
    const own = parametersOf(output).binary_data;
    return { name: output.name, isBinary: typeof own === "boolean" ? own : binary };
  });
  refuseTwice("outputs", outputs);
  return new Map(outputs.map(({ name, isBinary }) => [name, isBinary]));
}

/** Of two tensors of one name only one could be meant. */
function refuseTwice(where: string, tensors: readonly { readonly name: string }[]): void {
  const names = new Set<string>();
  for (const { name } of tensors) {
    if (names.has(name)) throw badRequest(`${where}: expected each name once, found ${JSON.stringify(name)} twice`);
    names.add(name);
  }
}

/** Lists within lists that a tensor may have: to flatten any depth, an engine calls itself as often. */
const MOST_SIDES = 32;

/** The items of a list, or what was found in its place. */
const listed = (value: unknown): string => (Array.isArray(value) ? `[${value.map(kindOf).join(", ")}]` : kindOf(value));

/** Name, type, shape and number of elements, which the data must have. */
function headOf(input: Json, j: number): Head & { readonly count: number } {
  const { name, datatype, shape } = input;
  if (typeof name !== "string") throw badRequest(`inputs[${j}]: name: expected a string, found ${kindOf(name)}`);
  if (datatype !== "BYTES" && !(typeof datatype === "string" && Object.hasOwn(NUMBERS, datatype))) {
    const known = [...Object.keys(NUMBERS), "BYTES"].join(", ");
    throw badRequest(`inputs[${j}] ${name}: datatype: expected one of ${known}, found ${kindOf(datatype)}`);
  }
  const isSide = (side: unknown) => Number.isSafeInteger(side) && (side as number) >= 0;
  if (!Array.isArray(shape) || shape.length === 0 || !shape.every(isSide)) {
    throw badRequest(`inputs[${j}] ${name}: shape: expected a list of whole numbers, found ${listed(shape)}`);
  }
  const count = shape.reduce((product: number, side: number) => product * side, 1);
  return { name, datatype: datatype as Datatype, shape, count };
}

function jsonTensor(input: Json, j: number): Tensor {
  const { count, ...head } = headOf(input, j);
  const { data } = input;
  if (!Array.isArray(data)) throw badRequest(`inputs[${j}] ${head.name}: data: expected a list, found ${kindOf(data)}`);
  const flat = data.some(Array.isArray) ? (data.flat(MOST_SIDES) as unknown[]) : data;
  if (flat.length !== count) throw wrongCount(j, head, count, flat.length);
  if (head.datatype !== "BYTES") return { ...head, data: numbersOf(head, j, flat) };
  const e = flat.findIndex((value) => typeof value !== "string");
  if (e >= 0) throw wrongElement(j, head, e, "a string", flat[e]);
  return { ...head, data: flat as string[] };
}

/** Elements as numbers; one that its type cannot have is refused, and one that would be rounded. */
function numbersOf(head: Head, j: number, elements: ArrayLike<unknown>): Uint8Array | Float64Array {
  const [, least, most] = NUMBERS[head.datatype as keyof typeof NUMBERS];
  const values = head.datatype === "UINT8" ? new Uint8Array(elements.length) : new Float64Array(elements.length);
  for (let e = 0; e < elements.length; e++) {
    const element = elements[e];
    const isNumeric = typeof element === "bigint" || (typeof element === "boolean" && head.datatype === "BOOL");
    const value = isNumeric ? Number(element) : element;
    if (typeof value !== "number") throw wrongElement(j, head, e, "a number", element);
    if (least !== undefined && !(Number.isInteger(value) && value >= least && value <= (most as number))) {
      throw wrongElement(j, head, e, `a whole number from ${least} to ${most}, as ${head.datatype} has`, element);
    }
    values[e] = value;
  }
  return values;
}

function binaryTensor(input: Json, j: number, bytes: Buffer): Tensor {
  const { count, ...head } = headOf(input, j);
  const { datatype } = head;
  if (datatype === "BYTES") {
    const data = stringsOf(bytes, j, head.name);
    if (data.length !== count) throw wrongCount(j, head, count, data.length);
    return { ...head, data };
  }
  const [Elements] = NUMBERS[datatype];
  const size = Elements.BYTES_PER_ELEMENT;
  if (bytes.length !== count * size) throw wrongCount(j, head, count, bytes.length / size);
  const elements = new Elements(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer);
  // All that the bytes of other types can say are numbers of the type.
  const needsCheck = datatype === "BOOL" || datatype === "INT64";
  return { ...head, data: needsCheck ? numbersOf(head, j, elements) : (elements as ArrayLike<number>) };
}

/** Strings, each after its length in four bytes. */
function stringsOf(bytes: Buffer, j: number, name: string): string[] {
  const out: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = at + 4 <= bytes.length ? bytes.readUInt32LE(at) : Number.POSITIVE_INFINITY;
    if (at + 4 + length > bytes.length) {
      throw badRequest(`inputs[${j}] ${name}: string ${out.length}: its length goes beyond the bytes there are`);
    }
    out.push(textOf(bytes.subarray(at + 4, at + 4 + length), `inputs[${j}] ${name}: string ${out.length}`));
    at += 4 + length;
  }
  return out;
}

const wrongCount = (j: number, { name, shape }: Head, count: number, found: number): HttpError =>
  badRequest(`inputs[${j}] ${name}: shape [${shape.join(", ")}] has ${count} elements, the data has ${found}`);

const wrongElement = (j: number, { name }: Head, e: number, expected: string, found: unknown): HttpError =>
  badRequest(
    `inputs[${j}] ${name}: data[${e}]: expected ${expected}, found ${typeof found === "bigint" ? found : kindOf(found)}`,
  );

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
