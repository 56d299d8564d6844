/**
 * A graph of ONNX operators under construction. Values are named as they are made; constants become initializers. Field
 * numbers are those of onnx.proto3. Nothing here knows of filters.
 */

import { bytesField, join, type Message, messageField, numberField, textField } from "./protobuf.ts";

/** Name of a value in the graph. */
export type Value = string;

/** Element types, by their numbers in TensorProto.DataType. */
export const TYPE = {
  uint8: 2,
  uint16: 4,
  int32: 6,
  int64: 7,
  string: 8,
  bool: 9,
  double: 11,
  float: 1,
  uint32: 12,
} as const;

export type TypeName = keyof typeof TYPE;

/** Attributes of an operator: whole numbers, or lists of them. */
export type Attributes = { readonly [name: string]: number | readonly number[] };

/** A side of a tensor: a size, or a name for one that the caller decides. */
export type Side = number | string;

/** What a file says of itself beside the graph. */
interface Description {
  readonly name: string;
  readonly about: string;
  readonly version: string;
  readonly metadata: { readonly [key: string]: string };
}

const IR_VERSION = 8;
const OPSET = 17;

/** AttributeProto.AttributeType. */
const INT = 2;
const INTS = 7;

/** A graph: inputs, constants, operators in the order they were added, outputs. */
export class Graph {
  readonly #nodes: Message[] = [];
  readonly #initializers: Message[] = [];
  readonly #inputs: Message[] = [];
  readonly #outputs: Message[] = [];
  #values = 0;

  /** A tensor that the caller gives. */
  input(name: string, type: TypeName, sides: readonly Side[]): Value {
    this.#inputs.push(valueInfo(name, type, sides));
    return name;
  }

  /** A value that the caller gets under a name of its own. */
  output(name: string, value: Value, type: TypeName, sides: readonly Side[]): void {
    this.#nodes.push(node("Identity", [value], [name], {}));
    this.#outputs.push(valueInfo(name, type, sides));
  }

  /** The first result of an operator. */
  op(type: string, inputs: readonly Value[], attributes: Attributes = {}): Value {
    return this.ops(type, inputs, 1, attributes)[0];
  }

  /** All results of an operator. */
  ops(type: string, inputs: readonly Value[], results: number, attributes: Attributes = {}): Value[] {
    const outputs = Array.from({ length: results }, () => this.#name(type));
    this.#nodes.push(node(type, inputs, outputs, attributes));
    return outputs;
  }

  /** A constant of float64; a scalar where no sides are given. */
  doubles(values: ArrayLike<number>, sides: readonly number[] = []): Value {
    return this.tensor("double", bytesOf(Float64Array.from(values)), sides);
  }

  /** A constant of int64; a scalar where no sides are given. */
  integers(values: ArrayLike<number>, sides: readonly number[] = []): Value {
    return this.tensor("int64", bytesOf(BigInt64Array.from(Array.from(values, BigInt))), sides);
  }

  /** A constant list of axes or sizes. */
  list(...values: number[]): Value {
    return this.integers(values, [values.length]);
  }

  /** A constant of truth values. */
  truths(values: ArrayLike<boolean>, sides: readonly number[]): Value {
    return this.tensor("bool", Uint8Array.from(Array.from(values, Number)), sides);
  }

  /** A constant list of strings. */
  strings(values: readonly string[]): Value {
    const name = this.#name("strings");
    const head = [...numberField(1, values.length), ...numberField(2, TYPE.string)];
    this.#initializers.push([...head, ...values.flatMap((text) => textField(6, text)), ...textField(8, name)]);
    return name;
  }

  /** A constant by its bytes, lowest byte of each number first. */
  tensor(type: TypeName, bytes: Uint8Array, sides: readonly number[]): Value {
    const name = this.#name("constant");
    const head = [...sides.flatMap((side) => numberField(1, side)), ...numberField(2, TYPE[type])];
    this.#initializers.push([...head, ...textField(8, name), ...bytesField(9, bytes)]);
    return name;
  }

  /** A value as another type. */
  cast(value: Value, type: TypeName): Value {
    return this.op("Cast", [value], { to: TYPE[type] });
  }

  /** The sum along an axis from first to last, as a loop adds: the same bits as in the library. The axis goes. */
  sumInOrder(value: Value, axis: number): Value {
    const sums = this.op("CumSum", [value, this.integers([axis])]);
    return this.op("Gather", [sums, this.integers([-1])], { axis });
  }

  /** The file. */
  encode({ name, about, version, metadata }: Description): Uint8Array {
    const graph: Message = [
      ...this.#nodes.flatMap((each) => messageField(1, each)),
      ...textField(2, name),
      ...this.#initializers.flatMap((each) => messageField(5, each)),
      ...this.#inputs.flatMap((each) => messageField(11, each)),
      ...this.#outputs.flatMap((each) => messageField(12, each)),
    ];
    return join([
      ...numberField(1, IR_VERSION),
      ...textField(2, "ranksim"),
      ...textField(3, version),
      ...textField(6, about),
      ...messageField(7, graph),
      ...messageField(8, [...textField(1, ""), ...numberField(2, OPSET)]),
      ...Object.entries(metadata).flatMap(([key, value]) =>
        messageField(14, [...textField(1, key), ...textField(2, value)]),
      ),
    ]);
  }

  #name(stem: string): Value {
    return `${stem}_${this.#values++}`;
  }
}

function node(type: string, inputs: readonly Value[], outputs: readonly Value[], attributes: Attributes): Message {
  return [
    ...inputs.flatMap((input) => textField(1, input)),
    ...outputs.flatMap((output) => textField(2, output)),
    ...textField(3, `make_${outputs[0]}`),
    ...textField(4, type),
    ...Object.entries(attributes).flatMap(([name, value]) => messageField(5, attribute(name, value))),
  ];
}

function attribute(name: string, value: number | readonly number[]): Message {
  if (typeof value === "number") return [...textField(1, name), ...numberField(3, value), ...numberField(20, INT)];
  return [...textField(1, name), ...value.flatMap((each) => numberField(8, each)), ...numberField(20, INTS)];
}

function valueInfo(name: string, type: TypeName, sides: readonly Side[]): Message {
  const shape = sides.flatMap((side) =>
    messageField(1, typeof side === "number" ? numberField(1, side) : textField(2, side)),
  );
  const tensor = [...numberField(1, TYPE[type]), ...messageField(2, shape)];
  return [...textField(1, name), ...messageField(2, messageField(1, tensor))];
}

/** The bytes of numbers. Engines that run this store the lowest byte first, as ONNX does. */
export function bytesOf(values: ArrayBufferView): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}
