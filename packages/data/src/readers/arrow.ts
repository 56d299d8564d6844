/**
 * Arrow IPC (file, stream, Feather 2) by apache-arrow, one record batch at a time. The lengths that a batch claims are
 * checked against its buffers; buffers packed by LZ4 or Zstandard are unpacked within bounds.
 */

import type { Data, DataType, RecordBatch } from "apache-arrow";
import { asBadFile, badFile, quoted } from "../bad-file.ts";
import type { DataSet } from "../data-set.ts";
import { DEFAULT_MAX_BYTES } from "../source.ts";
import { decodeLz4Frame } from "./lz4.ts";
import type { ReadOptions } from "./options.ts";
import { type Cells, TableBuilder } from "./table.ts";
import { zstdClaim } from "./zstd.ts";

type Arrow = typeof import("apache-arrow");

/** Reads an Arrow file or stream that is in memory. */
export async function readArrow(name: string, bytes: Uint8Array, options: ReadOptions): Promise<DataSet> {
  try {
    const arrow = await import("apache-arrow");
    await registerCodecs(arrow, options.maxBytes ?? DEFAULT_MAX_BYTES);
    const reader = arrow.RecordBatchReader.from(bytes);
    reader.open();
    if (reader.schema === undefined) throw badFile(name, "byte 0", "expected an Arrow schema, found none");
    const names = reader.schema.fields.map((field) => String(field.name));
    const builder = new TableBuilder(name, names, options);
    for (const batch of reader) addBatch(arrow, name, names, batch, builder);
    return await builder.finish();
  } catch (error) {
    throw asBadFile(name, "Arrow", error);
  }
}

async function registerCodecs(arrow: Arrow, maxBytes: number): Promise<void> {
  const { compressionRegistry, CompressionType } = arrow;
  const { decompressZstd } = await import("hyparquet-compressors");
  compressionRegistry.set(CompressionType.LZ4_FRAME, { decode: (data) => decodeLz4Frame(data, maxBytes) });
  compressionRegistry.set(CompressionType.ZSTD, {
    decode(data) {
      if (zstdClaim(data) > maxBytes) throw new Error(`expected at most ${maxBytes} bytes when unpacked, found more`);
      // A copy, because the decoder's result need not begin where 8-byte numbers may.
      return decompressZstd(data).slice();
    },
  });
}

function addBatch(
  arrow: Arrow,
  name: string,
  names: readonly string[],
  batch: RecordBatch,
  builder: TableBuilder,
): void {
  const rows = batch.numRows;
  const cells = new Map<number, Cells>();
  let isBacked = false;
  for (const column of builder.needed) {
    const vector = batch.getChildAt(column);
    const data = vector?.data[0] as Data | undefined;
    if (data === undefined || data.length < rows) {
      throw badFile(
        name,
        `column ${quoted(names[column])}`,
        `expected ${rows} values in a batch, found ${data?.length ?? 0}`,
      );
    }
    const reader = cellsOf(arrow, name, names[column], data);
    if (!arrow.DataType.isNull(data.type)) isBacked = true;
    cells.set(column, reader);
  }
  // Without a column that has bytes behind it, the number of rows is a mere claim.
  if (!isBacked && rows > 0) throw badFile(name, "", "expected a column with values, found only empty ones");
  builder.add(rows, (column) => cells.get(column) as Cells);
}

/** The cells of one column chunk, after a check that its buffers hold as many as it claims. */
function cellsOf(arrow: Arrow, name: string, column: string, data: Data): Cells {
  const { DataType: Is } = arrow;
  const { type, length } = data;
  const need = (what: string, found: number | undefined, expected: number) => {
    if ((found ?? 0) < expected) {
      throw badFile(name, `column ${quoted(column)}`, `expected ${expected} ${what}, found ${found ?? 0}`);
    }
  };
  if (data.nullCount > 0 && !Is.isNull(type))
    need("bits of validity", data.nullBitmap?.byteLength ?? 0, Math.ceil(length / 8));
  const nullable = (cells: Cells): Cells =>
    data.nullCount === 0 ? cells : (row) => (data.getValid(row) ? cells(row) : null);
  if (Is.isNull(type)) return () => null;
  if (Is.isFloat(type) || Is.isInt(type)) {
    need("values", data.values?.length, length);
    if (
      type.typeId === arrow.Type.Float &&
      (type as unknown as { precision: number }).precision === arrow.Precision.HALF
    ) {
      const vector = new arrow.Vector([data]);
      return (row) => vector.get(row);
    }
    return nullable((row) => data.values[row]);
  }
  if (Is.isBool(type)) {
    need("bits", (data.values?.byteLength ?? 0) * 8, length);
    return nullable((row) => ((data.values[row >> 3] >> (row & 7)) & 1) === 1);
  }
  if (Is.isDictionary(type)) {
    need("indices", data.values?.length, length);
    const { dictionary } = data;
    return nullable((row) => dictionary?.get(Number(data.values[row])));
  }
  if (Is.isUtf8(type) || Is.isLargeUtf8(type) || Is.isBinary(type) || Is.isUtf8View(type)) {
    if (!Is.isUtf8View(type)) need("offsets", data.valueOffsets?.length, length + 1);
    const vector = new arrow.Vector([data]);
    return (row) => vector.get(row);
  }
  if (Is.isFixedSizeList(type) || Is.isList(type)) return nullable(listCells(arrow, name, column, data, need));
  throw badFile(
    name,
    `column ${quoted(column)}`,
    `expected numbers, text or lists of numbers, found Arrow type ${type}`,
  );
}

function listCells(
  arrow: Arrow,
  name: string,
  column: string,
  data: Data,
  need: (what: string, found: number | undefined, expected: number) => void,
): Cells {
  const child = data.children[0] as Data<DataType> | undefined;
  if (child === undefined) throw badFile(name, `column ${quoted(column)}`, "expected lists with content, found none");
  const inner = cellsOf(arrow, name, column, child);
  const { type, length } = data;
  const fixed = arrow.DataType.isFixedSizeList(type) ? type.listSize : 0;
  if (fixed > 0) need("list values", child.length, fixed * length);
  else need("list offsets", data.valueOffsets?.length, length + 1);
  return (row) => {
    const from = fixed > 0 ? row * fixed : Number(data.valueOffsets[row]);
    const to = fixed > 0 ? from + fixed : Number(data.valueOffsets[row + 1]);
    need("list values", child.length, to);
    if (from < 0 || to < from)
      throw badFile(name, `column ${quoted(column)}, row ${row}`, `expected list bounds, found ${from} to ${to}`);
    return Array.from({ length: to - from }, (_, i) => inner(from + i));
  };
}
