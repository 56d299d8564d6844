/** The columns of an Arrow stream: their types, and how many nodes and buffers each takes up in a batch. */

import type { FlatTable } from "./flatbuffer.ts";

/** Kinds of columns that are read; "other" ones are only stepped over. */
type ArrowType =
  | { readonly kind: "null" | "bool" | "text-view" | "other" }
  | { readonly kind: "int"; readonly bits: number; readonly isSigned: boolean }
  | { readonly kind: "float"; readonly bits: number }
  | { readonly kind: "text" | "list"; readonly isLarge: boolean }
  | { readonly kind: "fixed-list"; readonly size: number };

/** One column or the content of one. */
export interface ArrowField {
  readonly name: string;
  readonly type: ArrowType;
  /** What the type is called, for messages. */
  readonly typeName: string;
  readonly children: readonly ArrowField[];
  /** Buffers in a batch, without those of children. */
  readonly buffers: number;
  /** Whether more buffers follow, as many as the batch says. */
  readonly isVariadic: boolean;
  /** Set where the column holds numbers of entries of a dictionary: its id, the entries' type and the numbers' type. */
  readonly dictionary?: { readonly id: number; readonly value: ArrowField };
}

/** Arrow's type numbers: name and buffers. */
const TYPES: readonly (readonly [name: string, buffers: number])[] = [
  ["none", 0],
  ["Null", 0],
  ["Int", 2],
  ["FloatingPoint", 2],
  ["Binary", 3],
  ["Utf8", 3],
  ["Bool", 2],
  ["Decimal", 2],
  ["Date", 2],
  ["Time", 2],
  ["Timestamp", 2],
  ["Interval", 2],
  ["List", 2],
  ["Struct", 1],
  ["Union", 1],
  ["FixedSizeBinary", 2],
  ["FixedSizeList", 1],
  ["Map", 2],
  ["Duration", 2],
  ["LargeBinary", 3],
  ["LargeUtf8", 3],
  ["LargeList", 2],
  ["RunEndEncoded", 0],
  ["BinaryView", 2],
  ["Utf8View", 2],
  ["ListView", 3],
  ["LargeListView", 3],
];

/** Fields in all that are still believed; a forged schema can refer to one part over and over. */
const MOST_FIELDS = 1_000_000;
const DEEPEST = 32;

/** The fields of a schema message. */
export function readSchema(schema: FlatTable): ArrowField[] {
  if (schema.int16(0) !== 0) throw new Error("expected little-endian data, found big-endian");
  let count = 0;
  const read = (field: FlatTable, depth: number): ArrowField => {
    if (++count > MOST_FIELDS || depth > DEEPEST) throw new Error("expected fewer fields");
    const children = field.tables(5).map((child) => read(child, depth + 1));
    const plain = plainField(field, children);
    const encoding = field.table(4);
    if (encoding === undefined) return plain;
    const index = encoding.table(1);
    return {
      ...plain,
      type: { kind: "int", bits: index?.int32(0) ?? 32, isSigned: index === undefined || index.int8(1) !== 0 },
      children: [],
      buffers: 2,
      isVariadic: false,
      dictionary: { id: encoding.int64(0), value: plain },
    };
  };
  return schema.tables(1).map((field) => read(field, 0));
}

function plainField(field: FlatTable, children: readonly ArrowField[]): ArrowField {
  const number = field.int8(2);
  const [typeName, buffers] = TYPES[number] ?? ["unknown", Number.NaN];
  if (Number.isNaN(buffers)) throw new Error(`expected a known type of column, found number ${number}`);
  const details = field.table(3);
  // Dense unions (mode 1) have offsets in addition to the type numbers.
  const more = typeName === "Union" && details?.int16(0) === 1 ? 1 : 0;
  return {
    name: field.text(0),
    type: typeOf(typeName, details),
    typeName,
    children,
    buffers: buffers + more,
    isVariadic: typeName.endsWith("View") && !typeName.includes("List"),
  };
}

function typeOf(typeName: string, details: FlatTable | undefined): ArrowType {
  switch (typeName) {
    case "Null":
      return { kind: "null" };
    case "Bool":
      return { kind: "bool" };
    case "Int":
      return { kind: "int", bits: details?.int32(0) ?? 0, isSigned: (details?.int8(1) ?? 0) !== 0 };
    case "FloatingPoint":
      return { kind: "float", bits: 16 << (details?.int16(0) ?? 0) };
    case "Utf8":
    case "LargeUtf8":
      return { kind: "text", isLarge: typeName === "LargeUtf8" };
    case "Utf8View":
      return { kind: "text-view" };
    case "List":
    case "LargeList":
      return { kind: "list", isLarge: typeName === "LargeList" };
    case "FixedSizeList":
      return { kind: "fixed-list", size: details?.int32(0) ?? 0 };
    default:
      return { kind: "other" };
  }
}
