/**
 * Parquet by hyparquet, one row group at a time, only the columns that are needed. What the page headers claim is checked
 * first: the decoder makes room by their word.
 */

import type { AsyncBuffer, Compressors, DecodedArray, FileMetaData } from "hyparquet";
import { asBadFile, badFile } from "../bad-file.ts";
import type { DataSet } from "../data-set.ts";
import { DEFAULT_MAX_BYTES, type Opened, readAll } from "../source.ts";
import type { ReadOptions } from "./options.ts";
import { type Cells, TableBuilder } from "./table.ts";
import { zstdClaim } from "./zstd.ts";

/** Rows in one group that are still believed: the largest group that a common writer makes by itself. */
const MOST_GROUP_ROWS = 2 ** 26;
/** Values in one page that are still believed; writers stop a page at about a megabyte. */
const MOST_PAGE_VALUES = 2 ** 24;

/** Reads Parquet. Without random access to the bytes the whole file is held in memory. */
export async function readParquet(opened: Opened, options: ReadOptions): Promise<DataSet> {
  const { name } = opened;
  try {
    const { parquetMetadataAsync, parquetRead, parquetSchema } = await import("hyparquet");
    const file = await bufferOf(opened);
    const metadata = await parquetMetadataAsync(file);
    const names = parquetSchema(metadata).children.map((child) => child.element.name);
    const builder = new TableBuilder(name, names, options);
    const columns = builder.needed.map((column) => names[column]);
    const compressors = await boundedCompressors(name, options.maxBytes ?? DEFAULT_MAX_BYTES);
    let rowStart = 0;
    for (let group = 0; group < metadata.row_groups.length; group++) {
      const rows = Number(metadata.row_groups[group].num_rows);
      await checkGroup(name, file, metadata, group, columns, options.maxBytes ?? DEFAULT_MAX_BYTES);
      const parts = new Map<string, DecodedArray[]>(columns.map((column) => [column, []]));
      await parquetRead({
        file,
        metadata,
        columns,
        rowStart,
        rowEnd: rowStart + rows,
        compressors,
        onChunk: ({ columnName, columnData }) => parts.get(columnName)?.push(columnData),
      });
      builder.add(rows, (column) => cellsOf(name, names[column], parts.get(names[column]) ?? [], rows));
      rowStart += rows;
    }
    return await builder.finish();
  } catch (error) {
    throw asBadFile(name, "Parquet", error);
  }
}

async function bufferOf(opened: Opened): Promise<AsyncBuffer> {
  const { slice, byteLength } = opened;
  if (slice !== undefined && byteLength !== undefined) {
    return {
      byteLength,
      async slice(from, to = byteLength) {
        if (!(from >= 0 && to >= from && to <= byteLength)) {
          throw badFile(opened.name, "", `expected bytes within ${byteLength}, found a claim to ${from} to ${to}`);
        }
        return copyOf(await slice(from, to));
      },
    };
  }
  const bytes = await readAll(opened.stream);
  return { byteLength: bytes.byteLength, slice: (from, to) => copyOf(bytes.subarray(from, to)) };
}

function copyOf(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

async function boundedCompressors(name: string, maxBytes: number): Promise<Compressors> {
  const { compressors } = await import("hyparquet-compressors");
  const bounded = Object.entries(compressors).map(([codec, decompress]) => [
    codec,
    (input: Uint8Array, outputLength: number) => {
      if (outputLength > maxBytes || (codec === "ZSTD" && zstdClaim(input) > Math.max(2 * outputLength, 2 ** 23))) {
        throw badFile(name, "", `expected a page of ${Math.min(outputLength, maxBytes)} bytes, found a larger claim`);
      }
      return decompress(input, outputLength);
    },
  ]);
  return Object.fromEntries(bounded);
}

/** Refuses a row group whose page headers claim more values or bytes than can be. */
async function checkGroup(
  name: string,
  file: AsyncBuffer,
  metadata: FileMetaData,
  group: number,
  columns: readonly string[],
  maxBytes: number,
): Promise<void> {
  const { parquetHeader } = await import("hyparquet/src/column.js");
  const rows = Number(metadata.row_groups[group].num_rows);
  if (!(rows >= 0 && rows <= MOST_GROUP_ROWS)) {
    throw badFile(name, `row group ${group}`, `expected at most ${MOST_GROUP_ROWS} rows, found a claim of ${rows}`);
  }
  let unpacked = 0;
  for (const { meta_data: chunk } of metadata.row_groups[group].columns) {
    if (chunk === undefined || !columns.includes(chunk.path_in_schema[0])) continue;
    const from = Number(chunk.dictionary_page_offset || chunk.data_page_offset);
    const view = new DataView(await file.slice(from, from + Number(chunk.total_compressed_size)));
    const reader = { view, offset: 0 };
    while (reader.offset < view.byteLength - 1) {
      const at = from + reader.offset;
      const header = parquetHeader(reader);
      const values =
        header.data_page_header?.num_values ??
        header.data_page_header_v2?.num_values ??
        header.dictionary_page_header?.num_values ??
        0;
      const { compressed_page_size: packed, uncompressed_page_size: plain } = header;
      unpacked += plain;
      const isFlat = chunk.path_in_schema.length === 1 && header.type !== "DICTIONARY_PAGE";
      if (
        !(
          packed >= 0 &&
          plain >= 0 &&
          unpacked <= maxBytes &&
          values >= 0 &&
          values <= (isFlat ? rows : MOST_PAGE_VALUES)
        )
      ) {
        throw badFile(
          name,
          `byte ${at}`,
          `expected a page within its row group, found ${values} values in ${plain} bytes`,
        );
      }
      reader.offset += packed;
    }
  }
}

function cellsOf(name: string, column: string, parts: readonly DecodedArray[], rows: number): Cells {
  const found = parts.reduce((sum, part) => sum + part.length, 0);
  if (found < rows)
    throw badFile(name, `column ${JSON.stringify(column)}`, `expected ${rows} values in a row group, found ${found}`);
  if (parts.length === 1) return (row) => parts[0][row];
  let part = 0;
  let start = 0;
  // Rows are asked for in order, so the part in use only moves on; a new pass begins at row 0.
  return (row) => {
    if (row < start) part = start = 0;
    while (row - start >= parts[part].length) start += parts[part++].length;
    return parts[part][row - start];
  };
}
